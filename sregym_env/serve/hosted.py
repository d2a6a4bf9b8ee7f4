"""A world on its way to real clients: what every part of the server shares."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from sregym_env.cluster.identity import User
from sregym_env.kube.instrumentation import Counters
from sregym_env.serve.access import Identities
from sregym_env.serve.encoding import Encoder
from sregym_env.serve.journal import Keeper
from sregym_env.serve.pace import Pace
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.embedded import EmbeddedWorld

MAX_VIEWS = 256
"""Identities remembered; a client that impersonates can make up any number."""


class Bell:
    """Wakes everybody who waits for the world to change."""

    def __init__(self) -> None:
        self._waiting: asyncio.Event | None = None

    def ring(self) -> None:
        """Wake all who wait."""
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None

    async def wait(self, timeout: float) -> None:
        """Until the next ring, at most ``timeout`` seconds."""
        if self._waiting is None:
            self._waiting = asyncio.Event()
        try:
            await asyncio.wait_for(self._waiting.wait(), timeout)
        except TimeoutError:
            return


@dataclass(slots=True)
class Hosted:
    """One served cluster."""

    pace: Pace
    identities: Identities
    address: str = "127.0.0.1:6443"
    base: str = ""
    """The base path below which the cluster is served."""
    counters: Counters = field(default_factory=Counters)
    encoder: Encoder = field(default_factory=Encoder)
    bell: Bell = field(default_factory=Bell)
    keeper: Keeper | None = None
    """Keeps what happens for after a crash."""
    closing: bool = False
    _revision: int = -1
    _views: dict[User, tuple[EmbeddedWorld, SimCluster]] = field(default_factory=dict)

    @property
    def world(self) -> EmbeddedWorld:
        """The world that is served."""
        return self.pace.world

    def cluster(self, user: User) -> SimCluster:
        """The API as an identity sees it. Views are kept, since each remembers what its identity may do."""
        world = self.world
        known = self._views.get(user)
        if known is not None and known[0] is world:
            return known[1]
        if len(self._views) >= MAX_VIEWS:
            self._views.clear()
        made = SimCluster(world, user)
        self._views[user] = (world, made)
        return made

    def change(self) -> None:
        """Note that somebody is changing the world: nobody is told of it before it is kept."""
        if self.keeper is not None:
            self.keeper.change()

    async def kept(self) -> None:
        """Wait until what has been changed would outlive a crash."""
        if self.keeper is not None:
            await self.keeper.kept()

    def sync(self) -> None:
        """Bring the world to the present and tell those who watch if something changed."""
        self.pace.sync()
        self.announce()

    async def let_pass(self, seconds: float) -> None:
        """Let the time pass that an answer takes: on the wall as everybody else's, in step mode at once."""
        if not seconds:
            return
        if self.pace.mode == "step":
            self.world.advance(seconds)
            self.announce()
        else:
            await asyncio.sleep(seconds / self.pace.factor)
            self.sync()

    def announce(self) -> None:
        """Wake those who watch if something was written since the last time."""
        revision = self.world.store.newest
        if revision != self._revision:
            self._revision = revision
            self.bell.ring()
