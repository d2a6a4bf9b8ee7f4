"""The call graph of the moment as the data plane understands it: a network of stations, operations and edges.

An :class:`Outline` is what an evaluation found, without the world: cheap to make after every change. Most worlds are far from
all their limits, so the network, and what time makes of it, is worked out only where an outline is :attr:`~Outline.strained`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.containers.resources import allocatable
from sregym_env.sim.dataplane.network import NEVER, Edge, Leg, Network, Node, Operation, Source, Station
from sregym_env.sim.network.connections import CONNECT_TIMEOUT
from sregym_env.sim.processes.flow import Evaluation, Made, NodeKey, Visit, Way
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.program import PLENTY, Call, Capacity

NEAR = 0.5
"""Share of a CPU limit or machine that is used, or of a client's patience that an answer takes, from which load counts."""
CONNECTIONS = 100.0
"""Requests of one journey that its users have open at most (the benchmark's ``wrk -c 100``; there all journeys share them,
here slow journeys do not hold up the others). Who gives up closes the connection."""
LONGEST_PAUSE = 2.0 * CONNECT_TIMEOUT
"""Seconds: what is held up for longer than anybody waits (a lock) is given up by its client, and its session ends."""
LEAST_SHARE = 0.1
"""A process that uses nearly all of its CPU limit at rest has at least this share of it left for requests (assumed)."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A process that requests reach."""

    key: ProcessKey
    restart: int
    started_at: int
    node: str
    cpu_limit: float | None
    at_rest: float
    """Cores used without a request."""
    memory: int
    memory_limit: int | None
    capacity: Capacity


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of call at a process."""

    key: NodeKey
    cpu: float
    """Seconds per request."""
    pause: float
    """Seconds per request that it waits without CPU, callees left out."""
    failing: float
    """Share that fails whatever the callees say."""
    made: tuple[Made, ...]
    latency: float
    """Mean seconds per request, callees included."""
    rate: float
    """Requests per second, were there no load to speak of."""


@dataclass(frozen=True)
class Outline:
    """What an evaluation found."""

    serving: tuple[Serving, ...]
    kinds: tuple[Kind, ...]
    offered: tuple[Made, ...]
    machines: tuple[tuple[str, float, float], ...]
    """(name, cores, cores used by everything that serves no request)."""

    @cached_property
    def strained(self) -> bool:
        """Whether load counts: something is near a limit, or fills up, or the wires are disturbed."""
        used, asked = self._used(), self._asked()
        for each in self.serving:
            if asked[each.key] > NEAR * each.capacity.rate:
                return True
            if each.cpu_limit and used[each.key] > NEAR * each.cpu_limit:
                return True
            if each.capacity is not PLENTY and _fills(each):
                return True
        busy = {name: other for name, _, other in self.machines}
        for each in self.serving:
            busy[each.node] = busy.get(each.node, 0.0) + used[each.key]
        if any(busy[name] > NEAR * cores for name, cores, _ in self.machines):
            return True
        made = [made for kind in self.kinds if kind.rate > 0.0 for made in kind.made]
        return any(_disturbed(each) for each in (*made, *self.offered))

    def _used(self) -> dict[ProcessKey, float]:
        used = {each.key: each.at_rest for each in self.serving}
        for kind in self.kinds:
            used[kind.key[0]] += kind.cpu * kind.rate
        return used

    def _asked(self) -> dict[ProcessKey, float]:
        asked = {each.key: 0.0 for each in self.serving}
        for kind in self.kinds:
            asked[kind.key[0]] += kind.rate
        return asked

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the edges of what is offered, in its order."""
        return tuple(_edge_name(f"source {number}", made, 1) for number, made in enumerate(self.offered))

    @cached_property
    def network(self) -> Network:
        """As the data plane understands it."""
        cores = {name: number for name, number, _ in self.machines}
        used = self._used()
        shared: dict[str, float] = {name: other for name, _, other in self.machines}
        for each in self.serving:
            shared[each.node] = shared.get(each.node, 0.0) + used[each.key]
        short = {name for name, number in cores.items() if shared[name] > NEAR * number}
        taken = {each.key: 0.0 for each in self.serving}
        for kind in self.kinds:
            taken[kind.key[0]] = max(taken[kind.key[0]], kind.latency)
        paces = {each.key: 1.0 / each.capacity.rate for each in self.serving}
        edges: list[Edge] = []
        # What waits for a limiter's worker is worked off, wanted or not.
        paced = {each.key for each in self.serving if each.capacity.rate < math.inf}
        known = {kind.key: kind.key[0] in paced for kind in self.kinds}
        for number, made in enumerate(self.offered):
            edges += _edges(f"source {number}", (made,), known, 1.0)
        for kind in self.kinds:
            edges += _edges(operation_name(kind.key), kind.made, known)
        return Network(
            tuple(
                _station(each, cores.get(each.node, 1.0), each.node in short, taken[each.key])
                for each in self.serving
            ),
            tuple(
                Operation(
                    operation_name(kind.key),
                    station_name(kind.key[0]),
                    kind.cpu,
                    kind.pause + paces[kind.key[0]],
                    0.0 if kind.pause >= LONGEST_PAUSE else 1.0,
                    failing=kind.failing,
                )
                for kind in self.kinds
            ),
            tuple(edges),
            tuple(Source(f"source {number}", made.share) for number, made in enumerate(self.offered)),
            tuple(Node(name, number, other, other) for name, number, other in self.machines if name in short),
        )


