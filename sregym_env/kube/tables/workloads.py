"""Workloads and their policies in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.kube.tables.cells import (
    NO_FIELDS,
    age,
    cut_off,
    format_labels,
    format_selector,
    is_true,
    micros,
    names_and_images,
    since,
)
from sregym_env.kube.tables.layout import Printer, Row
from sregym_env.kube.types import Manifest


def _deployment(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    names, images = names_and_images(spec.get("template"))
    return (
        obj["metadata"]["name"],
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 1)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age(obj, now),
        names,
        images,
        format_selector(spec.get("selector")),
    )


def _replicaset(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    names, images = names_and_images(spec.get("template"))
    selector = spec.get("selector")
    text = (
        format_labels(selector) if obj.get("kind") == "ReplicationController" else format_selector(selector)
    )
    return (
        obj["metadata"]["name"],
        spec.get("replicas", 1),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(obj, now),
        names,
        images,
        text,
    )


def _statefulset(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    names, images = names_and_images(spec.get("template"))
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 1)}"
    return (obj["metadata"]["name"], ready, age(obj, now), names, images)


def _daemonset(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    names, images = names_and_images(spec.get("template"))
    return (
        obj["metadata"]["name"],
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        status.get("numberReady", 0),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        format_labels(spec["template"]["spec"].get("nodeSelector")),
        age(obj, now),
        names,
        images,
        format_selector(spec.get("selector")),
    )


def _job(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    succeeded = status.get("succeeded", 0)
    if spec.get("completions") is not None:
        completions = f"{succeeded}/{spec['completions']}"
    elif spec.get("parallelism", 0) > 1:
        completions = f"{succeeded}/1 of {spec['parallelism']}"
    else:
        completions = f"{succeeded}/1"
    start, end = status.get("startTime"), status.get("completionTime")
    duration = since(start, micros(end) if end else now) if start else ""
    names, images = names_and_images(spec.get("template"))
    return (
        obj["metadata"]["name"],
        _job_status(obj),
        completions,
        duration,
        age(obj, now),
        names,
        images,
        format_selector(spec.get("selector")),
    )


def _job_status(obj: Manifest) -> str:
    for type_ in ("Complete", "Failed"):
        if is_true(obj, type_):
            return type_
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for type_ in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if is_true(obj, type_):
            return type_
    return "Running"


def _cronjob(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    last = status.get("lastScheduleTime")
    names, images = names_and_images(spec["jobTemplate"]["spec"].get("template"))
    suspend = spec.get("suspend")
    return (
        obj["metadata"]["name"],
        spec["schedule"],
        spec.get("timeZone") or "<none>",
        "<unset>" if suspend is None else str(bool(suspend)),
        len(status.get("active") or ()),
        since(last, now) if last else "<none>",
        age(obj, now),
        names,
        images,
        format_selector(spec["jobTemplate"]["spec"].get("selector")),
    )


def _hpa(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    target = spec["scaleTargetRef"]
    return (
        obj["metadata"]["name"],
        f"{target['kind']}/{target['name']}",
        _hpa_targets(spec.get("metrics") or (), status.get("currentMetrics") or ()),
        str(spec["minReplicas"]) if spec.get("minReplicas") is not None else "<unset>",
        spec["maxReplicas"],
        status.get("currentReplicas", 0),
        age(obj, now),
    )


def _hpa_targets(specs: Sequence[Mapping[str, Any]], statuses: Sequence[Mapping[str, Any]]) -> str:
    if not specs:
        return "<none>"
    texts = [_hpa_target(m, statuses[i] if i < len(statuses) else NO_FIELDS) for i, m in enumerate(specs)]
    return cut_off(texts, 2, ", ")


_METRIC_FIELDS = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _hpa_target(metric: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    field = _METRIC_FIELDS.get(metric["type"])
    if field is None:
        return "<unknown type>"
    source = metric.get(field) or NO_FIELDS
    target = source.get("target") or NO_FIELDS
    current = (status.get(field) or NO_FIELDS).get("current") or NO_FIELDS
    prefix = f"{source['name']}: " if field in ("resource", "containerResource") else ""
    if target.get("averageValue") is not None:
        suffix = " (avg)" if field in ("external", "object") else ""
        return f"{prefix}{current.get('averageValue', '<unknown>')}/{target['averageValue']}{suffix}"
    if prefix:
        now_ = current.get("averageUtilization")
        wanted = target.get("averageUtilization")
        shown = "<unknown>" if now_ is None else f"{now_}%"
        return f"{prefix}{shown}/{'<auto>' if wanted is None else f'{wanted}%'}"
    return f"{current.get('value', '<unknown>')}/{target.get('value', '<unset>')}"


def _pdb(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    return (
        obj["metadata"]["name"],
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        (obj.get("status") or NO_FIELDS).get("disruptionsAllowed", 0),
        age(obj, now),
    )


def _controller_revision(obj: Manifest, now: int) -> Row:
    controller = "<none>"
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            group = owner["apiVersion"].rpartition("/")[0]
            kind = owner["kind"].lower()
            controller = f"{kind}.{group}/{owner['name']}" if group else f"{kind}/{owner['name']}"
    return (obj["metadata"]["name"], controller, obj.get("revision", 0), age(obj, now))


def _pod_template(obj: Manifest, now: int) -> Row:
    template = obj.get("template") or NO_FIELDS
    names, images = names_and_images(template)
    return (
        obj["metadata"]["name"],
        names,
        images,
        format_labels((template.get("metadata") or NO_FIELDS).get("labels")),
    )


_WORKLOAD = "Containers*|Images*|Selector*"
_REPLICAS = f"Name|Desired|Current|Ready|Age|{_WORKLOAD}"

PRINTERS: Mapping[str, Printer] = {
    "deployments.apps": Printer.of(f"Name|Ready|Up-to-date|Available|Age|{_WORKLOAD}", _deployment),
    "replicasets.apps": Printer.of(_REPLICAS, _replicaset),
    "replicationcontrollers": Printer.of(_REPLICAS, _replicaset),
    "statefulsets.apps": Printer.of("Name|Ready|Age|Containers*|Images*", _statefulset),
    "daemonsets.apps": Printer.of(
        f"Name|Desired|Current|Ready|Up-to-date|Available|Node Selector|Age|{_WORKLOAD}", _daemonset
    ),
    "controllerrevisions.apps": Printer.of("Name|Controller|Revision|Age", _controller_revision),
    "podtemplates": Printer.of("Name|Containers|Images|Pod Labels", _pod_template),
    "jobs.batch": Printer.of(f"Name|Status|Completions|Duration|Age|{_WORKLOAD}", _job),
    "cronjobs.batch": Printer.of(
        f"Name|Schedule|Timezone|Suspend|Active|Last Schedule|Age|{_WORKLOAD}", _cronjob
    ),
    "horizontalpodautoscalers.autoscaling": Printer.of(
        "Name|Reference|Targets|MinPods|MaxPods|Replicas|Age", _hpa
    ),
    "poddisruptionbudgets.policy": Printer.of(
        "Name|Min Available|Max Unavailable|Allowed Disruptions|Age", _pdb
    ),
}
"""Printers by resource key."""
