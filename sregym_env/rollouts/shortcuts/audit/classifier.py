"""A classifier that learns from figures alone which of a world's objects is at fault: a softmax over candidates.

Each figure is turned into places within its world (the first, one of the first three, rank from above and from below), so
that nothing depends on absolute ages or versions, and by itself it knows what kind each object is of and whether anything of its
name is ever at fault. Or it learns from what objects are made of, a coefficient for each word. What it learns on one half of the pairs it must not know on the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sregym_env.rollouts.shortcuts.audit.scene import RESOURCES, Scene

Array = NDArray[np.float64]

STEPS = 300
"""Steps of gradient descent."""

RATE = 0.05
"""Adam's step."""

RIDGE = 1e-3
"""Weight of the squared coefficients."""

WORDS_RIDGE = 1e-2
"""The same where there is a coefficient for each word of what objects are made of."""

OFTEN = 0.1
"""How often a word must be met, for each world, to be learnt from."""

SYMPTOMS = ("restarts", "unready", "warnings")
"""Figures that show the fault's effect, and not what was done."""

RECENCY = ("created", "written", "version", "generation", "revision", "replica_set", "pod")
"""Figures that tell when something was last done to an object, and how often: honest evidence."""

USUAL = "usual"
"""The figure of an object that says whether faults strike anything of its name."""

KINDS = (*RESOURCES, "nodes")
"""Kinds of objects, in the order of the columns that tell them apart."""


@dataclass(frozen=True, slots=True)
class Example:
    """A world in numbers."""

    features: Array
    """A row for each candidate."""
    culprits: Array
    """1 for each culprit, 0 for the rest."""


def example(scene: Scene, figures: Sequence[str]) -> Example:
    """What sort of object each of a scene's candidates is, and its places by each figure."""
    columns = [np.array([float(each.key[0] == kind) for each in scene.candidates]) for kind in KINDS]
    columns.append(np.array([each.figures.get(USUAL, 0.0) for each in scene.candidates]))
    for figure in figures:
        columns += _places(np.array([each.figures[figure] for each in scene.candidates]))
    culprits = np.array([float(each.culprit) for each in scene.candidates])
    return Example(np.stack(columns, axis=1), culprits)


def _places(values: Array) -> list[Array]:
    """Places by one figure: has it, first, among three, rank; from above and from below."""
    known = ~np.isnan(values)
    count = max(int(known.sum()), 1)
    columns = [known.astype(float)]
    for sign in (1.0, -1.0):
        ordered = np.where(known, sign * values, -np.inf)
        # How many are strictly beyond, and how many are equal: ties share their places.
        beyond = (ordered[None, :] > ordered[:, None]).sum(axis=1)
        equal = ((ordered[None, :] == ordered[:, None]) & known[None, :]).sum(axis=1)
        alone = np.where(known, 1.0 / np.maximum(equal, 1), 0.0)
        columns += [
            np.where(beyond == 0, alone, 0.0),
            np.where(beyond < 3, alone, 0.0),
            np.where(known, 1.0 - beyond / count, 0.0),
        ]
    return columns


def worded(scenes: Sequence[Scene], known: Sequence[str]) -> list[Example]:
    """What sort of object each of the scenes' candidates is, and which of the ``known`` words are true of it."""
    column = {word: number for number, word in enumerate((*KINDS, *known))}
    found = []
    for scene in scenes:
        features = np.zeros((len(scene.candidates), len(column)))
        for row, each in zip(features, scene.candidates, strict=True):
            row[[column[word] for word in (each.key[0], *each.contents) if word in column]] = 1.0
        found.append(Example(features, np.array([float(each.culprit) for each in scene.candidates])))
    return found


def vocabulary(scenes: Sequence[Scene]) -> list[str]:
    """The words that are met often enough to be learnt from."""
    counts = Counter(word for scene in scenes for each in scene.candidates for word in each.contents)
    return sorted(word for word, count in counts.items() if count >= max(2.0, OFTEN * len(scenes)))


def fit(examples: Sequence[Example], steps: int = STEPS, ridge: float = RIDGE) -> Array:
    """Coefficients that make the culprits likely."""
    features = np.concatenate([each.features for each in examples])
    culprits = np.concatenate([each.culprits for each in examples])
    sizes = np.array([len(each.culprits) for each in examples])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    world = np.repeat(np.arange(len(examples)), sizes)
    # Several culprits of one world share its weight; a world without one teaches nothing.
    guilty = np.add.reduceat(culprits, starts)
    target = culprits / np.maximum(guilty, 1)[world]
    weight = (guilty > 0).astype(float)[world]
    coefficients = np.zeros(features.shape[1])
    first, second = np.zeros_like(coefficients), np.zeros_like(coefficients)
    for step in range(1, steps + 1):
        scores = features @ coefficients
        scores -= np.maximum.reduceat(scores, starts)[world]
        likely = np.exp(scores)
        likely /= np.add.reduceat(likely, starts)[world]
        slope = features.T @ ((likely - target) * weight) / len(examples) + ridge * coefficients
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        coefficients = coefficients - RATE * (first / (1 - 0.9**step)) / (
            np.sqrt(second / (1 - 0.999**step)) + 1e-8
        )
    return coefficients


def right(examples: Sequence[Example], coefficients: Array) -> list[float]:
    """For each world, whether the likeliest candidate is a culprit; ties are broken by lot."""
    found = []
    for each in examples:
        scores = each.features @ coefficients
        best = scores >= scores.max() - 1e-9
        found.append(float(each.culprits[best].mean()))
    return found


def crossed(scenes: Sequence[Scene], figures: Sequence[str], steps: int = STEPS) -> list[float]:
    """For each scene, whether it is guessed by what was learnt from figures on the other half of the pairs."""

    def guessed(learnt: Sequence[Scene], tried: Sequence[Scene]) -> list[float]:
        known = fit([example(scene, figures) for scene in learnt], steps)
        return right([example(scene, figures) for scene in tried], known)

    return _halves(scenes, guessed)


def crossed_by_contents(scenes: Sequence[Scene], steps: int = STEPS) -> list[float]:
    """The same by what was learnt from what objects are made of, and from nothing else."""

    def guessed(learnt: Sequence[Scene], tried: Sequence[Scene]) -> list[float]:
        words = vocabulary(learnt)
        return right(worded(tried, words), fit(worded(learnt, words), steps, WORDS_RIDGE))

    return _halves(scenes, guessed)


def _halves(
    scenes: Sequence[Scene], guessed: Callable[[Sequence[Scene], Sequence[Scene]], list[float]]
) -> list[float]:
    halves = [half(scene.pair) for scene in scenes]
    found = [0.0] * len(scenes)
    for mine in (0, 1):
        learnt = [scene for scene, own in zip(scenes, halves, strict=True) if own != mine]
        tried = [number for number, own in enumerate(halves) if own == mine]
        if learnt and tried:
            hits = guessed(learnt, [scenes[number] for number in tried])
            for number, hit in zip(tried, hits, strict=True):
                found[number] = hit
    return found


def half(pair: str) -> int:
    """Which half of the pairs one belongs to, whatever else is looked at."""
    return blake2b(pair.encode(), digest_size=1).digest()[0] & 1
