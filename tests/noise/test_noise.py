"""Noise is seeded, stays within its horizon, and heals by itself."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from sregym_env import apps
from sregym_env.cluster.forkable import ScheduledAction
from sregym_env.cluster.victims import victim
from sregym_env.noise import KINDS, NoiseConfig, schedule
from sregym_env.runtime.clock import SECOND


class Recorder:
    """A world that only remembers what was scheduled."""

    def __init__(self, *namespaces: str) -> None:
        self.app = SimpleNamespace(namespaces=namespaces or ("hotel-reservation",))
        self.scheduled: list[tuple[float, ScheduledAction]] = []

    def schedule(self, delay_seconds: float, action: ScheduledAction) -> None:
        self.scheduled.append((delay_seconds, action))


def scheduled(seed: int, config: Any = True) -> list[tuple[float, ScheduledAction]]:
    world = Recorder()
    schedule(world, seed, config)  # type: ignore[arg-type]
    return world.scheduled


def test_two_kinds_every_five_minutes() -> None:
    found = scheduled(7)
    times = sorted({time for time, _ in found})
    assert all(later - sooner == pytest.approx(300.0) for sooner, later in itertools.pairwise(times))
    assert len(found) == 2 * len(times)
    assert times[-1] < NoiseConfig().horizon_seconds


def test_the_seed_decides() -> None:
    assert scheduled(7) == scheduled(7)
    assert scheduled(7) != scheduled(8)


def test_every_disturbance_ends() -> None:
    for _, action in scheduled(3):
        assert action.kind == "delete_pod" or action.seconds > 0
        assert 0 <= action.draw < 1


def test_every_namespace_of_an_application_meets_noise() -> None:
    world = Recorder("web", "data")
    schedule(world, 3, {"kinds": ["pod_kill"], "concurrent": 1})  # type: ignore[arg-type]
    struck = [action.arguments[0] for _, action in world.scheduled]
    assert set(struck) == {"web", "data"}
    alone = [action.draw for _, action in scheduled(3, {"kinds": ["pod_kill"], "concurrent": 1})]
    assert [2 * draw % 1.0 for draw in alone] == [action.draw for _, action in world.scheduled]


def pod(
    name: str, *, phase: str = "Running", state: str = "running", crashed: str = "", count: int = 0
) -> dict[str, Any]:
    ended = {"terminated": {"finishedAt": crashed}} if crashed else {}
    container = {"name": "c", "state": {state: {}}, "lastState": ended, "restartCount": count}
    return {"metadata": {"name": name}, "status": {"phase": phase, "containerStatuses": [container]}}


@pytest.mark.parametrize(
    ("case", "struck"),
    [
        (pod("web-1"), True),
        (pod("web-1", phase="Pending", state="waiting"), True),
        (pod("web-1", phase="Succeeded", state="terminated"), False),
        (pod("web-1", state="waiting", count=3), False),
        (pod("web-1", crashed="1970-01-01T01:51:00Z", count=1), False),
        (pod("web-1", crashed="1970-01-01T01:49:00Z", count=1), True),
        (pod("consul-1"), False),
        ({**pod("web-1"), "metadata": {"name": "web-1", "deletionTimestamp": "1970-01-01T02:00:00Z"}}, False),
    ],
)
def test_noise_strikes_nobody_who_is_down_or_was_lately(case: dict[str, Any], struck: bool) -> None:
    """A container that crashes again waits for minutes: its kubelet remembers for ten."""
    app: Any = SimpleNamespace(heals=lambda name, spared: not name.startswith("consul-"))
    now = 2 * 3600 * SECOND
    assert (victim(app, [case], now, 0.5) == case["metadata"]["name"]) is struck
    other = pod("other")
    assert victim(app, [case, other], now, 0.99) == "other"


def test_settings() -> None:
    assert scheduled(1, False) == []
    only = scheduled(1, {"kinds": ["pod_kill"], "concurrent": 1, "horizon_seconds": 1000})
    assert {action.kind for _, action in only} == {"delete_pod"}
    with pytest.raises(ValidationError):
        schedule(Recorder(), 1, {"colour": "red"})  # type: ignore[arg-type]
    assert sorted(KINDS) == ["network_delay", "network_loss", "pod_failure", "pod_kill"]


def test_what_a_fault_spares_is_struck_by_no_kind() -> None:
    world = Recorder()
    schedule(world, 7, True, ("rate", "search"))  # type: ignore[arg-type]
    assert {action.spared for _, action in world.scheduled} == {("rate", "search")}
    assert [(when, replace(action, spared=())) for when, action in world.scheduled] == scheduled(7)
    app = apps.app("hotel-reservation")
    assert app.heals("rate-5bb5549c-97xkq") and app.heals("memcached-rate-7d9f-x2x5k", ("rate", "search"))
    assert not app.heals("rate-5bb5549c-97xkq", ("rate", "search"))
