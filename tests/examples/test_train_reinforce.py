"""The example that learns: its gradient is the gradient, its splits are apart, its episodes are deterministic."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sregym_env.errors import UsageError

PATH = Path(__file__).parents[2] / "examples" / "train_reinforce.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("train_reinforce", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their own module up.
    sys.modules["train_reinforce"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table(example: ModuleType) -> Any:
    """Where it plays."""
    return example.Table(replace(example.QUICK, max_steps=2))


def test_nothing_that_is_asked_has_been_trained_on(example: ModuleType, table: Any) -> None:
    sides = {side: example.tasks(example.FAMILIES, side) for side in example.SPLITS}
    struck = {side: {task.target for task in listed} for side, listed in sides.items()}
    assert min(map(len, struck.values())) >= 3
    assert not struck["train"] & (struck["validation"] | struck["test"])
    assert not struck["validation"] & struck["test"]
    assert len(sides["train"]) > 40
    with pytest.raises(UsageError, match="plays train"):
        table.play(np.zeros(table.chooser.size), [example.Group("train", sides["test"][0], 1, 1)])


def test_the_gradient_is_the_gradient(example: ModuleType, table: Any) -> None:
    """Against differences, for the logarithm of a choice's probability and for the entropy."""
    chooser = table.chooser
    dice = np.random.default_rng(0)
    weights = dice.normal(size=chooser.size) * 0.3
    observation = dice.random(chooser.layout.size)
    size = len(chooser.general) + len(chooser.special)
    mask = np.ones(size, np.int8)
    mask[sorted(chooser.diagnoses)[:5]] = 0
    entry = chooser.special[7]
    step = example.Step(observation, mask, entry)
    episode = example.Episode((step,), example.Earned(1.0, 0.0), True, ())
    nothing = example.Standard(np.zeros(2), np.ones(2))

    def value(at: Any, entropy: float) -> float:
        likely = chooser.probabilities(at, observation, mask)
        positive = likely[likely > 0]
        return float(np.log(likely[entry]) - entropy * (positive * np.log(positive)).sum())

    for entropy in (0.0, 0.7):
        gradient = chooser.learnt(episode, nothing, weights, entropy)
        for index in dice.integers(chooser.size, size=40):
            nudge = np.zeros(chooser.size)
            nudge[index] = 1e-5
            slope = (value(weights + nudge, entropy) - value(weights - nudge, entropy)) / 2e-5
            assert gradient[index] == pytest.approx(slope, abs=1e-6)


def test_what_may_not_be_chosen_is_never_chosen(example: ModuleType, table: Any) -> None:
    chooser = table.chooser
    mask = np.zeros(len(chooser.general) + len(chooser.special), np.int8)
    mask[[2, 5]] = 1
    likely = chooser.probabilities(np.zeros(chooser.size), np.zeros(chooser.layout.size), mask)
    assert likely[[2, 5]].tolist() == [0.5, 0.5]
    assert likely.sum() == 1.0


def test_a_member_is_measured_by_its_group(example: ModuleType) -> None:
    earned = [example.Earned(1.0, 0.4), example.Earned(0.1, 0.1)]
    members = [example.Episode((), each, False, ()) for each in earned]
    standard = example.Standard.of(members)
    better, worse = (standard.advantage(each, diagnosis=False) for each in earned)
    assert better == pytest.approx(-worse)
    assert better == pytest.approx(0.45 / (0.45 + 0.05))
    alike = example.Standard.of([members[0]] * 3)
    assert alike.advantage(earned[0], diagnosis=True) == pytest.approx(0.0)


def test_groups_are_played_alike_whoever_played_before(example: ModuleType, table: Any) -> None:
    weights = np.random.default_rng(1).normal(size=table.chooser.size)
    first, second = (
        example.Group("train", task, 11, 3) for task in example.tasks(["scale_to_zero"], "train")[:2]
    )

    def told(groups: Any) -> Any:
        return [
            [(each.choices, each.earned, each.success) for each in members]
            for members in table.play(weights, groups)
        ]

    both = told([first, second])
    assert told([second, first]) == both[::-1]
    assert len({choices for members in both for choices, *_ in members}) > 1
