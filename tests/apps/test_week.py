"""Every bundled application, healthy under its load for a week of virtual time."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.rewards.baseline import capture
from sregym_env.rewards.checks import failing_journeys
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds.lived import lived_world

DAY, LOOK = 86_400.0, 600.0

LARGEST = "astronomy-shop"
"""What takes half a minute."""


@pytest.mark.parametrize("name", apps.bundled())
def test_as_published_it_serves_its_users_for_a_week(name: str) -> None:
    world = deployed_world(apps.app(name), seed=3)
    before = restarts(world)
    serves_for_a_week(world)
    assert restarts(world) == before
    assert not [alert for alert in world.alerts() if alert.state == "firing"]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.exhaustive if name == LARGEST else ()) for name in apps.bundled()],
)
def test_with_a_past_it_serves_its_users_for_another_week(name: str) -> None:
    serves_for_a_week(lived_world(apps.app(name), Chance(("week", name))))


def serves_for_a_week(world: EmbeddedWorld) -> None:
    baseline = capture(world)
    for day in range(1, 8):
        world.advance(DAY)
        assert not failing_journeys(world.traffic.health(LOOK), world.app.slo, baseline, LOOK), day


def restarts(world: EmbeddedWorld) -> dict[str, int]:
    """Restarts of the application's pods by name."""
    return {
        pod["metadata"]["name"]: sum(each["restartCount"] for each in pod["status"]["containerStatuses"])
        for space in world.app.namespaces
        for pod in world.cluster.list("pods", space)
    }
