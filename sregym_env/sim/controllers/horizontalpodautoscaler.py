"""The HorizontalPodAutoscaler controller: replicas follow the load, within limits and not too fast.

Follows ``pkg/controller/podautoscaler/horizontal.go`` of v1.32; the calculation is in :mod:`.autoscaling`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sregym_env.kube import conditions
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.registry import Resource
from sregym_env.kube.selectors import parse_labels
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events, subresources, tracking
from sregym_env.sim.controllers.autoscaling import CPU_INITIALIZATION, MetricError, Proposal, proposal
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.history import history
from sregym_env.sim.world.store import Change, Key

RESOURCE = "horizontalpodautoscalers.autoscaling"
COMPONENT = "horizontal-pod-autoscaler"
SYNC = 15 * SECOND
DOWN_WINDOW = 300
"""Seconds for which the highest recommendation counts when scaling down."""
HISTORY = 128
"""Recommendations and scalings remembered per autoscaler: half an hour of them."""

_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_DOWN = {
    "stabilizationWindowSeconds": DOWN_WINDOW,
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}

Memory = tuple[tuple[int, int], ...]
"""(time, number) pairs, oldest first."""


REST = 20
"""Equal recommendations in a row after which an autoscaler that has what it wants is not looked at any more: until
then every jitter of its metrics has had its say. A change of the traffic wakes it."""


FRESH = 6
"""How many of those must be younger than the last change of the traffic: a minute and a half, in which it shows."""


YOUNG = CPU_INITIALIZATION + MINUTE
"""How old the youngest of the pods that are averaged over must be: until then its metrics are not all there, or do not count."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Scale the target of one autoscaler; it is looked at every 15 s, and at rest only after something changed."""
    scaler = world.store.get(RESOURCE, *key)
    if scaler is None or "deletionTimestamp" in scaler["metadata"]:
        for slot in _slots(key):
            world.memory.pop(slot, None)
        return None
    status = dict(scaler.get("status") or {})
    status["observedGeneration"] = scaler["metadata"].get("generation", 1)
    listed = list(status.get("conditions") or ())
    try:
        resource, target, scale = _target(world, scaler)
    except MetricError as error:
        text = f"the HPA controller was unable to get the target's current scale: {error}"
        listed = _put(world, listed, "AbleToScale", "False", "FailedGetScale", text)
        events.record(world, scaler, "Warning", "FailedGetScale", str(error), component=COMPONENT)
        _write(world, key, {**status, "conditions": listed})
        return SYNC
    text = "the HPA controller was able to get the target's current scale"
    listed = _put(world, listed, "AbleToScale", "True", "SucceededGetScale", text)
    status["currentReplicas"] = scale["status"]["replicas"]
    listed = _rescale(world, scaler, status, listed, resource, target, scale)
    _write(world, key, {**status, "conditions": listed})
    return None if _rests(world, scaler, status) else SYNC


def _rests(world: SimWorld, scaler: Manifest, status: Mapping[str, Any]) -> bool:
    """Whether looking again would find the same: what is asked for within the bounds does not change any more."""
    least, most = scaler["spec"].get("minReplicas", 1), scaler["spec"]["maxReplicas"]
    asked: Memory = world.memory.get(_slots(_key(scaler))[0], ())[-REST:]
    known = [(time, min(max(number, least), most)) for time, number in asked]
    settled = status.get("desiredReplicas") == status.get("currentReplicas") and bool(
        status.get("currentMetrics")
    )
    if not settled or len(known) < REST or len({number for _, number in known}) > 1:
        return False
    last = history(world).last()
    return (last is None or known[-FRESH][0] > last.start) and not _has_young(world, scaler)


def _has_young(world: SimWorld, scaler: Manifest) -> bool:
    """Whether some of the pods that are averaged over are so young that they will count otherwise."""
    try:
        _, _, scale = _target(world, scaler)
    except MetricError:
        return False
    matches = parse_labels(scale["status"].get("selector") or "").matches
    namespace = scaler["metadata"]["namespace"]
    since = world.now() - YOUNG
    return any(
        parse_rfc3339(pod["metadata"]["creationTimestamp"]) > since
        for pod in world.store.list("pods", namespace)
        if matches(pod["metadata"].get("labels") or {})
    )


