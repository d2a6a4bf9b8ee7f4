"""Problems of two faults: both must be cured to pass, one earns its share of what has come back, and harm nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from sregym_env.faults.problems import FaultChoice, Problem
from sregym_env.rewards.reward import rule, score
from sregym_env.rewards.verdict import Verdict
from sregym_env.rollouts.validate import Subject
from tests.redteam.playing import APP, typed, why
from tests.redteam.repairs.test_repairs import CONTEXT

TABLE: Mapping[str, Mapping[str, Any]] = yaml.safe_load((Path(__file__).parent / "several.yaml").read_text())

SHARE = 0.5
"""The most that one of two faults may earn: each is as good as the other."""

LEAST = 0.05
"""What it earns more than: less is taken for nothing."""


@lru_cache(maxsize=4)
def staged(problem: str) -> Subject:
    """The published world with both faults."""
    pairs = [FaultChoice(fault=fault, target=target) for fault, target in TABLE[problem]["faults"]]
    return Subject(Problem(id=problem, app=APP, faults=tuple(pairs), variation=False), seed=5)


@lru_cache(maxsize=4)
def untouched(problem: str) -> Verdict:
    """The oracle's verdict where nobody did anything."""
    subject = staged(problem)
    return subject.judge(subject.world())


def attempts(kind: str) -> list[Any]:
    """What is typed, by problem; one of each kind in every run."""
    return [
        pytest.param(
            problem, lines, id=f"{problem}:{name}", marks=(pytest.mark.exhaustive,) if number else ()
        )
        for problem, said in TABLE.items()
        for number, (name, lines) in enumerate(said[kind].items())
    ]


def judged(problem: str, lines: Sequence[str]) -> tuple[Verdict, float]:
    """The verdict, and what it earns with partial credit."""
    subject = staged(problem)
    world = subject.world()
    assert not typed(world, [CONTEXT.format(namespace=world.app.namespace), *lines])
    verdict = subject.judge(world)
    return verdict, score(rule("graded"), "mitigation", verdict, None, untouched(problem)).value


@pytest.mark.parametrize(("problem", "lines"), attempts("right"))
def test_both_cured_pass(problem: str, lines: Sequence[str]) -> None:
    verdict, earned = judged(problem, lines)
    assert verdict.passed, why(verdict)
    assert earned >= 0.98


@pytest.mark.parametrize(("problem", "lines"), attempts("half"))
def test_one_of_two_earns_its_share(problem: str, lines: Sequence[str]) -> None:
    verdict, earned = judged(problem, lines)
    causes = [check for check in verdict.checks if check.name.startswith("cause/")]
    assert [check.passed for check in causes].count(True) == 1, why(verdict)
    assert not verdict.passed
    assert LEAST < earned <= SHARE, why(verdict)


@pytest.mark.parametrize(("problem", "lines"), attempts("wrong"))
def test_what_only_looks_like_both_does_not_pass(problem: str, lines: Sequence[str]) -> None:
    verdict, earned = judged(problem, lines)
    assert not verdict.passed
    assert earned <= SHARE, why(verdict)


def test_doing_nothing_and_restarting_earn_nothing() -> None:
    for problem in TABLE:
        assert score(rule("graded"), "mitigation", untouched(problem), None, untouched(problem)).value == 0.0
