"""Functions over ranges of samples.

Series of one target share their instants, and so their windows: each function works on ``(series, steps, samples)`` at
once. The semantics are those of Prometheus 2.42: windows are closed on both sides, and sums are compensated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sregym_env.telemetry.promql.budget import WALKED, Budget
from sregym_env.telemetry.promql.errors import QueryError
from sregym_env.telemetry.promql.grid import Flags, Rows
from sregym_env.telemetry.series import Times, Values

_CHUNK = 1_000_000
"""Cells that are worked on at once, so that memory stays small."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Series with the same instants, without stale markers."""

    rows: Sequence[int]
    """Which rows of the result they are."""
    times: Times
    values: Values
    """(series, samples)"""


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """What a function sees: for each series and step, the samples of its range, first ones first.

    Where a range holds no sample at all (``counts`` is 0), what a function makes of it is thrown away.
    """

    times: Times
    """(series or 1, steps, samples), milliseconds"""
    values: Values
    """(series, steps, samples)"""
    inside: Flags
    """(series or 1, steps, samples): what lies after a step's last sample is none of its"""
    counts: Rows
    """(series or 1, steps)"""
    ends: Times
    """(steps,): the ranges' right edges"""
    steps: Times
    """(steps,): the instants that are evaluated"""
    range: int
    """milliseconds"""
    arguments: Sequence[Values]
    """the scalar arguments at each step"""
    whole: bool
    """Whether all have as many samples as any."""

    def at(self, index: Rows) -> Values:
        """(series, steps): the sample with an index, (series or 1, steps)."""
        return np.asarray(np.take_along_axis(self.values, index[:, :, None], axis=2)[:, :, 0])

    def time_at(self, index: Rows) -> Times:
        """(series or 1, steps): its instant."""
        return np.asarray(np.take_along_axis(self.times, index[:, :, None], axis=2)[:, :, 0])

    @property
    def first(self) -> Values:
        """(series, steps)"""
        return np.asarray(self.values[:, :, 0])

    @property
    def last(self) -> Values:
        """(series, steps)"""
        return np.asarray(self.values[:, :, -1]) if self.whole else self.at(self.counts - 1)

    @property
    def last_time(self) -> Times:
        """(series or 1, steps)"""
        return np.asarray(self.times[:, :, -1]) if self.whole else self.time_at(self.counts - 1)

    def pairs(self, change: Callable[[Values, Values], Values]) -> Values:
        """(series, steps): a sum over neighbours of what two samples contribute."""
        found = change(self.values[:, :, :-1], self.values[:, :, 1:])
        return np.asarray((found if self.whole else np.where(self.inside[:, :, 1:], found, 0.0)).sum(axis=2))

    def masked(self) -> Values:
        """The values, and NaN where there is none."""
        return self.values if self.whole else np.where(self.inside, self.values, np.nan)

    def walk(self) -> Iterator[tuple[int, Values, Flags]]:
        """The samples one after another: (number, values, which series and steps have one)."""
        for number in range(self.values.shape[2]):
            yield number, self.values[:, :, number], self.inside[:, :, number]


Result: TypeAlias = tuple[Values, Flags]
RangeFunction: TypeAlias = Callable[[Window], Result]


@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
    """Samples and where each step's begin and end among them."""

    samples: Samples
    low: Rows
    high: Rows
    widest: int


