"""A pod's ``.status`` as its kubelet reports it: phase, conditions and container statuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.pulling import canonical
from sregym_env.kube.types import Manifest
from sregym_env.sim.containers.resources import quality_of_service
from sregym_env.sim.machines.kubelet.state import (
    BACKING_OFF,
    NOT_STARTED,
    START_ERROR,
    Container,
    Ended,
    PodRecord,
)
from sregym_env.sim.world import SimWorld

KUBELET_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
"""In the order in which the kubelet writes them."""


def phase(pod: Manifest, record: PodRecord) -> str:
    """``Pending``, ``Running``, ``Succeeded`` or ``Failed`` (kubelet ``getPhase``)."""
    if record.failed is not None:
        # No end is told while containers are still going.
        if any(container.alive for container in record.containers.values()):
            return "Running" if record.initialized else "Pending"
        return "Failed"
    policy = pod["spec"].get("restartPolicy", "Always")
    containers = record.containers
    if not record.initialized:
        broken = any(
            c.role == "init"
            and c.state == "ended"
            and c.ended is not None
            and c.ended.exit_code
            and not c.sidecar
            for c in containers.values()
        )
        return "Failed" if broken and policy == "Never" else "Pending"
    running = stopped = succeeded = 0
    for spec in pod["spec"]["containers"]:
        container = containers[spec["name"]]
        ended = container.ended or container.last
        if container.state == "running":
            running += 1
        elif ended is None:
            return "Pending"
        else:
            stopped += 1
            # A container that waits to be restarted has not succeeded.
            succeeded += container.state == "ended" and ended.exit_code == 0
    if (
        running
        or policy == "Always"
        or any(containers[c["name"]].state == "waiting" for c in pod["spec"]["containers"])
    ):
        return "Running"
    if succeeded == stopped:
        return "Succeeded"
    if policy == "Never":
        return "Failed"
    return "Running"


def render(world: SimWorld, pod: Manifest, record: PodRecord) -> dict[str, Any]:
    """The whole status. Conditions keep their transition times; conditions of others are kept."""
    old = pod.get("status") or {}
    spec = pod["spec"]
    node = world.store.get("nodes", "", record.node)
    host_ip = internal_ip(node) or old.get("hostIP", "")
    current = phase(pod, record)
    status: dict[str, Any] = {
        "phase": current,
        "conditions": _conditions(pod, record, current, old.get("conditions", ()), rfc3339(world.now())),
        "hostIP": host_ip,
        "hostIPs": [{"ip": host_ip}],
    }
    if record.failed is not None and current == "Failed":
        status["reason"], status["message"] = record.failed
    address = record.ip
    if address:
        status["podIP"] = address
        status["podIPs"] = [{"ip": address}]
    status["startTime"] = old.get("startTime") or rfc3339(record.seen_at)
    if spec.get("initContainers"):
        status["initContainerStatuses"] = _initial(spec["initContainers"], record)
    status["containerStatuses"] = _containers(spec["containers"], record)
    if spec.get("ephemeralContainers"):
        status["ephemeralContainerStatuses"] = _ephemeral(spec["ephemeralContainers"], record)
    status["qosClass"] = old.get("qosClass") or quality_of_service(pod)
    for field in ("nominatedNodeName", "resize"):
        if field in old and current == "Pending":
            status[field] = old[field]
    return status


def rejected(world: SimWorld, pod: Manifest, reason: str, message: str) -> dict[str, Any]:
    """The status of a pod that the kubelet refused to admit."""
    old = pod.get("status") or {}
    return {
        **{key: old[key] for key in ("conditions", "qosClass") if key in old},
        "phase": "Failed",
        "reason": reason,
        "message": message,
        "startTime": rfc3339(world.now()),
    }


def internal_ip(node: Manifest | None) -> str:
    """A node's own address."""
    for address in ((node or {}).get("status") or {}).get("addresses", ()):
        if address["type"] == "InternalIP":
            return str(address["address"])
    return ""


# --- conditions -----------------------------------------------------------------------------------


def _conditions(
    pod: Manifest, record: PodRecord, current: str, old: Iterable[Mapping[str, Any]], now: str
) -> list[dict[str, Any]]:
    known = {condition["type"]: condition for condition in old}
    made = []
    for type, (value, reason, message) in _verdicts(pod, record, current, known).items():
        condition: dict[str, Any] = {"type": type, "status": value, "lastProbeTime": None}
        before = known.get(type)
        same = before is not None and before["status"] == value
        condition["lastTransitionTime"] = before["lastTransitionTime"] if same and before else now
        if reason:
            condition["reason"] = reason
        if message:
            condition["message"] = message
        made.append(condition)
    others = [dict(condition) for type, condition in known.items() if type not in KUBELET_CONDITIONS]
    return others + made if others else made


Verdict = tuple[str, str, str]


