"""How well an object is, as delivery tools assess it (``pkg/health`` of ``argoproj/gitops-engine``): from its own status alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sregym_env.kube.types import Manifest

HEALTHY: Final = "Healthy"
ORDER: Final = (HEALTHY, "Suspended", "Progressing", "Missing", "Degraded", "Unknown")
"""From the best to the worst: a whole is as well as its worst part."""

Assessment = tuple[str, str]
"""A word of :data:`ORDER`, and why; no reason is needed for being healthy."""

_WELL: Assessment = (HEALTHY, "")
_ROLLING = "Waiting for rollout to finish: "


def assessed(obj: Manifest) -> Assessment | None:
    """How well an object is; None for a kind of which nobody can say it."""
    judge = _JUDGES.get(obj["kind"])
    return None if judge is None else judge(obj, obj.get("status") or {})


def worst(words: list[str]) -> str:
    """The worst of some; healthy where there are none."""
    return max(words, key=ORDER.index, default=HEALTHY)


def _conditions(status: Mapping[str, Any]) -> Mapping[str, Manifest]:
    return {condition["type"]: condition for condition in status.get("conditions") or ()}


def _deployment(obj: Manifest, status: Mapping[str, Any]) -> Assessment:
    spec = obj["spec"]
    if spec.get("paused"):
        return "Suspended", "Deployment is paused"
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return "Progressing", f"{_ROLLING}observed deployment generation less than desired generation"
    progressing = _conditions(status).get("Progressing")
    if progressing is not None and progressing.get("reason") == "ProgressDeadlineExceeded":
        return "Degraded", f'Deployment "{obj["metadata"]["name"]}" exceeded its progress deadline'
    there, updated = status.get("replicas", 0), status.get("updatedReplicas", 0)
    wanted, available = spec.get("replicas", 1), status.get("availableReplicas", 0)
    if updated < wanted:
        return (
            "Progressing",
            f"{_ROLLING}{updated} out of {wanted} new replicas have been updated...",
        )
    if there > updated:
        return "Progressing", f"{_ROLLING}{there - updated} old replicas are pending termination..."
    if available < updated:
        return "Progressing", f"{_ROLLING}{available} of {updated} updated replicas are available..."
    return _WELL


def _stateful_set(obj: Manifest, status: Mapping[str, Any]) -> Assessment:
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return "Progressing", "Waiting for statefulset spec update to be observed..."
    wanted, ready = obj["spec"].get("replicas", 1), status.get("readyReplicas", 0)
    if ready < wanted:
        return "Progressing", f"Waiting for {wanted - ready} pods to be ready..."
    if (obj["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
        return _WELL
    if status.get("updateRevision") != status.get("currentRevision"):
        return (
            "Progressing",
            f"waiting for statefulset rolling update to complete {status.get('updatedReplicas', 0)} pods at revision "
            f"{status.get('updateRevision', '')}...",
        )
    return _WELL


def _daemon_set(obj: Manifest, status: Mapping[str, Any]) -> Assessment:
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return (
            "Progressing",
            f"{_ROLLING}observed daemon set generation less than desired generation",
        )
    wanted, updated = status.get("desiredNumberScheduled", 0), status.get("updatedNumberScheduled", 0)
    if updated < wanted:
        name = obj["metadata"]["name"]
        return (
            "Progressing",
            f'Waiting for daemon set "{name}" rollout to finish: {updated} out of {wanted} new pods have been updated...',
        )
    available = status.get("numberAvailable", 0)
    if available < wanted:
        name = obj["metadata"]["name"]
        return (
            "Progressing",
            f'Waiting for daemon set "{name}" rollout to finish: {available} of {wanted} updated pods are available...',
        )
    return _WELL


def _exposed(obj: Manifest, status: Mapping[str, Any]) -> Assessment:
    """A Service or an Ingress: one for which a load balancer is wanted waits for it."""
    if obj["kind"] == "Service" and obj["spec"].get("type") != "LoadBalancer":
        return _WELL
    return _WELL if (status.get("loadBalancer") or {}).get("ingress") else ("Progressing", "")


def _claim(obj: Manifest, status: Mapping[str, Any]) -> Assessment:
    return {"Bound": _WELL, "Lost": ("Degraded", ""), "Pending": ("Progressing", "")}.get(
        status.get("phase", ""), ("Unknown", "")
    )


def _autoscaler(obj: Manifest, status: Mapping[str, Any]) -> Assessment:
    conditions = _conditions(status)
    if not conditions:
        return "Progressing", "Waiting to Autoscale"
    for condition in conditions.values():
        if condition.get("reason") in _UNABLE:
            return "Degraded", condition.get("message", "")
    able = conditions.get("AbleToScale", {})
    return _WELL if able.get("status") == "True" else ("Progressing", "Waiting to Autoscale")


_UNABLE = (
    "FailedGetScale",
    "FailedUpdateScale",
    "FailedGetResourceMetric",
    "FailedComputeMetricsReplicas",
    "InvalidSelector",
)


def _job(obj: Manifest, status: Mapping[str, Any]) -> Assessment:
    ended = [c for c in status.get("conditions") or () if c.get("status") == "True"]
    for condition in ended:
        if condition["type"] == "Failed":
            return "Degraded", condition.get("message", "")
        if condition["type"] == "Complete":
            return _WELL
        if condition["type"] == "Suspended":
            return "Suspended", condition.get("message", "")
    return "Progressing", ""


_JUDGES: Mapping[str, Callable[[Manifest, Mapping[str, Any]], Assessment]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Service": _exposed,
    "Ingress": _exposed,
    "PersistentVolumeClaim": _claim,
    "HorizontalPodAutoscaler": _autoscaler,
    "Job": _job,
}
