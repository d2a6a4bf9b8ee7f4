"""Quotas and limit ranges with room for every workload at its largest, and one more of each while it is replaced."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sregym_env.kube.quantity import milli
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

QUOTA, LIMITS = 0.32, 0.22
"""Shares of namespaces that have a quota, and a limit range."""

COUNTED = {"Service": "services", "ConfigMap": "configmaps", "Secret": "secrets",
           "PersistentVolumeClaim": "persistentvolumeclaims"}  # fmt: skip

ROOM = 8
"""Objects of a kind that people and their tools may still add."""

OWN = 2
"""Objects that every namespace has of itself."""

DEFAULT_CPU = {"request": 100, "limit": 4000}
"""Milli-cores of containers that say nothing, in namespaces with a limit range: as wide as any here."""


def draw(draft: Draft, chance: Chance) -> None:
    """A limit range and a quota for some namespaces."""
    for namespace in draft.namespaces:
        own = chance.at("quotas", namespace)
        ranged = own.yes("range", LIMITS)
        if ranged:
            draft.start_with(_range(draft, own, namespace))
        if own.yes("quota", QUOTA):
            draft.start_with(_quota(draft, own, namespace, ranged))


def _range(draft: Draft, chance: Chance, namespace: str) -> Manifest:
    item: Manifest = {
        "type": "Container",
        "default": {"cpu": f"{DEFAULT_CPU['limit']}m"},
        "defaultRequest": {"cpu": f"{chance.choice('request', (25, 50, DEFAULT_CPU['request']))}m"},
    }
    if chance.yes("most", 0.4):
        item["max"] = {"cpu": chance.choice("cpu", ("8", "12", "16"))}
    limits = [item]
    if chance.yes("claims", 0.3):
        limits.append(
            {"type": "PersistentVolumeClaim", "max": {"storage": chance.choice("storage", ("50Gi", "100Gi"))}}
        )
    name = chance.choice(
        "range name", ("default-limits", "limit-range", "container-defaults", f"{namespace}-limits")
    )
    return words.named("LimitRange", name, namespace, spec={"limits": limits})


def _quota(draft: Draft, chance: Chance, namespace: str, ranged: bool) -> Manifest:
    pods, cpu = _largest(draft, namespace)
    loose = chance.uniform("loose", 1.1, 1.7)
    hard: dict[str, Any] = {"pods": str(round(pods * loose) + ROOM)}
    if ranged and chance.yes("cpu", 0.6):
        # Only where what says nothing of CPU gets its share anyway.
        hard["requests.cpu"] = str(round(cpu * loose / 1000) + 4)
    there = Counter(
        m["kind"] for kind in COUNTED for m in draft.of(kind) if m["metadata"].get("namespace") == namespace
    )
    for kind, resource in COUNTED.items():
        if chance.yes(resource, 0.4):
            hard[resource] = str(round((there[kind] + OWN) * loose) + ROOM)
    name = chance.choice("quota name", ("compute-quota", "namespace-quota", f"{namespace}-quota", "default"))
    return words.named("ResourceQuota", name, namespace, spec={"hard": hard})


def _largest(draft: Draft, namespace: str) -> tuple[int, int]:
    """Pods and milli-cores of a namespace with every workload at its largest and replaced as a whole."""
    most = {
        scaler["spec"]["scaleTargetRef"]["name"]: scaler["spec"]["maxReplicas"]
        for scaler in draft.of("HorizontalPodAutoscaler")
        if scaler["metadata"].get("namespace") == namespace
    }
    pods = cpu = 0
    for work in draft.inside(namespace):
        # A DaemonSet has a pod on every node, and how many those are is not known here.
        count = 40 if work.kind == "DaemonSet" else 2 * max(work.replicas, most.get(work.name, 0))
        pods += count
        cpu += count * _asked(work)
    others = sum(
        1 for component in draft.app.components if draft.app.namespace_of(component.name) == namespace
    )
    return pods + 3 * others, cpu + 3 * others * DEFAULT_CPU["request"]


def _asked(work: Work) -> int:
    """Milli-cores that one pod asks for."""
    containers = (*work.pod["containers"], *(work.pod.get("initContainers") or ()))
    total = 0
    for container in containers:
        resources = container.get("resources") or {}
        asked = (resources.get("requests") or resources.get("limits") or {}).get("cpu")
        total += DEFAULT_CPU["request"] if asked is None else milli(asked)
    return total
