"""Tables as kubectl prints them: cells as text, aligned by its tabwriter."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.kube.tables.layout import Cell

PADDING = 3
"""Blanks between columns (``printers.GetNewTabWriter``)."""

MIN_WIDTH = 6
"""Least width of a column, padding included (``printers.GetNewTabWriter``)."""


def cell_text(cell: Cell) -> str:
    """A cell as kubectl prints it: cut at the first line break, booleans in Go's spelling."""
    if isinstance(cell, str):
        if "\n" in cell or "\r" in cell or "\f" in cell:
            end = min(i for i in (cell.find(c) for c in "\n\r\f") if i >= 0)
            return cell[:end] + "..."
        return cell
    if cell is True:
        return "true"
    if cell is False:
        return "false"
    return "" if cell is None else str(cell)


def align(lines: Sequence[Sequence[str]], padding: int = PADDING, min_width: int = MIN_WIDTH) -> str:
    """kubectl's tabwriter over rows of equal length: cells padded to their column, the last one bare."""
    if not lines:
        return ""
    widths = [max(min_width, max(map(len, cells)) + padding) for cells in list(zip(*lines, strict=True))[:-1]]
    pattern = "".join(f"%-{width}s" for width in widths) + "%s\n"
    return "".join([pattern % tuple(line) for line in lines])
