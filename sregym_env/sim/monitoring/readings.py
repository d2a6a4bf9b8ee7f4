"""What was going on: the one place where metrics, logs and traces read what the traffic did.

Everything is a function of time: what a container used, what a component served and how. Rates hold between the changes
of the world's history; counters are their integrals since a container's start or, for what nothing restarts, since
the history begins. Nothing here says how metrics are called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.monitoring.past import FOREVER
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.users.components import workload_of
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.history import Load, Segment, Stalled, history
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.simworld import ENDED

Times = NDArray[np.int64]
Values = NDArray[np.float64]

SPREAD = 0.5
"""Assumed standard deviation of the logarithm of a response time: the 99th percentile is three times the median."""

CFS_PERIOD = 0.1
"""Seconds: ``cpu.cfs_period_us`` as the kubelet sets it."""

SEGMENT_EFFORT = 4.0
"""What it costs to look at a steady state of the traffic (units of ``runtime/effort.py``)."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a container."""

    process: Process
    ended: int = FOREVER
    """When it ended, microseconds."""

    def alive(self, times: Times) -> NDArray[np.bool_]:
        """At which instants it ran."""
        return (times >= self.process.started_at) & (times < self.ended)


class Place(NamedTuple):
    """A component, as an engineer names it."""

    namespace: str
    name: str


class Served(NamedTuple):
    """What one run of a container serves while a steady state holds."""

    place: Place
    process: Process
    operation: str
    rate: float
    """Requests per second."""
    ok: float
    """Share of the requests that succeed."""
    latency: float
    """Mean seconds of a request."""


class Journey(NamedTuple):
    """What users of one journey meet while a steady state holds."""

    name: str
    rate: float
    ok: float
    latency: float
    errors: tuple[tuple[str, float], ...]
    """(what their client says, share of the requests)."""
    deviation: float = 0.0
    """Standard deviation of the latency, seconds."""


@dataclass(frozen=True, slots=True)
class State:
    """A steady state of the traffic."""

    start: int
    """When it began, microseconds."""
    end: int
    """When the next began; far away where it still holds."""
    served: tuple[Served, ...]
    journeys: tuple[Journey, ...]
    probes: tuple[tuple[str, str, int, bool], ...]
    """(namespace, Service, port, reachable)."""
    stalled: tuple[Stalled, ...] = ()


def quantile(mean: float, share: float) -> float:
    """The response time that a share of the requests stays below, where their mean is known. A logarithmic normal law."""
    return mean * math.exp(SPREAD * _normal_quantile(share) - SPREAD * SPREAD / 2)


def share_below(mean: float, bounds: Sequence[float]) -> list[float]:
    """The shares of the requests that take no longer than each of some bounds: what histograms are made of."""
    if mean <= 0.0:
        return [1.0] * len(bounds)
    centre = math.log(mean) - SPREAD * SPREAD / 2
    return [0.5 * (1.0 + math.erf((math.log(b) - centre) / (SPREAD * math.sqrt(2.0)))) for b in bounds]


def _normal_quantile(share: float) -> float:
    low, high = -8.0, 8.0
    for _ in range(50):
        middle = (low + high) / 2
        if 0.5 * (1.0 + math.erf(middle / math.sqrt(2.0))) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def accumulated(starts: Sequence[int], rates: Sequence[float] | Values, times: Times) -> Values:
    """The integral of a rate per second that holds from each of some instants until the next, microseconds; of several
    rates at once where they are the columns of a matrix.

    What it is at an instant depends on nothing later, to the last bit.
    """
    points = np.array(starts, dtype=np.int64)
    held = np.array(rates, dtype=np.float64)
    seconds = np.diff(points) / SECOND
    index = np.maximum(np.searchsorted(points, times, "right") - 1, 0)
    since = np.maximum(times - points[index], 0) / SECOND
    if held.ndim == 2:
        seconds, since = seconds[:, None], since[:, None]
    sums = np.concatenate((np.zeros_like(held[:1]), np.cumsum(seconds * held[:-1], axis=0)))
    return np.asarray(sums[index] + since * held[index])


