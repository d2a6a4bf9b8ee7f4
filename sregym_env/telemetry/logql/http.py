"""Loki's HTTP API as pure functions: from a path and its parameters to a status and a body.

Shapes and texts are those of Loki 3 as a single binary: errors are plain text, everything else is JSON.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import orjson

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.status import go_quote
from sregym_env.telemetry.logql.errors import QueryError
from sregym_env.telemetry.logql.labels import Labels
from sregym_env.telemetry.logql.parser import parse_matchers, parse_unchecked
from sregym_env.telemetry.logql.queries import (
    Instant,
    Matrix,
    RangeQuery,
    Streams,
    default_step,
    query_instant,
    query_range,
)
from sregym_env.telemetry.logql.scan import Limits
from sregym_env.telemetry.logql.source import LogSource, Stream
from sregym_env.telemetry.logql.stats import statistics
from sregym_env.telemetry.logql.syntax import Matcher, Selector
from sregym_env.telemetry.logql.units import (
    MAX_INT64,
    SECOND,
    float_text,
    parse_float,
    parse_range,
    parse_whole,
)

Parameters = Mapping[str, Sequence[str]]
"""Of a query string or a form: every name with its values in order."""

PREFIX = "/loki/api/v1/"
CHUNK_BYTES = 1_572_864
"""``chunk_target_size``: what ``index/stats`` counts chunks by."""

MAX_POINTS = 11_000
"""Points of a series at most."""

_HOUR = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class Answer:
    """What an HTTP client gets."""

    status: int
    body: bytes
    content_type: str = "application/json; charset=UTF-8"


@dataclass(frozen=True, slots=True)
class Loki:
    """A Loki over a source: ``answer`` for each request. Keeps nothing between requests."""

    source: LogSource
    limits: Limits = field(default_factory=Limits)

    def answer(self, path: str, parameters: Parameters, now: int) -> Answer:
        """The answer to a GET or POST at the instant ``now`` (nanoseconds). Never raises for what a client sent."""
        handler = self._handler(path)
        if handler is None:
            return _plain(404, "404 page not found\n")
        try:
            return handler(parameters, now)
        except QueryError as error:
            return _plain(error.status, str(error))

    def _handler(self, path: str) -> Callable[[Parameters, int], Answer] | None:
        name = path.removeprefix(PREFIX) if path.startswith(PREFIX) else ""
        if name.startswith("label/") and name.endswith("/values") and name.count("/") == 2:
            label = unquote(name.split("/")[1])
            return lambda parameters, now: self._label_values(label, parameters, now)
        handlers: Mapping[str, Callable[[Parameters, int], Answer]] = {
            "query": self._query,
            "query_range": self._query_range,
            "labels": self._label_names,
            "label": self._label_names,
            "series": self._series,
            "index/stats": self._index_stats,
        }
        return handlers.get(name)

    def _query(self, parameters: Parameters, now: int) -> Answer:
        _limit(parameters)
        time = _timestamp(_first(parameters, "time"), now)
        _direction(parameters)
        found = query_instant(self.source, _first(parameters, "query"), time, now, self.limits)
        stats = statistics(found.scan, 0)
        if found.scalar:
            return _data("scalar", _point(found.time, found.vector[0][1]), stats)
        return _data("vector", _vector(found), stats)

    def _query_range(self, parameters: Parameters, now: int) -> Answer:
        start, end = _bounds(parameters, now)
        if end < start:
            raise QueryError("end timestamp must not be before start time")
        limit = _limit(parameters)
        backward = _direction(parameters)
        step = _step(parameters, start, end)
        if step <= 0:
            raise QueryError(
                "zero or negative query resolution step widths are not accepted. Try a positive integer"
            )
        if (end - start) // step > MAX_POINTS:
            raise QueryError(
                "exceeded maximum resolution of 11,000 points per time series. Try decreasing the query resolution "
                "(?step=XX)"
            )
        asked = RangeQuery(_first(parameters, "query"), start, end, limit, backward, step)
        found = query_range(self.source, asked, now, self.limits)
        if isinstance(found, Streams):
            return _data("streams", _streams(found), statistics(found.scan, found.lines))
        return _data("matrix", _matrix(found), statistics(found.scan, 0))

    def _matching(self, parameters: Parameters, now: int) -> list[Stream]:
        """Streams of a range that ``query`` may narrow."""
        start, end = _bounds(parameters, now, 6 * _HOUR)
        query = _first(parameters, "query")
        matchers: tuple[Matcher, ...] = ()
        if query:
            expr = parse_unchecked(query)
            if not isinstance(expr, Selector) or expr.stages:
                raise QueryError("only label matchers are supported")
            matchers = expr.matchers
        return list(self.source.streams(matchers, start, end))

    def _label_names(self, parameters: Parameters, now: int) -> Answer:
        names = {name for stream in self._matching(parameters, now) for name, _ in stream.labels}
        return _listed(sorted(names))

    def _label_values(self, label: str, parameters: Parameters, now: int) -> Answer:
        found = (dict(stream.labels).get(label, "") for stream in self._matching(parameters, now))
        return _listed(sorted({value for value in found if value}))

    def _series(self, parameters: Parameters, now: int) -> Answer:
        start, end = _bounds(parameters, now)
        selectors = [*parameters.get("match", ()), *parameters.get("match[]", ())]
        groups = [parse_matchers(text) for text in selectors if text != "{}"] or [()]
        if not selectors:
            raise QueryError("0 matcher groups supplied")
        found: dict[Labels, None] = {}
        for matchers in groups:
            found.update(dict.fromkeys(stream.labels for stream in self.source.streams(matchers, start, end)))
        return _json({"status": "success", "data": [dict(labels) for labels in sorted(found)]})

    def _index_stats(self, parameters: Parameters, now: int) -> Answer:
        start, end = _bounds(parameters, now)
        matchers = parse_matchers(_first(parameters, "query"))
        volumes = [stream.volume(start, end) for stream in self.source.streams(matchers, start, end)]
        return _json(
            {
                "streams": len(volumes),
                "chunks": sum(max(1, math.ceil(volume.bytes / CHUNK_BYTES)) for volume in volumes),
                "bytes": sum(volume.bytes for volume in volumes),
                "entries": sum(volume.entries for volume in volumes),
            }
        )


# --- parameters ---------------------------------------------------------------------------------------


def _first(parameters: Parameters, name: str) -> str:
    values = parameters.get(name, ())
    return values[0] if values else ""


def _limit(parameters: Parameters) -> int:
    text = _first(parameters, "limit")
    if not text:
        return 100
    limit = _or_refuse(lambda: parse_whole(text, "Atoi"))
    if limit <= 0:
        raise QueryError("limit must be a positive value")
    return limit % 2**32


def _direction(parameters: Parameters) -> bool:
    """Whether the newest lines come first."""
    text = _first(parameters, "direction")
    if text.upper() not in ("", "FORWARD", "BACKWARD"):
        raise QueryError(f"invalid direction '{text}'")
    return text.upper() != "FORWARD"


def _bounds(parameters: Parameters, now: int, since: int = _HOUR) -> tuple[int, int]:
    text = _first(parameters, "since")
    if text:
        since = _or_refuse(lambda: parse_range(text), "could not parse 'since' parameter: ")
    end = _timestamp(_first(parameters, "end"), now, "could not parse 'end' parameter: ")
    start = _timestamp(
        _first(parameters, "start"), min(end, now) - since, "could not parse 'start' parameter: "
    )
    return start, end


def _timestamp(text: str, default: int, complaint: str = "") -> int:
    """Nanoseconds of ``1700000000``, ``1700000000.5``, nanoseconds themselves, or RFC 3339."""
    if not text:
        return default
    if "." in text:
        try:
            value = parse_float(text)
        except ValueError:
            pass
        else:
            if not math.isfinite(value) or abs(value) > MAX_INT64 / SECOND:
                raise QueryError(f"{complaint}cannot parse {go_quote(text)} to a valid timestamp")
            fraction, whole = math.modf(value)
            return int(whole) * SECOND + int(round(fraction, 3) * SECOND)
    try:
        nanoseconds = parse_whole(text)
    except ValueError as error:
        moment = _rfc3339(text)
        if moment is None:
            raise QueryError(f"{complaint}{error}") from None
        return moment
    return nanoseconds * SECOND if len(text) <= 10 else nanoseconds


def _rfc3339(text: str) -> int | None:
    """Nanoseconds of an RFC 3339 timestamp, of which nine digits of the fraction count."""
    try:
        micro = parse_rfc3339(text)
    except ValueError:
        return None
    digits = text.partition(".")[2]
    fraction = "".join(char for char in digits[:9] if char.isdigit()) if digits else ""
    return micro // 1_000_000 * SECOND + int((fraction or "0").ljust(9, "0"))


def _step(parameters: Parameters, start: int, end: int) -> int:
    text = _first(parameters, "step")
    if not text:
        return default_step(start, end)
    try:
        seconds = parse_float(text)
    except ValueError:
        pass
    else:
        if not abs(seconds) * SECOND <= MAX_INT64:
            raise QueryError(f"cannot parse {go_quote(text)} to a valid duration. It overflows int64")
        return int(seconds * SECOND)
    try:
        return parse_range(text)
    except ValueError:
        raise QueryError(f"cannot parse {go_quote(text)} to a valid duration") from None


def _or_refuse(read: Callable[[], int], complaint: str = "") -> int:
    try:
        return read()
    except ValueError as error:
        raise QueryError(f"{complaint}{error}") from None


# --- bodies -------------------------------------------------------------------------------------------


def _plain(status: int, text: str) -> Answer:
    return Answer(status, text.encode("utf-8", "replace"), "text/plain; charset=utf-8")


def _json(value: Any) -> Answer:
    return Answer(200, orjson.dumps(value) + b"\n")


def _listed(values: Sequence[str]) -> Answer:
    # A list without values is left out.
    return _json({"status": "success", "data": values} if values else {"status": "success"})


def _data(kind: str, result: bytes, stats: Mapping[str, Any]) -> Answer:
    head = b'{"status":"success","data":{"resultType":"' + kind.encode() + b'","result":'
    return Answer(200, head + result + b',"stats":' + orjson.dumps(stats) + b"}}\n")


def text_json(text: str) -> bytes:
    """A text as a JSON string. What is no Unicode becomes the replacement character, as it would have been stored."""
    try:
        return orjson.dumps(text)
    except orjson.JSONEncodeError:
        return orjson.dumps(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _line(text: str) -> bytes:
    """A line: angle brackets and ampersands are escaped, as Go does it for HTML."""
    return text_json(text).replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


def _labels(labels: Labels) -> bytes:
    return b"{" + b",".join(text_json(name) + b":" + text_json(value) for name, value in labels) + b"}"


def _streams(found: Streams) -> bytes:
    return b"[" + b",".join(
        b'{"stream":' + _labels(stream.labels) + b',"values":['
        + b",".join(b'["%d",%b]' % (time, _line(line)) for time, line in stream.entries) + b"]}"
        for stream in found.streams
    ) + b"]"  # fmt: skip


def _point(milliseconds: int, value: float) -> bytes:
    return f'[{float_text(milliseconds / 1000)},"{float_text(value)}"]'.encode()


def _vector(found: Instant) -> bytes:
    return b"[" + b",".join(
        b'{"metric":' + _labels(labels) + b',"value":' + _point(found.time, value) + b"}"
        for labels, value in found.vector
    ) + b"]"  # fmt: skip


def _matrix(found: Matrix) -> bytes:
    return b"[" + b",".join(
        b'{"metric":' + _labels(labels) + b',"values":['
        + b",".join(_point(time, value) for time, value in points) + b"]}"
        for labels, points in found.series
    ) + b"]"  # fmt: skip
