"""What shortcuts may earn at most, and whether they keep to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sregym_env.rollouts.intervals import Estimate, mean, rate
from sregym_env.rollouts.shortcuts.playing import Outcome
from sregym_env.rollouts.shortcuts.shortcut import Shortcut

Kind = Literal["enforced", "reported"]
"""Whether a broken limit is an error, or only told."""

Measure = Callable[[Sequence[Outcome]], Estimate | None]


def repaired(outcomes: Sequence[Outcome]) -> Estimate | None:
    """The share of worlds that were repaired."""
    return rate([each.repaired for each in outcomes], [each.pair for each in outcomes])


def diagnosed(outcomes: Sequence[Outcome]) -> Estimate | None:
    """The share of worlds whose diagnosis passed."""
    return rate([each.diagnosed for each in outcomes], [each.pair for each in outcomes])


def reward(outcomes: Sequence[Outcome]) -> Estimate | None:
    """The mean reward."""
    return mean([each.reward for each in outcomes], [each.pair for each in outcomes])


def without_undo(outcomes: Sequence[Outcome]) -> Estimate | None:
    """The share repaired of the worlds for which taking a rollout back is no declared repair."""
    return repaired([each for each in outcomes if not each.undoable])


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that some shortcuts may reach by a measure."""

    of: str
    """Which shortcuts, in words."""
    what: str
    """The measure, in words."""
    binds: Callable[[Shortcut], bool]
    measure: Measure
    most: float
    kind: Kind


UNDO = ("undo_every_rollout", "roll_everything_back")
"""Shortcuts that take every rollout back."""

LIMITS = (
    Limit(
        "without observation",
        "repaired",
        lambda s: s.group == "blind" and s.name not in UNDO,
        repaired,
        0.03,
        "enforced",
    ),
    Limit("every rollout undone", "repaired", lambda s: s.name == UNDO[0], repaired, 0.15, "enforced"),
    Limit(
        "every rollout undone",
        "repaired where undo is no repair",
        lambda s: s.name == UNDO[0],
        without_undo,
        0.03,
        "reported",
    ),
    Limit("every rollout rolled back", "repaired", lambda s: s.name == UNDO[1], repaired, 0.15, "reported"),
    Limit("with observation", "repaired", lambda s: s.group == "reading", repaired, 0.35, "reported"),
    Limit("words alone", "mean reward", lambda s: s.group == "diagnosis", reward, 0.1, "enforced"),
    Limit("combinations", "mean reward", lambda s: s.group == "combination", reward, 0.1, "enforced"),
    Limit("a runbook", "mean reward", lambda s: s.group == "runbook", reward, 0.25, "reported"),
)
"""Without observation nothing is known, so a policy that repairs has met a world that never varies. Undoing helps where
it is the right repair. Acting on recency is evidence, which may be right as often as recency is (35 %); what pays for
words and combinations is decided by grading. Who compares what is not well with what it was has looked, and may be paid
for the incidents that need no more than that."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A limit, and what a shortcut reached."""

    limit: Limit
    policy: str
    reached: Estimate
    sampled: bool
    """Whether only a sample was played: then a limit counts as broken only where the interval lies beyond it, and by more
    than one world: among many policies one is lucky."""

    @property
    def holds(self) -> bool:
        """Whether it keeps to the limit."""
        low = self.reached.low
        if not self.sampled or low is None:
            return self.reached.value <= self.limit.most
        return low <= self.limit.most or self.reached.value * self.reached.n <= 1.0

    @property
    def broken(self) -> bool:
        """Whether an enforced limit is broken."""
        return self.limit.kind == "enforced" and not self.holds


def findings(
    shortcuts: Sequence[Shortcut], outcomes: Sequence[Outcome], *, sampled: bool = False
) -> list[Finding]:
    """Every limit for every shortcut that it binds and that was played."""
    found = []
    for limit in LIMITS:
        for shortcut in shortcuts:
            reached = limit.measure(counted(outcomes, shortcut.name)) if limit.binds(shortcut) else None
            if reached is not None:
                found.append(Finding(limit, shortcut.name, reached, sampled))
    return found


def counted(outcomes: Sequence[Outcome], policy: str) -> list[Outcome]:
    """The outcomes of a policy that count: episodes in which the environment failed do not."""
    return [each for each in outcomes if each.policy == policy and each.ended]
