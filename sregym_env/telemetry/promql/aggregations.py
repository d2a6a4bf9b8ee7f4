"""Aggregations over label sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sregym_env.telemetry.gotext import plain, shown
from sregym_env.telemetry.labels import NAME, Labels, drop, keep, replaced
from sregym_env.telemetry.promql.budget import CELL, STEP, Budget
from sregym_env.telemetry.promql.errors import QueryError
from sregym_env.telemetry.promql.gosort import strongest
from sregym_env.telemetry.promql.grid import Grid, Rows, empty, joined, stacked
from sregym_env.telemetry.promql.ranges import quantile_of
from sregym_env.telemetry.promql.syntax import Aggregation
from sregym_env.telemetry.series import Values


def aggregated(node: Aggregation, grid: Grid, parameter: Values | str | None, budget: Budget) -> Grid:
    """A vector aggregated at every step. Raises QueryError."""
    operator = node.operator
    budget.spend(CELL * grid.values.size + 0.5 * len(grid.labels))
    if operator == "count_values":
        assert isinstance(parameter, str)
        return _count_values(node, grid, parameter, budget)
    numbers = parameter if isinstance(parameter, np.ndarray) else np.empty(0)
    if operator in ("topk", "bottomk"):
        for k in numbers.tolist():
            if not -(2.0**63) <= k < 2.0**63:
                raise QueryError(f"Scalar value {shown(k)} overflows int64")
        return _strongest(grid, _groups(node, grid), numbers.astype(np.int64), operator == "topk", budget)
    groups = _groups(node, grid)
    if not groups:
        return empty(grid.steps)
    order = np.concatenate([np.array(rows, dtype=np.intp) for rows in groups.values()])
    starts = np.cumsum([0, *(len(rows) for rows in groups.values())])[:-1]
    values, present = grid.values[order], grid.present[order]
    counts = np.add.reduceat(present, starts, axis=0, dtype=np.int64)
    if operator == "sum":
        result = _sums(values, present, starts)
    elif operator == "avg":
        result = _sums(values, present, starts) / counts
        if not np.isfinite(result).all():
            result = _running_means(values, present, list(starts), counts)
    elif operator == "count":
        result = counts.astype(np.float64)
    elif operator == "group":
        result = np.ones(counts.shape)
    elif operator in ("min", "max"):
        reduce = np.fmin if operator == "min" else np.fmax
        result = reduce.reduceat(np.where(present, values, np.nan), starts, axis=0)
    elif operator == "quantile":
        result = _quantiles(numbers, values, present, [*starts.tolist(), len(order)], counts)
    else:
        result = _variances(values, present, [*starts.tolist(), len(order)])
        result = np.sqrt(result) if operator == "stddev" else result
    return Grid(list(groups), result, counts > 0)


def _groups(node: Aggregation, grid: Grid) -> dict[Labels, list[int]]:
    """The rows of each result, in the order in which Prometheus meets them."""
    groups: dict[Labels, list[int]] = {}
    if not node.without and not node.grouping:
        return {(): list(range(len(grid.labels)))} if grid.labels else {}
    names = (*node.grouping, NAME) if node.without else node.grouping
    cut = drop if node.without else keep
    for row, labels in enumerate(grid.labels):
        groups.setdefault(cut(labels, names), []).append(row)
    return groups


def _sums(values: Values, present: np.ndarray, starts: Rows) -> Values:
    return np.asarray(np.add.reduceat(np.where(present, values, 0.0), starts, axis=0))


def _running_means(values: Values, present: np.ndarray, starts: Sequence[int], counts: np.ndarray) -> Values:
    """Averages that bear infinities and sums that are too large, as Prometheus builds them up."""
    out = np.zeros(counts.shape)
    for group, (start, end) in enumerate(zip(starts, [*starts[1:], len(values)], strict=True)):
        mean, count = np.zeros(values.shape[1]), np.zeros(values.shape[1])
        for row in range(start, end):
            value, there = values[row], present[row]
            count = count + there
            same = np.isinf(value) & ((mean > 0) == (value > 0))
            stays = np.isinf(mean) & (same | np.isfinite(value))
            mean = np.where(there & ~stays, mean + (value / count - mean / count), mean)
        out[group] = mean
    return out


def _variances(values: Values, present: np.ndarray, edges: Sequence[int]) -> Values:
    out = np.zeros((len(edges) - 1, values.shape[1]))
    for group in range(len(edges) - 1):
        mean, total, count = np.zeros(values.shape[1]), np.zeros(values.shape[1]), np.zeros(values.shape[1])
        for row in range(edges[group], edges[group + 1]):
            there = present[row]
            count = count + there
            delta = values[row] - mean
            first = count == 1
            following = np.where(first, values[row], mean + delta / count)
            more = np.where(first, 0.0, delta * (values[row] - following))
            total = np.where(there, total + more, total)
            mean = np.where(there, following, mean)
        out[group] = total / count
    return out


def _quantiles(
    q: Values, values: Values, present: np.ndarray, edges: Sequence[int], counts: np.ndarray
) -> Values:
    out = np.empty(counts.shape)
    for group in range(len(edges) - 1):
        part = slice(edges[group], edges[group + 1])
        there = np.where(present[part], values[part], np.nan).T
        out[group] = quantile_of(q, there, counts[group])
    return out


def _strongest(
    grid: Grid, groups: dict[Labels, list[int]], ks: np.ndarray, top: bool, budget: Budget
) -> Grid:
    """``topk`` and ``bottomk``: the rows themselves, in the order of the first step."""
    chosen = np.zeros(grid.present.shape, dtype=np.bool_)
    order: list[int] = []
    seen = np.zeros(len(grid.labels), dtype=np.bool_)
    budget.spend(STEP * 0.2 * int(grid.present.sum()))
    for rows in groups.values():
        for step in range(grid.steps):
            k = min(int(ks[step]), len(grid.labels))
            if k < 1:
                continue
            there = grid.present[rows, step]
            here = [row for row, flag in zip(rows, there.tolist(), strict=True) if flag]
            values = grid.values[here, step].tolist()
            best = strongest(values, k, top)
            for at in best:
                row = here[at]
                chosen[row, step] = True
                if not seen[row]:
                    seen[row] = True
                    order.append(row)
    return Grid([grid.labels[row] for row in order], grid.values[order], chosen[order])


def _count_values(node: Aggregation, grid: Grid, label: str, budget: Budget) -> Grid:
    if not _is_label(label):
        raise QueryError(f'invalid label name "{label}"')
    budget.spend(STEP * int(grid.present.sum()))
    found: dict[Labels, Values] = {}
    for row, labels in enumerate(grid.labels):
        base = drop(labels, (*node.grouping, NAME)) if node.without else keep(labels, node.grouping)
        for step in np.flatnonzero(grid.present[row]).tolist():
            key = replaced(base, label, plain(float(grid.values[row, step])))
            if node.without and label in node.grouping:
                key = drop(key, (label,))
            found.setdefault(key, np.zeros(grid.steps))[step] += 1
    counts = list(found.values())
    return joined(stacked(list(found), counts, [each > 0 for each in counts], grid.steps))


def _is_label(name: str) -> bool:
    return name.isascii() and name.isidentifier()
