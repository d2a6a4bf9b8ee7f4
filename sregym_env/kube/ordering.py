"""Sorting as Go's ``sort.Sort`` does, equal elements included.

kubectl sorts events and ``--sort-by`` lists with a sort that is not stable: a pattern-defeating quicksort
(Orson Peters) with insertion sort below thirteen elements. Elements that compare equal come out in an order
that is peculiar to it, yet always the same, so whoever wants kubectl's output needs kubectl's order. Source of
the constants: package ``sort`` of Go 1.23.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from itertools import pairwise
from typing import Generic, TypeVar

T = TypeVar("T")
Less = Callable[[T, T], bool]

_INSERTION = 12
"""Longest range that is sorted by insertion."""

_NINTHER = 50
"""Shortest range whose pivot is the median of three medians."""

_SHIFTS = 5
_SHORTEST_SHIFTING = 50
_MOST_EXCHANGES = 12
"""Exchanges of a pivot choice that finds everything in descending order."""


def go_sorted(items: Iterable[T], less: Less[T]) -> list[T]:
    """The items in the order in which Go's ``sort.Sort`` leaves them."""
    values = list(items)

    def compare(a: T, b: T) -> int:
        return -1 if less(a, b) else 1 if less(b, a) else 0

    # A "less" that holds between an element and itself is no order: then only the very steps count.
    if not any(less(value, value) for value in values):
        ordered = sorted(values, key=cmp_to_key(compare))
        # Insertion sort keeps ties in order, as Python's does, and without ties every sort agrees.
        if len(values) <= _INSERTION or all(less(a, b) for a, b in pairwise(ordered)):
            return ordered
    _Sorting(values, less).quick(0, len(values), len(values).bit_length())
    return values


class _Sorting(Generic[T]):
    """One sort in progress; ranges are half-open."""

    __slots__ = ("_less", "_values")

    def __init__(self, values: list[T], less: Less[T]) -> None:
        self._values = values
        self._less = less

    def _before(self, i: int, j: int) -> bool:
        return self._less(self._values[i], self._values[j])

    def _swap(self, i: int, j: int) -> None:
        values = self._values
        values[i], values[j] = values[j], values[i]

    def quick(self, low: int, high: int, bad_pivots_left: int) -> None:
        """Sort a range."""
        balanced = partitioned = True
        while high - low > _INSERTION:
            if bad_pivots_left == 0:
                self._heap(low, high)
                return
            if not balanced:
                self._scatter(low, high)
                bad_pivots_left -= 1
            pivot, exchanges = self._pivot(low, high)
            ascending = exchanges == 0
            if exchanges == _MOST_EXCHANGES:
                self._values[low:high] = self._values[low:high][::-1]
                pivot = (high - 1) - (pivot - low)
                ascending = True
            if balanced and partitioned and ascending and self._nearly_sorted(low, high):
                return
            if low > 0 and not self._before(low - 1, pivot):
                low = self._split_off_equal(low, high, pivot)
                continue
            middle, partitioned = self._partition(low, high, pivot)
            left, right = middle - low, high - middle
            balanced = min(left, right) >= (high - low) // 8
            if left < right:
                self.quick(low, middle, bad_pivots_left)
                low = middle + 1
            else:
                self.quick(middle + 1, high, bad_pivots_left)
                high = middle
        self._insertion(low, high)

    def _insertion(self, low: int, high: int) -> None:
        for i in range(low + 1, high):
            j = i
            while j > low and self._before(j, j - 1):
                self._swap(j, j - 1)
                j -= 1

    def _heap(self, low: int, high: int) -> None:
        size = high - low
        for root in range((size - 1) // 2, -1, -1):
            self._sift(root, size, low)
        for last in range(size - 1, -1, -1):
            self._swap(low, low + last)
            self._sift(0, last, low)

    def _sift(self, root: int, size: int, first: int) -> None:
        while (child := 2 * root + 1) < size:
            if child + 1 < size and self._before(first + child, first + child + 1):
                child += 1
            if not self._before(first + root, first + child):
                return
            self._swap(first + root, first + child)
            root = child

    def _scatter(self, low: int, high: int) -> None:
        """Exchange three elements for others drawn from a fixed sequence, to break a pattern."""
        length = high - low
        if length < 8:
            return
        state, mask = length, (1 << length.bit_length()) - 1
        start = low + length // 4 * 2
        for offset in range(3):
            state ^= state << 13 & 0xFFFFFFFFFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFFFFFFFFFF
            other = state & mask
            self._swap(start - 1 + offset, low + (other - length if other >= length else other))

    def _pivot(self, low: int, high: int) -> tuple[int, int]:
        """Where the pivot is, and how many exchanges finding it took."""
        length = high - low
        places = [low + length // 4 * quarter for quarter in (1, 2, 3)]
        exchanges = 0
        if length >= _NINTHER:
            for n, place in enumerate(places):
                places[n], more = self._median(place - 1, place, place + 1)
                exchanges += more
        pivot, more = self._median(*places)
        return pivot, exchanges + more

    def _median(self, a: int, b: int, c: int) -> tuple[int, int]:
        exchanges = 0
        if self._before(b, a):
            a, b, exchanges = b, a, exchanges + 1
        if self._before(c, b):
            b, c, exchanges = c, b, exchanges + 1
        if self._before(b, a):
            a, b, exchanges = b, a, exchanges + 1
        return b, exchanges

    def _nearly_sorted(self, low: int, high: int) -> bool:
        """Repair a few elements that are out of place; whether the range is sorted then."""
        i = low + 1
        for _ in range(_SHIFTS):
            while i < high and not self._before(i, i - 1):
                i += 1
            if i == high:
                return True
            if high - low < _SHORTEST_SHIFTING:
                return False
            self._swap(i, i - 1)
            if i - low >= 2:
                self._shift_down(i - 1)
            if high - i >= 2:
                self._shift_up(i + 1, high)
        return False

    def _shift_down(self, j: int) -> None:
        while j >= 1 and self._before(j, j - 1):
            self._swap(j, j - 1)
            j -= 1

    def _shift_up(self, j: int, high: int) -> None:
        while j < high and self._before(j, j - 1):
            self._swap(j, j - 1)
            j += 1

    def _partition(self, low: int, high: int, pivot: int) -> tuple[int, bool]:
        """Smaller ones before the pivot, the others behind; where it is now, and whether all was so already."""
        self._swap(low, pivot)
        i, j = self._gap(low + 1, high - 1, low)
        already = i > j
        while i <= j:
            self._swap(i, j)
            i, j = self._gap(i + 1, j - 1, low)
        self._swap(j, low)
        return j, already

    def _gap(self, i: int, j: int, pivot: int) -> tuple[int, int]:
        while i <= j and self._before(i, pivot):
            i += 1
        while i <= j and not self._before(j, pivot):
            j -= 1
        return i, j

    def _split_off_equal(self, low: int, high: int, pivot: int) -> int:
        """Equal ones first, greater ones behind; where those begin."""
        self._swap(low, pivot)
        i, j = low + 1, high - 1
        while True:
            while i <= j and not self._before(low, i):
                i += 1
            while i <= j and self._before(low, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i += 1
            j -= 1
