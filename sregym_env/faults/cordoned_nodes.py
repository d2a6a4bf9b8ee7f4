"""Nodes that take no new pods."""

from __future__ import annotations

from sregym_env.cluster.edits import JsonPatch, MergePatch, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components, scheduled
from sregym_env.faults.commands import restart
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.notes import maintenance


@fault(
    layer="node",
    mechanism="cordoned_nodes",
    targets=components(at_request=True, where=scheduled),
    level="easy",
)
def cordoned_nodes(
    target: ComponentTarget, notes: dict[str, str] = drawn(maintenance, published={})
) -> Fault:
    """Every worker node is cordoned: running pods go on, a replaced pod stays Pending.

    ``notes`` are annotations that whoever cordoned them has left there.
    """
    closed = {m["metadata"]["name"] for m in target.inventory.machines if m["spec"].get("unschedulable")}
    nodes = [ObjectRef("nodes", name) for name in target.inventory.nodes if name not in closed]
    marks = [MergePatch(node, {"metadata": {"annotations": notes}}) for node in nodes if notes]
    return Fault(
        resource=nodes[0],
        kind="Node",
        cause=f"The replaced pods of {target.name} stay Pending because all worker nodes are cordoned "
        "(unschedulable) and take no new pods.",
        edits=[*marks, *(JsonPatch(node, "/spec/unschedulable", True) for node in nodes)],
        trigger=[RecreatePods(target.name)],
        details={"field": "unschedulable", "wrong": "true"},
        remedies=[
            ["kubectl uncordon " + " ".join(node.name for node in nodes), *restart(target, [target.name])]
        ],
        look=["kubectl get nodes"],
        accepts=nodes,
        aliases=target.inventory.nodes,
    )
