"""Go's sort: sorted, a permutation, and ties in the order that a real kubectl printed them in."""

from __future__ import annotations

import operator

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.ordering import go_sorted

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers()), max_size=300)


def _less(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[0]


@given(PAIRS)
def test_sorts_any_list(items: list[tuple[int, int]]) -> None:
    found = go_sorted(items, _less)
    assert [a for a, _ in found] == sorted(a for a, _ in items)
    assert sorted(found) == sorted(items)


@given(st.lists(st.integers(), unique=True, max_size=300))
def test_agrees_with_python_without_ties(items: list[int]) -> None:
    assert go_sorted(items, operator.lt) == sorted(items)


@given(PAIRS.filter(lambda items: len(items) <= 12))
def test_short_lists_keep_their_ties(items: list[tuple[int, int]]) -> None:
    assert go_sorted(items, _less) == sorted(items, key=lambda pair: pair[0])


def test_the_order_of_ties_is_that_of_kubectl() -> None:
    # Twenty pods sorted by two start times: positions in the order a real kubectl 1.32 printed them in.
    items = [(0, i) for i in range(7)] + [(1, i) for i in range(7, 13)] + [(0, i) for i in range(13, 20)]
    found = [i for _, i in go_sorted(items, _less)]
    assert found == [15, 17, 2, 3, 4, 5, 6, 18, 19, 1, 16, 0, 14, 13, 12, 11, 7, 9, 10, 8]


def test_patterns() -> None:
    for size in (13, 49, 50, 51, 200, 1000):
        for items in (
            [(0, i) for i in range(size)],
            [(i, 0) for i in range(size)],
            [(-i, 0) for i in range(size)],
            [(i % 7, i) for i in range(size)],
            [(i // 2, i) for i in range(size, 0, -1)],
            [(min(i, size - i), i) for i in range(size)],
        ):
            found = go_sorted(items, _less)
            assert [a for a, _ in found] == sorted(a for a, _ in items)
            assert sorted(found) == sorted(items)
