"""Rewards: presets, stages and terms."""

from __future__ import annotations

import pytest

from sregym_env.errors import UsageError
from sregym_env.rewards.checklist import Answer, Grade, checklist, grade
from sregym_env.rewards.reward import RewardRule, rule, score
from sregym_env.rewards.verdict import Check, Verdict, conclude


def graded(yes: int) -> Grade:
    """A grade with the first ``yes`` questions answered yes."""
    return grade(Answer(q.id, n < yes, "seen") for n, q in enumerate(checklist().questions))


def judged(**checks: bool) -> Verdict:
    """A verdict with these checks."""
    return conclude(Check(name, passed) for name, passed in checks.items())


CURED = judged(journeys=True, endpoints=True, inventory=True)
SICK = judged(journeys=False, endpoints=False, inventory=True)
HALF = judged(journeys=False, endpoints=True, inventory=True)
BROKEN = judged(journeys=True, endpoints=True, inventory=False)


@pytest.mark.parametrize(
    ("preset", "stage", "verdict", "yes", "value", "success"),
    [
        ("composite", "e2e", CURED, 9, 1.0, True),
        ("composite", "e2e", CURED, 0, 0.18, False),
        ({"unexplained": 1}, "e2e", CURED, 0, 0.6, False),
        ({"unexplained": 0}, "e2e", CURED, None, 0.0, False),
        ("composite", "e2e", SICK, 9, 0.4, False),
        ("composite", "e2e", None, 9, 0.4, False),
        ("composite", "diagnosis", None, 9, 1.0, True),
        ("composite", "mitigation", CURED, None, 1.0, True),
        ("sparse", "e2e", CURED, 9, 1.0, True),
        ("sparse", "e2e", CURED, 6, 0.0, False),
        ("sparse", "e2e", SICK, 9, 0.0, False),
        ("sparse", "mitigation", CURED, None, 1.0, True),
        ("graded", "e2e", CURED, 9, 1.0, True),
        ("graded", "e2e", SICK, 9, 0.4, False),
        ("graded", "e2e", HALF, 9, 0.7, False),
        ("graded", "e2e", HALF, 0, 0.09, False),
        ("graded", "e2e", BROKEN, 9, 0.4, False),
    ],
)
def test_presets(
    preset: str | dict[str, float],
    stage: str,
    verdict: Verdict | None,
    yes: int | None,
    value: float,
    success: bool,
) -> None:
    answers = None if yes is None else graded(yes)
    reward = score(rule(preset), stage, verdict, answers, untouched=SICK)  # type: ignore[arg-type]
    assert reward.value == pytest.approx(value)
    assert reward.success is success
    assert sum(reward.terms.values()) == pytest.approx(value)


@pytest.mark.parametrize(
    "wrong", ["dense", {"preset": "sparse", "x": 1}, {"mitigation": -1}, {"unexplained": 1.5}]
)
def test_wrong_rules_are_refused(wrong: object) -> None:
    with pytest.raises(UsageError):
        rule(wrong)  # type: ignore[arg-type]


def test_rules_pass_through() -> None:
    assert rule(None) == RewardRule() == rule({})
    assert rule(RewardRule("sparse")).preset == "sparse"


def test_no_check_is_no_pass() -> None:
    assert not conclude([]).passed


def test_all_questions_must_be_answered() -> None:
    with pytest.raises(KeyError):
        grade([Answer("D1-Q1", True, "x")])
