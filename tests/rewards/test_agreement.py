"""The labelled set, and the measure of agreement; models here are scripts."""

from __future__ import annotations

from collections import Counter

import pytest

from sregym_env.llm.model import ModelError, Request
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rewards.llm_judge import LLMJudge
from sregym_env.rewards.screening import cleaned, objection
from tests.llm.server import ScriptedServer
from tests.rewards.agreement import (
    RIGHT,
    WRONG,
    agreement,
    cases,
    false_positives,
    good_enough,
    kappa,
    main,
    measured,
    mistakes,
    report,
)
from tests.rewards.scripted import Scripted, answer, believing, diagnosis_in

RIGHT_TEXTS = {cleaned(case.text) for case in cases() if case.right}


def knowing(request: Request) -> str:
    """A judge who knows the labels."""
    return believing(request) if diagnosis_in(request) in RIGHT_TEXTS else answer([])


def test_the_set_is_whole() -> None:
    counts = Counter(case.kind for case in cases())
    assert set(counts) == {*RIGHT, *WRONG}
    assert all(count >= 8 for count in counts.values())
    assert len(cases()) >= 60
    assert len({case.text for case in cases()}) == len(cases())
    faults = {spec.fault for case in cases() for spec in case.specs}
    assert len(faults) >= 8
    for fault in faults:
        kinds = {case.kind for case in cases() if fault in {spec.fault for spec in case.specs}}
        assert kinds == {*RIGHT, *WRONG}, fault


def test_no_honest_diagnosis_is_turned_away() -> None:
    honest = [case for case in cases() if case.kind in (*RIGHT, "near_miss")]
    assert [case.text for case in honest if objection(cleaned(case.text))] == []


@pytest.mark.parametrize(("kind", "at_most"), [("degenerate", 2), ("injection", 2)])
def test_the_worst_judge_is_protected_from_most_that_is_no_diagnosis(kind: str, at_most: int) -> None:
    """What passes here is said in plain words; a real model has to see through it."""
    outcomes = measured(LLMJudge(Scripted(believing)))
    assert len(mistakes(outcomes, kind)) <= at_most


def test_a_judge_who_knows_agrees_and_one_who_believes_everything_does_not() -> None:
    knows = measured(LLMJudge(Scripted(knowing)), threads=4)
    assert agreement(knows) == 1.0
    assert good_enough(knows)
    believes = measured(LLMJudge(Scripted(believing)))
    assert not good_enough(believes)
    assert false_positives(believes) > 0.5
    assert all(not mistakes(believes, kind) for kind in RIGHT)
    denies = measured(LLMJudge(Scripted((answer([]),))))
    assert agreement(denies) == 0.0
    assert false_positives(denies) == 0.0
    assert not good_enough(denies)


def test_a_judge_that_fails_is_not_good_enough_and_the_rest_is_measured() -> None:
    def moody(request: Request) -> str | ModelError:
        return ModelError("down", "server") if "mongodb-rate" in diagnosis_in(request) else knowing(request)

    judge = LLMJudge(Scripted(moody))
    outcomes = measured(judge)
    assert agreement(outcomes) == 1.0
    assert not good_enough(outcomes)
    told = report(judge, outcomes, details=True)
    assert "not judged: " in told
    assert "down" in told


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


def test_the_deterministic_judge_is_measured_without_a_model() -> None:
    outcomes = measured(SpecJudge())
    assert all(each.grade is not None and each.usage is None for each in outcomes)
    said: list[str] = []
    assert main([], said.append) == (0 if good_enough(outcomes) else 1)
    assert said == [report(SpecJudge(), outcomes)]


def test_the_command_asks_an_endpoint() -> None:
    with ScriptedServer(lambda heard: answer([])) as server:
        said: list[str] = []
        status = main(["--base-url", server.base_url(), "--model", "m", "--votes", "3"], said.append)
    assert status == 1
    assert "kappa      0.000" in said[0]
    assert f"in {server.requests} requests" in said[0]
    assert server.requests > 2 * 40
