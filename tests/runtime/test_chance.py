"""Named draws follow from key and name alone and have the distributions that they say."""

from __future__ import annotations

from statistics import fmean, median

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.runtime.chance import Chance

NAMES = st.text(max_size=20)


@given(NAMES, NAMES)
def test_a_draw_depends_on_its_name_alone(name: str, other: str) -> None:
    chance = Chance(("world", 7))
    first = chance.bits(name)
    chance.bits(other)
    assert chance.bits(name) == first
    assert (chance.bits(other) == first) == (name == other)


@given(st.lists(st.integers(), max_size=12), st.integers(0, 14))
def test_samples_are_parts_of_what_they_are_drawn_from(items: list[int], count: int) -> None:
    found = Chance(("sample",)).sample("it", items, count)
    assert len(found) == min(count, len(items))
    assert sorted(Chance(("shuffle",)).shuffled("it", items)) == sorted(items)


def test_distributions_have_their_means() -> None:
    many = [Chance(("many", index)) for index in range(4000)]
    assert abs(fmean(chance.poisson("n", 2.2) for chance in many) - 2.2) < 0.1
    assert abs(median(chance.lognormal("n", 25.0, 1.2) for chance in many) - 25.0) < 1.5
    assert abs(fmean(chance.yes("n", 0.3) for chance in many) - 0.3) < 0.03
    assert abs(fmean(chance.weighted("n", {"a": 1, "b": 3}) == "b" for chance in many) - 0.75) < 0.03
    assert {chance.between("n", 2, 4) for chance in many} == {2, 3, 4}


def test_parts_are_independent() -> None:
    chance = Chance(("world",))
    assert chance.at("a").bits("x") != chance.at("b").bits("x") != chance.bits("x")