def _verdicts(
    pod: Manifest, record: PodRecord, current: str, known: Mapping[str, Mapping[str, Any]]
) -> dict[str, Verdict]:
    spec = pod["spec"]
    terminal = current in ("Succeeded", "Failed")
    done = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(current, "")
    sandbox = "True" if record.sandbox_at < 0 and not terminal else "False"
    incomplete = [
        c["name"] for c in spec.get("initContainers", ()) if not _initialised(record.containers[c["name"]])
    ]
    if record.initialized or not incomplete:
        initialised: Verdict = ("True", "PodCompleted" if current == "Succeeded" else "", "")
    else:
        text = f"containers with incomplete status: [{' '.join(incomplete)}]"
        initialised = ("False", "ContainersNotInitialized", text)
    counted = [c["name"] for c in spec["containers"]]
    counted += [c["name"] for c in spec.get("initContainers", ()) if c.get("restartPolicy") == "Always"]
    unready = [name for name in counted if not record.containers[name].ready]
    if terminal:
        containers_ready: Verdict = ("False", done, "")
    elif unready:
        text = f"containers with unready status: [{' '.join(unready)}]"
        containers_ready = ("False", "ContainersNotReady", text)
    else:
        containers_ready = ("True", "", "")
    return {
        "PodReadyToStartContainers": (sandbox, "", ""),
        "Initialized": initialised,
        "Ready": _ready(spec, containers_ready, known),
        "ContainersReady": containers_ready,
        "PodScheduled": ("True", "", ""),
    }


def _ready(spec: Mapping[str, Any], containers: Verdict, known: Mapping[str, Mapping[str, Any]]) -> Verdict:
    if containers[0] != "True":
        return containers
    complaints = []
    for gate in spec.get("readinessGates", ()):
        type = gate["conditionType"]
        condition = known.get(type)
        if condition is None:
            complaints.append(f'corresponding condition of pod readiness gate "{type}" does not exist.')
        elif condition["status"] != "True":
            complaints.append(
                f'the status of pod readiness gate "{type}" is not "True", but {condition["status"]}'
            )
    if complaints:
        return ("False", "ReadinessGatesNotReady", ", ".join(complaints))
    return containers


def _initialised(container: Container) -> bool:
    if container.sidecar:
        return container.alive and container.started
    return container.state == "ended" and container.ended is not None and container.ended.exit_code == 0


# --- containers -----------------------------------------------------------------------------------


def _containers(specs: Iterable[Mapping[str, Any]], record: PodRecord) -> list[dict[str, Any]]:
    """By name; init containers are listed in the order in which they run (see :func:`_initial`)."""
    ordered = sorted(specs, key=lambda spec: str(spec["name"]))
    return [_container(spec, record.containers[spec["name"]]) for spec in ordered]


def _initial(specs: Iterable[Mapping[str, Any]], record: PodRecord) -> list[dict[str, Any]]:
    """Init containers: an ordinary one is ready once it has done its work, not while it runs."""
    found = []
    for spec in specs:
        container = record.containers[spec["name"]]
        shown = _container(spec, container)
        if not container.sidecar:
            ended = container.ended
            shown["ready"] = container.state == "ended" and ended is not None and not ended.exit_code
        found.append(shown)
    return found


def _ephemeral(specs: Iterable[Mapping[str, Any]], record: PodRecord) -> list[dict[str, Any]]:
    """Ephemeral containers, which have no probes: the kubelet never says that one is ready or started."""
    found = _containers(specs, record)
    for shown in found:
        shown["ready"] = False
        del shown["started"]
    return found


def _container(spec: Mapping[str, Any], container: Container) -> dict[str, Any]:
    status: dict[str, Any] = {}
    identity = container.id or (container.last.container_id if container.last else "")
    if identity:
        status["containerID"] = identity
    resolved = bool(container.image_id)
    status["image"] = canonical(container.image) if resolved else spec["image"]
    status["imageID"] = container.image_id
    last = container.ended if _tried_in_vain(container) else container.last
    status["lastState"] = {"terminated": _terminated(last)} if last else {}
    status["name"] = container.name
    status["ready"] = container.ready
    status["restartCount"] = container.restarts
    status["started"] = container.alive and container.started
    status["state"] = _state(container)
    mounts = [_mount(mount) for mount in spec.get("volumeMounts", ())]
    if mounts:
        status["volumeMounts"] = mounts
    return status


def _mount(mount: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {"mountPath": mount["mountPath"], "name": mount["name"]}
    if mount.get("readOnly"):
        shown["readOnly"] = True
        shown["recursiveReadOnly"] = "Disabled"
    return shown


def _state(container: Container) -> dict[str, Any]:
    if container.state == "running":
        return {"running": {"startedAt": rfc3339(container.started_at)}}
    if _tried_in_vain(container):
        assert container.ended is not None
        return {"waiting": {"reason": NOT_STARTED, "message": container.ended.message}}
    if container.state == "ended" and container.ended is not None:
        return {"terminated": _terminated(container.ended)}
    waiting = {"reason": container.reason or "ContainerCreating"}
    if container.message:
        waiting["message"] = container.message
    return {"waiting": waiting}


def _tried_in_vain(container: Container) -> bool:
    """Whether it could not be started and will be tried again: that it waits for is told, not that it has ended."""
    ended = container.ended
    return (
        container.state == "ended"
        and container.reason == BACKING_OFF
        and ended is not None
        and ended.reason == START_ERROR
    )


def _terminated(ended: Ended) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if ended.container_id:
        shown["containerID"] = ended.container_id
    shown["exitCode"] = ended.exit_code
    shown["finishedAt"] = rfc3339(ended.finished_at)
    if ended.message:
        shown["message"] = ended.message
    shown["reason"] = ended.reason
    shown["startedAt"] = rfc3339(ended.started_at)
    return shown
