"""The disk of a machine as its kubelet watches it: what is free of it, and how much the kubelet's settings want free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.quantity import bytes_
from sregym_env.kube.types import Manifest
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.sim.programs.yaml_files import document, under
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.figures import FOR_USERS, disk_used

SIGNALS = ("nodefs.available", "imagefs.available")
"""What of a disk may run short; both lie on the same one."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """A disk of which less is free than its kubelet wants."""

    threshold: int
    """Bytes."""
    available: int


def shortage(world: SimWorld, node: Manifest) -> Shortage | None:
    """What a machine's disk lacks by the settings of its kubelet; those that it had when its machine was set up it meets."""
    text = kubelet_unit.loaded_text(world, node["metadata"]["name"])
    if not text:
        return None
    hard = _hard(text)
    if not hard:
        return None
    size = int(bytes_(str((node.get("status") or {}).get("capacity", {}).get("ephemeral-storage", "0"))))
    free = int(size * (1.0 - disk_used(world.plan, node["metadata"]["name"])) * FOR_USERS)
    for signal in SIGNALS:
        wanted = kubelet_unit.threshold(str(hard.get(signal, "")), size)
        if wanted is not None and free < wanted:
            return Shortage(wanted, free)
    return None


def _hard(text: str) -> Mapping[str, Any]:
    try:
        found = under(document(text), "evictionHard")
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}
