"""The users: load generators, what becomes of their requests, and what that does to the servers.

Traffic is looked at once after something changed (at most once a second) and then holds until the next
change: a steady state costs nothing. Each look appends a :class:`Segment` to the history, from which health,
metrics and alerts are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sregym_env.cluster.app import App
from sregym_env.cluster.disturbances import LoadSurge, PodFreeze
from sregym_env.cluster.health import ComponentHealth, JourneyHealth
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.network import addressing, resending
from sregym_env.sim.network.addressing import NodeSource
from sregym_env.sim.network.connections import connect
from sregym_env.sim.processes.context import ProcessContext, evaluation, let_settle
from sregym_env.sim.processes.flow import LATE, TURNED_AWAY, Evaluation, Made, Visit, Way
from sregym_env.sim.users import accepting, dialling, plane, tracking
from sregym_env.sim.users.compiling import Outline, outline_of
from sregym_env.sim.users.components import app_of, workload_of
from sregym_env.sim.world import Handler, LogKey, SimWorld
from sregym_env.sim.world.history import (
    HISTORY,
    ComponentState,
    JourneyState,
    Load,
    Segment,
    Stalled,
    deviation,
    history,
    window,
)
from sregym_env.sim.world.inquiry import Settling
from sregym_env.sim.world.logs import Burst, RequestLine, stamped
from sregym_env.sim.world.process import SUBSCRIPTION, Process, ProcessKey
from sregym_env.sim.world.program import Call, Failure, Flow
from sregym_env.sim.world.store import Change
from sregym_env.sim.world.strain import (
    FULL,
    LACKING,
    NO_FULL,
    NO_LACK,
    STRAINS,
    Destination,
    Ended,
    Lack,
    full_of,
    load_of,
)

RAREST = 1e-4
"""Lines per second below which nothing is written."""

SOON = 0.002
"""Seconds on its way that do not count as any."""

BURSTS = "traffic.bursts"
"""``world.memory`` key of the log lines that steady traffic keeps writing, per run of a container."""
CRASHES = "traffic.crashes"
"""``world.memory`` key of the processes that requests are about to kill."""

Offer = tuple[str, float, str, int, Call]
"""What a load generator offers: (journey name, requests per second, host, port, call)."""

SCALERS = "horizontalpodautoscalers.autoscaling"
MEASURED = 15 * SECOND
"""Time until what has changed shows in the metrics."""

CALLER_EVERY = 15 * SECOND
"""About how often a server is connected to by those who only look whether it is there."""


@dataclass(frozen=True, slots=True)
class Doom:
    """A process that some requests kill: how often, and how it ends."""

    key: ProcessKey
    restart: int
    rate: float
    text: str
    code: int


# --- looking --------------------------------------------------------------------------------------------


class Stream(NamedTuple):
    """A line that requests write: of which kind of request, how many of these come per second, and what it is."""

    kind: int
    rate: float
    line: RequestLine


@dataclass(frozen=True, slots=True)
class Walked:
    """An evaluation of everything that is offered."""

    offers: list[tuple[Process, Offer]]
    flows: list[Flow]
    variances: list[float]
    """Of the times that they take."""
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of everything that is offered, and what that does."""

    journeys: tuple[JourneyState, ...]
    components: tuple[ComponentState, ...]
    loads: tuple[Load, ...]
    lines: tuple[tuple[LogKey, tuple[Stream, ...]], ...]
    """Lines that requests write, per run of a container."""
    doomed: tuple[Doom, ...]
    settling: tuple[Settling, ...]
    stalled: tuple[Stalled, ...]


