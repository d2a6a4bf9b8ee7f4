"""Pods that ask for a node nobody has."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components, scheduled
from sregym_env.faults.choices import node_labels, sibling_node, until
from sregym_env.faults.commands import mend, restore
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

HOST = "kubernetes.io/hostname"

POOLS = (
    ("disktype", ("ssd", "nvme", "fast")), ("node-pool", ("backend", "general", "apps", "pool-2", "highmem")),
    ("nodepool", ("default-2", "services", "apps")), ("workload", ("backend", "services", "web")),
    ("topology.kubernetes.io/zone", ("eu-central-1c", "us-east-1d", "zone-c", "europe-west4-b")),
    ("node.kubernetes.io/instance-type", ("m6i.xlarge", "n2-standard-8", "c5.2xlarge")),
    ("kubernetes.io/arch", ("arm64",)), ("node-role.kubernetes.io/worker", ("", "true")), ("role", ("worker", "app")),
    ("cloud.google.com/gke-nodepool", ("pool-b", "apps-v2")), ("eks.amazonaws.com/nodegroup", ("apps-2", "ng-backend")),
    ("storage", ("ssd", "local-nvme")), ("environment", ("production", "prod")), ("tier", ("backend", "app")),
)  # fmt: skip
"""Labels by which people choose nodes."""


def _unmet(target: ComponentTarget, chance: Chance) -> dict[str, str]:
    """A node selector that no node meets: a node that is gone, or a label that none of them carries."""
    if chance.yes("host", 0.45):
        return {HOST: sibling_node(target.inventory, chance.at("host"))}
    have = node_labels(target.inventory)

    def draw(by: Chance) -> tuple[str, str]:
        key, values = by.choice("label", POOLS)
        return key, by.choice("value", values)

    key, value = until(chance, draw, lambda pair: pair not in have, ("node-pool", "apps-b"))
    return {key: value}


@fault(
    layer="kubernetes",
    mechanism="unsatisfiable_node_selector",
    targets=components(where=scheduled),
    level="easy",
)
def non_existent_node(
    target: ComponentTarget, wanted: dict[str, str] = drawn(_unmet, published={HOST: "extra-node"})
) -> Fault:
    """The pod template's node selector asks for a node that does not exist, so its pods stay Pending."""
    path, declared = target.template_path("nodeSelector"), target.template_declares("nodeSelector")
    shown = ",".join(f"{key}={value}" for key, value in wanted.items())
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has the nodeSelector {shown}, but no such node exists; its pods cannot be scheduled and stay Pending.",
        **revision(target, {path: {**(declared or {}), **wanted}}),
        details={"field": "nodeSelector", "wrong": wanted},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=["kubectl get nodes --show-labels"],
    )
