"""What is counted: the rows of the totals, and why they add up.

Totals are integrals over time since the state began. They are exact up to rounding:

- per edge: ``CALLS = OK + GIVEN_UP + SHUNNED + in flight``, and attempts ``CALLS - SHUNNED + RETRIES`` are ``OK + TIMEOUT +
  ERROR + REJECTED + REFUSED +`` attempts in flight;
- per station: ``ARRIVED = COMPLETED + TURNED_AWAY + DROPPED + queue``.
"""

from __future__ import annotations

from enum import IntEnum


class EdgeTotal(IntEnum):
    """Rows per edge. Attempts end as OK, TIMEOUT, ERROR, REJECTED or REFUSED; calls as OK, SHUNNED or GIVEN_UP."""

    CALLS = 0
    """Calls that were wanted: first attempts, and those that a breaker did not let out."""
    RETRIES = 1
    OK = 2
    TIMEOUT = 3
    """Nothing came within the time-out, or there is nobody to answer."""
    ERROR = 4
    """The callee answered with an error."""
    REJECTED = 5
    """The callee's queue was full."""
    REFUSED = 6
    """Nobody listens, or the answer of a dead leg."""
    SHUNNED = 7
    """The breaker was open."""
    LAST_TIMEOUT = 8
    """Calls given up, by the kind of their last attempt."""
    LAST_ERROR = 9
    LAST_REJECTED = 10
    LAST_REFUSED = 11


class StationTotal(IntEnum):
    """Rows per station."""

    ARRIVED = 0
    COMPLETED = 1
    TURNED_AWAY = 2
    """Rejected because the queue was full."""
    DROPPED = 3
    """Cancelled by their callers while they waited."""
    CPU = 4
    """CPU seconds, those of the collector included."""
    GC = 5
    """CPU seconds of the collector."""
    PERIODS = 6
    """CFS periods in which it ran."""
    THROTTLED = 7
    """CFS periods in which the quota ran out."""
    HITS = 8
    MISSES = 9


class OperationTotal(IntEnum):
    """Rows per operation."""

    SERVED = 0
    FAILED = 1
    """Of these, answered with an error."""


EDGE_ROWS = len(EdgeTotal)
STATION_ROWS = len(StationTotal)
OPERATION_ROWS = len(OperationTotal)
