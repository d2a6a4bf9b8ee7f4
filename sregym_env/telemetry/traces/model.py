"""Spans as Jaeger knows them. Times and durations are whole microseconds, times since the epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TagValue = str | bool | int | float | bytes
Tag = tuple[str, TagValue]

CHILD_OF = "CHILD_OF"
FOLLOWS_FROM = "FOLLOWS_FROM"


@dataclass(frozen=True, slots=True)
class Process:
    """Who wrote spans: a service, and where it runs."""

    service: str
    tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """Which span another belongs to."""

    span_id: str
    trace_id: str
    kind: str = CHILD_OF
    """``CHILD_OF`` or ``FOLLOWS_FROM``."""


@dataclass(frozen=True, slots=True)
class Event:
    """What was noted while a span lasted (a log, as Jaeger says)."""

    time: int
    fields: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work of one service."""

    trace_id: str
    """16 or 32 hexadecimal digits."""
    span_id: str
    """16 hexadecimal digits."""
    operation: str
    start: int
    duration: int
    process: Process
    references: tuple[Reference, ...] = ()
    tags: tuple[Tag, ...] = ()
    events: tuple[Event, ...] = ()
    flags: int = 1
    """1 for a sampled span."""
    warnings: tuple[str, ...] = ()

    @property
    def service(self) -> str:
        """The service that wrote it."""
        return self.process.service

    @property
    def end(self) -> int:
        """When the work was done."""
        return self.start + self.duration

    @property
    def parent_id(self) -> str:
        """The span that this one belongs to, empty for the first: a CHILD_OF of its own trace before anything else."""
        own = [each for each in self.references if each.trace_id == self.trace_id]
        for reference in own:
            if reference.kind == CHILD_OF:
                return reference.span_id
        return own[0].span_id if own else ""

    @property
    def failed(self) -> bool:
        """Whether it is marked as an error, by OpenTracing's tag or OpenTelemetry's status."""
        values = dict(self.tags)
        return values.get("error") in (True, "true") or values.get("otel.status_code") == "ERROR"

    @property
    def kind(self) -> str:
        """``server``, ``client``, ``producer``, ``consumer``, ``internal`` or empty."""
        return str(dict(self.tags).get("span.kind", ""))


@dataclass(frozen=True, slots=True)
class Trace:
    """All spans of one request; at least one."""

    trace_id: str
    spans: tuple[Span, ...]
    warnings: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        """When the first span began."""
        return min(span.start for span in self.spans)

    @property
    def duration(self) -> int:
        """From the beginning of the first span to the end of the last."""
        return max(span.end for span in self.spans) - self.start

    @property
    def root(self) -> Span:
        """The first span of those whose parents are not here."""
        known = {span.span_id for span in self.spans}
        roots = [span for span in self.spans if span.parent_id not in known]
        return min(roots or self.spans, key=lambda span: (span.start, span.span_id))

    @property
    def services(self) -> dict[str, int]:
        """Services and how many spans each has, by name."""
        counts: dict[str, int] = {}
        for span in self.spans:
            counts[span.service] = counts.get(span.service, 0) + 1
        return dict(sorted(counts.items()))

    @property
    def errors(self) -> int:
        """How many spans are marked as errors."""
        return sum(span.failed for span in self.spans)


@dataclass(frozen=True, slots=True)
class Operation:
    """What a service does, and on which side of a call."""

    name: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Dependency:
    """Calls from one service to another."""

    parent: str
    child: str
    calls: int


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """What a search asks: one span of a trace must fit in everything."""

    service: str
    start: int
    """Of the span, microseconds since the epoch; inclusive."""
    end: int
    """Inclusive."""
    operation: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    min_duration: int = 0
    """Nanoseconds; 0 for any."""
    max_duration: int = 0
    """Nanoseconds; 0 for any."""
    limit: int = 100
    """Traces at most, the newest; 0 for as many as there may be."""


def tag_text(value: TagValue) -> str:
    """A tag's value as Jaeger compares and prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value[:256].hex() + ("..." if len(value) > 256 else "")
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)
