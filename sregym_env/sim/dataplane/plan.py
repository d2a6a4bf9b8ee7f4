"""A network as arrays: what one step of the simulation needs, in the order in which it needs it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from sregym_env.sim.dataplane.network import NEVER, Edge, Leg, Network, Node, Operation, Source, Station
from sregym_env.sim.dataplane.queueing import PERIOD, erlang_c

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

HUGE = 1e12
"""Stands for infinity in arrays: large enough to bound nothing, small enough to multiply."""
HEAP_ROOM = 0.01
"""Share of the heap below which its free part does not shrink in the formula; beyond it the heap is exhausted (assumed)."""
LOADS = 128
"""Columns of the table of exponents."""
RETRANSMISSION = 0.2
"""Linux' ``TCP_RTO_MIN``: what a lost packet costs at first, seconds."""
EXPONENT_SLOPE = 2.0
"""Sakasegawa (1977): an arrival finds all c servers busy with probability ``rho ** (sqrt(2 (c + 1)) - 1)``; used where
there is no whole number of cores or there are many."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Index ranges: S stations, O operations, E edges (callers before callees), L legs (by edge), J sources."""

    sources: tuple[Source, ...]
    stations: tuple[Station, ...]
    operations: tuple[Operation, ...]
    edges: tuple[Edge, ...]
    nodes: tuple[Node, ...]
    depth: int
    """Edges on the longest way from a source."""

    # what occurs at all
    throttling: bool
    collecting: bool
    warming: bool
    looks: bool
    breaks: bool
    cancels: bool
    all_alive: bool
    parallel: bool

    # stations
    every: Ints
    """0, 1, 2, ..."""
    cores: Floats
    quota: Floats
    threads: Floats
    queue: Floats
    spread: Floats
    """Squared coefficient of variation of the CPU demand."""
    core_exponent: Floats
    """S x (LOADS + 1)."""
    thread_exponent: Floats
    throttles: NDArray[np.bool_]
    memory: Floats
    per_request: Floats
    leak: Floats
    memory_limit: Floats
    exhausted: Floats
    """Bytes at which a collector gains nothing any more."""
    pressure: Floats
    """The smaller of this and the memory limit."""
    allocation: Floats
    mark: Floats
    heap: Floats
    growth: Floats
    cold: Floats
    warm_up: Floats
    since: Floats
    ceiling: Floats
    keys: Floats
    ttl: Floats
    node: Ints
    """Index of the node; -1 for none."""
    weight: Floats
    back_pressure: Floats
    """Users that all callers together can have here at a time; infinite where one of them does not wait for answers."""
    pair_caller: Ints
    pair_callee: Ints
    """Stations of which the one calls the other with a thread in hand, where nobody calls that other without."""

    # operations
    station_of: Ints
    at_station: Floats
    """S x O, 1 where the operation is served there."""
    together: Floats
    """O x O, 1 where two operations share a station."""
    demand: Floats
    throttled: Floats
    """Seconds that a request of more CPU than a period's quota sits out by itself."""
    pause: Floats
    pause_var: Floats
    good: Floats
    """1 - failing."""

    # edges
    caller: Ints
    """Operation; O (one past the last) for sources."""
    source: Ints
    """Source of a root edge, else -1."""
    thinks: Floats
    """Mean thinking time of a closed source's users, infinite for others."""
    roots: Ints
    """The edges of the sources."""
    calls: Floats
    timeout: Floats
    retries: Floats
    backoff: Floats
    budget: Floats
    required: Floats
    waits: Floats
    lookup: Ints
    """Edges that are looked up first, -1 for none."""
    looking: Ints
    """The edges that have one."""
    threshold: Floats
    volume: Floats
    open_for: Floats
    before: Floats
    """E x E: 1 where the column's edge must succeed before the row's edge is called."""
    of_caller: Floats
    """O x E: 1 where the edge is the operation's."""
    held: Floats
    """O x E: 1 where the operation awaits the edge's answer."""
    group: Ints
    """First edge of every parallel group (edges are ordered by caller and stage)."""
    group_size: Ints
    of_group: Floats
    """O x G."""
    shares: Floats
    """O x E: share of the edge's attempts that reach the operation."""

    # legs
    leg_edge: Ints
    leg_first: Ints
    """First leg of every edge."""
    leg_op: Ints
    """Operation; 0 for dead legs."""
    leg_station: Ints
    leg_share: Floats
    alive: Floats
    leg_delay: Floats
    leg_var: Floats
    leg_timeout: Floats
    leg_cancel: Floats
    """Seconds after which the callee drops the attempt; infinite where it does not."""
    dead_kind: Ints
    """0 refused, 1 blackhole, 2 error; only where not alive."""

    # names
    station_index: dict[str, int]
    operation_index: dict[str, int]
    edge_index: dict[str, int]
    node_cores: Floats
    node_other: Floats
    node_other_weight: Floats

    # what follows from these, and would be worked out by every step

    @cached_property
    def patience(self) -> Floats:
        """Time-outs by leg that can be squared."""
        return np.minimum(self.leg_timeout, 1e6)

    @cached_property
    def quick(self) -> Floats:
        """Seconds after which a leg's client knows that it was turned away."""
        return np.minimum(self.leg_delay, self.leg_timeout)

    @cached_property
    def buried(self) -> tuple[Ints, Floats]:
        """(legs on which nobody answers, how attempts end there: at once, or never within the time-out), in the rows of
        :func:`~.step.attempts`."""
        dead = np.flatnonzero(self.alive == 0.0)
        kind, timeout, delay = self.dead_kind[dead], self.leg_timeout[dead], self.leg_delay[dead]
        silent = (kind == 1) | (delay >= timeout)
        waited = np.where(kind == 1, np.where(timeout < HUGE, timeout, delay), self.quick[dead])
        table = np.zeros((6, len(dead)))
        table[0], table[1] = waited, waited * waited
        table[2] = silent
        table[3] = ~silent & (kind == 2)
        table[5] = ~silent & (kind == 0)
        return dead, table

    @cached_property
    def gives_up(self) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """By leg: (whether the callee drops attempts, the share of the edge's attempts of which it does, after how many seconds)."""
        cancels = self.leg_cancel < HUGE
        return cancels, self.leg_share * self.alive * cancels, np.where(cancels, self.leg_cancel, 0.0)

    @cached_property
    def per_period(self) -> Floats:
        """CPU seconds of a period's quota."""
        return np.minimum(self.quota, 1e6) * PERIOD

    @cached_property
    def burstiness(self) -> Floats:
        """By how much a queue is longer for the variability of its work."""
        return 0.5 * (1.0 + self.spread)


