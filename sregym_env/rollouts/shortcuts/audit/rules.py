"""Naming the culprit by one figure: how often that is right, and how often it may be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from sregym_env.rollouts.intervals import Estimate, mean
from sregym_env.rollouts.shortcuts.audit.scene import Candidate, Scene

Sort = Literal["recency", "symptom", "artefact"]
"""``recency`` and ``symptom`` are evidence, which may be right now and then; an ``artefact`` says nothing."""

HONEST = 0.35
"""Share of the worlds in which recency may name the culprit."""

ARTEFACT = 0.05
"""How much better than chance an artefact may be."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The candidate with the highest (or lowest) figure is named."""

    name: str
    figure: str
    sort: Sort
    lowest: bool = False

    def hit(self, scene: Scene) -> float:
        """The probability that the named candidate is a culprit; ties are broken by lot."""
        return _share(self.named(scene))

    def chance(self, scene: Scene) -> float:
        """The same for a candidate by lot of the kind of the one that is named, of those that have the figure.

        A Deployment is likelier to be at fault than a Secret, and has more of almost everything: that much any rule knows that
        mostly names Deployments.
        """
        eligible = self.eligible(scene)
        kinds = Counter(each.key[0] for each in self.named(scene))
        total = sum(kinds.values())
        return sum(
            count / total * _share([each for each in eligible if each.key[0] == kind])
            for kind, count in kinds.items()
        )

    def eligible(self, scene: Scene) -> list[Candidate]:
        """The candidates that have the figure."""
        return [each for each in scene.candidates if not math.isnan(each.figures[self.figure])]

    def named(self, scene: Scene) -> list[Candidate]:
        """The candidates with the extreme figure."""
        eligible = self.eligible(scene)
        values = [each.figures[self.figure] for each in eligible]
        extreme = (min if self.lowest else max)(values, default=0.0)
        return [each for each, value in zip(eligible, values, strict=True) if value == extreme]


def _share(candidates: Sequence[Candidate]) -> float:
    return sum(each.culprit for each in candidates) / len(candidates) if candidates else 0.0


RULES = (
    Rule("newest object", "created", "recency"),
    Rule("latest write", "written", "recency"),
    Rule("highest resource version", "version", "recency"),
    Rule("highest generation", "generation", "recency"),
    Rule("highest revision", "revision", "recency"),
    Rule("newest ReplicaSet", "replica_set", "recency"),
    Rule("newest pod", "pod", "recency"),
    Rule("most restarts", "restarts", "symptom"),
    Rule("not ready", "unready", "symptom"),
    Rule("most Warnings", "warnings", "symptom"),
    Rule("manual manager", "manual", "artefact"),
    Rule("changed and made by nobody", "unmade", "artefact"),
    Rule("rarest manager", "rare_manager", "artefact"),
    Rule("most managers", "managers", "artefact"),
    Rule("lacks tool marks", "untooled", "artefact"),
    Rule("odd creation time", "odd_time", "artefact"),
    Rule("a second of its own", "lone_second", "artefact"),
    Rule("last second of a minute", "second", "artefact"),
    Rule("first second of a minute", "second", "artefact", lowest=True),
    Rule("highest name entropy", "entropy", "artefact"),
    Rule("lowest name entropy", "entropy", "artefact", lowest=True),
    Rule("longest name", "length", "artefact"),
    Rule("shortest name", "length", "artefact", lowest=True),
    Rule("first of a list", "position", "artefact", lowest=True),
    Rule("last of a list", "position", "artefact"),
    Rule("largest of its kind", "size", "artefact"),
    Rule("smallest of its kind", "size", "artefact", lowest=True),
    Rule("most labels unlike those of others", "odd_labels", "artefact"),
    Rule("most values unlike those of others", "odd_values", "artefact"),
    Rule("most labels", "labels", "artefact"),
    Rule("fewest labels", "labels", "artefact", lowest=True),
    Rule("most annotations", "annotations", "artefact"),
    Rule("fewest annotations", "annotations", "artefact", lowest=True),
    Rule("oldest object", "created", "artefact", lowest=True),
    Rule("oldest write", "written", "artefact", lowest=True),
)
"""Every rule, honest ones first."""

BAND = ("newest object", "highest resource version", "highest generation", "highest revision")
"""Rules that should be right in 25 to 35 % of the worlds: recency is evidence, and not the answer."""


@dataclass(frozen=True, slots=True)
class Score:
    """How often a rule was right."""

    rule: Rule
    hits: Estimate
    chance: float

    @property
    def most(self) -> float:
        """What it may reach."""
        return HONEST if self.rule.sort != "artefact" else self.chance + ARTEFACT

    @property
    def holds(self) -> bool:
        """Whether it is not surely better than it may be."""
        low = self.hits.value if self.hits.low is None else self.hits.low
        return low <= self.most

    @property
    def enforced(self) -> bool:
        """Symptoms are what a fault shows, and only told."""
        return self.rule.sort != "symptom"


def scores(scenes: Sequence[Scene], rules: Sequence[Rule] = RULES) -> list[Score]:
    """Every rule over all scenes."""
    pairs = [scene.pair for scene in scenes]
    found = []
    for rule in rules:
        hits = mean([rule.hit(scene) for scene in scenes], pairs)
        assert hits is not None, "there are scenes"
        found.append(Score(rule, hits, sum(map(rule.chance, scenes)) / len(scenes)))
    return found


# --- how far back the culprit's change lies -------------------------------------------------------


def older_than_median(scene: Scene) -> bool:
    """Whether the culprits' last change lies before that of most objects."""
    own = [each.figures["written"] for each in scene.candidates if each.culprit]
    return bool(own) and max(own) < median(each.figures["written"] for each in scene.candidates)


def among_latest(scene: Scene, count: int = 3) -> float:
    """The probability that a culprit is among the ``count`` objects that were written last."""
    ordered = sorted(scene.candidates, key=lambda each: -each.figures["written"])
    edge = ordered[min(count, len(ordered)) - 1].figures["written"]
    above = [each for each in ordered if each.figures["written"] > edge]
    if any(each.culprit for each in above):
        return 1.0
    level = [each for each in ordered if each.figures["written"] == edge]
    guilty, places = sum(each.culprit for each in level), count - len(above)
    missed = 1.0
    for drawn in range(min(places, len(level))):
        missed *= max(0, len(level) - guilty - drawn) / (len(level) - drawn)
    return 1.0 - missed
