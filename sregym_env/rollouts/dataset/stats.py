"""What is in a dataset, in numbers, by family of the fault or by anything else that episodes have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.filters import estimated
from sregym_env.rollouts.dataset.reader import Dataset
from sregym_env.rollouts.dataset.splits import families, split_of
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.runner import Rollout

BY: Final[Mapping[str, Callable[[Rollout], str]]] = {
    "family": lambda rollout: "+".join(families(rollout.labels)),
    "split": lambda rollout: split_of(rollout.labels),
    "problem": lambda rollout: str(rollout.labels.problem["id"]),
    "app": lambda rollout: str(rollout.labels.problem["app"]),
    "policy": lambda rollout: rollout.record.policy.model or rollout.record.policy.name,
    "exit": lambda rollout: rollout.record.exit_reason,
}
"""What episodes can be counted by."""

ALL: Final = "all"


@dataclass(slots=True)
class Row:
    """Sums over some episodes."""

    episodes: int = 0
    trainable: int = 0
    succeeded: int = 0
    scored: int = 0
    returned: float = 0.0
    steps: int = 0
    longest: int = 0
    tokens: int = 0
    most_tokens: int = 0
    splits: set[str] = field(default_factory=set)

    def add(self, record: EpisodeRecord, split: str) -> None:
        """One more episode."""
        tokens = estimated(record)
        self.episodes += 1
        self.trainable += record.trainable
        self.succeeded += record.success
        self.scored += record.return_ is not None
        self.returned += record.return_ or 0.0
        self.steps += len(record.steps)
        self.longest = max(self.longest, len(record.steps))
        self.tokens += tokens
        self.most_tokens = max(self.most_tokens, tokens)
        self.splits.add(split)

    def to_dict(self) -> dict[str, Any]:
        """Counts, and means per episode; rates and returns of the episodes that have one."""
        return {
            "split": ", ".join(sorted(self.splits)),
            "episodes": self.episodes,
            "trainable": self.trainable,
            "success": round(self.succeeded / self.scored, 3) if self.scored else None,
            "return": round(self.returned / self.scored, 3) if self.scored else None,
            "steps": round(self.steps / self.episodes, 1),
            "most_steps": self.longest,
            "tokens": round(self.tokens / self.episodes),
            "most_tokens": self.most_tokens,
            "all_tokens": self.tokens,
        }


def statistics(dataset: Dataset, by: str = "family") -> list[dict[str, Any]]:
    """A row per value in alphabetical order, and one of all episodes; tokens are estimates.

    Raises UsageError for something that episodes cannot be counted by, and where there are no labels.
    """
    if by not in BY:
        raise UsageError(f"cannot count by {by!r}; there are {', '.join(BY)}")
    rows: dict[str, Row] = {}
    total = Row()
    for rollout in dataset.rollouts():
        split = split_of(rollout.labels)
        rows.setdefault(BY[by](rollout), Row()).add(rollout.record, split)
        total.add(rollout.record, split)
    told = [{by: name, **rows[name].to_dict()} for name in sorted(rows)]
    return [*told, {by: ALL, **total.to_dict()}] if rows else []
