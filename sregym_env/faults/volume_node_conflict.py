"""Pods that are held on another node than their data."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import VolumeTarget, volumes
from sregym_env.faults.commands import mend, restore
from sregym_env.faults.fault import Fault, fault


@fault(layer="storage", mechanism="volume_node_conflict", targets=volumes())
def volume_node_conflict(target: VolumeTarget) -> Fault:
    """The workload is pinned to a node other than the one that holds its volume, so its pods stay Pending."""
    other = next(node for node in target.inventory.nodes if node != target.node)
    path, declared = target.template_path("nodeSelector"), target.template_declares("nodeSelector")
    wanted = {"kubernetes.io/hostname": other}
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.component.name} is pinned to node {other} by its nodeSelector, but its volume "
        f"({target.name}) is local to node {target.node}; its pods cannot be scheduled (volume node affinity "
        "conflict).",
        edits=[Redeploy(target.workload, {path: wanted})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "nodeSelector", "wrong": wanted},
        facts={"volume": target.name, "node": target.node, "other": other},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=[f"kubectl get pvc -n {target.namespace}", "kubectl get pv"],
    )
