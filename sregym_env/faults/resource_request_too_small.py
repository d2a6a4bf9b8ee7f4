"""A memory limit below what the program needs."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components, declares_memory
from sregym_env.faults.commands import drop, mend, put
from sregym_env.faults.fault import Fault, fault
from sregym_env.kube.quantity import bytes_

MARGIN = 1.2
"""A program must need this much more than the default limit to be a target."""


@fault(
    layer="kubernetes",
    mechanism="memory_limit_too_low",
    targets=components(where=lambda target: target.component.memory > bytes_("10Mi") * MARGIN),
    level="easy",
)
def resource_request_too_small(target: ComponentTarget, memory: str = "10Mi") -> Fault:
    """The container's memory limit is below what the program needs to start, so it is OOM-killed."""
    limits = target.container_path("resources", "limits")
    enough = {
        **(target.declares("resources", "limits") or {}),
        "memory": f"{target.component.memory * 4 // 1024**2}Mi",
    }
    wrong, back = {f"{limits}/memory": memory}, drop(target.workload, f"{limits}/memory")
    if declares_memory(target):
        wrong[target.container_path("resources", "requests", "memory")] = memory
        back = put(target.workload, target.container_path("resources"), target.declares("resources"))
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} has a memory limit of {memory}, less than {target.name} "
        "needs; it is OOMKilled whenever it starts.",
        edits=[Redeploy(target.workload, wrong)],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "memory limit", "wrong": memory},
        remedies=[
            mend(target, back),
            mend(target, put(target.workload, limits, enough)),
        ],
    )
