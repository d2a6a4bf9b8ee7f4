"""Load in a real world: what a limiter, retries and a surge of users make of each other, and who notices."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.apps import app
from sregym_env.cluster.disturbances import LoadSurge
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.users import plane
from sregym_env.sim.world.strain import STRAINS
from sregym_env.worlds.lived import base_world

HOTEL = app("hotel-reservation")
NAMESPACE = HOTEL.namespace


def well(world: EmbeddedWorld, over: float = 20.0) -> float:
    """Share of the searches that succeed."""
    (search,) = (each for each in world.traffic.health(over) if each.journey == "search")
    return search.success_ratio


def configure(world: EmbeddedWorld, name: str, **env: str) -> None:
    deployment = world.cluster.get("deployments.apps", name, NAMESPACE)
    (container, *_) = deployment["spec"]["template"]["spec"]["containers"]
    variables: list[dict[str, Any]] = [{"name": key, "value": value} for key, value in env.items()]
    patch = {"spec": {"template": {"spec": {"containers": [{"name": container["name"], "env": variables}]}}}}
    world.cluster.patch("deployments.apps", name, patch, namespace=NAMESPACE, type="strategic")
    world.advance(60.0)


@pytest.fixture
def paced() -> EmbeddedWorld:
    """One pod of rate that gets done a quarter more than what comes, with callers who try three times."""
    world = base_world(HOTEL, 5).fork()
    (search,) = (each for each in world.traffic.health(60.0) if each.journey == "search")
    world.cluster.patch(
        "deployments.apps", "rate", {"spec": {"replicas": 1}}, namespace=NAMESPACE, type="merge"
    )
    limit = round(1.25 * search.requests / 60.0)
    configure(world, "rate", RATE_BACKEND_QPS_LIMIT=str(limit), RATE_QUEUE_CAPACITY="256")
    configure(world, "search", RATE_RPC_TIMEOUT_MS="120", RATE_RPC_MAX_ATTEMPTS="3")
    world.advance(60.0)
    return world


def surge(world: EmbeddedWorld, factor: float = 5.0, seconds: float = 30.0) -> None:
    more = LoadSurge(NAMESPACE, factor)
    world.nodes.apply(more)
    world.advance(seconds)
    world.nodes.heal(more)


def test_a_healthy_world_has_no_strains_and_costs_no_looks() -> None:
    world = base_world(HOTEL, 5).fork()
    world.advance(60.0)
    assert STRAINS not in world.memory
    assert plane.NEXT not in world.memory


def test_a_collapse_outlives_its_surge_and_a_restart_helps_until_the_next(paced: EmbeddedWorld) -> None:
    assert well(paced) > 0.99
    surge(paced)
    paced.advance(300.0)
    assert well(paced) < 0.5, "the surge is long gone"
    (name,) = (
        pod["metadata"]["name"]
        for pod in paced.cluster.list("pods", NAMESPACE)
        if pod["metadata"]["name"].startswith("rate-")
    )
    paced.cluster.delete("pods", name, NAMESPACE)
    paced.advance(120.0)
    assert well(paced) > 0.99
    surge(paced)
    paced.advance(300.0)
    assert well(paced) < 0.5


def test_fewer_attempts_end_it_for_good(paced: EmbeddedWorld) -> None:
    surge(paced)
    paced.advance(120.0)
    configure(paced, "search", RATE_RPC_MAX_ATTEMPTS="1")
    paced.advance(240.0)
    surge(paced)
    paced.advance(240.0)
    assert well(paced) > 0.95


def test_forks_go_on_alike_and_apart(paced: EmbeddedWorld) -> None:
    surge(paced)
    one, other = paced.fork(), paced.fork()
    for world in (one, other):
        world.advance(200.0)
    assert one.digest() == other.digest()
    configure(one, "search", RATE_RPC_MAX_ATTEMPTS="1")
    one.advance(400.0)
    other.advance(400.0)
    assert well(one) > 0.9 > well(other)


def test_in_how_many_pieces_time_passes_changes_nothing(paced: EmbeddedWorld) -> None:
    whole, pieces = paced.fork(), paced.fork()
    for world, steps in ((whole, 1), (pieces, 37)):
        surge(world)
        for _ in range(steps):
            world.advance(111.0 / steps)
        world.advance(9.0)
    assert whole.memory[plane.PLANE].state.same_as(pieces.memory[plane.PLANE].state)
    assert [each.success_ratio for each in whole.traffic.health(60.0)] == [
        each.success_ratio for each in pieces.traffic.health(60.0)
    ]


def test_a_full_queue_of_a_limiter_fails_no_health_check(paced: EmbeddedWorld) -> None:
    """What is paced are calls of its handlers; who asks whether it lives is told at once."""
    probe = {
        "httpGet": {"path": "/metrics", "port": 9091},
        "tcpSocket": None,
        "grpc": None,
        "timeoutSeconds": 1,
        "failureThreshold": 3,
    }
    rate = paced.cluster.get("deployments.apps", "rate", NAMESPACE)
    container = rate["spec"]["template"]["spec"]["containers"][0]["name"]
    patch = {"spec": {"template": {"spec": {"containers": [{"name": container, "livenessProbe": probe}]}}}}
    paced.cluster.patch("deployments.apps", "rate", patch, namespace=NAMESPACE, type="strategic")
    paced.advance(120.0)
    assert well(paced) > 0.99
    surge(paced)
    paced.advance(600.0)
    assert well(paced) < 0.5
    (pod,) = (
        pod for pod in paced.cluster.list("pods", NAMESPACE) if pod["metadata"]["name"].startswith("rate-")
    )
    (status,) = pod["status"]["containerStatuses"]
    assert (status["restartCount"], status["ready"]) == (0, True)
