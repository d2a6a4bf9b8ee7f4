"""Which keys of a control loop a change wakes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sregym_env.sim.world.simworld import SimWorld
from sregym_env.sim.world.store import Change, Key


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
