"""Functions over instant vectors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sregym_env.telemetry.gotext import parse_float
from sregym_env.telemetry.labels import NAME, Labels, drop, nameless, replaced, value_of
from sregym_env.telemetry.promql.budget import STEP, Budget
from sregym_env.telemetry.promql.errors import QueryError
from sregym_env.telemetry.promql.gosort import strongest_first
from sregym_env.telemetry.promql.grid import Grid, Rows, joined
from sregym_env.telemetry.series import HEAVY, PatternError, Times, Values, compiled, weight

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")

SIMPLE: Mapping[str, Callable[[Values], Values]] = {
    "abs": np.abs, "ceil": np.ceil, "floor": np.floor, "exp": np.exp, "sqrt": np.sqrt, "ln": np.log, "log2": np.log2,
    "log10": np.log10, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "deg": lambda v: v * 180 / math.pi, "rad": lambda v: v * math.pi / 180,
    "sgn": lambda v: np.where(v < 0, -1.0, np.where(v > 0, 1.0, v)),
}  # fmt: skip
"""Of one value at a time."""


def mapped(grid: Grid, change: Callable[[Values], Values]) -> Grid:
    """Every value changed; the metric's name goes. Raises QueryError."""
    return joined(Grid(grid.labels, change(grid.values), grid.present).relabelled(nameless))


def rounded(grid: Grid, nearest: Values) -> Grid:
    """``round``: to a multiple, halves up."""
    inverse = 1.0 / nearest
    return mapped(grid, lambda values: np.floor(values * inverse + 0.5) / inverse)


def larger(a: Values, b: Values) -> Values:
    """The larger as Go's ``math.Max`` has it: NaN where one is, but for positive infinity."""
    return np.where(np.isposinf(a) | np.isposinf(b), np.inf, np.maximum(a, b))


def smaller(a: Values, b: Values) -> Values:
    """The smaller as Go's ``math.Min`` has it: NaN where one is, but for negative infinity."""
    return np.where(np.isneginf(a) | np.isneginf(b), -np.inf, np.minimum(a, b))


def clamped(grid: Grid, low: Values, high: Values) -> Grid:
    """``clamp``: nothing at all where the bounds are the wrong way round."""
    cut = mapped(grid, lambda values: larger(low, smaller(high, values)))
    return Grid(cut.labels, cut.values, cut.present & ~(high < low))


def scalar_of(grid: Grid) -> Values:
    """``scalar``: the only value of a step; NaN where there is none or more than one."""
    if not grid.labels:
        return np.full(grid.steps, np.nan)
    total = np.where(grid.present, grid.values, 0.0).sum(axis=0)
    return np.where(grid.present.sum(axis=0) == 1, total, np.nan)


def absent(grid: Grid, labels: Labels) -> Grid:
    """``absent``: 1 at the steps without any value."""
    missing = np.logical_not(np.asarray(grid.present.any(axis=0)))
    return Grid([labels], np.ones((1, grid.steps)), missing[None])


def ordered(grid: Grid, descending: bool) -> Grid:
    """``sort``: by the first step's values, NaN last. Only instant queries keep an order."""
    grid = grid.filled()
    if not grid.labels:
        return grid
    return grid.taken(strongest_first(grid.values[:, 0].tolist(), range(len(grid.labels)), descending))


# --- dates ------------------------------------------------------------------------------------------


_ZERO = 9_223_372_028_715_321_600
"""Seconds before 1970 at which Go counts from: the first Monday of a cycle of 400 years, 2001-01-01 as it were."""
_ZERO_YEAR = -292_277_022_399
_CYCLE = 146_097
"""Days in 400 years."""
_LOST = -(1 << 63)
"""What a processor makes of a number that is no int64."""


def _seconds(values: Values) -> NDArray[np.uint64]:
    """Whole seconds since Go's zero, which wrap around as Go's do."""
    fits = np.abs(values) < 2.0**63
    whole = np.where(fits, values, 0.0).astype(np.int64)
    return np.where(fits, whole, _LOST).astype(np.int64).view(np.uint64) + np.uint64(_ZERO)


def _days(values: Values) -> NDArray[np.datetime64]:
    """The day, within a cycle that begins in 2001."""
    days = _seconds(values) // np.uint64(86_400) % np.uint64(_CYCLE)
    return np.datetime64("2001-01-01", "D") + days.astype(np.int64).astype("timedelta64[D]")


