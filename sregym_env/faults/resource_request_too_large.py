"""Pods that ask for more memory than any node has."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components, declares_memory
from sregym_env.faults.commands import drop, mend, put
from sregym_env.faults.fault import Fault, fault


@fault(layer="kubernetes", mechanism="excessive_resource_request", targets=components(), level="easy")
def resource_request_too_large(target: ComponentTarget, factor: float = 2.0) -> Fault:
    """The container requests more memory than any node has, so its pods stay Pending."""
    megabytes = int((target.inventory.node_memory / 1024**2 + 100) * factor)
    path = target.container_path("resources", "requests", "memory")
    asked, back = {path: f"{megabytes}Mi"}, drop(target.workload, path)
    if declares_memory(target):
        if target.declares("resources", "limits", "memory") is not None:
            asked[target.container_path("resources", "limits", "memory")] = f"{megabytes}Mi"
        back = put(target.workload, target.container_path("resources"), target.declares("resources"))
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} has a memory request of {megabytes}Mi, which exceeds the "
        "capacity of every node; its pods stay Pending (Insufficient memory).",
        edits=[Redeploy(target.workload, asked)],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "memory request", "wrong": f"{megabytes}Mi"},
        remedies=[mend(target, back)],
        look=["kubectl describe nodes"],
    )
