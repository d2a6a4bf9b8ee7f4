"""The grammar: everything that it can say is said of every target, and labels follow from how texts are made."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env import apps
from sregym_env.faults.registry import declarations
from sregym_env.rewards.labelled.diagnosis import Part
from sregym_env.rewards.labelled.grammar.claims import Told, second
from sregym_env.rewards.labelled.grammar.generate import generated
from sregym_env.rewards.labelled.grammar.lines import Draw, filled, frames, half, wordings
from sregym_env.rewards.labelled.grammar.scene import Scene, joined
from sregym_env.rewards.labelled.grammar.telling import Teller
from sregym_env.rewards.labelled.grammar.voice import (
    Voice,
    abbreviated,
    capital,
    casual,
    foreign,
    has_abbreviations,
    lowered,
    quoted,
)
from sregym_env.rewards.labelled.specs import specs
from sregym_env.runtime.chance import Chance

APP = apps.app("hotel-reservation")
KINDS = {"plain": 6, "para": 4, "pron": 2, "noun": 2, "frag": 2, "symptom": 2, "evidence": 2, "near": 6}


def told(pair: tuple[str, str], seed: int = 0, part: Part = "dev") -> Told:
    chance = Chance(("test", seed))
    teller = Teller(Scene(specs()[pair], APP), Voice.drawn(chance), Draw(chance, part))
    return Told(teller, "terse", APP, specs())


def test_every_fault_has_its_wordings() -> None:
    assert list(wordings()) == [
        declared.name for declared in declarations() if declared.name in {fault for fault, _ in specs()}
    ]
    for fault, kinds in wordings().items():
        assert {kind: len(lines) for kind, lines in kinds.items()} == KINDS, fault


def test_no_wording_and_no_frame_stands_in_both_parts() -> None:
    lists = [*frames().values(), *(lines for kinds in wordings().values() for lines in kinds.values())]
    for lines in lists:
        dev, rest = half(lines, "dev"), half(lines, "held-out")
        assert len({*dev} | {*rest}) == len(dev) + len(rest) or lines == frames()["cause_clause"]
        assert abs(len(dev) - len(rest)) <= 1
        assert rest


@pytest.mark.parametrize("fault", wordings())
def test_every_wording_can_be_said_of_every_target(fault: str) -> None:
    voice = Voice.drawn(Chance(("test",)))
    for pair, spec in specs().items():
        if pair[0] != fault:
            continue
        scene = Scene(spec, APP)
        for kind, lines in wordings()[fault].items():
            for line in lines:
                text = quoted(line, scene) if kind == "evidence" else voice.told(line, scene)
                assert not re.search(r"<(?!none>)", text), text


def test_texts_are_written_cleanly() -> None:
    spoilt = re.compile(
        r"<(?!none>|\|)[a-z]|\b([a-z]{2,}) \1\b|,,| ,|\. \.|(?<!\.)\.\.(?!\.|image|command|requests|reqs)|[^\S\n]$",
        re.M,
    )
    bad = {
        each.id: found[0]
        for each in generated()
        if each.label != "attack" and (found := spoilt.search(each.text))
    }
    assert bad == {}


def test_sentences_begin_with_capitals_or_names() -> None:
    """But in chats, where nobody cares, and in lists of events."""
    names = {component.name for component in APP.components}
    for each in generated():
        if each.register in ("verbose", "consequences", "discarded-guesses") and each.category == "plain":
            first = re.findall(r"(?:^|[a-z)]\. )([a-z]+)(?=[ ,])", each.text)
            assert {*first} <= names, each.text


@pytest.mark.sampled
@pytest.mark.parametrize("pair", specs(), ids="-".join)
def test_what_is_said_instead_is_false(pair: tuple[str, str]) -> None:
    spec = specs()[pair]
    for seed in range(3):
        here = told(pair, seed)
        there = here.elsewhere().spec
        assert there.fault == spec.fault
        assert not {*there.components} & {*spec.components}
        other = here.otherwise().spec
        assert other.components[0] in spec.components
        assert other.mechanism != spec.mechanism
        blamed = here.innocent().spec
        assert not {*blamed.components} & {*spec.components}
        beside = specs()[second(spec, specs(), Chance((seed,)))]
        assert beside.mechanism != spec.mechanism
        assert not {*beside.components} & {*spec.components}


def test_a_fault_moves_with_all_its_names() -> None:
    moved = Scene(specs()["configmap_drift", "geo"], APP).moved("rate")
    assert moved.spec.components == ("rate",)
    assert moved.spec.resource_name == "rate-config"
    assert moved.spec.affected == ("search", "frontend")
    assert not re.search(r"\bgeo\b", moved.spec.cause)


def test_right_ones_name_the_place_and_wrong_places_do_not() -> None:
    for each in generated():
        components = specs()[each.pairs[0]].components
        named = any(re.search(rf"(?<![\w-]){name}(?![\w-])", each.text) for name in components)
        if each.label == "right":
            assert named, each.text


def test_abbreviations_are_short() -> None:
    assert all(has_abbreviations(each.text) for each in generated() if each.category == "abbreviation")


def test_nobody_is_cleared_and_accused_at_once() -> None:
    """Who speaks of two faults has a good word for neither."""
    clears = re.compile(r"(?:problem of|suspected|not|checked|guess was|looked at) [`\"]?([\w-]+)")
    for each in generated():
        if len(each.pairs) == 2 and each.label == "right":
            accused = {name for pair in each.pairs for name in specs()[pair].components}
            assert not accused & {*clears.findall(each.text)}, each.text


def test_partial_ones_are_silent_on_the_second_fault() -> None:
    for each in generated():
        if each.category == "partial":
            first, other = (specs()[pair] for pair in each.pairs)
            assert other.mechanism != first.mechanism
            assert other.resource_name not in each.text or other.resource_name in {
                *first.affected,
                *other.components,
                # Every image and object is of the application, and so bears its name.
                other.namespace,
            }


@pytest.mark.parametrize(
    ("names", "text"), [(("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")]
)
def test_lists(names: tuple[str, ...], text: str) -> None:
    assert joined(names) == text


def test_the_small_habits() -> None:
    assert capital("the pod", ()) == "The pod"
    assert capital("geo is down", ("geo",)) == "geo is down"
    assert capital("`geo` is down", ()) == "`geo` is down"
    assert lowered("The Service geo") == "the Service geo"
    assert lowered("geo") == "geo"
    assert abbreviated("the Service geo in the namespace a-Service") == "the svc geo in the ns a-Service"
    assert casual("It does not work. The end.") == "it doesn't work. the end"
    assert filled("<a> <b>", {"a": "1", "b": "2"}) == "1 2"
    with pytest.raises(KeyError, match="nothing for <b>"):
        filled("<b>", {"b": ""})


@given(st.text(alphabet="the an dogs.\n "), st.integers(0, 50))
def test_who_drops_articles_drops_nothing_else(text: str, seed: int) -> None:
    kept = foreign(text, Chance((seed,)))
    articles = re.compile(r"\b(?:the|an|a) ")
    assert articles.sub("", kept) == articles.sub("", text)
