"""Which groups of a run wait, are being played, are done or are given up: bookkeeping without a clock or a worker.

Whose fault a loss is decides what it counts for. A group that raised, or was not done in time, has itself to blame.
Where a worker died, the group it played has, if it was the only one; of several none is blamed, and each is played
again alone on a worker, which tells.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from sregym_env.errors import SREGymError, UsageError
from sregym_env.rollouts.plan import Group

ATTEMPTS = 3
"""How often a group may fail before it is given up."""

GIVEN_UP = 100
"""So many groups may be given up before the run is: what fails everywhere is no matter of single groups."""


class RunError(SREGymError):
    """A run cannot go on: no workers, or hardly any group can be played."""


@dataclass(frozen=True, slots=True)
class Job:
    """A group to be played now."""

    group: Group
    attempt: int
    """How often it has been begun before."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A group that could not be played."""

    group: Group
    attempt: int
    """Which attempt was the last, from 0."""
    error: str
    """What went wrong in it."""


@dataclass(slots=True)
class _Entry:
    """What is known of a group that is not done."""

    group: Group
    begun: int = 0
    failed: int = 0
    alone: bool = False
    """Whether it must be played alone, to find out whether it kills."""


@dataclass(slots=True)
class _Flight:
    """A group being played."""

    entry: _Entry
    deadline: float


@dataclass(slots=True)
class _Worker:
    """What a worker is playing, by index."""

    flights: dict[int, _Flight] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """Whether a suspect has it for itself."""
        return any(flight.entry.alone for flight in self.flights.values())


class Ledger:
    """The state of a run. Times are seconds of any clock, always the same one."""

    def __init__(
        self,
        groups: Iterable[Group],
        *,
        places: int = 1,
        attempts: int = ATTEMPTS,
        group_seconds: float | None = None,
        given_up: int = GIVEN_UP,
    ) -> None:
        """``places``: groups that a worker plays at once; ``group_seconds``: how long one may take."""
        if places < 1 or attempts < 1 or given_up < 1:
            raise UsageError("places, attempts and given_up must be at least 1")
        if group_seconds is not None and not group_seconds > 0:
            raise UsageError(f"group_seconds must be positive, not {group_seconds!r}")
        self._places = places
        self._attempts = attempts
        self._seconds = float("inf") if group_seconds is None else group_seconds
        self._tolerated = given_up
        self._waiting = deque(_Entry(group) for group in groups)
        self._suspects: deque[_Entry] = deque()
        self._workers: dict[int, _Worker] = {}
        self._given_up = 0

    @property
    def open(self) -> bool:
        """Whether anything waits or is being played."""
        return bool(self._waiting or self._suspects or self.flying)

    @property
    def flying(self) -> int:
        """How many groups are being played."""
        return sum(len(worker.flights) for worker in self._workers.values())

    def next(self, worker: int, now: float) -> Job | None:
        """What a worker is to begin now; None where it has no place or there is nothing for it."""
        seat = self._workers.setdefault(worker, _Worker())
        if seat.held or len(seat.flights) >= self._places:
            return None
        if self._suspects and not seat.flights:
            entry = self._suspects.popleft()
        elif self._waiting:
            entry = self._waiting.popleft()
        else:
            return None
        entry.begun += 1
        seat.flights[entry.group.index] = _Flight(entry, now + self._seconds)
        return Job(entry.group, entry.begun - 1)

    def finished(self, worker: int, index: int) -> Job:
        """A group is done. Raises KeyError for one that the worker does not play."""
        entry = self._workers[worker].flights.pop(index).entry
        return Job(entry.group, entry.begun - 1)

    def raised(self, worker: int, index: int, error: str, *, again: bool = True) -> GivenUp | None:
        """A group failed on a worker that lives on; ``again`` says whether it may go better another time."""
        entry = self._workers[worker].flights.pop(index).entry
        return self._failed(entry, error, again)

    def died(self, worker: int, error: str) -> GivenUp | None:
        """A worker is gone, with all that it played."""
        flights = list(self._workers.pop(worker, _Worker()).flights.values())
        if len(flights) == 1:
            return self._failed(flights[0].entry, error, True)
        for flight in reversed(flights):
            flight.entry.alone = True
            self._suspects.appendleft(flight.entry)
        return None

    def overdue(self, now: float) -> list[int]:
        """Workers that play a group which should have been done by now."""
        return [
            worker
            for worker, seat in self._workers.items()
            if any(flight.deadline <= now for flight in seat.flights.values())
        ]

    def stopped(self, worker: int, now: float, error: str) -> list[GivenUp]:
        """A worker was stopped because of its overdue groups; the others that it played are innocent."""
        given_up = []
        for flight in reversed(self._workers.pop(worker).flights.values()):
            if flight.deadline <= now:
                if (gone := self._failed(flight.entry, error, True)) is not None:
                    given_up.append(gone)
            else:
                (self._suspects if flight.entry.alone else self._waiting).appendleft(flight.entry)
        return given_up

    def patience(self, now: float) -> float | None:
        """Seconds until the next group is overdue; None where none ever is."""
        deadlines = [flight.deadline for seat in self._workers.values() for flight in seat.flights.values()]
        first = min(deadlines, default=float("inf"))
        return None if first == float("inf") else max(0.0, first - now)

    def _failed(self, entry: _Entry, error: str, again: bool) -> GivenUp | None:
        entry.failed += 1
        if again and entry.failed < self._attempts:
            (self._suspects if entry.alone else self._waiting).appendleft(entry)
            return None
        self._given_up += 1
        if self._given_up >= self._tolerated:
            raise RunError(f"{self._given_up} groups could not be played; the last because of: {error}")
        return GivenUp(entry.group, entry.begun - 1, error)
