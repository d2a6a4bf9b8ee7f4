"""The images that a machine has."""

from __future__ import annotations

from sregym_env.kube.pulling import canonical
from sregym_env.sim.world import SimWorld


def present(world: SimWorld, node: str) -> tuple[str, ...]:
    """Full references of the images on a node, in the order in which they were pulled."""
    found: tuple[str, ...] = world.memory.get(f"images:{node}", ())
    return found


def add(world: SimWorld, node: str, reference: str) -> None:
    """Note that a node has an image now."""
    known = present(world, node)
    full = canonical(reference)
    if full not in known:
        world.memory[f"images:{node}"] = (*known, full)


def drop(world: SimWorld, node: str, reference: str) -> bool:
    """Take an image from a node; whether it was there."""
    known = present(world, node)
    full = canonical(reference)
    world.memory[f"images:{node}"] = tuple(each for each in known if each != full)
    return full in known
