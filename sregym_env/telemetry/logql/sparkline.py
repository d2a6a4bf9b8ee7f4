"""A series as one line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
GAP = " "


def sparkline(values: Sequence[float | None], width: int = 40) -> str:
    """Bars for values from the smallest to the largest; gaps for None and what is no number.

    Longer series are folded: each bar shows the largest of its share, so that no spike is lost.
    """
    if width < 1 or not values:
        return ""
    count = min(width, len(values))
    folded: list[float | None] = []
    for index in range(count):
        share = values[index * len(values) // count : (index + 1) * len(values) // count]
        numbers = [value for value in share if value is not None and math.isfinite(value)]
        folded.append(max(numbers) if numbers else None)
    known = [value for value in folded if value is not None]
    if not known:
        return GAP * count
    low, high = min(known), max(known)
    # Halves, so that the range of two very large numbers is still a number.
    spread = high / 2 - low / 2
    top = len(BARS) - 1
    return "".join(
        GAP if value is None else BARS[round((value / 2 - low / 2) / spread * top)] if spread else BARS[0]
        for value in folded
    )
