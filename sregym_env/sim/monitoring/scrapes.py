"""When Prometheus looks, and how what it finds becomes series.

Every target is scraped once in its interval, at an offset that follows from its name, as Prometheus spreads them. A
series holds a sample for each scrape that found it, and a stale marker at the first one that did not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sregym_env.runtime import effort
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.monitoring.past import Past, Version, past
from sregym_env.sim.monitoring.readings import Readings, Times, Values
from sregym_env.sim.world import SimWorld
from sregym_env.telemetry.labels import NAME, Labels
from sregym_env.telemetry.promql.errors import QueryTimeout
from sregym_env.telemetry.series import STALE, Matcher, Series

T = TypeVar("T")

MILLI = 1000
"""Microseconds."""

SERIES_EFFORT = 40.0
"""What a series costs that is rendered (units of ``runtime/effort.py``)."""
SAMPLE_EFFORT = 0.1
"""And each of its samples."""

TEST_EFFORT = 0.4
"""And what it costs to see whether its labels fit a matcher."""

SHARE = 0.75
"""How much of what an agent's action may still cost one query may use; then it times out, and the action goes on."""


@dataclass(frozen=True, slots=True)
class Job:
    """A scrape job."""

    name: str
    interval: int = MINUTE
    """Microseconds."""

    def times(self, instance: str, start: int, end: int) -> Times:
        """The instants in ``[start, end]`` at which a target is scraped, microseconds."""
        offset = keyed_bits("scrape", self.name, instance) % (self.interval // SECOND) * SECOND
        offset += keyed_bits("scrape within", self.name, instance) % 1000 * MILLI
        first = -(-(start - offset) // self.interval) * self.interval + offset
        return np.arange(first, end + 1, self.interval, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Target:
    """Something that is scraped, with the labels that Prometheus puts onto everything it says."""

    job: Job
    instance: str
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def all_labels(self) -> dict[str, str]:
        """``job`` and ``instance`` among them."""
        return {"job": self.job.name, "instance": self.instance, **dict(self.labels)}


Row = tuple[Mapping[str, str], Values, NDArray[np.bool_] | None]
"""Labels of a series; its values at the scrapes; and which of them found it, None for all."""


Found: TypeAlias = dict[tuple[str, int, int], object]
"""What has been found out: name and stretch of time, and what it is."""


@dataclass(frozen=True)
class Question:
    """What is asked about a world: which metric, with which labels, from when to when."""

    world: SimWorld
    start: int
    end: int
    """Microseconds, both included."""
    matchers: tuple[Matcher, ...] = ()
    found: Found = field(default_factory=dict)
    """What questions asked together have found out already, by name and stretch of time."""
    readings: Readings = field(init=False)
    _wanted: dict[tuple[str, str], bool] = field(init=False, default_factory=dict)
    _tests: dict[str, list[Callable[[str], bool]]] = field(init=False, default_factory=dict)
    _floor: float = field(init=False, default=-math.inf)

    def __post_init__(self) -> None:
        object.__setattr__(self, "readings", self.always("readings", lambda: Readings(self.world)))
        for matcher in self.matchers:
            self._tests.setdefault(matcher.name, []).append(matcher.test())
        present = effort.present()
        if present is not None:
            object.__setattr__(self, "_floor", present.own * (1 - SHARE))

    def spend(self, units: float) -> None:
        """Count work. Raises QueryTimeout where it is most of what the action may still cost."""
        effort.note(units)
        present = effort.present()
        if present is not None and present.own < self._floor:
            raise QueryTimeout("query timed out in expression evaluation")

    @property
    def past(self) -> Past:
        """The objects since the first instant."""
        return self.once("past", lambda: past(self.world, self.start))

    def objects(self, resource: str) -> list[list[Version]]:
        """The versions of every object of a kind, as :meth:`Past.objects` tells them."""
        return self.once(f"objects {resource}", lambda: list(self.past.objects(resource)))

    def once(self, name: str, find: Callable[[], T]) -> T:
        """What ``find`` says of this stretch of time, whatever the matchers; asked once."""
        return self._asked((name, self.start, self.end), find)

    def always(self, name: str, find: Callable[[], T]) -> T:
        """What ``find`` says of the world, whatever the stretch of time and the matchers; asked once."""
        return self._asked((name, 0, 0), find)

    def _asked(self, key: tuple[str, int, int], find: Callable[[], T]) -> T:
        if key not in self.found:
            self.found[key] = find()
        return self.found[key]  # type: ignore[return-value]

    def wants(self, label: str, value: str) -> bool:
        """Whether series with this label can be what is asked for."""
        tests = self._tests.get(label)
        if tests is None:
            return True
        known = self._wanted.get((label, value))
        if known is None:
            known = self._wanted[label, value] = all(test(value) for test in tests)
        return known

    def wants_all(self, labels: Mapping[str, str]) -> bool:
        """Whether series with these labels, and maybe others, can be what is asked for."""
        tests = self._tests
        return all(self.wants(name, value) for name, value in labels.items() if name in tests)

    def fits(self, labels: Mapping[str, str]) -> bool:
        """Whether a series with these labels and no others, but for its name, is what is asked for."""
        return all(self.wants(name, labels.get(name, "")) for name in self._tests if name != NAME)


@dataclass(frozen=True, slots=True)
class Family:
    """A metric."""

    name: str
    type: str
    """``counter``, ``gauge``, ``histogram`` ..."""
    help: str
    targets: Callable[[Question], Sequence[Target]]
    rows: Callable[[Question, Target, Times], Iterator[Row]]
    names: tuple[str, ...] = ()
    """The names of its series, where they are others: those of a histogram."""


def series_of(question: Question, family: Family) -> Iterator[Series]:
    """The series of a metric that fit the question."""
    cost = TEST_EFFORT * sum(matcher.name != NAME for matcher in question.matchers)
    for target in family.targets(question):
        common = target.all_labels
        if not all(question.wants(name, value) for name, value in common.items()):
            continue
        times = target.job.times(target.instance, question.start, question.end)
        if not len(times):
            continue
        stamps = times // MILLI
        for own, values, present in family.rows(question, target, times):
            effort.spend(cost)
            merged = {NAME: family.name, **common, **own}
            if not question.fits(merged):
                continue
            labels = tuple(sorted([pair for pair in merged.items() if pair[1]]))
            question.spend(SERIES_EFFORT + SAMPLE_EFFORT * len(times))
            found = _series(labels, stamps, values, present)
            if found is not None:
                yield found


def _series(
    labels: Labels, stamps: Times, values: Values, present: NDArray[np.bool_] | None
) -> Series | None:
    if present is None or present.all():
        return Series(labels, stamps, values)
    if not present.any():
        return None
    # A scrape that misses what the one before it found leaves a stale marker.
    ends = np.concatenate(([False], present[:-1] & ~present[1:]))
    kept = present | ends
    marked = np.where(ends, STALE, values)
    return Series(labels, stamps[kept], marked[kept])


def steady(times: Times, value: float) -> Values:
    """The same value at every scrape."""
    return np.full(len(times), float(value))


def shaken(times: Times, *key: object) -> Values:
    """Numbers in [-1, 1), one for each instant, that follow from a key: what measurements vary by, however often and by
    whomever they are read."""
    mixed = times.astype(np.uint64) + np.uint64(keyed_bits(*key))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) * (2.0 / (1 << 53)) - 1.0
