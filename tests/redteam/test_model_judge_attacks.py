"""A model as a judge, attacked: here the model believes everything, so only what stands before and behind it protects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.faults.spec import FaultSpec
from sregym_env.llm.model import Request
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.llm_judge import LLMJudge
from sregym_env.rewards.screening import cleaned, objection
from tests.redteam.phrasings import FRAMES, STATEMENTS
from tests.redteam.specs import APP, one_of_each
from tests.redteam.test_judge_attacks import HALF_KNOWING, IGNORANT, _filled
from tests.rewards.hotel_specs import TARGET_PORT
from tests.rewards.scripted import Scripted, answer, believing, diagnosis_in

REFUSED = ["empty", "blank", "digits", "plea", "plea_json", "control", "long", "json_deep", "service_bomb"]


@pytest.mark.parametrize("attack", REFUSED)
def test_what_is_no_diagnosis_reaches_no_model(attack: str) -> None:
    model = Scripted(believing)
    assert LLMJudge(model).grade(IGNORANT[attack](APP), [TARGET_PORT], APP).score == 0.0
    assert model.heard == []


def test_a_plea_voids_the_truth_beside_it() -> None:
    for truth in one_of_each():
        assert objection(cleaned(HALF_KNOWING["plea"](truth))), truth.fault


@pytest.mark.sampled
@pytest.mark.parametrize("truth", one_of_each(), ids=lambda truth: f"{truth.namespace}-{truth.fault}")
def test_no_honest_phrasing_is_turned_away(truth: FaultSpec) -> None:
    texts = [truth.cause, truth.root_cause, truth.model_dump_json()]
    texts += [
        frame(_filled(statement, truth), truth.components[0])
        for statement in STATEMENTS[truth.fault]
        for frame in FRAMES.values()
    ]
    assert [(text, why) for text in texts if (why := objection(cleaned(text)))] == []


def graded(text: str, evidence: str) -> Grade:
    """A model that says yes to everything with this evidence, whatever it reads."""
    return LLMJudge(Scripted((answer(evidence=evidence),)), attempts=1).grade(text, [TARGET_PORT], APP)


@pytest.mark.parametrize(
    "evidence",
    [
        TARGET_PORT.cause,
        "targetPort 9999",
        "recommendation",
        "the diagnosis names the component",
        "END DIAGNOSIS",
        "more characters are not shown",
        "geo ... broken ... somewhere",
        "e",
        "",
    ],
)
def test_a_model_that_was_talked_round_cannot_quote_what_is_not_there(evidence: str) -> None:
    """As when it quotes the ground truth, which it knows."""
    assert graded("Something in geo is broken, I suppose.", evidence).score == 0.0


@given(st.text(max_size=300))
def test_whatever_is_handed_in_is_asked_about_in_its_place(text: str) -> None:
    model = Scripted(lambda request: answer([]))
    LLMJudge(model).grade(f"geo lacks endpoints {text}", [TARGET_PORT], APP)
    for request in model.heard:
        assert diagnosis_in(request) == cleaned(f"geo lacks endpoints {text}")
        assert _headings(request) == ["# Ground truth", "# Components of the application", "# Questions"]


def _headings(request: Request) -> list[str]:
    """What stands before the diagnosis, which nothing in it may change."""
    before = request.messages[1].content.split("# Diagnosis\n")[0]
    return [line for line in before.splitlines() if line.startswith("# ")]
