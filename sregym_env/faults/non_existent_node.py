"""Pods that ask for a node nobody has."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components, scheduled
from sregym_env.faults.commands import mend, restore
from sregym_env.faults.fault import Fault, fault


@fault(
    layer="kubernetes",
    mechanism="unsatisfiable_node_selector",
    targets=components(where=scheduled),
    level="easy",
)
def non_existent_node(target: ComponentTarget, node: str = "extra-node") -> Fault:
    """The pod template's node selector names a node that does not exist, so its pods stay Pending."""
    path, declared = target.template_path("nodeSelector"), target.template_declares("nodeSelector")
    wanted = {"kubernetes.io/hostname": node}
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has the nodeSelector kubernetes.io/hostname={node}, but no such node "
        "exists; its pods cannot be scheduled and stay Pending.",
        edits=[Redeploy(target.workload, {path: wanted})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "nodeSelector", "wrong": wanted},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=["kubectl get nodes"],
    )
