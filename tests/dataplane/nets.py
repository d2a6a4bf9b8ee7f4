"""Networks of any shape for properties, and one of the size of an application for speed."""

from __future__ import annotations

from hypothesis import strategies as st

from sregym_env.sim.dataplane.network import (
    NEVER,
    Breaker,
    Cache,
    Collector,
    Edge,
    Leg,
    Network,
    Operation,
    Source,
    Station,
)
from sregym_env.sim.dataplane.profiles import Constant, Profile, Spike


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """A few stations in a tree, with any mixture of what edges and stations can have, under a spike."""
    count = draw(st.integers(1, 5))
    stations, operations, edges = [], [], []
    for number in range(count):
        collector = Collector(1e5, 1e-9, heap=1e9) if draw(st.booleans()) else None
        stations.append(
            Station(
                f"s{number}",
                cores=draw(st.sampled_from([1, 2, 4])),
                quota=draw(st.sampled_from([NEVER, 0.5])),
                threads=draw(st.sampled_from([NEVER, NEVER, 8, 40])),
                queue=draw(st.sampled_from([NEVER, 50, 500])),
                variability=draw(st.sampled_from([0.0, 1.0, 2.0])),
                memory=5e7,
                per_request=1e5,
                memory_limit=draw(st.sampled_from([NEVER, 3e8])),
                collector=collector,
                cold=draw(st.sampled_from([1.0, 0.5])),
                warm_up=10.0,
                since=0.0,
                cache=Cache(500, 0.9) if number == count - 1 and count > 2 else None,
            )
        )
        operations.append(
            Operation(
                f"o{number}", f"s{number}", demand=draw(st.sampled_from([0.002, 0.01, 0.03])), failing=0.01
            )
        )
        if number:
            caller = draw(st.integers(0, number - 1))
            dead = draw(st.sampled_from([0.0, 0.0, 0.3]))
            legs = (Leg(f"o{number}", 1.0 - dead, delay=0.001), Leg("", dead, dead="refused", delay=0.001))
            edges.append(
                Edge(
                    f"e{number}",
                    f"o{caller}",
                    legs if dead else legs[:1],
                    calls=draw(st.sampled_from([1.0, 0.3, 2.0])),
                    stage=draw(st.integers(0, 1)),
                    timeout=draw(st.sampled_from([NEVER, 0.2, 1.0])),
                    retries=draw(st.sampled_from([0, 2, 30])),
                    backoff=draw(st.sampled_from([0.0, 0.1, 2.0])),
                    budget=draw(st.sampled_from([NEVER, 0.2])),
                    breaker=draw(st.sampled_from([None, Breaker(0.5, pause=5.0)])),
                    pool=draw(st.sampled_from([NEVER, 10])),
                    cancels=draw(st.booleans()),
                    required=draw(st.booleans()),
                )
            )
    users = draw(st.sampled_from([0.0, 30.0]))
    rate = draw(st.sampled_from([5.0, 30.0, 80.0]))
    profile = Spike(10.3, 7.7, 4.0)
    edges.append(Edge("users", "load", (Leg("o0"),), timeout=draw(st.sampled_from([NEVER, 2.0]))))
    source = (
        Source("load", users=users, think=0.5, profile=profile)
        if users
        else Source("load", rate, profile=profile)
    )
    return Network(tuple(stations), tuple(operations), tuple(edges), (source,))


def application(profile: Profile = Constant(), rate: float = 100.0) -> Network:
    """Thirty stations and fifty edges, four calls deep, with limits, threads, collectors and retries."""
    stations, operations, edges = [], [], []
    for number in range(30):
        collector = Collector(1e5, 1e-11, heap=1e9) if number % 5 == 0 else None
        stations.append(
            Station(
                f"s{number}",
                cores=2,
                quota=1.0,
                threads=100 if number % 3 else NEVER,
                memory=5e7,
                per_request=1e4,
                collector=collector,
                queue=2000,
            )
        )
        operations.append(Operation(f"o{number}", f"s{number}", demand=0.002, pause=0.001))
        if number:
            edges.append(
                Edge(
                    f"e{number}",
                    f"o{(number - 1) // 3}",
                    (Leg(f"o{number}", delay=0.0005),),
                    stage=number % 2,
                    timeout=1.0,
                    retries=2,
                    backoff=0.05,
                )
            )
    for number in range(20):
        callee = f"o{13 + (7 * number) % 17}"
        edges.append(
            Edge(f"x{number}", f"o{number % 9}", (Leg(callee),), calls=0.2, stage=2, timeout=1.0, retries=1)
        )
    edges.append(Edge("users", "load", (Leg("o0"),)))
    return Network(tuple(stations), tuple(operations), tuple(edges), (Source("load", rate, profile=profile),))
