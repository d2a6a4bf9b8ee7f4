"""The scheduler: gives every pod of ``default-scheduler`` a node, or says why there is none.

One attempt is made when a pod appears and whenever something changes that could help it; attempts that
fail in a row are kept 1 s to 10 s apart. Nothing is polled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import admission, events, guarded
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.scheduler import placement, preemption, scoring, volumes
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

NAME = "default-scheduler"
BACKOFF, BACKOFF_CAP = SECOND, 10 * SECOND
"""``podInitialBackoffSeconds`` and ``podMaxBackoffSeconds``."""
GATED = "Scheduling is blocked due to non-empty scheduling gates"


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Try to place one pod; microseconds until it may be tried again, if that is known now."""
    pod = world.store.get("pods", *key)
    slot = f"scheduler.tried:{key[0]}/{key[1]}"
    if pod is None or not _waits(pod):
        world.memory.pop(slot, None)
        return None
    if pod["spec"].get("schedulingGates"):
        _refuse(world, pod, "SchedulingGated", GATED)
        return None
    uid = pod["metadata"]["uid"]
    known, attempts, last = world.memory.get(slot, (uid, 0, 0))
    if known != uid:
        attempts = 0
    wait = min(BACKOFF << max(attempts - 1, 0), BACKOFF_CAP) if attempts else 0
    if attempts and world.clock < last + wait:
        return int(last + wait - world.clock)
    attempt = placement.look(world, pod)
    if attempt.feasible and not attempt.claims.waiting:
        name = _chosen(world, pod, attempt)
        if attempt.claims.delayed:
            _choose_node_for(world, attempt.claims, name)
            return None
        world.memory.pop(slot, None)
        _bind(world, pod, name)
        return None
    if attempt.claims.waiting and attempt.feasible:
        return None
    world.memory[slot] = (uid, min(attempts + 1, 8), world.clock)
    nominated, clause = preemption.preempt(world, pod, attempt)
    message = placement.refusal(attempt, clause)
    events.record(world, pod, "Warning", "FailedScheduling", message, component=NAME)
    current = world.store.get("pods", *key)
    if current is not None:
        _refuse(world, current, "Unschedulable", message, nominated)
    return None


def _waits(pod: Manifest) -> bool:
    spec = pod["spec"]
    return (
        not spec.get("nodeName")
        and spec.get("schedulerName", NAME) == NAME
        and "deletionTimestamp" not in pod["metadata"]
        and (pod.get("status") or {}).get("phase", "Pending") == "Pending"
    )


def _chosen(world: SimWorld, pod: Manifest, attempt: placement.Attempt) -> str:
    nominated = (pod.get("status") or {}).get("nominatedNodeName")
    if nominated and any(info.name == nominated for info in attempt.feasible):
        return str(nominated)
    return scoring.best(world, pod, attempt.feasible, attempt.around)


def _choose_node_for(world: SimWorld, claims: volumes.Claims, node: str) -> None:
    """Tell the provisioner or binder of late-bound claims where their volumes are needed."""
    for claim in claims.delayed:
        metadata = claim["metadata"]
        apiserver.patch_metadata(
            world,
            "persistentvolumeclaims",
            metadata["namespace"],
            metadata["name"],
            annotations={volumes.SELECTED_NODE: node},
        )


def _bind(world: SimWorld, pod: Manifest, node: str) -> None:
    metadata = pod["metadata"]
    if admission.is_guarded(world):
        try:
            guarded.binding(world, pod, node)
        except StatusError as error:
            text = f'binding rejected: running Bind plugin "DefaultBinder": {error.message}'
            events.record(world, pod, "Warning", "FailedScheduling", text, component=NAME)
            _refuse(world, pod, "SchedulerError", text)
            raise
    status = {key: value for key, value in (pod.get("status") or {}).items() if key != "nominatedNodeName"}
    condition = _condition(world, status, "True", "", "")
    # The binding subresource sets the node and the condition in one write.
    bound = {
        **pod,
        "spec": {**pod["spec"], "nodeName": node},
        "status": {**status, "conditions": _with(status, condition)},
    }
    world.store.put("pods", bound)
    text = f"Successfully assigned {metadata['namespace']}/{metadata['name']} to {node}"
    events.record(world, pod, "Normal", "Scheduled", text, component=NAME)


