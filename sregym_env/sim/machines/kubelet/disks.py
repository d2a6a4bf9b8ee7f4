"""The disk of a machine as its kubelet watches it: what is free of it, and how much the kubelet's settings want free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.containers import node_files, spooling
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.sim.programs.yaml_files import document, under
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.figures import FOR_USERS

SIGNALS = ("nodefs.available", "imagefs.available")
"""What of a disk may run short; both lie on the same one."""
USUAL = ("10%", "15%")
"""What a kubelet wants of each that is told nothing (``eviction.DefaultEvictionHard``)."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """A disk of which less is free than its kubelet wants."""

    threshold: int
    """Bytes."""
    available: int


def shortage(world: SimWorld, node: Manifest) -> Shortage | None:
    """What a machine's disk lacks by the settings of its kubelet; those that it had when its machine was set up it meets unless
    somebody has filled the disk since."""
    wanted, free = _wanted(world, node), available(world, node["metadata"]["name"])
    short = next((each for each in wanted if free < each), None)
    return None if short is None else Shortage(short, free)


def watched(world: SimWorld, node: str) -> bool:
    """Whether a machine's disk may be short: its kubelet was given other settings, or programs fill it."""
    return bool(kubelet_unit.loaded_text(world, node) or spooling.held(world, node))


def available(world: SimWorld, node: str) -> int:
    """Bytes of a machine's disk that are free for users."""
    return max(int((spooling.room(world, node) - spooling.filled(world, node)) * FOR_USERS), 0)


def until_short(world: SimWorld, node: Manifest) -> int | None:
    """Microseconds until a disk that fills will be short, as things go now; None where it does not fill."""
    name = node["metadata"]["name"]
    knots, wanted = spooling.held(world, name), _wanted(world, node)
    if not knots or knots[-1].slope <= 0 or not wanted:
        return None
    left = available(world, name) - max(wanted)
    return max(int(left / FOR_USERS / knots[-1].slope * SECOND), 0)


def to_collect(world: SimWorld, node: Manifest) -> int:
    """Bytes that a kubelet would free by removing images, by what its settings say of that; 0 where there is no need."""
    name = node["metadata"]["name"]
    size, left = spooling.size(world, name), available(world, name)
    high, low = _collecting(_settings(world, name))
    if not size or 100 - left * 100 // size < high:
        return 0
    return size * (100 - low) // 100 - left


def _settings(world: SimWorld, name: str) -> str:
    """The configuration by which a machine's kubelet runs."""
    text = kubelet_unit.loaded_text(world, name)
    return text or node_files.machine_files(node_files.setup(world, name))[node_files.CONFIG]


@lru_cache(maxsize=64)
def _collecting(text: str) -> tuple[int, int]:
    """Percent of a disk in use at which images are removed, and those down to which."""
    try:
        config = document(text)
    except ValueError:
        config = None
    found = (under(config, "imageGCHighThresholdPercent"), under(config, "imageGCLowThresholdPercent"))
    high, low = (each if isinstance(each, int) and 0 < each <= 100 else None for each in found)
    return 85 if high is None else high, 80 if low is None else low


def _wanted(world: SimWorld, node: Manifest) -> list[int]:
    """Bytes that a kubelet wants to be free, signal by signal."""
    name = node["metadata"]["name"]
    hard = _hard(_settings(world, name))
    size = spooling.size(world, name)
    found = (kubelet_unit.threshold(wanted, size) for wanted in hard)
    return [each for each in found if each is not None]


@lru_cache(maxsize=64)
def _hard(text: str) -> tuple[str, ...]:
    """The thresholds of a configuration, in the order of the signals; empty where there is none."""
    try:
        found = under(document(text), "evictionHard")
    except ValueError:
        return ()
    if found is None:
        return USUAL
    return tuple(str(found.get(signal, "")) for signal in SIGNALS) if isinstance(found, dict) else ()
