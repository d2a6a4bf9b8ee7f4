"""Conversion between the versions in which one stored object is served.

Two built-in resources have more than one served form: HorizontalPodAutoscaler (stored as autoscaling/v2,
also served as autoscaling/v1, which kubectl still creates) and Event (stored as v1, also served as
events.k8s.io/v1). Custom resources are stored in the version they were written in and converted when read, as
conversion strategy ``None`` does: only ``apiVersion`` changes. Everything else passes through untouched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from sregym_env.kube.custom import apply_schema_defaults, prune
from sregym_env.kube.registry import CustomType, Resource
from sregym_env.kube.types import Json, Manifest

_V1 = "autoscaling/v1"
_V2 = "autoscaling/v2"
_EVENTS = "events.k8s.io/v1"


def to_storage(resource: Resource, obj: Manifest) -> Manifest:
    """An object that came in as ``resource`` in the form in which it is stored."""
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
    if resource.custom_type is not None:
        return _custom(resource, resource.custom_type, obj)
    if resource.kind == "HorizontalPodAutoscaler" and resource.api_version == _V1:
        return _autoscaler_to_v1(obj)
    if resource.kind == "Event" and resource.api_version == _EVENTS:
        return _rename({**obj, "apiVersion": _EVENTS}, {old: new for new, old in _EVENT_FIELDS.items()})
    return obj


def _custom(resource: Resource, custom: CustomType, obj: Manifest) -> Manifest:
    """A custom object in a version, read as the API server reads it: pruned and defaulted by the schema of now."""
    if obj.get("apiVersion") != resource.api_version:
        obj = {**obj, "apiVersion": resource.api_version}
    seen: Manifest = apply_schema_defaults(custom.schema, prune(custom.schema, obj)[0])
    return seen


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


_ALPHA = "autoscaling.alpha.kubernetes.io/"
_METRICS, _BEHAVIOR = _ALPHA + "metrics", _ALPHA + "behavior"
_CONDITIONS, _CURRENT = _ALPHA + "conditions", _ALPHA + "current-metrics"
"""Annotations in which autoscaling/v1 carries what it has no fields for."""


def _autoscaler_from_v1(obj: Manifest) -> Manifest:
    spec = dict(obj.get("spec") or {})
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    metadata, carried = _without_carried(obj.get("metadata") or {})
    metrics = [_metric_from_v1(metric) for metric in _parsed(carried.get(_METRICS)) or ()]
    if percent is not None:
        metrics = [_cpu_metric(percent), *metrics]
    if metrics:
        spec["metrics"] = metrics
    behavior = _parsed(carried.get(_BEHAVIOR))
    if behavior:
        spec["behavior"] = _renamed_keys(behavior, str.lower)
    out: Manifest = {**obj, "apiVersion": _V2, "metadata": metadata, "spec": spec}
    if "status" in obj:
        status = dict(obj["status"])
        current = status.pop("currentCPUUtilizationPercentage", None)
        shown = [_metric_from_v1(metric) for metric in _parsed(carried.get(_CURRENT)) or ()]
        if current is not None and not shown:
            usage = {"averageUtilization": current}
            shown = [{"type": "Resource", "resource": {"name": "cpu", "current": usage}}]
        if shown:
            status["currentMetrics"] = shown
        conditions = _parsed(carried.get(_CONDITIONS))
        if conditions:
            status["conditions"] = conditions
        out["status"] = status
    return out


def _without_carried(metadata: Manifest) -> tuple[Manifest, Manifest]:
    """Metadata without the annotations that carry fields, and those annotations."""
    annotations = metadata.get("annotations") or {}
    carried = {k: v for k, v in annotations.items() if k in (_METRICS, _BEHAVIOR, _CONDITIONS, _CURRENT)}
    if not carried:
        return metadata, carried
    rest = {k: v for k, v in annotations.items() if k not in carried}
    kept = {k: v for k, v in metadata.items() if k != "annotations"}
    return ({**kept, "annotations": rest} if rest else kept), carried


def _parsed(text: Json) -> Json:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _renamed_keys(value: Json, change: Callable[[str], str]) -> Json:
    """A value whose mappings' keys begin with a changed letter: Go structs without field names in JSON."""
    if isinstance(value, dict):
        return {change(k[:1]) + k[1:]: _renamed_keys(v, change) for k, v in value.items()}
    if isinstance(value, list):
        return [_renamed_keys(item, change) for item in value]
    return value


