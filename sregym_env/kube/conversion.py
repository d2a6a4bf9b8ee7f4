"""Conversion between the versions in which one stored object is served.

Two built-in resources have more than one served form: HorizontalPodAutoscaler (stored as autoscaling/v2,
also served as autoscaling/v1, which kubectl still creates) and Event (stored as v1, also served as
events.k8s.io/v1). Custom resources are converted as conversion strategy ``None`` does: only ``apiVersion``
changes. Everything else passes through untouched.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Json, Manifest

_V1 = "autoscaling/v1"
_V2 = "autoscaling/v2"
_EVENTS = "events.k8s.io/v1"


def to_storage(resource: Resource, obj: Manifest) -> Manifest:
    """An object that came in as ``resource`` in the form in which it is stored."""
    if resource.custom_type is not None:
        stored = f"{resource.group}/{resource.custom_type.storage_version}"
        return obj if obj.get("apiVersion") == stored else {**obj, "apiVersion": stored}
    if resource.kind == "HorizontalPodAutoscaler" and resource.api_version == _V1:
        return _autoscaler_from_v1(obj)
    if resource.kind == "Event" and resource.api_version == _EVENTS:
        return _rename({**obj, "apiVersion": "v1"}, _EVENT_FIELDS)
    return obj


def is_converted(resource: Resource) -> bool:
    """Whether the stored objects differ from those that ``resource`` serves."""
    if resource.custom:
        return True
    return (resource.kind, resource.api_version) in (("HorizontalPodAutoscaler", _V1), ("Event", _EVENTS))


def from_storage(resource: Resource, obj: Manifest) -> Manifest:
    """A stored object as ``resource`` serves it."""
    if resource.custom:
        if obj.get("apiVersion") == resource.api_version:
            return obj
        return {**obj, "apiVersion": resource.api_version}
    if resource.kind == "HorizontalPodAutoscaler" and resource.api_version == _V1:
        return _autoscaler_to_v1(obj)
    if resource.kind == "Event" and resource.api_version == _EVENTS:
        return _rename({**obj, "apiVersion": _EVENTS}, {old: new for new, old in _EVENT_FIELDS.items()})
    return obj


_EVENT_FIELDS = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
"""Fields of events.k8s.io/v1 and their names in v1."""


def _rename(obj: Manifest, names: Mapping[str, str]) -> Manifest:
    return {names.get(key, key): value for key, value in obj.items()}


def _cpu_metric(percent: int) -> Manifest:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _autoscaler_from_v1(obj: Manifest) -> Manifest:
    spec = dict(obj.get("spec") or {})
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    if percent is not None:
        spec["metrics"] = [_cpu_metric(percent)]
    out: Manifest = {**obj, "apiVersion": _V2, "spec": spec}
    if "status" in obj:
        status = dict(obj["status"])
        current = status.pop("currentCPUUtilizationPercentage", None)
        if current is not None:
            usage = {"averageUtilization": current}
            status["currentMetrics"] = [{"type": "Resource", "resource": {"name": "cpu", "current": usage}}]
        out["status"] = status
    return out


def _cpu_percent(metrics: Json, value: str) -> int | None:
    for metric in metrics or ():
        resource = metric.get("resource") or {}
        if metric.get("type") == "Resource" and resource.get("name") == "cpu":
            share: int | None = (resource.get(value) or {}).get("averageUtilization")
            return share
    return None


def _autoscaler_to_v1(obj: Manifest) -> Manifest:
    spec = dict(obj.get("spec") or {})
    percent = _cpu_percent(spec.pop("metrics", None), "target")
    spec.pop("behavior", None)
    if percent is not None:
        spec["targetCPUUtilizationPercentage"] = percent
    out: Manifest = {**obj, "apiVersion": _V1, "spec": spec}
    if "status" in obj:
        status = dict(obj["status"])
        current = _cpu_percent(status.pop("currentMetrics", None), "current")
        status.pop("conditions", None)
        if current is not None:
            status["currentCPUUtilizationPercentage"] = current
        out["status"] = status
    return out
