"""HorizontalPodAutoscalers."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.controllers import autoscaling
from sregym_env.sim.monitoring.metrics import ContainerUsage, PodUsage
from sregym_env.sim.world import SimWorld
from tests.sim.control_plane import change, cluster, create, get, run, said, workload

SCALERS = "horizontalpodautoscalers.autoscaling"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> dict[str, float | None]:
    """Cores that every pod uses; None while metrics-server has no samples."""
    used: dict[str, float | None] = {"cpu": 0.05}

    def usage(world: SimWorld, _: Any) -> PodUsage | None:
        cpu = used["cpu"]
        return None if cpu is None else PodUsage(world.now(), (ContainerUsage("c", cpu, 0),))

    monkeypatch.setattr(autoscaling, "pod_usage", usage)
    monkeypatch.setattr(autoscaling, "available", lambda _: True)
    return used


def scaled(replicas: int = 2, request: str | None = "100m", **spec: Any) -> SimWorld:
    world = cluster("n1")
    made = workload(replicas=replicas)
    if request is not None:
        made["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": request}}
    create(world, "deployments.apps", "web", made)
    run(world)
    world.advance(400)
    target = {"type": "Utilization", "averageUtilization": 50}
    wanted = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1,
        "maxReplicas": 5,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
    }
    create(world, SCALERS, "web", {**wanted, **spec})
    world.settle()
    return world


def replicas(world: SimWorld) -> int:
    return int(get(world, "deployments.apps", "web")["spec"]["replicas"])


def conditions(world: SimWorld) -> dict[str, str]:
    return {c["type"]: c["reason"] for c in get(world, SCALERS, "web")["status"]["conditions"]}


def test_load_on_target_changes_nothing(load: dict[str, float | None]) -> None:
    load["cpu"] = 0.052
    world = scaled()
    world.advance(60)
    assert replicas(world) == 2
    assert conditions(world) == {
        "AbleToScale": "ReadyForNewScale",
        "ScalingActive": "ValidMetricFound",
        "ScalingLimited": "DesiredWithinRange",
    }


def test_load_above_target_adds_replicas_up_to_the_limit(load: dict[str, float | None]) -> None:
    load["cpu"] = 0.1
    world = scaled()
    assert replicas(world) == 4
    text = "New size: 4; reason: cpu resource utilization (percentage of request) above target"
    assert said(world, "SuccessfulRescale") == [text]
    run(world)
    world.advance(400)
    assert replicas(world) == 5
    assert conditions(world)["ScalingLimited"] == "TooManyReplicas"


def test_at_rest_nothing_is_computed_and_what_is_shown_is_what_pods_use_now(
    load: dict[str, float | None],
) -> None:
    load["cpu"] = 0.052
    world = scaled()
    world.advance(400)
    written = get(world, SCALERS, "web")["metadata"]["resourceVersion"]
    load["cpu"] = 0.048
    world.advance(600)
    assert get(world, SCALERS, "web")["metadata"]["resourceVersion"] == written
    (listed,) = SimCluster(world).list(SCALERS, "default")
    for shown in (listed, SimCluster(world).get(SCALERS, "web", "default")):
        assert shown["status"]["currentMetrics"] == [
            {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 48, "averageValue": "48m"}}}
        ]  # fmt: skip


def test_pods_of_others_that_match_its_selector_wake_one_at_rest(load: dict[str, float | None]) -> None:
    load["cpu"] = 0.052
    world = scaled()
    world.advance(600)
    written = get(world, SCALERS, "web")["metadata"]["resourceVersion"]
    others = workload(replicas=2)
    labels = {**others["selector"]["matchLabels"], "track": "batch"}
    others["selector"] = {"matchLabels": labels}
    others["template"]["metadata"]["labels"] = labels
    others["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    create(world, "deployments.apps", "batch", others)
    run(world)
    world.advance(900)
    assert get(world, SCALERS, "web")["metadata"]["resourceVersion"] != written
    assert replicas(world) == 1
    assert get(world, "deployments.apps", "batch")["spec"]["replicas"] == 2


def test_scaling_down_waits_for_the_window(load: dict[str, float | None]) -> None:
    world = scaled()
    world.advance(30)
    load["cpu"] = 0.01
    world.advance(200)
    assert replicas(world) == 2
    assert conditions(world)["AbleToScale"] == "ScaleDownStabilized"
    world.advance(150)
    assert replicas(world) == 1


@pytest.mark.parametrize(
    ("cpu", "request_", "text"),
    [
        (
            None,
            "100m",
            "unable to get metrics for resource cpu: no metrics returned from resource metrics API",
        ),
        (0.05, None, "missing request for cpu in container c of Pod web-"),
    ],
)
def test_metrics_that_cannot_be_had(
    load: dict[str, float | None], cpu: float | None, request_: str | None, text: str
) -> None:
    load["cpu"] = cpu
    world = scaled(request=request_)
    assert replicas(world) == 2
    assert conditions(world)["ScalingActive"] == "FailedGetResourceMetric"
    message = said(world, "FailedGetResourceMetric")[0]
    assert message.startswith(f"failed to get cpu utilization: {text}")


def test_target_that_is_missing_or_switched_off(load: dict[str, float | None]) -> None:
    world = scaled(scaleTargetRef={"apiVersion": "apps/v1", "kind": "Deployment", "name": "none"})
    assert conditions(world) == {"AbleToScale": "FailedGetScale"}
    world = scaled()
    change(world, "deployments.apps", "web", replicas=0)
    world.advance(20)
    assert conditions(world)["ScalingActive"] == "ScalingDisabled"


def test_metrics_that_nobody_serves() -> None:
    world = scaled(
        metrics=[
            {
                "type": "Pods",
                "pods": {"metric": {"name": "rps"}, "target": {"type": "AverageValue", "averageValue": "1"}},
            }
        ]
    )
    assert conditions(world)["ScalingActive"] == "FailedGetPodsMetric"
    text = (
        "unable to get metric rps: unable to fetch metrics from custom metrics API: "
        "no custom metrics API (custom.metrics.k8s.io) registered"
    )
    assert said(world, "FailedGetPodsMetric") == [text]
    about = "invalid metrics (1 invalid out of 1), first error is: failed to get pods metric value: "
    assert said(world, "FailedComputeMetricsReplicas") == [about + text]