_V1_TARGETS = (
    ("averageUtilization", "targetAverageUtilization", "currentAverageUtilization"),
    ("averageValue", "targetAverageValue", "currentAverageValue"),
    ("value", "targetValue", "currentValue"),
)
"""Fields of a metric's target or current value in v2, and their names in v1 annotations."""


def _field_of(metric: Manifest) -> str:
    kind = str(metric.get("type", ""))
    return kind[:1].lower() + kind[1:]


def _metric_to_v1(metric: Manifest) -> Manifest:
    """A v2 metric as the annotation of v1 has it: flat."""
    field = _field_of(metric)
    source = dict(metric.get(field) or {})
    identity = source.pop("metric", None)
    if identity is not None:
        source["metricName"] = identity.get("name")
        if identity.get("selector"):
            source["metricSelector" if field == "external" else "selector"] = identity["selector"]
    if "describedObject" in source:
        source["target"] = source.pop("describedObject")
        goal = (metric[field].get("target") or metric[field].get("current")) or {}
        prefix = 1 if "target" in metric[field] else 2
    else:
        prefix = 1 if "target" in source else 2
        goal = source.pop("target" if prefix == 1 else "current", None) or {}
    source.pop("current", None)
    for names in _V1_TARGETS:
        if names[0] in goal:
            source[names[prefix]] = goal[names[0]]
    return {"type": metric.get("type"), field: source}


def _metric_from_v1(metric: Manifest) -> Manifest:
    """A metric of a v1 annotation as v2 has it."""
    field = _field_of(metric)
    source = dict(metric.get(field) or {})
    name = source.pop("metricName", None)
    selector = source.pop("metricSelector", None) or source.pop("selector", None)
    if "target" in source and "kind" in source["target"]:
        source["describedObject"] = source.pop("target")
    goal: Manifest = {}
    key = "target"
    for v2, wanted, current in _V1_TARGETS:
        for old, where in ((wanted, "target"), (current, "current")):
            if old in source:
                goal[v2], key = source.pop(old), where
    if key == "target" and goal:
        kinds = {"averageUtilization": "Utilization", "averageValue": "AverageValue", "value": "Value"}
        goal = {"type": kinds[next(v2 for v2, _, _ in _V1_TARGETS if v2 in goal)], **goal}
    if name is not None:
        source["metric"] = {"name": name, **({"selector": selector} if selector else {})}
    return {"type": metric.get("type"), field: {**source, key: goal}}


def _cpu_percent(metrics: Json, value: str) -> int | None:
    for metric in metrics or ():
        resource = metric.get("resource") or {}
        if metric.get("type") == "Resource" and resource.get("name") == "cpu":
            share: int | None = (resource.get(value) or {}).get("averageUtilization")
            return share
    return None


def _is_cpu_share(metric: Manifest, value: str) -> bool:
    source = metric.get("resource") or {}
    return source.get("name") == "cpu" and (source.get(value) or {}).get("averageUtilization") is not None


def _autoscaler_to_v1(obj: Manifest) -> Manifest:
    spec = dict(obj.get("spec") or {})
    metrics = spec.pop("metrics", None) or []
    percent = _cpu_percent(metrics, "target")
    carried: dict[str, str] = {}
    others = [_metric_to_v1(metric) for metric in metrics if not _is_cpu_share(metric, "target")]
    if others:
        carried[_METRICS] = _compact(others)
    behavior = spec.pop("behavior", None)
    if behavior:
        carried[_BEHAVIOR] = _compact(_renamed_keys(behavior, str.upper))
    if percent is not None:
        spec["targetCPUUtilizationPercentage"] = percent
    out: Manifest = {**obj, "apiVersion": _V1, "spec": spec}
    if "status" in obj:
        status = dict(obj["status"])
        shown = status.pop("currentMetrics", None) or []
        current = _cpu_percent(shown, "current")
        conditions = status.pop("conditions", None)
        if conditions:
            carried[_CONDITIONS] = _compact(conditions)
        if shown and any(len((m.get("resource") or {}).get("current") or {}) != 1 for m in shown):
            carried[_CURRENT] = _compact([_metric_to_v1(metric) for metric in shown])
        if current is not None:
            status["currentCPUUtilizationPercentage"] = current
        status.setdefault("currentReplicas", 0)
        out["status"] = status
    if carried:
        metadata = obj.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), **carried}
        out["metadata"] = {**metadata, "annotations": annotations}
    return out
