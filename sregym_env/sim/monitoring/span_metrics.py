"""The collector's span metrics: how many spans of each kind there were, and how long they took.

``traces_span_metrics_*`` are what the collector's connector counts of all spans that services send, before anything is
sampled away; so they are integrals of what was served and asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sregym_env.cluster.app import App
from sregym_env.cluster.tracing import Tracing
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.monitoring.calls import Graph, Graphs, Node, steps_of, through
from sregym_env.sim.monitoring.readings import Times, Values, accumulated, share_below
from sregym_env.sim.monitoring.scrapes import Family, Job, Question, Row, Target
from sregym_env.sim.programs.kafka import groups
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.users.components import app_of

JOB = Job("otel-spanmetrics", 15 * SECOND)
INSTANCE = "otel-collector.observe:8889"

BUCKETS = (1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 10000.0)
"""Upper bounds, milliseconds."""

SERVER, CLIENT = "SPAN_KIND_SERVER", "SPAN_KIND_CLIENT"
PRODUCER, CONSUMER = "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"
POLL = 0.1
"""Seconds that clients wait for records at once: librdkafka's .NET binding in one call, the demo's consumer in Kotlin in a poll."""
UNSET, ERROR = "STATUS_CODE_UNSET", "STATUS_CODE_ERROR"
_SILENT = frozenset(
    (
        "mongodb",
        "memcached",
        "redis",
        "valkey",
        "postgresql",
        "kafka",
        "registry",
        "tracing",
        "telemetry",
        "search",
        "load",
    )
)
"""Kinds of components that write no spans: stores, what collects spans, and users."""

Span = tuple[str, str, str, str, str]
"""Namespace, service, name, kind and status: what the connector tells spans apart by."""


def tracing_of(app: App) -> Tracing | None:
    """How an application's spans are called; None where it writes none."""
    if app.tracing is not None:
        return app.tracing
    return Tracing() if any(component.kind == "tracing" for component in app.components) else None


def writes_spans(app: App, tracing: Tracing, component: str) -> bool:
    """Whether a component writes spans of what it serves."""
    return app.by_name[component].kind not in _SILENT and component not in tracing.unseen


def spans_of(graph: Graph, tracing: Tracing) -> dict[Span, tuple[float, float]]:
    """Spans per second while a state holds, and their mean seconds."""
    found: dict[Span, tuple[float, float]] = {}

    def add(
        namespace: str, component: str, name: str, kind: str, rate: float, ok: float, latency: float
    ) -> None:
        service = tracing.service(component)
        for status, share in ((UNSET, ok), (ERROR, 1.0 - ok)):
            if rate * share > 1e-9:
                key = (namespace, service, name, kind, status)
                known = found.get(key, (0.0, 0.0))
                total = known[0] + rate * share
                found[key] = (total, (known[0] * known[1] + rate * share * latency) / total)

    for node in graph.nodes.values():
        component = node.place.name
        if not writes_spans(graph.app, tracing, component):
            continue
        namespace = node.place.namespace
        topic = groups.consumed(node.operation)
        if topic:
            taking = tracing.taken(component, topic)
            add(namespace, component, f"receive {topic}", CONSUMER, node.rate, 1.0, POLL / 2)
            # What begins before the record is there lasts from one record to the next.
            lasts = max(1.0 / node.rate, node.latency) if taking.around else node.latency
            kind = f"SPAN_KIND_{taking.kind.upper()}"
            add(namespace, component, taking.process, kind, node.rate, node.ok, lasts)
        else:
            name = tracing.server(component, node.operation)
            add(namespace, component, name, SERVER, node.rate, node.ok, node.latency)
        if node.handler is None:
            continue

        def take(
            ask: Ask,
            missed: bool,
            alive: float,
            node: Node = node,
            component: str = component,
            namespace: str = namespace,
        ) -> float:
            ahead = node.calls.get(id(ask))
            if ahead is None:
                return 1.0
            callee = graph.nodes.get(graph.asked(ahead.callee, ask))
            latency = node.latency if callee is None else callee.latency
            name = tracing.client(component, ask.peer, ask.operation, ask.of)
            kind = PRODUCER if ask.operation == groups.PRODUCE else CLIENT
            add(namespace, component, name, kind, alive * ahead.made, ahead.answered * ahead.ok, latency)
            return ahead.kept

        through(steps_of(node.handler, node.process), node.rate, take)
    return found


