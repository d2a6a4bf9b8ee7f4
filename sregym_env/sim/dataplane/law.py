"""How long something takes: a distribution as a value, on a fixed logarithmic grid.

Every latency that anybody reads is drawn from such a law: means, percentiles, histogram buckets, the verdict of a probe, the
time of a single ``curl``. Laws are added where calls follow one another, and the slowest is taken where they run at the same
time; the grid's bins are 8 % wide, which bounds the error of a quantile.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from sregym_env.sim.dataplane.plan import Floats
from sregym_env.sim.dataplane.queueing import gamma_cdf

SHORTEST, LONGEST, BINS = 1e-5, 1e4, 270
NEGLIGIBLE = 1e-10
"""Mass of a bin that sums leave out."""


@cache
def edges() -> Floats:
    """Borders of the bins, seconds; the first bin begins at 0."""
    borders = np.concatenate([[0.0], np.geomspace(SHORTEST, LONGEST, BINS)])
    borders.flags.writeable = False
    return borders


@cache
def centres() -> Floats:
    """Middles of the bins, at which their mass counts."""
    borders = edges()
    middles: Floats = 0.5 * (borders[1:] + borders[:-1])
    middles[0] = 0.0
    middles.flags.writeable = False
    return middles


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A distribution of durations: the mass of every bin, which sums to 1."""

    mass: Floats
    most: float = math.inf
    """Nothing takes longer: a time-out is read as exactly this."""

    # --- making -----------------------------------------------------------------------------------------

    @staticmethod
    def fixed(seconds: float) -> Law:
        """Always the same: split between the two nearest bins, so that the mean is exact."""
        mass = np.zeros(BINS)
        _put(mass, seconds, 1.0)
        return Law(mass, seconds)

    @staticmethod
    def gamma(mean: float, variance: float) -> Law:
        """A gamma law; fixed where it has no variance to speak of."""
        if mean <= SHORTEST or variance <= (0.02 * mean) ** 2:
            return Law.fixed(mean)
        mass = np.diff(gamma_cdf(edges(), mean, variance))
        # The approximation's mean is up to 4 % off where the law is wide: once more with what is missing.
        scale = mean * mass.sum() / float(mass @ centres())
        mass = np.diff(gamma_cdf(edges(), mean * scale, variance * scale * scale))
        return Law(mass / mass.sum())

    @staticmethod
    def mixed(parts: Iterable[tuple[float, Law]]) -> Law:
        """One law or another, by weights (which need not sum to 1)."""
        mass, most = np.zeros(BINS), 0.0
        for weight, law in parts:
            if weight > 0.0:
                mass = mass + weight * law.mass
                most = max(most, law.most)
        total = mass.sum()
        return Law(mass / total, most) if total > 0.0 else Law.fixed(0.0)

    def plus(self, other: Law) -> Law:
        """One after the other."""
        mine, others = np.flatnonzero(self.mass > NEGLIGIBLE), np.flatnonzero(other.mass > NEGLIGIBLE)
        if len(mine) == 1 and mine[0] == 0:
            return other
        if len(others) == 1 and others[0] == 0:
            return self
        middles = centres()
        sums = np.add.outer(middles[mine], middles[others]).ravel()
        weights = np.multiply.outer(self.mass[mine], other.mass[others]).ravel()
        lower = np.clip(np.searchsorted(middles, sums, side="right") - 1, 0, BINS - 2)
        upper_part = np.clip((sums - middles[lower]) / (middles[lower + 1] - middles[lower]), 0.0, 1.0)
        mass = np.bincount(lower, weights * (1.0 - upper_part), BINS)
        mass += np.bincount(lower + 1, weights * upper_part, BINS)
        return Law(mass / mass.sum(), self.most + other.most)

    def slower(self, other: Law) -> Law:
        """Both at the same time: the slower of two independent ones."""
        mass = np.diff(np.concatenate([[0.0], np.cumsum(self.mass) * np.cumsum(other.mass)]))
        return Law(mass / mass.sum(), max(self.most, other.most))

    def until(self, limit: float) -> Law:
        """Cut off: what would take longer takes ``limit``."""
        if limit >= LONGEST:
            return self
        late = self.late(limit)
        if late < NEGLIGIBLE:
            return self
        mass = self._below(limit)
        _put(mass, limit, late)
        return Law(mass / mass.sum(), limit)

    def within(self, limit: float) -> Law:
        """Only what takes no longer than ``limit``."""
        if limit >= LONGEST:
            return self
        mass = self._below(limit)
        total = mass.sum()
        return Law(mass / total, min(limit, self.most)) if total > NEGLIGIBLE else Law.fixed(limit)

    def _below(self, limit: float) -> Floats:
        borders = edges()
        return self.mass * np.clip((limit - borders[:-1]) / np.diff(borders), 0.0, 1.0)

    # --- reading ----------------------------------------------------------------------------------------

    @property
    def mean(self) -> float:
        """Seconds."""
        return float(self.mass @ centres())

    @property
    def variance(self) -> float:
        """Squared seconds."""
        return max(0.0, float(self.mass @ centres() ** 2) - self.mean**2)

    def cdf(self, seconds: float) -> float:
        """Probability of taking at most this long."""
        if seconds >= min(LONGEST, self.most):
            return 1.0
        return float(np.interp(seconds, edges(), np.concatenate([[0.0], np.cumsum(self.mass)])))

    def late(self, limit: float) -> float:
        """Probability of taking longer."""
        return max(0.0, 1.0 - self.cdf(limit))

    def quantile(self, p: float) -> float:
        """The time within which a share ``p`` is done."""
        total = np.cumsum(self.mass)
        number = min(int(np.searchsorted(total, p)), BINS - 1)
        before = float(total[number - 1]) if number else 0.0
        part = (p - before) / max(float(self.mass[number]), 1e-300)
        low, high = edges()[number], edges()[number + 1]
        return min(float(low + min(max(part, 0.0), 1.0) * (high - low)), self.most)

    def sample(self, u: float) -> float:
        """A duration, for a number ``u`` that is uniform in [0, 1)."""
        return self.quantile(u)

    def buckets(self, limits: Iterable[float]) -> tuple[float, ...]:
        """Cumulative shares at the upper limits of a histogram's buckets."""
        return tuple(self.cdf(limit) for limit in limits)


def _put(mass: Floats, seconds: float, weight: float) -> None:
    middles = centres()
    number = min(max(int(np.searchsorted(middles, seconds, side="right")) - 1, 0), BINS - 2)
    part = min(max((seconds - middles[number]) / (middles[number + 1] - middles[number]), 0.0), 1.0)
    mass[number] += weight * (1.0 - part)
    mass[number + 1] += weight * part