def plan_of(network: Network) -> Plan:
    """The arrays of a network, compiled once per value and kept beside it.

    Raises ValueError where names are missing or ambiguous, calls form a cycle or shares do not sum to 1.
    """
    found = network.__dict__.get("plan")
    if found is None:
        found = _compiled(network)
        network.__dict__["plan"] = found
    plan: Plan = found
    return plan


def _index(kind: str, names: Sequence[str]) -> dict[str, int]:
    index = {name: number for number, name in enumerate(names)}
    if len(index) != len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two {kind} are called {double!r}: give every one its own name")
    return index


def _floats(values: Sequence[float]) -> Floats:
    return np.minimum(np.array(values, dtype=np.float64), HUGE)


def _pooled(network: Network) -> Network:
    """Every connection pool as a station of its own, which holds a connection as others hold a thread."""
    stations, operations, edges = list(network.stations), list(network.operations), []
    for edge in network.edges:
        alive = [leg for leg in edge.legs if leg.to]
        if edge.pool == NEVER or not alive:
            edges.append(edge)
            continue
        name = f"{edge.name}/pool"
        share = math.fsum(leg.share for leg in alive)
        stations.append(Station(name, threads=edge.pool))
        operations.append(Operation(name, name))
        dead = [leg for leg in edge.legs if not leg.to]
        edges.append(replace(edge, legs=(Leg(name, share), *dead)))
        inner = tuple(replace(leg, share=leg.share / share) for leg in alive)
        edges.append(Edge(f"{edge.name}/connection", name, inner, cancels=edge.cancels))
    return replace(network, stations=tuple(stations), operations=tuple(operations), edges=tuple(edges))


