"""A request that no node can satisfy."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import drop, mend, put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.kube.quantity import bytes_
from sregym_env.runtime.chance import Chance


def _published(target: ComponentTarget) -> str:
    return f"{int((target.inventory.node_memory / 1024**2 + 100) * 2)}Mi"


def _oversized(target: ComponentTarget, chance: Chance) -> str:
    """More than any node has: a size too large, or one in a unit too large (``512Gi`` for ``512Mi``)."""
    node = target.inventory.node_memory
    slips = [
        size
        for n in (64, 96, 100, 128, 150, 192, 200, 256, 300, 384, 512, 768)
        if bytes_(size := f"{n}Gi") > node * 1.05
    ]
    if slips and chance.yes("unit", 0.4):
        return chance.choice("slip", slips)
    wanted = node * chance.uniform("factor", 1.1, 6.0)
    unit, factor = chance.choice(
        "unit", (("Gi", 1024**3), ("Gi", 1024**3), ("Mi", 1024**2), ("G", 10**9), ("M", 10**6))
    )
    step = 1 if unit in ("Gi", "G") else 500 if unit == "M" else 512
    return f"{(int(wanted / factor) // step + 1) * step}{unit}"


@fault(layer="kubernetes", mechanism="excessive_resource_request", targets=components(), level="easy")
def resource_request_too_large(
    target: ComponentTarget, memory: str = drawn(_oversized, published=_published)
) -> Fault:
    """The container requests more memory than any node has, so its pods stay Pending."""
    resources, path = target.declares("resources"), target.container_path("resources", "requests", "memory")
    asked: dict[str, Any] = {path: memory}
    if target.declares("resources", "limits", "memory") is not None:
        asked[target.container_path("resources", "limits", "memory")] = memory
    whole = target.container_path("resources")
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} has a memory request of {memory}, which exceeds the "
        "capacity of every node; its pods stay Pending (Insufficient memory).",
        **revision(target, asked),
        details={"field": "memory request", "wrong": memory},
        remedies=[
            mend(
                target,
                drop(target.workload, whole) if resources is None else put(target.workload, whole, resources),
            )
        ],
        look=["kubectl describe nodes"],
    )
