"""From the samples of a window to one value: ``count_over_time`` and its like."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sregym_env.telemetry.logql.syntax import RangeAggregation
from sregym_env.telemetry.logql.units import MILLISECOND, SECOND

Reduce = Callable[[Sequence[int], Sequence[float]], float]
"""From times (nanoseconds) and values of a window, of which there is at least one, to its value."""


def reducer(expr: RangeAggregation) -> Reduce:
    """How the samples of a window become one."""
    seconds = expr.range.interval / SECOND
    match expr.operation:
        case "count_over_time":
            return lambda times, values: float(len(values))
        case "rate" if expr.range.unwrap is None:
            return lambda times, values: _per(len(values), seconds)
        case "rate" | "bytes_rate":
            return lambda times, values: _per(sum(values), seconds)
        case "rate_counter":
            return lambda times, values: _counter_rate(times, values, expr.range.interval)
        case "bytes_over_time" | "sum_over_time":
            return lambda times, values: float(sum(values))
        case "avg_over_time":
            return lambda times, values: mean(values)
        case "max_over_time":
            return lambda times, values: largest(values)
        case "min_over_time":
            return lambda times, values: smallest(values)
        case "stdvar_over_time":
            return lambda times, values: variance(values)
        case "stddev_over_time":
            return lambda times, values: math.sqrt(variance(values))
        case "quantile_over_time":
            wanted = expr.parameter or 0.0
            return lambda times, values: quantile(wanted, values)
        case "first_over_time":
            return lambda times, values: values[0]
        case "last_over_time":
            return lambda times, values: values[-1]
        case _:
            return lambda times, values: 1.0


def _per(amount: float, seconds: float) -> float:
    return amount / seconds if seconds else math.inf if amount else math.nan


def mean(values: Sequence[float]) -> float:
    """The mean, kept as Prometheus keeps it so that no sum overflows."""
    result = 0.0
    for count, value in enumerate(values, 1):
        if math.isinf(result) and (value == result or math.isfinite(value)):
            continue
        result += value / count - result / count
    return result


def largest(values: Sequence[float]) -> float:
    """The largest that is a number."""
    result = values[0]
    for value in values:
        if value > result or result != result:
            result = value
    return result


def smallest(values: Sequence[float]) -> float:
    """The smallest that is a number."""
    result = values[0]
    for value in values:
        if value < result or result != result:
            result = value
    return result


def variance(values: Sequence[float]) -> float:
    """The population's variance (Welford)."""
    average = squares = 0.0
    for count, value in enumerate(values, 1):
        delta = value - average
        average += delta / count
        squares += delta * (value - average)
    return squares / len(values)


def quantile(wanted: float, values: Sequence[float]) -> float:
    """A quantile, between two samples by their distance."""
    if not values:
        return math.nan
    if wanted < 0:
        return -math.inf
    if wanted > 1:
        return math.inf
    ordered = sorted(values, key=lambda value: (value == value, value))
    rank = wanted * (len(ordered) - 1)
    low = max(0, math.floor(rank))
    high = min(len(ordered) - 1, low + 1)
    weight = rank - math.floor(rank)
    return ordered[low] * (1 - weight) + ordered[high] * weight


def _counter_rate(times: Sequence[int], values: Sequence[float], interval: int) -> float:
    """Growth of a counter in a second, resets allowed for and stretched to the whole window, as Prometheus does it.

    Loki takes its window to end at the last sample; that is kept.
    """
    if len(values) < 2:
        return 0.0
    result, last = values[-1] - values[0], 0.0
    for value in values:
        if value < last:
            result += last
        last = value
    stamps = (times[0] // MILLISECOND, times[-1] // MILLISECOND)
    sampled = (stamps[1] - stamps[0]) / 1000
    if not sampled:
        return math.nan if not result else math.copysign(math.inf, result)
    to_start = interval / SECOND
    between = sampled / (len(values) - 1)
    if result > 0 and values[0] >= 0:
        to_start = min(to_start, sampled * (values[0] / result))
    near = between * 1.1
    stretched = sampled + (to_start if to_start < near else between / 2)
    return _per(result * (stretched / sampled), interval / SECOND)
