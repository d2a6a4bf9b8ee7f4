"""Traces of a world: single requests, drawn from what the traffic was when they were made.

Which requests are kept follows from the clock alone: at most one of each journey in a slot of time. What one of them met
is drawn by its identifier from the calls of that moment, so whoever asks, whenever, finds the same spans. A trace is
kept as long as the application's Jaeger runs; it keeps traces in its memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sregym_env.cluster.app import App, Journey
from sregym_env.cluster.tracing import Tracing
from sregym_env.runtime import effort
from sregym_env.runtime.clock import HOUR, SECOND
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import keyed_bits, keyed_unit
from sregym_env.sim.monitoring.calls import Graph, Graphs, Node, errors_of, steps_of, takes_records
from sregym_env.sim.monitoring.readings import SPREAD, Readings
from sregym_env.sim.monitoring.span_metrics import POLL, tracing_of, writes_spans
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.kafka import groups
from sregym_env.sim.programs.services.steps import Ask, Compute, LookAside, Step, Together
from sregym_env.sim.users.components import app_of
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.telemetry.traces import model
from sregym_env.telemetry.traces.model import (
    FOLLOWS_FROM,
    Dependency,
    Event,
    Operation,
    Reference,
    Span,
    Tag,
    Trace,
    TraceQuery,
)
from sregym_env.telemetry.traces.source import MAX_TRACES, TraceSource, fits

SLOT = 2 * SECOND
"""Of each journey at most one request in so long is kept: collectors sample."""

IN_VAIN = 0.95
"""Share of its time that a request spends waiting for a call that it gives up."""

MOST_TRIED = 400
"""Requests that one search looks at, newest first."""

SPAN_EFFORT = 12.0
"""What a span costs that is made (units of ``runtime/effort.py``)."""

COURSE_EFFORT = 400.0
"""What it costs to find out how a group of consumers has fared."""

LOOKBACK = 3 * HOUR
"""How far back dependencies and operations look at most."""

_SLOTS = 1 << 48
_WAY = 0.00025
"""Assumed seconds that a request and its answer are on their way within a cluster."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A request that is kept: which journey's, and which slot of time; or what became of a record that it published."""

    journey: int
    slot: int
    taker: int = 0
    """Which of those who take records from topics, counted from 1; 0 for the request itself."""


@dataclass(frozen=True, slots=True)
class Published:
    """A record, as a request has published it."""

    topic: str
    time: int
    """When the broker had it."""
    span: Span | None
    """The span that tells of it."""
    broker: Process


def traces_of(world: SimWorld) -> TraceSource:
    """The traces of a world as it is now."""
    app, key, readings = app_of(world), world.plan.key or "published", Readings(world)
    if app is None or not app.parts:
        return WorldTraces(world, app, readings, key)
    return JoinedTraces([WorldTraces(world, part, readings, f"{key} {part.name}") for part in app.parts])


class JoinedTraces:
    """The traces of several applications (implements :class:`~sregym_env.telemetry.traces.source.TraceSource`)."""

    def __init__(self, several: Sequence[WorldTraces]) -> None:
        self._several = several

    def search(self, query: TraceQuery) -> list[Trace]:
        """Traces with a span that fits, newest first."""
        limit = min(query.limit, MAX_TRACES) if query.limit > 0 else MAX_TRACES
        found = [trace for each in self._several for trace in each.search(query)]
        return sorted(found, key=lambda trace: -min(span.start for span in trace.spans))[:limit]

    def get(self, trace_id: str) -> Trace | None:
        """The trace of an identifier."""
        return next(filter(None, (each.get(trace_id) for each in self._several)), None)

    def services(self) -> list[str]:
        """Services that have written spans."""
        return sorted({service for each in self._several for service in each.services()})

    def operations(self, service: str) -> list[Operation]:
        """What services of that name have done."""
        found = {operation for each in self._several for operation in each.operations(service)}
        return sorted(found, key=lambda operation: (operation.name, operation.kind))

    def dependencies(self, start: int, end: int) -> list[Dependency]:
        """Calls between services in the traces of a range."""
        counts: dict[tuple[str, str], int] = {}
        for each in self._several:
            for call in each.dependencies(start, end):
                counts[call.parent, call.child] = counts.get((call.parent, call.child), 0) + call.calls
        return [Dependency(parent, child, count) for (parent, child), count in sorted(counts.items())]


