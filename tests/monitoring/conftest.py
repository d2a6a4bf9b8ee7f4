"""A healthy Hotel Reservation, and one whose users have lost a service."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld

APP = apps.app("hotel-reservation")
NAMESPACE = APP.namespace


@pytest.fixture(scope="session")
def _healthy() -> EmbeddedWorld:
    world = deployed_world(APP, 0)
    world.advance(1200.0)
    return world


@pytest.fixture
def healthy(_healthy: EmbeddedWorld) -> EmbeddedWorld:
    """Twenty minutes of users who are served."""
    return _healthy.fork()


@pytest.fixture(scope="session")
def _broken(_healthy: EmbeddedWorld) -> EmbeddedWorld:
    world = _healthy.fork()
    world.cluster.patch("deployments.apps", "reservation", {"spec": {"replicas": 0}}, namespace=NAMESPACE)
    world.advance(600.0)
    return world


@pytest.fixture
def broken(_broken: EmbeddedWorld) -> EmbeddedWorld:
    """The same, ten minutes after a Deployment was scaled to nothing."""
    return _broken.fork()
