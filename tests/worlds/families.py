"""What the tests of variation know of an application: drawn members of its family, and what can be struck."""

from __future__ import annotations

from functools import cache

from parcel_tracking import APP as PARCEL

from sregym_env import apps
from sregym_env.cluster.app import App
from sregym_env.cluster.deploy import deploy
from sregym_env.cluster.inventory import Inventory
from sregym_env.faults.registry import declarations
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import bare_cluster, deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds.variation import vary

HOTEL = apps.app("hotel-reservation")
APPS = (HOTEL, PARCEL)


def member(app: App, number: int) -> App:
    """A drawn member of an application's family."""
    return vary(app, Chance(("member", app.name, number)))


def brought_up(app: App, number: int) -> EmbeddedWorld:
    """A world in which an application runs and has served its users for some minutes."""
    world = bare_cluster(number % 8)
    world.app = app
    deploy(world)
    world.advance(300.0)
    return world


@cache
def published_pairs(name: str) -> frozenset[tuple[str, str]]:
    """(fault, target) of everything that can be struck in an application as it is published."""
    app = next(app for app in APPS if app.name == name)
    return pairs(Inventory.of(deployed_world(app)))


def pairs(inventory: Inventory) -> frozenset[tuple[str, str]]:
    """(fault, target) of everything that can be struck. Which volumes share a node differs, their number does not."""
    return frozenset(
        (each.name, target.name) for each in declarations() for target in each.targets.find(inventory)
    )
