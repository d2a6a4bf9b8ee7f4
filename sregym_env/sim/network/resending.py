"""What kernels send again and again because it never arrives: answers in packets too large for the way between two machines.

Small packets pass, so that connections stand and requests arrive; of an answer the first full packet is lost each time. Its
sender tries at growing intervals, until it learns that nobody waits for it any more and gives the connection up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.history import Stalled

TIMES = 8.0
"""How often Linux sends the first packet of such an answer: its client is gone by then (``tcp_orphan_retries``)."""
PROBED = 1.0
"""Of these, those that are sent early, before any time-out (tail loss probe)."""
SEGMENTS = 6.0
"""Assumed TCP segments that a machine sends for every request."""
SEGMENTS_OF_POD = 0.4
"""The same per second of a pod that nobody asks anything: probes, and what keeps connections open."""
KNOTS = 240
"""Turns that are remembered."""
_OPEN = "resent.open"
"""``world.memory`` key of who sends anything again now; absent while nobody does."""


class Knot(NamedTuple):
    """How many segments a machine, or a pod, has sent again from an instant on."""

    time: int
    total: float
    slope: float
    """Per second."""

    def at(self, time: int) -> float:
        """The number at a later instant."""
        return self.total + self.slope * max(time - self.time, 0) / SECOND


def knots(world: SimWorld, name: str) -> tuple[Knot, ...]:
    """How it was with a machine (by its name) or a pod (by its UID), oldest first."""
    found: tuple[Knot, ...] = world.memory.get(f"resent:{name}", ())
    return found


def total(world: SimWorld, name: str) -> float:
    """Segments that a machine, or a pod, has sent again for that up to now."""
    known = knots(world, name)
    return known[-1].at(world.clock) if known else 0.0


def turn(world: SimWorld, stalled: Iterable[Stalled]) -> None:
    """Note who sends how much again from now on."""
    slopes: dict[str, float] = {}
    for each in stalled:
        process = world.processes.get(each.server)
        if process is not None:
            for name in (process.node, process.key[0]):
                slopes[name] = slopes.get(name, 0.0) + each.rate * TIMES
    before: tuple[str, ...] = world.memory.get(_OPEN, ())
    if not slopes and not before:
        return
    for name in dict.fromkeys((*before, *slopes)):
        slope, known = slopes.get(name, 0.0), knots(world, name)
        if slope != (known[-1].slope if known else 0.0):
            so_far = known[-1].at(world.clock) if known else 0.0
            world.memory[f"resent:{name}"] = (*known[-KNOTS:], Knot(world.clock, so_far, slope))
    if slopes:
        world.memory[_OPEN] = tuple(sorted(slopes))
    else:
        world.memory.pop(_OPEN, None)
