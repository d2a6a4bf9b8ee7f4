"""Thrift: the C++ services' pools of clients, and Lua's in OpenResty."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.drivers.connecting import lives, workers
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import Call, Failure, FailureKind, Flow, Keeping

RPC_TIMEOUT = 10.0
"""Seconds that both wait for an answer (``timeout_ms`` 10000 of the configuration; 10 s in Lua)."""


class ThriftCpp(Plain):
    """``ClientPool`` of the C++ services."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One call. What a server has thrown is passed on in its words."""
        host, port = only(ctx, peer)
        flow = ctx.call(
            host,
            port,
            Call(ask.operation),
            share=share,
            timeout=peer.timeout or RPC_TIMEOUT,
            required=required(ask),
            keeping=self._keeping(ctx, peer),
        )
        if not flow.failures:
            return flow
        lost: dict[Failure, float] = {}
        denied = sum(part for failure, part in flow.failures if failure.kind == "no_port")
        if denied:
            where = next(iter(ctx.connect(host, port).resolution.addresses), host)
            ctx.log_per_request(
                self._complaint(host, where, port), share=share * denied, low=1.0 - share * denied
            )
        for failure, part in flow.failures:
            # Only a server throws: everything else happens on the way to it.
            text = failure.text if failure.kind == "error" else self._worded(failure.kind, peer, host, port)
            told = Failure("error", text)
            lost[told] = lost.get(told, 0.0) + part
        return Flow(flow.ok, flow.latency, tuple(lost.items()))

    def _keeping(self, ctx: ProcessContext, peer: Peer) -> Keeping:
        """A client that is older than its ``keepalive_ms`` is closed when it is given back."""
        return Keeping(shared=False, lives=lives(ctx, peer))

    def _complaint(self, host: str, address: str, port: int) -> str:
        """What the library writes itself where it gets no socket connected (``TOutput``)."""
        where = f"<Host: {host} Port: {port}>"
        return f"Thrift: {{time|%a %b %d %H:%M:%S %Y}} TSocket::open() connect() {where}: Cannot assign requested address"

    @staticmethod
    def _worded(kind: FailureKind, peer: Peer, host: str, port: int) -> str:
        """A failure of the network: everything before the connection stands is one failure of the pool."""
        if kind in ("timeout", "overload"):
            return "THRIFT_EAGAIN (timed out)"
        if kind == "reset":
            return "No more data to read."
        return f"Failed to connect to {peer.name}-client"


class ThriftLua(ThriftCpp):
    """``GenericObjectPool`` of the Lua front ends."""

    def _keeping(self, ctx: ProcessContext, peer: Peer) -> Keeping:
        """Every worker of nginx has a pool of its own (``worker_processes auto``)."""
        return Keeping(shared=False, clients=workers(ctx))

    def _complaint(self, host: str, address: str, port: int) -> str:
        """nginx's log of errors."""
        return (
            f"{{time|%Y/%m/%d %H:%M:%S}} [crit] 8#8: *1 connect() to {address}:{port} failed (99: Cannot assign requested "
            "address), context: ngx.thread"
        )

    @staticmethod
    def _worded(kind: FailureKind, peer: Peer, host: str, port: int) -> str:
        """As Lua's sockets say it."""
        if kind == "no_such_host":
            return f"{host} could not be resolved (3: Host not found)"
        if kind == "dns_timeout":
            return f"{host} could not be resolved (110: Operation timed out)"
        if kind in ("timeout", "overload"):
            return "timeout"
        if kind == "no_port":
            return f"Could not connect to {host}:{port} (cannot assign requested address)"
        return f"Could not connect to {host}:{port} (connection refused)"