def _compiled(network: Network) -> Plan:
    full = _pooled(network)
    stations, operations = full.stations, full.operations
    station_index = _index("stations", [each.name for each in stations])
    operation_index = _index("operations", [each.name for each in operations])
    source_index = _index("sources", [each.name for each in full.sources])
    node_index = _index("nodes", [each.name for each in full.nodes])
    edges = _ordered(full.edges, operation_index, source_index)
    edge_index = _index("edges", [each.name for each in edges])
    s, o, e = len(stations), len(operations), len(edges)
    station_of = np.array(
        [_known(station_index, each.station, "station") for each in operations], dtype=np.intp
    )
    at_station = np.zeros((s, o))
    at_station[station_of, np.arange(o)] = 1.0
    callers = np.array([operation_index.get(each.caller, o) for each in edges], dtype=np.intp)
    lookup = np.array(
        [_known(edge_index, each.lookup, "edge") if each.lookup else -1 for each in edges], dtype=np.intp
    )
    legs = [(number, leg) for number, each in enumerate(edges) for leg in each.legs]
    leg_edge = np.array([number for number, _ in legs], dtype=np.intp)
    leg_op = np.array([operation_index[leg.to] if leg.to else 0 for _, leg in legs], dtype=np.intp)
    alive = np.array([1.0 if leg.to else 0.0 for _, leg in legs])
    leg_share = np.array([leg.share for _, leg in legs])
    reaching = np.bincount(leg_op * e + leg_edge, leg_share * alive, o * e)
    shares = reaching.reshape(o, e).astype(np.float64)
    collectors = [each.collector for each in stations]
    caches = [each.cache for each in stations]
    breakers = [each.breaker for each in edges]
    groups = _groups(edges)
    of_caller = np.zeros((o, e))
    before = np.zeros((e, e))
    for number, each in enumerate(edges):
        if callers[number] < o:
            of_caller[callers[number], number] = 1.0
        for other, earlier in enumerate(edges):
            if earlier.caller == each.caller and callers[number] < o and earlier.stage < each.stage:
                before[number, other] = float(earlier.required and earlier.waits)
    of_group = np.zeros((o, len(groups)))
    for number, (first, _) in enumerate(groups):
        if callers[first] < o:
            of_group[callers[first], number] = 1.0
    waits = np.array([float(each.waits) for each in edges])
    users = {each.name: each.users for each in full.sources}
    bounded_by, pairs = _back_pressure(stations, edges, users, station_of, callers, legs, leg_op)
    cores = _floats([each.cores for each in stations])
    quota = _floats([min(each.quota, each.cores) for each in stations])
    threads = _floats([each.threads for each in stations])
    limits = np.array([min(each.memory_limit, 1e18) for each in stations])
    heap = np.array([min(each.heap, 1e18) if each else 1e18 for each in collectors])
    exhausted = (1.0 - HEAP_ROOM) * heap
    thinks = {each.name: max(each.think, 1e-6) for each in full.sources if each.users}
    delays, variances = _wire([leg for _, leg in legs])
    return Plan(
        sources=network.sources,
        stations=stations,
        operations=operations,
        edges=edges,
        nodes=full.nodes,
        depth=_depth(edges, operation_index),
        throttling=bool((quota < cores).any()),
        collecting=any(collectors),
        warming=any(each.cold < 1.0 for each in stations),
        looks=bool((lookup >= 0).any()),
        breaks=any(breakers),
        cancels=any(each.cancels for each in edges),
        all_alive=bool(alive.all()),
        parallel=any(size > 1 for _, size in groups),
        every=np.arange(s),
        cores=cores,
        quota=quota,
        threads=threads,
        queue=_floats([each.queue for each in stations]),
        spread=_floats([each.variability for each in stations]),
        core_exponent=_exponents(cores),
        thread_exponent=np.sqrt(EXPONENT_SLOPE * (np.minimum(threads, 1e6) + 1.0)) - 1.0,
        throttles=quota < cores,
        memory=_floats([each.memory for each in stations]),
        per_request=_floats([each.per_request for each in stations]),
        leak=_floats([each.leak for each in stations]),
        memory_limit=limits,
        exhausted=exhausted,
        pressure=np.minimum(limits, exhausted),
        allocation=_floats([each.allocation if each else 0.0 for each in collectors]),
        mark=_floats([each.mark if each else 0.0 for each in collectors]),
        heap=heap,
        growth=np.array([min(each.growth, 1e9) if each else 1e9 for each in collectors]),
        cold=_floats([each.cold for each in stations]),
        warm_up=_floats([max(each.warm_up, 1e-9) for each in stations]),
        since=np.array([max(each.since, -HUGE) for each in stations]),
        ceiling=_floats([each.ceiling if each else 0.0 for each in caches]),
        keys=_floats([each.keys if each else 1.0 for each in caches]),
        ttl=_floats([each.ttl if each else NEVER for each in caches]),
        node=np.array(
            [_known(node_index, each.node, "node") if each.node else -1 for each in stations], dtype=np.intp
        ),
        weight=_floats([each.weight for each in stations]),
        back_pressure=bounded_by,
        pair_caller=np.array([caller for caller, _ in pairs], dtype=np.intp),
        pair_callee=np.array([callee for _, callee in pairs], dtype=np.intp),
        station_of=station_of,
        at_station=at_station,
        together=at_station.T @ at_station,
        demand=_floats([each.demand for each in operations]),
        throttled=_sat_out(operations, quota[station_of]),
        pause=_floats([each.pause for each in operations]),
        pause_var=_floats([each.pause_variability * each.pause**2 for each in operations]),
        good=1.0 - _floats([each.failing for each in operations]),
        caller=callers,
        source=np.array(
            [-1 if each.caller in operation_index else source_index[each.caller] for each in edges],
            dtype=np.intp,
        ),
        thinks=_floats([thinks.get(each.caller, NEVER) for each in edges]),
        roots=np.flatnonzero(callers == o),
        calls=_floats([each.calls for each in edges]),
        timeout=_floats([each.timeout for each in edges]),
        retries=_floats([each.retries for each in edges]),
        backoff=_floats([max(each.backoff, 1e-6) for each in edges]),
        budget=_floats([each.budget for each in edges]),
        required=np.array([float(each.required and each.waits) for each in edges]),
        waits=waits,
        lookup=lookup,
        looking=np.flatnonzero(lookup >= 0),
        threshold=_floats([each.threshold if each else NEVER for each in breakers]),
        volume=_floats([each.volume if each else NEVER for each in breakers]),
        open_for=_floats([each.pause if each else 1.0 for each in breakers]),
        before=before,
        of_caller=of_caller,
        held=of_caller * waits,
        group=np.array([first for first, _ in groups], dtype=np.intp),
        group_size=np.array([size for _, size in groups], dtype=np.intp),
        of_group=of_group,
        shares=shares,
        leg_edge=leg_edge,
        leg_first=np.array([int(np.argmax(leg_edge == number)) for number in range(e)], dtype=np.intp),
        leg_op=leg_op,
        leg_station=station_of[leg_op],
        leg_share=leg_share,
        alive=alive,
        leg_delay=delays,
        leg_var=variances,
        leg_timeout=_floats([edges[number].timeout for number, _ in legs]),
        leg_cancel=_floats([_cancelled_after(edges, number) for number, _ in legs]),
        dead_kind=np.array(
            [("refused", "blackhole", "error").index(leg.dead) for _, leg in legs], dtype=np.intp
        ),
        station_index=station_index,
        operation_index=operation_index,
        edge_index=edge_index,
        node_cores=_floats([each.cores for each in full.nodes]),
        node_other=_floats([each.other for each in full.nodes]),
        node_other_weight=_floats([each.other_weight for each in full.nodes]),
    )