def station_name(key: ProcessKey) -> str:
    """What the data plane calls a process."""
    return f"{key[0]}/{key[1]}"


def operation_name(key: NodeKey) -> str:
    """What it calls a kind of call at a process."""
    process, call, port = key
    told = "".join(f"\0{name}\0{value}" for name, value in call.attributes)
    return f"{process[0]}/{process[1]}\0{port}\0{call.operation}{told}"


def outline_of(evaluation: Evaluation) -> Outline:
    """What an evaluation found, when rates have been sent down."""
    world = evaluation.world
    processes: dict[ProcessKey, Process] = {}
    for visit in evaluation.visits.values():
        if visit.rate > 0.0:
            processes.setdefault(visit.process.key, visit.process)
    at_rest = {key: _cpu(evaluation, process, {}) for key, process in processes.items()}
    serving = tuple(
        Serving(
            key,
            process.restart,
            process.started_at,
            process.node,
            process.cpu_limit,
            at_rest[key],
            process.memory,
            process.memory_limit,
            world.programs[process.program].capacity(evaluation.context(process)),
        )
        for key, process in processes.items()
    )
    kinds = tuple(
        _kind(evaluation, key, visit, at_rest[key[0]])
        for key, visit in evaluation.visits.items()
        if key[0] in processes
    )
    return Outline(serving, kinds, tuple(evaluation.offered), _machines(evaluation, processes))


def _cpu(evaluation: Evaluation, process: Process, rates: Mapping[str, float]) -> float:
    return evaluation.world.programs[process.program].usage(evaluation.context(process), rates).cpu


def _kind(evaluation: Evaluation, key: NodeKey, visit: Visit, at_rest: float) -> Kind:
    cpu = max(_cpu(evaluation, visit.process, {visit.call.operation: 1.0}) - at_rest, 0.0)
    pause = min(max(visit.flow.latency - visit.waited - cpu, 0.0), LONGEST_PAUSE)
    alive = 1.0 - sum(made.share * (1.0 - made.ok) for made in visit.made if made.required)
    failing = min(max(1.0 - visit.flow.ok / alive, 0.0), 1.0) if alive > 1e-9 else 0.0
    return Kind(key, cpu, pause, failing, tuple(visit.made), visit.flow.latency, visit.rate)


