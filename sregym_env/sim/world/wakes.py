"""Which keys of a control loop a change wakes."""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.sim.world.simworld import SimWorld, Wake
from sregym_env.sim.world.store import Change, Key


def own_key(_: SimWorld, change: Change) -> Iterable[Key]:
    """Wake for the changed object itself."""
    return (change.key,)


def owner_keys(kind: str) -> Wake:
    """Wake the controlling owner of ``kind`` of the changed object."""

    def wake(_: SimWorld, change: Change) -> Iterable[Key]:
        for owner in change.object["metadata"].get("ownerReferences", ()):
            if owner.get("controller") and owner["kind"] == kind:
                yield (change.key[0], owner["name"])

    return wake
