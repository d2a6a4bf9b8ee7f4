"""Fit the weights with which the deterministic judge reads (:mod:`sregym_env.rewards.fitted`), of the part of the labelled
texts that may be looked at. The same texts give the same weights.

``python tools_dev/fit_reader.py`` writes them. ``--figures`` writes nothing: it leaves one batch out after the other, all
its texts unseen, and says how well those are judged. ``--without N`` leaves a batch out of everything, and says how well it is judged.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sregym_env import apps
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards import free_text
from sregym_env.rewards.fitted.weights import Weights, of_arrays
from sregym_env.rewards.fitted.wording import Told
from sregym_env.rewards.labelled.agreement import kappa
from sregym_env.rewards.labelled.collection import development
from sregym_env.rewards.labelled.diagnosis import Diagnosis
from sregym_env.rewards.labelled.specs import APPS, specs
from sregym_env.rewards.opinion import Opinion
from sregym_env.rewards.screening import address, cleaned
from sregym_env.tools.taxonomy import TAXONOMY

FILE = Path(__file__).parents[1] / "sregym_env" / "rewards" / "fitted" / "weights.npz"

BATCHES = {
    27: (1213, 1546),
    28: (1547, 1896),
    29: (1897, 2264),
    30: (2265, 2627),
    31: (2628, 2946),
    32: (2947, 3250),
    35: (3251, 3563),
    36: (3564, 3925),
    37: (3926, 4289),
}
"""Numbers of the ``t-`` texts of ``written_N.jsonl``: those by which no rule of the hand-written reader has been mended, so
that what it finds there is what it finds in texts that it has not seen. Whoever mends rules by them, needs others here."""

DOUBLES = 25
"""Texts of two accounts of every batch."""

SWAPPED = 0.08
"""Weight of a right text that is held against another fault; a labelled one has 1."""

TWICE = 2
"""Texts in which a feature must stand."""

THRICE = 3
RIDGE, RIDGE_OF_TOPICS, RIDGE_OF_BLEND = 0.05, 0.1, 1.0
STEPS = 30
THRESHOLD = 1.6
"""Logarithm of the odds above which an account is affirmed that was not understood and accuses nobody."""

Floats = npt.NDArray[np.float64]
Feature = TypeVar("Feature", int, tuple[int, int])


@dataclass(frozen=True)
class Sample:
    """A text beside a fault: what is known of it and what was found in it."""

    id: str
    batch: int
    kind: str
    """Its label; ``swapped`` for one of another fault, ``stated`` for the account of a spec or of the taxonomy, ``double`` for two
    accounts in one text, which are judged and not learnt from."""
    about: bool
    """Whether it is about the fault's mechanism."""
    mechanism: str
    told: Told
    topics: tuple[int, ...]
    opinion: Opinion | None = None
    """What is made of it; None where it is only learnt from."""
    formless: bool = False
    """Whether it earns nothing for its form."""

    @property
    def right(self) -> bool:
        return self.kind in ("right", "stated")


def batch_of(id: str) -> int:
    """The blind batch of a text; 0 for none."""
    match = re.fullmatch(r"t-(\d+)", id)
    number = int(match[1]) if match else 0
    return next((batch for batch, (first, last) in BATCHES.items() if first <= number <= last), 0)


def samples() -> list[Sample]:
    """Everything that is learnt from, in a fixed order."""
    found: list[Sample] = []
    dice = Random(5)
    for each in development():
        if len(each.pairs) != 1:
            continue
        spec = specs(each.app)[each.pairs[0]]
        about = each.label == "right" or each.category == "other-component"
        found.append(_sample(each.id, each.text, each.app, spec, each.label, about, batch_of(each.id)))
        if each.right:
            others = [other for other in specs(each.app).values() if other.mechanism != spec.mechanism]
            same = [other for other in others if set(other.components) & set(spec.components)]
            kin = [o for o in same if MECHANISMS[o.mechanism].family == MECHANISMS[spec.mechanism].family]
            elsewhere = [
                other
                for other in specs(each.app).values()
                if other.mechanism == spec.mechanism and not set(other.components) & set(spec.components)
            ]
            for pool in (same, kin, elsewhere):
                for other in dice.sample(pool, min(1, len(pool))):
                    found.append(
                        _sample(each.id, each.text, each.app, other, "swapped", False, batch_of(each.id))
                    )
    found += _doubles(found, dice)
    for app in APPS:
        told: Counter[str] = Counter()
        for (fault, target), spec in specs(app).items():
            told[fault] += 1
            if told[fault] <= 3:
                found.append(_sample(f"{app}/{fault}/{target}", spec.cause, app, spec, "stated", True, 0))
    any_spec = {spec.mechanism: (app, spec) for app in reversed(APPS) for spec in specs(app).values()}
    for key, (app, spec) in sorted(any_spec.items()):
        text = f"{TAXONOMY[key].title}. {TAXONOMY[key].definition}"
        found.append(_sample(f"taxonomy/{key}", text, app, spec, "defined", True, 0))
    return found


