"""Every implementation of a world in turn, healthy and with users."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sregym_env.cluster.api import World
from sregym_env.sim.bringup.deploy import deployed_world
from tests.serve.serving import Served, served
from tests.world.worlds import APP, empty_cluster, over_http


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running server; each test puts its own world on it."""
    with served(empty_cluster(), tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture(params=["embedded", "over_http"])
def world(request: pytest.FixtureRequest) -> World:
    """A world of its own."""
    made = deployed_world(APP, 0)
    return made if request.param == "embedded" else over_http(request.getfixturevalue("server"), made)


@pytest.fixture(params=["embedded", "over_http"])
def bare(request: pytest.FixtureRequest) -> World:
    """A cluster in which the application is not deployed yet."""
    made = empty_cluster()
    return made if request.param == "embedded" else over_http(request.getfixturevalue("server"), made)
