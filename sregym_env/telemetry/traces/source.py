"""What a world offers to be asked about traces, and one that keeps them in memory as Jaeger does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from sregym_env.telemetry.traces.model import (
    Dependency,
    Operation,
    Span,
    Tag,
    Trace,
    TraceQuery,
    tag_text,
)

MAX_TRACES = 1000
"""Traces that one search returns at most; Jaeger has no such bound, its clients ask for 20."""


class TraceSource(Protocol):
    """All traces of a world. Traces may be made when they are asked for; the same question has the same answer."""

    def search(self, query: TraceQuery) -> Sequence[Trace]:
        """Traces with a span that fits, newest first, no more than the limit."""
        ...

    def get(self, trace_id: str) -> Trace | None:
        """The trace of an identifier as ``canonical_id`` writes it."""
        ...

    def services(self) -> Sequence[str]:
        """Services that have written spans."""
        ...

    def operations(self, service: str) -> Sequence[Operation]:
        """What a service has done; nothing for one that is not known."""
        ...

    def dependencies(self, start: int, end: int) -> Sequence[Dependency]:
        """Calls between services in traces of a range (microseconds)."""
        ...


def fits(span: Span, query: TraceQuery) -> bool:
    """Whether a span is what a search asks for."""
    if span.service != query.service or (query.operation and span.operation != query.operation):
        return False
    if query.min_duration and span.duration * 1000 < query.min_duration:
        return False
    if query.max_duration and span.duration * 1000 > query.max_duration:
        return False
    if not query.start <= span.start <= query.end:
        return False
    if not query.tags:
        return True
    present = [*span.tags, *span.process.tags]
    for event in span.events:
        present += event.fields
    return all(_has(present, key, value) for key, value in query.tags.items())


def _has(tags: Iterable[Tag], key: str, value: str) -> bool:
    # A key may occur more than once.
    return any(name == key and tag_text(each) == value for name, each in tags)


def calls(traces: Iterable[Trace]) -> list[Dependency]:
    """Calls between different services, counted by spans whose parent is another's."""
    counts: dict[tuple[str, str], int] = {}
    for trace in traces:
        services = {span.span_id: span.service for span in trace.spans}
        for span in trace.spans:
            parent = services.get(span.parent_id, span.service)
            if parent != span.service:
                pair = (parent, span.service)
                counts[pair] = counts.get(pair, 0) + 1
    return [Dependency(parent, child, count) for (parent, child), count in sorted(counts.items())]


class StoredTraces:
    """Traces that are there already: recordings, and what tests ask about."""

    __slots__ = ("_traces",)

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._traces = {trace.trace_id: trace for trace in traces}

    def search(self, query: TraceQuery) -> list[Trace]:
        """Traces with a span that fits, newest first."""
        found = [trace for trace in self._traces.values() if any(fits(span, query) for span in trace.spans)]
        found.sort(key=lambda trace: (-trace.start, trace.trace_id))
        return found[: min(query.limit, MAX_TRACES) if query.limit > 0 else MAX_TRACES]

    def get(self, trace_id: str) -> Trace | None:
        """The trace of an identifier."""
        return self._traces.get(trace_id)

    def services(self) -> list[str]:
        """Services that have written spans."""
        return sorted({span.service for trace in self._traces.values() for span in trace.spans})

    def operations(self, service: str) -> list[Operation]:
        """What a service has done."""
        found = {
            (span.operation, span.kind)
            for trace in self._traces.values()
            for span in trace.spans
            if span.service == service
        }
        return [Operation(name, kind) for name, kind in sorted(found)]

    def dependencies(self, start: int, end: int) -> list[Dependency]:
        """Calls between services in traces with a span that began in the range."""
        return calls(
            trace for trace in self._traces.values() if any(start < span.start < end for span in trace.spans)
        )