def _doubles(found: Sequence[Sample], dice: Random) -> Iterator[Sample]:
    """Right accounts of two mechanisms in one text, as if both were of one component: who says two things at once has not
    found out which it is. Both are of one batch, so that what is learnt of the others has seen neither."""
    by_id = {each.id: each for each in development()}
    pools: dict[tuple[int, str], list[Diagnosis]] = {}
    for sample in found:
        each = by_id[sample.id]
        if sample.kind == "right" and sample.batch and len(specs(each.app)[each.pairs[0]].components) == 1:
            pools.setdefault((sample.batch, each.app), []).append(each)
    for (batch, app), pool in sorted(pools.items()):
        for each in dice.sample(pool, min(DOUBLES, len(pool))):
            spec = specs(app)[each.pairs[0]]
            near = {spec.mechanism, *MECHANISMS[spec.mechanism].kin, *MECHANISMS[spec.mechanism].through}
            others = [
                (other, its.components[0])
                for other in pool
                if (its := specs(app)[other.pairs[0]]).mechanism not in near
                and spec.mechanism not in MECHANISMS[its.mechanism].through
                and its.components[0] in other.text
            ]
            if not others:
                continue
            other, name = dice.choice(others)
            texts = [each.text, other.text.replace(name, spec.components[0])]
            text = dice.choice(("\n", " ")).join(dice.sample(texts, 2))
            yield _sample(f"{each.id}+{other.id}", text, app, spec, "double", False, batch)


def _sample(id: str, text: str, app: str, spec: FaultSpec, kind: str, about: bool, batch: int) -> Sample:
    opinion = free_text.opinion(text, spec, apps.app(app))
    topics = tuple(sorted({feature for each in opinion.topics for feature in each}))
    own = Sample(id, batch, kind, about, spec.mechanism, opinion.told, topics)
    if not batch or kind == "swapped":
        return own
    formless = bool(free_text.formless(opinion.case) or address(cleaned(text)))
    return replace(own, opinion=opinion, formless=formless)


# --- the models -----------------------------------------------------------------------------------------------------


class Rows:
    """A sparse matrix by rows."""

    def __init__(self, rows: Iterable[tuple[Sequence[int], Sequence[float]]], width: int) -> None:
        columns: list[int] = []
        values: list[float] = []
        starts = [0]
        for column, value in rows:
            columns += column
            values += value
            starts.append(len(columns))
        self.columns = np.array(columns, np.int64)
        self.values = np.array(values)
        self.starts = np.array(starts)
        self.width = width

    def times(self, weights: Floats) -> Floats:
        """Of every row the sum by weights."""
        sums = np.concatenate([[0.0], np.cumsum(self.values * weights[self.columns])])
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])

    def back(self, rows: Floats) -> Floats:
        """Of every column the sum by what the rows have."""
        weights = self.values * np.repeat(rows, np.diff(self.starts))
        return np.asarray(np.bincount(self.columns, weights=weights, minlength=self.width), np.float64)


def minimised(loss: Callable[[Floats], tuple[float, Floats]], size: int, steps: int) -> Floats:
    """Where a loss is small, by L-BFGS from zero."""
    at = np.zeros(size)
    value, slope = loss(at)
    moves: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        way = slope.copy()
        taken: list[float] = []
        for move, turn in reversed(moves):
            taken.append(float(move @ way / (turn @ move)))
            way -= taken[-1] * turn
        way *= (
            float(moves[-1][0] @ moves[-1][1] / (moves[-1][1] @ moves[-1][1]))
            if moves
            else 1 / max(1.0, float(np.linalg.norm(slope)))
        )
        for (move, turn), part in zip(moves, reversed(taken), strict=True):
            way += (part - float(turn @ way / (turn @ move))) * move
        length, fall = 1.0, float(slope @ way)
        while True:
            there, (less, new) = at - length * way, loss(at - length * way)
            if less <= value - 1e-4 * length * fall or length < 1e-8:
                break
            length /= 2
        moves = [*moves[-9:], (there - at, new - slope)]
        done = value - less < 1e-5 * abs(value)
        at, value, slope = there, less, new
        if done:
            break
    return at


