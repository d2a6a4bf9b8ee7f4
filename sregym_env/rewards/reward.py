"""From verdicts to a number: how an oracle's and a judge's answers make the reward of an episode.

Every term is kept beside the sum. A judge or an oracle that failed yields no reward: the episode is marked
as not fit for training, and never counts as a zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, get_args

from sregym_env.cluster.api import World
from sregym_env.errors import UsageError
from sregym_env.rewards.baseline import Baseline
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.checks import OFFERED_SHARE
from sregym_env.rewards.collateral import TOLERATED
from sregym_env.rewards.verdict import Harm, Verdict

Preset = Literal["composite", "sparse", "graded", "shaped"]
PRESETS: tuple[str, ...] = get_args(Preset)
Stage = Literal["e2e", "diagnosis", "mitigation"]

TERMS = ("mitigation", "diagnosis", "collateral", "shaping", "command_cost", "time_cost", "token_cost")
"""The keys of a reward's terms, always all of them."""

INVARIANTS = (
    "inventory", "replicas", "policy", "privileges", "exposure", "network", "guards", "bypass", "users", "data", "system",
    "nodes", "collateral",
)  # fmt: skip
"""Checks that a repair must not have broken before a graded reward credits anything of it."""

TELLING = ("endpoints", "durability")
"""Checks that fail while a fault bites, and complain of what somebody did: that alone counts as broken."""

CAUSE = "cause"
"""How the names of the checks begin that ask whether a cause is gone."""


@dataclass(frozen=True, slots=True)
class RewardRule:
    """How an episode is scored.

    ``composite``: weighted sum of a passed mitigation (0 or 1; ``unexplained`` where a diagnosis is asked for and does not
    pass) and the diagnosis' composite score.
    ``sparse``: 1 if and only if everything the episode asks for passed.
    ``graded``: as ``composite``, with partial credit for the checks that failed before anybody acted and hold
    now, in proportion to the causes that are gone, where no invariant was violated. Both worlds are looked at when they
    are as old: doing nothing earns nothing, however long it takes.
    ``shaped``: as ``composite``, with a potential over the true health of the users paid at every step
    (Ng, Harada and Russell 1999): gamma * potential(after) - potential(before). The potential of a terminal state is
    0, so that over an episode played to its end the terms sum to the same for every policy.
    """

    preset: Preset = "composite"
    mitigation: float = 0.6
    diagnosis: float = 0.4
    unexplained: float = 0.3
    """What a repair keeps of its worth, 0 to 1, in an episode that asks for a diagnosis as well, where that does not pass: who
    takes back whatever is not well repairs three incidents of ten (docs/shortcuts.md), and has understood none."""
    changed_cost: float = 0.02
    """Taken off for every object that a repair changed without need (:mod:`~sregym_env.rewards.collateral`)."""
    restarted_cost: float = 0.01
    """The same for every pod that had served well and had to start anew."""
    left_cost: float = 0.01
    """The same for every object that was made and left behind."""
    command_cost: float = 0.0
    """Taken off for every command that a step runs."""
    second_cost: float = 0.0
    """Taken off for every simulated second."""
    token_cost: float = 0.0
    """Taken off for every token of the policy's model, where the runner tells of them."""
    shaping: float = 0.1
    """Of ``shaped``: the potential of a system whose users are all well."""
    gamma: float = 1.0
    """Of ``shaped``: the discount that the trainer uses."""

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise UsageError(f"no reward preset {self.preset!r}; there are {', '.join(PRESETS)}")
        for name in (*_AMOUNTS, "gamma"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise UsageError(f"reward {name} must be a number, not {value!r}")
            if not isfinite(value) or value < 0:
                raise UsageError(f"reward {name} must be finite and not negative, not {value!r}")
        if self.mitigation + self.diagnosis <= 0:
            raise UsageError("the reward's weights of mitigation and diagnosis must not both be zero")
        if self.unexplained > 1:
            raise UsageError(f"reward unexplained is a share, 0 to 1, not {self.unexplained!r}")
        if not 0 < self.gamma <= 1:
            raise UsageError(f"reward gamma must be above 0 and at most 1, not {self.gamma!r}")

    @property
    def shaped(self) -> bool:
        """Whether steps earn by a potential."""
        return self.preset == "shaped" and self.shaping > 0

    def weights(self, stage: Stage) -> tuple[float, float]:
        """(mitigation, diagnosis) weights for what an episode asks for; they sum to 1."""
        if stage == "diagnosis":
            return 0.0, 1.0
        if stage == "mitigation":
            return 1.0, 0.0
        total = self.mitigation + self.diagnosis
        return self.mitigation / total, self.diagnosis / total


_AMOUNTS = (
    "mitigation", "diagnosis", "unexplained", "changed_cost", "restarted_cost", "left_cost", "command_cost", "second_cost", "token_cost",
    "shaping",
)  # fmt: skip


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
    if not isinstance(value, Mapping):
        raise UsageError(f"reward must be a preset's name or a mapping, not {value!r}")
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
    *,
    healthy: bool = False,
) -> Reward:
    """The reward at the end of an episode. What was not handed in earns nothing.

    ``untouched`` is the oracle's verdict on the world as the episode began, needed by ``graded`` only. ``healthy``
    says that there was nothing to repair: to leave it at that is paid to who says so, where a diagnosis is asked for.
    """
    mitigation_weight, diagnosis_weight = rule.weights(stage)
    mitigated = verdict is not None and verdict.passed
    diagnosed = grade is not None and grade.passed
    success = (mitigated or mitigation_weight == 0) and (diagnosed or diagnosis_weight == 0)
    worth = 1.0 if diagnosed or diagnosis_weight == 0 else 0.0 if healthy else rule.unexplained
    if rule.preset == "sparse":
        parts = (mitigation_weight, diagnosis_weight) if success else (0.0, 0.0)
    else:
        parts = (
            mitigation_weight * worth * _mitigation(rule.preset, verdict, untouched),
            diagnosis_weight * (grade.score if grade is not None else 0.0),
        )
    harm = 0.0 if verdict is None or rule.preset == "sparse" else _harm(rule, verdict.harm)
    terms = {
        **NOTHING,
        "mitigation": round(parts[0], 6),
        "diagnosis": round(parts[1], 6),
        "collateral": round(0.0 - harm, 6),
    }
    return Reward(round(sum(terms.values()), 6), terms, success)


