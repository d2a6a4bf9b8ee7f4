"""Failures that outlive their trigger, and the ways out that somebody at a console has.

The parameters are those of SREGym's problems where it publishes them (time-outs, attempts, rates, queues); demands are
assumed so that the healthy system is at a third to a half of its capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from sregym_env.runtime.clock import seconds
from sregym_env.sim.dataplane.accounting import EdgeTotal
from sregym_env.sim.dataplane.advance import adopt, advance, at, begin
from sregym_env.sim.dataplane.network import Cache, Collector, Edge, Leg, Network, Operation, Source, Station
from sregym_env.sim.dataplane.plan import plan_of
from sregym_env.sim.dataplane.profiles import Spike
from sregym_env.sim.dataplane.state import State

Change = Callable[[Network], Network]
HEALTHY = 0.9
"""Share of the calls that succeed where a system counts as well."""
TRIGGER, PASSED, HELD, LATER = 60.0, 100.0, 300.0, 600.0
"""Begin and end of the trigger; how long it is watched before somebody acts; when it is judged."""


@dataclass(frozen=True)
class Action:
    """What somebody does: for good, or for some seconds."""

    change: Change
    lasts: float = 0.0
    """0 for good."""
    once: bool = False
    """Whether the change is an event (a restart) and not a condition."""


@dataclass(frozen=True)
class Trap:
    """A healthy network, what strikes it for a while, and what can be done."""

    network: Network
    struck: Network
    left: Network
    """What is left when the trigger has passed (mostly the healthy network)."""
    actions: Mapping[str, Action]
    escapes: tuple[frozenset[str], ...]
    """Documented: each alone brings the users back for good."""


def success(network: Network, state: State, until: float, over: float = 30.0) -> tuple[State, float]:
    """Let time pass; the share of the users' calls that succeed in the last seconds."""
    state = run(network, state, until - over)
    before = at(network, state, seconds(until - over)).edge_totals
    state = run(network, state, until)
    gained = (at(network, state, seconds(until)).edge_totals - before)[
        :, plan_of(network).edge_index["users"]
    ]
    return state, float(gained[EdgeTotal.OK] / max(gained[EdgeTotal.CALLS], 1e-9))


def run(network: Network, state: State, until: float) -> State:
    """Let time pass; nobody acts on events."""
    while True:
        state, events = advance(network, state, seconds(until))
        if not events:
            return state


def moved(state: State, before: Network, after: Network, time: float) -> State:
    """Another network from ``time`` on."""
    return adopt(at(before, run(before, state, time), seconds(time)), before, after)


def trapped(trap: Trap) -> tuple[float, State, float]:
    """(share that succeeds before the trigger, state long after it, share that succeeds then)."""
    state, healthy = success(trap.network, begin(trap.network, 0, settled=True), TRIGGER)
    state = moved(state, trap.network, trap.struck, TRIGGER)
    state = moved(state, trap.struck, trap.left, PASSED)
    state, stuck = success(trap.left, state, HELD)
    return healthy, state, stuck


def after(trap: Trap, state: State, names: frozenset[str]) -> float:
    """The share that succeeds in the end where somebody does these things, all at once."""
    chosen = [trap.actions[name] for name in trap.actions if name in names]
    now = trap.left
    for action in chosen:
        now = action.change(now)
    state = moved(state, trap.left, now, HELD + 1.0)
    for end in sorted({action.lasts for action in chosen if action.lasts}):
        following = trap.left
        for action in chosen:
            if not action.lasts or action.lasts > end or action.once:
                following = action.change(following)
        state = moved(state, now, following, HELD + 1.0 + end)
        now = following
    return success(now, state, LATER + 400.0)[1]


def escapes(trap: Trap, state: State) -> list[frozenset[str]]:
    """The smallest sets of at most two actions that help, found by trying all."""
    found: list[frozenset[str]] = []
    for size in (1, 2):
        for names in map(frozenset, combinations(trap.actions, size)):
            if not any(known <= names for known in found) and after(trap, state, names) >= HEALTHY:
                found.append(names)
    return found


