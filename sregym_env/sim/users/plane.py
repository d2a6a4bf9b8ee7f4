"""The data plane in the world: its state from one look to the next, and what it does to the processes.

While nothing is near its limits there is no state: what an evaluation finds holds, without end and at no cost. Where something is, the
network of the moment runs through time; whoever makes a request meets its strains, and the world acts on its events.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.dataplane.accounting import EdgeTotal, OperationTotal, StationTotal
from sregym_env.sim.dataplane.advance import Event, adopt, advance, at, begin
from sregym_env.sim.dataplane.network import Network
from sregym_env.sim.dataplane.plan import Floats, plan_of
from sregym_env.sim.dataplane.state import TICK, Held, Law, State, Way
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.users.compiling import Outline, operation_name, station_name
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import ProcessKey
from sregym_env.sim.world.program import Call
from sregym_env.sim.world.strain import OFFERED, STRAINS, Ended, Served, Strain

PLANE = "traffic.plane"
"""``world.memory`` key of the :class:`Running` data plane."""
NEXT = "traffic.next"
"""``world.memory`` key of the instant of the next look that the data plane has asked for."""

SOONEST, LATEST = SECOND, 60 * SECOND
"""Bounds of the time until a data plane that moves is looked at again."""
PATIENCE = 3
"""It is looked at again after this part of the time since its network was changed, or after as long as its figures have not moved."""
MOVED = 0.05
"""Relative change of a figure, while it moves, below which it is left as it was told last: whoever is told anew has to think anew."""
FULL = 0.98
"""Share of a cache's keys with which it counts as full."""
LEAST = 1e-3
"""Seconds, shares or requests per second below which a change is taken as one of this."""
AT_REST = 8 * SECOND
"""Length of a step (taken only where little changes within one) from which on calm servers need no data plane."""
DIGITS = 3
"""Significant digits of a strain."""


class Running(NamedTuple):
    """A data plane that runs."""

    network: Network
    state: State
    since: int
    """When its network last became another one."""
    moved: int
    """When its figures last moved so far that they were told."""
    told: Floats | None = None
    """Those figures; None where the network has become another one since."""
    ahead: State | None = None
    """What it comes to by the next look if nothing changes before."""


def turn(world: SimWorld, outline: Outline) -> None:
    """Bring the data plane to this instant under the network of the moment, and leave its strains in the world."""
    running: Running | None = world.memory.get(PLANE)
    if running is None and not outline.strained:
        return
    now = world.clock
    if not outline.kinds:
        # Nobody is left to serve anything.
        world.memory.pop(PLANE, None)
        world.memory.pop(NEXT, None)
        _leave(world, {}, ())
        return
    if running is None:
        running = Running(outline.network, begin(outline.network, now), now, now)
    else:
        running = _moved(world, running, outline.network, now)
        if not outline.strained and _idle(running):
            world.memory.pop(PLANE, None)
            world.memory.pop(NEXT, None)
            _leave(world, {}, ())
            return
    state = at(running.network, running.state, now)
    figures = _figures(state)
    if running.told is None or state.steady or _differ(running.told, figures):
        _leave(world, _strains(outline, running.network, state), _ended(outline, running.network, state))
        running = running._replace(moved=now, told=figures)
    world.memory[PLANE] = _looking_ahead(world, running, now)


def next_look(world: SimWorld, due: int) -> bool:
    """Whether a look that the data plane has asked for is still wanted."""
    return bool(world.memory.get(NEXT) == due)


def _moved(world: SimWorld, running: Running, network: Network, now: int) -> Running:
    state = running.state
    if running.ahead is not None and running.ahead.time <= now:
        state = running.ahead
    while True:
        state, events = advance(running.network, state, now)
        for event in events:
            _act(world, event)
        if not events:
            break
    # The very same value while nothing has changed: comparing is quick.
    if network == running.network:
        return running._replace(state=state, ahead=None)
    return Running(network, adopt(at(running.network, state, now), running.network, network), now, now)


def _figures(state: State) -> Floats:
    """All that strains are made of, in a row."""
    parts = (
        state.stations[Held.TURNED : Held.MEMORY + 1].ravel(),
        state.station_rates[[StationTotal.CPU, StationTotal.THROTTLED]].ravel(),
        state.operations[Law.MEAN],
        np.sqrt(np.maximum(state.operations[Law.VARIANCE], 0.0)),
        state.operation_rates[OperationTotal.SERVED],
        state.edge_rates.ravel(),
        state.edges[Way.MEAN],
    )
    return np.concatenate(parts)


def _differ(one: Floats, other: Floats) -> bool:
    return bool((np.abs(other - one) > MOVED * (np.abs(one) + LEAST)).any())


