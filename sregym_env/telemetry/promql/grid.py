"""What evaluation works on: vectors at all steps of a query at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sregym_env.telemetry.labels import Labels
from sregym_env.telemetry.promql.errors import QueryError
from sregym_env.telemetry.series import Values

Flags: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.intp]

SAME_LABELS = "vector cannot contain metrics with the same labelset"


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A vector at every step: a row for each label set, a column for each step.

    A value counts only where it is ``present``. A row without any present value is as good as none.
    """

    labels: Sequence[Labels]
    values: Values
    present: Flags

    @property
    def steps(self) -> int:
        """Columns."""
        return int(self.values.shape[1])

    def taken(self, rows: Rows | Sequence[int]) -> Grid:
        """Some rows, in an order."""
        return Grid([self.labels[row] for row in rows], self.values[rows], self.present[rows])

    def relabelled(self, change: Callable[[Labels], Labels]) -> Grid:
        """Every label set changed. What becomes the same is not joined yet (:func:`joined`)."""
        return Grid([change(labels) for labels in self.labels], self.values, self.present)

    def filled(self) -> Grid:
        """The rows with a present value."""
        some = self.present.any(axis=1)
        return self if some.all() else self.taken(np.flatnonzero(some))


def empty(steps: int) -> Grid:
    """No rows."""
    return Grid((), np.empty((0, steps)), np.empty((0, steps), dtype=np.bool_))


def stacked(labels: Sequence[Labels], values: Sequence[Values], present: Sequence[Flags], steps: int) -> Grid:
    """Rows put together."""
    if not labels:
        return empty(steps)
    return Grid(labels, np.stack(values), np.stack(present))


def joined(grid: Grid) -> Grid:
    """Rows with the same labels made one; each may have values at other steps only. Raises QueryError."""
    if len(set(grid.labels)) == len(grid.labels):
        return grid
    grid = grid.filled()
    rows: dict[Labels, list[int]] = {}
    for row, labels in enumerate(grid.labels):
        rows.setdefault(labels, []).append(row)
    if len(rows) == len(grid.labels):
        return grid
    values, present = [], []
    for same in rows.values():
        if (grid.present[same].sum(axis=0) > 1).any():
            raise QueryError(SAME_LABELS)
        values.append(np.where(grid.present[same], grid.values[same], 0.0).sum(axis=0))
        present.append(np.asarray(grid.present[same].any(axis=0)))
    return stacked(list(rows), values, present, grid.steps)


def unique(grid: Grid) -> Grid:
    """The rows with values, no two of which may have the same labels, whatever their steps. Raises QueryError."""
    grid = grid.filled()
    if len(set(grid.labels)) != len(grid.labels):
        raise QueryError(SAME_LABELS)
    return grid
