"""Pods that must keep away from others which are everywhere."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import ComponentTarget, components, scheduled
from sregym_env.faults.commands import mend, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _domains(target: ComponentTarget) -> list[str]:
    """Keys of node labels that have one value on all workers: each makes one domain of the whole cluster."""
    shared: set[tuple[str, str]] | None = None
    for machine in target.inventory.machines:
        labels = set((machine["metadata"].get("labels") or {}).items())
        shared = labels if shared is None else shared & labels
    # Every kubelet writes this one.
    known = {"kubernetes.io/os", *(key for key, _ in shared or ())}
    return sorted(known - {"beta.kubernetes.io/arch", "beta.kubernetes.io/os"})


def _peers(target: ComponentTarget) -> dict[str, dict[str, str]]:
    """Labels by which other workloads of the namespace are selected, by component."""
    found = {}
    for component in target.app.components:
        if component.workload in ("deployments.apps", "statefulsets.apps") and component.name != target.name:
            other = ComponentTarget(target.inventory, component)
            if other.namespace == target.namespace and component.kind != "load" and other.replicas:
                found[component.name] = dict(other.labels)
    return {name: labels for name, labels in found.items() if not labels.items() <= target.labels.items()}


def _peer(target: ComponentTarget, chance: Chance) -> str:
    """Whom the pods shall not meet: one that they need, or any other."""
    peers = _peers(target)
    near = [d.on for d in target.component.dependencies if d.on in peers]
    return (
        chance.choice("near", near)
        if near and chance.yes("need", 0.6)
        else chance.choice("peer", list(peers))
    )


@fault(
    layer="kubernetes",
    mechanism="unsatisfiable_anti_affinity",
    targets=components(where=lambda target: scheduled(target) and bool(_peers(target))),
)
def pod_anti_affinity_deadlock(
    target: ComponentTarget,
    peer: str = drawn(_peer, published=lambda target: next(iter(_peers(target)))),
    domain: str = drawn(
        lambda target, chance: chance.choice("domain", _domains(target)), published="kubernetes.io/os"
    ),
    form: str = drawn(
        lambda target, chance: chance.choice("form", ("labels", "expressions")), published="labels"
    ),
) -> Fault:
    """A required anti-affinity keeps the pods away from others that are in every domain, so they stay Pending.

    The whole cluster is one domain of the topology key. ``form`` says how the others are selected: by their
    ``labels`` or by ``expressions``.
    """
    labels = _peers(target)[peer]
    selector: dict[str, Any] = {"matchLabels": labels}
    if form == "expressions":
        selector = {
            "matchExpressions": [{"key": k, "operator": "In", "values": [v]} for k, v in labels.items()]
        }
    path, declared = target.template_path("affinity"), target.template_declares("affinity")
    rules = ((declared or {}).get("podAntiAffinity") or {}).get(REQUIRED) or []
    rule = {"labelSelector": selector, "topologyKey": domain}
    wrong = {
        **(declared or {}),
        "podAntiAffinity": {
            **((declared or {}).get("podAntiAffinity") or {}),
            REQUIRED: [*rules, rule],
        },
    }
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has a required pod anti-affinity (podAntiAffinity) against the pods of {peer} by the topology "
        f"key {domain}; all nodes are one domain of it, so no node satisfies the rule and the pods of {target.name} stay "
        "Pending.",
        **revision(target, {path: wrong}),
        details={"field": "podAntiAffinity", "wrong": domain},
        facts={"peer": peer, "domain": domain},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=[show(target), "kubectl get nodes --show-labels"],
        answers=["affinity"],
    )
