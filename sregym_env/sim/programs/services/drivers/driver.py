"""What a client library is."""

from __future__ import annotations

from typing import Protocol

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import Call, Failure, Flow


class Driver(Protocol):
    """One client library."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """What becomes of such requests, in the library's words; ``share`` of those now served make one."""
        ...

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Connect once, at the start; None if that works."""
        ...

    def fill(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Put what is missing of the peer's data into it; None if that works."""
        ...

    def holds(self, ctx: ProcessContext, peer: Peer, space: str) -> bool | None:
        """Whether a cache holds a key space; None where no cache answers."""
        ...

    def keep(self, ctx: ProcessContext, peer: Peer, space: str) -> None:
        """Note, while serving, that a key space is in the cache from now on."""
        ...


def required(ask: Ask) -> bool:
    """Whether a request fails where this call fails."""
    return ask.lost.then != "ignore"


class Plain:
    """A library that connects and asks, and knows nothing of data and caches."""

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Open a connection."""
        return ctx.ask(*only(ctx, peer), Call("connect"), peer.timeout)

    def fill(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """There is nothing to put anywhere."""
        return None

    def holds(self, ctx: ProcessContext, peer: Peer, space: str) -> bool | None:
        """It is no cache."""
        return None

    def keep(self, ctx: ProcessContext, peer: Peer, space: str) -> None:
        """It is no cache."""