class WorldTraces:
    """The traces of an application in a world as it is now (implements
    :class:`~sregym_env.telemetry.traces.source.TraceSource`)."""

    def __init__(self, world: SimWorld, app: App | None, readings: Readings, key: str) -> None:
        """``key``: what the requests that are kept are drawn by."""
        self._world = world
        self._app = app
        self._key = key
        self._tracing = None if self._app is None else tracing_of(self._app)
        self._readings = readings
        self._courses: dict[tuple[ProcessKey, str, str], groups.Course | None] = {}
        self._graphs = None if self._app is None else Graphs(world, self._app, self._readings)

    # --- what is asked ----------------------------------------------------------------------------

    def search(self, query: TraceQuery) -> list[Trace]:
        """Traces with a span that fits, newest first."""
        limit = min(query.limit, MAX_TRACES) if query.limit > 0 else MAX_TRACES
        found: list[Trace] = []
        tried = 0
        failing = query.tags.get("error") == "true"
        takers = self._takers_called(query.service)
        for moment, time in self._moments(query.start - SLOT, query.end):
            wanted = [replace(moment, taker=taker) for taker in takers if self._publishes(moment, time)]
            wanted += [moment] if self._touches(moment.journey, query.service) else []
            for each in wanted:
                if failing and not self._may_fail(each, time):
                    continue
                tried += 1
                trace = self._trace(each, time) if tried <= MOST_TRIED else None
                if trace is not None and any(fits(span, query) for span in trace.spans):
                    found.append(trace)
            if tried > MOST_TRIED or len(found) >= limit:
                break
        # Of a record that has waited long the trace begins later than those of requests that came after it.
        found.sort(key=lambda trace: -trace.start)
        return found[:limit]

    @cached_property
    def _takers(self) -> tuple[str, ...]:
        """The components that may take records from topics: those that ask a broker."""
        app = self._app
        if app is None:
            return ()
        brokers = {component.name for component in app.components if component.kind == "kafka"}
        asking = (
            component.name
            for component in app.components
            if any(need.on in brokers for need in component.dependencies)
        )
        return tuple(asking)

    def _takers_called(self, service: str) -> list[int]:
        """Those of a service's name that do, by their number."""
        tracing, places = self._tracing, self._readings.place
        named = [
            (index, name)
            for index, name in enumerate(self._takers, 1)
            if tracing is not None and tracing.service(name) == service
        ]
        if not named:
            return []
        taking = {
            place.name
            for run in self._readings.runs
            if takes_records(self._world, run.process) and (place := places(run.process)) is not None
        }
        return [index for index, name in named if name in taking]

    def _publishes(self, moment: Moment, time: int) -> bool:
        """Whether a request may publish a record."""
        state = self._readings.state_at(time)
        if state is None or self._graphs is None or self._app is None:
            return False
        graph = self._graphs.of(state)
        through = self._app.journeys[moment.journey].through or tuple(self._app.by_name)
        return any(graph.publishes(name) for name in through)

    def _may_fail(self, moment: Moment, time: int) -> bool:
        state = self._readings.state_at(time)
        if state is None or self._graphs is None or self._app is None:
            return False
        graph = self._graphs.of(state)
        if moment.taker:
            name = self._takers[moment.taker - 1]
            nodes = [node for node in graph.nodes.values() if node.place.name == name]
            return any(graph.taking_may_fail(node) for node in nodes) or not nodes
        return graph.may_fail(self._app.journeys[moment.journey].name)

    def get(self, trace_id: str) -> Trace | None:
        """The trace of an identifier."""
        moment = self._moment(trace_id)
        if moment is None or self._app is None or moment.journey >= len(self._app.journeys):
            return None
        time = self._time(moment)
        if time > self._world.clock or time < self._since():
            return None
        return self._trace(moment, time)

    def services(self) -> list[str]:
        """Services that have written spans."""
        return sorted({service for service, _, _ in self._written()})

    def operations(self, service: str) -> list[Operation]:
        """What a service has done."""
        found = {(name, kind) for known, name, kind in self._written() if known == service}
        return [Operation(name, kind) for name, kind in sorted(found)]

    def dependencies(self, start: int, end: int) -> list[Dependency]:
        """Calls between services in the traces of a range: those kept, counted by the calls of the moment."""
        app, tracing, graphs = self._app, self._tracing, self._graphs
        if app is None or tracing is None or graphs is None:
            return []
        counts: dict[tuple[str, str], float] = {}
        start, end = max(start, self._since()), min(end, self._world.clock)
        for state in self._readings.states(start, end):
            seconds = (min(state.end, end) - max(state.start, start)) / SECOND
            if seconds <= 0:
                continue
            graph = graphs.of(state)
            for node in graph.nodes.values():
                if not writes_spans(app, tracing, node.place.name):
                    continue
                for ahead in node.calls.values():
                    callee = ahead.callee
                    if not callee or not writes_spans(app, tracing, callee) or not ahead.answered:
                        continue
                    pair = (tracing.service(node.place.name), tracing.service(callee))
                    calls = node.rate * ahead.made * ahead.answered * tracing.sampled * seconds
                    counts[pair] = counts.get(pair, 0.0) + calls
        return [
            Dependency(parent, child, round(count))
            for (parent, child), count in sorted(counts.items())
            if count >= 0.5
        ]

    def _written(self) -> set[tuple[str, str, str]]:
        """(service, operation, side) of everything of late."""
        app, tracing, graphs = self._app, self._tracing, self._graphs
        found: set[tuple[str, str, str]] = set()
        since = max(self._since(), self._world.clock - LOOKBACK)
        if app is None or tracing is None or graphs is None or since > self._world.clock:
            return found
        for state in self._readings.states(since, self._world.clock):
            graph = graphs.of(state)
            for node in graph.nodes.values():
                component = node.place.name
                if not writes_spans(app, tracing, component):
                    continue
                service = tracing.service(component)
                topic = groups.consumed(node.operation)
                if topic:
                    taking = tracing.taken(component, topic)
                    found |= {
                        (service, f"receive {topic}", "consumer"),
                        (service, taking.process, taking.kind),
                    }
                else:
                    found.add((service, tracing.server(component, node.operation), "server"))
                for ahead in node.calls.values():
                    if ahead.made > 0.0:
                        ask = ahead.ask
                        name = tracing.client(component, ask.peer, ask.operation, ask.of)
                        found.add((service, name, _side(ask)))
        return found

    # --- which requests ---------------------------------------------------------------------------

    def _since(self) -> int:
        """Since when traces are kept: since the collector runs; in the future where it does not."""
        app = self._app
        names = [] if app is None else [c.name for c in app.components if c.kind == "tracing"]
        started = [
            run.process.started_at
            for run in self._readings.runs
            if run.process.key in self._world.processes
            and (place := self._readings.place(run.process)) is not None
            and place.name in names
            and app is not None
            and place.namespace in app.namespaces
        ]
        return min(started, default=1 << 62)

    def _moments(self, start: int, end: int) -> Iterator[tuple[Moment, int]]:
        """The requests that are kept, newest first, each with when it began."""
        app, tracing = self._app, self._tracing
        if app is None or tracing is None:
            return
        start, end = max(start, self._since(), self._readings.begins), min(end, self._world.clock)
        slot = end // SLOT
        while slot * SLOT + SLOT > start:
            effort.spend(1.0)
            here = [(self._time(moment), moment) for moment in self._in_slot(slot)]
            here.sort(key=lambda each: (-each[0], each[1].journey))
            for time, moment in here:
                if start <= time <= end:
                    yield moment, time
            slot -= 1

    def _in_slot(self, slot: int) -> Iterable[Moment]:
        assert self._app is not None and self._tracing is not None
        state = self._readings.state_at(slot * SLOT)
        rates = {} if state is None else {journey.name: journey.rate for journey in state.journeys}
        for index, journey in enumerate(self._app.journeys):
            # Where fewer requests are sampled than there are slots, most slots stay empty.
            expected = rates.get(journey.name, 0.0) * self._tracing.sampled * (SLOT / SECOND)
            if expected >= 1.0 or keyed_unit(self._key, "kept", index, slot) < expected:
                yield Moment(index, slot)

    def _time(self, moment: Moment) -> int:
        return moment.slot * SLOT + int(keyed_unit(self._key, "at", moment.journey, moment.slot) * SLOT)

    def _touches(self, journey: int, service: str) -> bool:
        """Whether a journey's requests may have spans of a service."""
        assert self._app is not None and self._tracing is not None
        declared = self._app.journeys[journey]
        names = declared.through or tuple(self._app.by_name)
        return any(self._tracing.service(name) == service for name in names)

    def _id(self, moment: Moment) -> str:
        """The identifier of a request's trace, from which it can be found again."""
        assert self._app is not None
        number = moment.taker * len(self._app.journeys) + moment.journey
        return f"{_mixed(self._key, number * _SLOTS + moment.slot):016x}"

    def _moment(self, trace_id: str) -> Moment | None:
        if len(trace_id) != 16:
            return None
        number, slot = divmod(_unmixed(self._key, int(trace_id, 16)), _SLOTS)
        journeys = len(self._app.journeys) if self._app else 0
        if number >= journeys * (1 + len(self._takers)):
            return None
        return Moment(number % journeys, slot, number // journeys)

    def _trace(self, moment: Moment, time: int) -> Trace | None:
        """The spans of a request, or of what became of its record; None where nobody served it, or nobody who writes spans."""
        made = self._made(replace(moment, taker=0), time)
        if made is not None and moment.taker:
            made = self._taken(moment, made)
        if made is None:
            return None
        # A request that has not been answered yet has not written its spans.
        spans = tuple(span for span in made.spans if span.end <= self._world.clock)
        return Trace(made.trace_id, spans) if spans and len(spans) == len(made.spans) else None

    def _made(self, moment: Moment, time: int) -> _Maker | None:
        """A request, drawn."""
        app, tracing, graphs = self._app, self._tracing, self._graphs
        state = self._readings.state_at(time)
        if app is None or tracing is None or graphs is None or state is None:
            return None
        journey = app.journeys[moment.journey]
        graph = graphs.of(state)
        entry = graph.entry(journey.name)
        if entry is None:
            return None
        telling = errors_of(state).get(journey.name, "")
        maker = _Maker(self._id(moment), self._key, graph, tracing, telling, journey)
        maker.serve(entry, time, None)
        return maker

    def _taken(self, moment: Moment, publisher: _Maker) -> _Maker | None:
        """What became of a request's record with one of those who take them; None where it published none, or it is not taken yet."""
        tracing, app = self._tracing, self._app
        name = self._takers[moment.taker - 1]
        if tracing is None or app is None or not writes_spans(app, tracing, name):
            return None
        for record in publisher.published:
            time, waited = self._taken_at(record, name)
            found = None if time is None else self._taker(record.topic, name, time)
            if time is not None and found is not None:
                graph, node = found
                maker = _Maker(self._id(moment), self._key, graph, tracing, "", app.journeys[moment.journey])
                maker.take(node, time, record, waited)
                return maker
        return None

    def _taker(self, topic: str, name: str, time: int) -> tuple[Graph, Node] | None:
        """What a component does with records of a topic that it is handed at a time; users are looked at a moment after it has come."""
        for moment in (time, time + SLOT):
            state = self._readings.state_at(moment)
            if state is None or self._graphs is None:
                continue
            graph = self._graphs.of(state)
            node = next((each for each in graph.takers(topic) if each.place.name == name), None)
            if node is not None:
                return graph, node
        return None

    def _taken_at(self, record: Published, taker: str) -> tuple[int | None, bool]:
        """(when a record was handed to a component; None where it has not been yet, whether it had to wait for that). Of a broker
        that is gone nobody knows any more how long."""
        broker = self._world.processes.get(record.broker.key)
        if broker is None or broker.restart != record.broker.restart:
            return record.time, False
        key = (broker.key, record.topic, taker)
        if key not in self._courses:
            self._courses[key] = self._course(ProcessContext(self._world, broker), record.topic, taker)
        course = self._courses[key]
        time = None if course is None else course.taken(record.time)
        return time, time is not None and time > record.time + POLL * SECOND

    def _course(self, broker: ProcessContext, topic: str, taker: str) -> groups.Course | None:
        """How the group of a component has fared in a topic; None where it has none."""
        for group in groups.groups(broker).values():
            member = next(
                (run.process for run in self._readings.runs if run.process.key == group.member), None
            )
            place = None if member is None else self._readings.place(member)
            if group.topic == topic and place is not None and place.name == taker:
                effort.spend(COURSE_EFFORT)
                return groups.course(broker, group)
        return None


class _Maker:
    """Draws one request."""

    def __init__(
        self, trace_id: str, key: str, graph: Graph, tracing: Tracing, telling: str, journey: Journey
    ) -> None:
        self.trace_id = trace_id
        self.spans: list[Span] = []
        self._key = key
        self._graph = graph
        self._tracing = tracing
        self._telling = telling
        self._journey = journey
        self._count = 0
        self._cut = 0
        """The status with which a proxy answers for a call that has just got no answer; 0 where the last one got one."""
        self.published: list[Published] = []
        """Records that it has published."""

    def _draw(self) -> float:
        self._count += 1
        return keyed_unit(self._key, self.trace_id, self._count)

    def _around(self, mean: float) -> int:
        """A time drawn around its mean, microseconds."""
        # The sum of four draws is near enough to a normal one.
        normal = (self._draw() + self._draw() + self._draw() + self._draw() - 2.0) * math.sqrt(3.0)
        return max(1, round(mean * math.exp(SPREAD * normal - SPREAD * SPREAD / 2) * SECOND))

    def serve(self, node: Node, start: int, parent: Span | None) -> tuple[int, bool]:
        """A request at whoever serves it: when it is done, and whether it went well."""
        effort.spend(SPAN_EFFORT)
        process = self._picked(node)
        place = len(self.spans)
        name = self._tracing.server(node.place.name, node.operation)
        span_id = self._span_id()
        own = self._own_seconds(node)
        steps = () if node.handler is None else steps_of(node.handler, process)
        writes = writes_spans(self._graph.app, self._tracing, node.place.name)
        stub = self._span(span_id, name, start, 0, node, process, parent, (), ())
        if writes:
            self.spans.append(stub)
        now, ok = self._walk(
            steps, node, process, start + self._around(own * 0.6), stub if writes else parent
        )
        cut, self._cut = self._cut, 0
        refused = ok and self._draw() < node.refused
        now += self._around(own * 0.4)
        if writes:
            tags, events = self._told(node, ok and not refused, cut)
            self.spans[place] = self._span(
                span_id, name, start, now - start, node, process, parent, tags, events
            )
        return now, ok and not refused

    def take(self, node: Node, time: int, record: Published, waited: bool) -> None:
        """What a component does with a record that it is handed at a time; ``waited``: whether it had others to do first."""
        effort.spend(2 * SPAN_EFFORT)
        outer, inner = self._span_id(), self._span_id()
        process = self._picked(node)
        topic = record.topic
        taking = self._tracing.taken(node.place.name, topic)
        link = (
            ()
            if record.span is None
            else (Reference(record.span.span_id, record.span.trace_id, FOLLOWS_FROM),)
        )
        wanted = groups.subscription(process)
        group = () if wanted is None else (("messaging.kafka.consumer.group", wanted.group),)
        about = (("messaging.system", "kafka"), ("messaging.destination.name", topic), *group)
        received: tuple[Tag, ...] = (("span.kind", "consumer"), *about, ("messaging.operation", "receive"))
        polled = time - (self._around(0.001) if waited else 1 + int(self._draw() * POLL * SECOND))
        if taking.around:
            # It has waited for this record since it was done with the one before.
            idle = 0.0 if waited else -math.log(1.0 - self._draw()) * max(1.0 / node.rate - node.latency, 0.0)
            begun = min(time - int(idle * SECOND), polled - 40)
            first = self._span(outer, taking.process, begun, 0, node, process, None, (), ())
            self.spans += [
                first,
                self._span(
                    inner, f"receive {topic}", polled, time - polled, node, process, first, received, (), link
                ),
            ]
            place, says = 0, (("span.kind", taking.kind),)
        else:
            begun = time + self._around(0.0002)
            first = self._span(
                outer, f"receive {topic}", polled, time - polled, node, process, None, received, (), link
            )
            self.spans.append(first)
            place = 1
            says = (("span.kind", taking.kind), *about, ("messaging.operation", "process"))
            first = self._span(inner, taking.process, begun, 0, node, process, first, says, (), link)
            self.spans.append(first)
        own = self._own_seconds(node)
        steps = () if node.handler is None else steps_of(node.handler, process)
        now, ok = self._walk(steps, node, process, max(begun, time) + self._around(own * 0.6), first)
        ok = ok and self._draw() >= node.refused
        now += self._around(own * 0.4)
        tags = says if ok else (*says, ("error", True))
        self.spans[place] = evolve(first, duration=now - begun, tags=tags)

    def _own_seconds(self, node: Node) -> float:
        """Mean seconds of a node's own work: what its calls leave of its latency."""
        left = node.latency
        if node.handler is not None:
            left -= self._waits(steps_of(node.handler, node.process), node)
        return max(left, 0.00015)

    def _waits(self, steps: Sequence[Step], node: Node) -> float:
        total = 0.0
        for step in steps:
            if isinstance(step, Ask):
                ahead = node.calls.get(id(step))
                if ahead is None:
                    continue
                callee = self._graph.nodes.get(self._graph.asked(ahead.callee, step))
                if ahead.given_up:
                    total += node.latency * IN_VAIN
                    continue
                seconds = 0.0 if callee is None else self._takes(callee) + 2 * _WAY
                seconds = ahead.lost * ahead.patience + (1.0 - ahead.lost) * seconds
                total += ahead.made * ahead.answered * seconds
            elif isinstance(step, LookAside):
                total += self._waits((step.cache,), node) + self._waits(step.miss, node)
            elif isinstance(step, Together):
                total += max((self._waits(branch, node) for branch in step.branches), default=0.0)
        return total

    def _takes(self, node: Node) -> float:
        """Mean seconds of a request at a node: of a process they are known for all its operations together, and longer for one
        that waits in vain."""
        if node.handler is None or not any(ahead.lost for ahead in node.calls.values()):
            return node.latency
        return max(node.latency, self._waits(steps_of(node.handler, node.process), node))

    def _walk(
        self, steps: Sequence[Step], node: Node, process: Process, now: int, parent: Span | None
    ) -> tuple[int, bool]:
        for step in steps:
            ok = True
            if isinstance(step, Ask):
                now, ok = self._ask(step, node, process, now, parent)
            elif isinstance(step, LookAside):
                now, ok = self._ask(step.cache, node, process, now, parent)
                if ok:
                    now, ok = self._walk(step.miss, node, process, now, parent)
            elif isinstance(step, Together):
                ends = [self._walk(branch, node, process, now, parent) for branch in step.branches]
                now, ok = max((end for end, _ in ends), default=now), all(fine for _, fine in ends)
            elif isinstance(step, Compute):
                continue
            if not ok:
                return now, False
        return now, True

    def _ask(self, ask: Ask, node: Node, process: Process, now: int, parent: Span | None) -> tuple[int, bool]:
        """A call of another: a span on this side, and what the other makes of it."""
        ahead = node.calls.get(id(ask))
        if ahead is None or self._draw() >= ahead.made:
            return now, True
        effort.spend(SPAN_EFFORT)
        self._cut = 0
        name = self._tracing.client(node.place.name, ask.peer, ask.operation, ask.of)
        place, span_id = len(self.spans), self._span_id()
        writes = writes_spans(self._graph.app, self._tracing, node.place.name)
        stub = self._span(span_id, name, now, 0, node, process, parent, (), ())
        if writes:
            self.spans.append(stub)
        callee = self._graph.nodes.get(self._graph.asked(ahead.callee, ask))
        answered = self._draw() < ahead.answered
        heard = _heard(self._telling, ask.lost.answer)
        if callee is None or not answered:
            # Nobody has answered: what its own side took, less what else its service does.
            took = max(node.latency - 0.0005, 0.0004) if node.ok < 0.5 else 0.0008
            # A deadline is the same for every call.
            took_in_vain = round(node.latency * IN_VAIN * SECOND)
            end, ok = now + (took_in_vain if ahead.given_up else self._around(took)), False
            self._cut = 504 if ahead.given_up else 503
        elif writes_spans(self._graph.app, self._tracing, ahead.callee):
            way = self._around(_WAY)
            outer, self._telling = self._telling, heard
            end, ok = self.serve(callee, now + way, stub)
            self._telling = outer
            end += way
            if ahead.lost and self._draw() < ahead.lost:
                # It has been served, and whoever has asked does not learn of it.
                end, ok, self._cut = max(end, now + round(ahead.patience * SECOND)), False, 504
        elif ahead.lost and self._draw() < ahead.lost:
            end, ok, self._cut = now + round(ahead.patience * SECOND), False, 504
        else:
            end, ok = now + self._around(callee.latency + 2 * _WAY), self._draw() < ahead.ok
        if writes:
            tags: list[Tag] = [("span.kind", _side(ask))]
            if not groups.consumed(node.operation):
                tags.append(("component", self._component(node)))
            if ask.operation == groups.PRODUCE:
                tags[1:] = [
                    ("messaging.system", "kafka"),
                    ("messaging.destination.name", ask.of),
                    ("messaging.operation", "publish"),
                ]
            if ahead.callee and not writes_spans(self._graph.app, self._tracing, ahead.callee):
                tags.append(("peer.service", ahead.callee))
            events: tuple[Event, ...] = ()
            if not ok:
                tags.append(("error", True))
                if heard:
                    events = (Event(end, (("event", "error"), ("message", heard))),)
            self.spans[place] = self._span(
                span_id, name, now, end - now, node, process, parent, tuple(tags), events
            )
        if ok and ask.operation == groups.PRODUCE and callee is not None:
            span = self.spans[place] if writes else None
            self.published.append(Published(ask.of, end, span, callee.process))
        return end, ok or ask.lost.then == "ignore"

    def _told(self, node: Node, ok: bool, cut: int) -> tuple[tuple[Tag, ...], tuple[Event, ...]]:
        """What a server's span says of itself."""
        tags: list[Tag] = [("span.kind", "server"), ("component", self._component(node))]
        method, _, path = node.operation.partition(" ")
        if path.startswith("/"):
            failed = cut if cut and node.process.program == "envoy" else 500
            tags += [("http.method", method), ("http.url", path), ("http.status_code", 200 if ok else failed)]
        if ok:
            return tuple(tags), ()
        tags.append(("error", True))
        return tuple(tags), ()

    def _component(self, node: Node) -> str:
        if node.operation.startswith("/"):
            return "gRPC"
        return self._tracing.http if " /" in node.operation else "thrift"

    def _picked(self, node: Node) -> Process:
        """One of those who serve, as often as they do."""
        if len(node.processes) == 1:
            return node.process
        draw = self._draw() * sum(rate for _, rate in node.processes)
        for process, rate in node.processes:
            if draw < rate:
                return process
            draw -= rate
        return node.process

    def _span_id(self) -> str:
        self._count += 1
        return (
            self.trace_id
            if self._count == 1
            else f"{keyed_bits(self._key, self.trace_id, 'span', self._count):016x}"
        )

    def _span(
        self,
        span_id: str,
        name: str,
        start: int,
        duration: int,
        node: Node,
        process: Process,
        parent: Span | None,
        tags: tuple[Tag, ...],
        events: tuple[Event, ...],
        links: tuple[Reference, ...] = (),
    ) -> Span:
        owner = model.Process(
            self._tracing.service(node.place.name), (("hostname", process.hostname), ("ip", process.ip))
        )
        above = () if parent is None else (Reference(parent.span_id, self.trace_id),)
        return Span(self.trace_id, span_id, name, start, duration, owner, (*above, *links), tags, events)


def _side(ask: Ask) -> str:
    """The kind of a span that tells of a call."""
    return "producer" if ask.operation == groups.PRODUCE else "client"


def _heard(told: str, answer: str) -> str:
    """What a service was told whose own answer is known; empty where that says nothing of it."""
    if not answer:
        return told
    before, found, after = answer.partition("{error}")
    return told.removeprefix(before).removesuffix(after) if found else ""


# --- identifiers ------------------------------------------------------------------------------------------

_ROUNDS = 4
_HALF = (1 << 32) - 1


def _mixed(key: str, number: int) -> int:
    """64 bits that look like chance and stand for a number: a Feistel network over its halves."""
    left, right = number >> 32, number & _HALF
    for round_ in range(_ROUNDS):
        left, right = right, left ^ (keyed_bits(key, "trace", round_, right) & _HALF)
    return (left << 32) | right


def _unmixed(key: str, number: int) -> int:
    """The number for which identifiers stand."""
    left, right = number >> 32, number & _HALF
    for round_ in reversed(range(_ROUNDS)):
        left, right = right ^ (keyed_bits(key, "trace", round_, left) & _HALF), left
    return (left << 32) | right


__all__ = ["Moment", "WorldTraces", "traces_of"]
