"""Jaeger's HTTP query API as pure functions: from a path and its parameters to a status and a body.

Shapes and texts are those of the query service of Jaeger 1.57 as its user interface and ``curl`` see them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

import orjson

from sregym_env.kube.durations import parse_duration
from sregym_env.kube.gojson import syntax_error
from sregym_env.kube.status import go_quote
from sregym_env.runtime import effort
from sregym_env.telemetry.traces.ids import canonical_id
from sregym_env.telemetry.traces.model import Process, Span, Tag, Trace, TraceQuery
from sregym_env.telemetry.traces.source import MAX_TRACES, TraceSource

Parameters = Mapping[str, Sequence[str]]
"""Of a query string: every name with its values in order."""

LOOKBACK = 2 * 24 * 3_600_000_000
"""How far back a search looks that names no start: two days, in microseconds."""

DEPENDENCY_LOOKBACK = 24 * 3_600_000
"""How far back dependencies are counted: a day, in milliseconds."""

SPAN_EFFORT = 12.0
"""What a span costs that is written (units of ``runtime/effort.py``)."""

_SAFE_INTEGER = 2**53 - 1
"""Beyond it JavaScript's numbers are not exact, and Jaeger writes a text."""

_MAX_INT64 = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Answer:
    """What an HTTP client gets."""

    status: int
    body: bytes
    content_type: str = "application/json"


