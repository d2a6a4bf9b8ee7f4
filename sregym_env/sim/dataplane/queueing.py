"""The formulas of one queue: its mean number of requests over time, its spread, and the wait that an arrival meets.

The mean follows Wang, Tipper and Banerjee's pointwise stationary fluid flow approximation (1996): a queue that holds
``x`` requests serves as a stationary queue of that mean would. One differential equation then covers the light load (where
it ends at the M/M/c formula), the overload (where the queue grows by what exceeds the capacity) and the way between.
The spread is the linear noise approximation of the same equation; for M/M/1 it ends at exactly the stationary variance.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PERIOD = 0.1
"""CFS bandwidth period, seconds (measured: the kernel's ``cpu.cfs_period_us`` as kubelets set it)."""
QUOTA_DRIFT, QUOTA_CURVE = 1.2, 0.2
"""Logarithm of the share of throttled periods, per drift and per squared drift: between Siegmund's 1.166 for the maximum of
a Gaussian random walk with little drift and the normal tail with much (derived, fitted to the reference simulation)."""
QUOTA_FRESH = 0.25
"""Share of a throttled period's arrivals that find no quota though nothing was left over from before (fitted)."""
ROUNDS = 4
"""Rounds of the solver; the error left is below 1e-3 of the queue (measured, tests/dataplane/test_laws.py)."""
SMALLEST_SHAPE = 0.05
LARGEST_SHAPE = 1e4
"""Bounds of the shape of a gamma law, for the approximation's sake."""


def utilisation(load: Floats, capacity: Floats, in_service: Floats, factor: Floats, power: Floats) -> Floats:
    """One implicit Euler step: the utilisation ``r`` with ``in_service r + factor r**power / (1 - r) + capacity r = load``.

    ``load`` is what is there and what comes within the step, ``capacity`` what could be served within it, both in
    requests; what stays, ``load - capacity * r``, is the queue of a stationary station of that utilisation.
    """
    total = in_service + capacity
    both = total + load
    apart = (total - load) ** 2
    scale = 4.0 * total * factor
    bound = np.minimum(load / total, 1.0)
    found = bound
    for _ in range(ROUNDS):
        # With the power taken from the round before, the equation is quadratic.
        nearer = (both - np.sqrt(apart + scale * found**power)) / (2.0 * total)
        found = 0.5 * (nearer + np.minimum(found, 2.0 * nearer)) if found is not bound else nearer
        found = np.maximum(found, 0.0)
    return found


def number(rho: Floats, in_service: Floats, factor: Floats, power: Floats) -> Floats:
    """Mean number of requests of a stationary station at utilisation ``rho`` below 1."""
    return in_service * rho + factor * rho**power / (1.0 - rho)


def slope(rho: Floats, in_service: Floats, factor: Floats, power: Floats) -> Floats:
    """The derivative of :func:`number`."""
    idle = 1.0 - rho
    return in_service + factor * rho ** (power - 1.0) * (power * idle + rho) / idle**2


def below(limit: Floats, mean: Floats, variance: Floats) -> Floats:
    """For a gamma law: the shares of the zeroth, first and second moment that lie below a limit (3 x shape of ``mean``).

    The first is the distribution function. Wilson and Hilferty's cube root with a logistic for the normal law; the absolute
    error is below 0.013 for shapes from 1 (measured, tests/dataplane/test_laws.py).
    """
    shape = np.minimum(np.maximum(mean * mean / np.maximum(variance, 1e-300), SMALLEST_SHAPE), LARGEST_SHAPE)
    shapes = shape + np.arange(3.0)[:, None]
    ninth = 1.0 / (9.0 * shapes)
    z = (np.cbrt(limit / np.maximum(mean, 1e-12) * shape / shapes) - 1.0 + ninth) / np.sqrt(ninth)
    z = np.minimum(np.maximum(z, -12.0), 12.0)
    below_limit: Floats = 1.0 / (1.0 + np.exp(-z * (1.5976 + 0.07056 * z * z)))
    return below_limit


def share_in_time(limit: float, mean: float, variance: float) -> tuple[float, float]:
    """Of durations of a gamma law: (the share below ``limit``, the mean of the smaller of each and the limit).

    :func:`below` for single numbers.
    """
    if mean <= 0.0:
        return 1.0, 0.0
    shape = min(max(mean * mean / max(variance, 1e-300), SMALLEST_SHAPE), LARGEST_SHAPE)
    root = math.cbrt(limit / mean)
    found = []
    for moment in (0.0, 1.0):
        ninth = 1.0 / (9.0 * (shape + moment))
        z = (root * math.cbrt(shape / (shape + moment)) - 1.0 + ninth) / math.sqrt(ninth)
        z = min(max(z, -12.0), 12.0)
        found.append(1.0 / (1.0 + math.exp(-z * (1.5976 + 0.07056 * z * z))))
    return found[0], mean * found[1] + limit * (1.0 - found[0])


def gamma_cdf(times: Floats, mean: float, variance: float) -> Floats:
    """The distribution function of a gamma law at several times, by the same approximation as :func:`below`."""
    if mean <= 0.0:
        return np.ones_like(times)
    found: Floats = below(times[None, :], np.array([mean]), np.array([variance]))[0]
    return found


def quota_exponent(requests: Floats, spread: Floats, load: Floats) -> Floats:
    """For a CPU limit: with which power of the utilisation arrivals wait for quota; ``requests`` fit into one period.

    Periods are a random walk of the CPU time asked for less the quota: the walk's drift in standard deviations says how
    often it is above zero. Whoever comes early in a period still finds quota, however large the backlog of the last one.
    """
    rho = np.clip(load, 0.05, 0.995)
    idle = 1.0 - rho
    drift = idle * np.sqrt(requests / (rho * (1.0 + spread)))
    backlog = 0.5 * (1.0 + spread) * rho / idle
    ratio = requests / backlog
    early = (np.exp(-ratio * idle) - np.exp(-ratio)) / (ratio * rho)
    logarithm = (
        -QUOTA_DRIFT * drift - QUOTA_CURVE * drift * drift + np.log(QUOTA_FRESH + (1.0 - QUOTA_FRESH) * early)
    )
    return np.maximum(logarithm / np.log(rho), 0.05)


def erlang_c(servers: int, load: float) -> float:
    """Probability that an arrival of M/M/c waits; ``load`` in servers. For tests and documentation."""
    if load >= servers:
        return 1.0
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = load * blocked / (count + load * blocked)
    rho = load / servers
    return blocked / (1.0 - rho + rho * blocked)


def mmc_mean(servers: int, service: float, rate: float) -> float:
    """Mean time in an M/M/c queue, seconds."""
    load = rate * service
    return service + erlang_c(servers, load) * service / (servers - load)


def mmc_quantile(servers: int, service: float, rate: float, p: float) -> float:
    """A quantile of the time in an M/M/c queue, by bisection, seconds."""
    mu, wait = 1.0 / service, erlang_c(servers, rate * service)
    theta = servers * mu - rate

    def late(t: float) -> float:
        if abs(theta - mu) < 1e-9 * mu:
            return math.exp(-mu * t) * (1.0 + wait * mu * t)
        apart = (math.exp(-theta * t) - math.exp(-mu * t)) * mu / (mu - theta)
        return math.exp(-mu * t) + wait * apart

    low, high = 0.0, 100.0 * (service + 1.0 / theta)
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if late(middle) > 1.0 - p else (low, middle)
    return 0.5 * (low + high)
