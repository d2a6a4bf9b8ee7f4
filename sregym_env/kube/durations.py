"""Durations and timestamps as Go and Kubernetes write them.

Instants are integers: microseconds since the Unix epoch, UTC. Durations are integers in nanoseconds
for Go's ``time.Duration`` texts and seconds for the ages that kubectl prints.
"""

from __future__ import annotations

import re
from functools import lru_cache

SECOND_US = 1_000_000
"""Microseconds in a second."""

_UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)([^\d.]*)")


def parse_duration(text: str) -> int:
    """Nanoseconds of a Go duration (``1h15m30.918s``, ``-5m``, ``0``).

    Raises ValueError with the text of Go's ``time.ParseDuration``.
    """
    body = text
    sign = 1
    if body[:1] in ("+", "-"):
        sign = -1 if body[0] == "-" else 1
        body = body[1:]
    if body == "0":
        return 0
    if not body:
        raise ValueError(f'time: invalid duration "{text}"')
    total = 0
    position = 0
    while position < len(body):
        part = _PART.match(body, position)
        if part is None:
            raise ValueError(f'time: invalid duration "{text}"')
        number, unit = part.groups()
        if not unit:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS_NS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        whole, _, fraction = number.partition(".")
        scale = _UNITS_NS[unit]
        total += int(whole or 0) * scale
        if fraction:
            total += int(fraction) * scale // 10 ** len(fraction)
        position = part.end()
    return sign * total


def format_duration(nanoseconds: int) -> str:
    """A duration as Go's ``time.Duration.String`` prints it (``1h15m30.918s``, ``0s``, ``1.5ms``)."""
    if nanoseconds == 0:
        return "0s"
    sign, value = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if value < 1_000:
        return f"{sign}{value}ns"
    if value < 1_000_000:
        return f"{sign}{_decimal(value, 3)}µs"
    if value < 1_000_000_000:
        return f"{sign}{_decimal(value, 6)}ms"
    seconds_ns = value % 60_000_000_000
    minutes = value // 60_000_000_000
    text = f"{_decimal(seconds_ns, 9)}s"
    if minutes:
        text = f"{minutes % 60}m{text}"
        if minutes >= 60:
            text = f"{minutes // 60}h{text}"
    return sign + text


def _decimal(value: int, digits: int) -> str:
    whole, fraction = divmod(value, 10**digits)
    if not fraction:
        return str(whole)
    return f"{whole}." + f"{fraction:0{digits}d}".rstrip("0")


def human_duration(seconds: float) -> str:
    """An age as kubectl prints it (``k8s.io/apimachinery/pkg/util/duration.HumanDuration``).

    A few seconds of clock skew count as zero; anything further in the future is ``<invalid>``.
    """
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 120:
        return f"{whole}s"
    minutes = whole // 60
    if minutes < 10:
        rest = whole % 60
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours = whole // 3600
    if hours < 8:
        rest = minutes % 60
        return f"{hours}h{rest}m" if rest else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        rest = hours % 24
        return f"{hours // 24}d{rest}h" if rest else f"{hours // 24}d"
    if hours < 24 * 365 * 2:
        return f"{hours // 24}d"
    if hours < 24 * 365 * 8:
        rest = hours // 24 % 365
        years = hours // 24 // 365
        return f"{years}y{rest}d" if rest else f"{years}y"
    return f"{hours // 24 // 365}y"


# --- instants -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _date(days: int) -> str:
    # Civil date from days since 1970-01-01 (Howard Hinnant's algorithm): valid for every year.
    days += 719_468
    era = days // 146_097
    day_of_era = days - era * 146_097
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_index = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_index + 2) // 5 + 1
    month = month_index + 3 if month_index < 10 else month_index - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    return f"{year:04d}-{month:02d}-{day:02d}T"


@lru_cache(maxsize=8192)
def _seconds_text(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    minutes, second = divmod(rest, 60)
    return f"{_date(days)}{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"


def rfc3339(us: int) -> str:
    """``2026-08-06T12:00:00Z``: how ``metav1.Time`` is written."""
    return _seconds_text(us // SECOND_US) + "Z"


def rfc3339_micro(us: int) -> str:
    """``2026-08-06T12:00:00.000000Z``: how ``metav1.MicroTime`` is written."""
    seconds, micro = divmod(us, SECOND_US)
    return f"{_seconds_text(seconds)}.{micro:06d}Z"


def rfc3339_nano(us: int) -> str:
    """``2026-08-06T12:00:00.12Z``: Go's ``time.RFC3339Nano``, trailing zeros dropped."""
    seconds, micro = divmod(us, SECOND_US)
    fraction = f".{micro:06d}".rstrip("0") if micro else ""
    return f"{_seconds_text(seconds)}{fraction}Z"


_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))\Z"
)


@lru_cache(maxsize=8192)
def parse_rfc3339(text: str) -> int:
    """Microseconds since the epoch of an RFC 3339 timestamp.

    Raises ValueError worded as Go's ``time.Parse``.
    """
    found = _TIMESTAMP.match(text)
    if found is None:
        layout = "2006-01-02T15:04:05Z07:00"
        raise ValueError(f'parsing time "{text}" as "{layout}": cannot parse "{text}" as "2006"')
    year, month, day, hour, minute, second = (int(g) for g in found.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 60):
        raise ValueError(f'parsing time "{text}": day out of range')
    micro = int((found.group(7) or "0")[:6].ljust(6, "0"))
    seconds = _days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    if found.group(9):
        offset = int(found.group(10)) * 3600 + int(found.group(11)) * 60
        seconds -= offset if found.group(9) == "+" else -offset
    return seconds * SECOND_US + micro


def _days(year: int, month: int, day: int) -> int:
    year -= month <= 2
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468
