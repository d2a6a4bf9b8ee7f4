"""Points and spans of time."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sregym_env.kube import durations
from sregym_env.kube.cel.errors import CelError
from sregym_env.kube.cel.overloads import Overloads
from sregym_env.kube.cel.values import Duration, Timestamp

_NS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"h": 3600 * _NS, "m": 60 * _NS, "s": _NS, "ms": 1_000_000, "us": 1000, "µs": 1000, "ns": 1}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|us|µs|ns|m|s)")


def timestamp(text: str) -> Timestamp:
    """``timestamp("2020-01-01T00:00:00Z")``. Raises CelError."""
    try:
        return Timestamp(durations.parse_rfc3339(text) * 1000)
    except ValueError:
        quoted = f'"{text}"'
        raise CelError(
            f'parsing time {quoted} as "2006-01-02T15:04:05Z07:00": cannot parse {quoted} as "2006"'
        ) from None


def duration(text: str) -> Duration:
    """``duration("1h30m")``. Raises CelError."""
    body = text.lstrip("+-")
    if body == "0":
        return Duration(0)
    total, at = 0, 0
    while at < len(body):
        match = _PART.match(body, at)
        if match is None:
            break
        whole, _, fraction = match[1].partition(".")
        unit = _UNITS[match[2]]
        total += int(whole or "0") * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        at = match.end()
    if not body or at < len(body):
        raise CelError(f'time: invalid duration "{text}"')
    return Duration(-total if text.startswith("-") else total)


def _local(moment: Timestamp, zone: str = "UTC") -> datetime:
    at = _EPOCH + timedelta(microseconds=moment.ns // 1000)
    match = re.fullmatch(r"([+-]?)(\d\d):(\d\d)", zone)
    if match is not None:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return at.astimezone(timezone(-offset if match[1] == "-" else offset))
    if zone in ("UTC", ""):
        return at
    try:
        return at.astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError):
        raise CelError(f"unknown time zone {zone}") from None


_PARTS: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda d: d.year,
    "getMonth": lambda d: d.month - 1,
    "getDate": lambda d: d.day,
    "getDayOfMonth": lambda d: d.day - 1,
    "getDayOfWeek": lambda d: d.isoweekday() % 7,
    "getDayOfYear": lambda d: d.timetuple().tm_yday - 1,
    "getHours": lambda d: d.hour,
    "getMinutes": lambda d: d.minute,
    "getSeconds": lambda d: d.second,
    "getMilliseconds": lambda d: d.microsecond // 1000,
}


def _part(part: Callable[[datetime], int]) -> Callable[..., Any]:
    def run(moment: Timestamp, zone: str = "UTC") -> int:
        return part(_local(moment, zone))

    return run


def _whole(ns: int, unit: int) -> int:
    """Division that truncates, as Go's conversion of a float does."""
    return ns // unit if ns >= 0 else -(-ns // unit)


def register(table: Overloads) -> None:
    """Add the functions to a table."""
    table.function("timestamp", ("string",), "timestamp", timestamp)
    table.function("timestamp", ("timestamp",), "timestamp", lambda a: a)
    table.function("timestamp", ("int",), "timestamp", lambda a: Timestamp(a * _NS))
    table.function("duration", ("string",), "duration", duration)
    table.function("duration", ("duration",), "duration", lambda a: a)
    table.function("duration", ("int",), "duration", Duration)
    for name, part in _PARTS.items():
        table.method(name, ("timestamp",), "int", _part(part))
        table.method(name, ("timestamp", "string"), "int", _part(part))
    for name, unit in (("getHours", 3600 * _NS), ("getMinutes", 60 * _NS), ("getSeconds", _NS)):
        table.method(name, ("duration",), "int", lambda a, unit=unit: _whole(a.ns, unit))
    table.method("getMilliseconds", ("duration",), "int", lambda a: _whole(a.ns, 1_000_000) % 1000)
