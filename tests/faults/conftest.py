"""Inventories in which faults are declared to strike: of every application, and one made by hand."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory, Volume, declared
from sregym_env.sim.bringup.deploy import deployed_world


@pytest.fixture(scope="session", params=apps.names())
def every_inventory(request: pytest.FixtureRequest) -> Inventory:
    """What can be struck in each application."""
    return Inventory.of(deployed_world(apps.app(request.param)))


@pytest.fixture(scope="session")
def inventory() -> Inventory:
    """What placement would give on three nodes, without a world."""
    app = apps.app("hotel-reservation")
    nodes = ("sre-worker", "sre-worker2", "sre-worker3")
    stateful = [component for component in app.components if component.volume]
    return Inventory(
        app=app,
        pods=(),
        volumes=tuple(
            Volume(c.name, c.volume, f"pvc-{c.name}", nodes[(index + 1) // 3])
            for index, c in enumerate(stateful)
        ),
        nodes=nodes,
        node_memory=16 * 1024**3,
        declared=declared(app),
    )