def present(world: SimWorld, scaler: Manifest) -> Manifest:
    """An autoscaler as a client sees it now: one that rests shows what its pods use, though nobody computes it.

    The real one goes on looking every 15 s, and finds what ``kubectl top`` shows.
    """
    status = scaler.get("status") or {}
    if "spec" not in scaler or not _rests(world, scaler, status):
        return scaler
    try:
        _, _, scale = _target(world, scaler)
    except MetricError:
        return scaler
    made = [
        found
        for _, found in _proposals(
            world, scaler, scale["status"].get("selector") or "", scale["spec"]["replicas"]
        )
    ]
    shown = [found.current for found in made if isinstance(found, Proposal)]
    # A metric that is missing for the moment is for the next real look, with its conditions and events.
    if len(shown) < len(made):
        return scaler
    return {**scaler, "status": {**status, "currentMetrics": shown}}


def _slots(key: Key) -> tuple[str, str]:
    name = f"{key[0]}/{key[1]}"
    return f"hpa.recommendations:{name}", f"hpa.scalings:{name}"


def _put(
    world: SimWorld, listed: list[conditions.Condition], type: str, status: str, reason: str, message: str
) -> list[conditions.Condition]:
    return conditions.put_in_place(listed, world.now(), type, status, reason, message)


def _write(world: SimWorld, key: Key, status: dict[str, Any]) -> None:
    status.setdefault("desiredReplicas", 0)
    status.setdefault("currentMetrics", None)
    apiserver.update_status(world, RESOURCE, *key, status)


def _target(world: SimWorld, scaler: Manifest) -> tuple[Resource, Manifest, Manifest]:
    """The resource of the target, the target, and its Scale."""
    ref = scaler["spec"]["scaleTargetRef"]
    resource = apiserver.served(world, ref.get("apiVersion", "apps/v1"), ref["kind"])
    if resource is None or "scale" not in resource.subresources:
        kind, version = ref["kind"], ref.get("apiVersion", "")
        raise MetricError(f'no matches for kind "{kind}" in group "{version.rpartition("/")[0]}"')
    target = world.store.get(resource.key, scaler["metadata"]["namespace"], ref["name"])
    if target is None:
        raise MetricError(f'{resource.plural}/scale.{resource.group} "{ref["name"]}" not found')
    try:
        return resource, target, subresources.scale_of(target, resource)
    except StatusError as error:
        raise MetricError(error.message) from error


def _rescale(
    world: SimWorld,
    scaler: Manifest,
    status: dict[str, Any],
    listed: list[conditions.Condition],
    resource: Resource,
    target: Manifest,
    scale: Manifest,
) -> list[conditions.Condition]:
    spec = scaler["spec"]
    current: int = scale["spec"]["replicas"]
    least, most = spec.get("minReplicas", 1), spec["maxReplicas"]
    if current == 0 and least != 0:
        text = "scaling is disabled since the replica count of the target is zero"
        status["desiredReplicas"] = 0
        return _put(world, listed, "ScalingActive", "False", "ScalingDisabled", text)
    reason = ""
    if current > most:
        desired, reason = most, "Current number of replicas above Spec.MaxReplicas"
    elif current < least:
        desired, reason = least, "Current number of replicas below Spec.MinReplicas"
    else:
        asked, listed = _asked(world, scaler, status, listed, scale, current)
        if asked is None:
            status["desiredReplicas"] = current
            return listed
        if asked.replicas > current:
            reason = f"{asked.description} above target"
        elif asked.replicas < current:
            reason = "All metrics below target"
        desired, listed = _normalized(world, scaler, listed, current, asked.replicas)
    status["desiredReplicas"] = desired
    if desired == current:
        return listed
    try:
        subresources.rescale(world, resource, target, desired, tracking.of_scaling(resource, target))
    except StatusError as error:
        text = f"the HPA controller was unable to update the target scale: {error.message}"
        listed = _put(world, listed, "AbleToScale", "False", "FailedUpdateScale", text)
        text = f"New size: {desired}; reason: {reason}; error: {error.message}"
        events.record(world, scaler, "Warning", "FailedRescale", text, component=COMPONENT)
        return listed
    text = f"the HPA controller was able to update the target scale to {desired}"
    listed = _put(world, listed, "AbleToScale", "True", "SucceededRescale", text)
    text = f"New size: {desired}; reason: {reason}"
    events.record(world, scaler, "Normal", "SuccessfulRescale", text, component=COMPONENT)
    _remember(world, _slots(_key(scaler))[1], desired - current)
    status["lastScaleTime"] = rfc3339(world.now())
    return listed


