"""What a world can be asked about its past: metrics, logs and traces, as Prometheus, Loki and Jaeger answer.

Questions and answers are the values of the engines (:mod:`sregym_env.telemetry`), whoever has evaluated them. A query
that is wrong raises the engine's ``QueryError`` with the real text; a backend that cannot be reached, or that nobody has
configured, raises :class:`TelemetryUnavailable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sregym_env.errors import ClusterError
from sregym_env.telemetry.labels import Labels
from sregym_env.telemetry.logql.queries import Instant, Matrix, RangeQuery, Streams
from sregym_env.telemetry.promql.engine import Result
from sregym_env.telemetry.series import Metadata
from sregym_env.telemetry.traces.source import TraceSource


class TelemetryUnavailable(ClusterError):
    """A monitoring backend that does not answer, or that is not configured; the text says which and the way out."""


class Metrics(Protocol):
    """A Prometheus. Instants are milliseconds since the Unix epoch."""

    def query(self, query: str, time_ms: int) -> Result:
        """The answer at an instant. Raises promql's QueryError."""

    def query_range(self, query: str, start_ms: int, end_ms: int, step_ms: int) -> Result:
        """The answers at every step from start to end, both included. Raises promql's QueryError."""

    def series(self, selector: str, start_ms: int, end_ms: int) -> Sequence[Labels]:
        """The label sets of the series that a selector finds in a range, sorted. Raises promql's QueryError."""

    def names(self, start_ms: int, end_ms: int) -> Sequence[str]:
        """The names of all metrics with samples in a range, sorted."""

    def metadata(self) -> Mapping[str, Sequence[Metadata]]:
        """Type and help of every metric that is known."""


class Logs(Protocol):
    """A Loki. Instants are nanoseconds since the Unix epoch."""

    def query_range(self, asked: RangeQuery) -> Streams | Matrix:
        """Lines, or samples of a metric query, over a range. Raises logql's QueryError."""

    def query(self, query: str, time_ns: int) -> Instant:
        """The answer to a metric query at an instant. Raises logql's QueryError."""

    def labels(self, start_ns: int, end_ns: int) -> Sequence[str]:
        """The names of the labels that streams have in a range, sorted."""

    def values(self, label: str, start_ns: int, end_ns: int) -> Sequence[str]:
        """The values of one label in a range, sorted."""


class Telemetry(Protocol):
    """What is known of a world's past."""

    @property
    def metrics(self) -> Metrics:
        """Prometheus."""

    @property
    def logs(self) -> Logs:
        """Loki."""

    @property
    def traces(self) -> TraceSource:
        """Jaeger."""