def _known(index: dict[str, int], name: str, kind: str) -> int:
    if name not in index:
        raise ValueError(f"no {kind} is called {name!r}: known are {', '.join(sorted(index)) or 'none'}")
    return index[name]


def _ordered(
    edges: tuple[Edge, ...], operations: dict[str, int], sources: dict[str, int]
) -> tuple[Edge, ...]:
    """Edges by caller and stage, checked."""
    for edge in edges:
        if edge.caller not in operations and edge.caller not in sources:
            raise ValueError(
                f"edge {edge.name!r} has the caller {edge.caller!r}, which is neither operation nor source"
            )
        for leg in edge.legs:
            if leg.to and leg.to not in operations:
                raise ValueError(f"edge {edge.name!r} leads to {leg.to!r}, which is no operation")
        if abs(math.fsum(leg.share for leg in edge.legs) - 1.0) > 1e-6:
            raise ValueError(f"the shares of the legs of edge {edge.name!r} do not sum to 1")
    place = {name: number for number, name in enumerate((*sources, *operations))}
    return tuple(sorted(edges, key=lambda edge: (place[edge.caller], edge.stage if edge.waits else 1 << 30)))


def _groups(edges: tuple[Edge, ...]) -> list[tuple[int, int]]:
    """(first edge, number of edges) of every set of edges that are called at the same time."""
    groups: list[tuple[int, int]] = []
    for number, edge in enumerate(edges):
        last = edges[groups[-1][0]] if groups else None
        if last is not None and (last.caller, last.stage, last.waits) == (
            edge.caller,
            edge.stage,
            edge.waits,
        ):
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((number, 1))
    return groups


