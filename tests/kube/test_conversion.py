"""Objects served in two versions."""

from __future__ import annotations

from typing import Any

from sregym_env.kube import conversion, registry


def _resource(api_version: str, kind: str) -> registry.Resource:
    found = registry.by_kind(api_version, kind)
    assert found is not None
    return found


def test_autoscaler_round_trip() -> None:
    old: dict[str, Any] = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 70},
        "status": {"currentReplicas": 1, "currentCPUUtilizationPercentage": 12},
    }
    resource = _resource("autoscaling/v1", "HorizontalPodAutoscaler")
    stored = conversion.to_storage(resource, old)
    assert stored["apiVersion"] == "autoscaling/v2"
    assert stored["spec"]["metrics"][0]["resource"]["target"] == {
        "type": "Utilization",
        "averageUtilization": 70,
    }
    assert conversion.from_storage(resource, stored) == old


def test_event_round_trip() -> None:
    event: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod"},
        "message": "m",
        "count": 2,
    }
    resource = _resource("events.k8s.io/v1", "Event")
    served = conversion.from_storage(resource, event)
    assert (served["regarding"], served["note"], served["deprecatedCount"]) == ({"kind": "Pod"}, "m", 2)
    assert conversion.to_storage(resource, served) == event


def test_everything_else_passes_through() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod"}
    resource = _resource("v1", "Pod")
    assert conversion.to_storage(resource, pod) is pod
    assert conversion.from_storage(resource, pod) is pod


def test_what_the_old_version_cannot_say_is_carried_in_annotations() -> None:
    stored: dict[str, Any] = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "annotations": {"mine": "x"}},
        "spec": {
            "maxReplicas": 3,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
                },
                {
                    "type": "Resource",
                    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
                },
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": "rps"},
                        "target": {"type": "AverageValue", "averageValue": "5"},
                    },
                },
            ],
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60, "selectPolicy": "Max"}},
        },
    }
    resource = _resource("autoscaling/v1", "HorizontalPodAutoscaler")
    old = conversion.from_storage(resource, stored)
    annotations = old["metadata"]["annotations"]
    assert old["spec"] == {"maxReplicas": 3, "targetCPUUtilizationPercentage": 70}
    assert annotations["autoscaling.alpha.kubernetes.io/behavior"] == (
        '{"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Max"}}'
    )
    assert annotations["autoscaling.alpha.kubernetes.io/metrics"] == (
        '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},'
        '{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"5"}}]'
    )
    assert conversion.to_storage(resource, old) == stored
