"""Times as people write them for ``date -d`` and ``date -s``: absolute ones, and those so much away from now."""

from __future__ import annotations

import re

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole

LONGEST = 100
"""Characters of a time; nobody writes more."""
LATEST = 7_258_118_400 * SECOND
"""The year 2200: no clock here is set to a later one."""

_SIZES = {
    "sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "fortnight": 1_209_600,
}  # fmt: skip
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_AWAY = re.compile(r"([+-]?)\s*(\d{1,9})\s*([a-z]+)(\s+ago)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?")
_WORDS = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(?:(\d{1,2})\s+([a-z]{3})[a-z]*|([a-z]{3})[a-z]*\s+(\d{1,2}))\b(.*)"
)
_YEAR = re.compile(r"\b(\d{4})\b")


def moment(text: str, now: int) -> int | None:
    """A time, microseconds since the Unix epoch; None for what is not understood."""
    word = text.strip().lower()
    if len(word) > LONGEST:
        return None
    found = _away(word, now)
    if found is None:
        found = _absolute(word, now)
    return found if found is None or 0 <= found <= LATEST else None


def _away(word: str, now: int) -> int | None:
    """``now``, ``tomorrow``, ``-3 days``, ``2 weeks ago 1 hour``."""
    known = {"": 0, "now": 0, "today": 0, "tomorrow": 86_400, "yesterday": -86_400}
    if word in known:
        return now + known[word] * SECOND
    past, at = 0, 0
    word = word.removeprefix("now").strip()
    while at < len(word):
        found = _AWAY.match(word, at)
        size = None if found is None else _SIZES.get(found[3].removesuffix("s"))
        if found is None or size is None:
            return None
        sign = -1 if (found[1] == "-") != bool(found[4]) else 1
        past += sign * whole(found[2], 0) * size
        at = found.end()
        while at < len(word) and word[at].isspace():
            at += 1
    return now + past * SECOND


def _absolute(word: str, now: int) -> int | None:
    """``@1700000000``, ``2026-08-06 12:00:00``, ``12:30``, ``6 aug 2026 12:00:00``, ``thu aug 6 12:00:00 utc 2026``."""
    if word.startswith("@"):
        number = whole(word[1:].partition(".")[0])
        return None if number is None else number * SECOND
    midnight = now // (86_400 * SECOND) * 86_400 * SECOND
    clock = _CLOCK.fullmatch(word)
    if clock:
        return _at(midnight, clock)
    named = _WORDS.fullmatch(word.removesuffix("gmt").removesuffix("utc").strip())
    if named:
        return _named(named, now)
    stamp = re.sub(
        r"\s+",
        "t",
        word.removesuffix("utc").removesuffix("gmt").strip().removesuffix("z").removesuffix("+00:00"),
        count=1,
    )
    day, _, rest = stamp.partition("t")
    found = _CLOCK.fullmatch(rest) if rest else None
    if rest and found is None:
        return None
    try:
        begun = parse_rfc3339(f"{day}T00:00:00Z")
    except ValueError:
        return None
    return begun if found is None else _at(begun, found)


def _at(midnight: int, clock: re.Match[str]) -> int | None:
    hours, minutes, seconds = (whole(part or "0", 0) for part in clock.groups())
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    return midnight + (hours * 3600 + minutes * 60 + seconds) * SECOND


def _named(found: re.Match[str], now: int) -> int | None:
    day, month = (found[1], found[2]) if found[1] else (found[4], found[3])
    if month not in _MONTHS:
        return None
    year, clock = _YEAR.search(found[5]), _CLOCK.search(found[5])
    number = year[1] if year else str(1970 + now // (31_556_952 * SECOND))
    try:
        begun = parse_rfc3339(f"{number}-{_MONTHS.index(month) + 1:02d}-{int(day):02d}T00:00:00Z")
    except ValueError:
        return None
    return begun if clock is None else _at(begun, clock)
