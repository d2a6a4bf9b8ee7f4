"""Staging a world whose present is the present on the wall.

A served cluster is looked at by clients with clocks of their own, which compute ages, issue certificates and read dates in
logs. So its time is the time on the wall, and nothing is translated on the way. A world has a past that ends when it
ends, some hours after the instant it is set from; so it is staged once to see how long that is, and again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sregym_env.runtime.clock import HOUR, SECOND
from sregym_env.sim.embedded import EmbeddedWorld

FIRST_GUESS = 2 * HOUR
"""How long after the instant that its clock is set from a staged world is looked at, before anything is known of it."""

EARLY = 2 * SECOND
"""How far in the past a world may be when it is staged, beside what the staging takes: it is run to the present."""

TRIES = 4
"""How often a world is staged at most; what is drawn by the time of day may move its end."""


def caught_up(world: EmbeddedWorld) -> None:
    """Run a world that is behind the wall to the present."""
    world.run_until(max(world.now(), wall()))


def wall() -> int:
    """The time on the wall, microseconds since 1970."""
    return time.time_ns() // 1000


def staged_now(stage: Callable[[int], int]) -> int:
    """Stage a world that ends a little before now; returns the instant that its clock was set from.

    ``stage`` makes a world from such an instant and returns the world's present. The last one it makes is the one to
    take: never in the future, except where its end will not keep still.
    """
    present = (wall() - FIRST_GUESS) // SECOND * SECOND
    for _ in range(TRIES):
        began = wall()
        end = stage(present)
        now = wall()
        late = now - end
        if 0 <= late <= 2 * (EARLY + now - began):
            break
        present += (late - EARLY - (now - began)) // SECOND * SECOND
    return present
