"""How virtual time follows the wall clock.

There is one notion of time: what a world says is what clients see. A world whose present is to be theirs is staged so
(:mod:`~sregym_env.serve.moment`); nothing is translated on its way out or in.
"""

from __future__ import annotations

import time
from typing import Literal

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.embedded import EmbeddedWorld

Mode = Literal["real", "step"]

CATCH_UP = 300 * SECOND
"""Most virtual time made up at once: a computer that slept does not age the cluster by a night."""

PATIENT_READS = 4
"""How often a client may read the same in step mode before it counts as polling. No command of kubectl reads
anything so often without waiting for it."""


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
        self._wall = 0.0
        self._virtual = 0
        self._asked: dict[str, int] = {}
        self.anchor()

    def anchor(self) -> None:
        """Let time pass from the world's present on, whatever passed on the wall before."""
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
            self.anchor()
        elif target > now:
            self.world.run_until(target)

    def ahead(self) -> float:
        """How long on the wall, seconds, until the present of a world that was moved on by hand is reached."""
        if self.mode == "step":
            return 0.0
        passed = (time.monotonic() - self._wall) * self.factor
        return max(0.0, (self.world.now() - self._virtual) / SECOND - passed) / self.factor

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
