"""A liveness probe in the queue of the requests: well as long as all pods are there, and fatal since a crowd has come and gone."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.apply import apply
from sregym_env.cluster.disturbances import LoadSurge
from sregym_env.cluster.edits import Surge
from sregym_env.cluster.inventory import Inventory
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world.strain import load_of

HOTEL = "hotel-reservation"
TARGET = "search"
MAIN = "hotel-reserv-search"


def _served(world: EmbeddedWorld, over: float) -> float:
    """The share of the worst journey's requests that succeed."""
    return min(journey.success_ratio for journey in world.traffic.health(over))


def _unprobed(world: EmbeddedWorld) -> None:
    probe = {"op": "remove", "path": "/spec/template/spec/containers/0/livenessProbe"}
    world.cluster.patch("deployments.apps", TARGET, [probe], namespace=HOTEL, type="json")
    world.advance(120.0)


def _restarts(world: EmbeddedWorld) -> int:
    return sum(
        status["restartCount"]
        for pod in world.cluster.list("pods", HOTEL, label_selector=f"io.kompose.service={TARGET}")
        for status in pod["status"].get("containerStatuses") or ()
    )


@pytest.fixture(scope="module")
def bound() -> tuple[EmbeddedWorld, FaultInstance]:
    """The published world with probe and limits, and nobody more than usual."""
    world = deployed_world(apps.app(HOTEL))
    instance = declaration("liveness_kills_under_load").bind(Inventory.of(world), TARGET)
    for edit in (*instance.fault.earlier, *instance.fault.edits):
        apply(world, edit)
        world.advance(60.0)
    return world, instance


def test_probe_and_limits_harm_nobody_by_themselves(bound: tuple[EmbeddedWorld, FaultInstance]) -> None:
    world = bound[0].fork()
    world.advance(900.0)
    assert _served(world, 600.0) > 0.99
    assert _restarts(world) == 0


def test_the_killing_outlives_the_crowd(bound: tuple[EmbeddedWorld, FaultInstance]) -> None:
    world, instance = bound[0].fork(), bound[1]
    instance.replay(world)
    assert not any(isinstance(each, LoadSurge) for each in world.disturbances)
    for _ in range(3):
        before = _restarts(world)
        world.advance(600.0)
        assert _served(world, 600.0) < 0.5
        assert _restarts(world) > before


def test_without_the_probe_the_same_crowd_is_worked_off(
    bound: tuple[EmbeddedWorld, FaultInstance],
) -> None:
    world, instance = bound[0].fork(), bound[1]
    _unprobed(world)
    instance.replay(world)
    world.advance(120.0)
    assert _served(world, 60.0) > 0.99
    assert _restarts(world) == 0


def test_a_crowd_keeps_a_queue_longer_than_those_who_are_always_there(
    bound: tuple[EmbeddedWorld, FaultInstance],
) -> None:
    world, instance = bound[0].fork(), bound[1]
    (surge,) = instance.fault.trigger
    assert isinstance(surge, Surge)
    _unprobed(world)
    waits = []
    for crowd in (False, True):
        trial = world.fork()
        trial.nodes.apply(LoadSurge(surge.namespace, surge.factor, crowd))
        trial.advance(60.0)
        strains, _ = load_of(trial)
        waits.append(
            max(each.wait for key, each in strains.items() if trial.processes[key].container == MAIN)
        )
    # As many times as long as there are users.
    assert waits[1] > 1.5 * waits[0]
    assert waits[1] > 1.0


def test_what_a_limiter_paces_is_no_target() -> None:
    """Health checks and metrics pass its queue by."""
    inventory = Inventory.of(deployed_world(apps.app(HOTEL)))
    struck = {target.name for target in declaration("liveness_kills_under_load").targets.find(inventory)}
    assert struck == {"search", "frontend"}
