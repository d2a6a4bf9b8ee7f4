"""Disruption budgets: every one lets a pod go."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

SHARE = 0.3
"""Of workloads in namespaces that have budgets at all."""


def draw(draft: Draft, chance: Chance) -> None:
    """A budget for some workloads."""
    for namespace in draft.namespaces:
        own = chance.at("disruption", namespace)
        if not own.yes("any", 0.55):
            continue
        ending = own.choice("ending", ("-pdb", "", "-budget"))
        budgeted = [
            manifest["spec"]["selector"].get("matchLabels") or {} for manifest in _budgets(draft, namespace)
        ]
        for work in draft.inside(namespace):
            # An eviction heeds no more than one.
            if any(wanted.items() <= work.labels.items() for wanted in budgeted):
                continue
            # A budget cannot tell how many pods a DaemonSet should have.
            if work.kind != "DaemonSet" and own.yes(work.name, SHARE / 0.55):
                spec = {**_allowance(work, own), "selector": {"matchLabels": dict(work.labels)}}
                draft.end_with(
                    words.named("PodDisruptionBudget", work.name + ending, namespace, "policy/v1", spec=spec)
                )


def _budgets(draft: Draft, namespace: str) -> list[Manifest]:
    """The budgets that the application comes with."""
    return [m for m in draft.of("PodDisruptionBudget") if m["metadata"].get("namespace") == namespace]


def _allowance(work: Work, chance: Chance) -> Manifest:
    if work.replicas > 1 and chance.yes(f"least of {work.name}", 0.5):
        return {"minAvailable": chance.choice(f"count of {work.name}", (1, work.replicas - 1))}
    return {"maxUnavailable": chance.choice(f"most of {work.name}", (1, 1, "50%", "100%"))}
