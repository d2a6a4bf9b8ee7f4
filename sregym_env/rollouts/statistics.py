"""What a run came to: success rates, times and costs with intervals, and two policies compared pair by pair.

Only episodes with an outcome count. Where something else than the agent failed (``trainable`` is false: a model's
endpoint, a worker, the judge, a defect of ours) there is nothing to count as a success or a failure; such episodes
are told apart, by class and reason. A missing diagnosis or repair of an episode that did have an outcome is a failure.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sregym_env.errors import UsageError
from sregym_env.rollouts.intervals import Estimate, difference_of_rates, mean, rate, sign_test
from sregym_env.rollouts.record import EpisodeRecord

Key = Callable[[EpisodeRecord], str]

KEYS: Final[Mapping[str, Key]] = {
    "policy": lambda record: record.policy.name,
    "model": lambda record: record.policy.model or record.policy.name,
    "task": lambda record: record.task_id,
    "seed": lambda record: str(record.seed),
    "run": lambda record: record.run_id,
    "backend": lambda record: record.backend,
    "mode": lambda record: str(record.config.get("mode", "")),
    "stage": lambda record: str(record.config.get("stage", "")),
    "noise": lambda record: "noise" if record.config.get("noise") else "no noise",
    "exit_reason": lambda record: record.exit_reason,
    "all": lambda record: "all",
}
"""By what episodes can be put together."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the episodes of one group came to. An estimate is None where nothing was measured."""

    by: str
    """What the group shares: a key of :data:`KEYS`."""
    name: str
    episodes: int
    scored: int
    """Episodes that have an outcome; everything below but the failures and what was spent is about them."""
    problems: int
    """Different problems among the scored episodes."""
    success: Estimate | None
    """Right from end to end: everything that was asked for in one episode. What leaderboards rank by."""
    diagnosed: Estimate | None
    """Share of right diagnoses, where one was asked for."""
    repaired: Estimate | None
    """Share of repairs that the oracle passed, where one was asked for."""
    diagnosis_score: Estimate | None
    """0 to 1; a diagnosis that was never handed in has 0."""
    return_: Estimate | None
    ttd_s: Estimate | None
    """Simulated seconds to the diagnosis, over the episodes that handed one in."""
    ttm_s: Estimate | None
    """Simulated seconds to the repair, over the episodes that handed one in."""
    commands: Estimate | None
    tokens: Estimate | None
    """Prompt and completion, over the episodes played by a model."""
    cost_usd: Estimate | None
    failures: Mapping[str, Mapping[str, int]]
    """How many episodes did not succeed, by class and reason, those without an outcome included."""
    spent_tokens: int
    """By all episodes, also those without an outcome."""
    spent_usd: float | None
    """By all episodes whose cost is known; None where none is."""

    @property
    def void(self) -> int:
        """Episodes without an outcome."""
        return self.episodes - self.scored

    def row(self) -> dict[str, Any]:
        """One flat row of a table for people; rates in percent, times in simulated seconds."""
        return {
            self.by: self.name,
            "episodes": self.episodes,
            "scored": self.scored,
            "success_%": _told(self.success, 0, 100),
            "diagnosed_%": _told(self.diagnosed, 0, 100),
            "repaired_%": _told(self.repaired, 0, 100),
            "return": _told(self.return_, 2),
            "TTD_s": _told(self.ttd_s, 0),
            "TTM_s": _told(self.ttm_s, 0),
            "commands": _told(self.commands, 1),
            "tokens": _told(self.tokens, 0),
            "cost_usd": _told(self.cost_usd, 4),
            "failures": "; ".join(
                f"{kind}: " + ", ".join(f"{reason} {count}" for reason, count in reasons.items())
                for kind, reasons in self.failures.items()
            ),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        estimates = {name: getattr(self, name) for name in _ESTIMATES}
        return {
            "by": self.by,
            "name": self.name,
            "episodes": self.episodes,
            "scored": self.scored,
            "problems": self.problems,
            **{
                name.rstrip("_"): None if estimate is None else estimate.to_dict()
                for name, estimate in estimates.items()
            },
            "failures": {kind: dict(reasons) for kind, reasons in self.failures.items()},
            "spent_tokens": self.spent_tokens,
            "spent_usd": self.spent_usd,
        }


_ESTIMATES: Final = (
    "success",
    "diagnosed",
    "repaired",
    "diagnosis_score",
    "return_",
    "ttd_s",
    "ttm_s",
    "commands",
    "tokens",
    "cost_usd",
)


def _told(estimate: Estimate | None, digits: int, scale: float = 1.0) -> str | None:
    return None if estimate is None else estimate.text(digits, scale)


def summarise(records: Iterable[EpisodeRecord], by: str = "policy") -> tuple[Summary, ...]:
    """One summary per group, in the order of names. Raises UsageError for a key there is not."""
    key = _key(by)
    groups: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return tuple(summary(groups[name], by=by, name=name) for name in sorted(groups))


def ranked(summaries: Iterable[Summary]) -> tuple[Summary, ...]:
    """As on a leaderboard: by success from end to end, then by repairs, diagnoses and name."""

    def place(each: Summary) -> tuple[float, float, float, str]:
        rates = (each.success, each.repaired, each.diagnosed)
        success, repaired, diagnosed = (0.0 if rate is None else -rate.value for rate in rates)
        return success, repaired, diagnosed, each.name

    return tuple(sorted(summaries, key=place))


def summary(records: Sequence[EpisodeRecord], *, by: str = "all", name: str = "all") -> Summary:
    """What these episodes came to, together."""
    scored = [record for record in records if record.trainable]
    asked_why = [record for record in scored if record.config.get("stage") != "mitigation"]
    asked_to_repair = [record for record in scored if record.config.get("stage") != "diagnosis"]
    costs = [_cost(record) for record in records]
    known = [cost for cost in costs if cost is not None]
    return Summary(
        by=by,
        name=name,
        episodes=len(records),
        scored=len(scored),
        problems=len({record.task_id for record in scored}),
        success=_rate(scored, lambda record: record.success),
        diagnosed=_rate(asked_why, lambda record: bool(record.grade and record.grade["passed"])),
        repaired=_rate(asked_to_repair, lambda record: bool(record.oracle and record.oracle["passed"])),
        diagnosis_score=_mean(
            asked_why, lambda record: float(record.grade["score"]) if record.grade else 0.0
        ),
        return_=_mean(scored, lambda record: record.return_),
        ttd_s=_mean(scored, lambda record: record.ttd_s, least=0.0),
        ttm_s=_mean(scored, lambda record: record.ttm_s, least=0.0),
        commands=_mean(scored, lambda record: float(record.commands), least=0.0),
        tokens=_mean(scored, _tokens, least=0.0),
        cost_usd=_mean(scored, _cost, least=0.0),
        failures=failures(records),
        spent_tokens=int(sum(_tokens(record) or 0 for record in records)),
        spent_usd=sum(known) if known else None,
    )


def failures(records: Iterable[EpisodeRecord]) -> dict[str, dict[str, int]]:
    """How many did not succeed, by class and reason; the most frequent reasons first."""
    counted = Counter(
        (record.failure.kind, record.failure.reason) for record in records if record.failure is not None
    )
    told: dict[str, dict[str, int]] = {}
    for (kind, reason), count in sorted(counted.items(), key=lambda each: (each[0][0], -each[1], each[0][1])):
        told.setdefault(kind, {})[reason] = count
    return told


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two policies on the same problems and seeds."""

    first: str
    second: str
    pairs: int
    """Episodes of the same problem, seed and sample that both played and that both have an outcome."""
    problems: int
    both: int
    only_first: int
    only_second: int
    neither: int
    success: Estimate | None
    """How much higher the second's success rate is."""
    p_value: float | None
    """Of the exact sign test over problems (McNemar's, where each has one pair)."""
    return_: Estimate | None
    """How much higher the second's return is."""
    void: int
    """Pairs of which one has no outcome: they say nothing about either."""
    unpaired: int
    """Episodes that the other did not play."""

    def row(self) -> dict[str, Any]:
        """One flat row of a table for people."""
        return {
            "first": self.first,
            "second": self.second,
            "pairs": self.pairs,
            "both": self.both,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "neither": self.neither,
            "success_difference_%": _told(self.success, 0, 100),
            "p": None if self.p_value is None else f"{self.p_value:.2g}",
            "return_difference": _told(self.return_, 2),
            "void": self.void,
            "unpaired": self.unpaired,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            **{
                name: getattr(self, name)
                for name in ("first", "second", "pairs", "problems", "both", "only_first", "only_second")
            },
            "neither": self.neither,
            "success": None if self.success is None else self.success.to_dict(),
            "p_value": self.p_value,
            "return": None if self.return_ is None else self.return_.to_dict(),
            "void": self.void,
            "unpaired": self.unpaired,
        }


def compare(
    first: Iterable[EpisodeRecord], second: Iterable[EpisodeRecord], *, names: tuple[str, str] = ("", "")
) -> Comparison:
    """The second beside the first, over the episodes that both played.

    ``names``: what to call them; without, their policies' names.
    """
    left, right = list(first), list(second)
    matched = list(_matched(left, right))
    pairs = [(one, other) for one, other in matched if one.trainable and other.trainable]
    problems = [one.task_id for one, _ in pairs]
    won = [one.success for one, _ in pairs]
    other_won = [other.success for _, other in pairs]
    returns = [
        (other.return_ - one.return_, one.task_id)
        for one, other in pairs
        if one.return_ is not None and other.return_ is not None
    ]
    counts = Counter(zip(won, other_won, strict=True))
    differences = [int(b) - int(a) for a, b in zip(won, other_won, strict=True)]
    return Comparison(
        first=names[0] or _name(left),
        second=names[1] or _name(right),
        pairs=len(pairs),
        problems=len(set(problems)),
        both=counts[True, True],
        only_first=counts[True, False],
        only_second=counts[False, True],
        neither=counts[False, False],
        success=difference_of_rates(won, other_won, problems),
        p_value=sign_test(differences, problems) if pairs else None,
        return_=mean([change for change, _ in returns], [problem for _, problem in returns]),
        void=len(matched) - len(pairs),
        unpaired=len(left) + len(right) - 2 * len(matched),
    )


def _matched(
    first: Iterable[EpisodeRecord], second: Iterable[EpisodeRecord]
) -> Iterable[tuple[EpisodeRecord, EpisodeRecord]]:
    """Episodes that begin in one state and are the same sample of it; in the order of the first."""
    waiting: dict[tuple[str, int], list[EpisodeRecord]] = defaultdict(list)
    for record in second:
        waiting[record.episode_id, record.sample_index].append(record)
    for record in first:
        others = waiting[record.episode_id, record.sample_index]
        if others:
            yield record, others.pop(0)


def _name(records: Sequence[EpisodeRecord]) -> str:
    return ", ".join(sorted({record.policy.name for record in records}))


def _key(by: str) -> Key:
    key = KEYS.get(by)
    if key is None:
        raise UsageError(f"cannot put episodes together by {by!r}; there are {', '.join(KEYS)}")
    return key


def _rate(records: Sequence[EpisodeRecord], won: Callable[[EpisodeRecord], bool]) -> Estimate | None:
    return rate([won(record) for record in records], [record.task_id for record in records])


def _mean(
    records: Sequence[EpisodeRecord],
    measure: Callable[[EpisodeRecord], float | None],
    least: float = -math.inf,
) -> Estimate | None:
    measured = [(measure(record), record.task_id) for record in records]
    known = [(value, task) for value, task in measured if value is not None]
    return mean([value for value, _ in known], [task for _, task in known], least)


def _tokens(record: EpisodeRecord) -> float | None:
    return None if record.usage is None else float(record.usage.total_tokens)


def _cost(record: EpisodeRecord) -> float | None:
    return None if record.usage is None else record.usage.cost_usd
