"""Clusters that consist of recorded objects: nothing in them moves, but for what was recorded to move.

kubectl's reads are answered by today's API server from the objects. What else it was told while it was recorded is
told again to the same questions. Where it asks for another write than it did then, today's API server carries that
out on the objects; where it asks anything else that is no object, there is no answer (:class:`Unanswered`).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.identity import User
from sregym_env.cluster.streams import Attached
from sregym_env.kube import selectors
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError, forbidden, not_found
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import seconds
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world import Machinery
from sregym_env.sim.world.store import Store
from tests.parity.seam import AGAIN, CHANGING, HEARTBEATS, VIEWS, Change, Exchange, Heard, Interposed, as_seen

Slot = tuple[str, str, str]
"""Resource, namespace and name of an object."""

_KEPT = ("review_access", "version")
"""Questions that follow from the objects and the version profile, where they were not asked before."""


class Unanswered(AssertionError):
    """kubectl asks what it did not ask when the line was recorded, and the objects do not answer."""


@dataclass(frozen=True)
class Moment:
    """The objects of a cluster at a time, as clients see them."""

    clock: int
    revision: int
    objects: Mapping[Slot, Manifest]


def moment_of(world: EmbeddedWorld) -> Moment:
    """What there is in a world now."""
    objects = {}
    for resource in world.store.resources():
        for obj in world.store.list(resource):
            metadata = obj["metadata"]
            slot = (resource, metadata.get("namespace", ""), metadata["name"])
            objects[slot] = as_seen(world, resource, obj)
    return Moment(world.now(), world.store.revision, objects)


def standing_world(moment: Moment) -> EmbeddedWorld:
    """A world of these objects without machines, programs, control loops and users."""
    world = EmbeddedWorld(0, start=moment.clock, machinery=Machinery.of((), {}), images={})
    place(world.store, moment.objects.items())
    world.store.revision = moment.revision
    return world


def place(store: Store, objects: Iterable[tuple[Slot, Manifest | None]]) -> None:
    """Put objects as they are, resourceVersions included; take those away of which there is none."""
    for (resource, namespace, name), obj in objects:
        if obj is None:
            store.remove(resource, namespace, name)
        else:
            store.revision = int(obj["metadata"]["resourceVersion"]) - 1
            store.put(resource, obj)


class Replay:
    """One recorded command line played again: the state that all identities in it share."""

    def __init__(self, world: EmbeddedWorld, heard: Heard) -> None:
        """``world`` is changed; ``heard`` is not."""
        self.world = world
        self.otherwise: list[str] = []
        """Questions that were not asked when the line was recorded."""
        self._start = world.now()
        self._views = heard.views
        self._later = deque(heard.later)
        self._known: dict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in heard.exchanges:
            self._known[exchange.question].append(exchange)
        self._warnings: list[str] = []
        self.cluster = cast(Cluster, _Replayed(world.cluster, self))

    def ask(self, method: str, question: str, call: Callable[[], Any]) -> Any:
        """The recorded answer to a question, else today's."""
        known = self._known.get(question)
        if known is not None and question.startswith(f'["{AGAIN}"'):
            return self._looked(known)
        if not known:
            self.otherwise.append(question)
            if method in CHANGING or method in _KEPT:
                return call()
            raise Unanswered(question)
        if method != "logs":
            return self._told(known.popleft())
        while len(known) > 1 and known[1].after <= self._elapsed:
            known.popleft()
        return self._told(known[0])

    def view(self, resource: str) -> tuple[Manifest, ...]:
        """All objects of a resource that is computed."""
        if resource not in self._views:
            raise Unanswered(f"list {resource}")
        self._warnings += self._views[resource].warnings
        return self._views[resource].objects

    def advance(self, duration: float) -> None:
        """Let time pass: what was recorded to change by then changes."""
        self.world.clock += seconds(duration)
        while self._later and self._later[0].after <= self._elapsed:
            self._change(self._later.popleft())

    def warnings(self) -> tuple[str, ...]:
        """The warnings since this was last asked."""
        told, self._warnings = tuple(self._warnings), []
        return told

    @property
    def _elapsed(self) -> int:
        """Microseconds since the command was typed."""
        return self.world.clock - self._start

    def _told(self, exchange: Exchange) -> Any:
        self._warnings += exchange.warnings
        for change in exchange.changes:
            self._change(change)
        if isinstance(exchange.answer, StatusError):
            raise exchange.answer
        return exchange.answer

    def _looked(self, looks: deque[Exchange]) -> Any:
        """What a main process has written by now, whenever kubectl looks."""
        seen = Attached("", bool(looks), 0)
        while looks and looks[0].after <= self._elapsed:
            if isinstance(looks[0].answer, StatusError) and seen.text:
                break  # told at the next look
            look = self._told(looks.popleft())
            seen = Attached(seen.text + look.text, look.running, 0)
        return seen

    def _change(self, change: Change) -> None:
        place(self.world.store, [((change.resource, *change.key), change.object)])


class _Replayed(Interposed):
    """The recorded cluster as one user sees it."""

    def __init__(self, api: Cluster, replay: Replay) -> None:
        super().__init__(api)
        self._replay = replay

    def as_user(self, user: User) -> Cluster:
        """The same cluster through another identity's eyes."""
        return cast(Cluster, _Replayed(self.api.as_user(user), self._replay))

    def get(
        self, resource: str, name: str, namespace: str | None = None, *, subresource: str = ""
    ) -> Manifest:
        """One object."""
        if resource in VIEWS:
            for obj in self.list(resource, namespace):
                if obj["metadata"]["name"] == name:
                    return obj
            raise not_found(self._kind(resource), name)
        found = self.api.get(resource, name, namespace, subresource=subresource)
        return self._as_recorded(resource, found)

    def list(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> Sequence[Manifest]:
        """Objects in (namespace, name) order."""
        if resource in VIEWS and not field_selector:
            return self._viewed(resource, namespace, label_selector)
        found = self.api.list(
            resource, namespace, label_selector=label_selector, field_selector=field_selector
        )
        return [self._as_recorded(resource, obj) for obj in found]

    def ask(self, method: str, question: str, call: Callable[[], Any]) -> Any:
        """The recorded answer, else today's."""
        return self._replay.ask(method, question, call)

    def warnings(self) -> tuple[str, ...]:
        """The warnings since this was last asked."""
        return self._replay.warnings() + self.api.warnings()

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._replay.advance(seconds)

    def _as_recorded(self, resource: str, obj: Manifest) -> Manifest:
        """A node or lease with the heartbeats that were recorded, not with those of machines that are not there."""
        if resource not in HEARTBEATS:
            return obj
        metadata = obj["metadata"]
        stored = self._replay.world.store.get(resource, metadata.get("namespace", ""), metadata["name"])
        assert stored is not None
        return stored

    def _viewed(self, resource: str, namespace: str | None, label_selector: str) -> Sequence[Manifest]:
        if not self.api.review_access("list", resource, namespace):
            raise forbidden(self._kind(resource), "", self.user.name, "list", namespace or "")
        labels = selectors.parse_labels(label_selector)
        return [
            obj
            for obj in self._replay.view(resource)
            if namespace in (None, obj["metadata"].get("namespace"))
            and labels.matches(obj["metadata"].get("labels") or {})
        ]

    def _kind(self, resource: str) -> Resource:
        kind: Resource = self.registry.by_key(resource)
        return kind
