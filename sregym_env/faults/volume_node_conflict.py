"""Pods that are held on another node than their data."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import VolumeTarget, volumes
from sregym_env.faults.commands import mend, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

HOST = "kubernetes.io/hostname"


def _others(target: VolumeTarget) -> list[str]:
    """Nodes where the data are not."""
    return [node for node in target.inventory.nodes if node != target.node]


def _form(target: VolumeTarget, chance: Chance) -> str:
    """How the pods are held there."""
    weights = {"selector": 0.5, "affinity": 0.3, "terms": 0.2}
    return chance.weighted("form", weights)


@fault(layer="storage", mechanism="volume_node_conflict", targets=volumes())
def volume_node_conflict(
    target: VolumeTarget,
    other: str = drawn(
        lambda target, chance: chance.choice("node", _others(target)),
        published=lambda target: _others(target)[0],
    ),
    form: str = drawn(_form, published="selector"),
) -> Fault:
    """The workload is pinned to a node other than the one that holds its volume, so its pods stay Pending.

    It is pinned by its node ``selector``, by node ``affinity``, or by several ``terms`` of that.
    """
    field = "nodeSelector" if form == "selector" else "affinity"
    path, declared = target.template_path(field), target.template_declares(field)
    wanted = {HOST: other}
    pinned: dict[str, Any] = {
        **(declared or {}),
        **(wanted if form == "selector" else _affinity(target, other, form)),
    }
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.component.name} is pinned to node {other} by its {field}, but its volume "
        f"({target.name}) is local to node {target.node}; its pods cannot be scheduled (volume node affinity "
        "conflict).",
        **revision(target, {path: pinned}),
        details={"field": field, "wrong": wanted},
        facts={"volume": target.name, "node": target.node, "other": other, "pinned": field},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=[f"kubectl get pvc -n {target.namespace}", "kubectl get pv", show(target)],
    )


def _affinity(target: VolumeTarget, other: str, form: str) -> dict[str, Any]:
    """Required node affinity that the node of the data does not meet."""
    demanded: list[dict[str, Any]] = [{"key": HOST, "operator": "In", "values": [other]}]
    if form == "terms":
        demanded = [{"key": HOST, "operator": "NotIn", "values": [target.node]}, *demanded]
    required = {"nodeSelectorTerms": [{"matchExpressions": demanded}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
