"""Alerting rules as a Prometheus beside the cluster would evaluate them, read straight from the state.

Every rule yields the label sets for which its expression holds and since when; ``for`` turns them from
pending to firing. What Kubernetes objects say is dated by their own conditions; what traffic says by the
history of traffic. Rules concern the application's namespaces, a few the whole cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from sregym_env.cluster.health import Alert
from sregym_env.cluster.targets import kind_of
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.sim.dataplane.queueing import share_in_time
from sregym_env.sim.users.components import app_of
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.history import ComponentState, Segment, history, window

ERROR_RATIO = 0.10
LATENCY_SECONDS = 3.0
THROTTLED_SHARE = 0.25
MINIMAL_RATE = 0.1
"""Thresholds of the golden-signal and throttling rules."""
QUANTILE = 0.95
"""Share of the requests that must be answered within :data:`LATENCY_SECONDS`."""


@dataclass(frozen=True, slots=True)
class Active:
    """A label set for which a rule's expression holds, and since when."""

    labels: Mapping[str, str]
    since: int
    summary: str


Expression = Callable[[SimWorld], Iterable[Active]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One alerting rule."""

    name: str
    severity: str
    hold: int
    """``for``, microseconds."""
    expression: Expression


def alerts(world: SimWorld) -> list[Alert]:
    """Alerts that are pending or firing now, in the order of the rules."""
    now = world.clock
    found = []
    for rule in RULES:
        for active in rule.expression(world):
            found.append(
                Alert(
                    rule.name,
                    "firing" if now - active.since >= rule.hold else "pending",
                    rule.severity,
                    {"alertname": rule.name, **active.labels, "severity": rule.severity},
                    active.summary,
                    active.since,
                )
            )
    return found


# --- pods -----------------------------------------------------------------------------------------------


def _watched(world: SimWorld, resource: str) -> Iterator[Manifest]:
    """Objects of the application's namespaces; of the whole cluster where none is deployed."""
    app = app_of(world)
    for namespace in (None,) if app is None else app.namespaces:
        yield from world.store.list(resource, namespace)


def _is_watched(world: SimWorld, namespace: str) -> bool:
    app = app_of(world)
    return app is None or namespace in app.namespaces


def _pods(world: SimWorld) -> Iterator[Manifest]:
    return _watched(world, "pods")


def _pod_labels(pod: Manifest, **more: str) -> dict[str, str]:
    return {"namespace": pod["metadata"]["namespace"], "pod": pod["metadata"]["name"], **more}


def _time(text: str | None, otherwise: int) -> int:
    return parse_rfc3339(text) if text else otherwise


def _created(obj: Manifest) -> int:
    return _time(obj["metadata"].get("creationTimestamp"), 0)


def _condition(obj: Manifest, type: str) -> Manifest | None:
    for condition in obj.get("status", {}).get("conditions") or ():
        if condition["type"] == type:
            found: Manifest = condition
            return found
    return None


def _container_states(pod: Manifest) -> Iterator[Manifest]:
    status = pod.get("status", {})
    yield from status.get("initContainerStatuses") or ()
    yield from status.get("containerStatuses") or ()


def _waiting_since(pod: Manifest, container: Manifest) -> int:
    """When a container last stopped running; else when its pod came about."""
    ended = (container.get("lastState", {}).get("terminated") or {}).get("finishedAt")
    scheduled = _condition(pod, "PodScheduled")
    return _time(ended or (scheduled or {}).get("lastTransitionTime"), _created(pod))


def _pod_status_error(world: SimWorld) -> Iterator[Active]:
    for pod in _pods(world):
        reasons: dict[str, int] = {}
        for container in _container_states(pod):
            reason = container.get("state", {}).get("waiting", {}).get("reason")
            if reason and reason != "PodInitializing":
                reasons.setdefault(reason, _waiting_since(pod, container))
        for reason, since in reasons.items():
            name = pod["metadata"]["name"]
            yield Active(
                _pod_labels(pod, reason=reason), since, f"Pod {name} has a container waiting: {reason}"
            )


def _in_phase(phase: str) -> Expression:
    def expression(world: SimWorld) -> Iterator[Active]:
        for pod in _pods(world):
            if pod.get("status", {}).get("phase", "Pending") == phase:
                since = _phase_since(pod, phase)
                yield Active(
                    _pod_labels(pod, phase=phase), since, f"Pod {pod['metadata']['name']} is {phase}"
                )

    return expression


def _phase_since(pod: Manifest, phase: str) -> int:
    if phase == "Pending":
        return _created(pod)
    ends = [
        ended
        for container in _container_states(pod)
        if (ended := container.get("state", {}).get("terminated", {}).get("finishedAt"))
    ]
    return max((parse_rfc3339(ended) for ended in ends), default=_created(pod))


def _unschedulable(world: SimWorld) -> Iterator[Active]:
    for pod in _pods(world):
        condition = _condition(pod, "PodScheduled")
        if (
            condition is not None
            and condition["status"] == "False"
            and condition.get("reason") == "Unschedulable"
        ):
            since = _time(condition.get("lastTransitionTime"), _created(pod))
            yield Active(_pod_labels(pod), since, f"Pod {pod['metadata']['name']} cannot be scheduled")


def _not_ready(world: SimWorld) -> Iterator[Active]:
    for pod in _pods(world):
        if pod.get("status", {}).get("phase") == "Succeeded":
            continue
        condition = _condition(pod, "Ready")
        if condition is None or condition["status"] != "True":
            since = _time((condition or {}).get("lastTransitionTime"), _created(pod))
            yield Active(_pod_labels(pod), since, f"Pod {pod['metadata']['name']} is not ready")


LOOKBACK = 5 * MINUTE
"""Range over which a pod counts as crash looping after it last waited for a restart."""


def _crash_looping(world: SimWorld) -> Iterator[Active]:
    backed_off = _back_offs(world)
    for pod in _pods(world):
        last = backed_off.get(pod["metadata"].get("uid", ""))
        for container in _container_states(pod):
            waiting = container.get("state", {}).get("waiting", {}).get("reason") == "CrashLoopBackOff"
            recent = (
                last is not None and container.get("restartCount", 0) and world.clock - last[1] <= LOOKBACK
            )
            if not waiting and not recent:
                continue
            labels = _pod_labels(pod, container=container["name"], reason="CrashLoopBackOff")
            text = f"Container {container['name']} of pod {pod['metadata']['name']} is crash looping"
            yield Active(labels, _waiting_since(pod, container) if last is None else last[0], text)


def _back_offs(world: SimWorld) -> dict[str, tuple[int, int]]:
    """When the kubelet first and last said that it waits before it restarts a container, by pod UID."""
    found: dict[str, tuple[int, int]] = {}
    for event in _watched(world, "events"):
        if event.get("reason") == "BackOff" and "restarting" in event.get("message", ""):
            uid = event.get("involvedObject", {}).get("uid", "")
            first, last = _time(event.get("firstTimestamp"), 0), _time(event.get("lastTimestamp"), 0)
            known = found.get(uid, (first, last))
            found[uid] = (min(first, known[0]), max(last, known[1]))
    return found


# --- workloads, volumes, machines -----------------------------------------------------------------------


def _deployment_down(world: SimWorld) -> Iterator[Active]:
    for deployment in _watched(world, "deployments.apps"):
        if deployment.get("status", {}).get("availableReplicas", 0):
            continue
        metadata = deployment["metadata"]
        condition = _condition(deployment, "Available")
        if condition is not None and condition["status"] != "True":
            since = _time(condition.get("lastTransitionTime"), _created(deployment))
        else:
            # Scaled to nothing it is Available all the same: its minimum is met.
            since = max(_created(deployment), _last_scaled(world, deployment))
        labels = {"namespace": metadata["namespace"], "deployment": metadata["name"]}
        yield Active(labels, since, f"Deployment {metadata['name']} has no available replicas")


def _last_scaled(world: SimWorld, deployment: Manifest) -> int:
    """When a Deployment was last told to change its size, from its events."""
    times = [
        event.get("lastTimestamp")
        for event in world.store.list("events", deployment["metadata"]["namespace"])
        if event.get("reason") == "ScalingReplicaSet"
        and event.get("involvedObject", {}).get("uid") == deployment["metadata"].get("uid")
    ]
    return max((parse_rfc3339(time) for time in times if time), default=0)


def _claims_pending(world: SimWorld) -> Iterator[Active]:
    for claim in _watched(world, "persistentvolumeclaims"):
        phase = claim.get("status", {}).get("phase", "Pending")
        if phase != "Bound":
            metadata = claim["metadata"]
            labels = {
                "namespace": metadata["namespace"],
                "persistentvolumeclaim": metadata["name"],
                "phase": phase,
            }
            yield Active(labels, _created(claim), f"PersistentVolumeClaim {metadata['name']} is {phase}")


def _nodes_not_ready(world: SimWorld) -> Iterator[Active]:
    for node in world.store.list("nodes"):
        condition = _condition(node, "Ready")
        if condition is None or condition["status"] != "True":
            since = _time((condition or {}).get("lastTransitionTime"), _created(node))
            name = node["metadata"]["name"]
            yield Active({"node": name}, since, f"Node {name} is not ready")


def _jobs_failed(world: SimWorld) -> Iterator[Active]:
    for job in _watched(world, "jobs.batch"):
        condition = _condition(job, "Failed")
        if condition is not None and condition["status"] == "True":
            metadata = job["metadata"]
            labels = {"namespace": metadata["namespace"], "job_name": metadata["name"]}
            since = _time(condition.get("lastTransitionTime"), _created(job))
            yield Active(labels, since, f"Job {metadata['name']} failed")


# --- traffic ----------------------------------------------------------------------------------------------

WINDOW = 2 * MINUTE
"""Range of the golden-signal expressions."""


def _golden(holds: Callable[[ComponentState], bool], summary: str) -> Expression:
    """Components for which ``holds`` is true of the averages over :data:`WINDOW`."""

    def expression(world: SimWorld) -> Iterator[Active]:
        for key, state in _averages(world, world.clock).items():
            if _is_watched(world, state.namespace) and holds(state):
                labels = {"namespace": state.namespace, "service_name": state.name}
                since = _held_since(world, key, holds)
                yield Active(labels, since, summary.format(name=state.name))

    return expression


def _averages(
    world: SimWorld, at: int, only: tuple[str, str] | None = None
) -> dict[tuple[str, str], ComponentState]:
    """Every component's averages over the window that ends ``at``, or those of one."""
    sums: dict[tuple[str, str], list[float]] = {}
    for segment, held in window(world, at - WINDOW, at):
        for state in segment.components:
            if only is not None and (state.name != only[1] or state.namespace != only[0]):
                continue
            total = sums.setdefault((state.namespace, state.name), [0.0, 0.0, 0.0, 0.0])
            total[0] += state.rate * held
            total[1] += state.rate * held * state.ok
            total[2] += state.rate * held * state.latency
            total[3] += state.rate * held * (state.latency**2 + state.deviation**2)
    return {key: _average(key, *total) for key, total in sums.items() if total[0] > 0.0}


def _average(
    key: tuple[str, str], requests: float, ok: float, waited: float, squares: float
) -> ComponentState:
    mean = waited / requests
    spread = math.sqrt(max(squares / requests - mean * mean, 0.0))
    return ComponentState(*key, requests / (WINDOW / SECOND), ok / requests, mean, spread)


EVALUATION = 15 * SECOND
"""Step at which the past is searched for the beginning of a condition."""
_SEARCH = 40
"""How many steps at most (ten minutes)."""


def _held_since(world: SimWorld, key: tuple[str, str], holds: Callable[[ComponentState], bool]) -> int:
    since = world.clock
    for step in range(1, _SEARCH):
        at = world.clock - step * EVALUATION
        state = _averages(world, at, key).get(key)
        if state is None or not holds(state):
            break
        since = at
    return since


def _throttled(world: SimWorld) -> Iterator[Active]:
    segment = history(world).last()
    if segment is None:
        return
    for load in segment.loads:
        process = world.processes.get(load.process)
        if process is None or load.throttled <= THROTTLED_SHARE or not _is_watched(world, process.namespace):
            continue
        labels = {"namespace": process.namespace, "pod": process.pod, "container": process.container}
        since = _since(world, partial(_is_throttled, load.process))
        yield Active(labels, since, f"Container {process.container} is throttled")


def _is_throttled(key: tuple[str, str], segment: Segment) -> bool:
    return any(load.process == key and load.throttled > THROTTLED_SHARE for load in segment.loads)


def _since(world: SimWorld, holds: Callable[[Segment], bool]) -> int:
    """Since when the history has held ``holds`` without a break."""
    since = world.clock
    for segment in history(world).newest_first():
        if not holds(segment):
            break
        since = segment.start
    return since


def _endpoint_down(world: SimWorld) -> Iterator[Active]:
    segment, app = history(world).last(), app_of(world)
    if segment is None or app is None:
        return
    behind = {(app.namespace_of(c.name), c.service): c for c in app.components if c.service}
    for namespace, service, port, up in segment.probes:
        component = behind[(namespace, service)]
        if up or not _has_available(world.store.get(component.workload, namespace, component.name)):
            continue
        instance = f"{service}.{namespace}:{port}"
        since = _since(world, partial(_is_down, (namespace, service, port, False)))
        labels = {"namespace": namespace, "service": service, "instance": instance}
        kind = kind_of(component.workload)
        yield Active(labels, since, f"Endpoint {instance} cannot be reached although its {kind} is available")


def _has_available(workload: Manifest | None) -> bool:
    status = {} if workload is None else workload.get("status", {})
    return bool(status.get("availableReplicas") or status.get("numberAvailable"))


def _is_down(entry: tuple[str, str, int, bool], segment: Segment) -> bool:
    return entry in segment.probes


def _high_errors(state: ComponentState) -> bool:
    return state.rate > MINIMAL_RATE and 1.0 - state.ok > ERROR_RATIO


def _high_latency(state: ComponentState) -> bool:
    prompt, _ = share_in_time(LATENCY_SECONDS, state.latency, state.deviation**2)
    return prompt < QUANTILE


RULES: tuple[Rule, ...] = (
    Rule("PodStatusError", "critical", MINUTE, _pod_status_error),
    Rule("FailedPodsDetected", "critical", MINUTE, _in_phase("Failed")),
    Rule("PendingPodsDetected", "critical", MINUTE, _in_phase("Pending")),
    Rule("PodSchedulingFailure", "critical", 30 * SECOND, _unschedulable),
    Rule("KubePodNotReady", "critical", MINUTE, _not_ready),
    Rule("KubePodCrashLooping", "critical", MINUTE, _crash_looping),
    Rule("DeploymentNotReady", "critical", MINUTE, _deployment_down),
    Rule("KubeJobFailed", "warning", MINUTE, _jobs_failed),
    Rule("PersistentVolumeClaimPending", "critical", MINUTE, _claims_pending),
    Rule("KubeNodeNotReady", "critical", MINUTE, _nodes_not_ready),
    Rule("ContainerCPUThrottling", "warning", 2 * MINUTE, _throttled),
    Rule(
        "HighRequestErrorRate",
        "critical",
        MINUTE,
        _golden(_high_errors, "More than 10 % of the requests to {name} fail"),
    ),
    Rule(
        "HighRequestLatency",
        "critical",
        MINUTE,
        _golden(_high_latency, "Requests to {name} take longer than 3 seconds (p95)"),
    ),
    Rule("ServiceEndpointDown", "critical", MINUTE, _endpoint_down),
)
"""The rules, in the order in which they are reported."""
