"""What can be asked about the past of an embedded world: the engines over its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sregym_env.sim.monitoring import http
from sregym_env.sim.monitoring.alerts import recorded
from sregym_env.sim.monitoring.log_streams import WorldLogs
from sregym_env.sim.monitoring.spans import traces_of
from sregym_env.sim.world import SimWorld
from sregym_env.telemetry.labels import NAME, Labels, value_of
from sregym_env.telemetry.logql.queries import (
    Instant,
    Matrix,
    RangeQuery,
    Streams,
    query_instant,
    query_range,
)
from sregym_env.telemetry.promql.engine import Engine, Result
from sregym_env.telemetry.promql.parser import parse_selector
from sregym_env.telemetry.series import Metadata
from sregym_env.telemetry.traces.source import TraceSource

NANO = 1000
"""Nanoseconds in a microsecond."""


class SimMetrics:
    """Prometheus (implements :class:`~sregym_env.cluster.telemetry.Metrics`)."""

    __slots__ = ("_source", "_world")

    def __init__(self, world: SimWorld) -> None:
        self._world = world
        self._source = recorded(world)

    def query(self, query: str, time_ms: int) -> Result:
        """The answer at an instant. Raises promql's QueryError."""
        return Engine(self._source).query(query, time_ms)

    def query_range(self, query: str, start_ms: int, end_ms: int, step_ms: int) -> Result:
        """The answers at every step. Raises promql's QueryError."""
        return Engine(self._source).query_range(query, start_ms, end_ms, step_ms)

    def series(self, selector: str, start_ms: int, end_ms: int) -> Sequence[Labels]:
        """The label sets of the series that a selector finds. Raises promql's QueryError."""
        return sorted(set(self._source.labels(parse_selector(selector), start_ms, end_ms)))

    def names(self, start_ms: int, end_ms: int) -> Sequence[str]:
        """The names of all metrics with samples in a range, sorted."""
        return sorted({value_of(labels, NAME) for labels in self._source.labels((), start_ms, end_ms)})

    def metadata(self) -> Mapping[str, Sequence[Metadata]]:
        """Type and help of every metric that is known."""
        return self._source.metadata()

    def answer(self, path: str, parameters: http.Parameters) -> http.Answer:
        """What Prometheus's API answers over HTTP."""
        return http.prometheus(self._world, path, parameters)

    def exposition(self, job: str, instance: str = "") -> str:
        """What the exporter of a job exposes."""
        return http.exposition(self._world, job, instance)


class SimLogs:
    """Loki (implements :class:`~sregym_env.cluster.telemetry.Logs`)."""

    __slots__ = ("_source", "_world")

    def __init__(self, world: SimWorld) -> None:
        self._world = world
        self._source = WorldLogs(world)

    def query_range(self, asked: RangeQuery) -> Streams | Matrix:
        """Lines or samples over a range. Raises logql's QueryError."""
        return query_range(self._source, asked, self._world.clock * NANO)

    def query(self, query: str, time_ns: int) -> Instant:
        """The answer to a metric query at an instant. Raises logql's QueryError."""
        return query_instant(self._source, query, time_ns, self._world.clock * NANO)

    def labels(self, start_ns: int, end_ns: int) -> Sequence[str]:
        """The names of the labels that streams have in a range, sorted."""
        streams = self._source.streams((), start_ns, end_ns)
        return sorted({name for stream in streams for name, _ in stream.labels})

    def values(self, label: str, start_ns: int, end_ns: int) -> Sequence[str]:
        """The values of one label in a range, sorted."""
        streams = self._source.streams((), start_ns, end_ns)
        return sorted({value for stream in streams for name, value in stream.labels if name == label})

    def answer(self, path: str, parameters: http.Parameters) -> http.Answer:
        """What Loki's API answers over HTTP."""
        return http.loki(self._world, path, parameters)


class SimTelemetry:
    """Metrics, logs and traces of a world as it is now (implements :class:`~sregym_env.cluster.telemetry.Telemetry`)."""

    __slots__ = ("_world",)

    def __init__(self, world: SimWorld) -> None:
        self._world = world

    @property
    def metrics(self) -> SimMetrics:
        """Prometheus."""
        return SimMetrics(self._world)

    @property
    def logs(self) -> SimLogs:
        """Loki."""
        return SimLogs(self._world)

    @property
    def traces(self) -> TraceSource:
        """Jaeger."""
        return traces_of(self._world)
