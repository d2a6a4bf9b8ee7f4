"""What the world is told, and readings of single requests."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.dataplane.accounting import EdgeTotal
from sregym_env.sim.dataplane.advance import advance, begin
from sregym_env.sim.dataplane.counts import count
from sregym_env.sim.dataplane.network import (
    Breaker,
    Collector,
    Edge,
    Leg,
    Network,
    Node,
    Operation,
    Source,
    Station,
)
from sregym_env.sim.dataplane.plan import plan_of
from sregym_env.sim.dataplane.profiles import Diurnal, Flood, Product, Ramp, Spike
from sregym_env.sim.dataplane.reading import Reading, Span
from tests.dataplane.metastable import run


def _one(station: Station, rate: float, demand: float = 0.1, *legs: Leg, **edge: object) -> Network:
    return Network(
        (station,),
        (Operation("serve", station.name, demand=demand),),
        (Edge("users", "load", legs or (Leg("serve"),), **edge),),  # type: ignore[arg-type]
        (Source("load", rate),),
    )


def test_a_queue_that_outgrows_the_memory_limit_is_told_at_its_time_and_once() -> None:
    # 20 requests per second too many, a megabyte each: 100 MB of room last for five seconds.
    network = _one(Station("server", cores=4, memory=100e6, per_request=1e6, memory_limit=200e6), 60.0)
    state, events = advance(network, begin(network, 0), 60 * SECOND)
    assert [(event.kind, event.station) for event in events] == [("memory", "server")]
    assert events[0].time == pytest.approx(4.8 * SECOND, rel=0.1) and state.time == events[0].time
    assert Reading(network, state).station("server").memory == pytest.approx(200e6, rel=1e-3)
    assert advance(network, state, 60 * SECOND)[1] == ()


def test_a_leak_is_told_too() -> None:
    network = _one(Station("server", cores=4, memory=100e6, leak=1e5, memory_limit=200e6), 20.0)
    _, events = advance(network, begin(network, 0), 600 * SECOND)
    assert events[0].time == pytest.approx(50 * SECOND, rel=0.02)


def test_a_heap_in_which_the_collector_gains_nothing_is_told() -> None:
    collector = Collector(allocation=1e6, mark=1e-8, heap=128e6)
    network = _one(Station("server", cores=2, memory=60e6, per_request=1e6, collector=collector), 60.0, 0.03)
    _, events = advance(network, begin(network, 0), 600 * SECOND)
    assert events and events[0].kind == "heap"


@pytest.mark.parametrize(
    ("legs", "kind", "seconds"),
    [
        ((Leg("", dead="refused", delay=0.001),), "refused", 0.001),
        ((Leg("", dead="blackhole", delay=20.0),), "timeout", 2.0),
        ((Leg("", dead="error", delay=0.3),), "error", 0.3),
    ],
)
def test_who_reaches_nobody_fails_in_its_own_way(legs: tuple[Leg, ...], kind: str, seconds: float) -> None:
    network = _one(Station("server"), 10.0, 0.001, *legs, timeout=2.0)
    reading = Reading(network, run(network, begin(network, 0), 60.0))
    assert reading.edge("users").failures[kind] == pytest.approx(10.0, rel=1e-3)  # type: ignore[index]
    assert reading.call("users").quantile(0.5) == pytest.approx(seconds, rel=0.1)


def test_one_bad_pod_of_three_fails_a_third() -> None:
    network = Network(
        (Station("good", cores=8), Station("bad", cores=1)),
        (Operation("a", "good", demand=0.01), Operation("b", "bad", demand=0.01, pause=5.0)),
        (Edge("users", "load", (Leg("a", 2 / 3), Leg("b", 1 / 3)), timeout=1.0),),
        (Source("load", 30.0),),
    )
    reading = Reading(network, run(network, begin(network, 0), 60.0))
    assert reading.edge("users").failures["timeout"] == pytest.approx(10.0 * 0.82, rel=0.05)
    assert reading.call("users").quantile(0.5) < 0.05 and reading.call("users").quantile(0.95) == 1.0


def test_a_breaker_opens_lets_nobody_through_and_tries_again() -> None:
    network = _one(Station("server"), 10.0, 0.001, Leg("", dead="refused"), breaker=Breaker(0.5, pause=10.0))
    state = run(network, begin(network, 0), 60.0)
    calls, shunned = state.edge_totals[[EdgeTotal.CALLS, EdgeTotal.SHUNNED], 0]
    assert 0.85 < shunned / calls < 0.99


def test_a_budget_bounds_the_retries() -> None:
    network = _one(
        Station("server"), 10.0, 0.001, Leg("", dead="refused"), retries=5, backoff=0.1, budget=0.2
    )
    users = Reading(network, run(network, begin(network, 0), 60.0)).edge("users")
    assert users.retries == pytest.approx(0.2 * users.calls, rel=0.01)


def test_cancelled_work_is_dropped_and_other_work_is_not() -> None:
    def good(cancels: bool) -> float:
        network = _one(Station("server", cores=4), 60.0, timeout=1.0, cancels=cancels)
        return Reading(network, run(network, begin(network, 0), 120.0)).edge("users").ok

    assert good(True) > 10.0 and good(False) < 0.1


def test_a_busy_machine_gives_everybody_their_share() -> None:
    def served(weight: float) -> float:
        network = Network(
            (Station("server", cores=4, node="n", weight=weight),),
            (Operation("serve", "server", demand=0.1),),
            (Edge("users", "load", (Leg("serve"),)),),
            (Source("load", 39.0),),
            (Node("n", cores=4.0, other=4.0, other_weight=1.0),),
        )
        return Reading(network, run(network, begin(network, 0), 60.0)).station("server").completions

    assert served(1.0) == pytest.approx(20.0, rel=0.02) and served(3.0) == pytest.approx(30.0, rel=0.02)


def test_a_cold_process_is_slow_at_first() -> None:
    network = _one(Station("server", cores=4, cold=0.25, warm_up=20.0, since=0.0), 20.0)
    state = begin(network, 0)
    early = Reading(network, run(network, state, 5.0)).operation("serve").mean
    assert early > 2.0 * Reading(network, run(network, state, 300.0)).operation("serve").mean


def test_single_requests_are_drawn_from_the_law_that_histograms_show() -> None:
    network = _one(Station("server", cores=8), 40.0, timeout=0.4, retries=2, backoff=0.05)
    reading = Reading(network, begin(network, 0, settled=True))
    drawn = [reading.exemplar("users", Chance(("request", number))) for number in range(3000)]
    lengths = sorted(spans[-1].start + spans[-1].duration for spans in drawn)
    law = reading.call("users")
    assert sum(lengths) / 3000 == pytest.approx(law.mean, rel=0.05)
    assert lengths[1500] == pytest.approx(law.quantile(0.5), rel=0.08)
    assert sum(len(spans) for spans in drawn) / 3000 == pytest.approx(
        1.0 + reading.edge("users").retries / 40.0, rel=0.02
    )
    assert reading.exemplar("users", Chance(("request", 7))) == drawn[7]


def test_a_trace_follows_the_calls() -> None:
    network = Network(
        (Station("web"), Station("store")),
        (Operation("page", "web", demand=0.01), Operation("read", "store", demand=0.01)),
        (
            Edge("users", "load", (Leg("page", delay=0.002),)),
            Edge("read", "page", (Leg("read"),), calls=2, pool=4),
        ),
        (Source("load", 10.0),),
    )
    (root,) = Reading(network, begin(network, 0, settled=True)).exemplar("users", Chance(("t",)))
    assert root.operation == "page" and [child.operation for child in root.children] == ["read", "read"]
    first, second = root.children
    assert (
        isinstance(first, Span)
        and root.start + 0.001 < first.start < first.start + first.duration <= second.start
    )
    assert second.start + second.duration <= root.start + root.duration


def test_counts_are_poisson_grow_and_do_not_depend_on_how_they_are_read() -> None:
    chance = Chance(("requests", 3))
    forward = [count(chance, 3.7 * number) for number in range(400)]
    assert forward == [count(chance, 3.7 * number) for number in reversed(range(400))][::-1]
    steps = [after - before for before, after in pairwise(forward)]
    assert min(steps) >= 0
    mean = sum(steps) / len(steps)
    assert mean == pytest.approx(3.7, rel=0.1)
    assert sum((step - mean) ** 2 for step in steps) / len(steps) == pytest.approx(3.7, rel=0.25)
    assert count(chance, 1e10) - count(chance, 1e10 - 5000) == pytest.approx(5000, abs=400)
    with pytest.raises(ValueError, match="split it"):
        count(chance, 1e13)


@pytest.mark.parametrize(
    ("profile", "levels"),
    [
        (Spike(10, 5, 3), {0: 1, 10: 3, 14.9: 3, 15: 1}),
        (Flood(10, 3), {9: 1, 10: 3, 1e6: 3}),
        (Ramp(10, 10, 3, hold=2), {9: 1, 11: 1.2, 19.5: 2.8, 40: 3}),
        (Product((Spike(0, 5, 2), Flood(3, 3))), {1: 2, 4: 6, 6: 3}),
    ],
)
def test_profiles_hold_until_they_say_so(profile: Product, levels: dict[float, float]) -> None:
    for time, level in levels.items():
        assert profile.level(time) == pytest.approx(level)
        until = profile.holds_until(time)
        assert until > time and profile.level((time + min(until, time + 50)) / 2) == profile.level(time)


def test_a_day_has_a_peak_and_a_mean_of_one() -> None:
    day = Diurnal(0.4)
    levels = [day.level(300.0 * number) for number in range(288)]
    assert sum(levels) / 288 == pytest.approx(1.0) and max(levels) == pytest.approx(1.4, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda n: Network(n.stations, n.operations, n.edges + n.edges, n.sources),
            "two edges are called 'users'",
        ),
        (lambda n: Network((), n.operations, n.edges, n.sources), "no station is called 'server'"),
        (
            lambda n: Network(
                n.stations, n.operations, (Edge("e", "load", (Leg("serve", 0.5),)),), n.sources
            ),
            "do not sum to 1",
        ),
        (
            lambda n: Network(
                n.stations, n.operations, (*n.edges, Edge("e", "serve", (Leg("serve"),))), n.sources
            ),
            "calls form a cycle: .*serve -> serve",
        ),
        (lambda n: Network(n.stations, n.operations, n.edges, ()), "neither operation nor source"),
    ],
)
def test_what_is_no_network_is_refused_by_name(change, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        plan_of(change(_one(Station("server"), 1.0)))


@pytest.mark.parametrize(
    ("threads", "demand", "least", "most"), [(2.0, 0.001, 0.0, 0.1), (500.0, 0.05, 0.9, 1.0)]
)
def test_only_who_uses_up_its_quota_is_throttled(
    threads: float, demand: float, least: float, most: float
) -> None:
    """A queue before a few threads takes no CPU, however long it is; work that needs more than the limit does."""
    network = Network(
        (Station("server", cores=8, quota=1.0, threads=threads, queue=200),),
        (Operation("serve", "server", demand=demand, pause=0.1),),
        (Edge("users", "load", (Leg("serve"),), timeout=1.0),),
        (Source("load", rate=60.0),),
    )
    state = run(network, begin(network, 0), 120.0)
    assert least <= Reading(network, state).station("server").throttled <= most
