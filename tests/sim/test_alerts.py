from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sregym_env.cluster.tracing import Tracing
from sregym_env.runtime.clock import MINUTE
from sregym_env.sim.monitoring.alerts import CACHE, alerts, groups_of, recorded
from sregym_env.sim.monitoring.series import BY_NAME
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.program import Call
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.promql.parser import parse
from sregym_env.telemetry.promql.syntax import Expr, Selector, children
from tests.sim.dataplane import FakeLoad, FakeProgram, application, expose, pod, put, web_world


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, Any] = {
        "echo": FakeProgram("echo", latency=0.01),
        "slow": FakeProgram("slow", latency=2.5),
        "broken": FakeProgram("broken", calls=(("nothing", 1, 1.0),)),
        "coredns": FakeProgram("coredns"),
        "load": FakeLoad("load", offered=(("read", 100.0, "10.96.1.1", 8080, Call("GET /")),)),
    }
    monkeypatch.setattr(SimWorld, "programs", made)


def ready_world() -> Any:
    world, _, _ = web_world()
    world.app = replace(application(), tracing=Tracing())
    pod(world, "app", "load", "10.244.1.8", "w1", program="load", ports=())
    for found in list(world.store.list("pods")):
        status = {**found["status"], "conditions": [{"type": "Ready", "status": "True"}]}
        owner = {
            "kind": "StatefulSet",
            "name": found["metadata"]["name"].partition("-")[0],
            "controller": True,
        }
        metadata = {**found["metadata"], "ownerReferences": [owner]}
        put(world, "pods", {**found, "metadata": metadata, "status": status})
    for node in list(world.store.list("nodes")):
        put(
            world,
            "nodes",
            {**node, "status": {**node["status"], "conditions": [{"type": "Ready", "status": "True"}]}},
        )
    return world


def named(world: Any) -> dict[str, str]:
    return {alert.name: alert.state for alert in alerts(world)}


def change_status(world: Any, resource: str, namespace: str, name: str, **status: Any) -> None:
    found = world.store.get(resource, namespace, name)
    put(world, resource, {**found, "status": {**found.get("status", {}), **status}})


def test_a_healthy_application_is_silent() -> None:
    world = ready_world()
    world.advance(300.0)
    assert alerts(world) == []


WAITING = {"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
NOT_READY = [{"type": "Ready", "status": "False"}]
WHERE = re.compile(r"\$labels\.namespace \}\}/|\$labels\.(?:instance|node) \}\}")
"""What says of which application a summary speaks, or that it speaks of none."""
UNSERVED = {"ServiceEndpointDown", "RequestsStopped"}
UNSCHEDULABLE = [
    {"type": "Ready", "status": "True"},
    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"},
]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"containerStatuses": [WAITING]}, {"PodStatusError", "KubePodCrashLooping"}),
        ({"initContainerStatuses": [WAITING]}, {"PodStatusError", "KubePodCrashLooping"}),
        ({"phase": "Failed"}, {"FailedPodsDetected", *UNSERVED}),
        ({"phase": "Pending"}, {"PendingPodsDetected"}),
        ({"conditions": UNSCHEDULABLE}, {"PodSchedulingFailure"}),
        ({"conditions": NOT_READY}, {"KubePodNotReady"}),
        ({"phase": "Succeeded", "conditions": NOT_READY}, UNSERVED),
    ],
)
def test_rules_about_pods(status: dict[str, Any], expected: set[str]) -> None:
    world = ready_world()
    world.advance(200.0)
    change_status(world, "pods", "app", "web-1", **status)
    world.advance(240.0)
    assert named(world) == dict.fromkeys(expected, "firing")


def test_an_alert_comes_after_a_scrape_an_evaluation_and_its_patience() -> None:
    world = ready_world()
    world.advance(200.0)
    changed = world.clock
    change_status(world, "pods", "app", "web-1", conditions=NOT_READY)
    assert named(world) == {}
    seen = []
    for _ in range(40):
        world.advance(5.0)
        seen.append(named(world).get("KubePodNotReady", ""))
    assert [state for state, before in zip(seen, ["", *seen], strict=False) if state != before] == [
        "pending",
        "firing",
    ]
    assert seen.count("pending") == 12  # the rule's minute
    (alert,) = alerts(world)
    assert changed < alert.active_at <= changed + 2 * MINUTE
    assert alert.active_at % MINUTE == 0
    assert dict(alert.labels) == {
        "alertname": "KubePodNotReady",
        "namespace": "app",
        "pod": "web-1",
        "severity": "critical",
    }
    change_status(world, "pods", "app", "web-1", conditions=[{"type": "Ready", "status": "True"}])
    world.advance(120.0)
    assert named(world) == {}


def test_crash_looping_outlasts_the_moments_in_which_the_container_runs() -> None:
    world = ready_world()
    world.advance(200.0)
    change_status(world, "pods", "app", "web-1", containerStatuses=[WAITING])
    world.advance(120.0)
    running = {"name": "main", "restartCount": 4, "state": {"running": {}}}
    change_status(world, "pods", "app", "web-1", containerStatuses=[running])
    world.advance(180.0)
    assert named(world) == {"KubePodCrashLooping": "firing"}
    world.advance(301.0)
    assert named(world) == {}


METADATA = {"name": "web", "namespace": "app", "uid": "d", "creationTimestamp": "2026-08-06T09:00:00Z"}


