"""``mongo-c-driver``: MongoDB from C++."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, credentials, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import POOLED, Call, Failure, Flow

SELECTION = 0.3
"""Seconds it looks for a server (``serverSelectionTimeoutMS`` of the services)."""

_CAUSES = {
    "no_port": "cannot assign requested address",
    "refused": "connection refused",
    "reset": "connection closed",
    "timeout": "connection timeout",
    "overload": "socket timeout",
}


class Mongoc(Plain):
    """Looks for a server once per command; says what kept it from each."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One command on a collection."""
        host, port = only(ctx, peer)
        names = (("database", peer.database), ("collection", ask.of))
        call = Call(ask.operation, (*credentials(ctx, peer.account), *names))
        flow = ctx.call(
            host, port, call, share=share, timeout=SELECTION, required=required(ask), keeping=POOLED
        )
        if not flow.failures:
            return flow
        lost = tuple(
            (Failure(failure.kind, _worded(failure, host, port)), part) for failure, part in flow.failures
        )
        return Flow(flow.ok, flow.latency, lost)

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Connect, and ask for the indexes."""
        host, port = only(ctx, peer)
        failure = ctx.ask(host, port, Call("connect", credentials(ctx, peer.account)), SELECTION)
        return None if failure is None else Failure(failure.kind, _worded(failure, host, port))


def _worded(failure: Failure, host: str, port: int) -> str:
    if failure.kind in ("no_such_host", "dns_timeout"):
        return f"No suitable servers found (`serverSelectionTryOnce` set): [Failed to resolve '{host}']"
    cause = _CAUSES.get(failure.kind)
    if cause is None:
        return failure.text
    return (
        "No suitable servers found (`serverSelectionTryOnce` set): "
        f"[{cause} calling ismaster on '{host}:{port}']"
    )
