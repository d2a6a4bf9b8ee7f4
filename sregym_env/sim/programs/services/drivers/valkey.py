"""Valkey and Redis from Go (``go-redis``) and .NET (``StackExchange.Redis``): connections that are kept."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import servers
from sregym_env.sim.programs.services.drivers.connecting import client
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, only, password
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import POOLED, SHARED, Call, Failure, Flow

_NETWORK = ("no_port", "refused", "no_such_host", "dns_timeout", "timeout", "overload", "reset")


class _Kept(Plain):
    patience = 3.0
    keeping = POOLED

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One command on a key space, over a connection that lasts as long as both processes."""
        host, port = only(ctx, peer)
        who = (("client", client(ctx)), *password(ctx, peer.account))
        call = Call(ask.operation, (("space", ask.of), *who))
        flow = ctx.call(
            host,
            port,
            call,
            share=share,
            timeout=peer.timeout or self.patience,
            required=required(ask),
            keeping=self.keeping,
        )
        if not flow.failures:
            return flow
        lost = tuple((self._told(failure, host, port), part) for failure, part in flow.failures)
        return Flow(flow.ok, flow.latency, lost)

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Connect, and say ``PING``."""
        host, port = only(ctx, peer)
        call = Call("ping", (("client", client(ctx)), *password(ctx, peer.account)))
        failure = ctx.ask(host, port, call, peer.timeout or self.patience)
        return None if failure is None else self._told(failure, host, port)

    def holds(self, ctx: ProcessContext, peer: Peer, space: str) -> bool | None:
        """What the server remembers."""
        server = ctx.peer(*only(ctx, peer))
        return None if server is None else servers.filled(server, space)

    def keep(self, ctx: ProcessContext, peer: Peer, space: str) -> None:
        """Into whatever server answers there."""
        server = ctx.peer(*only(ctx, peer))
        if server is not None and server.process.program in ("redis", "valkey"):
            servers.fill(server, space)

    def _told(self, failure: Failure, host: str, port: int) -> Failure:
        return Failure(failure.kind, self._worded(failure, host, port), failure.status)

    @staticmethod
    def _worded(failure: Failure, host: str, port: int) -> str:
        return failure.text


class GoRedis(_Kept):
    """``go-redis``: Go's words for the network, the server's own for the rest."""

    @staticmethod
    def _worded(failure: Failure, host: str, port: int) -> str:
        if failure.kind == "reset":
            return "EOF"
        if failure.kind in ("timeout", "overload") and "dial" not in failure.text:
            return "context deadline exceeded"
        return failure.text


class StackExchangeRedis(_Kept):
    """``StackExchange.Redis`` with ``abortConnect=false``: one multiplexer that tries again in the background."""

    patience = 5.0
    """Its ``syncTimeout``."""
    keeping = SHARED

    @staticmethod
    def _worded(failure: Failure, host: str, port: int) -> str:
        head = "StackExchange.Redis.RedisConnectionException: "
        if failure.kind == "auth":
            return (
                f"{head}The message timed out in the backlog attempting to send because no connection became available "
                "(5000ms) - Last Connection Exception: It was not possible to connect to the redis server(s). There was an "
                "authentication failure; check that passwords (or client certificates) are configured correctly: "
                f"(RedisServerException) {failure.text}"
            )
        if failure.kind == "timeout" and "dial" not in failure.text:
            return (
                f"StackExchange.Redis.RedisTimeoutException: Timeout awaiting response (outbound=0KiB, inbound=0KiB, "
                f"5000ms elapsed, timeout is 5000ms), command=HGET, next: HGET, serverEndpoint: {host}:{port}"
            )
        if failure.kind not in _NETWORK:
            return f"StackExchange.Redis.RedisServerException: {failure.text}"
        why = "UnableToConnect" if failure.kind != "reset" else "SocketClosed"
        return (
            f"{head}The message timed out in the backlog attempting to send because no connection became available "
            f"(5000ms) - Last Connection Exception: {why} on {host}:{port}/Interactive, Initializing/NotStarted, last: NONE, "
            f"origin: BeginConnectAsync, outstanding: 0, mgr: 10 of 10 available"
        )
