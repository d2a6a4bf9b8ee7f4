"""Autoscalers: of what keeps no state, far from scaling while all is well."""

from __future__ import annotations

from sregym_env.kube.quantity import milli
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import BUSY, MI, Draft, Work

SHARE = 0.3
"""Of namespaces have autoscalers."""

WORK = 2.0
"""Milli-seconds of CPU that a request may take at the most, for telling how far from scaling a component is."""

LOADED = 0.7
"""Share of its limit at which a component is scaled that would not show its need otherwise."""


def draw(draft: Draft, chance: Chance) -> None:
    """One autoscaler or two per namespace that has any: each costs a look every quarter of a minute."""
    for namespace in draft.namespaces:
        own = chance.at("scaling", namespace)
        works = [work for work in draft.inside(namespace) if work.scalable]
        if not own.yes("any", SHARE):
            continue
        for work in words.few(own, "which", works, own.between("count", 1, 2)):
            metric = _metric(draft, work, own.at(work.name))
            if metric is not None:
                draft.end_with(_autoscaler(work, metric, own.at(work.name)))


def _autoscaler(work: Work, metric: Manifest, chance: Chance) -> Manifest:
    spec: Manifest = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": work.kind, "name": work.name},
        "minReplicas": work.replicas,
        "maxReplicas": work.replicas + chance.between("more", 1, 4),
        "metrics": [{"type": "Resource", "resource": metric}],
    }
    if chance.yes("behaviour", 0.3):
        window = chance.choice("window", (120, 300, 600))
        spec["behavior"] = {"scaleDown": {"stabilizationWindowSeconds": window}}
    name = chance.choice("name", (work.name, f"{work.name}-hpa"))
    return words.named("HorizontalPodAutoscaler", name, work.namespace, "autoscaling/v2", spec=spec)


def _metric(draft: Draft, work: Work, chance: Chance) -> Manifest | None:
    """What is measured; None where nothing would be far enough from scaling."""
    resources = work.container.get("resources") or {}
    request = (resources.get("requests") or {}).get("cpu")
    limit = (resources.get("limits") or {}).get("cpu")
    percent = chance.choice("percent", (60, 70, 75, 80))
    used = draft.share(work.component) * WORK / work.replicas
    quiet = draft.share(work.component) < BUSY
    alone = len(work.pod["containers"]) == 1 and not work.pod.get("initContainers")
    if request and quiet and alone and used * 2 < milli(request) * percent / 100:
        return {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}}
    if limit and chance.yes("cpu", 0.6):
        # Above what a throttled container could use: a lack of CPU is no reason for more containers that lack it.
        value = f"{round(milli(limit) * LOADED)}m"
        return {"name": "cpu", "target": {"type": "AverageValue", "averageValue": value}}
    if work.component.memory:
        megabytes = work.component.memory // MI * chance.choice("memory", (6, 8, 10)) + 128
        return {"name": "memory", "target": {"type": "AverageValue", "averageValue": f"{megabytes}Mi"}}
    return None
