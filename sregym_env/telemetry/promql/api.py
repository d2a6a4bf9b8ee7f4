"""Prometheus's HTTP API (``/api/v1/...``) as functions: parameters in, status and JSON out.

Parameters are those of the URL and the form together: every name with all its values. ``now_ms`` is the time of those
who give none. Error types, codes and texts are Prometheus's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from sregym_env.telemetry.gotext import parse_float, quote, sample
from sregym_env.telemetry.labels import Labels
from sregym_env.telemetry.promql.durations import LONGEST, parse_duration
from sregym_env.telemetry.promql.engine import Engine, Result
from sregym_env.telemetry.promql.errors import BadData, ParseError, QueryError, QueryTimeout
from sregym_env.telemetry.promql.parser import parse, parse_selector
from sregym_env.telemetry.series import Matcher, SeriesSource, Times, Values

Parameters: TypeAlias = Mapping[str, Sequence[str]]
Json: TypeAlias = Any

_CODES = {
    "bad_data": 400,
    "execution": 422,
    "timeout": 503,
    "canceled": 503,
    "internal": 500,
    "not_found": 404,
}
_EARLIEST = -(1 << 53)
_LATEST = 1 << 53
"""Milliseconds before and after everything."""
_NOWHERE = -9_223_372_036_854
"""What Go makes of a time that does not fit."""

_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]{1,40}))?(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))"
)
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: the HTTP status and the JSON body."""

    status: int
    body: Mapping[str, Json]


def success(data: Json) -> Response:
    """An answer with data."""
    return Response(200, {"status": "success", "data": data})


def failure(error: QueryError) -> Response:
    """An answer that says what is wrong."""
    return Response(_CODES[error.type], {"status": "error", "errorType": error.type, "error": str(error)})


def _answered(answer: Callable[[], Json]) -> Response:
    try:
        return success(answer())
    except QueryError as error:
        return failure(error)


# --- parameters -------------------------------------------------------------------------------------


def _value(parameters: Parameters, name: str) -> str:
    values = parameters.get(name, ())
    return values[0] if values else ""


def _invalid(name: str, error: object) -> BadData:
    return BadData(f'invalid parameter "{name}": {error}')


def parse_time(text: str) -> int:
    """Milliseconds of a Unix time in seconds or an RFC 3339 text. Raises ValueError with Prometheus's text."""
    seconds = parse_float(text) if "x" not in text else None
    if seconds is not None:
        if not abs(seconds) < 2.0**53:
            return _NOWHERE
        fraction, whole = math.modf(seconds)
        return int(whole) * 1000 + int(math.copysign(math.floor(abs(fraction) * 1000 + 0.5), fraction))
    found = _RFC3339.fullmatch(text)
    if found is not None:
        year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
        digits, _, sign, hours, minutes = found.groups()[6:]
        try:
            moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            moment = None
        if moment is not None:
            shift = (int(hours) * 60 + int(minutes)) * 60 * (-1 if sign == "-" else 1) if sign else 0
            since = moment - datetime(1970, 1, 1, tzinfo=UTC)
            return (since.days * 86_400 + since.seconds - shift) * 1000 + int(((digits or "") + "000")[:3])
    if text == "-292273086-05-16T16:47:06Z":
        return _EARLIEST
    if text == "292277025-08-18T07:12:54.999999999Z":
        return _LATEST
    raise ValueError(f"cannot parse {quote(text)} to a valid timestamp")


def parse_step(text: str) -> int:
    """Nanoseconds of a number of seconds or a duration. Raises ValueError with Prometheus's text."""
    seconds = parse_float(text)
    if seconds is not None:
        if not abs(seconds) * 1000 <= LONGEST:
            raise ValueError(f"cannot parse {quote(text)} to a valid duration. It overflows int64")
        return int(seconds * 1e9)
    try:
        return parse_duration(text) * 1_000_000
    except ValueError:
        raise ValueError(f"cannot parse {quote(text)} to a valid duration") from None


def _time(parameters: Parameters, name: str, default: int | None) -> int:
    text = _value(parameters, name)
    if not text and default is not None:
        return default
    try:
        return parse_time(text)
    except ValueError as error:
        where = "" if default is None else f"Invalid time value for '{name}': "
        raise _invalid(name, f"{where}{error}") from None


def _check_timeout(parameters: Parameters) -> None:
    if text := _value(parameters, "timeout"):
        try:
            timeout = parse_step(text)
        except ValueError as error:
            raise _invalid("timeout", error) from None
        if timeout <= 0:
            raise QueryTimeout("query timed out in query queue")


def _matchers(parameters: Parameters) -> list[tuple[Matcher, ...]]:
    found = [parse_selector(text) for text in parameters.get("match[]", ())]
    for matchers in found:
        if all(matcher.matches("") for matcher in matchers):
            raise BadData("match[] must contain at least one non-empty matcher")
    return found


# --- results ----------------------------------------------------------------------------------------


def instant_of(milliseconds: int) -> float | int:
    """An instant as results write it: seconds."""
    whole, rest = divmod(milliseconds, 1000)
    return whole if not rest else milliseconds / 1000


def _points(times: Times, values: Values) -> list[list[Json]]:
    pairs = zip(times.tolist(), values.tolist(), strict=True)
    return [[instant_of(time), sample(value)] for time, value in pairs]


