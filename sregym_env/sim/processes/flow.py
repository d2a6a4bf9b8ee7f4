"""What becomes of requests: the call graph of the moment, walked once per kind of call.

An :class:`Evaluation` looks at one instant and changes nothing. It asks each program once what becomes of a
kind of call (programs ask on, through their contexts), remembers the answer, and keeps who called whom with
which share, so that request rates can be sent down the same graph afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sregym_env.sim.network import addressing
from sregym_env.sim.network.addressing import Source
from sregym_env.sim.network.connections import CONNECT_TIMEOUT, Leg, connect
from sregym_env.sim.network.links import late, retransmissions
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.program import Call, Context, Failure, Flow

NodeKey = tuple[ProcessKey, Call, int]
"""One kind of call at one process: (process, call, port)."""

SPREAD = 0.5
"""Assumed half-width of a server's response time relative to its mean, for comparing it with a timeout."""

OWN_WORK = 0.0005
"""Assumed least time a request occupies a server's own CPU, seconds."""


@dataclass(slots=True)
class Visit:
    """One kind of call at one process: its outcome and what it leads to per request."""

    process: Process
    call: Call
    port: int
    flow: Flow = field(default_factory=Flow)
    calls: dict[NodeKey, float] = field(default_factory=dict)
    """Calls made per request, by callee."""
    crashes: list[tuple[float, str, int]] = field(default_factory=list)
    """(share, last words, exit code) of requests that kill the process."""
    logs: dict[str, float] = field(default_factory=dict)
    """Lines written per request, by template."""
    waited: float = 0.0
    """Mean seconds per request spent waiting for callees, one after the other."""
    wait: float = 0.0
    """Seconds that requests queue here because the process is saturated."""
    rate: float = 0.0
    """Requests per second, once rates were sent down."""


@dataclass(frozen=True, slots=True)
class Pressure:
    """How a process short of CPU serves: its own work takes ``slowdown`` times as long, requests queue for
    ``wait`` seconds, and only a share of them is ever served."""

    slowdown: float = 1.0
    served: float = 1.0
    wait: float = 0.0


