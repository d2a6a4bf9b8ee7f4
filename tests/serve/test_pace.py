"""How virtual time follows the wall."""

from __future__ import annotations

import time

import pytest

from sregym_env.runtime.clock import SECOND
from sregym_env.serve.pace import CATCH_UP, Pace
from sregym_env.sim.embedded import EmbeddedWorld


@pytest.fixture
def pace(world: EmbeddedWorld) -> Pace:
    return Pace(world, "step")


def test_step_mode_stands_still(pace: Pace) -> None:
    before = pace.world.now()
    time.sleep(0.05)
    pace.sync()
    assert pace.world.now() == before


def test_skipping_stops_at_the_limit(pace: Pace) -> None:
    limit = pace.world.now() + 3600 * SECOND
    for _ in range(100_000):
        if pace.skip(limit):
            break
    assert pace.world.now() == limit


def test_real_time_follows_the_wall(world: EmbeddedWorld) -> None:
    pace = Pace(world, "real", factor=100.0)
    before = world.now()
    time.sleep(0.05)
    pace.sync()
    assert 5 * SECOND <= world.now() - before < 100 * SECOND


def test_a_long_sleep_is_not_made_up(world: EmbeddedWorld) -> None:
    pace = Pace(world, "real", factor=1e9)
    before = world.now()
    time.sleep(0.01)
    pace.sync()
    assert world.now() - before == CATCH_UP