def _key(scaler: Manifest) -> Key:
    return scaler["metadata"]["namespace"], scaler["metadata"]["name"]


def _asked(
    world: SimWorld,
    scaler: Manifest,
    status: dict[str, Any],
    listed: list[conditions.Condition],
    scale: Manifest,
    current: int,
) -> tuple[Proposal | None, list[conditions.Condition]]:
    """The highest of what the metrics ask for. With a failing metric, nothing is scaled down."""
    selector = scale["status"].get("selector")
    if not selector:
        text = "the HPA target's scale is missing a selector"
        events.record(
            world, scaler, "Warning", "SelectorRequired", "selector is required", component=COMPONENT
        )
        return None, _put(world, listed, "ScalingActive", "False", "InvalidSelector", text)
    best: Proposal | None = None
    shown: list[Mapping[str, Any]] = []
    errors: list[tuple[str, str, str]] = []
    metrics = scaler["spec"].get("metrics") or []
    for metric, made in _proposals(world, scaler, selector, current):
        if isinstance(made, MetricError):
            reason = f"FailedGet{metric['type']}Metric"
            if metric["type"] == "ContainerResource":
                reason = "FailedGetContainerResourceMetric"
            errors.append((reason, str(made), _metric_name(metric)))
            events.record(world, scaler, "Warning", reason, str(made), component=COMPONENT)
            continue
        shown.append(made.current)
        if best is None or made.replicas > best.replicas:
            best = made
    status["currentMetrics"] = shown or None
    if errors and (best is None or best.replicas < current):
        reason, cause, name = errors[0]
        text = f"the HPA was unable to compute the replica count: {cause}"
        listed = _put(world, listed, "ScalingActive", "False", reason, text)
        about = f"invalid metrics ({len(errors)} invalid out of {len(metrics)})"
        text = f"{about}, first error is: failed to get {name}: {cause}"
        events.record(world, scaler, "Warning", "FailedComputeMetricsReplicas", text, component=COMPONENT)
        return None, listed
    if best is None:
        return None, listed
    text = f"the HPA was able to successfully calculate a replica count from {best.description}"
    return best, _put(world, listed, "ScalingActive", "True", "ValidMetricFound", text)


def _proposals(
    world: SimWorld, scaler: Manifest, selector: str, current: int
) -> Iterator[tuple[Mapping[str, Any], Proposal | MetricError]]:
    """Every metric of an autoscaler with what it asks for now."""
    matches = parse_labels(selector).matches
    namespace = scaler["metadata"]["namespace"]
    selected = [pod for pod in world.store.list("pods", namespace) if matches(pod["metadata"].get("labels"))]
    for metric in scaler["spec"].get("metrics") or []:
        try:
            yield metric, proposal(world, metric, current, selected, namespace)
        except MetricError as error:
            yield metric, error


def _metric_name(metric: Mapping[str, Any]) -> str:
    """A metric as errors name it."""
    type = metric["type"]
    if type == "Resource":
        return f"{metric['resource']['name']} resource metric value"
    if type == "ContainerResource":
        return f"{metric['containerResource']['name']} container metric value"
    if type == "External":
        return f"{metric['external']['metric']['name']} external metric value"
    return f"{type.lower()} metric value"


# --- behaviour ----------------------------------------------------------------------------------------


