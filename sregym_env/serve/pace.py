"""Time at the boundary: how virtual time follows the wall clock, and timestamps in both worlds.

Clients compute ages with their own clock. So timestamps are shifted by a fixed number of seconds on the
way out, and shifted back where clients send them (``kubectl.kubernetes.io/restartedAt``, ``sinceTime``).
"""

from __future__ import annotations

import re
import time
from functools import lru_cache
from typing import Literal

from sregym_env.kube import durations
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.embedded import EmbeddedWorld

Mode = Literal["real", "step"]

CATCH_UP = 300 * SECOND
"""Most virtual time made up at once: a computer that slept does not age the cluster by a night."""

PATIENT_READS = 4
"""How often a client may read the same in step mode before it counts as polling. No command of kubectl reads
anything so often without waiting for it."""

_WHOLE = re.compile(rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)((?:\.\d+)?Z)"')
"""A JSON string that is a timestamp and nothing else."""

_ANYWHERE = re.compile(rb"\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?=[.,]\d|Z|[+-]00:00|\s|$)")
"""A timestamp in running text, as log lines carry it."""


class Pace:
    """Drives a world's clock.

    In ``real`` mode virtual time passes ``factor`` times as fast as wall time; in ``step`` mode it stands
    still except while somebody waits: it runs to the next thing that happens while there is a watch with a
    time limit, and by a second each time somebody polls.
    """

    def __init__(self, world: EmbeddedWorld, mode: Mode = "real", factor: float = 1.0) -> None:
        self.world = world
        self.mode = mode
        self.factor = factor
        self.offset = 0
        self._wall = 0.0
        self._virtual = 0
        self._asked: dict[str, int] = {}
        self.anchor()

    def anchor(self) -> None:
        """Let the present of both clocks be the same moment from now on."""
        # In whole seconds: hardly any timestamp has a fraction that could be shifted.
        self.offset = int(time.time()) - self.world.now() // SECOND
        self._hold()

    def _hold(self) -> None:
        self._wall = time.monotonic()
        self._virtual = self.world.now()

    def sync(self) -> None:
        """Bring the world to the present."""
        if self.mode == "step":
            return
        target = self._virtual + int((time.monotonic() - self._wall) * self.factor * SECOND)
        now = self.world.now()
        if target - now > CATCH_UP:
            target = now + CATCH_UP
            self.world.run_until(target)
            # What is more than can be made up for is given up, or the next call would go on with it.
            self._hold()
        elif target > now:
            self.world.run_until(target)

    def asked(self, question: str) -> None:
        """Note a read in step mode: who asks the same again and again is waiting, and gets a second."""
        if self.mode != "step":
            return
        self._asked[question] = self._asked.get(question, 0) + 1
        if self._asked[question] > PATIENT_READS:
            self.world.advance(1.0)

    def waited(self, seconds: float) -> None:
        """Somebody who is attached has waited: in step mode, run to the next event, at most ``seconds`` * 10."""
        if self.mode == "step":
            self.skip(self.world.now() + round(seconds * 10 * SECOND))

    def acted(self) -> None:
        """Note a write: what was asked before it does not count as waiting."""
        self._asked.clear()

    def skip(self, until: int) -> bool:
        """In step mode: run to the next event, at most to ``until``; whether the limit was reached."""
        due = self.world.queue.next_time()
        if due is None or due >= until:
            self.world.run_until(max(until, self.world.now()))
            return True
        self.world.run_until(max(due, self.world.now()))
        return False

    # --- timestamps -------------------------------------------------------------------------------

    def outward(self, body: bytes) -> bytes:
        """A JSON document with its timestamps moved to the client's time."""
        return _shifted(_WHOLE, body, self.offset) if self.offset else body

    def inward(self, body: bytes) -> bytes:
        """A JSON document from a client with its timestamps moved to virtual time."""
        return _shifted(_WHOLE, body, -self.offset) if self.offset else body

    def outward_text(self, text: bytes) -> bytes:
        """Log lines or a program's output with timestamps moved to the client's time."""
        if not self.offset:
            return text
        return _ANYWHERE.sub(lambda found: _moved(found[1], self.offset), text)

    def virtual(self, stamp: str) -> int:
        """A client's RFC 3339 timestamp as virtual microseconds. Raises ValueError."""
        return durations.parse_rfc3339(stamp) - self.offset * SECOND


def _shifted(pattern: re.Pattern[bytes], body: bytes, seconds: int) -> bytes:
    return pattern.sub(lambda found: b'"' + _moved(found[1], seconds) + found[2] + b'"', body)


@lru_cache(maxsize=8192)
def _moved(stamp: bytes, seconds: int) -> bytes:
    text = stamp.decode()
    if text.startswith("1970-01-01"):
        return stamp  # no moment, but Unix time zero: what never started
    try:
        micros = durations.parse_rfc3339(text.replace(" ", "T") + "Z")
    except ValueError:
        return stamp
    moved = durations.rfc3339(micros + seconds * SECOND)[:19]
    return (moved.replace("T", " ") if " " in text else moved).encode()
