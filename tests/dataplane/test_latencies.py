"""Latencies at rest: the model against the M/M/c formulas and the recorded reference simulation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sregym_env.sim.dataplane.advance import begin
from sregym_env.sim.dataplane.law import Law
from sregym_env.sim.dataplane.network import Network
from sregym_env.sim.dataplane.queueing import mmc_mean, mmc_quantile
from sregym_env.sim.dataplane.reading import Reading
from tests.dataplane.latencies import networks

RECORDED: dict[str, list[float]] = json.loads((Path(__file__).parent / "golden/latencies.json").read_text())
"""Mean, median, 95th and 99th percentile in seconds, attempts per call."""
NETWORKS = networks()

RARE = 0.5
"""Utilisation of a CPU limit up to which throttling is so rare that its tail is only known to 40 %; docs/dataplane.md."""


def _law(network: Network) -> Law:
    return Reading(network, begin(network, 0, settled=True)).call("users")


@pytest.mark.parametrize("cores", [1, 2, 4, 8])
@pytest.mark.parametrize("rho", [0.3, 0.5, 0.7, 0.8, 0.9])
def test_one_queue_is_m_m_c(cores: int, rho: float) -> None:
    law, rate = _law(NETWORKS[f"M/M/{cores} at {rho}"]), rho * cores / 0.1
    assert law.mean == pytest.approx(mmc_mean(cores, 0.1, rate), rel=0.03)
    assert law.quantile(0.99) == pytest.approx(mmc_quantile(cores, 0.1, rate, 0.99), rel=0.10)


@pytest.mark.parametrize(
    "name", [name for name in NETWORKS if not name.startswith(("M/M", "limit", "retries"))]
)
def test_chains_fans_threads_and_pools_are_as_in_the_reference(name: str) -> None:
    law, (mean, middle, _, last, _) = _law(NETWORKS[name]), RECORDED[name]
    assert law.mean == pytest.approx(mean, rel=0.10)
    assert law.quantile(0.5) == pytest.approx(middle, rel=0.10)
    assert law.quantile(0.99) == pytest.approx(last, rel=0.10)


@pytest.mark.parametrize("name", [name for name in NETWORKS if name.startswith("limit")])
def test_a_cpu_limit_makes_a_tail_below_the_limit(name: str) -> None:
    law, (mean, _, _, last, _) = _law(NETWORKS[name]), RECORDED[name]
    rare = float(name.rpartition(" ")[2]) <= RARE
    assert law.mean == pytest.approx(mean, rel=0.20 if rare else 0.12)
    assert law.quantile(0.99) == pytest.approx(last, rel=0.40 if rare else 0.20)


@pytest.mark.parametrize("rho", [0.3, 0.5])
def test_retries_of_slow_attempts(rho: float) -> None:
    network = NETWORKS[f"retries at {rho}"]
    reading = Reading(network, begin(network, 0, settled=True))
    mean, _, _, last, attempts = RECORDED[f"retries at {rho}"]
    users = reading.edge("users")
    assert 1.0 + users.retries / users.calls == pytest.approx(attempts, rel=0.01)
    assert reading.call("users").mean == pytest.approx(mean, rel=0.10)
    assert reading.call("users").quantile(0.99) == pytest.approx(last, rel=0.10)
