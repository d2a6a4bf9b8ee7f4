"""How much load is offered over time: pure functions of the seconds since the epoch of the world's clock.

Every profile is constant between its changes, so that a network under it comes to rest in between. What changes
smoothly is held in steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

FOREVER = math.inf
"""No further change."""


class Profile(Protocol):
    """A factor on a source's rate (or number of users) over time."""

    def level(self, at: float) -> float:
        """The factor at a time in seconds; at a change, the factor after it."""
        ...

    def holds_until(self, at: float) -> float:
        """The first time after ``at`` at which the factor changes; infinity if it never does."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """Always the same."""

    factor: float = 1.0

    def level(self, at: float) -> float:
        """The factor."""
        return self.factor

    def holds_until(self, at: float) -> float:
        """Never changes."""
        return FOREVER


@dataclass(frozen=True, slots=True)
class Spike:
    """A burst: ``factor`` times the load from ``start`` on for ``length`` seconds."""

    start: float
    length: float
    factor: float

    def level(self, at: float) -> float:
        """The factor within the burst, 1 outside."""
        return self.factor if self.start <= at < self.start + self.length else 1.0

    def holds_until(self, at: float) -> float:
        """Begin or end of the burst."""
        return next((edge for edge in (self.start, self.start + self.length) if at < edge), FOREVER)


@dataclass(frozen=True, slots=True)
class Flood:
    """Load that comes at ``start`` and stays: ``factor`` times as much."""

    start: float
    factor: float

    def level(self, at: float) -> float:
        """1 before the flood, the factor from then on."""
        return self.factor if at >= self.start else 1.0

    def holds_until(self, at: float) -> float:
        """The begin of the flood."""
        return self.start if at < self.start else FOREVER


@dataclass(frozen=True, slots=True)
class Ramp:
    """A straight way from 1 to ``factor``, taken in steps of ``hold`` seconds."""

    start: float
    length: float
    factor: float
    hold: float = 1.0

    def level(self, at: float) -> float:
        """The factor of the step in which ``at`` lies."""
        if at < self.start:
            return 1.0
        steps = math.floor((at - self.start) / self.hold) * self.hold
        return 1.0 + (self.factor - 1.0) * min(1.0, (steps + self.hold / 2.0) / self.length)

    def holds_until(self, at: float) -> float:
        """The next step of the ramp."""
        if at < self.start:
            return self.start
        if self.level(at) == self.factor:
            return FOREVER
        return self.start + (math.floor((at - self.start) / self.hold) + 1) * self.hold


@dataclass(frozen=True, slots=True)
class Diurnal:
    """A day: a cosine around 1 with ``swing`` as its half-width and the peak at ``peak`` seconds into the day, in steps of
    ``hold`` seconds."""

    swing: float
    peak: float = 15 * 3600.0
    hold: float = 300.0
    day: float = 86_400.0

    def level(self, at: float) -> float:
        """The factor in the middle of the step in which ``at`` lies."""
        middle = (math.floor(at / self.hold) + 0.5) * self.hold
        return max(0.0, 1.0 + self.swing * math.cos(2.0 * math.pi * (middle - self.peak) / self.day))

    def holds_until(self, at: float) -> float:
        """The next step."""
        return (math.floor(at / self.hold) + 1) * self.hold


@dataclass(frozen=True, slots=True)
class Product:
    """Several profiles at once: a spike on a day's course."""

    parts: tuple[Profile, ...]

    def level(self, at: float) -> float:
        """The product of the factors."""
        return math.prod(part.level(at) for part in self.parts)

    def holds_until(self, at: float) -> float:
        """The first change of any part."""
        return min((part.holds_until(at) for part in self.parts), default=FOREVER)
