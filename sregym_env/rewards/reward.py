"""From verdicts to a number: how an oracle's and a judge's answers make the reward of an episode.

Every term is kept beside the sum. A judge or an oracle that failed yields no reward: the episode is marked
as not fit for training, and never counts as a zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from sregym_env.errors import UsageError
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.verdict import Verdict

Preset = Literal["composite", "sparse", "graded"]
Stage = Literal["e2e", "diagnosis", "mitigation"]

TERMS = ("mitigation", "diagnosis", "cost")
"""The keys of a reward's terms, always all of them."""

INVARIANTS = ("inventory", "replicas", "policy", "users", "data", "system")
"""Checks that must hold before a graded reward credits anything of a repair."""


@dataclass(frozen=True, slots=True)
class RewardRule:
    """How an episode is scored.

    ``composite``: weighted sum of a passed mitigation (0 or 1) and the diagnosis' composite score.
    ``sparse``: 1 if and only if everything the episode asks for passed.
    ``graded``: as ``composite``, with partial credit for the checks that failed before anybody acted and hold
    now, where no invariant was violated: doing nothing earns nothing.
    """

    preset: Preset = "composite"
    mitigation: float = 0.6
    diagnosis: float = 0.4
    step_cost: float = 0.0
    """Taken off for every step."""

    def __post_init__(self) -> None:
        if self.preset not in ("composite", "sparse", "graded"):
            raise UsageError(f"no reward preset {self.preset!r}; there are composite, sparse and graded")
        if self.mitigation < 0 or self.diagnosis < 0 or self.mitigation + self.diagnosis <= 0:
            raise UsageError("reward weights must not be negative, nor all zero")

    def weights(self, stage: Stage) -> tuple[float, float]:
        """(mitigation, diagnosis) weights for what an episode asks for; they sum to 1."""
        if stage == "diagnosis":
            return 0.0, 1.0
        if stage == "mitigation":
            return 1.0, 0.0
        total = self.mitigation + self.diagnosis
        return self.mitigation / total, self.diagnosis / total


@dataclass(frozen=True, slots=True)
class Reward:
    """An episode's reward: the sum and its terms."""

    value: float
    terms: Mapping[str, float]
    success: bool
    """Whether everything the episode asked for passed."""


NOTHING: Mapping[str, float] = dict.fromkeys(TERMS, 0.0)
"""The terms of a step that earns nothing."""


FIELDS = frozenset(field.name for field in fields(RewardRule))
"""What a reward's mapping may hold."""


def rule(value: str | Mapping[str, Any] | RewardRule | None) -> RewardRule:
    """A rule from what a caller may pass: a preset's name, a mapping of fields, or a rule. Raises UsageError."""
    if value is None:
        return RewardRule()
    if isinstance(value, RewardRule):
        return value
    if isinstance(value, str):
        return RewardRule(preset=value)  # type: ignore[arg-type]
    unknown = sorted(set(value) - FIELDS)
    if unknown:
        raise UsageError(f"unknown reward option {unknown[0]!r}; there are {', '.join(sorted(FIELDS))}")
    return RewardRule(**value)


def score(
    rule: RewardRule,
    stage: Stage,
    verdict: Verdict | None,
    grade: Grade | None,
    untouched: Verdict | None = None,
) -> Reward:
    """The reward at the end of an episode. What was not handed in earns nothing.

    ``untouched`` is the oracle's verdict on the world as the episode began, needed by ``graded`` only.
    """
    mitigation_weight, diagnosis_weight = rule.weights(stage)
    mitigated = verdict is not None and verdict.passed
    diagnosed = grade is not None and grade.passed
    success = (mitigated or mitigation_weight == 0) and (diagnosed or diagnosis_weight == 0)
    if rule.preset == "sparse":
        parts = (mitigation_weight, diagnosis_weight) if success else (0.0, 0.0)
    else:
        parts = (
            mitigation_weight * _mitigation(rule.preset, verdict, untouched),
            diagnosis_weight * (grade.score if grade is not None else 0.0),
        )
    terms = {"mitigation": round(parts[0], 6), "diagnosis": round(parts[1], 6), "cost": 0.0}
    return Reward(round(sum(terms.values()), 6), terms, success)


def _mitigation(preset: Preset, verdict: Verdict | None, untouched: Verdict | None) -> float:
    if verdict is None:
        return 0.0
    if preset != "graded" or verdict.passed:
        return 1.0 if verdict.passed else 0.0
    if untouched is None or any(check.name in INVARIANTS for check in verdict.failed):
        return 0.0
    return progress(untouched, verdict)


def progress(before: Verdict, after: Verdict) -> float:
    """The weighted share of the checks failing ``before`` that hold ``after``."""
    broken = {check.name: check.weight for check in before.failed}
    mended = sum(broken.get(check.name, 0.0) for check in after.checks if check.passed)
    return mended / sum(broken.values()) if broken else 0.0
