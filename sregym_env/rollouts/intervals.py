"""How sure a number is: 95 % intervals for rates and means of samples that may share a problem.

Samples of one problem are no independent evidence about other problems: whoever solves an incident once mostly solves
it eight times. So every function takes, beside the values, the problem that each came from, and widens its interval by
how much samples of one problem resemble each other. Where all come from a single problem the interval is about that
problem, and the samples count one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import atan, cos, inf, pi, sin, sqrt
from typing import Any, Final

Z: Final = 1.959963984540054
"""Quantile of the normal distribution that leaves 2.5 % above it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95 % interval."""

    value: float
    low: float | None
    """None where a single value says nothing about others."""
    high: float | None
    n: int
    """Values it was made of."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}

    def text(self, digits: int = 2, scale: float = 1.0) -> str:
        """``0.62 [0.31, 0.86]``; with a scale of 100 in percent."""
        shown = f"{self.value * scale:,.{digits}f}"
        if self.low is None or self.high is None:
            return shown
        return f"{shown} [{self.low * scale:,.{digits}f}, {self.high * scale:,.{digits}f}]"


def wilson(successes: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % score interval of a rate; it stays within 0 and 1 and is never of no width.

    ``n`` may be an effective number of samples. Without samples nothing is known: (0, 1).
    """
    if n <= 0:
        return 0.0, 1.0
    rate = successes / n
    middle = (rate + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * sqrt(max(0.0, rate * (1 - rate) / n + Z * Z / (4 * n * n)))
    # Rounding must not cut the rate itself off.
    return max(0.0, min(rate, middle - half)), min(1.0, max(rate, middle + half))


def rate(outcomes: Sequence[bool], problems: Sequence[Hashable]) -> Estimate | None:
    """The share of successes with Wilson's interval on the effective number of samples; None without samples."""
    if not outcomes:
        return None
    n, successes = len(outcomes), sum(outcomes)
    share = successes / n
    effective = effective_samples(outcomes, problems)
    low, high = wilson(share * effective, effective)
    return Estimate(share, low, high, n)


def effective_samples(outcomes: Sequence[bool], problems: Sequence[Hashable]) -> float:
    """How many independent samples say as much about the rate as these do (samples by the design effect).

    Where all outcomes are equal they tell nothing about how alike those of one problem are: each problem counts as one.
    """
    n = len(outcomes)
    groups = len(set(problems))
    if groups in (1, n):
        return float(n)
    share = sum(outcomes) / n
    if share in (0.0, 1.0):
        return float(groups)
    values = [float(outcome) for outcome in outcomes]
    design_effect = _variance_of_mean(values, problems) / (share * (1 - share) / n)
    return n / max(1.0, design_effect)


def mean(values: Sequence[float], problems: Sequence[Hashable], least: float = -inf) -> Estimate | None:
    """The mean with Student's t interval, its variance taken between problems; None without values.

    The interval ends at ``least``, below which no value can be: nothing takes less than no time.
    """
    if not values:
        return None
    n = len(values)
    average = sum(values) / n
    if n == 1:
        return Estimate(average, None, None, 1)
    groups = len(set(problems))
    own = list(range(n)) if groups == 1 else list(problems)
    half = student(len(set(own)) - 1) * sqrt(_variance_of_mean(values, own))
    return Estimate(average, max(least, average - half), average + half, n)


def _variance_of_mean(values: Sequence[float], problems: Sequence[Hashable]) -> float:
    """Of the mean of values in groups: from how the groups' sums of residuals vary (the sandwich estimator)."""
    n = len(values)
    average = sum(values) / n
    residuals: dict[Hashable, float] = defaultdict(float)
    for value, problem in zip(values, problems, strict=True):
        residuals[problem] += value - average
    groups = len(residuals)
    return groups / (groups - 1) * sum(residual**2 for residual in residuals.values()) / n**2


@lru_cache(maxsize=1024)
def student(freedom: int) -> float:
    """Quantile of Student's t distribution that leaves 2.5 % above it."""
    if freedom > 2000:
        return Z
    low, high = Z, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 0.95 else (low, middle)
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    """The probability that Student's t lies between -t and t: a finite sum for whole degrees of freedom."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2 == 1
    term = cos(angle) if odd else 1.0
    total = 0.0
    for k in range(1 if odd else 0, freedom - 1, 2):
        total += term
        term *= cos(angle) ** 2 * (k + 1) / (k + 2)
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def difference_of_rates(
    first: Sequence[bool], second: Sequence[bool], problems: Sequence[Hashable]
) -> Estimate | None:
    """How much higher the second of two rates is that were seen in pairs, by Newcombe's square-and-add method.

    Made from both rates' own intervals and the correlation within pairs, so that it has a width also where all pairs
    agree. None without pairs.
    """
    before, after = rate(first, problems), rate(second, problems)
    if before is None or after is None:
        return None
    share, other = before.value, after.value
    low, high, other_low, other_high = _bounds(before) + _bounds(after)
    likeness = _phi(first, second)
    down, up = share - low, high - share
    other_down, other_up = other - other_low, other_high - other
    below = sqrt(max(0.0, other_down**2 - 2 * likeness * other_down * up + up**2))
    above = sqrt(max(0.0, other_up**2 - 2 * likeness * other_up * down + down**2))
    change = other - share
    return Estimate(change, max(-1.0, change - below), min(1.0, change + above), before.n)


def _bounds(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None and estimate.high is not None, "rates have intervals"
    return estimate.low, estimate.high


def _phi(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Correlation of two outcomes; 0 where one of them never varies."""
    n = len(first)
    both = sum(a and b for a, b in zip(first, second, strict=True))
    one, other = sum(first), sum(second)
    spread = one * (n - one) * other * (n - other)
    return (both * n - one * other) / sqrt(spread) if spread else 0.0


def sign_test(differences: Sequence[int], problems: Sequence[Hashable]) -> float:
    """How probable a difference at least this large is if neither of two policies is better (two-sided, exact).

    ``differences``: 1 where only the second succeeded, -1 where only the first did, 0 otherwise. The sign of each
    problem's sum is flipped in all ways; where every problem has one pair, that is McNemar's exact test.
    """
    sums: dict[Hashable, int] = defaultdict(int)
    for difference, problem in zip(differences, problems, strict=True):
        sums[problem] += difference
    ways: dict[int, int] = {0: 1}
    total = 1
    for value in sums.values():
        if not value:
            continue
        total *= 2
        flipped: dict[int, int] = defaultdict(int)
        for reached, count in ways.items():
            flipped[reached + value] += count
            flipped[reached - value] += count
        ways = flipped
    seen = abs(sum(sums.values()))
    return sum(count for reached, count in ways.items() if abs(reached) >= seen) / total