class Readings:
    """What a world's traffic and containers did. Make one for each question, and throw it away."""

    def __init__(self, world: SimWorld) -> None:
        """Of a world as it is now."""
        self.world = world
        self._places: dict[str, Place | None] = {}
        self._served: dict[tuple[Load, ...], tuple[Served, ...]] = {}
        self._known_use: dict[tuple[int, object], float] = {}

    # --- containers -------------------------------------------------------------------------------

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Runs of containers that go on, or that have ended of late; in the order of namespace, pod and container."""
        found = [Run(process) for process in self.world.processes.values()]
        found += [Run(process, ended) for ended, process in self.world.memory.get(ENDED, ())]
        found.sort(key=_in_order)
        return tuple(found)

    def cpu_seconds(self, run: Run, times: Times) -> Values:
        """Seconds of CPU that a run has used until each instant."""
        return self._integral(run, times, lambda load: self._used(run, load))

    def cores(self, run: Run, load: Load | None) -> float:
        """The cores that a run uses under a load."""
        return self._used(run, load)

    def memory(self, run: Run, times: Times) -> Values:
        """Resident bytes at each instant, page cache aside."""
        process = run.process
        usage = self._usage(run, None)
        values = np.full(len(times), float(max(usage[1], process.memory)))
        loads = self._loads.get((process.key, process.restart), {})
        if any(load.memory for load in loads.values()):
            for place, index in enumerate(np.searchsorted(self._starts, times, "right") - 1):
                load = loads.get(int(index))
                if load is not None:
                    values[place] = max(values[place], float(load.memory))
        return values if process.memory_limit is None else np.minimum(values, float(process.memory_limit))

    def periods(self, run: Run, times: Times) -> Values:
        """CFS periods in which a run was runnable until each instant; none without a limit."""
        if not run.process.cpu_limit:
            return np.zeros(len(times))
        return self._integral(run, times, lambda load: self._busy(run, load))

    def throttled(self, run: Run, times: Times) -> Values:
        """Those of :meth:`periods` in which its limit held it back."""
        loads = self._loads.get((run.process.key, run.process.restart), {})
        if not run.process.cpu_limit or not any(load.throttled for load in loads.values()):
            return np.zeros(len(times))
        return self._integral(
            run, times, lambda load: 0.0 if load is None else self._busy(run, load) * load.throttled
        )

    def _busy(self, run: Run, load: Load | None) -> float:
        """CFS periods per second in which a run is runnable: one that does little is so in few."""
        return min(1.0, self._used(run, load) * 20.0) / CFS_PERIOD

    def requests(self, run: Run, times: Times, operation: str | None = None) -> Values:
        """Requests that a run has served until each instant, of one operation or of all."""

        def rate(load: Load | None) -> float:
            if load is None:
                return 0.0
            return sum(each for name, each in load.rates if operation in (None, name))

        return self._integral(run, times, rate)

    def _usage(self, run: Run, load: Load | None) -> tuple[float, int]:
        rates = {} if load is None else dict(load.rates)
        program = self.world.programs.get(run.process.program)
        if program is None:
            return 0.0, run.process.memory
        context = ProcessContext(self.world, run.process)
        usage = program.usage(context, rates)
        if load is not None and load.cpu >= 0.0:
            return program.usage(context, {}).cpu + load.cpu, usage.memory
        return usage.cpu, usage.memory

    def _used(self, run: Run, load: Load | None) -> float:
        key = (id(run), None if load is None else (load.rates, load.cpu))
        used = self._known_use.get(key)
        if used is None:
            used = self._usage(run, load)[0]
            if run.process.cpu_limit is not None:
                used = min(used, run.process.cpu_limit)
            self._known_use[key] = used
        return used

    def _integral(self, run: Run, times: Times, rate: Callable[[Load | None], float]) -> Values:
        """The integral of a rate per second from the start of a run."""
        process = run.process
        begin = process.started_at
        last = int(times[-1]) if len(times) else begin
        end = max(min(run.ended, last), begin + 1)
        points, values = [begin], [rate(None)]
        loads = self._loads.get((process.key, process.restart), {})
        last_load, value = None, values[0]
        for index in self._between(begin, end):
            load = loads.get(index)
            if load is not last_load:
                last_load, value = load, rate(load)
            start = max(self._segments[index].start, begin)
            if start == points[-1]:
                values[-1] = value
            else:
                points.append(start)
                values.append(value)
        return accumulated(points, values, np.clip(times, begin, end))

    @cached_property
    def _segments(self) -> list[Segment]:
        found = list(history(self.world))
        effort.spend(SEGMENT_EFFORT * len(found))
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [segment.start for segment in self._segments]

    @cached_property
    def _loads(self) -> dict[tuple[ProcessKey, int], dict[int, Load]]:
        """The loads of every run, by the number of the segment."""
        found: dict[tuple[ProcessKey, int], dict[int, Load]] = {}
        for index, segment in enumerate(self._segments):
            for load in segment.loads:
                found.setdefault((load.process, load.restart), {})[index] = load
        return found

    def _between(self, start: int, end: int) -> Iterable[int]:
        """The numbers of the segments that held at some time in a range."""
        first = max(int(np.searchsorted(self._starts, start, "right")) - 1, 0)
        return range(first, int(np.searchsorted(self._starts, end, "left")))

    # --- the traffic ------------------------------------------------------------------------------

    def states(self, start: int, end: int) -> list[State]:
        """The steady states of a range, oldest first; the first may have begun before it."""
        return [self._state(index) for index in self._between(start, end)]

    def state_at(self, time: int) -> State | None:
        """The steady state that held at an instant; None before anything was looked at."""
        index = int(np.searchsorted(self._starts, time, "right")) - 1
        return None if index < 0 else self._state(index)

    @property
    def begins(self) -> int:
        """When the history begins, microseconds; now where there is none."""
        return self._starts[0] if self._segments else self.world.clock

    def _state(self, index: int) -> State:
        segment = self._segments[index]
        following = self._segments[index + 1].start if index + 1 < len(self._segments) else FOREVER
        served = self._served.get(segment.loads)
        if served is None:
            served = self._served[segment.loads] = tuple(self._serving(segment))
        journeys = tuple(Journey(*journey) for journey in segment.journeys)
        return State(segment.start, following, served, journeys, segment.probes, segment.stalled)

    def _serving(self, segment: Segment) -> Iterable[Served]:
        for load in segment.loads:
            run = self._by_key.get((load.process, load.restart))
            place = None if run is None else self.place(run.process)
            if run is None or place is None:
                continue
            for operation, rate in load.rates:
                yield Served(place, run.process, operation, rate, load.ok, load.latency)

    @cached_property
    def _by_key(self) -> dict[tuple[ProcessKey, int], Run]:
        return {(run.process.key, run.process.restart): run for run in self.runs}

    def place_of(self, key: ProcessKey) -> Place | None:
        """The component that the containers of a key belong to; None where nobody knows any more."""
        found = next((run.process for run in self.runs if run.process.key == key), None)
        return None if found is None else self.place(found)

    def place(self, process: Process) -> Place | None:
        """The component that a process belongs to; None where nobody knows any more."""
        uid = process.key[0]
        if uid not in self._places:
            pod = self.world.store.get("pods", process.namespace, process.pod)
            if pod is not None and pod["metadata"].get("uid") == uid:
                self._places[uid] = Place(process.namespace, workload_of(self.world, pod)[1])
            else:
                self._places[uid] = self._by_name(process)
        return self._places[uid]

    def _by_name(self, process: Process) -> Place | None:
        """The component of a pod that is gone: the pod bears its name."""
        parts = process.pod.split("-")
        for length in range(len(parts) - 1, 0, -1):
            name = "-".join(parts[:length])
            for resource in ("deployments.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch"):
                if self.world.store.get(resource, process.namespace, name) is not None:
                    return Place(process.namespace, name)
        return None


def _in_order(run: Run) -> tuple[str, str, str, int]:
    process = run.process
    return process.namespace, process.pod, process.container, process.started_at
