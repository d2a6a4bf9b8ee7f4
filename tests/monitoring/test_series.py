"""Metrics of an embedded world: what is there, that it is the same for everybody, and that it says what is so."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from sregym_env.runtime import effort
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.monitoring.scrapes import Job, shaken
from sregym_env.sim.monitoring.series import BY_NAME, FAMILIES, WorldSeries
from sregym_env.telemetry.labels import NAME, Labels, value_of
from sregym_env.telemetry.promql.errors import QueryError
from sregym_env.telemetry.series import Matcher, Series, is_stale
from tests.monitoring.conftest import NAMESPACE

ALL = (Matcher("=~", NAME, ".+"),)


def ms(world: EmbeddedWorld, ago: float = 0.0) -> int:
    return (world.now() - round(ago * SECOND)) // 1000


def selected(
    world: EmbeddedWorld, ago: float = 900.0, matchers: Sequence[Matcher] = ALL
) -> dict[Labels, Series]:
    found = list(WorldSeries(world).select(matchers, ms(world, ago), ms(world)))
    assert len({each.labels for each in found}) == len(found), "a series must be there once"
    return {each.labels: each for each in found}


def value(world: EmbeddedWorld, query: str, ago: float = 0.0) -> dict[Labels, float]:
    result = world.telemetry.metrics.query(query, ms(world, ago))
    return {labels: float(values[-1]) for labels, _, values in result.series}


def only(found: dict[Labels, float]) -> float:
    assert len(found) == 1, found
    return next(iter(found.values()))


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(FAMILIES)


def test_every_series_is_well_formed(healthy: EmbeddedWorld) -> None:
    for labels, series in selected(healthy).items():
        assert list(labels) == sorted(labels)
        assert all(content for _, content in labels)
        assert value_of(labels, "job")
        assert value_of(labels, "instance")
        times = series.timestamps
        assert len(times) == len(series.values) > 0
        assert (np.diff(times) > 0).all()
        assert ms(healthy, 900.0) <= times[0]
        assert times[-1] <= ms(healthy)


def test_most_metrics_are_there(healthy: EmbeddedWorld) -> None:
    there = set(healthy.telemetry.metrics.names(ms(healthy, 300.0), ms(healthy)))
    assert {name for name in there if ":" not in name} <= BY_NAME.keys()
    expected = (
        "up", "kube_pod_status_phase", "kube_pod_container_status_restarts_total", "kube_deployment_status_replicas_available",
        "kube_endpoint_address_available", "kube_node_status_condition", "kube_persistentvolumeclaim_status_phase",
        "container_cpu_usage_seconds_total", "container_memory_working_set_bytes", "container_network_receive_bytes_total",
        "container_cpu_cfs_throttled_periods_total", "node_cpu_seconds_total", "node_memory_MemAvailable_bytes", "node_load5",
        "traces_span_metrics_calls_total", "traces_span_metrics_duration_milliseconds_bucket", "probe_success",
        "coredns_plugin_enabled", "search_requests_total",
    )  # fmt: skip
    assert set(expected) - there == set()


def test_nothing_that_is_said_names_what_is_hidden(broken: EmbeddedWorld) -> None:
    hidden = {
        "fault",
        "faults",
        "inject",
        "injected",
        "injection",
        "injector",
        "noise",
        "chaos",
        "disturbance",
        "truth",
    }
    for labels in selected(broken):
        words = {word for pair in labels for text in pair for word in re.split(r"[^a-z]+", text.lower())}
        assert not words & hidden, labels


def test_counters_never_fall(healthy: EmbeddedWorld) -> None:
    for labels, series in selected(healthy, 1200.0).items():
        if BY_NAME[value_of(labels, NAME)].type in ("counter", "histogram"):
            assert (np.diff(series.values) >= 0).all(), labels


def test_what_was_scraped_stays_what_it_was(healthy: EmbeddedWorld) -> None:
    before = selected(healthy, 600.0)
    later = healthy.fork()
    healthy.advance(400.0)
    later.cluster.delete("pods", later.store.list("pods", NAMESPACE)[0]["metadata"]["name"], NAMESPACE)
    later.reseed(99)
    later.advance(200.0)
    for world, back in ((healthy, 1000.0), (later, 800.0)):
        after = selected(world, back)
        for labels, series in before.items():
            common, here, there = np.intersect1d(
                series.timestamps, after[labels].timestamps, return_indices=True
            )
            assert len(common) == len(series.timestamps), labels
            assert series.values[here].tobytes() == after[labels].values[there].tobytes(), labels


def test_the_length_of_a_question_changes_nothing(healthy: EmbeddedWorld) -> None:
    short, long = selected(healthy, 300.0), selected(healthy, 1100.0)
    for labels, series in short.items():
        count = len(series.timestamps)
        assert (long[labels].timestamps[-count:] == series.timestamps).all()
        assert long[labels].values[-count:].tobytes() == series.values.tobytes(), labels


def test_a_rollout_ends_one_series_and_begins_another(healthy: EmbeddedWorld) -> None:
    query = f'container_memory_working_set_bytes{{namespace="{NAMESPACE}", pod=~"geo-.*", container!=""}}'
    old = {value_of(labels, "pod") for labels in value(healthy, query)}
    stamp = {"metadata": {"annotations": {"restarted": "now"}}}
    healthy.cluster.patch("deployments.apps", "geo", {"spec": {"template": stamp}}, namespace=NAMESPACE)
    healthy.advance(300.0)
    new = {value_of(labels, "pod") for labels in value(healthy, query)}
    assert len(new) == len(old) == 1
    assert new != old
    assert {value_of(labels, "pod") for labels in value(healthy, query, ago=360.0)} == old
    ended = [
        series
        for labels, series in selected(healthy, 600.0, (Matcher("=", NAME, "kube_pod_info"),)).items()
        if value_of(labels, "pod") in old
    ]
    assert len(ended) == 1
    assert is_stale(ended[0].values).tolist() == [False] * (len(ended[0].values) - 1) + [True]


def test_what_objects_were(broken: EmbeddedWorld) -> None:
    query = f'kube_deployment_status_replicas_available{{namespace="{NAMESPACE}", deployment="reservation"}}'
    assert only(value(broken, query)) == 0.0
    assert only(value(broken, query, ago=700.0)) == 1.0
    endpoints = f'kube_endpoint_address_available{{namespace="{NAMESPACE}", endpoint="reservation"}}'
    assert only(value(broken, endpoints)) == 0.0
    assert only(value(broken, endpoints, ago=700.0)) == 1.0


def test_users_that_fail_show_in_the_span_metrics(broken: EmbeddedWorld) -> None:
    calls = 'traces_span_metrics_calls_total{service_name="frontend", span_kind="SPAN_KIND_SERVER"'
    failed = f'sum(rate({calls}, status_code="STATUS_CODE_ERROR"}}[2m]))'
    everything = f"sum(rate({calls}}}[2m]))"
    assert only(value(broken, f"{failed} / {everything}", ago=640.0)) < 0.01
    share = only(value(broken, f"{failed} / {everything}"))
    health = broken.traffic.health(120.0)
    total = sum(journey.requests for journey in health)
    lost = sum(journey.requests * (1.0 - journey.success_ratio) for journey in health)
    assert share == pytest.approx(lost / total, abs=0.02)
    assert only(value(broken, everything)) == pytest.approx(total / 120.0, rel=0.02)


def test_the_processor_is_used_as_metrics_server_says(healthy: EmbeddedWorld) -> None:
    query = f'sum by (pod) (rate(container_cpu_usage_seconds_total{{namespace="{NAMESPACE}", pod=~"frontend-.*"}}[10m]))'
    used = only(value(healthy, query))
    told = next(
        pod["containers"][0]["usage"]["cpu"]
        for pod in healthy.cluster.list("pods.metrics.k8s.io", NAMESPACE)
        if pod["metadata"]["name"].startswith("frontend-")
    )
    assert used == pytest.approx(int(told[:-1]) / 1e9, rel=0.15)


def test_quantiles_come_from_the_latency(healthy: EmbeddedWorld) -> None:
    bucket = 'traces_span_metrics_duration_milliseconds_bucket{service_name="frontend", span_kind="SPAN_KIND_SERVER"}'
    quantiles = [
        only(value(healthy, f"histogram_quantile({share}, sum by (le) (rate({bucket}[5m])))"))
        for share in (0.5, 0.95, 0.99)
    ]
    assert quantiles == sorted(quantiles)
    mean = 1000.0 * sum(j.latency_seconds for j in healthy.traffic.health(300.0)) / 4
    assert 0.2 * mean < quantiles[0] < 4.0 * mean


def test_probes_fail_where_nobody_answers(broken: EmbeddedWorld) -> None:
    down = {value_of(labels, "instance") for labels in value(broken, "probe_success == 0")}
    assert down == {f"reservation.{NAMESPACE}:8087"}
    assert value(broken, "probe_success == 0", ago=660.0) == {}


def test_a_machine_that_is_gone_is_not_up(healthy: EmbeddedWorld) -> None:
    node = healthy.plan.machines[-1].name
    query = f'up{{job="kubernetes-cadvisor", node="{node}"}}'
    assert only(value(healthy, query)) == 1.0
    healthy.memory[f"node.down:{node}"] = healthy.now()
    healthy.advance(125.0)
    assert only(value(healthy, query)) == 0.0
    seen = f'container_last_seen{{node="{node}"}}'
    assert value(healthy, seen) == {}
    assert value(healthy, seen, ago=200.0)


def test_a_question_about_everything_is_bounded(healthy: EmbeddedWorld) -> None:
    with effort.bounded() as spent:
        for _ in range(40):
            try:
                value(healthy, 'count({__name__=~".+"})')
            except (effort.EffortExceeded, QueryError):
                break
        else:
            pytest.fail("nothing has stopped it")
    assert spent.own < effort.OWN / 10


def test_nothing_is_known_before_or_after(healthy: EmbeddedWorld) -> None:
    source = WorldSeries(healthy)
    assert list(source.select(ALL, 0, 1000)) == []
    assert list(source.select(ALL, ms(healthy) + 1, ms(healthy) + 600_000)) == []


@pytest.mark.parametrize("interval", [15 * SECOND, MINUTE])
def test_targets_are_scraped_once_in_an_interval(interval: int) -> None:
    job = Job("job", interval)
    times = job.times("a:1", 10**15, 10**15 + 20 * interval)
    assert len(times) in (20, 21)
    assert (np.diff(times) == interval).all()
    assert (job.times("a:1", 10**15 + interval, 10**15 + 20 * interval)[:5] == times[1:6]).all()
    offsets = {int(job.times(f"b:{index}", 10**15, 10**15 + interval)[0]) for index in range(20)}
    assert len(offsets) > 10


def test_what_shakes_is_even_and_depends_on_nothing_else() -> None:
    times = np.arange(0, 10**11, 10**7, dtype=np.int64)
    found = shaken(times, "cpu", "a")
    assert (np.abs(found) <= 1.0).all()
    assert abs(float(found.mean())) < 0.05
    assert float(found.std()) == pytest.approx(0.577, abs=0.03)
    assert (shaken(times[5:], "cpu", "a") == found[5:]).all()
    assert (shaken(times, "cpu", "b") != found).any()


def test_a_name_server_that_is_gone_is_no_target_any_more(healthy: EmbeddedWorld) -> None:
    """One whose container has ended is down; one whose pod is deleted is not there."""
    before = only(value(healthy, 'count(up{job="coredns"})'))
    pod = healthy.cluster.list("pods", "kube-system", label_selector="k8s-app=kube-dns")[0]["metadata"][
        "name"
    ]
    healthy.cluster.delete("pods", pod, "kube-system")
    healthy.advance(400.0)
    assert only(value(healthy, 'count(up{job="coredns"})')) == before
    assert only(value(healthy, 'min(up{job="coredns"})')) == 1.0
    assert only(value(healthy, f'max_over_time(up{{pod="{pod}"}}[15m])')) == 1.0