def _harm(rule: RewardRule, harm: Harm) -> float:
    """What collateral costs. Beyond what is tolerated the repair has failed, and more costs no more."""
    kinds = (
        ("changed", harm.changed, rule.changed_cost),
        ("restarted", harm.restarted, rule.restarted_cost),
        ("left", harm.left, rule.left_cost),
    )
    return sum(min(len(things), TOLERATED[kind]) * cost for kind, things, cost in kinds)


def _mitigation(preset: Preset, verdict: Verdict | None, untouched: Verdict | None) -> float:
    if verdict is None:
        return 0.0
    if preset != "graded" or verdict.passed:
        return 1.0 if verdict.passed else 0.0
    if untouched is None:
        return 0.0
    # What a fault has broken itself is for its repair to put right; whoever only breaks it otherwise repairs nothing.
    known = {check.name: check.complaints for check in untouched.failed}
    for check in verdict.failed:
        if check.name not in (*INVARIANTS, *TELLING):
            continue
        broken = set(check.complaints) - set(known.get(check.name, ()))
        if broken or (check.name in INVARIANTS and check.name not in known):
            return 0.0
    return progress(untouched, verdict) * _causes_gone(verdict)


def _causes_gone(verdict: Verdict) -> float:
    """The share of the causes that are gone: to hide what they do repairs nothing."""
    causes = [check.held for check in verdict.checks if check.name.startswith(CAUSE)]
    return sum(causes) / len(causes) if causes else 1.0


POTENTIAL_WINDOW = 10.0
"""Simulated seconds over which the users' health makes a potential."""


def potential(world: World, baseline: Baseline) -> float:
    """How well the users are, 0 to 1: the mean over the journeys of success, less where answers come late.

    A journey whose users are not there counts as failed. The true state, which no agent reads; costs no simulated time.
    """
    slo = world.app.slo
    seen = {journey.journey: journey for journey in world.traffic.health(POTENTIAL_WINDOW)}
    total = 0.0
    for name, rate in baseline.offered.items():
        journey = seen.get(name)
        if journey is not None and journey.requests >= rate * POTENTIAL_WINDOW * OFFERED_SHARE:
            promised = slo.of(name).latency_seconds
            late = promised / max(journey.latency_seconds, promised)
            total += journey.success_ratio * late
    return round(total / len(baseline.offered), 6) if baseline.offered else 0.0


def progress(before: Verdict, after: Verdict) -> float:
    """The weighted share, of what did not hold ``before``, that holds ``after``."""
    broken = {check.name: check for check in before.failed}
    total = sum(check.weight for check in broken.values())
    mended = 0.0
    for check in after.checks:
        was = broken.get(check.name)
        if was is not None and was.held < 1.0:
            mended += was.weight * max(0.0, check.held - was.held) / (1.0 - was.held)
    return mended / total if total else 0.0
