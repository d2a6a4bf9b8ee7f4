"""What becomes of requests: the call graph of the moment, walked once per kind of call.

An :class:`Evaluation` looks at one instant and changes nothing. It asks each program once what becomes of a
kind of call (programs ask on, through their contexts), remembers the answer, and keeps who called whom with
which share, so that request rates can be sent down the same graph afterwards.

It knows what follows from where connections lead. What follows from how many requests there are is the data plane's
(:mod:`sregym_env.sim.dataplane`) to work out over time, for which :mod:`sregym_env.sim.users.compiling` makes a network of what was
walked here; what it says of the moment (:mod:`~sregym_env.sim.world.strain`) is met by everybody who makes a request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sregym_env.sim.dataplane.queueing import share_in_time
from sregym_env.sim.network import addressing, conntrack
from sregym_env.sim.network.addressing import OUTSIDE, Source
from sregym_env.sim.network.connections import CONNECT_TIMEOUT, Connection, Leg, connect, no_port, split
from sregym_env.sim.network.links import late, retransmissions
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.logs import RequestLine
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.program import SHARED, Again, Call, Context, Failure, Flow, Keeping
from sregym_env.sim.world.strain import Destination, Lack, Served, Strain, full_of, lacking_of, strain_of

NodeKey = tuple[ProcessKey, Call, int]
"""One kind of call at one process: (process, call, port)."""

LATE = Failure("timeout", "context deadline exceeded")
"""What a client says whose patience ended."""
TURNED_AWAY = Failure("overload", "context deadline exceeded")
"""The same of a request that a server never took on."""
STALLED = 924.6
"""Seconds after which Linux gives up a connection whose packets are not acknowledged (``tcp_retries2`` of 15): no client
waits that long."""
SPREAD = 0.5
"""Assumed half-width of a response time relative to its mean, where no law is known for it."""


class Way(NamedTuple):
    """One of the places where the calls of an edge end up."""

    to: NodeKey | None
    """None where nobody answers."""
    share: float
    delay: float
    jitter: float
    loss: float
    outcome: str
    """``ok``, or why nobody answers."""

    @property
    def lost(self) -> bool:
        """Whether it is served there, and the answer never arrives."""
        return self.to is not None and self.delay >= STALLED


class Made(NamedTuple):
    """Calls that a kind of request makes, or that a source offers."""

    host: str
    port: int
    call: Call
    ways: tuple[Way, ...]
    share: float
    """Of the requests, how many make it; for a source, calls per second."""
    timeout: float
    again: Again | None
    required: bool
    cancels: bool
    waits: bool
    stage: int
    ok: float
    """Share that ends well, retries included."""
    latency: float
    """Mean seconds, retries included."""
    variance: float
    """Of the time of an attempt, squared seconds."""
    crowd: float = 1.0
    """Times as many users as usual who offer it, each with connections of their own."""
    keeping: Keeping = SHARED
    """What the client does with its connections."""


@dataclass(slots=True)
class Visit:
    """One kind of call at one process: its outcome and what it leads to per request."""

    process: Process
    call: Call
    port: int
    flow: Flow = field(default_factory=Flow)
    made: list[Made] = field(default_factory=list)
    """Calls it makes, in their order."""
    calls: dict[NodeKey, float] = field(default_factory=dict)
    """Attempts made per request, by callee."""
    crashes: list[tuple[float, str, int]] = field(default_factory=list)
    """(share, last words, exit code) of requests that kill the process."""
    logs: dict[str, RequestLine] = field(default_factory=dict)
    """Lines that its requests write, by template."""
    waited: float = 0.0
    """Mean seconds per request spent waiting for callees, one after the other."""
    stage: int = 0
    """Calls of the same stage are made at the same time."""
    rate: float = 0.0
    """Requests per second, once rates were sent down."""
    latency: float = 0.0
    """Mean seconds until the answer, load included."""
    variance: float = 0.0
    """Variance of that, squared seconds; while it is served, of what its callees take."""


class Evaluation:
    """The flows of one instant.

    ``contexts`` makes what a serving process sees; ``strained`` says whether what load does counts. ``lacking`` says who has too few
    ports of his own, where that is not what the world says, ``full`` who accepts no further connections.
    """

    def __init__(
        self,
        world: SimWorld,
        contexts: Callable[[SimWorld, Process, Evaluation], Context],
        *,
        strained: bool = True,
        lacking: Mapping[Destination, Lack] | None = None,
        full: Mapping[ProcessKey, float] | None = None,
    ) -> None:
        self.world = world
        self._contexts = contexts
        self._strained = strained
        if lacking is None:
            addressing.note(world, "lacking")
            lacking = lacking_of(world)
        self._lacking = lacking
        if full is None:
            addressing.note(world, "full")
            full = full_of(world)
        self._full = full
        self.visits: dict[NodeKey, Visit] = {}
        """Every kind of call that was looked at; callees come before their callers."""
        self.offered: list[Made] = []
        """What was called by nobody, with rates."""
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
        crowd: float = 1.0,
        again: Again | None = None,
        required: bool = True,
        fail_fast: float = 0.0,
        cancels: bool = False,
        waits: bool = True,
        beside: Sequence[tuple[str, int]] = (),
        keeping: Keeping = SHARED,
        back: Leg | None = None,
    ) -> Flow:
        """What becomes of ``call`` from ``source`` to ``host:port``, tried again as ``again`` says.

        ``back`` is a connection that the other side has opened, on which the call is made instead of one of its own.

        ``beside`` are further addresses that answer for the same: every attempt, also a further one, takes any of them.

        ``share`` is how often the request now being served makes this call. ``timeout`` caps the wait for an attempt.
        ``rate`` is for calls that nobody called for: the load a generator offers, per second, for ``crowd`` times as many users
        as usual. ``required`` says whether the
        request fails where the call fails. ``fail_fast`` caps the wait where no connection can stand.
        ``cancels`` says whether the server learns that a caller has given up, ``waits`` whether the request waits for the answer.
        ``keeping`` is what the client does with its connections.
        """
        patience = timeout or CONNECT_TIMEOUT
        legs: tuple[Leg, ...] = ()
        for address in ((host, port), *beside) if back is None else ():
            connection = connect(self.world, source, *address, kept=True)
            there = self._entered(source, connection, keeping, self._dialled(source, connection))
            if self._full and not self._stack:
                there = self._accepted(there, rate > 0.0)
            if fail_fast and all(leg.outcome != "ok" for leg in there):
                there = tuple(leg._replace(latency=min(leg.latency, fail_fast)) for leg in there)
            legs += (
                tuple(leg._replace(share=leg.share / (1 + len(beside))) for leg in there) if beside else there
            )
        legs = legs if back is None else (back,)
        ended = [(leg.share, *self._leg(leg, call, patience)) for leg in legs]
        ways: tuple[Way, ...]
        if len(ended) == 1:
            part, once, way, varies = ended[0]
            ways = () if way is None else (way,)
            square = part * (once.latency**2 + varies)
        else:
            once = _mixed([(part, flow) for part, flow, _, _ in ended])
            ways = tuple(way for _, _, way, _ in ended if way is not None)
            square = sum(part * (flow.latency**2 + varies) for part, flow, _, varies in ended)
        flow, tries = (once, 1.0) if again is None else _tried_again(once, again)
        variance = max(square - once.latency**2, 0.0)
        caller = self._stack[-1] if self._stack and not rate else None
        for way in ways:
            if way.to is None:
                continue
            if rate:
                self.visits[way.to].rate += rate * tries * way.share
            elif caller is not None:
                caller.calls[way.to] = caller.calls.get(way.to, 0.0) + share * tries * way.share
        made = Made(
            host,
            port,
            call,
            ways,
            rate or share,
            patience,
            again,
            required and waits,
            cancels,
            waits,
            0 if caller is None else caller.stage,
            flow.ok,
            flow.latency,
            variance,
            crowd,
            keeping,
        )
        if rate:
            self.offered.append(made)
        elif caller is not None:
            caller.made.append(made)
            caller.stage += 1
            if waits:
                caller.waited += share * flow.latency
                caller.variance += share * variance
        return flow

    def serve(self, process: Process, call: Call, port: int) -> Flow:
        """What ``process`` makes of such calls arriving at ``port``, the network and its own load aside."""
        return self._visit(process, call, port).flow

    def note_crash(self, process: Process, text: str, code: int, share: float) -> None:
        """A share of the requests now being served by ``process`` kills it after it wrote ``text``."""
        if share > 0.0 and self._stack:
            self._stack[-1].crashes.append((share, text, code))

    def note_log(self, line: RequestLine) -> None:
        """A share of the requests now being served writes this line."""
        if line.share > 0.0 and self._stack:
            logs = self._stack[-1].logs
            known = logs.get(line.template)
            if known is not None:
                line = known._replace(low=min(known.low, line.low), share=known.share + line.share)
            logs[line.template] = line

    def at_stage(self, stage: int | None = None) -> int:
        """The stage of the next call of the request now being served, which may be set: calls of one stage are made at
        the same time."""
        if not self._stack:
            return 0
        if stage is not None:
            self._stack[-1].stage = stage
        return self._stack[-1].stage

    def context(self, process: Process) -> Context:
        """What ``process`` sees while it serves here."""
        return self._contexts(self.world, process, self)

    # --- walking ----------------------------------------------------------------------------------

    def _accepted(self, legs: tuple[Leg, ...], kept: bool) -> tuple[Leg, ...]:
        """Where the calls of somebody lead that no server made: over connections that are ``kept`` all the time, or new ones. Kernels
        take on also those that no server accepts."""
        found: list[Leg] = []
        for leg in legs:
            left = 0.0 if leg.process is None else self._full.get(leg.process, 0.0)
            if not left:
                found.append(leg)
                continue
            left = left if kept else 1.0
            if left < 1.0:
                found.append(leg._replace(share=leg.share * (1.0 - left)))
            found.append(
                Leg(leg.share * left, "timeout", leg.address, leg.port, latency=STALLED, text=LATE.text)
            )
        return tuple(found)

    def _dialled(self, source: Source, connection: Connection) -> tuple[Leg, ...]:
        """Where the calls of a client lead that has a port for each, and those for which it has none."""
        if not self._lacking:
            return connection.legs
        if not connection.resolution.addresses or not isinstance(source, Process):
            return connection.legs
        address, port = connection.resolution.addresses[0], connection.port
        found = self._lacking.get((source.key[0], address, port))
        if found is None or found.calls <= 0.0:
            return connection.legs
        kept = tuple(leg._replace(share=leg.share * (1.0 - found.calls)) for leg in connection.legs)
        return (*kept, no_port(address, port, found.calls))

    def _entered(
        self, source: Source, connection: Connection, keeping: Keeping, legs: tuple[Leg, ...]
    ) -> tuple[Leg, ...]:
        """Where the calls of a client lead for whose connections every kernel on their way has an entry, and the others. Who keeps his
        needs none for those that stood before; who closes them after a while soon has none of those."""
        if not conntrack.full_tables(self.world) or connection.resolution.error or source == OUTSIDE:
            return legs
        new = keeping.lives < math.inf or not isinstance(source, Process)
        found: list[Leg] = []
        for leg in legs:
            process = None if leg.process is None else self.world.processes.get(leg.process)
            if process is None or (isinstance(source, Process) and source.key[0] == process.key[0]):
                found.append(leg)
            elif new or not isinstance(source, Process):
                found += split(connection, leg, conntrack.dropped(self.world, source.node, process.node))
            else:
                share = conntrack.dropped(self.world, source.node, process.node, source, process)
                found += split(connection, leg, share)
        return tuple(found)

    def _leg(self, leg: Leg, call: Call, patience: float) -> tuple[Flow, Way | None, float]:
        """(what becomes of the calls that take one leg, where it leads, variance of how long they take); it leads nowhere
        where they go round in a circle."""
        if leg.outcome != "ok" or leg.process is None:
            silent = leg.outcome == "timeout" and leg.latency > patience
            way = Way(None, leg.share, leg.latency, 0.0, 0.0, leg.outcome)
            return (
                _failed("timeout" if silent else leg.outcome, leg.text, min(leg.latency, patience)),
                way,
                0.0,
            )
        addressing.note(self.world, "process", leg.process)
        process = self.world.processes.get(leg.process)
        if process is None:
            text = f"read tcp {leg.address}:{leg.port}: read: connection reset by peer"
            way = Way(None, leg.share, leg.latency, 0.0, 0.0, "reset")
            return _failed("reset", text, leg.latency), way, 0.0
        if not leg.answers:
            way = Way(None, leg.share, CONNECT_TIMEOUT, 0.0, 0.0, "timeout")
            return _failed("timeout", LATE.text, patience), way, 0.0
        key = (process.key, call, leg.port)
        # A cycle of calls: what becomes of it is decided further out, here it only has to end.
        if key in self._open:
            return Flow(1.0, leg.latency), None, 0.0
        visit = self._visit(process, call, leg.port)
        if self._answered(call) > leg.carries:
            # It is served, and its answer never arrives.
            leg = leg._replace(latency=STALLED)
        flow, law = self._loaded(visit)
        way = Way(key, leg.share, leg.latency, leg.jitter, leg.loss, "ok")
        variance = min(visit.variance + leg.jitter**2, patience**2 / 4.0)
        return _travelled(flow, law, leg, patience), way, variance

    def _answered(self, call: Call) -> int:
        """Bytes of the answer to a kind of call; 0 where it is small."""
        return 0 if self.world._app is None else self.world._app.answers.get(call.operation, 0)

    def _visit(self, process: Process, call: Call, port: int) -> Visit:
        key = (process.key, call, port)
        visit = self.visits.get(key)
        if visit is not None:
            return visit
        visit = Visit(process, call, port)
        self._stack.append(visit)
        self._open.add(key)
        try:
            visit.flow = self.world.programs[process.program].serve(self.context(process), call, port)
        finally:
            self._stack.pop()
            self._open.discard(key)
        own = visit.flow.latency - visit.waited
        # Work and pauses of a server are as variable as an exponential law, as far as nobody knows better.
        visit.latency, visit.variance = visit.flow.latency, visit.variance + max(own, 0.0) ** 2
        # Not before its callees are in: rates are sent down in the opposite order.
        self.visits[key] = visit
        return visit

    def _loaded(self, visit: Visit) -> tuple[Flow, float | None]:
        """(what becomes of requests that arrive, load included; variance of their latency where its law is known)."""
        flow, process = visit.flow, visit.process
        strain = self.strain(process.key)
        if strain is None:
            return flow, None
        flow, variance = _strained(flow, strain, strain.operations.get((visit.call, visit.port)))
        visit.latency, visit.variance = flow.latency, variance
        return flow, variance

    def strain(self, key: ProcessKey) -> Strain | None:
        """What load does to a process, if that counts here."""
        if not self._strained:
            return None
        addressing.note(self.world, "strain", key)
        return strain_of(self.world, key)

    # --- rates ------------------------------------------------------------------------------------

    def send_rates(self) -> None:
        """Send the offered rates down the graph; afterwards every visit has its rate. Call once.

        Where load counts, a server passes on what it gets done, not what it is asked.
        """
        for visit in reversed(self.visits.values()):
            strain = self.strain(visit.process.key)
            known = None if strain is None else strain.operations.get((visit.call, visit.port))
            if known is not None:
                visit.rate = known.rate
            if visit.rate:
                for key, share in visit.calls.items():
                    callee = self.visits.get(key)
                    if callee is not None:
                        callee.rate += visit.rate * share


def _failed(kind: Any, text: str, latency: float) -> Flow:
    return Flow(0.0, latency, ((Failure(kind, text), 1.0),))


def _strained(flow: Flow, strain: Strain, known: Served | None) -> tuple[Flow, float]:
    """A server's flow under its load, and the variance of its latency."""
    if known is None and strain.paced:
        return flow, (SPREAD * flow.latency) ** 2
    if known is None:
        mean = strain.waits * strain.wait
        square = strain.waits * (1.0 + strain.wait_variation) * strain.wait**2
        latency, variance = flow.latency + mean, square - mean * mean + (SPREAD * flow.latency) ** 2
    else:
        latency, variance = known.mean, known.variance
    if strain.turned <= 0.0:
        return Flow(flow.ok, latency, flow.failures), variance
    kept = 1.0 - strain.turned
    failures = [(failure, share * kept) for failure, share in flow.failures]
    return Flow(flow.ok * kept, latency * kept, (*failures, (TURNED_AWAY, strain.turned))), variance


