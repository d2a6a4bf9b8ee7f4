"""Networks at rest whose latencies are compared: one queue, chains, fan-out, nested threads, pools, CPU limits, retries."""

from __future__ import annotations

from sregym_env.sim.dataplane.network import Edge, Leg, Network, Operation, Source, Station


def _single(station: Station, demand: float, rate: float, **how: float) -> Network:
    return Network(
        (station,),
        (Operation("serve", station.name, demand=demand),),
        (Edge("users", "load", (Leg("serve"),), **how),),  # type: ignore[arg-type]
        (Source("load", rate=rate),),
    )


def _three(rate: float, stages: tuple[int, int], nested: bool, **threads: float) -> Network:
    stations = (
        Station("front", cores=4, threads=threads.get("front", float("inf"))),
        Station("middle", cores=2, threads=threads.get("middle", float("inf"))),
        Station("store", cores=1),
    )
    operations = (
        Operation("page", "front", demand=0.04),
        Operation("find", "middle", demand=0.02, pause=0.01),
        Operation("read", "store", demand=0.01),
    )
    edges = (
        Edge("users", "load", (Leg("page"),)),
        Edge("first", "page", (Leg("find", delay=0.001),), stage=stages[0]),
        Edge("second", "find" if nested else "page", (Leg("read", delay=0.001),), stage=stages[1]),
    )
    return Network(stations, operations, edges, (Source("load", rate=rate),))


def networks() -> dict[str, Network]:
    """By name; users call on the edge ``users``."""
    found = {}
    for cores in (1, 2, 4, 8):
        for rho in (0.3, 0.5, 0.7, 0.8, 0.9):
            found[f"M/M/{cores} at {rho}"] = _single(Station("server", cores=cores), 0.1, rho * cores / 0.1)
    for variability in (0.0, 0.25, 2.0):
        found[f"M/G/4 of {variability} at 0.8"] = _single(
            Station("server", cores=4, variability=variability), 0.1, 32.0
        )
    for rho in (0.3, 0.5, 0.7, 0.85):
        found[f"chain at {rho}"] = _three(100.0 * rho, (0, 0), nested=True)
        found[f"sequence at {rho}"] = _three(100.0 * rho, (0, 1), nested=False)
        found[f"fan-out at {rho}"] = _three(100.0 * rho, (0, 0), nested=False)
    for rho in (0.3, 0.5, 0.7):
        found[f"threads at {rho}"] = _three(100.0 * rho, (0, 0), nested=True, front=24.0, middle=10.0)
    for rho in (0.3, 0.5, 0.7, 0.85):
        found[f"limit of 1 core at {rho}"] = _single(
            Station("server", cores=8, quota=1.0), 0.005, 200.0 * rho
        )
        found[f"limit of 0.1 cores at {rho}"] = _single(
            Station("server", cores=8, quota=0.1), 0.001, 100.0 * rho
        )
    for rho in (0.3, 0.5):
        found[f"retries at {rho}"] = _single(
            Station("server", cores=8), 0.1, 80.0 * rho, timeout=0.4, retries=2, backoff=0.05
        )
    found["pool of 8"] = Network(
        (Station("front", cores=4), Station("store", cores=2)),
        (Operation("page", "front", demand=0.01), Operation("read", "store", demand=0.02)),
        (Edge("users", "load", (Leg("page"),)), Edge("read", "page", (Leg("read"),), pool=8)),
        (Source("load", rate=70.0),),
    )
    return found
