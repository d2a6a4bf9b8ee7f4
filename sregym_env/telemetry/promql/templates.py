"""Templates of alerts: Go's, with Prometheus's functions (``humanize``, ``query``, ...) and ``$labels`` and ``$value``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import re2

from sregym_env.kube.gotemplate import GoTemplate, TemplateError
from sregym_env.telemetry.gotext import parse_float, quote, shown, significant
from sregym_env.telemetry.labels import Labels
from sregym_env.telemetry.promql.durations import parse_duration
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.promql.errors import QueryError

_DEFINITIONS = (
    "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}"
    "{{$externalURL := .ExternalURL}}{{$value := .Value}}"
)
_LARGE = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_SMALL = ("m", "u", "n", "p", "f", "a", "z", "y")
_ADDRESS = re.compile(r"[0-9.]{7,15}|\[?[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\]?")


class LabelMap(dict[str, str]):
    """Labels in a template: one that is not there is empty."""

    def get(self, key: str, default: Any = None) -> Any:
        """The label's value; the default is never asked for."""
        return dict.get(self, key, "")


def expand(source: str, labels: Labels, value: float, engine: Engine, time_ms: int) -> str:
    """An alert's template filled in; one that cannot be says why, as in Prometheus."""
    if "{{" not in source:
        return source
    data = {
        "Labels": LabelMap(labels),
        "ExternalLabels": LabelMap(),
        "ExternalURL": "",
        "Value": value,
    }
    try:
        return expanded(source, data, engine, time_ms)
    except TemplateError as error:
        return f"<error expanding template: {error}>"


def expanded(source: str, data: Mapping[str, Any], engine: Engine, time_ms: int) -> str:
    """A template filled in. Raises TemplateError."""

    def query(text: str) -> list[Any]:
        try:
            result = engine.query(str(text), time_ms)
        except QueryError as error:
            raise TemplateError(f"error calling query: {error}") from None
        if result.type not in ("vector", "scalar"):
            raise TemplateError("error calling query: query result is not a vector or scalar")
        return [
            {"Labels": LabelMap(labels), "Value": float(values[0])} for labels, _, values in result.series
        ]

    functions = {name: _guarded(name, function) for name, function in _FUNCTIONS.items()}
    return GoTemplate(_DEFINITIONS + source, {**functions, "query": _guarded("query", query)}).render(
        dict(data)
    )


def _guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose complaints about arguments of a wrong kind or number are the template's."""

    def run(*given: Any) -> Any:
        try:
            return function(*given)
        except (TypeError, AttributeError, KeyError, IndexError, re.error) as error:
            raise TemplateError(f"error calling {name}: {error}") from None

    return run


def _number(value: Any) -> float:
    if isinstance(value, str):
        found = parse_float(value)
        if found is None:
            raise TemplateError(f"strconv.ParseFloat: parsing {quote(value)}: invalid syntax")
        return found
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TemplateError(f"can't convert {type(value).__name__} to float")
    return float(value)


def _scaled(value: float) -> tuple[float, str]:
    """A number below 1 with the unit that makes it readable."""
    unit = ""
    for each in _SMALL:
        if abs(value) >= 1:
            break
        unit = each
        value *= 1000
    return value, unit


def humanize(given: Any) -> str:
    """A number with a metric unit: ``1.235M``."""
    value = _number(given)
    unit = ""
    if value and math.isfinite(value):
        if abs(value) < 1:
            value, unit = _scaled(value)
        else:
            for each in _LARGE:
                if abs(value) < 1000:
                    break
                unit = each
                value /= 1000
    return significant(value, 4) + unit


def humanize1024(given: Any) -> str:
    """A number with a binary unit: ``128Mi``."""
    value = _number(given)
    unit = ""
    if math.isfinite(value) and abs(value) > 1:
        for each in _LARGE:
            if abs(value) < 1024:
                break
            unit = f"{each}i"
            value /= 1024
    return significant(value, 4) + unit


def humanize_duration(given: Any) -> str:
    """Seconds as a duration: ``1d 2h 3m 4s``."""
    value = _number(given)
    if not math.isfinite(value):
        return significant(value, 4)
    if value and abs(value) < 1:
        value, unit = _scaled(value)
        return f"{significant(value, 4)}{unit}s"
    sign, whole = ("-" if value < 0 else ""), int(abs(value))
    days, hours, minutes, seconds = whole // 86400, whole // 3600 % 24, whole // 60 % 60, whole % 60
    if days:
        return f"{sign}{days}d {hours}h {minutes}m {seconds}s"
    if hours:
        return f"{sign}{hours}h {minutes}m {seconds}s"
    if minutes:
        return f"{sign}{minutes}m {seconds}s"
    return f"{significant(value, 4)}s"


def humanize_percentage(given: Any) -> str:
    """A share as a percentage."""
    return f"{significant(_number(given) * 100, 4)}%"


def humanize_timestamp(given: Any) -> str:
    """Seconds since the epoch as a date."""
    value = _number(given)
    if not math.isfinite(value):
        return significant(value, 4)
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=math.floor(value * 1000))
    except OverflowError:
        raise TemplateError(f"{shown(value)} cannot be represented as a nanoseconds timestamp") from None
    fraction = f".{moment.microsecond:06d}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%d %H:%M:%S}{fraction} +0000 UTC"


def _first(vector: list[Any]) -> Any:
    if not vector:
        raise TemplateError("error calling first: first() called on vector with no elements")
    return vector[0]


def _matches(pattern: str, text: str) -> bool:
    return _searched(pattern).search(text) is not None


def _searched(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise TemplateError(f"error parsing regexp: {error}") from None


def _replaced(pattern: str, template: str, text: str) -> str:
    python = re.sub(r"\$\{?([0-9]+)\}?", r"\\\1", template.replace("\\", r"\\"))
    return str(_searched(pattern).sub(python, text))


def _host(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


def _without_domain(text: str) -> str:
    host, colon, port = text.partition(":") if text.count(":") == 1 else (text, "", "")
    if _ADDRESS.fullmatch(host):
        return text
    return host.partition(".")[0] + colon + port


def _seconds(text: str) -> float:
    try:
        return parse_duration(text) / 1000
    except ValueError as error:
        raise TemplateError(f"error calling parseDuration: {error}") from None


def _title(text: str) -> str:
    return re.sub(r"(?<![\w'])\w", lambda found: found.group().upper(), text)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "humanize": humanize,
    "humanize1024": humanize1024,
    "humanizeDuration": humanize_duration,
    "humanizePercentage": humanize_percentage,
    "humanizeTimestamp": humanize_timestamp,
    "first": _first,
    "label": lambda name, each: each["Labels"].get(name),
    "value": lambda each: each["Value"],
    "strvalue": lambda each: each["Labels"].get("__value__"),
    "sortByLabel": lambda name, vector: sorted(vector, key=lambda each: each["Labels"].get(name)),
    "args": lambda *values: {f"arg{at}": value for at, value in enumerate(values)},
    "toUpper": lambda text: text.upper(),
    "toLower": lambda text: text.lower(),
    "title": _title,
    "match": _matches,
    "reReplaceAll": _replaced,
    "stripPort": _host,
    "stripDomain": _without_domain,
    "parseDuration": _seconds,
    "safeHtml": lambda text: text,
    "externalURL": lambda: "",
    "pathPrefix": lambda: "",
}
