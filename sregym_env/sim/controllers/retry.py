"""Trying again: the rate-limited queue that every Kubernetes control loop sits behind."""

from __future__ import annotations

from sregym_env.kube.status import StatusError
from sregym_env.runtime.clock import MILLISECOND, SECOND
from sregym_env.sim.world import Reconcile, SimWorld
from sregym_env.sim.world.store import Key

FIRST_DELAY = 5 * MILLISECOND
LONGEST_DELAY = 1000 * SECOND
"""client-go's DefaultControllerRateLimiter: 5 ms, doubled with every failure in a row, at most 1000 s."""


def retried(name: str, reconcile: Reconcile) -> Reconcile:
    """``reconcile``, tried again with exponential backoff for as long as the API refuses what it does.

    ``name`` is the controller's; failures in a row are counted per key and forgotten on success.
    """

    def guarded(world: SimWorld, key: Key) -> int | None:
        memory = world.memory
        slot = f"retry:{name}:{key[0]}/{key[1]}"
        try:
            again = reconcile(world, key)
        except StatusError:
            failures: int = memory.get(slot, 0)
            memory[slot] = failures + 1
            return min(FIRST_DELAY << min(failures, 20), LONGEST_DELAY)
        if slot in memory:
            del memory[slot]
        return again

    return guarded


def sooner(*delays: int | None) -> int | None:
    """The shortest of some delays; None stands for never."""
    known = [delay for delay in delays if delay is not None]
    return min(known) if known else None
