"""OpenFeature's providers for flagd: a flag is asked for, and without an answer its default in the code holds."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.drivers.driver import Plain
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import Call, Failure, Flow

DEADLINE = 0.5
"""Seconds that a provider waits for an answer (``deadlineMs`` 500)."""


class OpenFeature(Plain):
    """What the flag is, :func:`sregym_env.sim.programs.flagd.resolve` tells."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """Resolve one flag; never fails, since the default takes the place of an answer."""
        host, port = only(ctx, peer)
        call = Call("flagd.evaluation.v1.Service/Resolve", (("flag", ask.of),))
        flow = ctx.call(host, port, call, share=share, timeout=peer.timeout or DEADLINE, required=False)
        return Flow(1.0, flow.latency)

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Providers become ready in the background."""
        return None
