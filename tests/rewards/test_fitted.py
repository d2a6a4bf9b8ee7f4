"""The fitted part of the deterministic judge: what it may do, what it may not, and that climbing it does not pay."""

from __future__ import annotations

import numpy as np
import pytest

from sregym_env import apps
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards import free_text
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.fitted.weights import FINDINGS, SCORES, weights
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rewards.labelled.collection import development
from sregym_env.rewards.labelled.diagnosis import Diagnosis
from sregym_env.rewards.labelled.specs import APP_NAME, specs

JUDGE = SpecJudge()
APP = apps.app(APP_NAME)


def spread() -> list[FaultSpec]:
    """A target of every fault, another one from fault to fault."""
    by_fault: dict[str, list[FaultSpec]] = {}
    for spec in specs().values():
        by_fault.setdefault(spec.fault, []).append(spec)
    return [known[number % len(known)] for number, known in enumerate(by_fault.values())]


SPREAD = spread()


def graded(text: str, spec: FaultSpec) -> Grade:
    return JUDGE.grade(text, [spec], APP)


def mean(texts: dict[int, str]) -> float:
    return float(np.mean([graded(text, SPREAD[number]).score for number, text in texts.items()]))


def right_ones() -> list[Diagnosis]:
    return [each for each in development() if each.right and len(each.pairs) == 1 and each.app == APP_NAME]


def test_the_weights_are_of_known_mechanisms_and_fit_each_other() -> None:
    known = weights()
    assert set(known.mechanisms) <= set(MECHANISMS)
    assert {spec.mechanism for spec in specs().values()} <= set(known.mechanisms)
    assert len(known.blend) == len(FINDINGS) + len(SCORES) + 1
    assert known.own_starts[-1] == len(known.own) == len(known.own_of)
    for keys in (known.shared_keys, known.own_keys, known.topic_keys):
        assert (np.diff(keys.astype(np.int64)) > 0).all()


def test_an_account_in_words_that_nobody_listed_is_affirmed_with_its_evidence() -> None:
    changed = [
        (each, grade, opinion)
        for each in right_ones()[::9]
        if (grade := graded(each.text, specs()[each.pairs[0]])).passed
        and not (opinion := free_text.opinion(each.text, specs()[each.pairs[0]], APP)).grade.passed
    ]
    assert changed
    for each, grade, opinion in changed:
        assert opinion.affirms
        answers = {answer.id: answer for answer in grade.answers}
        assert all(
            answers[question].yes for question in ("D1-Q1", "D1-Q2", "D1-Q3", "D2-Q1", "D2-Q3", "D3-Q2")
        ), each.id
        assert answers["D2-Q1"].evidence


def test_nothing_that_was_understood_is_denied() -> None:
    for each in right_ones()[::9]:
        spec = specs()[each.pairs[0]]
        opinion = free_text.opinion(each.text, spec, APP)
        if opinion.grade.passed and not free_text.formless(opinion.case):
            assert graded(each.text, spec).passed, each.id


@pytest.mark.parametrize(
    ("rest", "right"),
    [
        ("mongodb-geo crashes, and so does mongodb-reservation, whose volume lies beside it.", True),
        ("Only mongodb-geo is on it; mongodb-reservation runs on another machine.", False),
        ("mongodb-geo crashes by it. mongodb-reservation is not affected.", False),
        ("It is mongodb-geo alone that crashes, mongodb-reservation is unrelated and healthy.", False),
    ],
)
def test_who_spares_one_of_those_at_fault_has_not_found_it(rest: str, right: bool) -> None:
    spec = next(
        each
        for (fault, _), each in specs().items()
        if fault == "latent_sector_error" and set(each.components) == {"mongodb-geo", "mongodb-reservation"}
    )
    text = f"The data disk of node {spec.resource_name} has bad sectors, reads end with input/output errors. {rest}"
    assert graded(text, spec).passed == right


