"""``bradfitz/gomemcache``: memcached from Go."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import servers
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import POOLED, Call, Failure, Flow


class Gomemcache(Plain):
    """Multi-gets over one server."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One request; without a server it never leaves the process."""
        host, port = only(ctx, peer)
        if not host:
            text = "memcache: no servers configured or available"
            return Flow(0.0, 0.0, ((Failure("error", text), 1.0),))
        call = Call(ask.operation, (("space", ask.of),))
        return ctx.call(
            host, port, call, share=share, timeout=peer.timeout, required=required(ask), keeping=POOLED
        )

    def holds(self, ctx: ProcessContext, peer: Peer, space: str) -> bool | None:
        """What the server remembers."""
        server = ctx.peer(*only(ctx, peer))
        return None if server is None else servers.filled(server, space)

    def keep(self, ctx: ProcessContext, peer: Peer, space: str) -> None:
        """Into whatever server answers there."""
        server = ctx.peer(*only(ctx, peer))
        if server is not None and server.process.program == "memcached":
            servers.fill(server, space)
