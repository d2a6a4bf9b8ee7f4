"""Every (fault, target) pair that can be played on the embedded cluster."""

from __future__ import annotations

from functools import cache

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory
from sregym_env.errors import AppError, ProblemError
from sregym_env.faults import problems
from sregym_env.faults.problems import Problem
from sregym_env.faults.registry import declarations
from sregym_env.sim.bringup.deploy import deployed_world


def pairs(app: str | None = None, fault: str | None = None, target: str | None = None) -> tuple[Problem, ...]:
    """Every pair of every application, or those that match.

    An application whose pairs cannot be listed is left out with a warning, unless it is the one that was asked
    for. Raises ProblemError where the app, the fault or the target does not exist, AppError for an app that was
    asked for and cannot be listed.
    """
    return problems.pairs(inventory_of, app, fault, target)


@cache
def inventory_of(app: str) -> Inventory | AppError:
    """What the healthy world of an application holds, or why it cannot be told."""
    # What is wrong with a fault is told of the fault.
    known = declarations()
    try:
        inventory = Inventory.of(deployed_world(apps.app(app), 0))
        for each in known:
            each.targets.find(inventory)
    except AppError as error:
        return error
    except ProblemError:
        raise
    except Exception as error:  # another distribution's declaration may be wrong in any way
        return AppError(
            f"application {app} cannot be listed: {type(error).__name__}: {error}; "
            "correct its components and manifests (CONTRIBUTING.md, Add an application)"
        )
    return inventory
