"""Machines that faults strike: who stands on them, who is bound to them, and who of another team runs beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import Edit, ObjectRef, Rollout
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.targets import (
    ROLLED,
    ComponentTarget,
    MachinesTarget,
    components,
    kind_of,
    machines_needed,
)
from sregym_env.kube import conditions
from sregym_env.kube.types import Manifest

HOST = "kubernetes.io/hostname"


def machines(target: ComponentTarget) -> list[str]:
    """Machines on which it stands: if possible those where no users' load is made."""
    loads = [each.name for each in target.app.components if each.kind == "load"]
    busy = {node for name in loads for node in _nodes(target, name)}
    own = _nodes(target, target.name)
    return [node for node in own if node not in busy] or own


def _nodes(target: ComponentTarget, component: str) -> list[str]:
    """Where the pods of a component run."""
    name = target.workload_of(component).name
    found = []
    for pod in target.inventory.pods:
        owners = [owner["name"] for owner in pod["metadata"].get("ownerReferences") or ()]
        if any(name in (owner, owner.rpartition("-")[0]) for owner in owners) and pod["spec"].get("nodeName"):
            if (pod.get("status") or {}).get("phase") == "Running":
                found.append(str(pod["spec"]["nodeName"]))
    return list(dict.fromkeys(found))


def movable(target: ComponentTarget) -> bool:
    """Whether it may be bound to any machine, of an application whose data lie on none."""
    app = target.app
    return (
        target.component.workload in ROLLED
        and target.component.workload != "daemonsets.apps"
        and target.component.kind != "load"
        and target.component.stateless
        and not any(each.volume for each in app.components)
        and bool(machines(target))
    )


def machines_of_users(inventory: Inventory) -> Iterator[MachinesTarget]:
    """Machines that hold the data of a store to which users write; where no data lie on machines, those of what users ask for."""
    yield from (target for target in machines_needed().find(inventory) if target.namesake)
    for target in components(at_request=True, where=movable).find(inventory):
        yield MachinesTarget(inventory, (machines(target)[0],), (target.name,), target.name)


def tied(target: MachinesTarget, node: str) -> list[Edit]:
    """What binds the component to the machine where no data of its own lie there."""
    if any(each.volume for each in target.app.components):
        return []
    path = "/spec/template/spec/nodeSelector"
    return [Rollout(target.workload_of(target.namesake), {path: {HOST: node}})]


def neighbour(workload: ObjectRef, node: str, container: Manifest, volume: Manifest) -> Manifest:
    """A program of one machine, which its team holds for as important as the machine itself: a kubelet never evicts it."""
    labels = {"app": workload.name}
    pod: dict[str, Any] = {
        "priorityClassName": "system-node-critical",
        "nodeSelector": {HOST: node},
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        "volumes": [volume],
    }
    spec: dict[str, Any] = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    if workload.resource == "deployments.apps":
        spec |= {"replicas": 1, "strategy": {"type": "Recreate"}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind_of(workload.resource),
        "metadata": {"name": workload.name, "namespace": workload.namespace, "labels": labels},
        "spec": spec,
    }


def pressed(world: World, kind: str) -> list[str]:
    """Machines of which a kubelet says so (``DiskPressure``, ``PIDPressure``)."""
    return [
        node["metadata"]["name"]
        for node in world.cluster.list("nodes")
        if conditions.is_true(node.get("status"), kind)
    ]
