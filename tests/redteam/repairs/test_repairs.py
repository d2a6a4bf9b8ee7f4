"""Unusual repairs that are right, and wrong ones that look like repairs: the oracle pays the first and only those.

The tables beside this file hold what an engineer would type, by fault, ``right`` and ``wrong``, in a shell whose
namespace is the application's. Every run plays the first of each fault; ``make validate`` plays all. A wrong one must
run without complaint, so that it is denied for what it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from sregym_env import apps
from sregym_env.faults import problems
from sregym_env.faults.registry import declarations
from sregym_env.rewards.verdict import Verdict
from sregym_env.rollouts.validate import Subject
from tests.redteam.playing import APP, subject, typed, why

CONTEXT = "kubectl config set-context --current --namespace={namespace}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What somebody types against a fault."""

    fault: str
    name: str
    target: str
    lines: tuple[str, ...]
    because: str = ""
    """What is wrong with it; empty for a right one."""
    worlds: Literal["published", "own", "both"] = "published"
    """Where it is played: in the published world, whose names and values its lines may know, or in one of its own."""
    seed: int = 11
    """What draws a world of its own."""
    after_remedy: bool = False
    """Whether a declared repair is typed before it."""
    stumbles: int = 0
    """How many of the lines fail, and are meant to."""
    app: str = APP

    @property
    def id(self) -> str:
        return f"{self.fault}:{self.target}:{self.name}"


def read(text: str, kind: str) -> Iterator[Attempt]:
    """The attempts of one kind in a table."""
    table: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]] = yaml.safe_load(text)
    for fault, kinds in table.items():
        for name, said in kinds.get(kind, {}).items():
            yield Attempt(fault, name, **{**said, "lines": tuple(said["lines"])})


TABLES = [path.read_text() for path in sorted(Path(__file__).parent.glob("*.yaml"))]
RIGHT = [attempt for text in TABLES for attempt in read(text, "right")]
WRONG = [attempt for text in TABLES for attempt in read(text, "wrong")]


def played(attempts: Sequence[Attempt]) -> Any:
    """One test for each attempt and world, named by what it is; all but a fault's first are left to long runs."""
    first = {attempt.fault: attempt for attempt in reversed(attempts)}
    cases = []
    # Neighbours play the same pair, which is staged once.
    for each in sorted(attempts, key=lambda each: (each.fault, each.target)):
        if each.worlds != "own":
            marks = () if first[each.fault] is each else (pytest.mark.exhaustive,)
            cases.append(pytest.param(each, False, id=each.id, marks=marks))
        if each.worlds != "published":
            cases.append(pytest.param(each, True, id=f"{each.id}:own", marks=pytest.mark.exhaustive))
    return pytest.mark.parametrize(("attempt", "own"), cases)


@lru_cache(maxsize=8)
def varied(fault: str, target: str, seed: int, app: str) -> Subject:
    """The pair in a world of its own, with a past."""
    return Subject(problems.pair(app, fault, target), seed)


def judged(attempt: Attempt, own: bool) -> Verdict:
    """The oracle's verdict after the attempt."""
    at = attempt.fault, attempt.target
    pair = varied(*at, attempt.seed, attempt.app) if own else subject(*at, attempt.app)
    world = pair.world()
    before = pair.injected.instances[0].remedies[0] if attempt.after_remedy else ()
    complaints = typed(
        world, [*before, CONTEXT.format(namespace=apps.app(attempt.app).namespace), *attempt.lines]
    )
    assert len(complaints) == attempt.stumbles, complaints
    return pair.judge(world)


@pytest.mark.sampled
@played(RIGHT)
def test_a_right_repair_is_paid(attempt: Attempt, own: bool) -> None:
    verdict = judged(attempt, own)
    assert verdict.passed, why(verdict)


@pytest.mark.sampled
@played(WRONG)
def test_a_wrong_repair_is_not_paid(attempt: Attempt, own: bool) -> None:
    assert not judged(attempt, own).passed, attempt.because


def test_every_fault_has_attempts_of_both_kinds() -> None:
    faults = {each.name for each in declarations()}
    for attempts in (RIGHT, WRONG):
        assert {attempt.fault for attempt in attempts} == faults


def test_names_tell_attempts_apart() -> None:
    ids = [attempt.id for attempt in chain(RIGHT, WRONG)]
    assert len(ids) == len(set(ids))
    # Of two entries of one name YAML keeps the last.
    assert len(ids) == sum(text.count("\n      target: ") for text in TABLES)


def test_wrong_repairs_say_what_is_wrong_with_them() -> None:
    assert all(attempt.because for attempt in WRONG)
    assert not any(attempt.because for attempt in RIGHT)