class RequestError(ValueError):
    """A request that makes no sense or asks for what is not there; the text and status are Jaeger's."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Jaeger:
    """A Jaeger query service over a source: ``answer`` for each request. Keeps nothing between requests."""

    source: TraceSource

    def answer(self, path: str, parameters: Parameters, now: int) -> Answer:
        """The answer to a GET at the instant ``now`` (microseconds). Never raises for what a client sent."""
        handler = self._handler(path)
        if handler is None:
            return Answer(404, b"404 page not found\n", "text/plain; charset=utf-8")
        try:
            return _written(handler(parameters, now), parameters)
        except RequestError as error:
            body = _response(None, errors=[{"code": error.status, "msg": str(error)}])
            return Answer(error.status, _dumped(body) + b"\n", "text/plain; charset=utf-8")

    def _handler(self, path: str) -> Callable[[Parameters, int], dict[str, Any]] | None:
        parts = path.strip("/").split("/") if path.startswith("/api/") and not path.endswith("/") else []
        match parts[1:]:
            case ["services"]:
                return lambda parameters, now: self._services()
            case ["services", service, "operations"] if service:
                return lambda parameters, now: self._operation_names(unquote_plus(service))
            case ["operations"]:
                return lambda parameters, now: self._operations(parameters)
            case ["traces"]:
                return self._search
            case ["traces", trace_id] if trace_id:
                return lambda parameters, now: self._trace(trace_id, parameters)
            case ["dependencies"]:
                return self._dependencies
            case ["metrics", "latencies" | "calls" | "errors" | "minstep"]:
                return lambda parameters, now: _no_metrics()
        return None

    def _services(self) -> dict[str, Any]:
        names = sorted(self.source.services())
        return _response(names or None, total=len(names))

    def _operation_names(self, service: str) -> dict[str, Any]:
        names = sorted({operation.name for operation in self.source.operations(service)})
        return _response(names or None, total=len(names))

    def _operations(self, parameters: Parameters) -> dict[str, Any]:
        service = _first(parameters, "service")
        if not service:
            raise RequestError("parameter 'service' is required")
        kind = _first(parameters, "spanKind")
        found = [each for each in self.source.operations(service) if kind in ("", each.kind)]
        found.sort(key=lambda each: (each.name, each.kind))
        return _response([{"name": each.name, "spanKind": each.kind} for each in found], total=len(found))

    def _search(self, parameters: Parameters, now: int) -> dict[str, Any]:
        wanted, query = parse_search(parameters, now)
        if not wanted:
            return _response(_rendered(self.source.search(query)))
        found = {trace_id: self.source.get(trace_id) for trace_id in wanted[:MAX_TRACES]}
        errors = [
            {"msg": "trace not found", "traceID": each} for each, trace in found.items() if trace is None
        ]
        return _response(_rendered([trace for trace in found.values() if trace]), errors=errors or None)

    def _trace(self, text: str, parameters: Parameters) -> dict[str, Any]:
        try:
            trace_id = canonical_id(text)
        except ValueError as error:
            raise RequestError(str(error)) from None
        for name in ("start", "end"):
            _time(parameters, name, 0)
        trace = self.source.get(trace_id)
        if trace is None:
            raise RequestError("trace not found", 404)
        return _response(_rendered([trace]))

    def _dependencies(self, parameters: Parameters, now: int) -> dict[str, Any]:
        end = _time(parameters, "endTs", now // 1000)
        lookback = _time(parameters, "lookback", DEPENDENCY_LOOKBACK)
        service = _first(parameters, "service")
        links = [
            {"parent": link.parent, "child": link.child, "callCount": link.calls}
            for link in self.source.dependencies((end - lookback) * 1000, end * 1000)
            if service in ("", link.parent, link.child)
        ]
        return _response(links)


def _no_metrics() -> dict[str, Any]:
    raise RequestError("metrics querying is currently disabled", 501)


# --- parameters ---------------------------------------------------------------------------------------


def _first(parameters: Parameters, name: str) -> str:
    values = parameters.get(name, ())
    return values[0] if values else ""


def _whole(text: str, bits: int = 64) -> int:
    """A whole number as ``strconv.ParseInt`` reads it. Raises ValueError."""
    body = text[1:] if text[:1] in ("+", "-") else text
    if not (body.isascii() and body.isdigit()):
        raise ValueError(f"strconv.ParseInt: parsing {go_quote(text)}: invalid syntax")
    value = int(text) if len(body.lstrip("0")) < 30 else _MAX_INT64 + 1
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError(f"strconv.ParseInt: parsing {go_quote(text)}: value out of range")
    return value


def _time(parameters: Parameters, name: str, default: int) -> int:
    """A time or a length in the units of its parameter."""
    text = _first(parameters, name)
    if not text:
        return default
    try:
        return _whole(text)
    except ValueError as error:
        raise RequestError(f"unable to parse param '{name}': {error}") from None


def _duration(parameters: Parameters, name: str) -> int:
    """Nanoseconds of ``1.5ms``; 0 where nothing is said."""
    text = _first(parameters, name)
    if not text:
        return 0
    try:
        if len(text) > 100:
            raise ValueError(f"time: invalid duration {go_quote(text)}")
        return parse_duration(text)
    except ValueError as error:
        raise RequestError(f"unable to parse param '{name}': {error}") from None


def _tags(parameters: Parameters) -> dict[str, str]:
    tags: dict[str, str] = {}
    for text in parameters.get("tag", ()):
        key, colon, value = text.partition(":")
        if not colon:
            raise RequestError(f"malformed 'tag' parameter, expecting key:value, received: {text}")
        tags[key] = value
    for text in parameters.get("tags", ()):
        tags.update(_tags_json(text))
    return tags


def _tags_json(text: str) -> dict[str, str]:
    complaint = "malformed 'tags' parameter, cannot unmarshal JSON: "
    raw = text.encode("utf-8", "replace")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise RequestError(complaint + (syntax_error(raw) or "invalid JSON")) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RequestError(
            f"{complaint}json: cannot unmarshal {_kind(value)} into Go value of type map[string]string"
        )
    for each in value.values():
        if not isinstance(each, str | None):
            raise RequestError(
                f"{complaint}json: cannot unmarshal {_kind(each)} into Go value of type string"
            )
    return {key: each or "" for key, each in value.items()}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def parse_search(parameters: Parameters, now: int) -> tuple[list[str], TraceQuery]:
    """Identifiers that are asked for by name, and the search otherwise. Raises RequestError.

    ``lookback``, which Jaeger's user interface sends along, means nothing to the service; that is kept.
    """
    start = _time(parameters, "start", now - LOOKBACK)
    end = _time(parameters, "end", now)
    tags = _tags(parameters)
    limit = 100
    if _first(parameters, "limit"):
        try:
            limit = _whole(_first(parameters, "limit"), 32)
        except ValueError as error:
            raise RequestError(str(error)) from None
    shortest = _duration(parameters, "minDuration")
    longest = _duration(parameters, "maxDuration")
    wanted: list[str] = []
    for text in parameters.get("traceID", ()):
        try:
            wanted.append(canonical_id(text))
        except ValueError as error:
            raise RequestError(f"cannot parse traceID param: {error}") from None
    service = _first(parameters, "service")
    if not wanted and not service:
        raise RequestError("parameter 'service' is required")
    if shortest and longest and longest < shortest:
        raise RequestError("'maxDuration' should be greater than 'minDuration'")
    operation = _first(parameters, "operation")
    return wanted, TraceQuery(service, start, end, operation, tags, shortest, longest, limit)


# --- bodies -------------------------------------------------------------------------------------------


def _response(data: Any, total: int = 0, errors: Any = None) -> dict[str, Any]:
    return {"data": data, "total": total, "limit": 0, "offset": 0, "errors": errors}


def _dumped(body: Any) -> bytes:
    """JSON as Go's encoder writes it, which escapes what HTML would read."""
    raw = orjson.dumps(body)
    return raw.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