@pytest.mark.parametrize(
    ("resource", "spec", "status", "expected"),
    [
        ("deployments.apps", {"replicas": 0}, {}, {"DeploymentNotReady"}),
        ("deployments.apps", {"replicas": 1}, {}, {"DeploymentNotReady"}),
        ("deployments.apps", {"replicas": 1}, {"availableReplicas": 1}, set()),
        ("statefulsets.apps", {"replicas": 3}, {"readyReplicas": 2}, {"StatefulSetNotReady"}),
        ("statefulsets.apps", {"replicas": 3}, {"readyReplicas": 3}, set()),
        ("daemonsets.apps", {}, {"numberUnavailable": 1}, {"DaemonSetNotReady"}),
    ],
)
def test_rules_about_workloads(
    resource: str, spec: dict[str, Any], status: dict[str, Any], expected: set[str]
) -> None:
    world = ready_world()
    world.advance(200.0)
    put(world, resource, {"metadata": METADATA, "spec": spec, "status": status})
    world.advance(300.0)
    assert named(world) == dict.fromkeys(expected, "firing")


def test_failing_requests_raise_the_error_rate() -> None:
    world = ready_world()
    world.advance(300.0)
    world.change_process(("uid-web-1", "main"), program="broken")
    world.advance(10.0)
    assert named(world) == {}
    world.advance(240.0)
    assert named(world) == {"HighRequestErrorRate": "firing"}


def test_slow_requests_raise_latency_and_recover() -> None:
    world = ready_world()
    world.advance(300.0)
    world.change_process(("uid-web-1", "main"), program="slow")
    world.advance(300.0)
    assert named(world) == {"HighRequestLatency": "firing"}
    world.change_process(("uid-web-1", "main"), program="echo")
    world.advance(300.0)
    assert named(world) == {}


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ({"availableReplicas": 1}, {"ServiceEndpointDown"}),
        ({}, {"DeploymentNotReady"}),
        (None, {"ServiceEndpointDown"}),
    ],
)
def test_an_unreachable_endpoint_is_told_unless_its_workload_is(
    workload: dict[str, Any] | None, expected: set[str]
) -> None:
    world = ready_world()
    if workload is not None:
        put(world, "deployments.apps", {"metadata": METADATA, "spec": {"replicas": 1}, "status": workload})
    world.advance(200.0)
    expose(world, "app", "web", ["web-1"], 9999)
    world.advance(300.0)
    found = {alert.name: alert for alert in alerts(world)}
    assert set(found) - {"RequestsStopped"} == expected
    if "ServiceEndpointDown" in expected:
        assert found["ServiceEndpointDown"].labels["service"] == "web"


def test_no_requests_are_told_where_error_rates_say_nothing_any_more() -> None:
    world = ready_world()
    world.advance(200.0)
    expose(world, "app", "web", ["web-1"], 9999)
    world.advance(300.0)
    assert named(world)["RequestsStopped"] == "firing"


def test_cluster_wide_rules() -> None:
    world = ready_world()
    world.advance(60.0)
    change_status(world, "nodes", "", "w1", conditions=[{"type": "Ready", "status": "Unknown"}])
    claim = {"name": "data", "namespace": "app", "creationTimestamp": "2026-08-06T09:00:00Z"}
    put(world, "persistentvolumeclaims", {"metadata": claim, "status": {"phase": "Pending"}})
    job = {"name": "seed", "namespace": "app", "creationTimestamp": "2026-08-06T09:00:00Z"}
    failed = {"conditions": [{"type": "Failed", "status": "True"}]}
    put(world, "jobs.batch", {"metadata": job, "status": failed})
    world.advance(240.0)
    assert set(named(world)) == {"KubeNodeNotReady", "PersistentVolumeClaimPending", "KubeJobFailed"}


def test_the_recorded_alerts_are_the_alerts_and_asking_twice_is_asking_once() -> None:
    world = ready_world()
    world.advance(200.0)
    change_status(world, "pods", "app", "web-1", conditions=NOT_READY)
    world.advance(240.0)
    told = alerts(world)
    assert CACHE in world.memory
    assert alerts(world) == told
    del world.memory[CACHE]
    assert alerts(world) == told
    engine = Engine(recorded(world))
    shown = [dict(labels) for labels, _, _ in engine.query("ALERTS", world.clock // 1000).series]
    assert shown == [{"__name__": "ALERTS", "alertstate": a.state, **a.labels} for a in told]
    (since,) = engine.query("ALERTS_FOR_STATE", world.clock // 1000).series
    assert since[2][0] * 1e6 == told[0].active_at


def selected(tree: Expr) -> Iterator[str]:
    """The names of the metrics in an expression."""
    if isinstance(tree, Selector):
        yield from (m.value for m in tree.matchers if m.name == "__name__")
    for child in children(tree):
        yield from selected(child)


def test_rules_are_named_once_patient_and_about_what_is_measured() -> None:
    rules = [rule for group in groups_of(ready_world()) for rule in group.rules]
    names = [rule.name for rule in rules]
    assert len(names) == len(set(names))
    recorded_names = {rule.record for rule in rules if rule.record}
    for rule in rules:
        assert set(selected(parse(rule.expression))) <= set(BY_NAME) | recorded_names, rule.name
        if rule.alert:
            assert 30_000 <= rule.hold <= 120_000, rule.name
            assert dict(rule.labels)["severity"] in ("critical", "warning")
            # Of several applications some have a component of one name; an endpoint's instance holds its namespace.
            assert WHERE.search(dict(rule.annotations)["summary"]), rule.name
