"""The survey: many staged worlds, every rule and the classifier over them, and what they may reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from sregym_env.envs.staging import stage
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.errors import SREGymError, UsageError
from sregym_env.rollouts.intervals import Estimate, mean, rate
from sregym_env.rollouts.shortcuts.audit.classifier import (
    RECENCY,
    SYMPTOMS,
    USUAL,
    crossed,
    crossed_by_contents,
)
from sregym_env.rollouts.shortcuts.audit.rules import BAND, Score, among_latest, older_than_median, scores
from sregym_env.rollouts.shortcuts.audit.scene import Scene, scene
from sregym_env.rollouts.shortcuts.playing import Case, Unplayed
from sregym_env.rollouts.validate import thinned

CLASSIFIER = 0.5
"""Share of the worlds that the classifier may get right."""

NEAR = 0.05
"""How much better it may be with all figures than with those of recency: what it knows beyond those is a leak."""

CONTENTS = 0.25
"""Share of the worlds that it may get right by what objects are made of, beside others of their kind: some wrong fields are rare."""

LOW, HIGH = 0.25, 0.35
"""The band in which recency should be right."""

OLD = 0.15
"""The share of worlds in which the culprit's last change should be older than most."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """How often the classifier was right on pairs that it had not seen."""

    name: str
    hits: Estimate
    most: float
    """What it may reach."""
    enforced: bool

    @property
    def holds(self) -> bool:
        """Whether it is not surely better than it may be."""
        low = self.hits.value if self.hits.low is None else self.hits.low
        return low <= self.most


@dataclass(frozen=True, slots=True)
class Audit:
    """What the survey found."""

    worlds: int
    candidates: float
    """Objects that could be at fault, in the mean."""
    scores: tuple[Score, ...]
    learnt: tuple[Learnt, ...]
    older: Estimate
    """Share of the worlds in which the culprit's last change is older than the median."""
    latest: Estimate
    """Share in which the culprit is among the three objects that were written last."""
    unplayed: tuple[Unplayed, ...]

    @property
    def kept(self) -> bool:
        """Whether every enforced limit holds."""
        rules = all(each.holds for each in self.scores if each.enforced)
        return rules and all(each.holds for each in self.learnt if each.enforced) and not self.unplayed

    def rows(self) -> list[dict[str, Any]]:
        """A row for each rule and classifier, as printed."""
        found = [
            {
                "rule": each.rule.name,
                "sort": each.rule.sort,
                "right %": each.hits.text(1, 100),
                "chance %": f"{each.chance * 100:.1f}",
                "at most %": f"{each.most * 100:.1f}",
                "verdict": _verdict(each.holds, each.enforced),
            }
            for each in self.scores
        ]
        return found + [
            {
                "rule": f"classifier, {each.name}",
                "sort": "learnt",
                "right %": each.hits.text(1, 100),
                "chance %": "",
                "at most %": f"{each.most * 100:.1f}",
                "verdict": _verdict(each.holds, each.enforced),
            }
            for each in self.learnt
        ]

    def lines(self) -> list[str]:
        """What else is told."""
        told = [
            f"{self.worlds} worlds, {self.candidates:.0f} candidates in each",
            f"the culprit's last change is older than the median in {self.older.text(1, 100)} % (wanted: at least "
            f"{OLD:.0%})",
            f"the culprit is among the three latest writes in {self.latest.text(1, 100)} %",
        ]
        for each in self.scores:
            if each.rule.name in BAND:
                within = "within" if LOW <= each.hits.value <= HIGH else "OUTSIDE"
                told.append(
                    f"{each.rule.name}: the culprit in {each.hits.text(1, 100)} %, {within} {LOW:.0%} to {HIGH:.0%}"
                )
        return told + [f"not staged: {u.pair} seed {u.seed}: {u.error}" for u in self.unplayed]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "worlds": self.worlds,
            "candidates": self.candidates,
            "rules": [
                {
                    "rule": each.rule.name,
                    "sort": each.rule.sort,
                    "hits": each.hits.to_dict(),
                    "chance": each.chance,
                    "most": each.most,
                    "holds": each.holds,
                    "enforced": each.enforced,
                }
                for each in self.scores
            ],
            "classifiers": [
                {
                    "name": each.name,
                    "hits": each.hits.to_dict(),
                    "most": each.most,
                    "holds": each.holds,
                    "enforced": each.enforced,
                }
                for each in self.learnt
            ],
            "older_than_median": self.older.to_dict(),
            "among_three_latest": self.latest.to_dict(),
            "unplayed": [{"pair": u.pair, "seed": u.seed, "error": u.error} for u in self.unplayed],
            "kept": self.kept,
        }


