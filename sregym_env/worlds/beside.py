"""What is changed beside an application and has no effect: notes on machines and on the cluster's DNS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.edits import ObjectRef
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.changes import NODE_KEEPERS, SYSTEM_KEEPERS

NOTES: Mapping[str, tuple[str, ...]] = {
    "example.com/owner": ("platform", "infra", "sre", "ops"),
    "example.com/ticket": ("OPS-2211", "INFRA-718", "PLAT-1093", "OPS-3127", "SRE-402"),
    "example.com/reviewed": ("2025-10", "2025-12", "2026-02", "2026-03"),
    "maintenance.example.com/window": ("sun-02", "tue-04", "sat-22"),
}
"""Annotations that nothing in a cluster reads."""


@dataclass(frozen=True, slots=True)
class Place:
    """An object that belongs to the cluster, and who changes such objects, by likelihood."""

    target: ObjectRef
    keepers: Mapping[str, float]


def places(cluster: Cluster) -> list[Place]:
    """The machines, and the DNS with its settings."""
    machines = [
        Place(ObjectRef("nodes", node["metadata"]["name"]), NODE_KEEPERS) for node in cluster.list("nodes")
    ]
    names = [ObjectRef(resource, "coredns", "kube-system") for resource in ("configmaps", "deployments.apps")]
    return machines + [Place(target, SYSTEM_KEEPERS) for target in names]


def note(chance: Chance) -> Manifest:
    """A patch that leaves a drawn note."""
    name = chance.choice("note", tuple(NOTES))
    return {"metadata": {"annotations": {name: chance.choice("value", NOTES[name])}}}