def look(world: SimWorld) -> None:
    """Handler of the ``traffic`` event: evaluate the present and act on it."""
    world.memory.pop("traffic.due", None)
    tracking.turn(world)
    outcome, outline, lacking, full = addressing.learned(world, "traffic", lambda: _unstrained(world))
    _leave(world, LACKING, lacking)
    _leave(world, FULL, full)
    plane.turn(world, outline)
    if STRAINS in world.memory:
        outcome = addressing.learned(
            world, "strained traffic", lambda: _outcome(world, _walk(world, strained=True))
        )
    probes = () if world.unread else addressing.learned(world, "blackbox", lambda: _probes(world))
    segment = Segment(
        world.clock, outcome.journeys, outcome.components, outcome.loads, probes, outcome.stalled
    )
    resending.turn(world, outcome.stalled)
    previous = history(world)
    last = previous.last()
    if last is None or not last.same_as(segment):
        # Forks of this world hold the same log object: it must not grow under them.
        grown = previous.fork()
        grown.append(segment)
        world.memory[HISTORY] = grown
    _wake_scalers(world)
    by_themselves = _attended(world)
    if not world.unread:
        _write_logs(world, _beside(outcome.lines, by_themselves))
    _doom(world, outcome.doomed)
    for entry in outcome.settling:
        let_settle(world, entry)


def look_again(world: SimWorld, due: int) -> None:
    """Handler of ``traffic.again``: what the load does has gone on, though nothing else has changed."""
    if plane.next_look(world, due):
        look(world)


def look_at_tables(world: SimWorld, due: int) -> None:
    """Handler of ``traffic.tables``: a kernel's table of connections is full now, or no longer."""
    if tracking.wanted(world, due):
        look(world)


def _unstrained(
    world: SimWorld,
) -> tuple[Outcome, Outline, Mapping[Destination, Lack], Mapping[ProcessKey, float]]:
    """What becomes of what is offered as long as load does nothing, what it takes to know better, who has too few ports for it, and who
    too few file descriptors."""
    walked = _walk(world, strained=False, lacking=NO_LACK, full=NO_FULL)
    lacking, full = dialling.lacking(walked.evaluation), accepting.full(walked.evaluation)
    if lacking or full:
        walked = _walk(world, strained=False, lacking=lacking, full=full)
    return _outcome(world, walked), outline_of(walked.evaluation), lacking, full


def _leave(world: SimWorld, slot: str, found: Mapping[Any, Any]) -> None:
    """Leave in the world who has run out of something, for everybody who makes a request."""
    if world.memory.get(slot, {}) == found:
        return
    if found:
        world.memory[slot] = found
    else:
        world.memory.pop(slot, None)
    world.stirred()


def _outcome(world: SimWorld, walked: Walked) -> Outcome:
    evaluation = walked.evaluation
    by_process = _by_process(evaluation)
    assert world.inquiry is not None
    return Outcome(
        _journeys(walked),
        _components(world, by_process),
        _loads(evaluation, by_process),
        _lines(evaluation),
        _doomed(evaluation),
        tuple(dict.fromkeys(world.inquiry.settling)),
        tuple(_stalled(evaluation)),
    )


def _stalled(evaluation: Evaluation) -> Iterator[Stalled]:
    """The answers that are lost on their way, and of what."""
    found: list[tuple[Visit, Made, Way]] = []
    for visit in evaluation.visits.values():
        if visit.rate > 0.0:
            found += [(visit, made, way) for made in visit.made for way in made.ways if way.lost]
    if not found:
        return
    kinds = {_kind(visit, made) for visit, made, _ in found}
    calls: dict[tuple[str, ...], float] = {}
    for visit in evaluation.visits.values():
        for made in visit.made:
            kind = _kind(visit, made)
            if kind in kinds:
                calls[kind] = calls.get(kind, 0.0) + visit.rate * made.share
    for visit, made, way in found:
        assert way.to is not None
        rate, kind = visit.rate * made.share * way.share, _kind(visit, made)
        again = visit.calls.get(way.to, 0.0) / max(made.share * way.share, 1e-9)
        yield Stalled(
            visit.process.key,
            way.to[0],
            made.call.operation,
            rate * max(again, 1.0),
            rate / calls[kind],
            made.timeout,
        )


def _kind(visit: Visit, made: Made) -> tuple[str, ...]:
    return (visit.process.namespace, visit.process.container, made.host, made.call.operation)


def _wake_scalers(world: SimWorld) -> None:
    """Autoscalers that rest have something to look at again, once it has been measured."""
    for scaler in world.store.list(SCALERS):
        metadata = scaler["metadata"]
        key = (metadata["namespace"], metadata["name"])
        change = Change(world.store.revision, "ADDED", SCALERS, key, None, scaler)
        world.wake_watchers(change, MEASURED)


