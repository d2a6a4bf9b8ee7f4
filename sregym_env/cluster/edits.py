"""Undoable changes through the Kubernetes API: the vocabulary in which faults are written.

An edit is a frozen value. :func:`apply` makes it and returns what undoes it; nothing else in a fault needs
to know how to go back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.types import Manifest


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """Names an object of the API by registry key, namespace and name."""

    resource: str
    name: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """Set, or with ``value=REMOVED`` remove, one field named by a JSON pointer.

    ``by`` is the field manager who writes it, where that is none of those who deliver the object.
    """

    target: ObjectRef
    path: str
    value: Any
    by: str = ""


@dataclass(frozen=True, slots=True)
class MergePatch:
    """Merge a JSON document into an object (RFC 7386)."""

    target: ObjectRef
    patch: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Create:
    """Create an object that is not there."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object."""

    target: ObjectRef


@dataclass(frozen=True, slots=True)
class Exec:
    """Run a command in the first running pod of a component; ``undo`` is the command that reverts it.

    ``works`` is one that fails from then on, and succeeds again when what it did is taken back; it changes nothing.
    """

    component: str
    command: tuple[str, ...]
    undo: tuple[str, ...]
    works: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OnMachine:
    """Run a command line as root on a machine; ``undo`` is the one that takes back what has come of it, too."""

    node: str
    command: str
    undo: str


@dataclass(frozen=True, slots=True)
class RecreatePods:
    """Delete a component's pods, so that its controller starts new ones. Undo has nothing to do."""

    component: str


@dataclass(frozen=True, slots=True)
class ReplaceAgents:
    """Delete the pods of a DaemonSet on some machines, so that its controller starts new ones. Undo has nothing to do."""

    target: ObjectRef
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Close the nodes on which a component's pods stand, delete the pods of another one, and open the nodes again, as a
    maintenance does: what was beside the first is elsewhere. Undo has nothing to do."""

    component: str
    """Whose pods go."""
    off: str
    """Whose nodes are closed."""


@dataclass(frozen=True, slots=True)
class AtBirth:
    """Nothing by itself: says, before edits that a pod meets only at its birth or start, that undoing them restarts it.

    Undo deletes the component's pods.
    """

    component: str


@dataclass(frozen=True, slots=True)
class Redeploy:
    """Delete a workload and create it again changed, so that no old pod keeps serving.

    ``changes`` are JSON-pointer paths and their new values, ``REMOVED`` to remove one.
    """

    target: ObjectRef
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rollout:
    """Change a workload's pod template in place: a new revision is rolled out and the one before stays in its history.

    ``changes`` are JSON-pointer paths and their new values, ``REMOVED`` to remove one. ``by`` is the field manager who
    writes them, where that is none of those who deliver the workload. ``partial`` says that it is about pods of both
    revisions, so that it may neither be over at once nor be made once more.
    """

    target: ObjectRef
    changes: Mapping[str, Any]
    by: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """Give a workload another number of replicas, as ``kubectl scale`` does. No number of pods is wrong by itself."""

    target: ObjectRef
    replicas: int


@dataclass(frozen=True, slots=True)
class RunCronJob:
    """Let a CronJob run now, as its schedule would; nothing where it is gone or suspended, or forbids a second run.

    Undo has nothing to do: the Job goes with the CronJob. ``by_hand`` says that somebody has it run who does not wait for its schedule
    (``kubectl create job --from``).
    """

    target: ObjectRef
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class IssueCertificate:
    """Create a TLS Secret with a serving certificate for some names, signed by the authority that the Secret's
    ``namespace/name`` stands for (:mod:`sregym_env.cluster.certificates`)."""

    target: ObjectRef
    names: tuple[str, ...]
    age: float
    """Seconds since it became valid."""
    left: float
    """Seconds for which it is valid still."""
    signer: str = ""
    """The authority's common name, if it has one of its own; then its certificate lies beside, as ``ca.crt``."""


@dataclass(frozen=True, slots=True)
class Substitute:
    """Replace the first occurrence of a text in the string field at a JSON pointer."""

    target: ObjectRef
    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Restart:
    """Restart a workload, as ``kubectl rollout restart`` does."""

    target: ObjectRef


@dataclass(frozen=True, slots=True)
class AwaitRollout:
    """Wait until every pod of a Deployment or a new DaemonSet runs its newest template. Undo has nothing to do."""

    target: ObjectRef


@dataclass(frozen=True, slots=True)
class Elapse:
    """Let time pass between two edits, as it does between what two people do. Undo has nothing to do."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cycle:
    """Scale a component's workload to zero and back, so that no pod of an older revision serves on.

    Undo has nothing to do.
    """

    component: str


@dataclass(frozen=True, slots=True)
class Downtime:
    """A component's workload is at zero for a while and then as large as before, as in a window of maintenance. Undo has
    nothing to do."""

    component: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Surge:
    """The users of an application want more for a while, and then as much as ever. Undo has nothing to do."""

    namespace: str
    """Where the application's load is made."""
    factor: float
    """Times the usual rate of requests."""
    seconds: float
    crowd: bool = False
    """Whether as many times the users come, each with connections of their own."""


@dataclass(frozen=True, slots=True)
class Enroll:
    """A registry outside the cluster knows a login (``user:password``) from now on."""

    host: str
    login: str


@dataclass(frozen=True, slots=True)
class Thin:
    """Half of a component's pods (and never the last one) are away for a while, as while their machines are served. Undo has
    nothing to do."""

    component: str
    seconds: float


Edit = (
    JsonPatch
    | MergePatch
    | Create
    | Delete
    | Exec
    | OnMachine
    | RecreatePods
    | Part
    | AtBirth
    | Cycle
    | Redeploy
    | ReplaceAgents
    | Rollout
    | RunCronJob
    | Scale
    | IssueCertificate
    | Substitute
    | Restart
    | AwaitRollout
    | Downtime
    | Surge
    | Enroll
    | Thin
    | Elapse
)


class _Removed:
    """The value that takes a field away; there is one in every process."""

    def __reduce__(self) -> str:
        return "REMOVED"

    def __repr__(self) -> str:
        return "REMOVED"


REMOVED = _Removed()
