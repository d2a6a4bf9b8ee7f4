"""Fixtures of the served cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.identity import ADMIN, User
from sregym_env.serve.access import Identities
from sregym_env.serve.app import Application
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.moment import caught_up, wall
from sregym_env.serve.pace import Pace
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Served, served

NOBODY = User("nobody")


@pytest.fixture(scope="session")
def settled() -> EmbeddedWorld:
    """Hotel Reservation, healthy, now: clients have clocks. Fork it before changing anything."""
    return deployed_world(APP, present=wall())


@pytest.fixture
def world(settled: EmbeddedWorld) -> EmbeddedWorld:
    """A world of the test's own."""
    return settled.fork()


@pytest.fixture
def application(world: EmbeddedWorld) -> Application:
    """The ASGI application without a server, in step mode."""
    identities = Identities({"admin": ADMIN, "nobody": NOBODY})
    return Application(Hosted(Pace(world, "step"), identities))


@pytest.fixture(scope="session")
def running(settled: EmbeddedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a loopback port."""
    with served(settled.fork(), tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture
def server(running: Served, world: EmbeddedWorld) -> Served:
    """The server, serving the test's own world in real time."""
    caught_up(world)
    running.put(world, "real")
    return running


@pytest.fixture
def kubectl(server: Served) -> Served:
    """The server and a real kubectl; skips where there is none."""
    if server.binary is None:
        pytest.skip("no kubectl 1.32 on this machine")
    return server


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """A Deployment in a file."""
    path = tmp_path / "web.yaml"
    path.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        "    spec:\n      containers:\n      - {name: c, image: 'busybox:1.36', command: [sleep, '3600']}\n"
    )
    return path
