"""THE SEAM: what a cluster and a world can do, whichever backend is behind them.

Faults, noise, oracles and tools know these protocols and the values beside them, nothing else (what only a value has:
:mod:`sregym_env.cluster.forkable`). Manifests are JSON trees that nobody mutates, errors of the API
:class:`~sregym_env.kube.status.StatusError` with the real texts, times integer microseconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from sregym_env.cluster.app import App
from sregym_env.cluster.disturbances import Disturbance
from sregym_env.cluster.health import Alert, ComponentHealth, JourneyHealth
from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.identity import User
from sregym_env.cluster.streams import LONGEST_COMMAND, Attached, ExecResult
from sregym_env.cluster.telemetry import Telemetry
from sregym_env.kube.registry import Registry
from sregym_env.kube.types import Json, Manifest

PatchType = Literal["strategic", "merge", "json", "apply"]
Propagation = Literal["Background", "Foreground", "Orphan"]


class Cluster(Protocol):
    """The Kubernetes API as one identity sees it.

    ``resource`` is a registry key (``pods``, ``deployments.apps``); a ``namespace`` of None means all
    namespaces for ``list`` and "cluster scoped" elsewhere.
    """

    @property
    def user(self) -> User:
        """Who is asking."""

    @property
    def registry(self) -> Registry:
        """Everything that is served now, custom resources included (what discovery tells)."""

    def as_user(self, user: User) -> Cluster:
        """The same cluster through another identity's eyes."""

    def get(
        self, resource: str, name: str, namespace: str | None = None, *, subresource: str = ""
    ) -> Manifest:
        """One object, or its ``status`` or ``scale`` subresource. Raises NotFound, Forbidden."""

    def list(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> list[Manifest]:
        """Objects in (namespace, name) order."""

    def create(
        self,
        manifest: Manifest,
        *,
        namespace: str | None = None,
        subresource: str = "",
        name: str = "",
        dry_run: bool = False,
        strict: bool = True,
        field_manager: str = "",
    ) -> Manifest:
        """Create an object, or post to a subresource (``pods/eviction``, ``bindings``, ...) of ``name``.

        A write with a ``field_manager`` is recorded in ``metadata.managedFields``; one without is not.
        """

    def replace(
        self,
        manifest: Manifest,
        *,
        subresource: str = "",
        dry_run: bool = False,
        strict: bool = True,
        field_manager: str = "",
    ) -> Manifest:
        """Put a whole object; a resourceVersion in it is checked."""

    def patch(
        self,
        resource: str,
        name: str,
        patch: Json,
        *,
        namespace: str | None = None,
        type: PatchType = "strategic",
        subresource: str = "",
        dry_run: bool = False,
        strict: bool = True,
        field_manager: str = "",
        force: bool = False,
    ) -> Manifest:
        """Patch an object or its ``status`` / ``scale`` subresource; ``force`` takes fields from other appliers."""

    def delete(
        self,
        resource: str,
        name: str,
        namespace: str | None = None,
        *,
        grace_period_seconds: int | None = None,
        propagation: Propagation | None = None,
        dry_run: bool = False,
    ) -> Manifest:
        """Ask for deletion; the object (perhaps with a deletionTimestamp) as it was left."""

    def logs(
        self,
        namespace: str,
        pod: str,
        *,
        container: str | None = None,
        previous: bool = False,
        tail: int | None = None,
        since_seconds: int | None = None,
        timestamps: bool = False,
        limit_bytes: int | None = None,
    ) -> str:
        """The log of one container. Raises BadRequest with the kubelet's text where there is none yet."""

    def exec(
        self,
        namespace: str,
        pod: str,
        command: Sequence[str],
        *,
        container: str | None = None,
        stdin: str = "",
        limit: float = LONGEST_COMMAND,
    ) -> ExecResult:
        """Run a command in a container, for at most ``limit`` seconds."""

    def attach(
        self,
        namespace: str,
        pod: str,
        *,
        container: str | None = None,
        stdin: str = "",
        end: bool = False,
        cursor: int = -1,
    ) -> Attached:
        """Give a container's main process input (``end``: there will be no more) and see what it writes.

        The first look has no ``cursor`` and begins with what is written from now on; later ones go on at the
        cursor of the one before. Raises BadRequest or InternalError where the container does not run.
        """

    def forward(self, namespace: str, pod: str, port: int, call: HttpCall) -> HttpExchange:
        """One HTTP request over a connection forwarded to a port of a pod. Raises BadRequest if it does not run.

        The URL of the call is the path.
        """

    def review_access(
        self, verb: str, resource: str, namespace: str | None = None, name: str = "", subresource: str = ""
    ) -> bool:
        """Whether RBAC allows this identity the verb."""

    def warnings(self) -> tuple[str, ...]:
        """What the API server warned of since this was last asked (its ``Warning`` headers), in order."""

    def head(self, resource: str) -> str:
        """The resourceVersion of a list of a collection now; empty for what is stored nowhere."""

    def delay(self, limit: float = 0.0) -> float:
        """Seconds that the answers since this was last asked take, and that whoever asked is still to let pass.

        What is asked next may take ``limit`` seconds where that is not 0, and fails if it takes longer.
        """

    def version(self) -> Mapping[str, str]:
        """The ``/version`` document."""

    def now(self) -> int:
        """The cluster's time."""

    def advance(self, seconds: float) -> None:
        """Let time pass (on a live cluster: wait)."""


class Nodes(Protocol):
    """The physics below Kubernetes."""

    @property
    def kinds(self) -> frozenset[type[Disturbance]]:
        """The kinds of disturbances this backend can make. Whoever needs another is refused before anything happens."""

    def apply(self, disturbance: Disturbance) -> None:
        """Let a disturbance begin. Raises ClusterError for a kind that this backend cannot make."""

    def heal(self, disturbance: Disturbance) -> None:
        """Let it end. Healing what is not there does nothing."""

    def run(self, node: str, command: str, stdin: str = "", limit: float = LONGEST_COMMAND) -> ExecResult:
        """A command line in a login shell of a machine, as root; without one what ``stdin`` says. With the text of ``ssh`` and exit code
        255 where the machine does not answer. Raises ClusterError where this backend cannot log in to machines."""

    def addressed(self, host: str) -> str:
        """The machine that has a name or an address; empty where there is none."""


class Traffic(Protocol):
    """The users of the application."""

    def health(self, window_seconds: float) -> list[JourneyHealth]:
        """Every journey over the last ``window_seconds``; ``requests`` is 0 where no traffic was offered."""

    def components(self, window_seconds: float) -> list[ComponentHealth]:
        """Every component that served requests over the window."""


class World(Protocol):
    """A cluster with its nodes, its users and its past."""

    @property
    def app(self) -> App:
        """The deployed application."""

    @property
    def cluster(self) -> Cluster:
        """The API as the environment's own (admin) identity."""

    @property
    def nodes(self) -> Nodes:
        """The machines."""

    @property
    def traffic(self) -> Traffic:
        """The users."""

    @property
    def telemetry(self) -> Telemetry:
        """Metrics, logs and traces."""

    def alerts(self) -> list[Alert]:
        """Alerts that are pending or firing now."""

    def request(self, call: HttpCall) -> HttpExchange:
        """One HTTP request from the workstation, which stands in the cluster's network and asks its DNS."""

    def now(self) -> int:
        """The world's time."""

    def advance(self, seconds: float) -> None:
        """Let time pass (on a live cluster: wait)."""
