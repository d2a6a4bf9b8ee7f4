"""How many replicas a HorizontalPodAutoscaler wants, from what its pods use.

The replica calculator of ``pkg/controller/podautoscaler/replica_calculator.go`` of v1.32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.kube import quantity
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.sim.controllers import pods
from sregym_env.sim.monitoring.metrics import PodUsage, available, pod_usage, reported, served
from sregym_env.sim.world import SimWorld

TOLERANCE = 0.1
"""Share by which a metric may miss its target unanswered (``--horizontal-pod-autoscaler-tolerance``)."""
CPU_INITIALIZATION = 5 * MINUTE
READINESS_DELAY = 30 * SECOND
METRICS_WINDOW = 15 * SECOND


class MetricError(Exception):
    """A metric from which no replica count follows; the text says why."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one metric asks for."""

    replicas: int
    description: str
    """The metric in words, as events name it."""
    current: Mapping[str, Any]
    """The entry of ``status.currentMetrics``."""


@dataclass(frozen=True, slots=True)
class _Group:
    measured: dict[str, int]
    """Usage of pods that count, by name, in thousandths of a core or byte."""
    unready: list[str]
    missing: list[str]


def proposal(
    world: SimWorld,
    metric: Mapping[str, Any],
    replicas: int,
    selected: Sequence[Manifest],
    namespace: str = "",
) -> Proposal:
    """What a metric of an autoscaler in ``namespace`` asks for. Raises MetricError."""
    type = metric["type"]
    if type not in ("Resource", "ContainerResource"):
        raise MetricError(_unregistered(metric, namespace))
    source = metric["resource" if type == "Resource" else "containerResource"]
    name, target, container = source["name"], source["target"], source.get("container", "")
    try:
        if target.get("averageUtilization") is not None:
            return _by_utilization(world, name, container, target["averageUtilization"], replicas, selected)
        return _by_value(world, name, container, target["averageValue"], replicas, selected)
    except MetricError as error:
        word = "utilization" if target.get("averageUtilization") is not None else "usage"
        raise MetricError(f"failed to get {name} {word}: {error}") from None


def _unregistered(metric: Mapping[str, Any], namespace: str) -> str:
    """Why a metric that is not of a resource cannot be had: nobody serves the APIs of such metrics here."""
    custom = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
    if metric["type"] == "Pods":
        return f"unable to get metric {metric['pods']['metric']['name']}: {custom}"
    if metric["type"] == "Object":
        source = metric["object"]
        about = source["describedObject"]
        where = f"{about['kind']} on {namespace} {about['name']}"
        return f"unable to get metric {source['metric']['name']}: {where}/{custom}"
    wanted = metric["external"]["metric"]
    return (
        f"unable to get external metric {namespace}/{wanted['name']}/{_go_selector(wanted.get('selector'))}: "
        "unable to fetch metrics from external metrics API: no external metrics API (external.metrics.k8s.io) "
        "registered"
    )


def _go_selector(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as Go's ``%+v`` prints a pointer to it."""
    if selector is None:
        return "nil"
    labels = selector.get("matchLabels") or {}
    shown = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{term['key']},Operator:{term['operator']},"
        f"Values:[{' '.join(term.get('values') or ())}],}},"
        for term in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{shown}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )


