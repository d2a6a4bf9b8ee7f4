"""The processes of a machine as its kubelet watches them: how many are left, how many its settings want, and how many a pod may have."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sregym_env.runtime.clock import MILLISECOND, SECOND
from sregym_env.sim.containers import pids
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.sim.programs.yaml_files import document, under
from sregym_env.sim.world import SimWorld

SIGNAL = "pid.available"
"""What a kubelet that is told nothing does not watch (``eviction.DefaultEvictionHard``)."""


class Shortage(NamedTuple):
    """A machine with fewer processes left than its kubelet wants."""

    threshold: int
    available: int


class Told(NamedTuple):
    """What a kubelet's configuration says of processes."""

    hard: str
    """Its threshold; empty for none."""
    most: int
    """``podPidsLimit``; 0 for no bound."""


def shortage(world: SimWorld, node: str) -> Shortage | None:
    """What a machine lacks by the settings of its kubelet."""
    wanted = _wanted(world, node)
    if not wanted:
        return None
    left = available(world, node)
    return Shortage(wanted, left) if left < wanted else None


def watched(world: SimWorld, node: str) -> bool:
    """Whether a machine's kubelet counts processes: it was given a threshold."""
    return bool(_told(kubelet_unit.loaded_text(world, node)).hard)


def available(world: SimWorld, node: str) -> int:
    """Processes that a machine's kernel has left."""
    return max(pids.bound(world, node) - pids.used(world, node), 0)


def until_short(world: SimWorld, node: str) -> int | None:
    """Microseconds until a machine will be short, as things go now; None where nothing is gathered."""
    knots, wanted = pids.held(world, node), _wanted(world, node)
    if not knots or knots[-1].slope <= 0.0 or not wanted:
        return None
    left = available(world, node) - wanted
    return max(int(left / knots[-1].slope * SECOND) + MILLISECOND, 0)


def of_pods(world: SimWorld, node: str) -> int:
    """Processes that a pod may have which is started now; 0 for no bound."""
    return _told(kubelet_unit.loaded_text(world, node)).most


def _wanted(world: SimWorld, node: str) -> int:
    hard = _told(kubelet_unit.loaded_text(world, node)).hard
    return (kubelet_unit.threshold(hard, pids.bound(world, node)) or 0) if hard else 0


@lru_cache(maxsize=64)
def _told(text: str) -> Told:
    if not text:
        return Told("", 0)
    try:
        config = document(text)
    except ValueError:
        return Told("", 0)
    hard, most = under(config, "evictionHard"), under(config, "podPidsLimit")
    number = most if isinstance(most, int) and not isinstance(most, bool) else 0
    return Told(str(hard.get(SIGNAL, "")) if isinstance(hard, dict) else "", max(number, 0))
