"""What the traffic was: its steady states, one after the other, from which health, metrics, alerts and logs are read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sregym_env.sim.world.process import ProcessKey
from sregym_env.sim.world.shared import SharedLog
from sregym_env.sim.world.simworld import SimWorld

HISTORY = "traffic.history"
"""``world.memory`` key of the history: a :class:`SharedLog` of :class:`Segment`."""

KEPT_SEGMENTS = 4000
"""At most one segment per second: more than an hour of them."""


class JourneyState(NamedTuple):
    """How one journey fares while a segment holds."""

    name: str
    rate: float
    ok: float
    latency: float
    errors: tuple[tuple[str, float], ...]
    """(error text, share of the requests)."""
    deviation: float = 0.0
    """Standard deviation of the latency, seconds."""


class ComponentState(NamedTuple):
    """What one workload serves while a segment holds. ``ok`` is the share of requests that succeed there."""

    namespace: str
    name: str
    rate: float
    ok: float
    latency: float
    deviation: float = 0.0
    """Standard deviation of the latency, seconds."""


class Load(NamedTuple):
    """Requests per second per operation at one run of a process."""

    process: ProcessKey
    restart: int
    rates: tuple[tuple[str, float], ...]
    ok: float
    latency: float
    throttled: float = 0.0
    """Share of CFS periods in which its CPU limit held it back."""
    memory: int = 0
    """Resident bytes under load; 0 where they are those at rest."""
    cpu: float = -1.0
    """Cores used for requests; negative where they follow from their rates."""
    deviation: float = 0.0
    """Standard deviation of the latency, seconds."""


class Stalled(NamedTuple):
    """Answers that are sent and never arrive, because their packets are too large for the way."""

    caller: ProcessKey
    """Who waits for them in vain."""
    server: ProcessKey
    operation: str
    rate: float
    """Per second."""
    share: float
    """Of the calls of this kind that the caller's container makes, on whichever pod."""
    patience: float
    """Seconds until the caller gives up."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The steady state of the traffic from ``start`` until the next segment."""

    start: int
    journeys: tuple[JourneyState, ...]
    components: tuple[ComponentState, ...]
    loads: tuple[Load, ...]
    probes: tuple[tuple[str, str, int, bool], ...] = ()
    """(namespace, Service, port, reachable): what a blackbox prober would see of the app's Services."""
    stalled: tuple[Stalled, ...] = ()

    def same_as(self, other: Segment) -> bool:
        """Whether both describe the same state."""
        return (
            self.journeys == other.journeys
            and self.loads == other.loads
            and self.components == other.components
            and self.probes == other.probes
            and self.stalled == other.stalled
        )


def deviation(parts: Iterable[tuple[float, float, float]]) -> float:
    """Standard deviation of a mixture of (share, mean, variance); shares sum to 1."""
    mean = square = 0.0
    for share, each, variance in parts:
        mean += share * each
        square += share * (each * each + variance)
    return math.sqrt(max(square - mean * mean, 0.0))


def history(world: SimWorld) -> SharedLog[Segment]:
    """All segments that are still kept, oldest first. Do not append to it: fork it first."""
    found: SharedLog[Segment] | None = world.memory.get(HISTORY)
    return SharedLog(keep=KEPT_SEGMENTS) if found is None else found


def segment_at(world: SimWorld, time: int) -> Segment | None:
    """The segment that held at an instant."""
    return next((segment for segment in history(world).newest_first() if segment.start <= time), None)


def window(world: SimWorld, start: int, end: int) -> list[tuple[Segment, float]]:
    """Segments that held between two instants, newest first, each with the seconds it held there."""
    found: list[tuple[Segment, float]] = []
    until = end
    for segment in history(world).newest_first():
        if until <= start:
            break
        begin = max(segment.start, start)
        if begin < until:
            found.append((segment, (until - begin) / 1e6))
            until = begin
        if segment.start <= start:
            break
    return found
