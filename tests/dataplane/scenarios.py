"""Five hundred and ten ways to strike a network, in each of which the question is the same: does it recover by itself?

Three families with a trigger that passes: retries against overload (the capacity falls or the load rises for a while), a heap
that fills while requests pile up, and a look-aside cache that is emptied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from sregym_env.runtime.clock import seconds
from sregym_env.sim.dataplane.accounting import EdgeTotal
from sregym_env.sim.dataplane.advance import adopt, advance, at, begin
from sregym_env.sim.dataplane.network import Cache, Collector, Edge, Leg, Network, Operation, Source, Station
from sregym_env.sim.dataplane.plan import plan_of
from sregym_env.sim.dataplane.profiles import Spike
from tests.dataplane.reference import Reference

WINDOW = 30.0
"""The last seconds, by which a run is judged."""
RECOVERED = 0.8
"""Share of the calls of the last seconds that must succeed."""
START = 30.0
"""When the trigger comes."""


@dataclass(frozen=True)
class Scenario:
    """Networks in the order in which they hold, each from its time on; users call on the edge ``users``."""

    name: str
    networks: tuple[tuple[float, Network], ...]
    end: float


def judged(scenario: Scenario) -> float:
    """By the model: the share of calls that succeed in the end."""
    state, now = begin(scenario.networks[0][1], 0), scenario.networks[0][1]
    for since, network in scenario.networks[1:]:
        state = _run(now, state, since)
        state, now = adopt(at(now, state, seconds(since)), now, network), network
    state = _run(now, state, scenario.end - WINDOW)
    before = at(now, state, seconds(scenario.end - WINDOW)).edge_totals
    state = _run(now, state, scenario.end)
    after = at(now, state, seconds(scenario.end)).edge_totals
    gained = (after - before)[:, plan_of(now).edge_index["users"]]
    return float(gained[EdgeTotal.OK] / gained[EdgeTotal.CALLS])


def _run(network: Network, state, until: float):  # type: ignore[no-untyped-def]
    while True:
        state, events = advance(network, state, seconds(until))
        if not events:
            return state


def played(scenario: Scenario, seed: int) -> float:
    """By the reference: the same share."""
    run = Reference(scenario.networks[0][1], seed)
    for since, network in scenario.networks[1:]:
        run.run(since)
        run.change(network)
    run.run(scenario.end)
    record, start = run.records["users"], scenario.end - WINDOW
    return record.good(start, scenario.end) / max(1, record.calls(start, scenario.end))


def scenarios(load: float = 1.0) -> Iterator[Scenario]:
    """All of them, in order, with ``load`` times the load that each has."""
    yield from _retries(load)
    yield from _collectors(load)
    yield from _caches(load)


def _retries(load: float) -> Iterator[Scenario]:
    triggers = ((0.5, 20.0), (0.2, 10.0), (0.2, 40.0), (3.0, 10.0), (3.0, 30.0))
    for share, patience, retries, pause, (strength, length) in product(
        (0.25, 0.35, 0.45, 0.55), (0.5, 1.0), (1, 2, 4), (0.05, 1.0), triggers
    ):
        rate = share * 80.0 * load
        name = f"retry:{share}:{patience}:{retries}:{pause}:{strength}:{length}"
        yield Scenario(name, struck(rate, patience, retries, pause, strength, length), START + length + 150.0)


def struck(
    rate: float, patience: float, retries: int, pause: float, strength: float, length: float
) -> tuple[tuple[float, Network], ...]:
    """A station of eight cores and 80 requests per second whose capacity falls (or whose load grows) for a while."""
    users = Edge("users", "load", (Leg("serve"),), timeout=patience, retries=retries, backoff=pause)
    calm = Network(
        (Station("server", cores=8),),
        (Operation("serve", "server", demand=0.1),),
        (users,),
        (Source("load", rate=rate),),
    )
    if strength > 1.0:
        return (
            (
                0.0,
                replace(calm, sources=(Source("load", rate=rate, profile=Spike(START, length, strength)),)),
            ),
        )
    slow = replace(calm, operations=(Operation("serve", "server", demand=0.1 / strength),))
    return ((0.0, calm), (START, slow), (START + length, calm))


def _collectors(load: float) -> Iterator[Scenario]:
    for rate, heap, each, length in product(
        (15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0),
        (200e6, 256e6, 320e6),
        (1e6, 2e6),
        (5.0, 15.0, 30.0),
    ):
        yield Scenario(
            f"heap:{rate}:{heap:.0f}:{each:.0f}:{length}",
            ((0.0, collected(rate * load, heap, each, length)),),
            START + length + 200.0,
        )


def collected(rate: float, heap: float, each: float, length: float) -> Network:
    """Four cores whose collector works the more the more requests there are, under three times the load for a while."""
    collector = Collector(allocation=1e6, mark=1.6e-8, heap=heap)
    queue = 0.9 * (heap - 60e6) / each
    server = Station("server", cores=4, collector=collector, memory=60e6, per_request=each, queue=queue)
    return Network(
        (server,),
        (Operation("serve", "server", demand=0.03),),
        (Edge("users", "load", (Leg("serve"),)),),
        (Source("load", rate=rate, profile=Spike(START, length, 3.0)),),
    )


def _caches(load: float) -> Iterator[Scenario]:
    for rate, ceiling, keys, retries, patience in product(
        (80.0, 130.0, 180.0), (0.9, 0.95), (1000.0, 3000.0), (0, 1, 3), (0.5, 1.0, 2.0)
    ):
        if rate == 180.0 and ceiling == 0.95:
            continue
        name = f"cache:{rate}:{ceiling}:{keys}:{retries}:{patience}"
        warm = cached(rate * load, ceiling, keys, retries, patience)
        cold = replace(warm, stations=tuple(replace(s, run=1) if s.cache else s for s in warm.stations))
        yield Scenario(name, ((0.0, warm), (START, cold)), START + 200.0)


def cached(rate: float, ceiling: float, keys: float, retries: int, patience: float) -> Network:
    """A look-aside cache in front of a database of 120 requests per second."""
    stations = (
        Station("web", cores=8),
        Station("cache", cores=4, cache=Cache(keys, ceiling)),
        Station("database", cores=6),
    )
    operations = (
        Operation("page", "web", demand=0.002),
        Operation("get", "cache", demand=0.0002),
        Operation("query", "database", demand=0.05),
    )
    edges = (
        Edge("users", "load", (Leg("page"),)),
        Edge("look", "page", (Leg("get"),), required=False),
        Edge(
            "fetch",
            "page",
            (Leg("query"),),
            stage=1,
            lookup="look",
            timeout=patience,
            retries=retries,
            backoff=0.05,
        ),
    )
    return Network(stations, operations, edges, (Source("load", rate=rate),))