class Evaluation:
    """The flows of one instant.

    ``contexts`` makes what a serving process sees; ``pressure`` tells which processes are short of CPU.
    """

    def __init__(
        self,
        world: SimWorld,
        contexts: Callable[[SimWorld, Process, Evaluation], Context],
        pressure: Mapping[ProcessKey, Pressure] | None = None,
    ) -> None:
        self.world = world
        self._contexts = contexts
        self.visits: dict[NodeKey, Visit] = {}
        """Every kind of call that was looked at; callees come before their callers."""
        self.pressure: Mapping[ProcessKey, Pressure] = pressure or {}
        self._stack: list[Visit] = []
        self._open: set[NodeKey] = set()

    # --- asking -----------------------------------------------------------------------------------

    def call(
        self,
        source: Source,
        host: str,
        port: int,
        call: Call,
        *,
        share: float = 1.0,
        timeout: float = 0.0,
        rate: float = 0.0,
    ) -> Flow:
        """What becomes of ``call`` from ``source`` to ``host:port``.

        ``share`` is how often the request now being served makes this call. ``timeout`` caps the wait.
        ``rate`` is for calls that nobody called for: the load a generator offers, per second.
        """
        legs = connect(self.world, source, host, port).legs
        patience = timeout or CONNECT_TIMEOUT
        if len(legs) == 1:
            flow = self._leg(legs[0], call, share, patience, rate)
        else:
            flow = _mixed(
                [
                    (leg.share, self._leg(leg, call, share * leg.share, patience, rate * leg.share))
                    for leg in legs
                ]
            )
        if self._stack:
            self._stack[-1].waited += share * flow.latency
        return flow

    def serve(self, process: Process, call: Call, port: int) -> Flow:
        """What ``process`` makes of such calls arriving at ``port``, the network aside."""
        return self._visit(process, call, port).flow

    def note_crash(self, process: Process, text: str, code: int, share: float) -> None:
        """A share of the requests now being served by ``process`` kills it after it wrote ``text``."""
        if share > 0.0 and self._stack:
            self._stack[-1].crashes.append((share, text, code))

    def note_log(self, process: Process, template: str, share: float) -> None:
        """A share of the requests now being served by ``process`` writes this line."""
        if share > 0.0 and self._stack:
            logs = self._stack[-1].logs
            logs[template] = logs.get(template, 0.0) + share

    def context(self, process: Process) -> Context:
        """What ``process`` sees while it serves here."""
        return self._contexts(self.world, process, self)

    # --- walking ----------------------------------------------------------------------------------

    def _leg(self, leg: Leg, call: Call, share: float, patience: float, rate: float) -> Flow:
        if leg.outcome != "ok" or leg.process is None:
            if leg.outcome == "timeout" and leg.latency > patience:
                return _failed("timeout", leg.text, patience)
            return _failed(leg.outcome, leg.text, min(leg.latency, patience))
        addressing.note(self.world, "process", leg.process)
        process = self.world.processes.get(leg.process)
        if process is None:
            return _failed(
                "reset", f"read tcp {leg.address}:{leg.port}: read: connection reset by peer", leg.latency
            )
        if not leg.answers:
            return _failed("timeout", "context deadline exceeded", patience)
        key = (process.key, call, leg.port)
        # A cycle of calls: what becomes of it is decided further out, here it only has to end.
        if key in self._open:
            return Flow(1.0, leg.latency)
        visit = self._visit(process, call, leg.port)
        visit.rate += rate
        if self._stack and not rate:
            calls = self._stack[-1].calls
            calls[key] = calls.get(key, 0.0) + share
        flow = _travelled(visit.flow, leg, patience)
        if not visit.wait:
            return flow
        # Callers that give up leave the queue, so it never grows beyond their patience.
        return Flow(flow.ok, min(flow.latency + visit.wait, patience), flow.failures)

    def _visit(self, process: Process, call: Call, port: int) -> Visit:
        key = (process.key, call, port)
        visit = self.visits.get(key)
        if visit is not None:
            return visit
        visit = Visit(process, call, port)
        self._stack.append(visit)
        self._open.add(key)
        try:
            flow: Flow = self.world.programs[process.program].serve(self.context(process), call, port)
        finally:
            self._stack.pop()
            self._open.discard(key)
        pressure = self.pressure.get(process.key)
        visit.flow = flow
        if pressure is not None:
            visit.flow = _pressed(flow, pressure, visit.waited)
            visit.wait = pressure.wait
        # Not before its callees are in: rates are sent down in the opposite order.
        self.visits[key] = visit
        return visit

    # --- rates ------------------------------------------------------------------------------------

    def send_rates(self) -> None:
        """Send the offered rates down the graph; afterwards every visit has its rate. Call once."""
        for visit in reversed(self.visits.values()):
            if visit.rate:
                for key, share in visit.calls.items():
                    callee = self.visits.get(key)
                    if callee is not None:
                        callee.rate += visit.rate * share


def _failed(kind: Any, text: str, latency: float) -> Flow:
    return Flow(0.0, latency, ((Failure(kind, text), 1.0),))


def _travelled(flow: Flow, leg: Leg, patience: float) -> Flow:
    """A server's flow as the client sees it: the way there and back, losses, and the client's patience."""
    latency = flow.latency + leg.latency
    lost = 0.0
    if leg.loss:
        lost, extra = retransmissions(leg.loss, patience)
        latency += extra
    unlucky = 0.0
    if latency > patience * 0.5:
        unlucky, latency = late(latency, leg.jitter + flow.latency * SPREAD, patience)
    missed = 1.0 - (1.0 - lost) * (1.0 - unlucky)
    if missed <= 0.0:
        return Flow(flow.ok, latency, flow.failures)
    kept = 1.0 - missed
    failures = [(failure, share * kept) for failure, share in flow.failures if share * kept > 0.0]
    failures.append((Failure("timeout", "context deadline exceeded"), missed))
    return Flow(flow.ok * kept, latency * kept + patience * missed if lost else latency, tuple(failures))


def _pressed(flow: Flow, pressure: Pressure, waited: float) -> Flow:
    own = max(flow.latency - waited, OWN_WORK)
    failures = [(failure, share * pressure.served) for failure, share in flow.failures]
    if pressure.served < 1.0:
        failures.append((Failure("overload", "context deadline exceeded"), 1.0 - pressure.served))
    latency = flow.latency + own * (pressure.slowdown - 1.0)
    return Flow(flow.ok * pressure.served, latency, tuple(failures))


def _mixed(parts: list[tuple[float, Flow]]) -> Flow:
    """The flow of calls that are spread over several servers."""
    ok = latency = 0.0
    failures: dict[Failure, float] = {}
    for share, flow in parts:
        ok += share * flow.ok
        latency += share * flow.latency
        for failure, of_them in flow.failures:
            failures[failure] = failures.get(failure, 0.0) + share * of_them
    return Flow(ok, latency, tuple(failures.items()))
