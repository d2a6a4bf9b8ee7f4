"""The taint eviction controller: pods leave nodes whose NoExecute taints they do not tolerate (any longer).

Follows ``pkg/controller/tainteviction`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube import conditions
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.containers import nodefit
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

COMPONENT = "taint-eviction-controller"


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Delete one pod if its time on a tainted node is over; microseconds until it will be."""
    pod = world.store.get("pods", *key)
    slot = f"taint-eviction:{key[0]}/{key[1]}"
    if pod is None or pods.is_terminating(pod):
        world.memory.pop(slot, None)
        return None
    node = world.store.get("nodes", "", pod["spec"].get("nodeName", ""))
    left = None if node is None else time_left(world, pod, node)
    where = f"Pod {key[0]}/{key[1]}"
    if left is None:
        if world.memory.pop(slot, None) is not None:
            text = f"Cancelling deletion of {where}"
            events.record(world, pod, "Normal", "TaintManagerEviction", text, component=COMPONENT)
        return None
    if left > 0:
        world.memory[slot] = True
        return left
    world.memory.pop(slot, None)
    text = f"Marking for deletion {where}"
    events.record(world, pod, "Normal", "TaintManagerEviction", text, component=COMPONENT)
    status = pod.get("status") or {}
    listed = conditions.put_in_place(
        status.get("conditions") or (),
        world.now(),
        "DisruptionTarget",
        "True",
        "DeletionByTaintManager",
        "Taint manager: deleting due to NoExecute taint",
    )
    apiserver.update_status(world, "pods", *key, {**status, "conditions": listed})
    apiserver.delete(world, "pods", *key)
    return None


def time_left(world: SimWorld, pod: Manifest, node: Manifest) -> int | None:
    """Microseconds until the pod must leave the node: 0 for at once, None if it may stay."""
    taints = [taint for taint in nodefit.taints_of(node) if taint.get("effect") == "NoExecute"]
    if not taints:
        return None
    tolerations = pod["spec"].get("tolerations") or ()
    seconds: list[int] = []
    for taint in taints:
        covering = [t for t in tolerations if nodefit.tolerates(t, taint)]
        if not covering:
            return 0
        seconds += [t["tolerationSeconds"] for t in covering if t.get("tolerationSeconds") is not None]
    if not seconds:
        return None
    since = max((parse_rfc3339(t["timeAdded"]) for t in taints if t.get("timeAdded")), default=0)
    # A pod that came later has been there since it was scheduled.
    scheduled = pods.condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("lastTransitionTime"):
        since = max(since, parse_rfc3339(scheduled["lastTransitionTime"]))
    return max(0, since + max(0, min(seconds)) * SECOND - world.now())


def _placed(world: SimWorld, change: Change) -> Iterable[Key]:
    """A pod that has just been put on a node with NoExecute taints."""
    new = change.new
    if new is None:
        return ()
    old = change.old
    if old is not None and old["spec"] is new["spec"]:
        return ()
    node = world.store.get("nodes", "", new["spec"].get("nodeName", ""))
    if node is None or not any(t.get("effect") == "NoExecute" for t in nodefit.taints_of(node)):
        return ()
    return (change.key,)


def _on_node(world: SimWorld, change: Change) -> Iterable[Key]:
    """Every pod of a node whose NoExecute taints changed."""
    before, after = (
        [taint for taint in nodefit.taints_of(obj) if taint.get("effect") == "NoExecute"] if obj else []
        for obj in (change.old, change.new)
    )
    if before == after or change.new is None:
        return
    for pod in world.store.list("pods"):
        if pod["spec"].get("nodeName") == change.key[1]:
            yield (pod["metadata"]["namespace"], pod["metadata"]["name"])


CONTROLLER = Controller(
    "taint-eviction", {"pods": _placed, "nodes": _on_node}, retried("taint-eviction", reconcile)
)
