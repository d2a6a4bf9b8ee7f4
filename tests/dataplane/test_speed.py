"""What time costs: counted in steps and in calls, which no busy machine changes. ``python -m tests.dataplane.test_speed`` times it."""

from __future__ import annotations

import sys
from itertools import count
from time import process_time
from types import FrameType

import pytest

from sregym_env.rollouts.bench.calibration import REFERENCE_MS, timed_loop
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.dataplane import advance as advancing
from sregym_env.sim.dataplane.advance import advance, begin
from sregym_env.sim.dataplane.plan import Floats, Plan
from sregym_env.sim.dataplane.profiles import Constant, Profile, Ramp, Spike
from sregym_env.sim.dataplane.state import State
from sregym_env.sim.dataplane.step import Step, step
from tests.dataplane.nets import application

END = 300.0
STORM, RESTLESS = Spike(20.0, 60.0, 8.0), Ramp(0.0, END, 8.0, hold=1.0)


def _steps(monkeypatch: pytest.MonkeyPatch, profile: Profile) -> int:
    """How many steps five minutes of thirty stations take."""
    network = application(profile)
    state = begin(network, 0, settled=True)
    taken = count()

    def counted(plan: Plan, state: State, offered: tuple[Floats, Floats], now: float, dt: float) -> Step:
        next(taken)
        return step(plan, state, offered, now, dt)

    monkeypatch.setattr(advancing, "step", counted)
    _, events = advance(network, state, int(END * SECOND))
    assert not events
    return next(taken)


@pytest.mark.parametrize(
    ("profile", "most"),
    [(STORM, 100), (RESTLESS, 305), (Constant(), 12)],
    ids=["a storm", "no second like the last", "rest"],
)
def test_a_step_is_as_long_as_little_happens(
    monkeypatch: pytest.MonkeyPatch, profile: Profile, most: int
) -> None:
    assert _steps(monkeypatch, profile) <= most


def test_a_step_is_some_two_hundred_calls_however_many_stations_there_are() -> None:
    network = application(RESTLESS)
    state = begin(network, 0, settled=True)
    calls = 0

    def heard(frame: FrameType, event: str, given: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(heard)
    try:
        advance(network, state, int(END * SECOND))
    finally:
        sys.setprofile(before)
    # Thirty stations and fifty edges: a loop over either in Python would be thousands.
    assert calls / END < 220


def main() -> None:
    """Print simulated seconds per second of the reference machine."""
    profiles: dict[str, Profile] = {"a storm": STORM, "no second like the last": RESTLESS}
    for name, profile in profiles.items():
        network = application(profile)
        state = begin(network, 0, settled=True)
        loop_ms = timed_loop()
        began = process_time()
        advance(network, state, int(END * SECOND))
        took = process_time() - began
        print(f"{name}: {END / took * (loop_ms + timed_loop()) / 2 / REFERENCE_MS:,.0f} s/s")


if __name__ == "__main__":
    main()