def _year(values: Values) -> Values:
    cycles = (_seconds(values) // np.uint64(86_400 * _CYCLE)).astype(np.int64)
    within = _days(values).astype("datetime64[Y]").astype(np.int64) + 1970 - 2001
    return (cycles * 400 + within + _ZERO_YEAR).astype(np.float64)


def _since(values: Values, unit: str, of: str) -> Values:
    days = _days(values)
    return np.asarray((days.astype(unit) - days.astype(of).astype(unit)).astype(np.float64))


def _of_day(values: Values, size: int, within: int) -> Values:
    return (_seconds(values) // np.uint64(size) % np.uint64(within)).astype(np.float64)


def _day_of_week(values: Values) -> Values:
    return (_seconds(values) // np.uint64(86_400) % np.uint64(7) + np.uint64(1)).astype(np.float64) % 7


def _days_in_month(values: Values) -> Values:
    months = _days(values).astype("datetime64[M]")
    following = (months + np.timedelta64(1, "M")).astype("datetime64[D]")
    return np.asarray((following - months.astype("datetime64[D]")).astype(np.float64))


DATES: Mapping[str, Callable[[Values], Values]] = {
    "minute": lambda v: _of_day(v, 60, 60),
    "hour": lambda v: _of_day(v, 3600, 24),
    "day_of_week": _day_of_week,
    "day_of_month": lambda v: _since(v, "datetime64[D]", "datetime64[M]") + 1,
    "day_of_year": lambda v: _since(v, "datetime64[D]", "datetime64[Y]") + 1,
    "days_in_month": _days_in_month,
    "month": lambda v: _since(v, "datetime64[M]", "datetime64[Y]") + 1,
    "year": _year,
}
"""Parts of a date, UTC, of seconds since the epoch."""


def now(steps: Times) -> Grid:
    """What functions of dates work on without an argument."""
    seconds = (steps // 1000).astype(np.float64)[None]
    return Grid([()], seconds, np.ones(seconds.shape, dtype=np.bool_))


# --- labels -----------------------------------------------------------------------------------------


LONGEST_LABEL = 100_000
"""Characters of a label's value. Prometheus has no bound for what a query makes."""


def _check_length(length: int, budget: Budget) -> None:
    if length > LONGEST_LABEL:
        raise QueryError(f"label value too long: a query makes at most {LONGEST_LABEL} characters")
    budget.spend(0.01 * length)


def label_replaced(grid: Grid, texts: Sequence[str], budget: Budget) -> Grid:
    """``label_replace`` with its four texts. Raises QueryError."""
    to, template, source, pattern = texts
    references = template.count("$")
    try:
        expression, matches = compiled(pattern), compiled(pattern, capturing=False).match
    except PatternError:
        raise QueryError(f"invalid regular expression in label_replace(): {pattern}") from None
    heavy = weight(expression)
    if heavy > HEAVY:
        raise QueryError(f"invalid regular expression in label_replace(): {pattern}")
    if not _LABEL.fullmatch(to):
        raise QueryError(f"invalid destination label name in label_replace(): {to}")

    def change(labels: Labels) -> Labels:
        value = value_of(labels, source)
        found = None
        if matches(value) is not None:
            budget.spend(0.001 * heavy * len(value))
            found = expression.match(value)
        _check_length(len(template) + references * len(value), budget)
        return labels if found is None else replaced(labels, to, _expanded(template, found))

    return joined(grid.relabelled(change))


_REFERENCE = re.compile(r"\$(?:\$|([A-Za-z0-9_]+)|\{([A-Za-z0-9_]+)\}|)")


def _expanded(template: str, found: Any) -> str:
    """A template with its groups filled in, as Go's ``Regexp.Expand``; a group that is not there is empty."""

    def group(reference: re.Match[str]) -> str:
        if reference.group(0) in ("$", "$$"):
            return "$"
        name = reference.group(1) or reference.group(2)
        if not name.isdecimal():
            return (found.group(name) or "") if name in found.re.groupindex else ""
        number = int(name) if len(name) < 9 else -1
        return (found.group(number) or "") if 0 <= number <= found.re.groups else ""

    return _REFERENCE.sub(group, template)


def label_joined(grid: Grid, texts: Sequence[str], budget: Budget) -> Grid:
    """``label_join`` with its texts. Raises QueryError."""
    to, separator, *sources = texts
    for source in sources:
        if not _LABEL.fullmatch(source):
            raise QueryError(f"invalid source label name in label_join(): {source}")
    if not _LABEL.fullmatch(to):
        raise QueryError(f"invalid destination label name in label_join(): {to}")

    def change(labels: Labels) -> Labels:
        values = [value_of(labels, source) for source in sources]
        _check_length(sum(map(len, values)) + len(separator) * len(values), budget)
        return replaced(labels, to, separator.join(values))

    return joined(grid.relabelled(change))


# --- histograms -------------------------------------------------------------------------------------


def histogram_quantile(q: Values, grid: Grid, budget: Budget) -> Grid:
    """``histogram_quantile`` of classic histograms. Raises QueryError."""
    groups: dict[Labels, list[tuple[float, int]]] = {}
    for row, labels in enumerate(grid.labels):
        bound = parse_float(value_of(labels, "le"))
        if bound is not None:
            groups.setdefault(drop(labels, (NAME, "le")), []).append((bound, row))
    values = np.full((len(groups), grid.steps), np.nan)
    present = np.zeros(values.shape, dtype=np.bool_)
    alike: dict[tuple[float, ...], list[tuple[int, Rows, Values]]] = {}
    for at, buckets in enumerate(groups.values()):
        buckets.sort(key=lambda each: (not math.isnan(each[0]), each[0]))
        rows = [row for _, row in buckets]
        bounds = tuple(bound for bound, _ in buckets)
        there, counts = grid.present[rows], grid.values[rows]
        present[at] = there.any(axis=0)
        # Steps with every bucket are worked on together with those of other histograms, all others one by one.
        whole = np.asarray(there.all(axis=0) & np.isfinite(counts).all(axis=0))
        if len(bounds) < 2 or not all(before < after for before, after in pairwise(bounds)):
            whole[:] = False
        if whole.any():
            alike.setdefault(bounds, []).append((at, np.flatnonzero(whole), counts[:, whole]))
        rest = np.flatnonzero(present[at] & ~whole)
        if len(rest):
            budget.spend(STEP * len(rest) * (5 + len(rows)))
            values[at, rest] = _one_by_one(q[rest], np.array(bounds), counts[:, rest], there[:, rest])
    for bounds, histograms in alike.items():
        steps = np.concatenate([each for _, each, _ in histograms])
        found = _quantiles(
            q[steps], np.array(bounds), np.concatenate([each for *_, each in histograms], axis=1)
        )
        places = np.repeat([each for each, *_ in histograms], [len(each) for _, each, _ in histograms])
        values[places, steps] = found
    return Grid(list(groups), values, present)


def _quantiles(q: Values, bounds: Values, counts: Values) -> Values:
    """At many steps: bounds (buckets,), counts (buckets, steps), all there and finite."""
    counts = np.maximum.accumulate(counts, axis=0)
    observations = counts[-1]
    rank = q * observations
    bucket = (counts[:-1] < rank).sum(axis=0)
    columns = np.arange(len(q))
    before = np.maximum(bucket - 1, 0)
    start = np.where(bucket > 0, bounds[before], 0.0)
    below = np.where(bucket > 0, counts[before, columns], 0.0)
    end, count = bounds[bucket], counts[bucket, columns] - below
    result = start + (end - start) * ((rank - below) / count)
    result = np.where((bucket == 0) & (bounds[0] <= 0), bounds[0], result)
    result = np.where(bucket == len(bounds) - 1, bounds[-2], result)
    result = np.where((observations == 0) | (bounds[-1] != math.inf), np.nan, result)
    result = np.where(q < 0, -np.inf, np.where(q > 1, np.inf, result))
    return np.where(np.isnan(q), np.nan, result)


def _one_by_one(q: Values, bounds: Values, counts: Values, there: np.ndarray) -> Values:
    out = np.full(q.shape, np.nan)
    for step in range(len(q)):
        rows = np.flatnonzero(there[:, step])
        merged: dict[float, float] = {}
        for row in rows.tolist():
            bound = float(bounds[row])
            merged[bound] = merged.get(bound, 0.0) + float(counts[row, step])
        if math.isnan(q[step]) or (0 <= q[step] <= 1 and len(merged) < 2):
            continue
        if not 0 <= q[step] <= 1:
            out[step] = math.inf if q[step] > 1 else -math.inf
            continue
        out[step] = _quantile(float(q[step]), list(merged), list(merged.values()))
    return out


def _quantile(q: float, bounds: list[float], counts: list[float]) -> float:
    """At one step, as Prometheus searches: counts may be NaN."""
    if not (math.isinf(bounds[-1]) and bounds[-1] > 0):
        return math.nan
    largest = counts[0]
    for at, count in enumerate(counts):
        if count > largest:
            largest = count
        elif count < largest:
            counts[at] = largest
    if counts[-1] == 0:
        return math.nan
    rank = q * counts[-1]
    low, high = 0, len(counts) - 1
    while low < high:
        middle = (low + high) // 2
        if counts[middle] >= rank:
            high = middle
        else:
            low = middle + 1
    if low == len(counts) - 1:
        return bounds[-2]
    if low == 0 and bounds[0] <= 0:
        return bounds[0]
    start, count = 0.0, counts[low]
    if low:
        start, count, rank = bounds[low - 1], count - counts[low - 1], rank - counts[low - 1]
    return start + (bounds[low] - start) * float(np.float64(rank) / count)
