"""Traces to ask about."""

from __future__ import annotations

from sregym_env.telemetry.traces.model import Event, Process, Reference, Span, Tag, Trace
from sregym_env.telemetry.traces.source import StoredTraces

START = 1_700_000_000_000_000
"""2023-11-14T22:13:20Z in microseconds."""

SECOND = 1_000_000

PROCESSES = {
    name: Process(name, (("hostname", f"{name}-0"), ("ip", "10.0.0.1")))
    for name in ("frontend", "search", "geo", "rate")
}


def span(
    trace: int,
    number: int,
    parent: int,
    service: str,
    operation: str,
    offset: int,
    duration: int,
    tags: tuple[Tag, ...] = (),
    events: tuple[Event, ...] = (),
) -> Span:
    """One span of a request that began so many seconds after the start."""
    trace_id = f"{trace:016x}"
    references = (Reference(f"{parent:016x}", trace_id),) if parent else ()
    tags = (("span.kind", "server"), *tags)
    start = START + trace * SECOND + offset
    return Span(
        trace_id, f"{number:016x}", operation, start, duration, PROCESSES[service], references, tags, events
    )


def request(number: int, broken: bool = False, rates: int = 8) -> Trace:
    """A search for hotels; the last of its calls finds nobody where it is broken."""
    status: tuple[Tag, ...] = (
        (("http.status_code", 500), ("error", True)) if broken else (("http.status_code", 200),)
    )
    spans = [
        span(number, 1, 0, "frontend", "HTTP GET /hotels", 0, 45_000, status),
        span(number, 2, 1, "search", "/search.Search/Nearby", 900, 40_000),
        span(number, 3, 2, "geo", "/geo.Geo/Nearby", 1_500, 9_000),
        *(span(number, 10 + i, 2, "rate", "get_rates", 11_000 + i * 1_000, 800 + i) for i in range(rates)),
    ]
    if broken:
        refused = Event(
            START + number * SECOND + 23_000,
            (("event", "error"), ("message", "dial tcp 10.0.0.7:8084: connect: connection refused")),
        )
        error: tuple[Tag, ...] = (("error", True), ("grpc.code", 14))
        spans.append(span(number, 30, 2, "rate", "/rate.Rate/GetRates", 22_000, 15_000, error, (refused,)))
    return Trace(f"{number:016x}", tuple(spans))


def hotel() -> StoredTraces:
    """Twenty requests, one a second; every fifth is broken."""
    return StoredTraces(request(number, broken=number % 5 == 0) for number in range(1, 21))
