"""Operators between two values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from sregym_env.telemetry.labels import NAME, Labels, drop, keep, nameless, replaced, text_of, value_of
from sregym_env.telemetry.promql.budget import CELL, STEP, Budget
from sregym_env.telemetry.promql.errors import QueryError
from sregym_env.telemetry.promql.grid import Flags, Grid, empty, joined, stacked
from sregym_env.telemetry.promql.syntax import COMPARISONS, Binary, Matching
from sregym_env.telemetry.series import Values

ARITHMETIC: Mapping[str, Callable[[Values, Values], Values]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.fmod,
    "^": np.power,
    "atan2": np.arctan2,
}
_COMPARED: Mapping[str, Callable[[Values, Values], Flags]] = {
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
}
_NAMING = (*COMPARISONS, "atan2")
"""Operators that keep the metric's name; that ``atan2`` does is an oversight of 2.42."""
_Rows: TypeAlias = dict[Labels, list[int]]


def scalars(operator: str, left: Values, right: Values) -> Values:
    """Two scalars."""
    if operator in COMPARISONS:
        return _COMPARED[operator](left, right).astype(np.float64)
    return ARITHMETIC[operator](left, right)


def vector_and_scalar(node: Binary, grid: Grid, scalar: Values, vector_is_left: bool) -> Grid:
    """A vector and a scalar, in either order; comparisons keep the vector's values. Raises QueryError."""
    left, right = (grid.values, scalar) if vector_is_left else (scalar, grid.values)
    if node.operator not in COMPARISONS:
        result = Grid(grid.labels, ARITHMETIC[node.operator](left, right), grid.present)
        return joined(result if node.operator in _NAMING else result.relabelled(nameless))
    holds = _COMPARED[node.operator](left, right)
    if node.returns_bool:
        return joined(Grid(grid.labels, holds.astype(np.float64), grid.present).relabelled(nameless))
    return Grid(grid.labels, grid.values, grid.present & holds).filled()


def vectors(node: Binary, left: Grid, right: Grid, budget: Budget) -> Grid:
    """Two vectors. Raises QueryError where they cannot be joined."""
    left, right = left.filled(), right.filled()
    budget.spend(CELL * (left.values.size + right.values.size) + len(left.labels) + len(right.labels))
    if node.operator in ("and", "or", "unless"):
        return _sets(node, left, right)
    if not left.labels or not right.labels:
        return empty(left.steps)
    many, one = (right, left) if node.matching.card == "one-to-many" else (left, right)
    many_rows, one_rows = _by_signature(node.matching, many), _by_signature(node.matching, one)
    aligned = _aligned(node, many, one, many_rows, one_rows)
    if aligned is None:
        budget.spend(0.5 * STEP * left.steps * (len(left.labels) + len(right.labels)))
        aligned = _step_by_step(node, many, one)
    return joined(aligned)


def _signature(matching: Matching, labels: Labels) -> Labels:
    if matching.on:
        return keep(labels, matching.labels)
    return drop(labels, (*matching.labels, NAME))


def _by_signature(matching: Matching, grid: Grid) -> _Rows:
    rows: _Rows = {}
    for row, labels in enumerate(grid.labels):
        rows.setdefault(_signature(matching, labels), []).append(row)
    return rows


def _sets(node: Binary, left: Grid, right: Grid) -> Grid:
    first, second = (_by_signature(node.matching, side) for side in (left, right))
    if node.operator == "or":
        absent = right.present.copy()
        for signature, rows in second.items():
            if signature in first:
                absent[rows] &= ~left.present[first[signature]].any(axis=0)
        rest = Grid(right.labels, right.values, absent).filled()
        labels = [*left.labels, *rest.labels]
        if not labels:
            return left
        both = Grid(
            labels, np.concatenate([left.values, rest.values]), np.concatenate([left.present, rest.present])
        )
        return joined(both)
    present = left.present.copy()
    for signature, rows in first.items():
        if signature in second:
            there = right.present[second[signature]].any(axis=0)
            present[rows] &= there if node.operator == "and" else ~there
        elif node.operator == "and":
            present[rows] = False
    return Grid(left.labels, left.values, present).filled()