@pytest.mark.parametrize(
    "text",
    [
        "Two faults. consul's Service forwards to 9999, where nothing listens. rate is broken too and has to be repaired as well.",
        "consul, rate, search, profile, user, frontend: targetPort, selector, image, memory, probe, policy, taint, quota",
        "NAME   TYPE        PORT(S)    AGE\nconsul ClusterIP   8500/TCP   5m\ntargetPort: 9999",
    ],
)
def test_what_is_rejected_for_its_form_or_for_whom_it_blames_stays_so(text: str) -> None:
    spec = specs()["service_target_port_mismatch", "consul"]
    assert not graded(text, spec).passed


def test_the_same_text_has_the_same_odds_whatever_was_read_before() -> None:
    each = right_ones()[7]
    spec = specs()[each.pairs[0]]
    first = free_text.opinion(each.text, spec, APP).odds
    for other in right_ones()[:40]:
        free_text.opinion(other.text, spec, APP)
    assert free_text.opinion(each.text, spec, APP).odds == first


# --- who knows the weights ---------------------------------------------------------------------------------------------


def best_sentences(count: int) -> list[str]:
    """Sentences of right accounts that are most like right ones at large, whatever they are about: of each the place is left open."""
    found: dict[str, float] = {}
    for each in right_ones()[::3]:
        spec = specs()[each.pairs[0]]
        if len(spec.components) != 1:
            continue
        opinion = free_text.opinion(each.text, spec, APP)
        name = spec.components[0]
        text = each.text.replace(name, "{place}")
        if "{place}" in text and len(text) < 240:
            found[text] = weights().told(opinion.told)[0]
    return sorted(found, key=lambda text: (-found[text], text))[:count]


def placed(text: str, spec: FaultSpec) -> str:
    return text.replace("{place}", " and ".join(spec.components))


def test_a_text_that_fits_one_fault_earns_next_to_nothing_of_others_at_its_place() -> None:
    """The texts that the fitted part likes best, handed in for every fault with its place filled in."""
    for text in best_sentences(6):
        passed = [spec.fault for spec in SPREAD if graded(placed(text, spec), spec).passed]
        assert len({specs_of.mechanism for specs_of in SPREAD if specs_of.fault in passed}) <= 2, (
            text,
            passed,
        )


def test_a_text_climbed_by_the_weights_earns_under_a_tenth() -> None:
    """From one sentence on, whichever sentence raises the odds over all faults most is added."""
    pool = best_sentences(14)
    sample = list(range(0, len(SPREAD), 6))

    def worth(text: str, place: bool) -> tuple[float, float]:
        texts = {n: placed(text, SPREAD[n]) if place else text.replace("{place}", "geo") for n in sample}
        odds = float(np.mean([free_text.opinion(each, SPREAD[n], APP).odds for n, each in texts.items()]))
        return mean(texts), odds

    for place in (False, True):
        text = ""
        for _ in range(3):
            text = max(
                (f"{text} {more}".strip() for more in pool if more not in text),
                key=lambda each: worth(each, place)[::-1],
            )
        best = worth(text, place)[0]
        # With the place given a third is the place's own; beyond that nothing may be earned in the mean.
        assert best < (0.33 + 0.1 if place else 0.1), (best, text)


def test_right_accounts_of_one_fault_handed_in_for_another_of_the_same_component_earn_no_pass() -> None:
    by_place: dict[tuple[str, ...], list[FaultSpec]] = {}
    for spec in specs().values():
        by_place.setdefault(spec.components, []).append(spec)
    tried = passed = 0
    for number, each in enumerate(right_ones()[::12]):
        spec = specs()[each.pairs[0]]
        others = [other for other in by_place[spec.components] if other.mechanism != spec.mechanism]
        for other in others[number % 5 :: 5][:6]:
            tried += 1
            passed += graded(each.text, other).passed
    assert tried > 200
    assert passed / tried < 0.02, (passed, tried)