def logistic(rows: Rows, right: Floats, weight: Floats, ridge: float) -> tuple[Floats, float]:
    """Weights and constant of a logistic regression."""
    sign = 2 * right - 1

    def loss(at: Floats) -> tuple[float, Floats]:
        margin = sign * (rows.times(at[:-1]) + at[-1])
        pull = weight * -sign / (1 + np.exp(np.clip(margin, -30, 30)))
        slope = np.concatenate([rows.back(pull) + ridge * at[:-1], [pull.sum()]])
        return float((weight * np.logaddexp(0, -margin)).sum() + ridge / 2 * (at[:-1] @ at[:-1])), slope

    found = minimised(loss, rows.width + 1, STEPS)
    return found[:-1], float(found[-1])


def whole(weights: Floats) -> tuple[npt.NDArray[np.int8], float]:
    """Weights as whole numbers and their scale."""
    # The largest few are cut, so that all others are finer.
    scale = float(np.quantile(np.abs(weights), 0.9995)) / 127 if weights.size else 1.0
    return np.clip(np.round(weights / scale), -127, 127).astype(np.int8), scale


def learnt(known: Sequence[Sample]) -> dict[str, npt.NDArray[np.generic]]:
    """The weights without those by which they are blended with what the hand-written reader finds."""
    keys = tuple(sorted({each.mechanism for each in known}))
    number = {key: place for place, key in enumerate(keys)}
    judged = [each for each in known if each.kind not in ("defined", "double")]
    shared = _common((each.id, each.told.shared) for each in judged)
    pairs = _common(
        (each.id, [(feature, number[each.mechanism]) for feature in each.told.own]) for each in judged
    )
    pairs = {pair: len(shared) + place for place, pair in enumerate(pairs)}

    def row(each: Sample) -> tuple[list[int], list[float]]:
        at_large = [shared[feature] for feature in each.told.shared if feature in shared]
        mine = number[each.mechanism]
        own = [pairs[feature, mine] for feature in each.told.own if (feature, mine) in pairs]
        values = [1 / np.sqrt(len(at_large))] * len(at_large) + [1 / np.sqrt(len(own))] * len(own)
        return at_large + own, values

    right = np.array([float(each.right) for each in judged])
    weight = np.array([SWAPPED if each.kind == "swapped" else 1.0 for each in judged])
    found, bias = logistic(Rows(map(row, judged), len(shared) + len(pairs)), right, weight, RIDGE)
    numbers, scale = whole(found)
    features, counts = np.unique([feature for feature, _ in pairs], return_counts=True)
    vocabulary, topic, of_topics = _topics(
        [each for each in known if each.about and each.kind != "swapped"], number
    )
    return {
        "mechanisms": np.array(keys),
        "shared_keys": np.array(list(shared), np.uint32),
        "shared": numbers[: len(shared)],
        "own_keys": features.astype(np.uint32),
        "own_counts": counts.astype(np.uint8),
        "own_of": np.array([mechanism for _, mechanism in pairs], np.uint8),
        "own": numbers[len(shared) :],
        "topic_keys": vocabulary,
        "topic": topic,
        "scales": np.array([scale, of_topics]),
        "bias": np.array([bias]),
    }


def _common(texts: Iterable[tuple[str, Sequence[Feature]]]) -> dict[Feature, int]:
    """Features that stand in several texts, in order, with their places."""
    first: dict[Feature, str] = {}
    several: set[Feature] = set()
    for id, features in texts:
        for feature in features:
            if first.setdefault(feature, id) != id:
                several.add(feature)
    return {feature: place for place, feature in enumerate(sorted(several))}


def _topics(
    known: Sequence[Sample], number: Mapping[str, int]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int8], float]:
    counts = Counter(feature for each in known for feature in each.topics)
    place = {f: at for at, f in enumerate(sorted(f for f, count in counts.items() if count >= THRICE))}
    matrix = np.zeros((len(known), len(place)), np.float32)
    for row, each in enumerate(known):
        columns = [place[feature] for feature in each.topics if feature in place]
        if columns:
            matrix[row, columns] = 1 / np.sqrt(len(columns))
    truth = np.array([number[each.mechanism] for each in known])
    goal = np.eye(len(number), dtype=np.float32)[truth]

    def loss(at: Floats) -> tuple[float, Floats]:
        logits = matrix @ at.reshape(len(place), -1).astype(np.float32)
        logits -= logits.max(1, keepdims=True)
        odds = np.exp(logits)
        odds /= odds.sum(1, keepdims=True)
        missed = -np.log(odds[np.arange(len(truth)), truth] + 1e-12).sum()
        slope = (matrix.T @ (odds - goal)).astype(np.float64).ravel() + RIDGE_OF_TOPICS * at
        return float(missed + RIDGE_OF_TOPICS / 2 * (at @ at)), slope

    found = minimised(loss, len(place) * len(number), STEPS)
    numbers, scale = whole(found)
    return np.array(list(place), np.uint32), numbers.reshape(len(place), -1), scale


