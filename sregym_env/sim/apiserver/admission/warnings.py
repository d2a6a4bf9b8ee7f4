"""Warnings of the last request: what admission tells the client besides its answer.

They are kept in the world's memory from the request until its client takes them; nothing in the world depends
on them. What the cluster's own components do warns nobody.
"""

from __future__ import annotations

from sregym_env.cluster.identity import User
from sregym_env.sim.apiserver import identities
from sregym_env.sim.apiserver.admission.attributes import Attributes
from sregym_env.sim.world import SimWorld

SLOT = "cache.warnings"
"""Entries of this kind are no part of a world's digest."""
MOST = 64
"""Warnings kept while nobody takes them."""


def add(world: SimWorld, request: Attributes, text: str) -> None:
    """Warn the client of a request; the same text once."""
    tell(world, request.user, text)


def tell(world: SimWorld, user: User, text: str) -> None:
    """Warn whoever has just asked something; the same text once."""
    if identities.is_component(user):
        return
    known: tuple[str, ...] = world.memory.get(SLOT, ())
    if text not in known and len(known) < MOST:
        world.memory[SLOT] = (*known, text)


def take(world: SimWorld) -> tuple[str, ...]:
    """The warnings since they were last taken, in order."""
    found: tuple[str, ...] = world.memory.pop(SLOT, ())
    return found