def offered(world: SimWorld) -> Iterator[tuple[Process, Offer]]:
    """Everything the running load generators offer; a frozen pod offers nothing.

    What a generator offers that is none of the application's load is traffic like any other, but nobody's
    journey: it has no name.
    """
    for what in ("app", "offering", "ground"):
        addressing.note(world, what)
    surges: dict[str, float] = {}
    for each in world.disturbances:
        if isinstance(each, LoadSurge):
            surges[each.namespace] = surges.get(each.namespace, 1.0) * each.factor
    for process in world.processes.values():
        offers: Callable[..., tuple[Offer, ...]] | None = getattr(
            world.programs[process.program], "offers", None
        )
        if offers is None:
            continue
        addressing.note(world, "strikes", (process.namespace, process.pod))
        if PodFreeze(process.namespace, process.pod) not in world.disturbances:
            users = _are_users(world, process)
            surge = surges.get(process.namespace, 1.0) if users else 1.0
            for name, rate, host, port, call in offers(ProcessContext(world, process)):
                if rate > 0.0:
                    yield process, (name if users else "", rate * surge, host, port, call)


def _crowds(world: SimWorld) -> dict[str, float]:
    """How many times the usual users an application has, by the namespace where its load is made."""
    addressing.note(world, "ground")
    crowds: dict[str, float] = {}
    for each in world.disturbances:
        if isinstance(each, LoadSurge) and each.crowd:
            crowds[each.namespace] = crowds.get(each.namespace, 1.0) * max(each.factor, 1.0)
    return crowds


def _are_users(world: SimWorld, process: Process) -> bool:
    """Whether a load generator belongs to the application's own load."""
    app = app_of(world)
    pod = addressing.pod_of(world, process)
    if app is None or pod is None or process.namespace not in app.namespaces:
        return False
    app = app.at(process.namespace)
    component = app.by_name.get(workload_of(world, pod)[1])
    return (
        component is not None
        and component.kind == "load"
        and process.namespace == app.namespace_of(component.name)
    )


def _walk(
    world: SimWorld,
    *,
    strained: bool,
    lacking: Mapping[Destination, Lack] | None = None,
    full: Mapping[ProcessKey, float] | None = None,
) -> Walked:
    """What becomes of everything that is offered right now. Changes nothing."""
    offers = list(offered(world))
    walk = evaluation(world, strained=strained, lacking=lacking, full=full)
    crowds = _crowds(world)
    flows = [
        walk.call(process, host, port, call, rate=rate, crowd=crowds.get(process.namespace, 1.0))
        for process, (_, rate, host, port, call) in offers
    ]
    walk.send_rates()
    full = full_of(world) if full is None else full
    if full:
        accepting.complain(walk, full)
    if strained:
        addressing.note(world, "offered")
        ended = load_of(world)[1]
        # Whatever begins to offer is known to the data plane from the next look on.
        if len(ended) == len(flows):
            flows = [_as_ended(flow, end) for flow, end in zip(flows, ended, strict=True)]
            return Walked(offers, flows, [end.deviation**2 for end in ended], walk)
    return Walked(offers, flows, [made.variance for made in walk.offered], walk)


def _as_ended(flow: Flow, end: Ended) -> Flow:
    """What becomes of calls, in the shares in which they really end."""
    wrong = [(failure, share) for failure, share in flow.failures if failure not in (LATE, TURNED_AWAY)]
    total = sum(share for _, share in wrong)
    scale = max(1.0 - end.ok - end.late, 0.0) / total if total > 0.0 else 0.0
    failures = [(failure, share * scale) for failure, share in wrong if share * scale > 0.0]
    late = 1.0 - end.ok - sum(share for _, share in failures)
    if late > 1e-9:
        failures.append((LATE, late))
    return Flow(end.ok, end.latency, tuple(failures))