def _result(node: Binary, many: Labels, one: Labels) -> Labels:
    """The labels of two samples' result."""
    matching = node.matching
    labels = many if node.operator in _NAMING else nameless(many)
    if matching.card == "one-to-one":
        labels = keep(labels, matching.labels) if matching.on else drop(labels, matching.labels)
    for name in matching.include:
        labels = replaced(labels, name, value_of(one, name))
    return nameless(labels) if node.returns_bool else labels


def _computed(node: Binary, many: Values, one: Values) -> tuple[Values, Flags]:
    """Results and whether they count."""
    left, right = (one, many) if node.matching.card == "one-to-many" else (many, one)
    if node.operator not in COMPARISONS:
        result = ARITHMETIC[node.operator](left, right)
        return result, np.ones(result.shape, dtype=np.bool_)
    holds = _COMPARED[node.operator](left, right)
    if node.returns_bool:
        return holds.astype(np.float64), np.ones(holds.shape, dtype=np.bool_)
    return np.broadcast_to(left, holds.shape), holds


def _aligned(node: Binary, many: Grid, one: Grid, many_rows: _Rows, one_rows: _Rows) -> Grid | None:
    """All steps at once, where no group has two candidates; None where it may."""
    if any(len(rows) > 1 for rows in one_rows.values()):
        return None
    if node.matching.card == "one-to-one" and any(len(rows) > 1 for rows in many_rows.values()):
        return None
    pairs = sorted(
        (row, one_rows[signature][0])
        for signature, rows in many_rows.items()
        if signature in one_rows
        for row in rows
    )
    if not pairs:
        return empty(many.steps)
    left, right = [row for row, _ in pairs], [row for _, row in pairs]
    labels = [_result(node, many.labels[row], one.labels[other]) for row, other in pairs]
    if len(set(labels)) != len(labels):
        return None
    values, holds = _computed(node, many.values[left], one.values[right])
    return Grid(labels, values, many.present[left] & one.present[right] & holds).filled()


def _step_by_step(node: Binary, many: Grid, one: Grid) -> Grid:
    """Each step by itself, in Prometheus's order, so that the first thing that cannot be joined is told."""
    matching = node.matching
    many_keys = [_signature(matching, labels) for labels in many.labels]
    one_keys = [_signature(matching, labels) for labels in one.labels]
    out: dict[Labels, tuple[Values, Flags]] = {}
    for step in range(many.steps):
        many_here = np.flatnonzero(many.present[:, step]).tolist()
        one_here = np.flatnonzero(one.present[:, step]).tolist()
        if not many_here or not one_here:
            continue
        partners: dict[Labels, int] = {}
        for row in one_here:
            if (other := partners.get(one_keys[row])) is not None:
                side = "left" if matching.card == "one-to-many" else "right"
                group = text_of(one_keys[row])
                both = f"[{text_of(one.labels[row])}, {text_of(one.labels[other])}]"
                raise QueryError(
                    f"found duplicate series for the match group {group} on the {side} hand-side of the operation: {both}"
                    ";many-to-many matching not allowed: matching labels must be unique on one side"
                )
            partners[one_keys[row]] = row
        met: dict[Labels, set[Labels]] = {}
        for row in many_here:
            key = many_keys[row]
            if key not in partners:
                continue
            partner = partners[key]
            value, holds = _computed(
                node, many.values[row, step : step + 1], one.values[partner, step : step + 1]
            )
            if not holds[0]:
                continue
            labels = _result(node, many.labels[row], one.labels[partner])
            if matching.card == "one-to-one":
                if key in met:
                    raise QueryError(
                        "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
                    )
                met[key] = set()
            elif labels in met.setdefault(key, set()):
                raise QueryError("multiple matches for labels: grouping labels must ensure unique matches")
            else:
                met[key].add(labels)
            values, present = out.setdefault(
                labels, (np.zeros(many.steps), np.zeros(many.steps, dtype=np.bool_))
            )
            if present[step]:
                raise QueryError("vector cannot contain metrics with the same labelset")
            values[step], present[step] = value[0], True
    return stacked(
        list(out), [value for value, _ in out.values()], [there for _, there in out.values()], many.steps
    )
