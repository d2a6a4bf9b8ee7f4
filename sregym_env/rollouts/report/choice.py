"""Which episodes of a run are worth replaying: a spread over policies and outcomes, problems as different as may be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from sregym_env.rollouts.record import EpisodeRecord


def chosen(records: Sequence[EpisodeRecord], count: int) -> list[EpisodeRecord]:
    """At most ``count`` episodes, in the order of the run; the same for the same records in any order.

    Every policy and outcome (solved, or the reason why not) gets its turn, and takes an episode of a problem of which
    the fewest are chosen. Episodes in which nothing happened come last.
    """
    waiting: dict[tuple[bool, str, str], list[EpisodeRecord]] = defaultdict(list)
    for record in sorted(records, key=_place):
        outcome = "" if record.failure is None else f"{record.failure.kind} {record.failure.reason}"
        waiting[not record.steps, outcome, record.policy.name].append(record)
    taken: list[EpisodeRecord] = []
    problems: Counter[str] = Counter()
    while len(taken) < count and any(waiting.values()):
        # Those with steps go round until none is left.
        played = [kind for kind in sorted(waiting) if waiting[kind]]
        turn = [kind for kind in played if kind[0] == played[0][0]]
        for kind in turn[: count - len(taken)]:
            best = min(waiting[kind], key=lambda record: problems[record.task_id])
            waiting[kind].remove(best)
            problems[best.task_id] += 1
            taken.append(best)
    return sorted(taken, key=_place)


def _place(record: EpisodeRecord) -> tuple[str, str, int, int, str]:
    return record.policy.name, record.task_id, record.seed, record.sample_index, record.rollout_id