def windows(
    groups: Sequence[Samples],
    ends: Times,
    steps: Times,
    length: int,
    arguments: Sequence[Values],
    budget: Budget,
) -> Iterator[tuple[Rows, slice, Window]]:
    """The windows of all series and steps: which rows and steps, and what is in them.

    As many at a time as memory should hold, whatever their instants, because few large arrays are faster than many
    small ones.
    """
    cuts = []
    for samples in groups:
        low = np.searchsorted(samples.times, ends - length, "left")
        high = np.searchsorted(samples.times, ends, "right")
        widest = int((high - low).max())
        if widest:
            cuts.append(_Cut(samples, low, high, widest))
    for batch in _batches(cuts, len(ends)):
        width = max(cut.widest for cut in batch)
        rows = np.array([row for cut in batch for row in cut.samples.rows], dtype=np.intp)
        size = max(1, _CHUNK // (width * len(rows)))
        for begin in range(0, len(ends), size):
            part = slice(begin, begin + size)
            budget.spend(5.0 * (len(batch) + width) + WALKED * width * len(rows) * len(ends[part]))
            times, values, counts = _gathered(batch, part, width)
            inside = np.arange(width) < counts[:, :, None]
            given = [each[part] for each in arguments]
            whole = bool(inside.all())
            yield (
                rows,
                part,
                Window(times, values, inside, counts, ends[part], steps[part], length, given, whole),
            )


def _batches(cuts: Sequence[_Cut], steps: int) -> Iterator[list[_Cut]]:
    batch: list[_Cut] = []
    rows = width = 0
    for cut in cuts:
        rows, width = rows + len(cut.samples.rows), max(width, cut.widest)
        if batch and rows * width * steps > _CHUNK:
            yield batch
            batch, rows, width = [], len(cut.samples.rows), cut.widest
        batch.append(cut)
    if batch:
        yield batch


def _gathered(batch: Sequence[_Cut], part: slice, width: int) -> tuple[Times, Values, Rows]:
    """Instants, values and counts of a batch at some steps."""
    times, values, counts = [], [], []
    for cut in batch:
        low, high = cut.low[part], cut.high[part]
        size = len(cut.samples.rows)
        if len(low) == 1 and high[0] - low[0] == width:
            one = slice(int(low[0]), int(high[0]))
            here, found = cut.samples.times[None, one], cut.samples.values[:, None, one]
        else:
            index = np.minimum(low[:, None] + np.arange(width), len(cut.samples.times) - 1)
            here, found = cut.samples.times[index], cut.samples.values[:, index]
        if len(batch) == 1:
            return here[None], found, (high - low)[None]
        times.append(np.broadcast_to(here, (size, *here.shape)))
        values.append(found)
        counts.append(np.broadcast_to(high - low, (size, len(low))))
    return np.concatenate(times), np.concatenate(values), np.concatenate(counts)


def _everywhere(window: Window, values: Values, least: int = 1) -> Result:
    return values, window.counts >= least


# --- counters and slopes ------------------------------------------------------------------------------


def _extrapolated(is_counter: bool, is_rate: bool) -> RangeFunction:
    def run(window: Window) -> Result:
        first, last = window.first, window.last
        result = last - first
        if is_counter:
            result = result + window.pairs(lambda before, after: np.where(after < before, before, 0.0))
        started, ended = window.times[:, :, 0], window.last_time
        to_start = (started - (window.ends - window.range)) / 1000.0
        to_end = (window.ends - ended) / 1000.0
        sampled = (ended - started) / 1000.0
        between = sampled / (window.counts - 1)
        if is_counter:
            to_zero = sampled * (first / result)
            falls = (result > 0) & (first >= 0) & (to_zero < to_start)
            to_start = np.where(falls, to_zero, to_start)
        threshold = between * 1.1
        to_interval = sampled + np.where(to_start < threshold, to_start, between / 2)
        to_interval = to_interval + np.where(to_end < threshold, to_end, between / 2)
        factor = to_interval / sampled
        if is_rate:
            factor = factor / (window.range / 1000.0)
        return _everywhere(window, result * factor, 2)

    return run


def _instant(is_rate: bool) -> RangeFunction:
    def run(window: Window) -> Result:
        end = window.counts - 1
        before = np.maximum(end - 1, 0)
        last, previous = window.last, window.at(before)
        result = last - previous
        seconds = (window.time_at(end) - window.time_at(before)) / 1000.0
        if is_rate:
            result = np.where(last < previous, last, result) / seconds
        return _everywhere(window, result, 2)

    return run


def _compensated(total: Values, rest: Values, more: Values) -> tuple[Values, Values]:
    """Add to a sum whose lost digits are kept (Kahan and Neumaier)."""
    result = total + more
    lost = np.where(np.abs(total) >= np.abs(more), (total - result) + more, (more - result) + total)
    return result, rest + lost


def _regression(window: Window, around: Times) -> tuple[Values, Values]:
    """Slope and intercept of the least squares' line, time counted from an instant of each step."""
    shape = window.values.shape[:2]
    seconds = (window.times - around[:, :, None]) / 1000.0
    sums = {name: (np.zeros(shape), np.zeros(shape)) for name in ("x", "y", "xy", "xx")}
    constant = np.ones(shape, dtype=np.bool_)
    first = window.first
    for number, values, inside in window.walk():
        x = np.broadcast_to(seconds[:, :, number], shape)
        constant &= ~inside | (values == first)
        for name, more in (("x", x), ("y", values), ("xy", x * values), ("xx", x * x)):
            total, rest = _compensated(*sums[name], more)
            sums[name] = (np.where(inside, total, sums[name][0]), np.where(inside, rest, sums[name][1]))
    x, y, xy, xx = (total + rest for total, rest in sums.values())
    n = window.counts.astype(np.float64)
    slope = (xy - x * y / n) / (xx - x * x / n)
    intercept = y / n - slope * x / n
    flat = np.where(np.isinf(first), np.nan, 0.0)
    slope = np.where(constant, flat, slope)
    return slope, np.where(constant, np.where(np.isinf(first), np.nan, first), intercept)


def _deriv(window: Window) -> Result:
    return _everywhere(window, _regression(window, window.times[:, :, 0])[0], 2)


def _predict_linear(window: Window) -> Result:
    slope, intercept = _regression(window, window.steps[None])
    return _everywhere(window, intercept + slope * window.arguments[0], 2)


def _holt_winters(window: Window) -> Result:
    smoothing, trend = window.arguments
    for name, factor in (("smoothing", smoothing), ("trend", trend)):
        wrong = factor[(factor <= 0) | (factor >= 1)]
        if len(wrong):
            short = name[0] + "f"
            raise QueryError(f"invalid {name} factor. Expected: 0 < {short} < 1, got: {wrong[0]:f}")
    before = np.zeros(window.values.shape[:2])
    level = window.first
    slope = window.at(np.minimum(window.counts - 1, 1)) - level
    for number, values, inside in window.walk():
        if not number:
            continue
        if number > 1:
            slope = np.where(inside, trend * (level - before) + (1 - trend) * slope, slope)
        following = smoothing * values + (1 - smoothing) * (level + slope)
        before, level = np.where(inside, level, before), np.where(inside, following, level)
    return _everywhere(window, level, 2)


def _changes(window: Window) -> Result:
    def changed(before: Values, after: Values) -> Values:
        return np.asarray((before != after) & ~(np.isnan(before) & np.isnan(after)), dtype=np.float64)

    return _everywhere(window, window.pairs(changed))


def _resets(window: Window) -> Result:
    return _everywhere(window, window.pairs(lambda before, after: (after < before).astype(np.float64)))


# --- aggregations over time ---------------------------------------------------------------------------


def _sum(window: Window) -> Result:
    total = rest = np.zeros(window.values.shape[:2])
    for _, values, inside in window.walk():
        total, rest = _compensated(total, rest, np.where(inside, values, 0.0))
    return _everywhere(window, np.where(np.isinf(total), total, total + rest))


def _avg(window: Window) -> Result:
    mean = rest = np.zeros(window.values.shape[:2])
    for number, values, inside in window.walk():
        same = np.isinf(values) & ((mean > 0) == (values > 0))
        stays = np.isinf(mean) & (same | np.isfinite(values))
        count = number + 1
        following, lost = _compensated(mean, rest, values / count - mean / count)
        chosen = inside & ~stays
        mean, rest = np.where(chosen, following, mean), np.where(chosen, lost, rest)
    return _everywhere(window, np.where(np.isinf(mean), mean, mean + rest))


def _variance(window: Window) -> Values:
    mean = lost_mean = aux = lost_aux = np.zeros(window.values.shape[:2])
    for number, values, inside in window.walk():
        delta = values - (mean + lost_mean)
        a, b = _compensated(mean, lost_mean, delta / (number + 1))
        c, d = _compensated(aux, lost_aux, delta * (values - (a + b)))
        mean, lost_mean = np.where(inside, a, mean), np.where(inside, b, lost_mean)
        aux, lost_aux = np.where(inside, c, aux), np.where(inside, d, lost_aux)
    return np.asarray((aux + lost_aux) / window.counts)


def quantile_of(q: Values, values: Values, counts: Rows) -> Values:
    """The quantiles along the last axis of the ``counts`` values that are there; all others are NaN.

    ``q``, ``counts`` and the result have the shape of ``values`` without its last axis. A NaN that is there is smaller
    than any number.
    """
    ordered = values.copy()
    ordered.sort(axis=-1)  # NaN last: those that are values, then those that are none
    numbers = (~np.isnan(values)).sum(axis=-1)
    smaller = counts - numbers
    rank = q * (counts - 1)
    low = np.clip(np.nan_to_num(np.floor(rank)), 0, np.maximum(counts - 1, 0)).astype(np.intp)
    high = np.minimum(low + 1, np.maximum(counts - 1, 0))
    weight = rank - np.floor(rank)

    def at(index: Rows) -> Values:
        place = np.clip(index - smaller, 0, values.shape[-1] - 1)
        found = np.take_along_axis(ordered, place[..., None], axis=-1)[..., 0]
        return np.where(index < smaller, np.nan, found)

    result = at(low) * (1 - weight) + at(high) * weight
    result = np.where(q < 0, -np.inf, np.where(q > 1, np.inf, result))
    return np.where(np.isnan(q) | (counts == 0), np.nan, result)


def _quantile(window: Window) -> Result:
    values = window.masked()
    q = np.broadcast_to(window.arguments[0], values.shape[:2])
    return _everywhere(window, quantile_of(q, values, np.broadcast_to(window.counts, values.shape[:2])))


def _ones(window: Window) -> Values:
    return np.ones(window.values.shape[:2])


FUNCTIONS: Mapping[str, RangeFunction] = {
    "rate": _extrapolated(is_counter=True, is_rate=True),
    "increase": _extrapolated(is_counter=True, is_rate=False),
    "delta": _extrapolated(is_counter=False, is_rate=False),
    "irate": _instant(is_rate=True),
    "idelta": _instant(is_rate=False),
    "deriv": _deriv,
    "predict_linear": _predict_linear,
    "holt_winters": _holt_winters,
    "changes": _changes,
    "resets": _resets,
    "sum_over_time": _sum,
    "avg_over_time": _avg,
    "min_over_time": lambda window: _everywhere(window, np.fmin.reduce(window.masked(), axis=2)),
    "max_over_time": lambda window: _everywhere(window, np.fmax.reduce(window.masked(), axis=2)),
    "count_over_time": lambda window: _everywhere(window, _ones(window) * window.counts),
    "stdvar_over_time": lambda window: _everywhere(window, _variance(window)),
    "stddev_over_time": lambda window: _everywhere(window, np.sqrt(_variance(window))),
    "quantile_over_time": _quantile,
    "last_over_time": lambda window: _everywhere(window, window.last),
    "present_over_time": lambda window: _everywhere(window, _ones(window)),
    "absent_over_time": lambda window: _everywhere(window, _ones(window)),
}
"""By name. ``absent_over_time`` tells where something is present, which the engine turns round."""
