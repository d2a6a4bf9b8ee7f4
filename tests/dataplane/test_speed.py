"""How quick it is, as it would be on the reference machine of ``sregym bench``."""

from __future__ import annotations

from statistics import median
from time import process_time

import pytest

from sregym_env.rollouts.bench.calibration import REFERENCE_MS, loop
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.dataplane.advance import advance, begin
from sregym_env.sim.dataplane.profiles import Profile, Ramp, Spike
from tests.dataplane.nets import application

END = 300.0


def _loop() -> float:
    began = process_time()
    loop()
    return (process_time() - began) * 1e3


def _rate(profile: Profile) -> float:
    """Simulated seconds per second of the reference machine."""
    network = application(profile)
    state = begin(network, 0, settled=True)
    loops = [_loop() for _ in range(2)]
    began = process_time()
    state, events = advance(network, state, int(END * SECOND))
    took = process_time() - began
    loops += [_loop() for _ in range(2)]
    assert not events
    return END / took * median(loops) / REFERENCE_MS


@pytest.mark.parametrize(
    "profile",
    [Spike(20.0, 60.0, 8.0), Ramp(0.0, END, 8.0, hold=1.0)],
    ids=["a storm", "no second like the last"],
)
def test_thirty_stations_pass_five_thousand_seconds_per_second(profile: Profile) -> None:
    assert max(_rate(profile) for _ in range(2)) > 5000.0
