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
from sregym_env.noise import KINDS, NoiseConfig, schedule


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
