"""What the clocks of machines say: the cluster's time, and by how much each machine's own is off.

A machine counts seconds as everybody does; what may be wrong is the day and the hour that it takes it for. Durations, and
whatever the API server writes, know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sregym_env.sim.world.simworld import SimWorld

KEPT = 16
"""Steps of a clock that are remembered."""

_STEPS = "machine.clock:"
"""``world.memory`` key of how a machine's clock has been set."""


class Step(NamedTuple):
    """From an instant on a clock is off by so much."""

    time: int
    """Microseconds, of the cluster's time."""
    offset: int
    """Microseconds by which it is ahead."""
    by: str = ""
    """Which program has set it."""


def steps(world: SimWorld, node: str) -> tuple[Step, ...]:
    """How a machine's clock has been set, oldest first."""
    found: tuple[Step, ...] = world.memory.get(f"{_STEPS}{node}", ())
    return found


def offset(world: SimWorld, node: str, time: int | None = None) -> int:
    """Microseconds by which a machine's clock is ahead, now or at an instant."""
    found = 0
    for step in steps(world, node):
        if time is not None and step.time > time:
            break
        found = step.offset
    return found


def shown(world: SimWorld, node: str, time: int) -> int:
    """What a machine's clock said at an instant, microseconds since the Unix epoch."""
    return time + offset(world, node, time)


def reader(world: SimWorld, node: str) -> Callable[[int], int] | None:
    """What a machine's clock said at any instant; None where it has always been right."""
    known = steps(world, node)
    if not known:
        return None
    return lambda time: time + next((step.offset for step in reversed(known) if step.time <= time), 0)


def put(world: SimWorld, node: str, ahead: int, by: str) -> None:
    """Set a machine's clock: it is ahead of the cluster's by so many microseconds from now on."""
    world.memory[f"{_STEPS}{node}"] = (*steps(world, node), Step(world.clock, ahead, by))[-KEPT:]
    # What was found out by the clock before holds no more.
    world.touch()
