"""Nodes that refuse the application's pods."""

from __future__ import annotations

from sregym_env.cluster.edits import JsonPatch, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components, scheduled
from sregym_env.faults.choices import until
from sregym_env.faults.commands import restart
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.runtime.chance import Chance

TAINTS = (
    ("dedicated", ("batch", "gpu", "infra", "ml", "monitoring", "ci", "database")), ("workload", ("batch", "ml", "spark")),
    ("team", ("data", "ml", "platform", "payments")), ("spot", ("true",)), ("nvidia.com/gpu", ("present", "true")),
    ("node-role.kubernetes.io/infra", ("", "reserved")), ("environment", ("staging", "dev")), ("pool", ("batch", "system")),
    ("maintenance", ("true", "planned", "2026-q3")), ("reserved", ("yes", "capacity")), ("lifecycle", ("spot", "draining")),
    ("CriticalAddonsOnly", ("true",)), ("kubernetes.azure.com/scalesetpriority", ("spot",)), ("storage", ("dedicated",)),
    ("cloud.google.com/gke-spot", ("true",)), ("karpenter.sh/disruption", ("disrupting",)), ("upgrade", ("in-progress",)),
    ("node.example.com/quarantine", ("true",)), ("restricted", ("pci", "true")), ("arch", ("arm64",)),
)  # fmt: skip
"""Taints that people put on nodes."""


def _taint(target: ComponentTarget, chance: Chance) -> tuple[str, str]:
    """A taint that the component's pods do not tolerate, and that no node has."""

    def draw(by: Chance) -> tuple[str, str]:
        key, values = by.choice("key", TAINTS)
        return key, by.choice("value", values)

    have = {t["key"] for machine in target.inventory.machines for t in machine["spec"].get("taints") or ()}
    known = {t.get("key", "") for t in target.template_declares("tolerations") or ()} | have
    found: tuple[str, str] = until(chance, draw, lambda pair: pair[0] not in known, ("node-group", "batch"))
    return found


def _demanding(target: ComponentTarget) -> bool:
    """Whether its pods are scheduled and do not tolerate whatever there is."""
    tolerations = target.template_declares("tolerations") or ()
    return scheduled(target) and all(toleration.get("key") for toleration in tolerations)


@fault(layer="node", mechanism="untolerated_taint", targets=components(at_request=True, where=_demanding))
def taint_no_toleration(
    target: ComponentTarget, taint: tuple[str, str] = drawn(_taint, published=("dedicated", "batch"))
) -> Fault:
    """Every worker node carries a taint that the pods do not tolerate: a replaced pod stays Pending."""
    nodes = [ObjectRef("nodes", name) for name in target.inventory.nodes]
    key, value = taint
    added = {"key": key, "value": value, "effect": "NoSchedule"}
    shown = f"{key}{f'={value}' if value else ''}:NoSchedule"
    borne = {m["metadata"]["name"]: m["spec"].get("taints") or [] for m in target.inventory.machines}
    names = " ".join(node.name for node in nodes)
    return Fault(
        resource=nodes[0],
        kind="Node",
        cause=f"All worker nodes carry the taint {shown}, which the pods of {target.name} do not "
        "tolerate; new pods cannot be scheduled and stay Pending.",
        edits=[JsonPatch(node, "/spec/taints", [*borne.get(node.name, []), added]) for node in nodes],
        trigger=[RecreatePods(target.name)],
        details={"field": "taints", "wrong": shown},
        remedies=[
            [
                f"kubectl taint nodes {names} {shown}-",
                *restart(target, [target.name]),
            ]
        ],
        look=["kubectl describe nodes"],
        accepts=nodes,
        answers=["tolerations"],
        aliases=target.inventory.nodes,
    )
