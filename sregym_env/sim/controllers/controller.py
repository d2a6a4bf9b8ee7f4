"""What a controller is: a level-triggered function over keys, woken by changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sregym_env.kube.registry import BUILTIN
from sregym_env.runtime.clock import MILLISECOND
from sregym_env.sim.store import Change, Key

if TYPE_CHECKING:
    from sregym_env.sim.world import SimWorld

Wake = Callable[["SimWorld", Change], Iterable[Key]]
"""Which of a controller's keys a change concerns."""

CUSTOM = "*"
"""In the place of a registry key: every resource that is not built in."""


def is_custom(resource: str) -> bool:
    """Whether the key is that of a custom resource."""
    return BUILTIN.by_key(resource) is None


Reconcile = Callable[["SimWorld", Key], int | None]
"""Bring one key closer to what is wanted; microseconds after which to look again, or None."""


@dataclass(frozen=True, slots=True)
class Controller:
    """A named control loop.

    ``watches`` maps registry keys of resources (or :data:`CUSTOM`) to wake functions. A woken key is reconciled once,
    ``latency`` microseconds later, however many changes woke it. ``reconcile`` must look at the state as it
    is, never at what woke it.
    """

    name: str
    watches: Mapping[str, Wake]
    reconcile: Reconcile
    latency: int = 20 * MILLISECOND


def own_key(_: SimWorld, change: Change) -> Iterable[Key]:
    """Wake for the changed object itself."""
    return (change.key,)


@dataclass(frozen=True, slots=True)
class OwnerKeys:
    """A wake function: the controlling owner of ``kind`` of the changed object."""

    kind: str

    def __call__(self, _: SimWorld, change: Change) -> Iterable[Key]:
        """The owner's key, if there is one."""
        for owner in change.object["metadata"].get("ownerReferences", ()):
            if owner.get("controller") and owner["kind"] == self.kind:
                yield (change.key[0], owner["name"])
