"""``grpc-go``: round robin over what a resolver knows, with a service's own policy of retries."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, addresses
from sregym_env.sim.programs.services.protocols import UNAVAILABLE
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import Again, Call, Failure, Flow

FAIL_FAST = 0.001
"""Seconds until an RPC fails whose connection is in back-off: calls do not wait for it to come back."""


class GrpcGo(Plain):
    """Connections are kept, and calls fail fast while there is none."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """What becomes of an RPC, its retries included."""
        if peer.retries is None:
            return _balanced(ctx, peer, ask, share, peer.timeout, None)
        timeout, attempts, backoff, multiplier = peer.retries.of(ctx.process.env)
        again = Again(attempts - 1, backoff, multiplier) if attempts > 1 else None
        return _balanced(ctx, peer, ask, share, timeout or peer.timeout, again)


def _balanced(
    ctx: ProcessContext, peer: Peer, ask: Ask, share: float, timeout: float, again: Again | None
) -> Flow:
    """Round robin over the addresses that can be connected to."""
    known = addresses(ctx, peer)
    if not known:
        text = UNAVAILABLE + "there is no address available"
        return Flow(0.0, 0.0005, ((Failure("unavailable", text), 1.0),))
    usable = known
    if len(known) > 1:
        usable = (
            tuple(a for a in known if any(leg.outcome == "ok" for leg in ctx.connect(*a).legs)) or known[:1]
        )
    if again is not None:
        # The next attempt is the next one's turn.
        (host, port), *others = usable
        return _sent(ctx, (host, port), others, ask, share, timeout, again)
    part = 1.0 / len(usable)
    ok = latency = 0.0
    failures: dict[Failure, float] = {}
    for address in usable:
        flow = _sent(ctx, address, (), ask, share * part, timeout, None)
        ok += part * flow.ok
        latency += part * flow.latency
        for failure, lost in flow.failures:
            failures[failure] = failures.get(failure, 0.0) + part * lost
    return Flow(ok, latency, tuple(failures.items()))


def _sent(
    ctx: ProcessContext,
    address: tuple[str, int],
    beside: Sequence[tuple[str, int]],
    ask: Ask,
    share: float,
    timeout: float,
    again: Again | None,
) -> Flow:
    return ctx.call(
        *address,
        Call(ask.operation),
        share=share,
        timeout=timeout,
        again=again,
        required=required(ask),
        fail_fast=FAIL_FAST,
        cancels=True,
        beside=beside,
    )
