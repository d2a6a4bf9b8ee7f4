"""A memory limit below what the program needs."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import sized
from sregym_env.faults.commands import drop, mend, put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.kube.quantity import bytes_
from sregym_env.runtime.chance import Chance

MARGIN = 1.2
"""A program must need this much more than the default limit to be a target."""

LEAST = bytes_("7Mi")
"""Below this a container is not even set up."""


def _too_small(target: ComponentTarget, chance: Chance) -> str:
    """Less than the program needs, by a little or by far, in any unit."""
    need = target.component.memory
    return sized(chance.uniform("size", max(LEAST, need * 0.15), need * 0.85), chance)


@fault(
    layer="kubernetes",
    mechanism="memory_limit_too_low",
    targets=components(where=lambda target: target.component.memory > bytes_("10Mi") * MARGIN),
    level="easy",
)
def resource_request_too_small(
    target: ComponentTarget, memory: str = drawn(_too_small, published="10Mi")
) -> Fault:
    """The container's memory limit is below what the program needs to start, so it is OOM-killed."""
    limits, resources = target.container_path("resources", "limits"), target.declares("resources")
    enough = {
        **(target.declares("resources", "limits") or {}),
        "memory": f"{target.component.memory * 4 // 1024**2}Mi",
    }
    wrong: dict[str, Any] = {f"{limits}/memory": memory}
    requested = target.declares("resources", "requests", "memory")
    if requested is not None and bytes_(requested) > bytes_(memory):
        wrong[target.container_path("resources", "requests", "memory")] = memory
    whole = target.container_path("resources")
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} has a memory limit of {memory}, less than {target.name} "
        "needs; it is OOMKilled whenever it starts.",
        **revision(target, wrong),
        details={"field": "memory limit", "wrong": memory},
        remedies=[
            mend(
                target,
                drop(target.workload, whole) if resources is None else put(target.workload, whole, resources),
            ),
            mend(target, put(target.workload, limits, enough)),
        ],
    )
