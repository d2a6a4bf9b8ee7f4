"""The present: innocent changes in the hours before an incident and while it goes unnoticed."""

from __future__ import annotations

from collections.abc import Collection

from sregym_env.cluster.api import World
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.runtime.chance import Chance


def before(world: World, chance: Chance, near: Collection[str]) -> None:
    """Zero to three innocent changes over some hours, which end healthy."""


def meanwhile(world: World, chance: Chance, seconds: float, touched: Collection[str]) -> list[ObjectKey]:
    """Let time pass, with innocent changes of what does not depend on the components that are ``touched``.

    Returns the objects that were changed.
    """
    world.advance(seconds)
    return []
