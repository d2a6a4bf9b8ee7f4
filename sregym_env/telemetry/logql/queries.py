"""Queries as values: what is asked, and what comes of it, before anything is written as JSON or text."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.telemetry.logql.errors import QueryError
from sregym_env.telemetry.logql.labels import Labels
from sregym_env.telemetry.logql.metrics import Evaluation, Vector
from sregym_env.telemetry.logql.parser import parse
from sregym_env.telemetry.logql.scan import Limits, Scan
from sregym_env.telemetry.logql.select import FoundStream, select
from sregym_env.telemetry.logql.source import LogSource
from sregym_env.telemetry.logql.syntax import (
    Literal,
    MetricExpr,
    Selector,
    VectorAggregation,
    VectorOf,
    ranges,
)
from sregym_env.telemetry.logql.units import MILLISECOND, range_text

Point = tuple[int, float]
"""Milliseconds since the epoch, and a sample."""


@dataclass(frozen=True, slots=True)
class Streams:
    """The answer to a log query."""

    streams: list[FoundStream]
    scan: Scan
    backward: bool = False
    """Whether the newest lines come first."""

    @property
    def lines(self) -> int:
        """How many lines were found."""
        return sum(len(stream.entries) for stream in self.streams)


@dataclass(frozen=True, slots=True)
class Instant:
    """The answer to a metric query at one instant: a vector, or a single number."""

    time: int
    """Milliseconds."""
    vector: Vector
    scalar: bool
    scan: Scan


@dataclass(frozen=True, slots=True)
class Matrix:
    """The answer to a metric query over a range: series by their labels."""

    series: list[tuple[Labels, list[Point]]]
    scan: Scan


@dataclass(frozen=True, slots=True)
class RangeQuery:
    """What ``query_range`` asks. Nanoseconds; logs are read without ``end``, metrics with it."""

    query: str
    start: int
    end: int
    limit: int = 100
    backward: bool = True
    step: int = 0
    """0 for a 250th of the range, in whole seconds."""

    def steps(self) -> int:
        """The step that is used."""
        return self.step or default_step(self.start, self.end)


def default_step(start: int, end: int) -> int:
    """The step of a range query that names none: a 250th of it, at least a second. Nanoseconds."""
    return max((end - start) // 250_000_000_000, 1) * 1_000_000_000


def query_range(
    source: LogSource, asked: RangeQuery, now: int, limits: Limits | None = None
) -> Streams | Matrix:
    """The answer to a query over a range; ``now`` is what templates' clocks show. Raises QueryError."""
    limits = limits or Limits()
    expr = parse(asked.query)
    scan = Scan(limits)
    if asked.end - asked.start > limits.max_length:
        length, longest = range_text(asked.end - asked.start), range_text(limits.max_length)
        raise QueryError(f"the query time range exceeds the limit (query length: {length}, limit: {longest})")
    if isinstance(expr, Selector):
        if asked.limit > limits.max_entries:
            raise QueryError(
                "max entries limit per query exceeded, limit > max_entries_limit_per_query "
                f"({asked.limit} > {limits.max_entries})"
            )
        found = select(source, expr, asked.start, asked.end, asked.limit, asked.backward, now, scan)
        return Streams(found, scan, asked.backward)
    step = asked.steps()
    start, end = asked.start, asked.end
    if limits.align and not isinstance(expr, Literal | VectorOf):
        start, end = start - start % step, end - end % step
    _check_lengths(expr, limits)
    times = range(start, end + 1, step)
    series: dict[Labels, list[Point]] = {}
    for time, vector in zip(times, Evaluation(source, times, now, limits, scan).vectors(expr), strict=True):
        for labels, value in vector:
            series.setdefault(labels, []).append((time // MILLISECOND, value))
    return Matrix(sorted(series.items()), scan)


def query_instant(
    source: LogSource, query: str, time: int, now: int, limits: Limits | None = None
) -> Instant:
    """The answer to a metric query at one instant (nanoseconds). Raises QueryError."""
    limits = limits or Limits()
    expr = parse(query)
    if isinstance(expr, Selector):
        raise QueryError(
            "log queries are not supported as an instant query type, please change your query to a range query type"
        )
    _check_lengths(expr, limits)
    scan = Scan(limits)
    vector = Evaluation(source, [time], now, limits, scan).vectors(expr)[0]
    if not _sorted_by_value(expr):
        vector = sorted(vector)
    return Instant(time // MILLISECOND, vector, isinstance(expr, Literal), scan)


def _check_lengths(expr: MetricExpr, limits: Limits) -> None:
    for each in ranges(expr):
        if each.range.interval > limits.max_length:
            interval, longest = range_text(each.range.interval), range_text(limits.max_length)
            raise QueryError(f"[interval] value exceeds limit: [{interval}] > [{longest}]")


def _sorted_by_value(expr: MetricExpr) -> bool:
    while isinstance(expr, VectorAggregation):
        if expr.operation in ("sort", "sort_desc"):
            return True
        expr = expr.of
    return False
