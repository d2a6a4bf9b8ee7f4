"""Pods that ask for more memory than any node has."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, put, restore
from sregym_env.faults.fault import Fault, fault


@fault(layer="kubernetes", mechanism="excessive_resource_request", targets=components(), level="easy")
def resource_request_too_large(target: ComponentTarget, factor: float = 2.0) -> Fault:
    """The container requests more memory than any node has, so its pods stay Pending."""
    megabytes = int((target.inventory.node_memory / 1024**2 + 100) * factor)
    path = target.container_path("resources", "requests", "memory")
    limit = target.container_path("resources", "limits", "memory")
    declared, limited = (target.declares("resources", kind, "memory") for kind in ("requests", "limits"))
    asked = {path: f"{megabytes}Mi", **({limit: f"{megabytes}Mi"} if limited else {})}
    back = [restore(target.workload, path, declared)]
    back += [put(target.workload, limit, limited)] if limited else []
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} has a memory request of {megabytes}Mi, which exceeds the "
        "capacity of every node; its pods stay Pending (Insufficient memory).",
        edits=[Redeploy(target.workload, asked)],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "memory request", "wrong": f"{megabytes}Mi"},
        remedies=[mend(target, *back)],
        look=["kubectl describe nodes"],
    )
