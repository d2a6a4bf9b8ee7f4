"""The node lifecycle controller: nodes that fall silent, the taints that say so, and their pods.

Follows ``pkg/controller/nodelifecycle`` of v1.32. When a node is silent,
:mod:`~sregym_env.sim.machines.heartbeats` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.kube import conditions
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.machines.heartbeats import GRACE
from sregym_env.sim.machines.heartbeats import JUDGE as NAME
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

RESOURCE = "nodes"
COMPONENT = "node-controller"

_SILENT = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_PRESSURE = (
    ("MemoryPressure", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "node.kubernetes.io/disk-pressure"),
    ("PIDPressure", "node.kubernetes.io/pid-pressure"),
    ("NetworkUnavailable", "node.kubernetes.io/network-unavailable"),
)
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_MANAGED = frozenset({NOT_READY, UNREACHABLE, UNSCHEDULABLE, *(key for _, key in _PRESSURE)})


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Judge one node's heartbeats, and keep its taints and its pods' readiness in line with its conditions."""
    name = key[1]
    node = world.store.get(RESOURCE, "", name)
    if node is None:
        return None
    again = None
    if f"node.down:{name}" in world.memory:
        again = silent_for(world, name)
        if again is None:
            node = _mark_unknown(world, node)
    node = _taint(world, node)
    if not conditions.is_true(node.get("status"), "Ready"):
        _mark_pods(world, node)
    return again


def silent_for(world: SimWorld, name: str) -> int | None:
    """Microseconds of the grace period that are left to a silent node; None if it is over."""
    since = world.memory[f"node.down:{name}"]
    if isinstance(since, bool) or not isinstance(since, int):
        since = world.memory.setdefault(f"node.silent:{name}", world.now())
    left = int(since + GRACE - world.now())
    return left if left > 0 else None


def _mark_unknown(world: SimWorld, node: Manifest) -> Manifest:
    status = node.get("status") or {}
    ready = conditions.find(status, "Ready")
    if ready is not None and ready["status"] == "Unknown":
        return node
    listed = status.get("conditions") or []
    text = "Kubelet stopped posting node status."
    for type in _SILENT:
        if conditions.find(status, type) is not None or type == "Ready":
            listed = conditions.put_in_place(listed, world.now(), type, "Unknown", "NodeStatusUnknown", text)
    name = node["metadata"]["name"]
    _record_not_ready(world, node)
    changed = apiserver.update_status(world, RESOURCE, "", name, {**status, "conditions": listed})
    return node if changed is None else changed


def _record_not_ready(world: SimWorld, node: Manifest) -> None:
    name = node["metadata"]["name"]
    text = f"Node {name} status is now: NodeNotReady"
    events.record(world, node, "Normal", "NodeNotReady", text, component=COMPONENT)


def _taint(world: SimWorld, node: Manifest) -> Manifest:
    """Give the node exactly the taints its conditions call for, leaving other taints alone."""
    spec = node.get("spec") or {}
    current = spec.get("taints") or []
    wanted = _wanted_taints(node)
    kept = [t for t in current if t["key"] not in _MANAGED or (t["key"], t["effect"]) in wanted]
    known = {(taint["key"], taint["effect"]) for taint in kept}
    stamp = rfc3339(world.now())
    added = [
        {"key": key, "effect": effect, "timeAdded": stamp}
        for key, effect in wanted
        if (key, effect) not in known
    ]
    if not added and len(kept) == len(current):
        return node
    taints = [*kept, *added]
    changed: dict[str, Any] = {name: value for name, value in spec.items() if name != "taints"}
    if taints:
        changed["taints"] = taints
    return apiserver.update(world, RESOURCE, {**node, "spec": changed})


def _wanted_taints(node: Manifest) -> list[tuple[str, str]]:
    status = node.get("status") or {}
    wanted: list[tuple[str, str]] = []
    ready = conditions.find(status, "Ready")
    verdict = "Unknown" if ready is None else ready["status"]
    if ready is not None and verdict != "True":
        key = UNREACHABLE if verdict == "Unknown" else NOT_READY
        wanted += [(key, "NoSchedule"), (key, "NoExecute")]
    wanted += [(key, "NoSchedule") for type, key in _PRESSURE if conditions.is_true(status, type)]
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    return wanted


def _mark_pods(world: SimWorld, node: Manifest) -> None:
    """Pods of a node that is not ready are not ready either: Services stop sending to them."""
    name = node["metadata"]["name"]
    if conditions.find(node.get("status"), "Ready") is None:
        return
    for pod in world.store.list("pods"):
        if pod["spec"].get("nodeName") != name or not pods.is_ready(pod):
            continue
        metadata, status = pod["metadata"], pod["status"]
        stamp = rfc3339(world.now())
        listed = [
            {**found, "status": "False", "lastTransitionTime": stamp} if found["type"] == "Ready" else found
            for found in status["conditions"]
        ]
        changed = {**status, "conditions": listed}
        apiserver.update_status(world, "pods", metadata["namespace"], metadata["name"], changed)
        text = "Node is not ready"
        events.record(world, pod, "Warning", "NodeNotReady", text, component=COMPONENT)


def _judged(_: SimWorld, change: Change) -> Iterable[Key]:
    """Conditions, taints and cordons matter; addresses and images do not."""
    old, new = change.old, change.new
    if new is None:
        return ()
    if old is not None and old.get("spec") == new.get("spec"):
        before, after = (old.get("status") or {}), (new.get("status") or {})
        if before.get("conditions") == after.get("conditions"):
            return ()
    return (change.key,)


CONTROLLER = Controller(NAME, {RESOURCE: _judged}, retried(NAME, reconcile))