def blend(findings: Floats, right: Floats) -> Floats:
    """Weights and constant of a small logistic regression, by Newton's method; the ridge is on standardised columns."""
    spread = findings.std(0) + 1e-9
    columns = np.c_[findings / spread, np.ones(len(findings))]
    ridge = np.array([RIDGE_OF_BLEND] * findings.shape[1] + [1e-6])
    at = np.zeros(len(ridge))
    for _ in range(30):
        odds = 1 / (1 + np.exp(-columns @ at))
        slope = columns.T @ (odds - right) + ridge * at
        at -= np.linalg.solve((columns * (odds * (1 - odds))[:, None]).T @ columns + np.diag(ridge), slope)
    return np.concatenate([at[:-1] / spread, at[-1:]])


# --- one batch left out after the other ---------------------------------------------------------------------------------


def unseen(known: Sequence[Sample]) -> Iterator[tuple[Sample, Opinion]]:
    """The texts of the blind batches, with what is made of them by weights that were made without their batch."""
    for batch in sorted({each.batch for each in known if each.batch}):
        by = _weights(learnt([each for each in known if each.batch != batch]))
        for each in known:
            if each.batch == batch and each.opinion is not None:
                yield each, each.opinion.weighed(by)


def _weights(arrays: dict[str, npt.NDArray[np.generic]], by: Floats | None = None) -> Weights:
    blended = np.zeros(1) if by is None else by
    return of_arrays({**arrays, "blend": blended, "threshold": np.array([THRESHOLD])})


def blended(of: Sequence[tuple[Sample, Opinion]]) -> Floats:
    """The weights of a blend, by accounts of one thing."""
    single = [(each, opinion) for each, opinion in of if each.kind != "double"]
    rows = np.array([(*opinion.findings, *opinion.scores) for _, opinion in single])
    return blend(rows, np.array([float(each.right) for each, _ in single]))


def passes(each: Sample, opinion: Opinion, by: Floats) -> bool:
    """Whether a text passes by a blend."""
    return not each.formless and opinion.weighed(replace(opinion.by, blend=by)).passes


def figures(name: str, of: Sequence[tuple[Sample, bool]]) -> str:
    """How well texts are judged."""
    alone = {
        each.id: bool(each.opinion and each.opinion.grade.passed) and not each.formless for each, _ in of
    }
    judged = [(each.right, passed) for each, passed in of if each.kind in ("right", "wrong")]
    read = [(each.right, alone[each.id]) for each, _ in of if each.kind in ("right", "wrong")]
    parts = [f"{name:9} kappa {kappa(judged):.3f} (reading alone {kappa(read):.3f})"]
    for kind in ("right", "wrong", "attack", "double"):
        rows = [(passed, alone[each.id]) for each, passed in of if each.kind == kind]
        parts.append(f"{kind} {sum(p for p, _ in rows)} ({sum(r for _, r in rows)}) of {len(rows)}")
    return ", ".join(parts)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--without", type=int, default=-1)
    asked = parser.parse_args()
    everything = samples()
    known = [each for each in everything if each.batch != asked.without]
    scored = list(unseen(known))
    if asked.figures:
        told: list[tuple[Sample, bool]] = []
        for batch in sorted({each.batch for each, _ in scored}):
            by = blended([pair for pair in scored if pair[0].batch != batch])
            of = [(each, passes(each, made, by)) for each, made in scored if each.batch == batch]
            print(figures(f"batch {batch}", of), flush=True)
            told += of
        print(figures("all", told))
        if asked.without < 0:
            return
    arrays = learnt(known)
    by = blended(scored)
    if asked.without >= 0:
        final = _weights(arrays, by)
        left = [(each, each.opinion) for each in everything if each.batch == asked.without]
        of = [(each, passes(each, made.weighed(final), by)) for each, made in left if made is not None]
        print(figures(f"unseen {asked.without}", of))
        return
    with FILE.open("wb") as file:
        everything_learnt: dict[str, Any] = {**arrays, "blend": by, "threshold": np.array([THRESHOLD])}
        np.savez_compressed(file, **everything_learnt)


if __name__ == "__main__":
    main()