def _refuse(world: SimWorld, pod: Manifest, reason: str, message: str, nominated: str = "") -> None:
    status = pod.get("status") or {}
    condition = _condition(world, status, "False", reason, message)
    changed = {"phase": "Pending", **status, "conditions": _with(status, condition)}
    if nominated:
        changed["nominatedNodeName"] = nominated
    apiserver.update_status(world, "pods", pod["metadata"]["namespace"], pod["metadata"]["name"], changed)


def _condition(world: SimWorld, status: Any, value: str, reason: str, message: str) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "PodScheduled", "status": value, "lastProbeTime": None}
    before = next((c for c in status.get("conditions", ()) if c["type"] == "PodScheduled"), None)
    same = before is not None and before["status"] == value
    made["lastTransitionTime"] = before["lastTransitionTime"] if before and same else rfc3339(world.clock)
    if reason:
        made["reason"] = reason
        made["message"] = message
    return made


def _with(status: Any, condition: dict[str, Any]) -> list[dict[str, Any]]:
    return [*(c for c in status.get("conditions", ()) if c["type"] != "PodScheduled"), condition]


# --- when to look ---------------------------------------------------------------------------------


def _pods(world: SimWorld, change: Change) -> Iterable[Key]:
    new, old = change.new, change.old
    if new is None:
        freed = change.object["spec"].get("nodeName")
        return _pending(world) if freed else (change.key,)
    if not new["spec"].get("nodeName"):
        if old is not None and old["spec"] is new["spec"] and "deletionTimestamp" not in new["metadata"]:
            return ()
        return (change.key,)
    if old is None:
        return ()
    ended = (new.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    was_ended = (old.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    bound = not old["spec"].get("nodeName")
    relabelled = new["metadata"].get("labels") != old["metadata"].get("labels")
    if ended and not was_ended:
        return _pending(world)
    return _sociable(world) if bound or relabelled else ()


def _nodes(world: SimWorld, change: Change) -> Iterable[Key]:
    new, old = change.new, change.old
    if new is not None and old is not None:
        same = old.get("spec") == new.get("spec") and (
            old["metadata"].get("labels") == new["metadata"].get("labels")
        )
        capacity = (old.get("status") or {}).get("allocatable") == (new.get("status") or {}).get(
            "allocatable"
        )
        if same and capacity:
            return ()
    return _pending(world)


def _any(world: SimWorld, _: Change) -> Iterable[Key]:
    return _pending(world)


def _sociable(world: SimWorld) -> Iterable[Key]:
    """Pending pods that want to be near others: a newly placed one may be what they wait for."""
    return [
        (pod["metadata"]["namespace"], pod["metadata"]["name"])
        for pod in world.store.list("pods")
        if "affinity" in pod["spec"] and _waits(pod) and (pod["spec"]["affinity"] or {}).get("podAffinity")
    ]


def _pending(world: SimWorld) -> Iterable[Key]:
    """Waiting pods, the most important first and of those the oldest: the order of the active queue."""
    waiting = [pod for pod in world.store.list("pods") if not pod["spec"].get("nodeName") and _waits(pod)]
    if len(waiting) > 1:
        waiting.sort(key=lambda p: (-(p["spec"].get("priority") or 0), p["metadata"]["creationTimestamp"]))
    return [(pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in waiting]


CONTROLLER = Controller(
    name="scheduler",
    watches={
        "pods": _pods,
        "nodes": _nodes,
        "persistentvolumeclaims": _any,
        "persistentvolumes": _any,
        "storageclasses.storage.k8s.io": _any,
    },
    reconcile=retried("scheduler", reconcile),
)
