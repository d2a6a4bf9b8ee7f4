"""A workload without replicas."""

from __future__ import annotations

from sregym_env.cluster.edits import JsonPatch, MergePatch, RecreatePods
from sregym_env.cluster.targets import SCALED, ComponentTarget, components
from sregym_env.faults.commands import mend, scale
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.notes import pause


@fault(
    layer="kubernetes",
    mechanism="scaled_to_zero",
    targets=components(where=lambda target: target.component.workload in SCALED),
    level="easy",
)
def scale_to_zero(target: ComponentTarget, notes: dict[str, str] = drawn(pause, published={})) -> Fault:
    """The workload has been scaled to zero replicas, so nothing serves.

    ``notes`` are annotations that whoever scaled it has left there.
    """
    replicas = target.replicas
    marks = [MergePatch(target.workload, {"metadata": {"annotations": notes}})] if notes else []
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} is scaled to 0 replicas; none of its pods run.",
        edits=[*marks, JsonPatch(target.workload, "/spec/replicas", 0)],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "replicas", "wrong": 0, "right": replicas},
        remedies=[mend(target, scale(target.workload, replicas))],
    )
