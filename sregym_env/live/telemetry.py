"""Metrics, logs and traces of a real cluster: its Prometheus, Loki and Jaeger, asked over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np

from sregym_env.cluster.telemetry import TelemetryUnavailable
from sregym_env.telemetry.labels import Labels, labels_of
from sregym_env.telemetry.logql.errors import QueryError as LogQueryError
from sregym_env.telemetry.logql.labels import make_labels
from sregym_env.telemetry.logql.queries import Instant, Matrix, RangeQuery, Streams
from sregym_env.telemetry.logql.scan import Limits, Scan
from sregym_env.telemetry.logql.select import FoundStream
from sregym_env.telemetry.promql.engine import Result
from sregym_env.telemetry.promql.errors import BadData, QueryError, QueryTimeout
from sregym_env.telemetry.series import Metadata
from sregym_env.telemetry.traces.model import Dependency, Operation, Trace, TraceQuery
from sregym_env.telemetry.traces.reading import trace_of

PATIENCE = 30.0
"""Seconds that an answer may take."""

LONGEST = 32 * 1024 * 1024
"""Bytes of an answer that are read."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the monitoring of a cluster answers; empty where there is none."""

    prometheus: str = ""
    """E.g. ``http://localhost:9090``, after ``kubectl port-forward -n observe svc/prometheus-server 9090:80``."""
    loki: str = ""
    jaeger: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """One service that is asked over HTTP."""

    name: str
    url: str
    transport: httpx.BaseTransport | None = None

    def get(self, path: str, parameters: Mapping[str, Any]) -> httpx.Response:
        """The answer to a GET. Raises TelemetryUnavailable."""
        if not self.url:
            option = self.name.lower()
            raise TelemetryUnavailable(
                f"no {self.name} is configured for this cluster: give its address, "
                f'LiveBackend(..., telemetry=Addresses({option}="http://..."))'
            )
        wanted = {name: value for name, value in parameters.items() if value not in ("", None, [])}
        try:
            with httpx.Client(transport=self.transport, timeout=PATIENCE) as client:
                answer = client.get(self.url.rstrip("/") + path, params=wanted)
        except httpx.HTTPError as error:
            raise TelemetryUnavailable(f"{self.name} at {self.url} does not answer: {error}") from None
        if len(answer.content) > LONGEST:
            raise TelemetryUnavailable(f"{self.name} at {self.url} answers with more than {LONGEST} bytes")
        return answer

    def json(self, answer: httpx.Response) -> Any:
        """The body of an answer. Raises TelemetryUnavailable where it is no JSON."""
        try:
            return answer.json()
        except ValueError:
            text = answer.text[:200].strip()
            raise TelemetryUnavailable(
                f"{self.name} at {self.url} answers with status {answer.status_code}: {text}"
            ) from None


_ERRORS: Mapping[str, type[QueryError]] = {"bad_data": BadData, "timeout": QueryTimeout}


