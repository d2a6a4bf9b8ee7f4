"""Orders of values that Prometheus leaves to Go's sorting and heaps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

SHORT = 12
"""Up to so many elements Go sorts by insertion; of more, equal ones come in no order that is worth keeping."""


def strongest_first(values: Sequence[float], places: Iterable[int], largest: bool) -> list[int]:
    """Places in the order of their values, NaN last: the largest first, or the smallest."""
    order = list(places)
    if len(order) > SHORT:
        sign = -1.0 if largest else 1.0
        return sorted(order, key=lambda at: (math.isnan(values[at]), sign * values[at]))
    for end in range(1, len(order)):
        at = end
        while at and _weaker(values[order[at - 1]], values[order[at]], largest):
            order[at - 1], order[at] = order[at], order[at - 1]
            at -= 1
    return order


def strongest(values: Sequence[float], k: int, largest: bool) -> list[int]:
    """The places of the k strongest values, strongest first; NaN is weaker than any number.

    Which of equal ones are kept follows from the shape of the heap, so it is the heap of Go's ``container/heap``.
    """
    heap: list[int] = []
    for at, value in enumerate(values):
        if len(heap) == k:
            weakest = values[heap[0]]
            stronger = weakest < value if largest else weakest > value
            if not stronger and not (math.isnan(weakest) and not math.isnan(value)):
                continue
            last = heap.pop()
            if heap:
                heap[0] = last
                _sift(heap, values, largest)
        heap.append(at)
        _rise(heap, values, largest)
    return strongest_first(values, heap, largest)


def _rise(heap: list[int], values: Sequence[float], largest: bool) -> None:
    child = len(heap) - 1
    while child:
        parent = (child - 1) // 2
        if not _weaker(values[heap[child]], values[heap[parent]], largest):
            return
        heap[parent], heap[child] = heap[child], heap[parent]
        child = parent


def _weaker(a: float, b: float, largest: bool) -> bool:
    return math.isnan(a) or (a < b if largest else a > b)


def _sift(heap: list[int], values: Sequence[float], largest: bool) -> None:
    parent = 0
    while (child := 2 * parent + 1) < len(heap):
        if child + 1 < len(heap) and _weaker(values[heap[child + 1]], values[heap[child]], largest):
            child += 1
        if not _weaker(values[heap[child]], values[heap[parent]], largest):
            return
        heap[parent], heap[child] = heap[child], heap[parent]
        parent = child
