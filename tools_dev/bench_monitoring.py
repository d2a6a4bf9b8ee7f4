"""What questions about metrics, logs and traces cost: ``python tools_dev/bench_monitoring.py [PROBLEM] [SEED]``.

Processor milliseconds, medians.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import process_time

from sregym_env import SREGymEnv
from sregym_env.telemetry.logql.queries import RangeQuery
from sregym_env.telemetry.traces.model import TraceQuery

TIMES = 15


def measured(question: Callable[[], object]) -> float:
    """The median of some tries, milliseconds."""
    found = []
    for _ in range(TIMES):
        start = process_time()
        question()
        found.append((process_time() - start) * 1000.0)
    return median(found)


def main(problem: str = "missing_service_social_network", seed: str = "7") -> None:
    """Print a line for each question."""
    env = SREGymEnv(problem)
    env.reset(seed=int(seed))
    assert env._episode is not None
    world = env._episode.world
    namespace, now = world.app.namespace, world.now()
    telemetry = world.telemetry
    service = telemetry.traces.services()[0]
    here = f'namespace="{namespace}"'
    queries = (
        "up == 0",
        f"sum by (pod) (rate(container_cpu_usage_seconds_total{{{here}}}[5m]))",
        f"kube_pod_status_phase{{{here}}} == 1",
        "sum by (service_name, status_code) (rate(traces_span_metrics_calls_total[2m]))",
        "histogram_quantile(0.95, sum by (le, service_name) (rate(traces_span_metrics_duration_milliseconds_bucket[2m])))",
        "probe_success == 0",
        'avg by (node) (rate(node_cpu_seconds_total{mode="idle"}[5m]))',
    )
    lines: list[tuple[str, Callable[[], object]]] = []
    for query in queries:
        lines.append((query, lambda query=query: telemetry.metrics.query(query, now // 1000)))
        lines.append(
            (
                f"  over 15 minutes, {query}",
                lambda query=query: telemetry.metrics.query_range(
                    query, now // 1000 - 900_000, now // 1000, 15_000
                ),
            )
        )
    logs = RangeQuery(f"{{{here}}}", now * 1000 - 900 * 10**9, now * 1000)
    lines.append(("the last 100 lines", lambda: telemetry.logs.query_range(logs)))
    for name, tags in (("20 traces", {}), ("20 traces with errors", {"error": "true"})):
        asked = TraceQuery(service, now - 900_000_000, now, tags=tags, limit=20)
        lines.append((f"{name} of {service}", lambda asked=asked: telemetry.traces.search(asked)))
    for name, question in lines:
        sys.stdout.write(f"{measured(question):8.2f}  {name}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