class LiveMetrics:
    """Prometheus (implements :class:`~sregym_env.cluster.telemetry.Metrics`)."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def query(self, query: str, time_ms: int) -> Result:
        """The answer at an instant. Raises QueryError, TelemetryUnavailable."""
        return _result(self._data("/api/v1/query", {"query": query, "time": time_ms / 1000}))

    def query_range(self, query: str, start_ms: int, end_ms: int, step_ms: int) -> Result:
        """The answers at every step. Raises QueryError, TelemetryUnavailable."""
        asked = {"query": query, "start": start_ms / 1000, "end": end_ms / 1000, "step": step_ms / 1000}
        return _result(self._data("/api/v1/query_range", asked))

    def series(self, selector: str, start_ms: int, end_ms: int) -> Sequence[Labels]:
        """The label sets of the series that a selector finds."""
        asked = {"match[]": selector, "start": start_ms / 1000, "end": end_ms / 1000}
        return sorted(labels_of(each) for each in self._data("/api/v1/series", asked))

    def names(self, start_ms: int, end_ms: int) -> Sequence[str]:
        """The names of all metrics."""
        asked = {"start": start_ms / 1000, "end": end_ms / 1000}
        return sorted(self._data("/api/v1/label/__name__/values", asked))

    def metadata(self) -> Mapping[str, Sequence[Metadata]]:
        """Type and help of every metric that is known."""
        return {
            name: tuple(Metadata(each["type"], each["help"], each.get("unit", "")) for each in known)
            for name, known in self._data("/api/v1/metadata", {}).items()
        }

    def _data(self, path: str, parameters: Mapping[str, Any]) -> Any:
        body = self._site.json(self._site.get(path, parameters))
        if body.get("status") != "success":
            error = _ERRORS.get(body.get("errorType", ""), QueryError)
            raise error(body.get("error", "no reason given"))
        return body["data"]


def _result(data: Mapping[str, Any]) -> Result:
    kind, found = data["resultType"], data["result"]
    if kind in ("scalar", "string"):
        time, text = found
        times = np.array([round(time * 1000)], dtype=np.int64)
        if kind == "string":
            return Result("string", (((), times, np.zeros(1)),), text)
        return Result("scalar", (((), times, np.array([float(text)])),))
    series = []
    for each in found:
        points = each["values"] if kind == "matrix" else [each["value"]]
        times = np.array([round(float(time) * 1000) for time, _ in points], dtype=np.int64)
        series.append((labels_of(each["metric"]), times, np.array([float(value) for _, value in points])))
    return Result(kind, series)


class LiveLogs:
    """Loki (implements :class:`~sregym_env.cluster.telemetry.Logs`)."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def query_range(self, asked: RangeQuery) -> Streams | Matrix:
        """Lines or samples over a range. Raises QueryError, TelemetryUnavailable."""
        data = self._data(
            "query_range",
            {
                "query": asked.query,
                "start": str(asked.start),
                "end": str(asked.end),
                "limit": asked.limit,
                "direction": "backward" if asked.backward else "forward",
                "step": asked.steps() / 1e9,
            },
        )
        scan = Scan(Limits())
        if data["resultType"] == "streams":
            streams = [
                FoundStream(
                    make_labels(each["stream"]), [(int(time), line) for time, line, *_ in each["values"]]
                )
                for each in data["result"]
            ]
            return Streams(sorted(streams, key=lambda stream: stream.labels), scan, asked.backward)
        series = [
            (make_labels(each["metric"]), [(round(float(t) * 1000), float(v)) for t, v in each["values"]])
            for each in data["result"]
        ]
        return Matrix(sorted(series), scan)

    def query(self, query: str, time_ns: int) -> Instant:
        """The answer to a metric query at an instant. Raises QueryError, TelemetryUnavailable."""
        data = self._data("query", {"query": query, "time": str(time_ns)})
        found = data["result"]
        if data["resultType"] == "scalar":
            return Instant(time_ns // 1_000_000, [((), float(found[1]))], True, Scan(Limits()))
        vector = [(make_labels(each["metric"]), float(each["value"][1])) for each in found]
        return Instant(time_ns // 1_000_000, vector, False, Scan(Limits()))

    def labels(self, start_ns: int, end_ns: int) -> Sequence[str]:
        """The names of the labels that streams have in a range."""
        return sorted(self._data("labels", {"start": str(start_ns), "end": str(end_ns)}) or ())

    def values(self, label: str, start_ns: int, end_ns: int) -> Sequence[str]:
        """The values of one label in a range."""
        path = f"label/{quote(label, safe='')}/values"
        return sorted(self._data(path, {"start": str(start_ns), "end": str(end_ns)}) or ())

    def _data(self, path: str, parameters: Mapping[str, Any]) -> Any:
        answer = self._site.get(f"/loki/api/v1/{path}", parameters)
        if answer.status_code != 200:
            # Loki's complaints are plain text.
            raise LogQueryError(answer.text, answer.status_code)
        return self._site.json(answer)["data"]


class LiveTraces:
    """Jaeger (implements :class:`~sregym_env.telemetry.traces.source.TraceSource`)."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def search(self, query: TraceQuery) -> Sequence[Trace]:
        """Traces with a span that fits, newest first."""
        asked: dict[str, Any] = {
            "service": query.service,
            "operation": query.operation,
            "start": query.start,
            "end": query.end,
            "limit": query.limit or None,
            "minDuration": f"{query.min_duration}ns" if query.min_duration else "",
            "maxDuration": f"{query.max_duration}ns" if query.max_duration else "",
            "tag": [f"{key}:{value}" for key, value in query.tags.items()],
        }
        found = [trace_of(each) for each in self._data("/api/traces", asked) or ()]
        return sorted(found, key=lambda trace: (-trace.start, trace.trace_id))

    def get(self, trace_id: str) -> Trace | None:
        """The trace of an identifier."""
        answer = self._site.get(f"/api/traces/{trace_id}", {})
        if answer.status_code == 404:
            return None
        found = self._site.json(answer).get("data")
        return trace_of(found[0]) if found else None

    def services(self) -> Sequence[str]:
        """Services that have written spans."""
        return sorted(self._data("/api/services", {}) or ())

    def operations(self, service: str) -> Sequence[Operation]:
        """What a service has done."""
        found = self._data("/api/operations", {"service": service}) or ()
        return sorted(
            (Operation(each["name"], each.get("spanKind", "")) for each in found),
            key=lambda each: (each.name, each.kind),
        )

    def dependencies(self, start: int, end: int) -> Sequence[Dependency]:
        """Calls between services in traces of a range."""
        asked = {"endTs": end // 1000, "lookback": (end - start) // 1000}
        return [
            Dependency(each["parent"], each["child"], each["callCount"])
            for each in self._data("/api/dependencies", asked) or ()
        ]

    def _data(self, path: str, parameters: Mapping[str, Any]) -> Any:
        body = self._site.json(self._site.get(path, parameters))
        errors = body.get("errors")
        if errors:
            raise TelemetryUnavailable(f"{self._site.name} at {self._site.url}: {errors[0].get('msg', '')}")
        return body["data"]


class LiveTelemetry:
    """Implements :class:`~sregym_env.cluster.telemetry.Telemetry` over HTTP."""

    def __init__(self, addresses: Addresses, transport: httpx.BaseTransport | None = None) -> None:
        """``transport`` is for tests."""
        self._addresses = addresses
        self._transport = transport

    @property
    def metrics(self) -> LiveMetrics:
        """Prometheus."""
        return LiveMetrics(Site("Prometheus", self._addresses.prometheus, self._transport))

    @property
    def logs(self) -> LiveLogs:
        """Loki."""
        return LiveLogs(Site("Loki", self._addresses.loki, self._transport))

    @property
    def traces(self) -> LiveTraces:
        """Jaeger."""
        return LiveTraces(Site("Jaeger", self._addresses.jaeger, self._transport))