def _depth(edges: tuple[Edge, ...], operations: dict[str, int]) -> int:
    """The longest way, in edges. Raises ValueError where calls form a cycle."""
    called: dict[str, list[str]] = {}
    for edge in edges:
        called.setdefault(edge.caller, []).extend(leg.to for leg in edge.legs if leg.to)
    deep: dict[str, int] = {}
    return max((_below(name, (), called, deep) for name in called), default=0)


def _below(name: str, way: tuple[str, ...], called: Mapping[str, list[str]], deep: dict[str, int]) -> int:
    """The longest way on from ``name``, which ``way`` leads to; ``deep`` is what is known of others."""
    if name in way:
        raise ValueError(f"calls form a cycle: {' -> '.join((*way, name))}")
    if name not in deep:
        further = (_below(to, (*way, name), called, deep) for to in called.get(name, ()))
        deep[name] = 1 + max(further, default=-1)
    return deep[name]


def _wire(legs: list[Leg]) -> tuple[Floats, Floats]:
    """Mean and variance of the way there and back: the delay, and one or more retransmissions after losses."""
    delay = np.array([min(leg.delay, HUGE) for leg in legs])
    loss = np.minimum(np.array([leg.loss for leg in legs]), 0.9)
    # Doubling intervals: after n losses in a row 0.2 (2**n - 1) seconds have passed; cut off at 60 s.
    mean, square, reached = np.zeros(len(legs)), np.zeros(len(legs)), 1.0 - loss
    for count in range(1, 9):
        reached = reached * loss
        waited = RETRANSMISSION * (2**count - 1)
        mean = mean + reached * waited
        square = square + reached * waited**2
    jitter = np.array([leg.jitter for leg in legs])
    return delay + mean, jitter**2 + square - mean**2


def _sat_out(operations: tuple[Operation, ...], quota: Floats) -> Floats:
    demand = np.array([each.demand for each in operations])
    beyond = np.maximum(demand - quota * PERIOD, 0.0)
    return np.where(quota < 1.0, beyond * (1.0 / np.clip(quota, 1e-3, 1.0) - 1.0), 0.0)


def _exponents(cores: Floats) -> Floats:
    """With which power of the utilisation (columns from 0 to 1) an arrival waits for one of the cores: exact for M/M/c."""
    table = np.empty((len(cores), LOADS + 1))
    table[:] = np.sqrt(EXPONENT_SLOPE * (cores[:, None] + 1.0)) - 1.0
    for number, count in enumerate(cores):
        if count == round(count) and 1 <= count <= 64:
            table[number] = _exact_exponents(round(count))
    return table


@cache
def _exact_exponents(cores: int) -> tuple[float, ...]:
    loads = np.clip(np.arange(LOADS + 1) / LOADS, 0.02, 0.995)
    return tuple(math.log(erlang_c(cores, rho * cores)) / math.log(rho) for rho in loads)


def _cancelled_after(edges: tuple[Edge, ...], number: int) -> float:
    edge = edges[number]
    if not edge.cancels:
        return NEVER
    if edge.timeout == NEVER and edge.caller.endswith("/pool"):
        return next(
            (outer.timeout for outer in edges if outer.name == edge.caller.removesuffix("/pool")), NEVER
        )
    return edge.timeout


def _back_pressure(
    stations: tuple[Station, ...],
    edges: tuple[Edge, ...],
    users: dict[str, float],
    station_of: Ints,
    callers: Ints,
    legs: list[tuple[int, Leg]],
    leg_op: Ints,
) -> tuple[Floats, list[tuple[int, int]]]:
    """Where every caller awaits its answer: users at most (else infinite), and the (caller, callee) stations with threads."""
    room = np.zeros(len(stations))
    pairs: dict[tuple[int, int], None] = {}
    called = np.zeros(len(stations), dtype=bool)
    for (number, leg), op in zip(legs, leg_op, strict=True):
        if not leg.to:
            continue
        edge, callee = edges[number], int(station_of[op])
        called[callee] = True
        if (edge.timeout < NEVER and not edge.cancels) or not edge.waits:
            room[callee] = HUGE
        elif edge.caller in users:
            room[callee] += users[edge.caller] or HUGE
        elif stations[station_of[callers[number]]].threads == NEVER:
            room[callee] = HUGE
        else:
            pairs[int(station_of[callers[number]]), callee] = None
    room[~called] = HUGE
    room = np.minimum(room, HUGE)
    return room, [pair for pair in pairs if room[pair[1]] < HUGE]
