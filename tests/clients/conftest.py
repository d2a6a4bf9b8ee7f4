"""Fixtures of the client suites: worlds to be read and changed, one server, and the clients pointed at it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sregym_env.apps.hotel_reservation import APP
from sregym_env.sim.bringup.deploy import bare_cluster, deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Served, served

EVERYTHING = Path(__file__).parent / "everything.yaml"
"""One object of every kind that a person can create."""

PATIENCE = 150.0
"""Seconds after which a test whose client still waits for something has failed."""


@pytest.fixture(autouse=True)
def _impatience() -> Iterator[None]:
    """Clients wait for ever for what does not come; tests do not."""

    def fail(signum: int, frame: object) -> None:
        raise TimeoutError(f"the client still waits after {PATIENCE:.0f} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def manifests() -> list[dict[str, Any]]:
    """The objects of the file above."""
    return list(yaml.safe_load_all(EVERYTHING.read_text()))


@pytest.fixture(scope="session")
def settled() -> EmbeddedWorld:
    """Hotel Reservation, healthy. Fork it before changing anything."""
    return deployed_world(APP)


@pytest.fixture(scope="session")
def furnished() -> EmbeddedWorld:
    """A cluster with one object of every kind and their consequences. Fork it before changing anything."""
    world = bare_cluster()
    for manifest in manifests():
        world.cluster.create(manifest)
    world.advance(130)
    return world


@pytest.fixture(scope="session")
def running(settled: EmbeddedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a loopback port."""
    with served(settled.fork(), tmp_path_factory.mktemp("served"), "real") as found:
        yield found


@pytest.fixture
def server(running: Served, settled: EmbeddedWorld) -> Served:
    """The server, serving a healthy Hotel Reservation of the test's own in real time."""
    running.put(settled.fork(), "real")
    return running


@pytest.fixture
def bare(running: Served) -> Served:
    """The server, serving a cluster of the test's own with nothing deployed, in real time."""
    running.put(bare_cluster(), "real")
    return running


@pytest.fixture
def kubectl(bare: Served) -> Served:
    """The server with an empty cluster, and a real kubectl; skips where there is none."""
    if bare.binary is None:
        pytest.skip("no kubectl 1.32 on this machine")
    return bare
