"""Distributions as values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.sim.dataplane.law import Law
from sregym_env.sim.dataplane.queueing import below, gamma_cdf, number, utilisation

TIMES = st.floats(1e-4, 50.0)
SPREADS = st.floats(0.05, 4.0)
LAWS = st.builds(lambda mean, spread: Law.gamma(mean, spread * mean * mean), TIMES, SPREADS)


@given(LAWS, LAWS)
def test_one_after_the_other_adds_means_and_variances(one: Law, other: Law) -> None:
    both = one.plus(other)
    assert both.mean == pytest.approx(one.mean + other.mean, rel=1e-3, abs=1e-5)
    assert both.variance == pytest.approx(one.variance + other.variance, rel=0.1, abs=1e-8)


@given(LAWS, LAWS, st.floats(0.01, 0.99))
def test_the_slower_of_two_is_no_quicker_than_either(one: Law, other: Law, p: float) -> None:
    slower = one.slower(other)
    assert slower.quantile(p) >= max(one.quantile(p), other.quantile(p)) * 0.99
    assert slower.mean <= one.mean + other.mean + 1e-6


@given(LAWS, st.floats(0.001, 0.999))
def test_quantile_is_the_inverse_of_the_distribution(law: Law, p: float) -> None:
    assert law.cdf(law.quantile(p)) == pytest.approx(p, abs=1e-6)


@given(LAWS, TIMES)
def test_a_time_out_cuts_off_and_keeps_what_is_quicker(law: Law, limit: float) -> None:
    cut = law.until(limit)
    assert cut.quantile(0.9999) <= limit
    assert cut.mean <= law.mean * 1.001
    if law.cdf(limit / 2) > 0.01 and limit < law.most:
        assert cut.cdf(limit / 2) == pytest.approx(law.cdf(limit / 2), abs=1e-6)
        assert law.within(limit).quantile(0.999) <= limit * 1.0001


@given(LAWS)
def test_samples_have_the_laws_moments(law: Law) -> None:
    drawn = [law.sample((n + 0.5) / 4000) for n in range(4000)]
    assert np.mean(drawn) == pytest.approx(law.mean, rel=0.02)
    assert list(law.buckets([0.0, math.inf])) == [0.0, 1.0]


@given(TIMES, st.floats(0.05, 3.0))
def test_a_gamma_law_has_the_mean_and_spread_that_was_asked_for(mean: float, spread: float) -> None:
    law = Law.gamma(mean, spread * mean * mean)
    assert law.mean == pytest.approx(mean, rel=0.01)
    assert law.variance == pytest.approx(spread * mean * mean, rel=0.2)


@pytest.mark.parametrize("shape", [1, 2, 5, 20])
def test_the_approximate_gamma_law_is_near_the_exact_one(shape: int) -> None:
    times = np.linspace(0.01, 4.0, 200)
    # Erlang's formula for whole shapes, mean 1.
    exact = [
        1.0 - math.exp(-shape * t) * sum((shape * t) ** n / math.factorial(n) for n in range(shape))
        for t in times
    ]
    assert np.abs(gamma_cdf(times, 1.0, 1.0 / shape) - exact).max() < 0.013


def test_moments_below_a_limit_approach_those_of_the_law() -> None:
    shares = below(np.array([1e-6, 1e6]), np.array([1.0, 1.0]), np.array([0.5, 0.5]))
    assert shares[:, 0] == pytest.approx(0.0, abs=1e-3) and shares[:, 1] == pytest.approx(1.0, abs=1e-3)
    assert (np.diff(below(np.array([1.0]), np.array([1.0]), np.array([1.0])), axis=0) < 0.0).all()


@given(
    st.floats(0.0, 1e4), st.floats(0.0, 1e4), st.floats(0.5, 64.0), st.floats(0.5, 2.0), st.floats(1.2, 12.0)
)
def test_the_implicit_step_conserves_and_solves(
    load: float, capacity: float, service: float, factor: float, power: float
) -> None:
    arrays = [np.array([value]) for value in (load, capacity, service, factor, power)]
    rho = utilisation(*arrays)
    assert 0.0 <= rho[0] <= 1.0 and capacity * rho[0] <= load + 1e-9
    if rho[0] < 0.999:
        left = number(rho, *arrays[2:])[0] + capacity * rho[0]
        assert left == pytest.approx(load, rel=0.03, abs=0.05)
