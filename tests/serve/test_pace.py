"""Time at the boundary."""

from __future__ import annotations

import time

import pytest

from sregym_env.runtime.clock import SECOND
from sregym_env.serve.pace import CATCH_UP, Pace
from sregym_env.sim.embedded import EmbeddedWorld


@pytest.fixture
def pace(world: EmbeddedWorld) -> Pace:
    made = Pace(world, "step")
    made.offset = 86400
    return made


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        (b'{"a":"2026-08-06T10:00:00Z"}', b'{"a":"2026-08-07T10:00:00Z"}'),
        (b'{"a":"2026-08-06T10:00:00.123456Z"}', b'{"a":"2026-08-07T10:00:00.123456Z"}'),
        (b'{"a":"at 2026-08-06T10:00:00Z"}', b'{"a":"at 2026-08-06T10:00:00Z"}'),
        (rb'{"a":"{\"t\":\"2026-08-06T10:00:00Z\"}"}', rb'{"a":"{\"t\":\"2026-08-06T10:00:00Z\"}"}'),
        (b'{"a":"2026-99-06T10:00:00Z"}', b'{"a":"2026-99-06T10:00:00Z"}'),
    ],
)
def test_whole_timestamps_move(pace: Pace, inside: bytes, outside: bytes) -> None:
    assert pace.outward(inside) == outside
    assert pace.inward(outside) == inside


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (b"2026-08-06T10:00:00Z INF hello\n", b"2026-08-07T10:00:00Z INF hello\n"),
        (b"2026-08-06T10:00:00.5Z x", b"2026-08-07T10:00:00.5Z x"),
        (
            b'{"t":{"$date":"2026-08-06T10:00:05.123+00:00"}}',
            b'{"t":{"$date":"2026-08-07T10:00:05.123+00:00"}}',
        ),
        (b"2026-08-06 10:00:00 started", b"2026-08-07 10:00:00 started"),
        (b"version 1.2.3", b"version 1.2.3"),
    ],
)
def test_timestamps_in_logs_move(pace: Pace, line: bytes, shown: bytes) -> None:
    assert pace.outward_text(line) == shown


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
