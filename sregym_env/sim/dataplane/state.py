"""The state of the data plane: what survives a change of the world, as an immutable value.

Arrays are never written to once a state holds them, so that copies and forks share them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.dataplane.accounting import EDGE_ROWS, OPERATION_ROWS, STATION_ROWS
from sregym_env.sim.dataplane.network import Network
from sregym_env.sim.dataplane.plan import Floats, Plan, plan_of

K = TypeVar("K", bound=Hashable)

TICK = SECOND // 4
"""The shortest step; steps are powers of two of it."""


class Held(IntEnum):
    """Rows per station of what it holds."""

    QUEUE = 0
    """Mean number of requests that wait for or use its CPU (or wait for a thread)."""
    SPREAD = 1
    """Variance of that number."""
    LEAKED = 2
    """Bytes."""
    FILLED = 3
    """Share of a cache's keys that are there."""
    CAPACITY = 4
    """Requests per second it could serve at the end of the step."""
    UTILISATION = 5
    TURNED = 6
    """Share of the arrivals that are rejected."""
    DROPPED = 7
    """Share of the arrivals that are cancelled while they wait."""
    WAITS = 8
    """Probability that an arrival waits."""
    WAIT = 9
    """Mean of that wait, seconds."""
    WAIT_SPREAD = 10
    """Its squared coefficient of variation."""
    STRETCH = 11
    """Elapsed over CPU seconds of a request that does not wait: collector, warm-up, neighbours."""
    MEMORY = 12
    """Resident bytes."""
    PRESENT = 13
    """Requests in the process, those that wait for callees included."""


class Law(IntEnum):
    """Rows per operation: what a request meets from arrival to answer."""

    MEAN = 0
    VARIANCE = 1
    OK = 2
    """Share answered without an error."""


class Way(IntEnum):
    """Rows per edge."""

    FLYING = 0
    """Attempts in flight."""
    WAITING = 1
    """Calls that wait for their next attempt."""
    SHUT = 2
    """Time until which the breaker is open, seconds."""
    MEAN = 3
    """Mean of an attempt, cut off at the time-out, seconds."""
    TIMEOUT = 4
    """Share of the attempts that end in each way; the rest succeeds."""
    ERROR = 5
    REJECTED = 6
    REFUSED = 7
    AGAIN = 8
    """Share of the attempts that are followed by another."""


HELD_ROWS, LAW_ROWS, WAY_ROWS = len(Held), len(Law), len(Way)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Everything that the past leaves to the future. Compare with :meth:`same_as`."""

    time: int
    """Microseconds."""
    stride: int
    """Ticks of the next step."""
    steady: bool
    """Whether nothing moves any more: rates hold until a profile or the network changes."""
    stations: Floats
    operations: Floats
    edges: Floats
    edge_totals: Floats
    station_totals: Floats
    operation_totals: Floats
    edge_rates: Floats
    """What is added to the totals per second."""
    station_rates: Floats
    operation_rates: Floats
    told: frozenset[str] = frozenset()
    """Events that have been told and whose condition still holds."""

    def same_as(self, other: State) -> bool:
        """Whether both are equal bit for bit."""
        return all(_same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))


def _same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other


def empty(network: Network, time: int, *, warm_caches: bool = True) -> State:
    """Nobody has come yet. Caches are full unless said otherwise."""
    plan = plan_of(network)
    s, o, e = len(plan.stations), len(plan.operations), len(plan.edges)
    stations = np.zeros((HELD_ROWS, s))
    stations[Held.FILLED] = float(warm_caches)
    stations[Held.CAPACITY] = 1e9
    stations[Held.STRETCH] = 1.0
    operations = np.zeros((LAW_ROWS, o))
    operations[Law.OK] = 1.0
    edges = np.zeros((WAY_ROWS, e))
    edges[Way.SHUT] = -np.inf
    return State(
        time,
        1,
        False,
        stations,
        operations,
        edges,
        np.zeros((EDGE_ROWS, e)),
        np.zeros((STATION_ROWS, s)),
        np.zeros((OPERATION_ROWS, o)),
        np.zeros((EDGE_ROWS, e)),
        np.zeros((STATION_ROWS, s)),
        np.zeros((OPERATION_ROWS, o)),
    )


def _moved(values: NDArray[np.float64], fresh: Floats, old: list[int], new: list[int]) -> Floats:
    result = fresh.copy()
    result[:, new] = values[:, old]
    return result


def carried(state: State, before: Network, after: Network) -> State:
    """The state under another network: stations of the same name and run, operations and edges of the same name go on.

    A station that is new or was restarted begins empty; calls in flight to it end as the new network says.
    The result still has to take notice of the new network: :func:`~.advance.adopt` does both.
    """
    old, new = plan_of(before), plan_of(after)
    fresh = empty(after, state.time)
    stations = _pairs(_runs(old), _runs(new))
    operations = _pairs(old.operation_index, new.operation_index)
    edges = _pairs(old.edge_index, new.edge_index)
    reborn = [number for name, number in _runs(new).items() if name not in _runs(old)]
    held = _moved(state.stations, fresh.stations, *stations)
    # What restarts has lost what its cache held.
    held[Held.FILLED, reborn] = 0.0
    return State(
        state.time,
        1,
        False,
        held,
        _moved(state.operations, fresh.operations, *operations),
        _moved(state.edges, fresh.edges, *edges),
        _moved(state.edge_totals, fresh.edge_totals, *edges),
        _moved(state.station_totals, fresh.station_totals, *stations),
        _moved(state.operation_totals, fresh.operation_totals, *operations),
        fresh.edge_rates,
        fresh.station_rates,
        fresh.operation_rates,
        state.told,
    )


def _runs(plan: Plan) -> dict[tuple[str, int], int]:
    return {(station.name, station.run): number for number, station in enumerate(plan.stations)}


def _pairs(old: Mapping[K, int], new: Mapping[K, int]) -> tuple[list[int], list[int]]:
    both = [name for name in new if name in old]
    return [old[name] for name in both], [new[name] for name in both]
