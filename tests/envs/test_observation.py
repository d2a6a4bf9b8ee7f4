"""Observations are bounded, printable, and say what was left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.envs.observation import fit
from sregym_env.envs.spaces import Text


def test_a_short_text_is_left_alone() -> None:
    assert fit("NAME READY\ngeo 1/1\n", 1000) == ("NAME READY\ngeo 1/1\n", False)


def test_a_long_text_keeps_both_ends_and_says_so() -> None:
    text = "\n".join(f"line {n}" for n in range(5000))
    cut, was_cut = fit(text, 2000)
    assert was_cut
    assert len(cut) <= 2000
    assert cut.startswith("line 0\n")
    assert cut.endswith("line 4999")
    assert f"left out of {len(text)}" in cut
    assert "grep" in cut


def test_one_endless_line_is_cut_too() -> None:
    cut, was_cut = fit("x" * 100_000, 1000)
    assert was_cut
    assert len(cut) <= 1000


def test_colours_and_control_characters_go() -> None:
    assert fit("\x1b[31mred\x1b[0m\r\n\x00é│\t.", 1000) == ("red\né│\t.", False)


@given(st.text(), st.integers(1000, 4000))
def test_the_budget_holds_for_any_text(text: str, budget: int) -> None:
    cut, _ = fit(text * 50, budget)
    assert len(cut) <= budget
    assert Text(budget).contains(cut)


def test_the_space_is_text_of_a_length() -> None:
    space = Text(10, min_length=1)
    assert space.contains("●│é")
    assert not space.contains("")
    assert not space.contains("x" * 11)
    assert not space.contains(3)
    space.seed(1)
    first = [space.sample() for _ in range(5)]
    space.seed(1)
    assert first == [space.sample() for _ in range(5)]
    assert all(space.contains(sample) for sample in first)
    assert space == Text(10, min_length=1) != Text(11, min_length=1)
