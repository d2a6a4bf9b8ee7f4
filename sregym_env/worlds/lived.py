"""Worlds that have lived: drawn clusters with tenants, a drawn application and a past, one for every episode.

Bringing such a world up takes some tenths of a second. So a number of base worlds is kept per application, and an
episode's world is a fork of one that a keyed hash picks, with identities of its own and some hours later.
"""

from __future__ import annotations

from collections import OrderedDict

from sregym_env.cluster.app import App
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld

BASES = 64
"""Base worlds per application."""

ATTEMPTS = 4
"""How often a base world is drawn anew that turns out not to serve its users."""

LATER_SECONDS = (300.0, 9 * 3600.0)
"""How long an episode's world has lived on by itself since its base world was made."""

# Worlds are values here: made of (app, number) alone, so that threads that make one at once make equal ones.
_bases: OrderedDict[tuple[str, int], tuple[App, EmbeddedWorld]] = OrderedDict()


def lived_world(app: App, chance: Chance) -> EmbeddedWorld:
    """A world with ``app`` healthy and under load that differs for every chance. Raises AppError."""
    world = _base(app, chance.below("base", BASES)).fork()
    world.reseed(chance.bits("seed") >> 1)
    world.advance(chance.uniform("later", *LATER_SECONDS))
    return world


def _base(app: App, number: int) -> EmbeddedWorld:
    known = _bases.get((app.name, number))
    # Another application may have the same name.
    if known is None or known[0] is not app:
        known = _bases[(app.name, number)] = (app, _settled(app, number).fork())
    return known[1]


def _settled(app: App, number: int) -> EmbeddedWorld:
    return deployed_world(app, number)