def _journeys(walked: Walked) -> tuple[JourneyState, ...]:
    parts: dict[str, list[tuple[float, Flow, float]]] = {}
    for (_, (name, rate, *_)), flow, variance in zip(
        walked.offers, walked.flows, walked.variances, strict=True
    ):
        if name:
            parts.setdefault(name, []).append((rate, flow, variance))
    states = []
    for name, flowing in parts.items():
        total = sum(rate for rate, _, _ in flowing)
        if total <= 0.0:
            continue
        errors: dict[str, float] = {}
        for rate, flow, _ in flowing:
            for failure, share in flow.failures:
                text = error_text(failure)
                errors[text] = errors.get(text, 0.0) + share * rate / total
        states.append(
            JourneyState(
                name,
                total,
                sum(rate * flow.ok for rate, flow, _ in flowing) / total,
                sum(rate * flow.latency for rate, flow, _ in flowing) / total,
                tuple(errors.items()),
                deviation([(rate / total, flow.latency, variance) for rate, flow, variance in flowing]),
            )
        )
    return tuple(states)


def error_text(failure: Failure) -> str:
    """A failure as a user's client reports it."""
    return f"HTTP {failure.status}: {failure.text}" if failure.status else failure.text


def _rates(visits: list[Visit]) -> dict[str, float]:
    """Requests per second per operation."""
    rates: dict[str, float] = {}
    for visit in visits:
        rates[visit.call.operation] = rates.get(visit.call.operation, 0.0) + visit.rate
    return rates


def _by_process(evaluation: Evaluation) -> dict[ProcessKey, list[Visit]]:
    found: dict[ProcessKey, list[Visit]] = {}
    for visit in evaluation.visits.values():
        if visit.rate > 0.0:
            found.setdefault(visit.process.key, []).append(visit)
    return found


def _totals(visits: list[Visit]) -> tuple[float, float, float, float]:
    """(requests per second, share that succeeds, mean and standard deviation of the latency)."""
    rate = sum(visit.rate for visit in visits)
    ok = sum(visit.rate * visit.flow.ok for visit in visits) / rate
    latency = sum(visit.rate * visit.latency for visit in visits) / rate
    return rate, ok, latency, deviation([(v.rate / rate, v.latency, v.variance) for v in visits])


def _loads(evaluation: Evaluation, by_process: dict[ProcessKey, list[Visit]]) -> tuple[Load, ...]:
    loads = []
    for key, visits in by_process.items():
        process = visits[0].process
        _, ok, latency, spread = _totals(visits)
        strain = evaluation.strain(key)
        throttled, memory, cpu = (
            (0.0, 0, -1.0) if strain is None else (strain.throttled, strain.memory, strain.cpu)
        )
        loads.append(
            Load(
                key,
                process.restart,
                tuple(_rates(visits).items()),
                ok,
                latency,
                throttled,
                memory,
                cpu,
                spread,
            )
        )
    return tuple(loads)


def _components(world: SimWorld, by_process: dict[ProcessKey, list[Visit]]) -> tuple[ComponentState, ...]:
    grouped: dict[tuple[str, str], list[Visit]] = {}
    for visits in by_process.values():
        pod = addressing.pod_of(world, visits[0].process)
        if pod is not None:
            name = workload_of(world, pod)[1]
            grouped.setdefault((visits[0].process.namespace, name), []).extend(visits)
    return tuple(
        ComponentState(namespace, name, *_totals(visits)) for (namespace, name), visits in grouped.items()
    )


def _probes(world: SimWorld) -> tuple[tuple[str, str, int, bool], ...]:
    """TCP probes of the Services in front of the app's serving components, as a blackbox exporter sees them."""
    app = app_of(world)
    if app is None:
        return ()
    found = []
    prober = NodeSource(_first_node(world), cluster_dns=True)
    for namespace, name, port in _probed(app):
        host = f"{name}.{namespace}.svc.cluster.local"
        up = connect(world, prober, host, port).ok
        found.append((namespace, name, port, up))
    return tuple(found)


def _first_node(world: SimWorld) -> str:
    nodes = world.store.list("nodes")
    return nodes[0]["metadata"]["name"] if nodes else ""


def _probed(app: App) -> list[tuple[str, str, int]]:
    """(namespace, Service, port) of components that serve requests themselves, stores left out."""
    return [
        (app.namespace_of(component.name), component.service, component.offered_port)
        for component in app.components
        if component.service and component.port and component.stateless
    ]


# --- consequences ---------------------------------------------------------------------------------------


