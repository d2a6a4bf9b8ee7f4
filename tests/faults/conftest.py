"""A healthy inventory without a world: what placement would give on three nodes."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory, Volume, declared


@pytest.fixture(scope="session")
def inventory() -> Inventory:
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
