"""What is said at the seam while one kubectl command runs, as data.

kubectl knows the cluster by the :class:`~sregym_env.cluster.api.Cluster` protocol alone. What it reads of stored
objects follows from the objects; what else it is told is an :class:`Exchange`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, NamedTuple

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.identity import ADMIN, User
from sregym_env.kube.types import Manifest
from sregym_env.sim.embedded import EmbeddedWorld

CHANGING = frozenset(("create", "replace", "patch", "delete"))
"""Questions that ask for a write."""

ASKED = CHANGING | {"logs", "exec", "attach", "forward", "review_access", "version"}
"""Methods of the seam whose answers are kept; ``get`` and ``list`` are answered from objects."""

HEARTBEATS = ("nodes", "leases.coordination.k8s.io")
"""Resources whose objects hold more when they are read than when they were stored."""

VIEWS = ("pods.metrics.k8s.io", "nodes.metrics.k8s.io", "componentstatuses")
"""Resources that are computed when they are read."""

AGAIN = "attach again"
"""The question of who is attached already: what has been written since."""

_SIGNATURES = {method: inspect.signature(getattr(Cluster, method)) for method in ASKED}


class Change(NamedTuple):
    """An object came, changed or went."""

    after: int
    """Microseconds since the command was typed."""
    resource: str
    key: tuple[str, str]
    """Namespace (empty where there is none) and name."""
    object: Manifest | None
    """None where it went."""


@dataclass(frozen=True)
class Exchange:
    """One question and what came of it."""

    question: str
    """Canonical JSON: method, arguments that are not the default, user unless the administrator."""
    answer: Any
    """What the method returned, or the StatusError that it raised."""
    after: int = 0
    """When it was asked, in microseconds since the command was typed."""
    warnings: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    """What the call itself wrote."""


class View(NamedTuple):
    """All objects of a resource that is computed, and the warnings of who reads it."""

    objects: tuple[Manifest, ...]
    warnings: tuple[str, ...]


@dataclass
class Heard:
    """All that a command was told beyond the objects that it found."""

    exchanges: list[Exchange] = field(default_factory=list)
    later: list[Change] = field(default_factory=list)
    """What changed while the command let time pass, in order."""
    views: dict[str, View] = field(default_factory=dict)


class Interposed:
    """Stands between kubectl and a cluster: ``ask`` sees every question of :data:`ASKED`."""

    def __init__(self, api: Cluster) -> None:
        self.api = api

    @property
    def user(self) -> User:
        """Who is asking."""
        return self.api.user

    @property
    def registry(self) -> Any:
        """What is served: it follows from the objects."""
        return self.api.registry

    def now(self) -> int:
        """The cluster's time."""
        return self.api.now()

    def head(self, resource: str) -> str:
        """The resourceVersion of a list: it follows from what is stored."""
        return self.api.head(resource)

    def delay(self, limit: float = 0.0) -> float:
        """How long webhooks have kept a request waiting."""
        return self.api.delay(limit)

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method not in ASKED:
            raise AttributeError(method)

        def asking(*args: Any, **kwargs: Any) -> Any:
            given = _SIGNATURES[method].bind(self, *args, **kwargs).arguments
            question = question_of(method, given, self.user)
            return self.ask(method, question, lambda: getattr(self.api, method)(*args, **kwargs))

        return asking

    def ask(self, method: str, question: str, call: Callable[[], Any]) -> Any:
        """Answer a question; ``call`` puts it to the cluster."""
        raise NotImplementedError


def question_of(method: str, given: Mapping[str, Any], user: User) -> str:
    """A question as text: the same whatever is left out, however keys are ordered."""
    parameters = _SIGNATURES[method].parameters
    said = {
        name: asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
        for name, value in given.items()
        if name not in ("self", "limit") and value != parameters[name].default
    }
    if said.pop("cursor", None) is not None:
        method = AGAIN
    who = [] if user == ADMIN else [[user.name, *user.groups]]
    return json.dumps([method, said, *who], sort_keys=True)


def as_seen(world: EmbeddedWorld, resource: str, obj: Manifest) -> Manifest:
    """A stored object as a client sees it."""
    if resource not in HEARTBEATS:
        return obj
    metadata = obj["metadata"]
    return world.cluster.get(resource, metadata["name"], metadata.get("namespace"))
