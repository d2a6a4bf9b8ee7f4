"""How many pods there are, how they are replaced, and how much of the past is kept."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation.draft import BUSY, Draft, Work

REPLICAS = {1: 0.52, 2: 0.27, 3: 0.17, 4: 0.04}
"""Pods of what keeps no state (charts: 86 % one; production overrides: mostly three)."""

HISTORY = {10: 0.65, 3: 0.12, 5: 0.08, 2: 0.08, 25: 0.07}
"""``revisionHistoryLimit``. One revision is kept by nobody here: a rollback would find nothing to go back to."""

GRACE = {None: 0.56, 5: 0.05, 10: 0.12, 20: 0.07, 45: 0.09, 60: 0.11}
"""``terminationGracePeriodSeconds``; None for the default."""

READY_SECONDS = {0: 0.75, 3: 0.1, 5: 0.1, 10: 0.05}
PROGRESS = {None: 0.75, 300: 0.1, 900: 0.1, 1200: 0.05}

_SURGES: dict[str, float] = {
    "default": 0.4,
    "recreate": 0.12,
    "one-less": 0.16,
    "one-more": 0.16,
    "percent": 0.16,
}


def draw(draft: Draft, chance: Chance) -> None:
    """Replicas, strategies, history and patience of every workload."""
    for work in draft.works:
        own = chance.at("rollout", work.name)
        spec = work.spec
        if work.scalable:
            spec["replicas"] = min(own.weighted("replicas", REPLICAS), most_replicas(draft, work))
        limit = own.weighted("history", HISTORY)
        if limit != 10 or own.yes("said", 0.3):
            spec["revisionHistoryLimit"] = limit
        if work.kind == "Deployment":
            strategy = _strategy(work, own)
            if strategy is not None:
                spec["strategy"] = strategy
            if seconds := own.weighted("progress", PROGRESS):
                spec["progressDeadlineSeconds"] = seconds
        if (seconds := own.weighted("ready", READY_SECONDS)) and not work.registry:
            spec["minReadySeconds"] = seconds
        if seconds := own.weighted("grace", GRACE):
            work.pod["terminationGracePeriodSeconds"] = seconds


def most_replicas(draft: Draft, work: Work) -> int:
    """How many pods still get as many requests each as the one of the published application needs to feel a lack of
    CPU; any number where that one does not."""
    if draft.published_share(work.component) < BUSY:
        return max(REPLICAS)
    return max(1, int(draft.share(work.component) / BUSY))


def _strategy(work: Work, chance: Chance) -> Manifest | None:
    """None for the default."""
    if work.component.volume:
        # Two pods cannot open the same files: the old one goes first, however that is said.
        if "strategy" in work.spec and chance.yes("said otherwise", 0.2):
            return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
        return None
    if work.registry:
        return {"type": "Recreate"} if chance.yes("recreate", 0.6) else None
    style = chance.weighted("strategy", _SURGES)
    if style == "recreate":
        return {"type": "Recreate"}
    rolling: Manifest | None = {
        "default": None,
        "one-less": {"maxSurge": 0, "maxUnavailable": 1},
        "one-more": {"maxSurge": 1, "maxUnavailable": chance.choice("unavailable", (0, 1))},
        "percent": {
            "maxSurge": chance.choice("surge", ("25%", "50%", "100%")),
            "maxUnavailable": chance.choice("spare", ("0%", "25%", "50%")),
        },
    }[style]
    return None if rolling is None else {"type": "RollingUpdate", "rollingUpdate": rolling}