# --- what can be done -----------------------------------------------------------------------------------------


def policy(edges: str, **fields: float) -> Change:
    """Other time-outs or retries on the edges whose names begin so."""

    def change(network: Network) -> Network:
        return replace(
            network,
            edges=tuple(
                replace(each, **fields) if each.name.startswith(edges) else each  # type: ignore[arg-type]
                for each in network.edges
            ),
        )

    return change


def restarted(network: Network) -> Network:
    """Every process begins anew, with empty queues."""
    return replace(network, stations=tuple(replace(each, run=each.run + 1) for each in network.stations))


def shed(share: float) -> Change:
    """Only a share of the users is let in."""

    def change(network: Network) -> Network:
        return replace(
            network, sources=tuple(replace(each, rate=each.rate * share) for each in network.sources)
        )

    return change


def faster(factor: float, *names: str) -> Change:
    """Stations with more (or fewer) cores' worth of speed."""

    def change(network: Network) -> Network:
        return replace(
            network,
            operations=tuple(
                replace(each, demand=each.demand / factor) if each.station in names else each
                for each in network.operations
            ),
        )

    return change


# --- the traps --------------------------------------------------------------------------------------------------

SHED = Action(shed(0.2), lasts=120.0)
RESTART = Action(restarted, once=True)


def _reservation(timeout: float, retries: int, rate: float) -> Network:
    """Blueprint's hotel reservation in short: three services in a row, each with the retry policy of one ConfigMap."""
    return Network(
        tuple(Station(name, cores=4, queue=500) for name in ("frontend", "search", "rate")),
        (
            Operation("hotels", "frontend", demand=0.002),
            Operation("nearby", "search", demand=0.003),
            Operation("rates", "rate", demand=0.005),
        ),
        (
            Edge("users", "load", (Leg("hotels"),), timeout=4.0),
            Edge("rpc search", "hotels", (Leg("nearby", delay=0.001),), timeout=timeout, retries=retries),
            Edge("rpc rate", "nearby", (Leg("rates", delay=0.001),), timeout=timeout, retries=retries),
        ),
        (Source("load", rate=rate),),
    )


def _delayed(network: Network, seconds_: float) -> Network:
    edges = tuple(
        replace(edge, legs=tuple(replace(leg, delay=leg.delay + seconds_) for leg in edge.legs))
        if edge.name.startswith("rpc")
        else edge
        for edge in network.edges
    )
    return replace(network, edges=edges)


def _limited(network: Network) -> Network:
    """The LimitRange that is left: fewer cores for everybody."""
    return faster(0.5, "frontend", "search", "rate")(network)


RPC = {
    "time-out of 1 s and 1 retry": Action(policy("rpc", timeout=1.0, retries=1)),
    "no quota": Action(faster(2.0, "frontend", "search", "rate")),
    "shed to 20 % for 120 s": SHED,
    "restart": RESTART,
}