def _machines(
    evaluation: Evaluation, serving: Mapping[ProcessKey, Process]
) -> tuple[tuple[str, float, float], ...]:
    world = evaluation.world
    return tuple(
        (node["metadata"]["name"], allocatable(node).get("cpu", 1000) / 1000, 0.0)
        for node in world.store.list("nodes")
    )


def _fills(each: Serving) -> bool:
    capacity = each.capacity
    return capacity.leak > 0.0 or capacity.cold < 1.0 or capacity.collector is not None


def _disturbed(made: Made) -> bool:
    live = [way for way in made.ways if way.to is not None]
    if any(way.jitter or way.loss for way in live):
        return True
    return bool(live) and made.latency > NEAR * made.timeout


def _station(each: Serving, cores: float, short: bool, taken: float) -> Station:
    """A process; ``taken`` is how long its slowest kind of request takes without load."""
    capacity = each.capacity
    # A limiter is one worker that takes its time over each; who has passed it is served beside the others.
    threads = (
        capacity.threads if capacity.rate == math.inf else min(capacity.threads, 1.0 + capacity.rate * taken)
    )
    quota = (
        NEVER if each.cpu_limit is None else max(each.cpu_limit - each.at_rest, LEAST_SHARE * each.cpu_limit)
    )
    return Station(
        station_name(each.key),
        each.restart,
        each.started_at / SECOND,
        cores,
        min(quota, cores),
        threads,
        capacity.queue,
        capacity.variability,
        float(each.memory),
        capacity.per_request,
        capacity.leak,
        NEVER if each.memory_limit is None else float(each.memory_limit),
        capacity.collector,
        cold=capacity.cold,
        warm_up=capacity.warm_up,
        node=each.node if short else "",
    )


def _edges(
    caller: str, made: tuple[Made, ...], known: Mapping[NodeKey, bool], often: float | None = None
) -> list[Edge]:
    """The calls of one caller; ``often`` per request where that is not their share."""
    found = []
    alive = 1.0
    seen: dict[tuple[str, int, Call], int] = {}
    for each in made:
        place = (each.host, each.port, each.call)
        seen[place] = seen.get(place, 0) + 1
        calls = each.share / alive if often is None and alive > 1e-6 else often or 0.0
        if each.required and often is None:
            alive = max(alive - each.share * (1.0 - each.ok), 0.0)
        legs = tuple(_leg(way, each.timeout) for way in each.ways if way.to is None or way.to in known)
        total = sum(leg.share for leg in legs)
        if calls <= 0.0 or total <= 0.0:
            continue
        if abs(total - 1.0) > 1e-9:
            legs = tuple(
                Leg(leg.to, leg.share / total, leg.delay, leg.jitter, leg.loss, leg.dead) for leg in legs
            )
        again = each.again
        found.append(
            Edge(
                _edge_name(caller, each, seen[place]),
                caller,
                legs,
                calls,
                each.stage,
                each.timeout,
                retries=0.0 if again is None else float(again.retries),
                backoff=0.0 if again is None else _pause(again.backoff, again.multiplier, again.retries),
                pool=NEVER if often is None else CONNECTIONS * each.crowd,
                cancels=(each.cancels or often is not None)
                and not any(way.to is not None and known.get(way.to) for way in each.ways),
                required=each.required,
                waits=each.waits,
            )
        )
    return found


def _edge_name(caller: str, made: Made, number: int) -> str:
    return f"{caller}\0\0{made.host}\0{made.port}\0{made.call.operation}\0{made.call.attributes}\0{number}"


def _pause(first: float, multiplier: float, retries: int) -> float:
    """The mean of the pauses of a policy all of whose retries are made."""
    return first * sum(multiplier**number for number in range(retries)) / max(retries, 1)


def _leg(way: Way, timeout: float) -> Leg:
    if way.to is not None:
        return Leg(operation_name(way.to), way.share, way.delay, way.jitter, way.loss)
    silent = way.outcome == "timeout" and way.delay >= timeout
    return Leg("", way.share, way.delay, dead="blackhole" if silent else "refused")