def _travelled(flow: Flow, variance: float | None, leg: Leg, patience: float) -> Flow:
    """A server's flow as the client sees it: the way there and back, losses, and the client's patience."""
    latency = flow.latency + leg.latency
    lost = 0.0
    if leg.loss:
        lost, extra = retransmissions(leg.loss, patience)
        latency += extra
    unlucky = 0.0
    if variance is not None:
        prompt, latency = share_in_time(patience, latency, variance + leg.jitter**2)
        unlucky = 1.0 - prompt
    elif latency > patience * 0.5:
        unlucky, latency = late(latency, leg.jitter + flow.latency * SPREAD, patience)
    missed = 1.0 - (1.0 - lost) * (1.0 - unlucky)
    if missed <= 1e-9:
        return Flow(flow.ok, latency, flow.failures)
    kept = 1.0 - missed
    failures = [(failure, share * kept) for failure, share in flow.failures if share * kept > 0.0]
    failures.append((LATE, missed))
    return Flow(flow.ok * kept, latency * kept + patience * missed if lost else latency, tuple(failures))


def _tried_again(once: Flow, again: Again) -> tuple[Flow, float]:
    """(what becomes of calls that are tried again while they fail, attempts per call)."""
    lost = 1.0 - once.ok
    left, tries, latency, pause = 1.0, 0.0, 0.0, again.backoff
    for attempt in range(again.retries + 1):
        tries += left
        latency += left * once.latency
        left *= lost
        if left < 1e-6:
            left = 0.0
            break
        if attempt < again.retries:
            latency += left * pause
            pause *= again.multiplier
    if not left:
        return Flow(1.0, latency), tries
    rest = left / lost
    return Flow(1.0 - left, latency, tuple((failure, rest * part) for failure, part in once.failures)), tries


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