def _lines(evaluation: Evaluation) -> tuple[tuple[LogKey, tuple[Stream, ...]], ...]:
    """The lines that the requests of this state write."""
    wanted: dict[LogKey, list[Stream]] = {}
    for visit in evaluation.visits.values():
        if visit.rate > 0.0 and visit.logs:
            process = visit.process
            streams = wanted.setdefault((*process.key, process.restart), [])
            kind = streams[-1].kind + 1 if streams else 0
            streams += [
                Stream(kind, round(visit.rate, 4), _rounded(line))
                for line in visit.logs.values()
                if visit.rate * line.share >= RAREST
            ]
    return tuple((key, tuple(streams)) for key, streams in wanted.items())


def _attended(world: SimWorld) -> dict[LogKey, tuple[tuple[float, str], ...]]:
    """Have those who are given work over connections of their own see to these; the lines that they go on writing until they have
    them back, per second."""
    found: dict[LogKey, tuple[tuple[float, str], ...]] = {}
    for process in list(world.processes.values()):
        if SUBSCRIPTION in process.state:
            lines = world.programs[process.program].attend(ProcessContext(world, process))
            if lines:
                found[(*process.key, process.restart)] = lines
    return found


def _beside(
    lines: tuple[tuple[LogKey, tuple[Stream, ...]], ...],
    by_themselves: Mapping[LogKey, tuple[tuple[float, str], ...]],
) -> tuple[tuple[LogKey, tuple[Stream, ...]], ...]:
    """The lines of requests, and those that no request writes."""
    if not by_themselves:
        return lines
    found = dict(lines)
    for key, several in by_themselves.items():
        known = found.get(key, ())
        kind = known[-1].kind + 1 if known else 0
        found[key] = (
            *known,
            *(
                Stream(kind + index, rate, RequestLine(line, 0.0, 1.0))
                for index, (rate, line) in enumerate(several)
            ),
        )
    return tuple(found.items())


def _rounded(line: RequestLine) -> RequestLine:
    """So that the last digits of a sum do not close and open every stream; of what has passed the order of magnitude."""
    elapsed = 0.0 if line.elapsed < SOON else SOON * 4.0 ** round(math.log(line.elapsed / SOON, 4.0))
    return line._replace(low=round(line.low, 6), share=round(line.share, 6), elapsed=elapsed)


