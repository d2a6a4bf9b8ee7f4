"""Every (fault, target) pair that can be played on the embedded cluster."""

from __future__ import annotations

from functools import cache

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory
from sregym_env.faults import problems
from sregym_env.faults.problems import Problem
from sregym_env.sim.bringup.deploy import deployed_world


def pairs(app: str | None = None, fault: str | None = None, target: str | None = None) -> tuple[Problem, ...]:
    """Every pair of every application, or those that match.

    Raises ProblemError where the app, the fault or the target does not exist.
    """
    return problems.pairs(inventory_of, app, fault, target)


@cache
def inventory_of(app: str) -> Inventory:
    """What the healthy world of an application holds."""
    return Inventory.of(deployed_world(apps.app(app), 0))
