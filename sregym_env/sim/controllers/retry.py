"""Trying again: the rate-limited queue that every Kubernetes control loop sits behind."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.kube.status import StatusError
from sregym_env.runtime.clock import MILLISECOND, SECOND
from sregym_env.sim.apiserver import admission
from sregym_env.sim.world import Reconcile, SimWorld
from sregym_env.sim.world.store import Key

FIRST_DELAY = 5 * MILLISECOND
LONGEST_DELAY = 1000 * SECOND
"""client-go's DefaultControllerRateLimiter: 5 ms, doubled with every failure in a row, at most 1000 s."""


@dataclass(frozen=True, slots=True)
class Retried:
    """A reconcile function, tried again with exponential backoff for as long as the API refuses what it does.

    A worker of the real loop hears a refusal only when the webhooks that were asked have answered, or were given up: so
    much later it tries again.
    """

    name: str
    """The controller's; failures in a row are counted per key and forgotten on success."""
    reconcile: Reconcile
    first: int = FIRST_DELAY
    longest: int = LONGEST_DELAY

    def __call__(self, world: SimWorld, key: Key) -> int | None:
        """Reconcile one key; microseconds after which to look again, or None."""
        memory = world.memory
        slot = f"retry:{self.name}:{key[0]}/{key[1]}"
        admission.held(world)
        try:
            again = self.reconcile(world, key)
        except StatusError:
            failures: int = memory.get(slot, 0)
            memory[slot] = failures + 1
            heard = round(admission.held(world) * SECOND)
            return heard + min(self.first << min(failures, 20), self.longest)
        if slot in memory:
            del memory[slot]
        return again


def retried(
    name: str, reconcile: Reconcile, first: int = FIRST_DELAY, longest: int = LONGEST_DELAY
) -> Reconcile:
    """``reconcile`` of the controller ``name``, tried again as :class:`Retried` says."""
    return Retried(name, reconcile, first, longest)


def sooner(*delays: int | None) -> int | None:
    """The shortest of some delays; None stands for never."""
    known = [delay for delay in delays if delay is not None]
    return min(known) if known else None