def _written(body: dict[str, Any], parameters: Parameters) -> Answer:
    if _first(parameters, "prettyPrint") in ("", "false"):
        return Answer(200, _dumped(body))
    text = json.dumps(body, indent=4, ensure_ascii=False)
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Answer(200, text.encode())


def _tag_json(tag: Tag) -> dict[str, Any]:
    key, value = tag
    match value:
        case bool():
            return {"key": key, "type": "bool", "value": value}
        case int():
            exact = -_SAFE_INTEGER <= value <= _SAFE_INTEGER
            return {"key": key, "type": "int64", "value": value if exact else str(value)}
        case float():
            return {"key": key, "type": "float64", "value": int(value) if value.is_integer() else value}
        case bytes():
            return {"key": key, "type": "binary", "value": base64.b64encode(value).decode()}
        case _:
            return {"key": key, "type": "string", "value": value}


def _span_json(span: Span, process: str) -> dict[str, Any]:
    return {
        "traceID": span.trace_id,
        "spanID": span.span_id,
        **({"flags": span.flags} if span.flags else {}),
        "operationName": span.operation,
        "references": [
            {"refType": each.kind, "traceID": each.trace_id, "spanID": each.span_id}
            for each in span.references
        ],
        "startTime": span.start,
        "duration": span.duration,
        "tags": [_tag_json(tag) for tag in span.tags],
        "logs": [
            {"timestamp": event.time, "fields": [_tag_json(tag) for tag in event.fields]}
            for event in span.events
        ],
        "processID": process,
        "warnings": list(span.warnings) or None,
    }


def _rendered(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    effort.spend(SPAN_EFFORT * sum(len(trace.spans) for trace in traces))
    return [trace_json(trace) for trace in traces]


def trace_json(trace: Trace) -> dict[str, Any]:
    """A trace as the user interface gets it."""
    names: dict[Process, str] = {}
    spans = []
    for span in trace.spans:
        name = names.setdefault(span.process, f"p{len(names) + 1}")
        spans.append(_span_json(span, name))
    processes = {
        name: {"serviceName": process.service, "tags": [_tag_json(tag) for tag in process.tags]}
        for name, process in sorted((name, process) for process, name in names.items())
    }
    return {
        "traceID": trace.trace_id,
        "spans": spans,
        "processes": processes,
        "warnings": list(trace.warnings) or None,
    }
