"""Prometheus's durations (``1h30m``), in milliseconds."""

from __future__ import annotations

import re

from sregym_env.telemetry.gotext import quote

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY
YEAR = 365 * DAY

LONGEST = (1 << 63) // 1_000_000
"""Milliseconds in the longest ``time.Duration``."""

_DURATION = re.compile(
    r"(?:([0-9]+)y)?(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?(?:([0-9]+)ms)?"
)
_UNITS = (("y", YEAR), ("w", WEEK), ("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", SECOND), ("ms", 1))


def parse_duration(text: str) -> int:
    """Milliseconds of a duration. Raises ValueError with Prometheus's text."""
    if text == "0":
        return 0
    if not text:
        raise ValueError("empty duration string")
    found = _DURATION.fullmatch(text) if len(text) <= 64 else None
    if found is None:
        raise ValueError(f"not a valid duration string: {quote(text)}")
    total = sum(int(part) * size for part, (_, size) in zip(found.groups(), _UNITS, strict=True) if part)
    if total >= LONGEST:
        raise ValueError("duration out of range")
    return total


def duration_text(milliseconds: int) -> str:
    """A duration as Prometheus prints it: ``1h30m``; years and weeks only where nothing is left of them."""
    left = abs(milliseconds)
    if not left:
        return "0s"
    out = "-" if milliseconds < 0 else ""
    for unit, size in _UNITS:
        if unit in ("y", "w") and left % size:
            continue
        if left >= size:
            out += f"{left // size}{unit}"
            left %= size
    return out
