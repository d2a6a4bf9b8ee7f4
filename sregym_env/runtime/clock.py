"""Virtual time as an integer number of microseconds since the Unix epoch.

Integers keep the order of events exact on every machine; floats would not.
"""

from __future__ import annotations

MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
"""Spans of time in microseconds."""

EPOCH = 1_786_010_400 * SECOND
"""The instant at which every embedded cluster's application is deployed: 2026-08-06T10:00:00Z."""


def seconds(value: float) -> int:
    """Convert seconds to microseconds, rounding to the nearest."""
    return round(value * SECOND)
