from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import EPOCH, MINUTE, SECOND
from sregym_env.sim.monitoring.alerts import RULES, alerts
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.program import Call
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
    world.app = application()
    pod(world, "app", "load", "10.244.1.8", "w1", program="load", ports=())
    for found in list(world.store.list("pods")):
        status = {**found["status"], "conditions": [{"type": "Ready", "status": "True"}]}
        put(world, "pods", {**found, "status": status})
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


@pytest.mark.parametrize(
    ("resource", "name", "status", "expected"),
    [
        ("pods", "web-1", {"containerStatuses": [WAITING]}, {"PodStatusError", "KubePodCrashLooping"}),
        ("pods", "web-1", {"phase": "Failed"}, {"FailedPodsDetected"}),
        ("pods", "web-1", {"phase": "Pending"}, {"PendingPodsDetected"}),
        (
            "pods",
            "web-1",
            {
                "conditions": [
                    {"type": "Ready", "status": "True"},
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"},
                ]
            },
            {"PodSchedulingFailure"},
        ),
        ("pods", "web-1", {"conditions": [{"type": "Ready", "status": "False"}]}, {"KubePodNotReady"}),
        ("pods", "web-1", {"phase": "Succeeded", "conditions": []}, set()),
    ],
)
def test_rules_about_objects(resource: str, name: str, status: dict[str, Any], expected: set[str]) -> None:
    world = ready_world()
    world.advance(200.0)
    change_status(world, resource, "app", name, **status)
    assert set(named(world)) == expected


def test_for_makes_pending_firing() -> None:
    world = ready_world()
    world.advance(200.0)
    since = rfc3339(world.clock)
    change_status(
        world,
        "pods",
        "app",
        "web-1",
        conditions=[{"type": "Ready", "status": "False", "lastTransitionTime": since}],
    )
    assert named(world) == {"KubePodNotReady": "pending"}
    world.advance(59.0)
    assert named(world) == {"KubePodNotReady": "pending"}
    world.advance(2.0)
    (alert,) = alerts(world)
    assert (alert.state, alert.active_at) == ("firing", EPOCH + 200 * SECOND)
    assert dict(alert.labels) == {
        "alertname": "KubePodNotReady",
        "namespace": "app",
        "pod": "web-1",
        "severity": "critical",
    }


def test_crash_looping_outlasts_the_moments_in_which_the_container_runs() -> None:
    world = ready_world()
    first = rfc3339(world.clock)
    world.advance(200.0)
    running = {"name": "main", "restartCount": 4, "state": {"running": {}}}
    change_status(world, "pods", "app", "web-1", containerStatuses=[running])
    assert named(world) == {}
    event = {
        "metadata": {"name": "web-1.1", "namespace": "app"},
        "involvedObject": {"kind": "Pod", "name": "web-1", "uid": "uid-web-1"},
        "reason": "BackOff",
        "message": "Back-off restarting failed container main in pod web-1_app(uid-web-1)",
        "firstTimestamp": first,
        "lastTimestamp": rfc3339(world.clock),
    }
    put(world, "events", event)
    assert named(world) == {"KubePodCrashLooping": "firing"}
    world.advance(301.0)
    assert named(world) == {}


@pytest.mark.parametrize("replicas", [0, 1])
def test_deployment_without_available_replicas(replicas: int) -> None:
    world = ready_world()
    metadata = {"name": "web", "namespace": "app", "uid": "d", "creationTimestamp": "2026-08-06T09:00:00Z"}
    put(world, "deployments.apps", {"metadata": metadata, "spec": {"replicas": replicas}, "status": {}})
    assert named(world) == {"DeploymentNotReady": "firing"}


def test_failing_requests_raise_the_error_rate() -> None:
    world = ready_world()
    world.advance(300.0)
    world.change_process(("uid-web-1", "main"), program="broken")
    world.advance(10.0)
    assert named(world) == {}
    world.advance(100.0)
    assert named(world) == {"HighRequestErrorRate": "firing"}


def test_slow_requests_raise_latency_and_recover() -> None:
    world = ready_world()
    world.advance(300.0)
    world.change_process(("uid-web-1", "main"), program="slow")
    world.advance(200.0)
    assert named(world) == {"HighRequestLatency": "firing"}
    world.change_process(("uid-web-1", "main"), program="echo")
    world.advance(300.0)
    assert named(world) == {}


def test_unreachable_endpoint_of_an_available_deployment() -> None:
    world = ready_world()
    metadata = {"name": "web", "namespace": "app", "uid": "d", "creationTimestamp": "2026-08-06T09:00:00Z"}
    status = {"availableReplicas": 1}
    put(world, "deployments.apps", {"metadata": metadata, "spec": {"replicas": 1}, "status": status})
    world.advance(200.0)
    expose(world, "app", "web", ["web-1"], 9999)
    world.advance(30.0)
    found = {alert.name: alert for alert in alerts(world)}
    assert found["ServiceEndpointDown"].state == "pending"
    world.advance(60.0)
    found = {alert.name: alert for alert in alerts(world)}
    assert found["ServiceEndpointDown"].state == "firing"
    assert found["ServiceEndpointDown"].labels["service"] == "web"


def test_cluster_wide_rules() -> None:
    world = ready_world()
    change_status(world, "nodes", "", "w1", conditions=[{"type": "Ready", "status": "Unknown"}])
    claim = {"name": "data", "namespace": "app", "creationTimestamp": "2026-08-06T09:00:00Z"}
    put(world, "persistentvolumeclaims", {"metadata": claim, "status": {"phase": "Pending"}})
    job = {"name": "seed", "namespace": "app", "creationTimestamp": "2026-08-06T09:00:00Z"}
    failed = {"conditions": [{"type": "Failed", "status": "True"}]}
    put(world, "jobs.batch", {"metadata": job, "status": failed})
    assert set(named(world)) == {"KubeNodeNotReady", "PersistentVolumeClaimPending", "KubeJobFailed"}


def test_rules_are_named_once_and_patient() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names))
    assert all(30 * SECOND <= rule.hold <= 2 * MINUTE for rule in RULES)
