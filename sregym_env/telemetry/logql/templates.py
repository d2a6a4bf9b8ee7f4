"""Templates of ``line_format`` and ``label_format``: Go's, with the functions that Loki adds (its own and sprig's)."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn
from urllib.parse import quote_plus, unquote_plus

from sregym_env.kube.gotemplate import MAX_TEXT, GoTemplate, TemplateError, truth
from sregym_env.runtime import effort
from sregym_env.telemetry.logql.errors import QueryError
from sregym_env.telemetry.logql.golayout import Instant, parse_instant
from sregym_env.telemetry.logql.regexes import compiled
from sregym_env.telemetry.logql.row import Row
from sregym_env.telemetry.logql.units import SECOND, parse_bytes, parse_go_duration, parse_whole


class _Labels(dict[str, str]):
    """Labels of a line; one that is not there is empty, as in a Go map of strings."""

    def get(self, name: str, default: Any = "") -> Any:
        return dict.get(self, name, "")


class Template:
    """A compiled template and the line that it is filled for."""

    __slots__ = ("_row", "_template")

    def __init__(self, source: str, name: str, now: int) -> None:
        """``name`` is what errors call it; ``now`` what its clock shows (nanoseconds). Raises TemplateError."""
        self._row: Row | None = None
        own: dict[str, Callable[..., Any]] = {
            "__line__": lambda: self._row.line if self._row else "",
            "__timestamp__": lambda: Instant(self._row.time if self._row else 0),
            "now": lambda: Instant(now),
        }
        try:
            self._template = GoTemplate(source, {**_FUNCTIONS, **own}, name)
        except RecursionError:
            raise TemplateError(f"template: {name}:1: expression is nested too deeply") from None

    def render(self, row: Row) -> str:
        """The template filled for a line. Raises TemplateError."""
        self._row = row
        try:
            return self._template.render(_Labels(row.all()))
        except RecursionError:
            raise TemplateError("expression is nested too deeply") from None


# --- texts --------------------------------------------------------------------------------------------


def _too_long() -> NoReturn:
    raise TemplateError("the template's output is too long")


def _trunc(count: int, text: str) -> str:
    if count < 0 and len(text) + count > 0:
        return text[count:]
    return text[:count] if 0 <= count < len(text) else text


def _substr(start: int, end: int, text: str) -> str:
    if start < 0:
        return text[: max(end, 0)]
    return text[start:] if end < 0 or end > len(text) else text[start:end]


def _repeat(count: int, text: str) -> str:
    if count < 0:
        raise ValueError("strings: negative Repeat count")
    if count * len(text) > MAX_TEXT:
        _too_long()
    return text * count


def _indent(count: int, text: str) -> str:
    if count < 0:
        raise ValueError("strings: negative Repeat count")
    if count * (text.count("\n") + 1) > MAX_TEXT:
        _too_long()
    pad = " " * count
    return pad + text.replace("\n", f"\n{pad}")


def _align(count: int, text: str, right: bool) -> str:
    if not 0 <= count <= MAX_TEXT:
        return text
    if len(text) >= count:
        return text[len(text) - count :] if right else text[:count]
    return text.rjust(count) if right else text.ljust(count)


def _replace(text: str, old: str, new: str, count: int) -> str:
    times = text.count(old) if old else len(text) + 1
    if len(text) + times * len(new) > MAX_TEXT:
        _too_long()
    return text.replace(old, new, count)


MATCH_EFFORT = 12.0
"""What each match of a pattern within a text costs (units of ``runtime/effort.py``)."""


def _matches(pattern: str, text: str) -> int:
    count = 0
    for _ in compiled(pattern).finditer(text):
        effort.spend(MATCH_EFFORT)
        count += 1
    return count


_DOLLAR = re.compile(r"\$(?:(\$)|\{(\w+)\}|(\w+))", re.ASCII)


def _replace_all(pattern: str, text: str, replacement: str, literal: bool) -> str:
    out: list[str] = []
    at = size = 0
    matcher = compiled(pattern)
    for found in matcher.finditer(text):
        effort.spend(MATCH_EFFORT)
        if literal:
            new = replacement
        else:
            new = expand(replacement, found)
        out += [text[at : found.start()], new]
        at = found.end()
        size += len(new)
        if size > MAX_TEXT:
            _too_long()
    return "".join(out) + text[at:]


def expand(replacement: str, found: Any) -> str:
    """``$1`` and ``${name}`` in a replacement, as Go's ``Regexp.Expand`` fills them. Raises TemplateError where it is
    too long."""
    groups = found.re.groups
    names = found.re.groupindex
    longest = max((len(found.group(index) or "") for index in range(groups + 1)), default=0)
    if len(replacement) + replacement.count("$") * longest > MAX_TEXT:
        _too_long()

    def fill(match: re.Match[str]) -> str:
        if match[1]:
            return "$"
        name = match[2] or match[3]
        if name.isdigit():
            return (found.group(int(name)) or "") if len(name) < 5 and int(name) <= groups else ""
        return (found.group(name) or "") if name in names else ""

    return _DOLLAR.sub(fill, replacement)


# --- numbers ------------------------------------------------------------------------------------------


def _int(value: Any) -> int:
    """A whole number of 64 bits; 0 for what is none, as sprig has it."""
    if isinstance(value, float):
        return _wrapped(int(value)) if math.isfinite(value) else 0
    if isinstance(value, int):
        return _wrapped(value)
    try:
        return parse_whole(value) if isinstance(value, str) else 0
    except ValueError:
        return 0


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _float(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value) if isinstance(value, str) and "_" not in value and len(value) < 400 else 0.0
    except ValueError:
        return 0.0


def _fold(values: tuple[Any, ...], combine: Callable[[Any, Any], Any], convert: Callable[[Any], Any]) -> Any:
    result = convert(values[0])
    for value in values[1:]:
        result = combine(result, convert(value))
    return _wrapped(result) if isinstance(result, int) else result


def _div(a: Any, b: Any) -> int:
    dividend, divisor = _int(a), _int(b)
    if not divisor:
        raise ValueError("runtime error: integer divide by zero")
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _divf(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if not a else math.copysign(math.inf, a)


def _round(value: Any, places: int, half: Any = 0.5) -> float:
    if not 0 <= places <= 15:
        raise ValueError("places out of range")
    power = 10.0**places
    scaled = _float(value) * power
    whole = math.floor(scaled)
    return (whole + 1 if scaled - whole >= _float(half) else whole) / power


def _seconds(text: str) -> float:
    return parse_go_duration(text) / SECOND


# --- everything else ----------------------------------------------------------------------------------


def _instant(value: Any) -> Instant:
    if isinstance(value, Instant):
        return value
    if isinstance(value, int):
        return Instant(value * SECOND)
    raise ValueError("wrong type for value; expected time.Time")


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        return "illegal base64 data at input byte 0"


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _default(fallback: Any, *given: Any) -> Any:
    return given[0] if given and truth(given[0]) else fallback


def _title(text: str) -> str:
    return re.sub(r"(?<!\w)\w", lambda found: found[0].upper(), text)


def _to_date(layout: str, text: str, zone: str = "UTC") -> Instant:
    return parse_instant(layout, text, zone) or Instant(-62_135_596_800 * SECOND)


_EPOCHS = {5: 86_400 * SECOND, 10: SECOND, 13: 1_000_000, 16: 1000, 19: 1}
"""Nanoseconds of a unit by the digits that a time in it has today: days, seconds and their fractions."""


def _unix_to_time(text: str) -> Instant:
    unit = _EPOCHS.get(len(text))
    if unit is None:
        raise ValueError(f"unable to parse time '{text}': incorrect timestamp length")
    return Instant(parse_whole(text) * unit)


_PLAIN: Mapping[str, Callable[..., Any]] = {
    "ToLower": lambda text: text.lower(),
    "ToUpper": lambda text: text.upper(),
    "Replace": _replace,
    "Trim": lambda text, cut: text.strip(cut) if cut else text,
    "TrimLeft": lambda text, cut: text.lstrip(cut) if cut else text,
    "TrimRight": lambda text, cut: text.rstrip(cut) if cut else text,
    "TrimPrefix": lambda text, prefix: text.removeprefix(prefix),
    "TrimSuffix": lambda text, suffix: text.removesuffix(suffix),
    "TrimSpace": lambda text: text.strip(),
    "alignLeft": lambda count, text: _align(count, text, False),
    "alignRight": lambda count, text: _align(count, text, True),
    "regexReplaceAll": lambda pattern, text, new: _replace_all(pattern, text, new, False),
    "regexReplaceAllLiteral": lambda pattern, text, new: _replace_all(pattern, text, new, True),
    "count": _matches,
    "urldecode": lambda text: unquote_plus(text),
    "urlencode": lambda text: quote_plus(text),
    "bytes": lambda text: float(parse_bytes(text)),
    "duration": _seconds,
    "duration_seconds": _seconds,
    "unixEpoch": lambda date: str(_instant(date).nanoseconds // SECOND),
    "unixEpochMillis": lambda date: str(_instant(date).nanoseconds // 1_000_000),
    "unixEpochNanos": lambda date: str(_instant(date).nanoseconds),
    "unixToTime": _unix_to_time,
    "toDateInZone": lambda layout, zone, text: _to_date(layout, text, zone),
    "toDate": lambda layout, text: _to_date(layout, text),
    "date": lambda layout, date: _instant(date).format(layout),
    "b64enc": lambda text: base64.b64encode(text.encode()).decode(),
    "b64dec": _decoded,
    "lower": lambda text: text.lower(),
    "upper": lambda text: text.upper(),
    "title": _title,
    "trunc": _trunc,
    "substr": _substr,
    "contains": lambda part, text: part in text,
    "hasPrefix": lambda prefix, text: text.startswith(prefix),
    "hasSuffix": lambda suffix, text: text.endswith(suffix),
    "indent": _indent,
    "nindent": lambda count, text: "\n" + _indent(count, text),
    "replace": lambda old, new, text: _replace(text, old, new, -1),
    "repeat": _repeat,
    "trim": lambda text: text.strip(),
    "trimAll": lambda cut, text: text.strip(cut) if cut else text,
    "trimSuffix": lambda suffix, text: text.removesuffix(suffix),
    "trimPrefix": lambda prefix, text: text.removeprefix(prefix),
    "int": _int,
    "float64": _float,
    "add": lambda *values: _fold(values, lambda a, b: a + b, _int),
    "sub": lambda a, b: _wrapped(_int(a) - _int(b)),
    "mul": lambda *values: _fold(values, lambda a, b: _wrapped(a * b), _int),
    "div": _div,
    "mod": lambda a, b: _int(a) - _div(a, b) * _int(b),
    "addf": lambda *values: _fold(values, lambda a, b: a + b, _float),
    "subf": lambda *values: _fold(values, lambda a, b: a - b, _float),
    "mulf": lambda *values: _fold(values, lambda a, b: a * b, _float),
    "divf": lambda *values: _fold(values, _divf, _float),
    "max": lambda *values: max(map(_int, values)),
    "min": lambda *values: min(map(_int, values)),
    "maxf": lambda *values: max(map(_float, values)),
    "minf": lambda *values: min(map(_float, values)),
    "ceil": lambda value: float(math.ceil(_float(value))),
    "floor": lambda value: float(math.floor(_float(value))),
    "round": _round,
    "fromJson": _from_json,
    "default": _default,
}


def _guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose complaints are a template's."""

    def call(*values: Any) -> Any:
        try:
            return function(*values)
        except TemplateError:
            raise
        except (TypeError, AttributeError):
            raise TemplateError(f"error calling {name}: wrong number or type of arguments") from None
        except (ValueError, OverflowError, IndexError, QueryError) as error:
            raise TemplateError(f"error calling {name}: {error}") from None

    return call


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {name: _guarded(name, each) for name, each in _PLAIN.items()}
