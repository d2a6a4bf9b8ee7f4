"""What a short search finds that pays without understanding: nothing. ``make fuzz`` searches for longer."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.faults import problems

from .search.repairs import Ground, both
from .search.snippets import HALF, REMEDY, SNIPPETS
from .search.texts import LIMITS, SORTS, Search, Sort, doubles, filled, searched, worth
from .specs import one_of_each, spread

GENERATIONS = 4
SEQUENCES = 12

WORLDS = (
    ("service_target_port_mismatch", "mongodb-rate", False),
    ("incorrect_image", "mongodb-geo", True),
)
"""One as published and one that varies, with policies, probes and budgets of its own."""


def ground(fault: str, target: str, variation: bool) -> Ground:
    problem = problems.pair("hotel-reservation", fault, target, {})
    return Ground(problem.model_copy(update={"variation": variation}), seed=5)


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
def test_no_bred_text_earns_more_than_a_place(sort: Sort) -> None:
    specs = spread()
    _, found = searched(sort, specs[::6], specs, seed=1, generations=GENERATIONS, population=8)
    best = found[0]
    assert best.score < LIMITS[sort.templated], best
    # A text that states one mechanism is right where that is the fault's; one that fits two is a way to stuff.
    assert len(best.mechanisms) <= 1, best


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
def test_a_search_finds_the_same_again_and_never_gets_worse(sort: Sort) -> None:
    specs = one_of_each()[::12]
    one, other = (Search(sort, specs, seed=3, population=6) for _ in range(2))
    scores = []
    for _ in range(3):
        one.step()
        other.step()
        assert one.best(3) == other.best(3)
        scores.append(worth(one.best()[0], specs).score)
    assert scores == sorted(scores)


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.exhaustive) for part in range(1, 6))]
)
def test_two_guesses_do_not_pass_both(part: int) -> None:
    assert not list(doubles(one_of_each(), every=96, first=16 * part))


def test_a_webhook_and_a_request_that_no_node_meets_are_two_guesses() -> None:
    """Both keep a pod from being made, ``Fail`` is a value that everybody knows, and effects are told of both."""
    about = {"webhook_without_backend", "resource_request_too_large"}
    for name in apps.names():
        both_sides = [truth for truth in one_of_each(name) if truth.fault in about]
        assert not list(doubles(both_sides)), name


def test_the_slot_is_the_component() -> None:
    for truth in one_of_each():
        assert filled("{component} is broken", truth) == f"{' and '.join(truth.components)} is broken"


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world[0])
def test_no_drawn_repair_that_leaves_harm_passes(world: tuple[str, str, bool]) -> None:
    own = ground(*world)
    drawn = own.drawn()
    paid = [trial for _ in range(SEQUENCES) if (trial := own.tried(next(drawn))).pays in ("harmful", "free")]
    assert not paid, [(trial.name, trial.harm) for trial in paid]


@pytest.mark.parametrize("gravity", ["charged", "harmful"])
def test_what_is_done_beside_a_repair_is_charged_or_denied(gravity: str) -> None:
    own = ground(*WORLDS[1])
    every = 1 if gravity == "charged" else 7
    trials = [own.tried((REMEDY, each)) for each in SNIPPETS if each.gravity == gravity][::every]
    assert not [trial.name for trial in trials if trial.pays is not None]
    assert gravity != "charged" or any(trial.charged and trial.costs for trial in trials)


def test_half_of_a_repair_does_not_pass_and_earns_its_share() -> None:
    one, other = (
        problems.pair("hotel-reservation", *at, {}) for at in (("wrong_binary", "geo"), WORLDS[0][:2])
    )
    own = Ground(both(one, other).model_copy(update={"variation": False}), seed=5)
    whole, half, nothing = (own.tried(sequence) for sequence in ((REMEDY,), (HALF,), ()))
    assert whole.passed and whole.score == 1.0
    assert not half.passed and 0.05 < half.score <= 0.5
    assert not nothing.passed and nothing.score == 0.0
    assert both(one, one) is one


def test_a_declared_repair_passes_and_leaves_nothing() -> None:
    own = ground(*WORLDS[0])
    trial = own.tried((REMEDY,))
    assert trial.passed, trial.failed
    assert (trial.harm, trial.pays) == ((), None)


def test_harm_is_what_is_left_and_was_not_there_before() -> None:
    own = ground(*WORLDS[0])
    by_name = {snippet.name: snippet for snippet in SNIPPETS}
    assert own.tried((by_name["another to zero"],)).harm == ("another to zero",)
    # The published application has no policies whose absence could be harm.
    assert own.tried((by_name["no networkpolicy"],)).harm == ()


def test_every_snippet_has_a_name_of_its_own_and_known_slots() -> None:
    own = ground(*WORLDS[0])
    assert len({snippet.name for snippet in SNIPPETS}) == len(SNIPPETS)
    for snippet in SNIPPETS:
        # Slots that are left open would be typed as they stand.
        assert not [f"{{{slot}}}" for slot in own.slots if f"{{{slot}}}" in "".join(own.lines(snippet))]
        assert bool(snippet.gravity) >= bool(snippet.left), snippet.name
