"""How time passes on a cluster that has its own."""

from __future__ import annotations

import time
from typing import Protocol

from sregym_env.runtime.clock import SECOND


class Clock(Protocol):
    """The cluster's time as this side of the connection can know it."""

    def now(self) -> int:
        """Microseconds since the Unix epoch."""

    def sleep(self, seconds: float) -> None:
        """Wait until that much of the cluster's time has passed."""


class WallClock:
    """The clock on the wall, or one that began with it and runs ``speed`` times as fast (``sregym serve --speed``)."""

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = speed
        self._start = time.time()
        # The clock on the wall may be set while an episode runs; this one only goes on.
        self._began = time.monotonic()

    def now(self) -> int:
        """Microseconds since the Unix epoch."""
        return round((self._start + (time.monotonic() - self._began) * self._speed) * SECOND)

    def sleep(self, seconds: float) -> None:
        """Wait until that much of the cluster's time has passed."""
        time.sleep(max(seconds, 0.0) / self._speed)
