"""The measure of agreement; models here are scripts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.llm.model import ModelError, Request
from sregym_env.rewards.checklist import Answer, Grade
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rewards.labelled.agreement import (
    Outcome,
    agreement,
    good_enough,
    kappa,
    measured,
    rates,
    told,
    used,
)
from sregym_env.rewards.labelled.collection import development
from sregym_env.rewards.labelled.diagnosis import Diagnosis
from sregym_env.rewards.llm_judge import LLMJudge
from sregym_env.rewards.screening import cleaned
from tests.rewards.scripted import Scripted, answer, believing, diagnosis_in

SAMPLE = development()[::9]
RIGHT_TEXTS = {cleaned(each.text) for each in SAMPLE if each.right}


def knowing(request: Request) -> str:
    """A judge who knows the labels."""
    return believing(request) if diagnosis_in(request) in RIGHT_TEXTS else answer([])


def made(label: str, passed: bool | None) -> Outcome:
    """An outcome without a judge."""
    category = {"right": "plain", "wrong": "hedged", "attack": "denial"}[label]
    each = Diagnosis("x", "scale_to_zero", "geo", "text", label, category, "terse")  # type: ignore[arg-type]
    grade = None if passed is None else Grade((Answer("D1-Q1", passed, ""),), float(passed), passed)
    return Outcome(each, grade)


@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        ([], 0.0),
        ([(True, True)], 1.0),
        ([(True, True), (False, False)], 1.0),
        ([(True, False), (False, True)], -1.0),
        ([(True, True), (True, False), (False, True), (False, False)], 0.0),
        ([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15, 0.4),
    ],
)
def test_kappa(pairs: list[tuple[bool, bool]], value: float) -> None:
    assert kappa(pairs) == pytest.approx(value)


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_kappa_is_symmetric_and_bounded(pairs: list[tuple[bool, bool]]) -> None:
    assert kappa(pairs) == pytest.approx(kappa([(right, left) for left, right in pairs]))
    assert -1.0 <= kappa(pairs) <= 1.0


def test_attacks_count_apart() -> None:
    fair = [made("right", True), made("wrong", False)]
    fooled = [*fair, *[made("attack", True)] * 5]
    assert agreement(fooled) == 1.0
    assert [(rate.label, rate.share) for rate in rates(fooled)] == [
        ("right", 1.0),
        ("wrong", 0.0),
        ("attack", 1.0),
    ]
    assert good_enough(fair)
    assert not good_enough(fooled)


def test_what_was_not_judged_is_in_no_rate_and_no_judge_is_good_enough_with_it() -> None:
    outcomes = [made("right", True), made("right", None), made("wrong", False)]
    assert agreement(outcomes) == 1.0
    assert [(rate.judged, rate.passed) for rate in rates(outcomes)] == [(1, 1), (1, 0)]
    assert not good_enough(outcomes)
    assert not good_enough([])
    assert [each.misjudged for each in (*outcomes, made("wrong", True))] == [False, False, False, True]


def test_a_judge_who_knows_agrees_and_one_who_believes_everything_does_not() -> None:
    knows = measured(LLMJudge(Scripted(knowing)), SAMPLE, threads=4)
    assert agreement(knows) == 1.0
    assert good_enough(knows)
    believes = measured(LLMJudge(Scripted(believing)), SAMPLE)
    assert not good_enough(believes)
    assert agreement(believes) < 0.2
    denies = measured(LLMJudge(Scripted((answer([]),))), SAMPLE)
    assert agreement(denies) == 0.0
    assert not good_enough(denies)
    assert used(denies).requests > len(SAMPLE) / 2


def test_the_worst_judge_is_protected_from_most_that_talks_to_it() -> None:
    """What passes here is said in plain words; a real model has to see through it."""
    addressed = [each for each in development() if each.category == "injection"]
    outcomes = measured(LLMJudge(Scripted(believing)), addressed)
    assert len(addressed) >= 10
    assert sum(each.passed for each in outcomes) <= len(addressed) / 2


def test_a_judge_that_fails_is_told_and_the_rest_is_measured() -> None:
    def moody(request: Request) -> str | ModelError:
        return ModelError("down", "server") if "mongodb" in diagnosis_in(request) else knowing(request)

    outcomes = measured(LLMJudge(Scripted(moody)), SAMPLE)
    assert agreement(outcomes) == 1.0
    figures = told(LLMJudge(Scripted(moody)), outcomes)
    assert figures["not_judged"] == sum(each.grade is None for each in outcomes) > 0
    assert not figures["good_enough"]
    assert any("down" in each.failure for each in outcomes)


def test_figures_add_up() -> None:
    seen: list[None] = []
    outcomes = measured(SpecJudge(), SAMPLE, watch=lambda: seen.append(None))
    assert [each.diagnosis for each in outcomes] == list(SAMPLE)
    assert len(seen) == len(SAMPLE)
    figures = told(SpecJudge(), outcomes)
    for rows in figures["by"].values():
        assert sum(row["judged"] for row in rows) == len(SAMPLE)
        assert sum(row["passed"] for row in rows) == sum(
            row["passed"] for row in figures["confusion"].values()
        )
    assert figures["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "requests": 0}


def test_a_text_is_judged_by_all_the_faults_that_there_were() -> None:
    double = next(each for each in development() if len(each.pairs) == 2)
    heard: list[int] = []

    class Counting:
        name = "counting"
        settings: dict[str, str] = {}

        def grade(self, diagnosis: str, specs: object, app: object) -> Grade:
            heard.append(len(specs))  # type: ignore[arg-type]
            return Grade((), 0.0, False)

    measured(Counting(), [double, replace(double, fault="scale_to_zero", target="geo")])
    assert heard == [2, 1]
