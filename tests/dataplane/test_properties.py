"""What holds for every network: nothing is lost, time can be cut anywhere, more capacity does no harm, bytes are the same."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.dataplane.accounting import EdgeTotal, StationTotal
from sregym_env.sim.dataplane.advance import adopt, advance, at, begin
from sregym_env.sim.dataplane.network import Edge, Leg, Network, Operation, Source, Station
from sregym_env.sim.dataplane.profiles import Spike
from sregym_env.sim.dataplane.state import Held, State, Way
from tests.dataplane.metastable import run, success
from tests.dataplane.nets import application, networks

TIMES = st.lists(st.integers(0, 60 * SECOND), min_size=1, max_size=4)


def _conserved(state: State) -> None:
    edges, stations = state.edge_totals, state.station_totals
    in_flight = state.edges[Way.FLYING] + state.edges[Way.WAITING]
    given_up = edges[EdgeTotal.LAST_TIMEOUT : EdgeTotal.LAST_REFUSED + 1].sum(axis=0)
    ended = edges[EdgeTotal.OK] + given_up + edges[EdgeTotal.SHUNNED]
    np.testing.assert_allclose(edges[EdgeTotal.CALLS], ended + in_flight, rtol=1e-9, atol=1e-6)
    attempts = edges[EdgeTotal.CALLS] - edges[EdgeTotal.SHUNNED] + edges[EdgeTotal.RETRIES]
    done = edges[EdgeTotal.OK : EdgeTotal.REFUSED + 1].sum(axis=0)
    np.testing.assert_allclose(attempts, done + state.edges[Way.FLYING], rtol=1e-9, atol=1e-6)
    left = (
        stations[StationTotal.COMPLETED] + stations[StationTotal.TURNED_AWAY] + stations[StationTotal.DROPPED]
    )
    np.testing.assert_allclose(
        stations[StationTotal.ARRIVED], left + state.stations[Held.QUEUE], rtol=1e-9, atol=1e-6
    )


@given(networks(), TIMES)
@settings(max_examples=25)
def test_arrivals_are_successes_failures_and_what_is_in_flight(network: Network, times: list[int]) -> None:
    state = begin(network, 0)
    for time in sorted(times):
        state, events = advance(network, state, time)
        _conserved(state)
        _conserved(at(network, state, time if not events else state.time))
        for rows in (state.stations, state.operations, state.edge_totals, state.station_totals):
            assert np.isfinite(rows).all()
        assert (state.stations[Held.QUEUE] >= -1e-9).all() and (state.edges[Way.FLYING] >= -1e-9).all()


@given(networks(), TIMES)
@settings(max_examples=25)
def test_time_can_be_cut_anywhere(network: Network, times: list[int]) -> None:
    whole = run(network, begin(network, 0), 60.0)
    parts = begin(network, 0)
    for time in (*sorted(times), 60 * SECOND):
        parts = run(network, parts, time / SECOND)
        at(network, parts, time)
    assert whole.same_as(parts)


@given(networks(), st.integers(0, 30 * SECOND))
@settings(max_examples=25)
def test_counters_never_fall_however_often_they_are_read(network: Network, start: int) -> None:
    state = run(network, begin(network, 0), start / SECOND)
    before = at(network, state, max(start, state.time))
    for number in range(1, 12):
        time = start + number * 137_000
        state, events = advance(network, state, time)
        if events:
            break
        now = at(network, state, time)
        assert (now.edge_totals >= before.edge_totals - 1e-6 * (1.0 + before.edge_totals)).all()
        assert (now.station_totals >= before.station_totals - 1e-6 * (1.0 + before.station_totals)).all()
        before = now


@given(
    st.floats(10.0, 120.0),
    st.sampled_from([0.3, 1.0, 3.0]),
    st.integers(0, 4),
    st.sampled_from([1, 4, 8]),
    st.floats(1.05, 3.0),
)
@settings(max_examples=25)
def test_more_capacity_never_hurts(
    rate: float, timeout: float, retries: int, cores: int, factor: float
) -> None:
    def served(demand: float) -> tuple[float, float]:
        network = Network(
            (Station("server", cores=cores, queue=2000),),
            (Operation("serve", "server", demand=demand),),
            (Edge("users", "load", (Leg("serve"),), timeout=timeout, retries=retries, backoff=0.05),),
            (Source("load", rate, profile=Spike(20.0, 20.0, 3.0)),),
        )
        state, share = success(network, begin(network, 0), 150.0)
        return share, float(state.stations[Held.QUEUE, 0])

    less, more = served(0.01 * cores), served(0.01 * cores / factor)
    assert more[0] >= less[0] - 0.01
    assert more[1] <= less[1] * 1.01 + 0.5


def test_a_steady_hour_costs_nothing_and_is_the_same_object() -> None:
    network = application()
    state, _ = advance(network, begin(network, 0, settled=True), 600 * SECOND)
    assert state.steady
    later, events = advance(network, state, 10**6 * SECOND)
    assert later is state and not events
    gained = at(network, state, state.time + 3600 * SECOND).edge_totals - state.edge_totals
    np.testing.assert_allclose(gained[EdgeTotal.CALLS], 3600.0 * state.edge_rates[EdgeTotal.CALLS], rtol=1e-9)


def test_a_station_that_restarts_loses_its_queue_and_the_rest_goes_on() -> None:
    network = application(Spike(0.0, 60.0, 6.0))
    state = run(network, begin(network, 0), 30.0)
    stations = tuple(replace(each, run=1) if each.name == "s3" else each for each in network.stations)
    after = replace(network, stations=stations)
    moved = adopt(at(network, state, seconds(30.1)), network, after)
    assert moved.stations[Held.QUEUE, 3] == 0.0 and (moved.station_totals[:, 3] == 0.0).all()
    kept = [number for number in range(30) if number != 3]
    state = at(network, state, seconds(30.1))
    np.testing.assert_array_equal(moved.stations[Held.QUEUE, kept], state.stations[Held.QUEUE, kept])
    np.testing.assert_array_equal(moved.edges[: Way.SHUT + 1], state.edges[: Way.SHUT + 1])
    # Counters of what goes on go on.
    assert (run(after, moved, 50.0).edge_totals >= moved.edge_totals).all()


def test_states_and_networks_can_be_pickled() -> None:
    network = application()
    state = run(network, begin(network, 0), 5.0)
    copied, thawed = pickle.loads(pickle.dumps((network, state)))
    assert copied == network and thawed.same_as(state)
    assert run(copied, thawed, 20.0).same_as(run(network, state, 20.0))
    assert len(pickle.dumps(state)) < 40_000


_DIGEST = """
from tests.dataplane.test_properties import digest
print(digest())
"""


def digest() -> str:
    """Of a state after a spike, with everything that could depend on a process in it."""
    network = application(Spike(5.0, 10.0, 4.0))
    state = run(network, begin(network, 0), 40.0)
    return hashlib.sha256(
        b"".join(
            getattr(state, f.name).tobytes()
            for f in fields(state)
            if isinstance(getattr(state, f.name), np.ndarray)
        )
    ).hexdigest()


@pytest.mark.parametrize("hash_seed", ["0", "77"])
def test_another_process_computes_the_same_bytes(hash_seed: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _DIGEST],
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(path for path in sys.path if path) + ":."},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == digest()
