"""Replaying many episodes, in several processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sregym_env.errors import SREGymError
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.replay import replay
from sregym_env.rollouts.runner import Rollout

_AHEAD = 8
"""Episodes per process that are read ahead."""

_TOLD = 5
"""Differences of an episode that are told: one usually drags many along."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of replaying one episode."""

    rollout_id: str
    task_id: str
    seed: int
    steps: int
    differences: tuple[str, ...]
    """The first ones."""
    number: int
    """Of differences."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "episode": self.rollout_id,
            "task": self.task_id,
            "seed": self.seed,
            "steps": self.steps,
            "equal": not self.number,
            "differences": list(self.differences),
        }


def replay_all(rollouts: Iterable[Rollout], *, jobs: int = 1, limit: int = 0) -> Iterator[Outcome]:
    """Replay episodes and tell of each, in their order; ``limit`` of 0 for all of them."""
    chosen = iter(rollouts) if not limit else islice(rollouts, limit)
    if jobs == 1:
        yield from (_outcome(rollout.record, rollout.labels) for rollout in chosen)
        return
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        while batch := list(islice(chosen, jobs * _AHEAD)):
            lines = [(rollout.record.to_json(), rollout.labels.to_json()) for rollout in batch]
            yield from pool.map(_replayed, lines)


def _replayed(lines: tuple[str, str]) -> Outcome:
    record, labels = lines
    return _outcome(EpisodeRecord.model_validate_json(record), Labels.model_validate_json(labels))


def _outcome(record: EpisodeRecord, labels: Labels) -> Outcome:
    try:
        told = [str(difference) for difference in replay(record, labels).differences]
    except SREGymError as error:
        # A problem that does not exist any more, a live cluster: the other episodes are replayed all the same.
        told = [f"cannot be replayed: {error}"]
    more = [f"... and {len(told) - _TOLD} more"] if len(told) > _TOLD else []
    return Outcome(
        rollout_id=record.rollout_id,
        task_id=record.task_id,
        seed=record.seed,
        steps=len(record.steps),
        differences=(*told[:_TOLD], *more),
        number=len(told),
    )
