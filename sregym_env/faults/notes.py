"""Annotations that tools and people leave on what they have changed."""

from __future__ import annotations

from typing import Any

from sregym_env.runtime.chance import Chance

_WHY = (
    "kernel-upgrade", "kernel patch wave 2", "os-patching", "node image rotation", "containerd 1.7 upgrade", "firmware",
    "capacity rebalancing", "migrating workloads", "drain prep", "disk replacement", "CNI upgrade", "maintenance window",
)  # fmt: skip
_WHO = ("platform", "infra-team", "sre", "ops", "cluster-automation", "kured", "node-ops", "fleet")
_KEYS = (
    "maintenance",
    "node-ops/reason",
    "cordon-reason",
    "ops/maintenance",
    "fleet.example.com/maintenance",
    "reason",
)


def maintenance(target: Any, chance: Chance) -> dict[str, str]:
    """What stands on nodes that somebody takes out of service; sometimes nothing."""
    if chance.yes("none", 0.2):
        return {}
    if chance.yes("reboot", 0.2):
        return {"weave.works/kured-reboot-in-progress": _day(chance)}
    notes = {chance.choice("key", _KEYS): chance.choice("why", _WHY)}
    if chance.yes("ticket", 0.4):
        notes["ticket"] = f"OPS-{chance.between('ticket', 1100, 9800)}"
    if chance.yes("signed", 0.5):
        notes[chance.choice("by", ("owner", "maintenance-by", "node-ops/by"))] = chance.choice("who", _WHO)
    return notes


def pause(target: Any, chance: Chance) -> dict[str, str]:
    """What tools that scale workloads down leave on them, or people; sometimes nothing."""
    replicas = str(target.replicas)
    found: tuple[dict[str, str], ...] = (
        {},
        {"downscaler/original-replicas": replicas},
        {"downscaler/original-replicas": replicas, "downscaler/uptime": "Mon-Fri 07:00-20:00 UTC"},
        {"kube-green.dev/original-replicas": replicas},
        {"original-replicas": replicas},
        {"previous-replicas": replicas, "scaled-by": chance.choice("who", _WHO)},
        {"scaled-down-at": _day(chance)},
        {"ops/paused-by": chance.choice("who", _WHO), "ops/replicas": replicas},
        {"ops/note": chance.choice("why", _WHY)},
        {"kubernetes.io/change-cause": f"scale for {chance.choice('why', _WHY)}"},
        {"ticket": f"OPS-{chance.between('ticket', 1100, 9800)}"},
    )
    return chance.choice("notes", found)


def _day(chance: Chance) -> str:
    """A date of the months before."""
    return f"2026-{chance.between('month', 4, 7):02d}-{chance.between('day', 1, 28):02d}"
