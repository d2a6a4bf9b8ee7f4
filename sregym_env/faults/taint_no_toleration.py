"""Nodes that refuse the application's pods."""

from __future__ import annotations

from sregym_env.cluster.edits import JsonPatch, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components, scheduled
from sregym_env.faults.commands import restart
from sregym_env.faults.fault import Fault, fault


@fault(layer="node", mechanism="untolerated_taint", targets=components(at_request=True, where=scheduled))
def taint_no_toleration(target: ComponentTarget, key: str = "dedicated", value: str = "batch") -> Fault:
    """Every worker node carries a taint that the pods do not tolerate: a replaced pod stays Pending."""
    nodes = [ObjectRef("nodes", name) for name in target.inventory.nodes]
    taint = {"key": key, "value": value, "effect": "NoSchedule"}
    names = " ".join(node.name for node in nodes)
    return Fault(
        resource=nodes[0],
        kind="Node",
        cause=f"All worker nodes carry the taint {key}={value}:NoSchedule, which the pods of {target.name} do not "
        "tolerate; new pods cannot be scheduled and stay Pending.",
        edits=[JsonPatch(node, "/spec/taints", [taint]) for node in nodes],
        trigger=[RecreatePods(target.name)],
        details={"field": "taints", "wrong": f"{key}={value}:NoSchedule"},
        remedies=[
            [
                f"kubectl taint nodes {names} {key}={value}:NoSchedule-",
                *restart(target, [target.name]),
            ]
        ],
        look=["kubectl describe nodes"],
        accepts=nodes,
        aliases=target.inventory.nodes,
    )