def _by_utilization(
    world: SimWorld, name: str, container: str, target: int, replicas: int, selected: Sequence[Manifest]
) -> Proposal:
    group = _grouped(world, name, container, selected)
    requests = {pod["metadata"]["name"]: _request(pod, name, container) for pod in selected}
    if not group.measured:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")

    def ratio(usage: Mapping[str, int]) -> float:
        asked = sum(requests[pod] for pod in usage)
        if asked == 0:
            raise MetricError("no metrics returned matched known pods")
        return sum(usage.values()) * 100 // asked / target

    asked = sum(requests[pod] for pod in group.measured)
    used = sum(group.measured.values())
    wanted = _replicas(replicas, group, ratio, lambda pod: requests[pod] * max(target, 100) // 100)
    average = used // len(group.measured)
    share = {"averageUtilization": used * 100 // asked, "averageValue": _text(average)}
    words = "container resource" if container else "resource"
    description = f"{name} {words} utilization (percentage of request)"
    return Proposal(wanted, description, _shown(name, container, share))


def _shown(name: str, container: str, current: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of ``status.currentMetrics``."""
    if container:
        source = {"container": container, "current": current, "name": name}
        return {"type": "ContainerResource", "containerResource": source}
    return {"type": "Resource", "resource": {"name": name, "current": current}}


def _by_value(
    world: SimWorld, name: str, container: str, target: str, replicas: int, selected: Sequence[Manifest]
) -> Proposal:
    group = _grouped(world, name, container, selected)
    if not group.measured:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
    wanted_each = quantity.milli(target)

    def ratio(usage: Mapping[str, int]) -> float:
        return sum(usage.values()) // len(usage) / wanted_each

    wanted = _replicas(replicas, group, ratio, lambda _: wanted_each)
    average = sum(group.measured.values()) // len(group.measured)
    words = "container resource" if container else "resource"
    return Proposal(wanted, f"{name} {words}", _shown(name, container, {"averageValue": _text(average)}))


def _replicas(
    replicas: int,
    group: _Group,
    ratio: Callable[[Mapping[str, int]], float],
    expected: Callable[[str], int],
) -> int:
    """The replica count for a usage ratio, cautious about pods that are not measured."""
    first = ratio(group.measured)
    if not group.missing and not (group.unready and first > 1.0):
        if abs(1.0 - first) <= TOLERANCE:
            return replicas
        return math.ceil(first * len(group.measured))
    usage = dict(group.measured)
    # Missing pods count as fully used when shrinking and as idle when growing; unready ones as idle.
    for pod in group.missing:
        usage[pod] = expected(pod) if first < 1.0 else 0
    if first > 1.0:
        for pod in group.unready:
            usage[pod] = 0
    second = ratio(usage)
    if abs(1.0 - second) <= TOLERANCE or (first < 1.0 < second) or (first > 1.0 > second):
        return replicas
    wanted = math.ceil(second * len(usage))
    if (second < 1.0 and wanted > replicas) or (second > 1.0 and wanted < replicas):
        return replicas
    return wanted


def _grouped(world: SimWorld, name: str, container: str, selected: Sequence[Manifest]) -> _Group:
    if not available(world):
        why = (
            "the server is currently unable to handle the request"
            if served(world)
            else "the server could not find the requested resource"
        )
        raise MetricError(
            f"unable to get metrics for resource {name}: unable to fetch metrics from resource metrics API: "
            f"{why} (get pods.metrics.k8s.io)"
        )
    group = _Group({}, [], [])
    found = False
    for pod in selected:
        if pods.phase(pod) == "Failed" or pods.is_terminating(pod):
            continue
        key = pod["metadata"]["name"]
        usage = pod_usage(world, pod)
        found = found or usage is not None
        if pods.phase(pod) == "Pending":
            group.unready.append(key)
        elif usage is None:
            group.missing.append(key)
        elif name == "cpu" and _is_warming_up(world, pod, usage):
            group.unready.append(key)
        else:
            group.measured[key] = _used(usage, name, container)
    if not found:
        text = "no metrics returned from resource metrics API"
        raise MetricError(f"unable to get metrics for resource {name}: {text}")
    return group


def _is_warming_up(world: SimWorld, pod: Manifest, usage: PodUsage) -> bool:
    ready, started = pods.condition(pod, "Ready"), (pod.get("status") or {}).get("startTime")
    if ready is None or not started:
        return True
    begun, changed = parse_rfc3339(started), parse_rfc3339(ready["lastTransitionTime"])
    if begun + CPU_INITIALIZATION > world.now():
        return ready["status"] == "False" or usage.timestamp < changed + METRICS_WINDOW
    # Not ready since its start: what it used so far says nothing about the load.
    return ready["status"] == "False" and begun + READINESS_DELAY > changed


def _used(usage: PodUsage, name: str, container: str) -> int:
    """Thousandths of a core or byte, as the texts that metrics-server serves read (``Quantity.MilliValue``)."""
    counted = [c for c in usage.containers if not container or c.name == container]
    return sum(quantity.milli(reported(c)[name]) for c in counted)


def _request(pod: Manifest, name: str, container: str) -> int:
    total = 0
    for found in pod["spec"]["containers"]:
        if container and found["name"] != container:
            continue
        asked = ((found.get("resources") or {}).get("requests") or {}).get(name)
        if asked is None:
            where = f"container {found['name']} of Pod {pod['metadata']['name']}"
            raise MetricError(f"missing request for {name} in {where}")
        total += quantity.milli(asked)
    return total


def _text(milli: int) -> str:
    return quantity.format_nano(milli * 1_000_000)