def _idle(running: Running) -> bool:
    """Whether nothing is left of what load has done."""
    state = running.state
    held = state.stations
    if not (held[Held.UTILISATION] < 0.5).all():
        return False
    if state.steady:
        return True
    caches = plan_of(running.network).ceiling > 0.0
    full = bool((held[Held.FILLED, caches] > FULL).all())
    shut = state.edges[Way.SHUT] > state.time / SECOND
    return state.stride * TICK >= AT_REST and full and not held[Held.LEAKED].any() and not shut.any()


def _act(world: SimWorld, event: Event) -> None:
    key = _process(event.station)
    process = world.processes.get(key)
    if process is None:
        return
    context = ProcessContext(world, process)
    if event.kind == "memory":
        context.killed()
    else:
        world.programs[process.program].wake(context, "heap")


def _process(station: str) -> ProcessKey:
    pod, _, container = station.partition("/")
    return pod, container


def _looking_ahead(world: SimWorld, running: Running, now: int) -> Running:
    """Have a data plane that moves looked at again: soon after a change, and when something is about to happen."""
    if running.state.steady:
        world.memory.pop(NEXT, None)
        return running
    due = now + min(max((now - running.since) // PATIENCE, now - running.moved, SOONEST), LATEST)
    ahead, events = advance(running.network, running.state, due)
    if events:
        # By itself: what happens then is acted on by the look of that moment.
        due, ahead = max(events[0].time, now + 1), running.state
    if world.memory.get(NEXT) != due:
        world.memory[NEXT] = due
        world.queue.push(due, "traffic.again", due)
    return running._replace(ahead=ahead)


def _leave(world: SimWorld, strains: dict[ProcessKey, Strain], ended: tuple[Ended, ...]) -> None:
    if world.memory.get(STRAINS, {}) == strains and world.memory.get(OFFERED, ()) == ended:
        return
    for name, value in ((STRAINS, strains), (OFFERED, ended)):
        if value:
            world.memory[name] = value
        else:
            world.memory.pop(name, None)
    world.stirred()


def _ended(outline: Outline, network: Network, state: State) -> tuple[Ended, ...]:
    plan = plan_of(network)
    found = []
    for name in outline.sources:
        number = plan.edge_index[name]
        rates = state.edge_rates[:, number]
        late = rates[EdgeTotal.LAST_TIMEOUT] + rates[EdgeTotal.LAST_REJECTED]
        wrong = rates[EdgeTotal.LAST_ERROR] + rates[EdgeTotal.LAST_REFUSED]
        total = max(rates[EdgeTotal.OK] + late + wrong, 1e-9)
        edge = plan.edges[number]
        first = plan.leg_first[number]
        variance = state.operations[Law.VARIANCE, plan.leg_op[first]] if edge.legs[0].to else 0.0
        figures = (
            rates[EdgeTotal.OK] / total,
            late / total,
            state.edges[Way.MEAN, number],
            min(math.sqrt(variance), edge.timeout / 2.0),
        )
        found.append(Ended(*map(_figure, figures)))
    return tuple(found)


def _strains(outline: Outline, network: Network, state: State) -> dict[ProcessKey, Strain]:
    plan = plan_of(network)
    served: dict[ProcessKey, dict[tuple[Call, int], Served]] = {}
    for kind in outline.kinds:
        number = plan.operation_index[operation_name(kind.key)]
        mean, variance = state.operations[Law.MEAN, number], state.operations[Law.VARIANCE, number]
        rate = state.operation_rates[OperationTotal.SERVED, number]
        served.setdefault(kind.key[0], {})[(kind.key[1], kind.key[2])] = Served(
            *map(_figure, (mean, variance, rate))
        )
    found = {}
    for each in outline.serving:
        number = plan.station_index[station_name(each.key)]
        held, rates = state.stations[:, number], state.station_rates[:, number]
        periods = rates[StationTotal.PERIODS]
        found[each.key] = Strain(
            _figure(held[Held.WAITS]),
            _figure(held[Held.WAIT]),
            _figure(held[Held.WAIT_SPREAD]),
            _figure(held[Held.TURNED]),
            _figure(held[Held.STRETCH]),
            _figure(rates[StationTotal.THROTTLED] / periods) if periods > 0.0 else 0.0,
            round(_figure(held[Held.MEMORY])),
            _figure(rates[StationTotal.CPU]),
            served.get(each.key, {}),
            each.capacity.rate < math.inf,
        )
    return found


def _figure(value: float) -> float:
    """Rounded to :data:`DIGITS`, and no tiny ones."""
    return 0.0 if abs(value) < 1e-9 else float(f"{value:.{DIGITS}g}")
