"""The pod garbage collector: pods whose node is no more (``pkg/controller/podgc``)."""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube import conditions
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

NAME = "pod-garbage-collector"
QUARANTINE = 40 * SECOND
"""How long a missing node must be missing before its pods are given up."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Remove one pod if it is bound to a node that does not exist, or is being deleted without ever having had one."""
    pod = world.store.get("pods", *key)
    if pod is None:
        return None
    node = pod["spec"].get("nodeName")
    if node and world.store.get("nodes", "", node) is None:
        _give_up(world, pod)
        apiserver.delete(world, "pods", *key, grace=0)
    elif not node and pods.is_terminating(pod):
        apiserver.delete(world, "pods", *key, grace=0)
    return None


def _give_up(world: SimWorld, pod: Manifest) -> None:
    if pods.is_finished(pod):
        return
    status, metadata = pod.get("status") or {}, pod["metadata"]
    listed = conditions.put_in_place(
        status.get("conditions") or (),
        world.now(),
        "DisruptionTarget",
        "True",
        "DeletionByPodGC",
        "PodGC: node no longer exists",
    )
    failed = {**status, "phase": "Failed", "conditions": listed}
    apiserver.update_status(world, "pods", metadata["namespace"], metadata["name"], failed)


def _stranded(world: SimWorld, change: Change) -> Iterable[Key]:
    """Pods of a node that has just gone are looked at after the quarantine."""
    if change.new is None:
        for pod in world.store.list("pods"):
            if pod["spec"].get("nodeName") == change.key[1]:
                metadata = pod["metadata"]
                world.wake(NAME, (metadata["namespace"], metadata["name"]), QUARANTINE)
    return ()


CONTROLLER = Controller(NAME, {"nodes": _stranded}, retried(NAME, reconcile))