def _verdict(holds: bool, enforced: bool) -> str:
    return "kept" if holds else "BROKEN" if enforced else "beyond"


def audit(
    *, app: str = "", worlds: int, seed: int = 0, workers: int = 1, watch: Callable[[], None] | None = None
) -> Audit:
    """Stage so many worlds, spread evenly over the pairs, and look at them. Raises UsageError where none can be."""
    scenes: list[Scene] = []
    failures: list[Unplayed] = []
    for result in _staged(spread(worlds, app, seed), workers):
        if isinstance(result, Unplayed):
            failures.append(result)
        else:
            scenes.append(result)
        if watch is not None:
            watch()
    if not scenes:
        raise UsageError(
            f"no world could be staged: {failures[0].error if failures else 'there are no pairs'}"
        )
    return judged(scenes, failures)


def spread(worlds: int, app: str = "", seed: int = 0) -> list[Case]:
    """So many worlds: every pair as often as every other, give or take one, each with a seed of its own."""
    known = list(pairs(app=app or None))
    rounds, left = divmod(worlds, len(known))
    chosen = known * rounds + thinned(known, left) * (left > 0)
    return [Case(problem, seed + number) for number, problem in enumerate(chosen)]


def judged(scenes: Sequence[Scene], failures: Sequence[Unplayed] = ()) -> Audit:
    """Every rule and the classifier over scenes."""
    found = scores(scenes)
    figures = tuple(name for name in scenes[0].candidates[0].figures if name != USUAL)
    plain = tuple(name for name in figures if name not in SYMPTOMS)
    recency = _learnt("recency", scenes, RECENCY, CLASSIFIER)
    honest = recency.hits.value + NEAR
    older = rate([older_than_median(each) for each in scenes], [each.pair for each in scenes])
    latest = mean([among_latest(each) for each in scenes], [each.pair for each in scenes])
    assert older is not None and latest is not None, "there are scenes"
    return Audit(
        worlds=len(scenes),
        candidates=sum(len(each.candidates) for each in scenes) / len(scenes),
        scores=tuple(found),
        learnt=(
            recency,
            _learnt("figures", scenes, plain, min(CLASSIFIER, honest)),
            _learnt("figures and symptoms", scenes, figures, CLASSIFIER, enforced=False),
            Learnt("contents", _mean(crossed_by_contents(scenes), scenes), CONTENTS, enforced=True),
        ),
        older=older,
        latest=latest,
        unplayed=tuple(failures),
    )


def _learnt(
    name: str, scenes: Sequence[Scene], figures: Sequence[str], most: float, *, enforced: bool = True
) -> Learnt:
    return Learnt(name, _mean(crossed(scenes, figures), scenes), most, enforced)


def _mean(hits: Sequence[float], scenes: Sequence[Scene]) -> Estimate:
    found = mean(hits, [each.pair for each in scenes])
    assert found is not None, "there are scenes"
    return found


def _staged(cases: Sequence[Case], workers: int) -> Iterator[Scene | Unplayed]:
    if workers <= 1 or len(cases) <= 1:
        yield from map(look, cases)
        return
    with ProcessPoolExecutor(max_workers=workers) as pool:
        yield from pool.map(look, cases, chunksize=4)


def look(case: Case) -> Scene | Unplayed:
    """The figures of one world."""
    try:
        return scene(stage(case.problem, case.seed), case.pair, case.seed)
    except SREGymError as error:
        return Unplayed(case.pair, case.seed, f"{type(error).__name__}: {error}")
