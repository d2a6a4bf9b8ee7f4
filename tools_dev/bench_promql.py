"""How long PromQL queries take: ``python tools_dev/bench_promql.py``.

The series are those of an application of twenty services: some 3,000 of 61 targets, 15 minutes of them, every 15 s.
They are all there already, so what a source needs to render them is not in the figures.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from sregym_env.telemetry.labels import NAME, labels_of
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.promql.parser import parse
from sregym_env.telemetry.series import MemorySource, Series, Values

BEGIN = 1_700_000_000_000
SAMPLES = 60
STEP = 15_000
BOUNDS = ("1", "2.5", "5", "10", "25", "50", "100", "250", "500", "1000", "2500", "5000", "10000", "+Inf")
NAMESPACE = "hotel-reservation"

QUERIES = (
    "up",
    'up{job="service-7"}',
    f'rate(container_cpu_usage_seconds_total{{namespace="{NAMESPACE}"}}[5m])',
    f'sum by (pod) (rate(container_cpu_usage_seconds_total{{namespace="{NAMESPACE}"}}[5m]))',
    'sum by (service_name) (rate(calls_total{status_code="STATUS_CODE_ERROR"}[2m])) / sum by (service_name) (rate(calls_total[2m])) > 0.1',
    "histogram_quantile(0.95, sum by (le, service_name) (rate(duration_milliseconds_bucket[2m]))) > 3000",
    f'kube_pod_status_phase{{namespace="{NAMESPACE}",phase!="Running"}} == 1',
    "increase(kube_pod_container_status_restarts_total[15m]) > 0",
    "topk(5, sum by (pod) (container_memory_working_set_bytes))",
    f'container_memory_working_set_bytes / on(namespace, pod) container_spec_memory_limit_bytes{{namespace="{NAMESPACE}"}}',
    "max_over_time(sum(rate(calls_total[1m]))[10m:1m])",
)


def series() -> list[Series]:
    """The application's series."""
    found: list[Series] = []
    generator = np.random.default_rng(7)

    def add(name: str, times: np.ndarray, counter: bool = False, **labels: str) -> None:
        values: Values = generator.random(SAMPLES) * 10
        found.append(Series(labels_of({NAME: name, **labels}), times, values.cumsum() if counter else values))

    for number in range(20):
        service = f"service-{number}"
        spans = BEGIN + np.arange(SAMPLES, dtype=np.int64) * STEP + number * 37
        containers = spans + 5_000
        kube = spans // STEP * STEP
        add("up", spans, job=service, instance=f"10.0.0.{number}:80")
        for kind in ("SERVER", "CLIENT"):
            for code in ("UNSET", "ERROR"):
                labels = {"service_name": service, "span_kind": kind, "status_code": f"STATUS_CODE_{code}"}
                for span in ("get", "put"):
                    add("calls_total", spans, True, span_name=span, **labels)
                    for bound in BOUNDS:
                        add("duration_milliseconds_bucket", spans, True, le=bound, span_name=span, **labels)
        labels = {"namespace": NAMESPACE, "pod": f"{service}-7d9f8-abcde", "container": service}
        for name in ("cpu_usage_seconds_total", "cpu_cfs_periods_total", "cpu_cfs_throttled_periods_total"):
            add(f"container_{name}", containers, True, **labels)
        for name in ("memory_working_set_bytes", "spec_memory_limit_bytes", "memory_rss"):
            add(f"container_{name}", containers, **labels)
        add("kube_pod_container_status_restarts_total", kube, True, **labels)
        for phase in ("Running", "Pending", "Failed", "Succeeded", "Unknown"):
            add("kube_pod_status_phase", kube, phase=phase, namespace=NAMESPACE, pod=labels["pod"])
        for name in ("info", "owner", "start_time", "created", "labels"):
            add(f"kube_pod_{name}", kube, namespace=NAMESPACE, pod=labels["pod"])
    return found


def main() -> None:
    """Print the medians, in milliseconds."""
    drawn = series()
    engine = Engine(MemorySource(drawn))
    end = BEGIN + SAMPLES * STEP
    print(
        f"{len(drawn)} series, {len(drawn) * SAMPLES} samples; milliseconds of the processor: instant, range of 15 minutes by 15 s"
    )
    for query in QUERIES:
        parse(query)
        instant = _median(lambda query=query: engine.query(query, end))
        ranged = _median(lambda query=query: engine.query_range(query, BEGIN, end, STEP))
        print(f"{instant:8.2f} {ranged:8.2f}  {query}")
    text = QUERIES[4]
    print(
        f"{_median(lambda: parse(text + ' ' * 5_000)):8.2f}           to parse the fifth, for the first time"
    )


def _median(run: object) -> float:
    assert callable(run)
    spent = []
    for _ in range(31):
        begin = time.process_time()
        run()
        spent.append((time.process_time() - begin) * 1000)
    return statistics.median(spent)


if __name__ == "__main__":
    main()