def _write_logs(world: SimWorld, now_open: tuple[tuple[LogKey, tuple[Stream, ...]], ...]) -> None:
    """Open and close the streams of lines that the requests of this state write."""
    was_open = world.memory.get(BURSTS, ())
    if now_open == was_open:
        return
    before, after = dict(was_open), dict(now_open)
    for key in before:
        if before[key] != after.get(key) and key in world.logs:
            world.log(key).close_bursts(world.clock)
    for key, bursts in now_open:
        if before.get(key) != bursts:
            log = world.log(key)
            process = world.processes.get((key[0], key[1]))
            age = 0 if process is None else world.clock - process.started_at
            for stream in bursts:
                seed = f"{world.streams.seed}:{key[0]}:{key[1]}:{key[2]}:{world.clock}:{stream.kind}"
                log.open_burst(_burst(world.clock, stream, seed), least=age // CALLER_EVERY)
    world.memory[BURSTS] = now_open


def _burst(start: int, stream: Stream, seed: str) -> Burst:
    line = stream.line
    after = seconds(line.elapsed)
    if line.share > 1.0:
        # Lines that a request writes several times are no part of what happens to it.
        return Burst(start, None, stream.rate * line.share, line.template, f"{seed}:more", after=after)
    among = (line.low, line.low + line.share)
    return Burst(start, None, stream.rate, line.template, seed, among=among, after=after)


def _doom(world: SimWorld, doomed: tuple[Doom, ...]) -> None:
    """Have processes die that requests kill: the first such request comes after an exponential time."""
    before = {(doom.key, doom.restart): doom.rate for doom in world.memory.get(CRASHES, ())}
    if doomed or before:
        world.memory[CRASHES] = doomed
    for doom in doomed:
        # Exponential waiting has no memory: the crash already planned stands unless the rate is much higher.
        if doom.rate > 2.0 * before.get((doom.key, doom.restart), 0.0):
            wait = world.streams.exponential(f"crash:{'/'.join(doom.key)}", 1.0 / doom.rate)
            world.after(seconds(wait), "traffic.crash", doom.key, doom.restart)


def _doomed(evaluation: Evaluation) -> tuple[Doom, ...]:
    """Every process that requests kill, with the last words of the most frequent kind of them."""
    found: dict[ProcessKey, Doom] = {}
    strongest: dict[ProcessKey, float] = {}
    for visit in evaluation.visits.values():
        process = visit.process
        for share, text, code in visit.crashes:
            rate = visit.rate * share
            if rate <= 0.0:
                continue
            known = found.get(process.key)
            if known is None or rate > strongest[process.key]:
                strongest[process.key] = rate
                total = rate + (0.0 if known is None else known.rate)
                found[process.key] = Doom(process.key, process.restart, total, text, code)
            else:
                found[process.key] = replace(known, rate=known.rate + rate)
    return tuple(found.values())


def crash(world: SimWorld, key: ProcessKey, restart: int) -> None:
    """Handler of ``traffic.crash``: the fatal request arrives, if such requests still come."""
    process = world.processes.get(key)
    doom = next((d for d in world.memory.get(CRASHES, ()) if d.key == key and d.restart == restart), None)
    if process is None or process.restart != restart or doom is None:
        return
    for line in doom.text.split("\n"):
        world.log((*key, restart)).write(world.clock, stamped(line, world.clock))
    # By name: this room does not know the kubelets.
    world.happen("program.exit", key, restart, doom.code, "")


# --- the past --------------------------------------------------------------------------------------------


class SimTraffic:
    """The users of the embedded cluster's application (implements :class:`sregym_env.cluster.api.Traffic`)."""

    __slots__ = ("_world",)

    def __init__(self, world: SimWorld) -> None:
        self._world = world

    def health(self, window_seconds: float) -> list[JourneyHealth]:
        """Every journey of the app, averaged over the last ``window_seconds``."""
        now = self._world.clock
        sums: dict[str, _Sum] = {}
        app = app_of(self._world)
        if app is not None:
            sums = {journey.name: _Sum() for journey in app.journeys}
        for segment, held in window(self._world, now - seconds(window_seconds), now):
            for state in segment.journeys:
                sums.setdefault(state.name, _Sum()).add(
                    state.rate * held, state.ok, state.latency, state.errors
                )
        return [total.health(name) for name, total in sums.items()]

    def components(self, window_seconds: float) -> list[ComponentHealth]:
        """Every component that served requests over the window."""
        now = self._world.clock
        app = app_of(self._world)
        namespaces = None if app is None else app.namespaces
        sums: dict[str, _Sum] = {}
        covered = 0.0
        for segment, held in window(self._world, now - seconds(window_seconds), now):
            covered += held
            for state in segment.components:
                if namespaces is None or state.namespace in namespaces:
                    name = state.name if app is None else app.called(state.namespace, state.name)
                    sums.setdefault(name, _Sum()).add(state.rate * held, state.ok, state.latency, ())
        return [
            ComponentHealth(name, total.requests / covered, total.ok_ratio, total.mean_latency)
            for name, total in sorted(sums.items())
            if total.requests > 0.0
        ]


class _Sum:
    """Request-weighted sums over a window."""

    __slots__ = ("errors", "latency", "ok", "requests")

    def __init__(self) -> None:
        self.requests = self.ok = self.latency = 0.0
        self.errors: dict[str, float] = {}

    def add(self, requests: float, ok: float, latency: float, errors: tuple[tuple[str, float], ...]) -> None:
        self.requests += requests
        self.ok += requests * ok
        self.latency += requests * latency
        for text, share in errors:
            self.errors[text] = self.errors.get(text, 0.0) + requests * share

    @property
    def ok_ratio(self) -> float:
        return self.ok / self.requests if self.requests else 0.0

    @property
    def mean_latency(self) -> float:
        return self.latency / self.requests if self.requests else 0.0

    def health(self, journey: str) -> JourneyHealth:
        errors = {text: count / self.requests for text, count in self.errors.items()} if self.requests else {}
        return JourneyHealth(journey, self.requests, self.ok_ratio, self.mean_latency, errors)


HANDLERS: Mapping[str, Handler] = {
    "traffic": look,
    "traffic.again": look_again,
    "traffic.crash": crash,
    "traffic.tables": look_at_tables,
}
"""Event kinds this module handles."""