def data_of(result: Result) -> dict[str, Json]:
    """A result as the API writes it."""
    data: Json
    if result.type == "string":
        data = [instant_of(int(result.series[0][1][0])), result.text]
    elif result.type == "scalar":
        data = _points(*result.series[0][1:])[0]
    elif result.type == "vector":
        data = [
            {"metric": dict(labels), "value": _points(times, values)[0]}
            for labels, times, values in result.series
        ]
    else:
        data = [
            {"metric": dict(labels), "values": _points(times, values)}
            for labels, times, values in result.series
        ]
    return {"resultType": result.type, "result": data}


# --- endpoints --------------------------------------------------------------------------------------


def query(engine: Engine, parameters: Parameters, now_ms: int) -> Response:
    """``/api/v1/query``."""

    def answer() -> Json:
        time = _time(parameters, "time", now_ms)
        _check_timeout(parameters)
        try:
            tree = parse(_value(parameters, "query"))
        except ParseError as error:
            raise _invalid("query", error) from None
        return data_of(engine.evaluate(tree, time))

    return _answered(answer)


def query_range(engine: Engine, parameters: Parameters) -> Response:
    """``/api/v1/query_range``."""

    def answer() -> Json:
        start = _time(parameters, "start", None)
        end = _time(parameters, "end", None)
        if end < start:
            raise _invalid("end", "end timestamp must not be before start time")
        try:
            step = parse_step(_value(parameters, "step"))
        except ValueError as error:
            raise _invalid("step", error) from None
        if step <= 0:
            raise _invalid(
                "step",
                "zero or negative query resolution step widths are not accepted. Try a positive integer",
            )
        points = engine.options.limits.points
        if (end - start) * 1_000_000 // step > points or step < 1_000_000:
            raise BadData(
                f"exceeded maximum resolution of {points:,} points per timeseries. "
                "Try decreasing the query resolution (?step=XX)"
            )
        _check_timeout(parameters)
        return data_of(engine.query_range(_value(parameters, "query"), start, end, step // 1_000_000))

    return _answered(answer)


def series(source: SeriesSource, parameters: Parameters) -> Response:
    """``/api/v1/series``."""

    def answer() -> Json:
        if not parameters.get("match[]"):
            raise BadData("no match[] parameter provided")
        try:
            return [dict(labels) for labels in _selected(source, parameters)]
        except (ParseError, BadData) as error:
            text = str(error)
            raise (error if text.startswith("invalid parameter") else _invalid("match[]", text)) from None

    return _answered(answer)


def labels(source: SeriesSource, parameters: Parameters) -> Response:
    """``/api/v1/labels``."""

    def answer() -> Json:
        return sorted({name for found in _selected(source, parameters) for name, _ in found})

    return _answered(answer)


def label_values(source: SeriesSource, name: str, parameters: Parameters) -> Response:
    """``/api/v1/label/<name>/values``."""

    def answer() -> Json:
        if not _LABEL.fullmatch(name):
            raise BadData(f"invalid label name: {quote(name)}")
        return sorted(
            {value for found in _selected(source, parameters) for key, value in found if key == name}
        )

    return _answered(answer)


def _selected(source: SeriesSource, parameters: Parameters) -> list[Labels]:
    start = _time(parameters, "start", _EARLIEST)
    end = _time(parameters, "end", _LATEST)
    sets: Iterable[tuple[Matcher, ...]] = _matchers(parameters) or [()]
    found: dict[Labels, None] = {}
    for matchers in sets:
        found.update(dict.fromkeys(source.labels(matchers, start, end)))
    return sorted(found)


def metadata(source: SeriesSource, parameters: Parameters) -> Response:
    """``/api/v1/metadata``."""

    def answer() -> Json:
        text = _value(parameters, "limit")
        if text and not re.fullmatch("-?[0-9]{1,9}", text):
            raise BadData("limit must be a number")
        limit = int(text) if text else -1
        wanted = _value(parameters, "metric")
        data: dict[str, Json] = {}
        for name, known in sorted(source.metadata().items()):
            if wanted and name != wanted:
                continue
            if 0 <= limit <= len(data):
                break
            data[name] = [{"type": each.type, "help": each.help, "unit": each.unit} for each in known]
        return data

    return _answered(answer)


@dataclass(frozen=True, slots=True)
class Target:
    """A target that is scraped."""

    pool: str
    url: str
    labels: Labels
    discovered: Labels = ()
    """What it was found with, before relabelling."""
    error: str = ""
    """Of the last scrape; empty where it went well."""
    scraped: str = "0001-01-01T00:00:00Z"
    """When that was, RFC 3339."""
    seconds: float = 0.0
    """How long it took."""
    health: str = "up"
    interval: str = "1m"
    timeout: str = "10s"


def targets(active: Sequence[Target], parameters: Parameters) -> Response:
    """``/api/v1/targets``; what relabelling has dropped is not kept."""
    state = _value(parameters, "state").lower()
    shown = [
        {
            "discoveredLabels": dict(each.discovered),
            "labels": dict(each.labels),
            "scrapePool": each.pool,
            "scrapeUrl": each.url,
            "globalUrl": each.url,
            "lastError": each.error,
            "lastScrape": each.scraped,
            "lastScrapeDuration": each.seconds,
            "health": each.health,
            "scrapeInterval": each.interval,
            "scrapeTimeout": each.timeout,
        }
        for each in active
        if state in ("", "any", "active")
    ]
    return success({"activeTargets": shown, "droppedTargets": []})
