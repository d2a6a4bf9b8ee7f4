"""Where pods may go: selectors, affinities and tolerations that every cluster satisfies."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

OS = "kubernetes.io/os"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"

_GONE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_POOLS = (
    {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot", "effect": "NoSchedule"},
    {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
    {"key": "eks.amazonaws.com/compute-type", "operator": "Equal", "value": "fargate", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"},
)  # fmt: skip
"""Taints of pools that a provider makes."""

CLASSES = ("business-critical", "production-high", "user-facing", "tier-1", "above-default")


def draw(draft: Draft, chance: Chance) -> None:
    """Node selectors, affinities, spread, tolerations, and a priority class."""
    level = chance.at("scheduling").choice("class", CLASSES) if chance.yes("priority", 0.15) else ""
    if level:
        draft.start_with(
            words.named(
                "PriorityClass",
                level,
                version="scheduling.k8s.io/v1",
                value=chance.at("scheduling").choice("value", (1000, 10_000, 100_000)),
                # Nobody else's pods have to go for these.
                preemptionPolicy="Never",
                description="Services that users wait for",
            )
        )
    for work in draft.works:
        own = chance.at("scheduling", work.name)
        _placed(work, own)
        tolerations = _tolerations(own)
        if tolerations:
            work.pod["tolerations"] = [*(work.pod.get("tolerations") or []), *tolerations]
        if level and work.name in draft.app.critical and own.yes("level", 0.6):
            work.pod["priorityClassName"] = level


def _placed(work: Work, chance: Chance) -> None:
    if chance.yes("selector", 0.14) and "nodeSelector" not in work.pod:
        work.pod["nodeSelector"] = {OS: "linux"}
    if work.kind == "DaemonSet" or "affinity" in work.pod:
        return
    style = chance.weighted("affinity", {"none": 0.6, "apart": 0.16, "spread": 0.14, "system": 0.1})
    if style == "apart":
        work.pod["affinity"] = _apart(work, chance)
    elif style == "spread":
        work.pod["topologySpreadConstraints"] = [
            {
                "maxSkew": chance.choice("skew", (1, 1, 2)),
                "topologyKey": chance.choice("key", (HOST, ZONE)),
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": dict(work.labels)},
            }
        ]
    elif style == "system":
        terms = [{"matchExpressions": [{"key": OS, "operator": "In", "values": ["linux"]}]}]
        work.pod["affinity"] = {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        }


def _apart(work: Work, chance: Chance) -> Manifest:
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": dict(work.labels)}}
    weighted = [{"weight": chance.choice("weight", (1, 50, 100)), "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def _tolerations(chance: Chance) -> list[Manifest]:
    found: list[Manifest] = []
    if chance.yes("gone", 0.14):
        seconds = chance.choice("seconds", (120, 300, 600))
        found += [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
            for key in _GONE
        ]
    if chance.yes("pool", 0.08):
        found.append(dict(chance.choice("taint", _POOLS)))
    return found
