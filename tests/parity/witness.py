"""Writing down what the in-process kubectl is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.identity import User
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world.store import Change as Written
from tests.parity.seam import VIEWS, Change, Exchange, Heard, Interposed, View, as_seen


class Witness:
    """Hears what is said at the seam of a world, and what changes in it meanwhile."""

    def __init__(self, world: EmbeddedWorld) -> None:
        self.heard = Heard()
        self._world = world
        self._start = world.now()
        self._during: list[Change] | None = None
        self._warnings: list[str] = []
        self._tell = world.store.listener
        world.store.listener = self._changed
        self.cluster = cast(Cluster, _Overheard(world.cluster, self))

    def _changed(self, change: Written) -> None:
        self._tell(change)
        new = None if change.new is None else as_seen(self._world, change.resource, change.new)
        place = self.heard.later if self._during is None else self._during
        place.append(Change(self._world.now() - self._start, change.resource, change.key, new))

    def ask(self, api: Cluster, question: str, call: Callable[[], Any]) -> Any:
        """Put a question to the cluster and note the answer."""
        after = self._world.now() - self._start
        changes: list[Change] = []
        self._during = changes
        try:
            answer = call()
        except StatusError as error:
            answer = error
        self._during = None
        assert self._world.now() == self._start + after, "only advance() lets time pass"
        told = self.told(api)
        self.heard.exchanges.append(Exchange(question, answer, after, told, tuple(changes)))
        if isinstance(answer, StatusError):
            raise answer
        return answer

    def look(self, resource: str) -> None:
        """Note all objects of a resource that is computed, as they are before it is first read."""
        if resource in VIEWS and resource not in self.heard.views:
            admin = self._world.cluster
            objects = tuple(admin.list(resource))
            self.heard.views[resource] = View(objects, admin.warnings())

    def told(self, api: Cluster) -> tuple[str, ...]:
        """Take the warnings there are; they are kept for whoever asks for them."""
        told = api.warnings()
        self._warnings += told
        return told

    def warnings(self, api: Cluster) -> tuple[str, ...]:
        """The warnings since this was last asked."""
        self.told(api)
        told, self._warnings = tuple(self._warnings), []
        return told


class _Overheard(Interposed):
    """The cluster as one user sees it, with a witness."""

    def __init__(self, api: Cluster, witness: Witness) -> None:
        super().__init__(api)
        self._witness = witness

    def as_user(self, user: User) -> Cluster:
        """The same cluster through another identity's eyes."""
        return cast(Cluster, _Overheard(self.api.as_user(user), self._witness))

    def get(
        self, resource: str, name: str, namespace: str | None = None, *, subresource: str = ""
    ) -> Manifest:
        """One object."""
        self._witness.look(resource)
        return self.api.get(resource, name, namespace, subresource=subresource)

    def list(self, resource: str, namespace: str | None = None, **selectors: str) -> Sequence[Manifest]:
        """Objects in (namespace, name) order."""
        self._witness.look(resource)
        return self.api.list(resource, namespace, **selectors)

    def ask(self, method: str, question: str, call: Callable[[], Any]) -> Any:
        """Put a question to the cluster, overheard."""
        return self._witness.ask(self.api, question, call)

    def warnings(self) -> tuple[str, ...]:
        """The warnings since this was last asked."""
        return self._witness.warnings(self.api)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.api.advance(seconds)
