"""Time: steps of the right length, rest where nothing moves, and events on the way.

Steps end at whole multiples of their length, or where a profile changes, and how long they are follows from the state alone, so that it does
not matter in how many pieces time is advanced: ``advance(a, c)`` is ``advance(b, c)`` after ``advance(a, b)``, bit for bit.
Between two steps everything is linear (:func:`at`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.dataplane.network import Network
from sregym_env.sim.dataplane.plan import Floats, Plan, plan_of
from sregym_env.sim.dataplane.state import TICK, Held, Law, State, Way, carried, empty
from sregym_env.sim.dataplane.step import Step, levels, step

USUAL = 4
"""Ticks of a step while something happens: 1 s."""
LONGEST = 256
"""Ticks of the longest step: 64 s."""
CALM = 1e-2
"""Relative change within a step below which the next one may be twice as long."""
LIVELY = 5e-2
"""Relative change within a step above which steps are of the usual length again."""
FLOOR = 1e-3
"""Requests, seconds or shares below which a change is taken as one of this."""
REST = 1e-6
"""Relative change within one of the longest steps below which the state counts as steady."""
WARM = 12.0
"""Time constants after which a process counts as warm."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the world has to act on."""

    time: int
    kind: Literal["memory", "heap"]
    """``memory``: resident memory reached the limit (the kernel kills the process); ``heap``: the collector gains nothing."""
    station: str


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A step that has been worked out: its end, and what holds there."""

    end: int
    step: Step


def adopt(state: State, before: Network, after: Network) -> State:
    """The state at the moment in which the network becomes another one; its laws know the new network at once."""
    return _settle_laws(after, carried(state, before, after))


def begin(network: Network, time: int, *, warm_caches: bool = True, settled: bool = False) -> State:
    """The state in which a network begins: without a request, or ``settled`` as if it had always been there."""
    state = _settle_laws(network, empty(network, time, warm_caches=warm_caches))
    if not settled:
        return state
    plan = plan_of(network)
    offered = levels(plan, time / SECOND)
    for count in range(400):
        moved = step(plan, state, offered, time / SECOND, min(0.25 * 1.2**count, 64.0))
        change = _change(state, moved)
        state = _after(state, moved, time, 1, False, totals=False)
        if change < REST and count > 40:
            break
    # Counters begin to count now.
    return replace(state, steady=False)


def _settle_laws(network: Network, state: State) -> State:
    """What callers know of their callees travels one call per step: here it travels all the way in no time."""
    plan = plan_of(network)
    offered = levels(plan, state.time / SECOND)
    for _ in range(plan.depth + 1):
        moved = step(plan, state, offered, state.time / SECOND, 1e-6)
        stations = state.stations.copy()
        for row in (
            Held.CAPACITY,
            Held.UTILISATION,
            Held.WAITS,
            Held.WAIT,
            Held.WAIT_SPREAD,
            Held.STRETCH,
            Held.MEMORY,
        ):
            stations[row] = moved.stations[row]
        stations[Held.PRESENT] = np.maximum(moved.stations[Held.PRESENT], state.stations[Held.QUEUE])
        edges = moved.edges
        edges[Way.FLYING : Way.SHUT + 1] = state.edges[Way.FLYING : Way.SHUT + 1]
        state = replace(
            state,
            stations=stations,
            operations=moved.operations,
            edges=edges,
            edge_rates=moved.edge_rates,
            station_rates=moved.station_rates,
            operation_rates=moved.operation_rates,
        )
    return state


def advance(network: Network, state: State, until: int) -> tuple[State, tuple[Event, ...]]:
    """The state after the last step that ends by ``until`` (microseconds), or at the first instant with events.

    A steady state costs nothing and is returned as it is, however far ``until`` lies; :func:`at` reads what it has become.
    Where events are returned, time stands at them: act on them, then go on.
    """
    plan = plan_of(network)
    while state.time < until:
        if state.steady:
            rests = _rests_until(plan, state.time)
            if rests > until:
                # As it is: whoever reads adds the rates, so that no sum depends on when it was read.
                return state, ()
            state = replace(_rested(state, rests), steady=False, stride=USUAL)
            continue
        ahead = _ahead(plan, state)
        found = _event(plan, state, ahead)
        if found is not None and found[0] <= until:
            when, events = found
            told = state.told | {f"{event.kind} {event.station}" for event in events}
            state = _between(state, ahead, when)
            return replace(state, stride=1, steady=False, told=told), events
        if ahead.end > until:
            return state, ()
        state = _stepped(plan, state, ahead)
    return state, ()


def at(network: Network, state: State, time: int) -> State:
    """The state at an instant up to which it has been advanced: between two steps on the straight line.

    It can be adopted by another network there; within the same one keep advancing ``state`` itself.
    """
    if time <= state.time:
        return state
    if state.steady:
        return _rested(state, time)
    plan = plan_of(network)
    ahead = _ahead(plan, state)
    return _between(state, ahead, min(time, ahead.end))


def _ahead(plan: Plan, state: State) -> _Ahead:
    """The next step from a state: worked out once, however often time stops within it."""
    known: tuple[State, _Ahead] | None = plan.__dict__.get("ahead")
    if known is not None and known[0] is state:
        return known[1]
    width = state.stride * TICK
    # Ends lie on whole steps since the epoch or where something turns: they do not depend on where time was stopped.
    end = min((state.time // width + 1) * width, _turns(plan, state))
    now = state.time / SECOND
    ahead = _Ahead(end, step(plan, state, levels(plan, now), now, (end - state.time) / SECOND))
    plan.__dict__["ahead"] = state, ahead
    return ahead


def _stepped(plan: Plan, state: State, ahead: _Ahead) -> State:
    change = _change(state, ahead.step)
    stride = state.stride
    turns = ahead.end == _turns(plan, state)
    steady = change < REST and stride == LONGEST and not turns and _rests(plan, ahead)
    if turns and plan.breaks:
        # What a breaker lets out to try is a short burst.
        stride = 1
    elif turns:
        stride = min(stride, USUAL)
    elif change > LIVELY:
        stride = min(2 * stride, USUAL)
    elif change < CALM or stride < USUAL:
        stride = min(2 * stride, LONGEST)
    moved = _after(state, ahead.step, ahead.end, stride, steady)
    if moved.told:
        holds = {f"{kind} {plan.stations[number].name}" for kind, number, _ in _pressed(plan, moved.stations)}
        moved = replace(moved, told=moved.told & holds)
    return moved


def _after(state: State, moved: Step, time: int, stride: int, steady: bool, *, totals: bool = True) -> State:
    dt = (time - state.time) / SECOND if totals else 0.0
    return State(
        time,
        stride,
        steady,
        moved.stations,
        moved.operations,
        moved.edges,
        state.edge_totals + dt * moved.edge_rates,
        state.station_totals + dt * moved.station_rates,
        state.operation_totals + dt * moved.operation_rates,
        moved.edge_rates,
        moved.station_rates,
        moved.operation_rates,
        state.told,
    )


def _between(state: State, ahead: _Ahead, time: int) -> State:
    """On the line from a state to the end of its next step. Linear, so that what is conserved stays conserved."""
    if time >= ahead.end:
        return _after(state, ahead.step, ahead.end, 1, False)
    share = (time - state.time) / (ahead.end - state.time)
    end = ahead.step
    edges = _mixed(state.edges, end.edges, share)
    edges[Way.SHUT] = state.edges[Way.SHUT]
    whole = _after(state, end, time, 1, False)
    return replace(
        whole,
        stations=_mixed(state.stations, end.stations, share),
        operations=_mixed(state.operations, end.operations, share),
        edges=edges,
    )


def _mixed(one: Floats, other: Floats, share: float) -> Floats:
    with np.errstate(invalid="ignore"):
        return one + share * (other - one)


def _rested(state: State, time: int) -> State:
    dt = (time - state.time) / SECOND
    return replace(
        state,
        time=time,
        edge_totals=state.edge_totals + dt * state.edge_rates,
        station_totals=state.station_totals + dt * state.station_rates,
        operation_totals=state.operation_totals + dt * state.operation_rates,
    )


def _rests_until(plan: Plan, time: int) -> int:
    """When a profile changes next, in microseconds."""
    now = time / SECOND
    change = min((source.profile.holds_until(now) for source in plan.sources), default=math.inf)
    return 1 << 62 if change == math.inf else max(round(change * SECOND), time + 1)


def _turns(plan: Plan, state: State) -> int:
    """When a profile changes or a breaker tries again next, in microseconds."""
    change = _rests_until(plan, state.time)
    if plan.breaks:
        shut = state.edges[Way.SHUT]
        ends = shut[shut > state.time / SECOND]
        if ends.size:
            change = min(change, max(round(float(ends.min()) * SECOND), state.time + 1))
    return change


def _rests(plan: Plan, ahead: _Ahead) -> bool:
    """Whether nothing changes by the clock alone: warm-ups are over, no breaker is open, nothing leaks."""
    now = ahead.end / SECOND
    warm = (plan.cold >= 1.0) | (now - plan.since > WARM * plan.warm_up)
    leaking = plan.leak * ahead.step.station_rates[1] > 0.0
    return bool(warm.all() and not leaking.any() and (ahead.step.edges[Way.SHUT] <= now).all())


def _change(state: State, moved: Step) -> float:
    """The largest relative change of a step: of queues, caches, laws and calls in flight."""
    old, new = (
        _moving(state.stations, state.operations, state.edges),
        _moving(moved.stations, moved.operations, moved.edges),
    )
    return float((np.abs(new - old) / (np.abs(new) + FLOOR)).max())


def _moving(stations: Floats, operations: Floats, edges: Floats) -> Floats:
    moving = (
        stations[Held.QUEUE],
        stations[Held.FILLED],
        operations[Law.MEAN],
        operations[Law.OK],
        edges[Way.FLYING],
    )
    return np.concatenate(moving)


def _pressed(plan: Plan, stations: Floats) -> list[tuple[Literal["memory", "heap"], int, float]]:
    """Stations over a bound: (kind, station, bound)."""
    memory = stations[Held.MEMORY]
    if not (memory >= plan.pressure).any():
        return []
    found: list[tuple[Literal["memory", "heap"], int, float]] = []
    for number in np.flatnonzero(memory >= plan.memory_limit):
        found.append(("memory", int(number), float(plan.memory_limit[number])))
    for number in np.flatnonzero(memory >= plan.exhausted):
        found.append(("heap", int(number), float(plan.exhausted[number])))
    return found


def _event(plan: Plan, state: State, ahead: _Ahead) -> tuple[int, tuple[Event, ...]] | None:
    """The first instant of the next step at which a bound is reached, and which."""
    pressed = _pressed(plan, ahead.step.stations)
    first: list[tuple[int, Event]] = []
    for kind, number, bound in pressed:
        name = plan.stations[number].name
        if f"{kind} {name}" in state.told:
            continue
        old, new = float(state.stations[Held.MEMORY, number]), float(ahead.step.stations[Held.MEMORY, number])
        share = 0.0 if old >= bound or new <= old else (bound - old) / (new - old)
        when = state.time + math.ceil(share * (ahead.end - state.time))
        first.append((when, Event(when, kind, name)))
    if not first:
        return None
    when = min(time for time, _ in first)
    return when, tuple(event for time, event in first if time == when)
