"""Cues as data: named words, words within words, and every form of the shipped files in use."""

from __future__ import annotations

import re

import pytest

from sregym_env.rewards.reading.cues import Cues, cues_of


def test_words_stand_for_their_alternatives_also_within_words() -> None:
    cues = Cues(
        words={"be": ("is", "was"), "well": ("fine", "{be} well")},
        cues={"cleared": (r"\b{be} {well}\b", r"^ok$")},
    )
    assert cues.compiled()["cleared"].pattern == r"\b(?:is|was) (?:fine|(?:is|was) well)\b|^ok$"


def test_of_two_forms_at_one_place_the_first_counts() -> None:
    cue = Cues(words={}, cues={"turn": ("but not", "but")}).compiled()["turn"]
    assert [match.group() for match in cue.finditer("but not here, but there")] == ["but not", "but"]


def test_a_count_is_no_name() -> None:
    assert Cues(words={}, cues={"three": ("a{3}",)}).compiled()["three"].fullmatch("aaa")


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError, match="nobody"):
        Cues(words={}, cues={"broken": ("{nobody} knows",)}).compiled()


@pytest.mark.parametrize("name", ["blame", "clauses", "output", "polarity"])
def test_shipped_cues_compile_and_none_matches_nothing_at_all(name: str) -> None:
    found = cues_of(name)
    assert found
    assert not [cue for cue, form in found.items() if re.fullmatch(form.pattern, "")]