def _counted(question: Question) -> tuple[list[int], dict[Span, dict[int, tuple[float, float]]]]:
    """When states began, and the spans of each state. What an integral is at an instant depends on nothing later."""
    traced = list(_traced(app_of(question.world)))
    if not traced:
        return [], {}
    states = question.readings.states(question.readings.begins, question.world.clock)
    found: dict[Span, dict[int, tuple[float, float]]] = {}
    for app, tracing in traced:
        graphs = Graphs(question.world, app, question.readings)
        known: dict[int, dict[Span, tuple[float, float]]] = {}
        for index, state in enumerate(states):
            graph = graphs.of(state)
            spans = known.get(id(graph))
            if spans is None:
                spans = known[id(graph)] = spans_of(graph, tracing)
            for span, measured in spans.items():
                found.setdefault(span, {})[index] = measured
            effort.spend(0.3 * len(spans))
    return [state.start for state in states], found


def _traced(app: App | None) -> Iterator[tuple[App, Tracing]]:
    """The applications that write spans, with how these are called."""
    for each in () if app is None else app.parts or (app,):
        tracing = tracing_of(each)
        if tracing is not None:
            yield each, tracing


def _totals(starts: Sequence[int], rates: dict[int, float], times: Times) -> tuple[Values, int]:
    """The integral of a rate over the states in which it is not nothing, and when the first of them began."""
    values = [rates.get(index, 0.0) for index in range(len(starts))]
    return accumulated(starts, values, times), starts[min(rates)]


def _labels(span: Span) -> dict[str, str]:
    namespace, service, name, kind, status = span
    return {
        "namespace": namespace,
        "service_name": service,
        "span_name": name,
        "span_kind": kind,
        "status_code": status,
    }


def _wanted(
    question: Question,
) -> Iterator[tuple[Span, dict[str, str], list[int], dict[int, tuple[float, float]]]]:
    starts, found = question.always("spans", lambda: _counted(question))
    for span in sorted(found):
        labels = _labels(span)
        if all(question.wants(name, value) for name, value in labels.items()):
            yield span, labels, starts, found[span]


def _calls(question: Question, target: Target, times: Times) -> Iterator[Row]:
    for _, labels, starts, measured in _wanted(question):
        rates = {index: rate for index, (rate, _) in measured.items()}
        totals, first = _totals(starts, rates, times)
        yield labels, np.floor(totals), times > first


def _count(question: Question, target: Target, times: Times) -> Iterator[Row]:
    yield from _calls(question, target, times)


def _sum(question: Question, target: Target, times: Times) -> Iterator[Row]:
    for _, labels, starts, measured in _wanted(question):
        rates = {index: rate * latency * 1000.0 for index, (rate, latency) in measured.items()}
        totals, first = _totals(starts, rates, times)
        yield labels, totals, times > first


def _buckets(question: Question, target: Target, times: Times) -> Iterator[Row]:
    bounds = [bound / 1000.0 for bound in BUCKETS]
    asked = [
        (place, le)
        for place, le in enumerate((*(f"{bound:g}" for bound in BUCKETS), "+Inf"))
        if question.wants("le", le)
    ]
    shares: dict[float, list[float]] = {}
    for _, labels, starts, measured in _wanted(question):
        rates = np.zeros((len(starts), len(BUCKETS) + 1))
        for index, (rate, latency) in measured.items():
            known = shares.get(latency)
            if known is None:
                known = shares[latency] = [*share_below(latency, bounds), 1.0]
            rates[index] = [rate * share for share in known]
        counts = np.floor(accumulated(starts, rates, times))
        there = times > starts[min(measured)]
        for place, le in asked:
            yield {**labels, "le": le}, counts[:, place], there


def _targets(question: Question) -> Sequence[Target]:
    return (Target(JOB, INSTANCE),) if any(_traced(app_of(question.world))) else ()


FAMILIES: tuple[Family, ...] = (
    Family("traces_span_metrics_calls_total", "counter", "", _targets, _calls),
    Family("traces_span_metrics_duration_milliseconds_bucket", "histogram", "", _targets, _buckets),
    Family("traces_span_metrics_duration_milliseconds_sum", "histogram", "", _targets, _sum),
    Family("traces_span_metrics_duration_milliseconds_count", "histogram", "", _targets, _count),
)
"""What Prometheus gets of it."""
