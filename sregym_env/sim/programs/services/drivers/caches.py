"""``redis-plus-plus`` and ``libmemcached``: caches from C++."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import servers
from sregym_env.sim.programs.services.drivers.connecting import lives
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, only, password
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import POOLED, Call, Failure, Flow, Keeping


class _Cache(Plain):
    program = ""
    """The server that it speaks to."""
    patience = 1.0
    """Seconds until it gives up."""
    rotates = False
    """Whether its pools close connections that are old (``connection_lifetime``)."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One command on a key space."""
        host, port = only(ctx, peer)
        call = Call(ask.operation, (("space", ask.of), *password(ctx, peer.account)))
        flow = ctx.call(
            host,
            port,
            call,
            share=share,
            timeout=peer.timeout or self.patience,
            required=required(ask),
            keeping=Keeping(shared=False, lives=lives(ctx, peer)) if self.rotates else POOLED,
        )
        if not flow.failures:
            return flow
        lost = tuple((Failure(failure.kind, self._worded(failure)), part) for failure, part in flow.failures)
        return Flow(flow.ok, flow.latency, lost)

    def holds(self, ctx: ProcessContext, peer: Peer, space: str) -> bool | None:
        """What the server remembers."""
        server = ctx.peer(*only(ctx, peer))
        return None if server is None else servers.filled(server, space)

    def keep(self, ctx: ProcessContext, peer: Peer, space: str) -> None:
        """Into whatever server answers there."""
        server = ctx.peer(*only(ctx, peer))
        if server is not None and server.process.program == self.program:
            servers.fill(server, space)

    @staticmethod
    def _worded(failure: Failure) -> str:
        return failure.text


class RedisPlusPlus(_Cache):
    """Pools of connections; every failure is an exception."""

    program = "redis"
    rotates = True

    @staticmethod
    def _worded(failure: Failure) -> str:
        match failure.kind:
            case "no_port":
                return "Failed to connect to Redis: Cannot assign requested address"
            case "refused":
                return "Failed to connect to Redis: Connection refused"
            case "no_such_host":
                return "Failed to connect to Redis: Name or service not known"
            case "dns_timeout":
                return "Failed to connect to Redis: Temporary failure in name resolution"
            case "timeout" | "overload":
                return "Failed to get reply: Resource temporarily unavailable"
            case "reset":
                return "Failed to get reply: Server closed the connection"
        return failure.text


class Libmemcached(_Cache):
    """Pools of connections; failures are return codes."""

    program = "memcached"

    @staticmethod
    def _worded(failure: Failure) -> str:
        match failure.kind:
            case "no_port" | "refused" | "reset":
                return "CONNECTION FAILURE"
            case "no_such_host" | "dns_timeout":
                return "HOSTNAME LOOKUP FAILURE"
            case "timeout" | "overload":
                return "A TIMEOUT OCCURRED"
        return failure.text
