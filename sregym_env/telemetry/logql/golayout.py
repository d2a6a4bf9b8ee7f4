"""Instants written and read by Go's reference layouts (``2006-01-02T15:04:05Z07:00``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253_402_300_799
"""The last second of the year 9999."""

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_TOKEN = re.compile(
    r"2006|January|Jan|Monday|Mon|MST|Z07:00|Z0700|-07:00|-0700|-07|[.,](?:0+|9+)(?![0-9])|002|01|02|03|04|05|06|15|PM|pm"
    r"|_2|1|2|3|4|5"
)
_READ = {
    "2006": r"(?P<year>\d{4})", "06": r"(?P<short>\d\d)", "01": r"(?P<month>\d\d)", "1": r"(?P<month>\d\d?)",
    "02": r"(?P<day>\d\d)", "2": r"(?P<day>\d\d?)", "_2": r"(?P<day>[ \d]\d)", "15": r"(?P<hour>\d\d)",
    "03": r"(?P<hour>\d\d)", "3": r"(?P<hour>\d\d?)", "04": r"(?P<minute>\d\d)", "4": r"(?P<minute>\d\d?)",
    "05": r"(?P<second>\d\d)", "5": r"(?P<second>\d\d?)", "PM": r"(?P<half>AM|PM)", "pm": r"(?P<half>am|pm)",
    "Jan": r"(?P<name>[A-Z][a-z]{2})", "January": r"(?P<name>[A-Z][a-z]+)", "Mon": r"[A-Z][a-z]{2}",
    "Monday": r"[A-Z][a-z]+", "MST": r"[A-Z]{3,4}", "Z07:00": r"(?P<zone>Z|[+-]\d\d:\d\d)",
    "Z0700": r"(?P<zone>Z|[+-]\d{4})", "-07:00": r"(?P<zone>[+-]\d\d:\d\d)", "-0700": r"(?P<zone>[+-]\d{4})",
    "-07": r"(?P<zone>[+-]\d\d)", "002": r"\d{3}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Instant:
    """A ``time.Time``: nanoseconds since the epoch, and the name of the zone in which it is written."""

    nanoseconds: int
    zone: str = "UTC"

    def __str__(self) -> str:
        return self.format("2006-01-02 15:04:05.999999999 -0700 MST")

    def format(self, layout: str) -> str:
        """The instant by a layout."""
        seconds, fraction = divmod(self.nanoseconds, 1_000_000_000)
        moment = (_EPOCH + timedelta(seconds=min(max(seconds, -62_135_596_800), _LAST))).astimezone(
            _zone(self.zone)
        )
        return _TOKEN.sub(lambda found: _written(found[0], moment, fraction), layout)


_ZONE = re.compile(r"[A-Z][A-Za-z0-9_+-]{0,30}(?:/[A-Z][A-Za-z0-9_+-]{0,30}){0,2}\Z")


def _zone(name: str) -> tzinfo:
    """A zone by its name; UTC for none that is known, as Loki has it."""
    if name in ("UTC", "Local") or not _ZONE.match(name):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def _written(token: str, moment: datetime, fraction: int) -> str:
    if token[0] in ".," and len(token) > 1:
        digits = f"{fraction:09d}"[: len(token) - 1]
        if token[1] == "9":
            digits = digits.rstrip("0")
        return token[0] + digits if digits else ""
    offset = moment.utcoffset() or timedelta()
    minutes = int(offset.total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    hours, rest = divmod(abs(minutes), 60)
    half = moment.hour % 12 or 12
    match token:
        case "Z07:00" | "Z0700" if not minutes:
            return "Z"
        case "Z07:00" | "-07:00":
            return f"{sign}{hours:02d}:{rest:02d}"
        case "Z0700" | "-0700":
            return f"{sign}{hours:02d}{rest:02d}"
        case "-07":
            return f"{sign}{hours:02d}"
    return {
        "2006": f"{moment.year:04d}", "06": f"{moment.year % 100:02d}", "01": f"{moment.month:02d}",
        "1": str(moment.month), "Jan": _MONTHS[moment.month - 1][:3], "January": _MONTHS[moment.month - 1],
        "02": f"{moment.day:02d}", "2": str(moment.day), "_2": f"{moment.day:2d}",
        "002": f"{moment.timetuple().tm_yday:03d}", "Mon": _DAYS[moment.weekday()][:3],
        "Monday": _DAYS[moment.weekday()], "15": f"{moment.hour:02d}", "03": f"{half:02d}", "3": str(half),
        "04": f"{moment.minute:02d}", "4": str(moment.minute), "05": f"{moment.second:02d}", "5": str(moment.second),
        "PM": "PM" if moment.hour >= 12 else "AM", "pm": "pm" if moment.hour >= 12 else "am",
        "MST": moment.tzname() or "UTC",
    }[token]  # fmt: skip


def parse_instant(layout: str, text: str, zone: str = "UTC") -> Instant | None:
    """The instant of a text by a layout, or None where it does not fit."""
    pattern, at = "", 0
    names: set[str] = set()
    for found in _TOKEN.finditer(layout):
        token = found[0]
        piece = r"(?P<fraction>[.,]\d{1,9})?" if token[0] in ".," else _READ[token]
        name = piece[4 : piece.index(">")] if piece.startswith("(?P<") else token
        if name in names:
            # Nobody writes an hour twice, and many pieces of one kind would match in very many ways.
            return None
        names.add(name)
        pattern += re.escape(layout[at : found.start()]) + piece
        at = found.end()
    pattern += re.escape(layout[at:])
    # A text may have a fraction of seconds that its layout does not name.
    if "second" in names and "fraction" not in names:
        pattern = re.sub(r"(\(\?P<second>[^)]*\))", r"\1(?P<fraction>\\.\\d{1,9})?", pattern, count=1)
    match = re.fullmatch(pattern, text, re.ASCII)
    if match is None:
        return None
    got = {name: value for name, value in match.groupdict().items() if value is not None}
    month = int(got.get("month", "1"))
    if "name" in got:
        month = next((i + 1 for i, each in enumerate(_MONTHS) if each.startswith(got["name"])), 0)
    year = int(got["year"]) if "year" in got else _century(int(got["short"])) if "short" in got else 1
    hour = int(got.get("hour", "0"))
    if "half" in got:
        hour = hour % 12 + (12 if got["half"].lower() == "pm" else 0)
    try:
        moment = datetime(
            year, month, int(got.get("day", "1")), hour, int(got.get("minute", "0")), int(got.get("second", "0")),
            tzinfo=_offset(got["zone"]) if "zone" in got else _zone(zone),
        )  # fmt: skip
    except ValueError:
        return None
    passed = moment - _EPOCH
    nanoseconds = int(got.get("fraction", ".0")[1:].ljust(9, "0"))
    return Instant((passed.days * 86_400 + passed.seconds) * 1_000_000_000 + nanoseconds, zone)


def _century(year: int) -> int:
    return year + (1900 if year >= 69 else 2000)


def _offset(text: str) -> tzinfo:
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))
