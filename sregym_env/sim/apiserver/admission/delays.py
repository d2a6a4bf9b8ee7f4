"""How long webhooks keep a person's request waiting, and how long it may wait.

The world stands still while a request is judged. What its webhooks took is kept in the world's memory until whoever
carries the request takes it and lets that much time pass, before the answer is heard. What the cluster's own components
ask is answered at once; a control loop that was refused tries again as much later (:func:`held`).
"""

from __future__ import annotations

from sregym_env.cluster.identity import User
from sregym_env.sim.apiserver import identities
from sregym_env.sim.world import SimWorld

SLOT = "cache.delays"
LIMIT = "cache.limit"
HELD = "cache.held"
"""Entries of these kinds are no part of a world's digest."""

REQUEST_SECONDS = 34.0
"""What a request may take in all, webhooks included (``requestTimeoutUpperBound`` of the API server)."""


def add(world: SimWorld, user: User, seconds: float) -> None:
    """Note that a request of somebody has waited."""
    if seconds > 0:
        slot = HELD if identities.is_component(user) else SLOT
        world.memory[slot] = world.memory.get(slot, 0.0) + seconds


def held(world: SimWorld) -> float:
    """Seconds that requests of the cluster's own components have waited since this was last asked."""
    found: float = world.memory.pop(HELD, 0.0)
    return found


def take(world: SimWorld, limit: float = 0.0) -> float:
    """Seconds since they were last taken. What is asked next may take ``limit`` seconds, where that is given."""
    world.memory.pop(LIMIT, None)
    if limit > 0:
        world.memory[LIMIT] = limit
    found: float = world.memory.pop(SLOT, 0.0)
    return found


def most(world: SimWorld, user: User) -> float:
    """How many seconds a request of somebody may take."""
    if identities.is_component(user):
        return REQUEST_SECONDS
    return min(float(world.memory.get(LIMIT, REQUEST_SECONDS)), REQUEST_SECONDS)