def traps() -> dict[str, Trap]:
    """By SREGym's name of the problem."""
    storm = _reservation(0.05, 30, 300.0)
    spiked = replace(storm, sources=(Source("load", rate=300.0, profile=Spike(TRIGGER, 30.0, 6.0)),))
    collected = _collected(1.0)
    searched = _searched()
    cached = _cached()
    return {
        "capacity_decrease_rpc_retry_storm": Trap(
            storm,
            _delayed(faster(0.3, "frontend", "search", "rate")(storm), 0.1),
            _limited(storm),
            RPC,
            (frozenset({"time-out of 1 s and 1 retry", "restart"}),),
        ),
        "load_spike_rpc_retry_storm": Trap(
            spiked,
            spiked,
            spiked,
            {name: action for name, action in RPC.items() if name != "no quota"},
            (frozenset({"time-out of 1 s and 1 retry"}), frozenset({"restart"})),
        ),
        "gc_capacity_degradation": Trap(
            collected,
            shed(3.0)(collected),
            collected,
            {
                "twice the heap": Action(_heap(2.0)),
                "restart": RESTART,
                "shed to 20 % for 120 s": SHED,
            },
            (frozenset({"twice the heap"}), frozenset({"restart"}), frozenset({"shed to 20 % for 120 s"})),
        ),
        "search_rate_retry_collapse_hotel_reservation": Trap(
            searched,
            shed(5.0)(searched),
            searched,
            {
                "limit of 50 per second": Action(faster(2.5, "rate")),
                "time-out of 1 s and 2 attempts": Action(policy("rpc", timeout=1.0, retries=1)),
                "shed to 20 % for 120 s": SHED,
                "restart": RESTART,
            },
            (frozenset({"limit of 50 per second"}),),
        ),
        "cache_flush_capacity_degradation": Trap(
            cached,
            replace(cached, stations=tuple(replace(s, run=1) if s.cache else s for s in cached.stations)),
            replace(cached, stations=tuple(replace(s, run=1) if s.cache else s for s in cached.stations)),
            {
                "no retries": Action(policy("fetch", retries=0)),
                "shed to 20 % for 300 s": Action(shed(0.2), lasts=300.0),
                "restart the database": Action(_anew("database"), once=True),
                "four times the database": Action(faster(4.0, "database")),
            },
            (frozenset({"no retries", "shed to 20 % for 300 s"}),),
        ),
    }


def _anew(*names: str) -> Change:
    def change(network: Network) -> Network:
        return replace(
            network,
            stations=tuple(
                replace(each, run=each.run + 1) if each.name in names else each for each in network.stations
            ),
        )

    return change


def _collected(heap: float) -> Network:
    """256 MB of heap and a queue that fits into it, as OSDI'22 has it; 40 requests per second of 133."""
    collector = Collector(allocation=1e6, mark=1.6e-8, heap=256e6 * heap)
    return Network(
        (Station("server", cores=4, collector=collector, memory=60e6, per_request=1.5e6, queue=118.0),),
        (Operation("serve", "server", demand=0.03),),
        (Edge("users", "load", (Leg("serve"),), timeout=30.0),),
        (Source("load", rate=45.0),),
    )


def _heap(factor: float) -> Change:
    def change(network: Network) -> Network:
        stations = []
        for each in network.stations:
            assert each.collector is not None
            stations.append(
                replace(each, collector=replace(each.collector, heap=each.collector.heap * factor))
            )
        return replace(network, stations=tuple(stations))

    return change


def _searched() -> Network:
    """SREGym's build: rate works off 20 per second from a queue of 256, search tries three times for 750 ms each."""
    return Network(
        (Station("search", cores=4), Station("rate", cores=1, queue=256, variability=0.0)),
        (Operation("nearby", "search", demand=0.003), Operation("rates", "rate", demand=1.0 / 20.0)),
        (
            Edge("users", "load", (Leg("nearby"),), timeout=4.0),
            Edge("rpc rate", "nearby", (Leg("rates", delay=0.001),), timeout=0.75, retries=2, backoff=0.075),
        ),
        (Source("load", rate=8.0),),
    )


def _cached() -> Network:
    """OSDI'22's look-aside cache: nine of ten are found, the database does 120 per second."""
    stations = (
        Station("web", cores=8),
        Station("cache", cores=4, cache=Cache(keys=8_000.0, ceiling=0.9)),
        Station("database", cores=6, queue=4000),
    )
    operations = (
        Operation("page", "web", demand=0.002),
        Operation("get", "cache", demand=0.0002),
        Operation("query", "database", demand=0.05),
    )
    edges = (
        Edge("users", "load", (Leg("page"),)),
        Edge("look", "page", (Leg("get"),), required=False),
        Edge("fetch", "page", (Leg("query"),), stage=1, lookup="look", timeout=1.0, retries=2, backoff=0.05),
    )
    return Network(stations, operations, edges, (Source("load", rate=400.0),))
