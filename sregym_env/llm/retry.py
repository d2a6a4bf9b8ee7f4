"""When to try again, and after how long. Pure: the wall clock and the dice are the caller's."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from pydantic import Field

from sregym_env.llm.messages import Frozen

RETRIED = frozenset({408, 409, 429})
"""Statuses below 500 that are tried again."""

JITTER = 0.25
"""The part of a pause that is up to chance, so that clients that failed together do not come back together."""


class Retry(Frozen):
    """How stubborn a client is."""

    attempts: int = Field(default=4, ge=1)
    """HTTP requests for one question, the first one included."""
    total_seconds: float = Field(default=90.0, ge=0)
    """From the first request on: later than this none is begun. A pause that would end later is not begun either."""
    first_seconds: float = Field(default=0.5, ge=0)
    """The first pause; every further one is twice as long."""
    longest_seconds: float = Field(default=8.0, ge=0)
    """The longest pause that is not the server's own wish."""

    def pause(self, failures: int, wished: float | None, draw: float) -> float:
        """Seconds to wait after so many failures; ``wished`` by the server, ``draw`` in [0, 1)."""
        if wished is not None:
            return wished
        doubled = self.first_seconds * 2.0 ** min(failures - 1, 60)
        return min(doubled, self.longest_seconds) * (1 - JITTER * draw)


def worth_retrying(status: int, headers: Mapping[str, str]) -> bool:
    """Whether a status may be another one next time. A server that knows says so itself."""
    told = headers.get("x-should-retry", "").strip().lower()
    if told in {"true", "false"}:
        return told == "true"
    return status in RETRIED or status >= 500


def wished_pause(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the server asks to wait, from ``Retry-After`` (seconds or a date); None if it does not.

    ``now`` is the wall clock, in seconds since 1970.
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        try:
            seconds = float(text) * scale
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now)
    except (ValueError, OverflowError):
        return None