def _normalized(
    world: SimWorld, scaler: Manifest, listed: list[conditions.Condition], current: int, asked: int
) -> tuple[int, list[conditions.Condition]]:
    """The wanted size after stabilisation, rate limits and bounds."""
    behavior = scaler["spec"].get("behavior") or {}
    up = {**_UP, **(behavior.get("scaleUp") or {})}
    down = {**_DOWN, **(behavior.get("scaleDown") or {})}
    stable = _stabilized(world, _key(scaler), current, asked, up, down)
    if stable != asked:
        way = "lower" if stable < asked else "higher"
        reason = "ScaleUpStabilized" if stable < asked else "ScaleDownStabilized"
        pick = "lowest" if stable < asked else "highest"
        text = (
            f"recent recommendations were {way} than current one, applying the {pick} recent recommendation"
        )
        listed = _put(world, listed, "AbleToScale", "True", reason, text)
    else:
        text = "recommended size matches current size"
        listed = _put(world, listed, "AbleToScale", "True", "ReadyForNewScale", text)
    least, most = scaler["spec"].get("minReplicas", 1), scaler["spec"]["maxReplicas"]
    scalings: Memory = world.memory.get(_slots(_key(scaler))[1], ())
    verdict = ("False", "DesiredWithinRange", "the desired count is within the acceptable range")
    desired = stable
    if stable > current:
        limit = _up_limit(world, current, scalings, up)
        if stable > min(limit, most):
            desired = min(limit, most)
            if most <= limit:
                text = "the desired replica count is more than the maximum replica count"
                verdict = ("True", "TooManyReplicas", text)
            else:
                text = "the desired replica count is increasing faster than the maximum scale rate"
                verdict = ("True", "ScaleUpLimit", text)
    elif stable < current or stable < least:
        limit = _down_limit(world, current, scalings, down)
        if stable < max(limit, least):
            desired = max(limit, least)
            if least >= limit:
                text = "the desired replica count is less than the minimum replica count"
                verdict = ("True", "TooFewReplicas", text)
            else:
                text = "the desired replica count is decreasing faster than the maximum scale rate"
                verdict = ("True", "ScaleDownLimit", text)
    return desired, _put(world, listed, "ScalingLimited", *verdict)


def _stabilized(
    world: SimWorld, key: Key, current: int, asked: int, up: Mapping[str, Any], down: Mapping[str, Any]
) -> int:
    slot, now = _slots(key)[0], world.now()
    known: Memory = world.memory.get(slot, ())
    up_since = now - up["stabilizationWindowSeconds"] * SECOND
    down_since = now - down["stabilizationWindowSeconds"] * SECOND
    lowest = min([asked, *(n for time, n in known if time > up_since)])
    highest = max([asked, *(n for time, n in known if time > down_since)])
    _remember(world, slot, asked)
    return min(max(current, lowest), highest)


def _remember(world: SimWorld, slot: str, number: int) -> None:
    world.memory[slot] = (*world.memory.get(slot, ())[-HISTORY:], (world.now(), number))


def _changed(scalings: Memory, since: int, sign: int) -> int:
    return sum(abs(change) for time, change in scalings if time > since and change * sign > 0)


def _up_limit(world: SimWorld, current: int, scalings: Memory, rules: Mapping[str, Any]) -> int:
    if rules["selectPolicy"] == "Disabled":
        return current
    limits = []
    for policy in rules["policies"]:
        start = current - _changed(scalings, world.now() - policy["periodSeconds"] * SECOND, 1)
        if policy["type"] == "Pods":
            limits.append(start + policy["value"])
        else:
            limits.append(math.ceil(start * (1 + policy["value"] / 100)))
    return _picked(limits, rules["selectPolicy"] == "Min", lowest=True)


def _down_limit(world: SimWorld, current: int, scalings: Memory, rules: Mapping[str, Any]) -> int:
    if rules["selectPolicy"] == "Disabled":
        return current
    limits = []
    for policy in rules["policies"]:
        start = current + _changed(scalings, world.now() - policy["periodSeconds"] * SECOND, -1)
        if policy["type"] == "Pods":
            limits.append(start - policy["value"])
        else:
            limits.append(int(start * (1 - policy["value"] / 100)))
    return _picked(limits, rules["selectPolicy"] == "Min", lowest=False)


def _picked(limits: Sequence[int], cautious: bool, *, lowest: bool) -> int:
    """The policy that allows the most change, or with ``selectPolicy: Min`` the least."""
    return min(limits) if cautious == lowest else max(limits)


def _spec_changed(_: SimWorld, change: Change) -> Iterable[Key]:
    old, new = change.old, change.new
    # Its own status writes must not wake it: it looks every 15 s.
    if old is not None and new is not None and old["spec"] == new["spec"]:
        return ()
    return (change.key,)


def _pods_changed(world: SimWorld, change: Change) -> Iterable[Key]:
    """Pods that come, go or get other labels change what is averaged over, whoever has made them."""
    old, new = change.old, change.new
    if old is not None and new is not None and old["metadata"].get("labels") is new["metadata"].get("labels"):
        return ()
    namespace = change.key[0]
    return [(namespace, found["metadata"]["name"]) for found in world.store.list(RESOURCE, namespace)]


CONTROLLER = Controller(
    COMPONENT, {RESOURCE: _spec_changed, "pods": _pods_changed}, retried(COMPONENT, reconcile)
)
