"""A curriculum: problems drawn more often where there is something to learn, by measured difficulty.

A group of rollouts teaches nothing where all succeed or all fail. What a problem teaches is taken as p (1 - p), the
variance of its success, with p measured: every report moves the estimate of the problem and, less, that of its fault
(as prior of the problems of that fault not played yet).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from sregym_env.envs.arguments import whole
from sregym_env.errors import UsageError
from sregym_env.faults.problems import NO_FAULT, Problem

PRIOR_WEIGHT = 2.0
"""How many episodes the fault's estimate is worth to one of its problems, and the neutral one to a fault."""

MEMORY = 0.9
"""Weight that an older report keeps with each newer one: an agent that learns makes old reports wrong."""

SHOWN = 5
"""Problems that a message names."""


class Curriculum:
    """Draws problems, learns from what came of them.

    ``floor``: the weight, beside p (1 - p) <= 0.25, that keeps every problem in play, so that what has been learnt or
    was too hard is tried again. Everything follows from the seed and the reports in their order.
    """

    def __init__(self, problems: Iterable[Problem], *, seed: int = 0, floor: float = 0.02) -> None:
        listed = tuple(problems)
        for each in listed:
            if not isinstance(each, Problem):
                raise UsageError(
                    f"a curriculum is of problems, as sregym_env.suite() returns them, not {each!r}"
                )
        self._problems = {problem.id: problem for problem in listed}
        if not self._problems:
            raise UsageError("a curriculum needs at least one problem")
        if not 0 < floor < float("inf"):
            raise UsageError(f"floor must be positive and finite, not {floor!r}")
        self._floor = floor
        self._random = np.random.default_rng(seed)
        self._seen: dict[str, tuple[float, float]] = {}
        """(weight, weighted successes) by problem's id, and by fault below ``fault:``."""

    def draw(self, count: int = 1) -> tuple[Problem, ...]:
        """So many problems, each drawn by what it may teach now. Raises UsageError for no number."""
        count = whole("count", count, 0)
        listed = list(self._problems.values())
        weights = np.array([self.weight(problem) for problem in listed])
        chosen = self._random.choice(len(listed), size=count, p=weights / weights.sum())
        return tuple(listed[index] for index in chosen)

    def report(self, problem: str | Problem, success: float) -> None:
        """What came of an episode, 0 to 1. Raises UsageError for a problem that is not of this curriculum."""
        name = problem if isinstance(problem, str) else problem.id
        if name not in self._problems:
            raise UsageError(f"problem {name} is not of this curriculum")
        if not isinstance(success, Real | np.bool_) or not 0.0 <= success <= 1.0:
            raise UsageError(
                f"success must be between 0 and 1, not {success!r}; an episode without an outcome is not reported"
            )
        for key in (name, *_faults(self._problems[name])):
            weight, total = self._seen.get(key, (0.0, 0.0))
            self._seen[key] = (weight * MEMORY + 1.0, total * MEMORY + float(success))

    def success(self, problem: Problem) -> float:
        """The measured success of a problem, its fault's where little is known of it, 0.5 of what nothing is known."""
        faults = [self._estimate(key, 0.5) for key in _faults(problem)]
        prior = sum(faults) / len(faults) if faults else 0.5
        return self._estimate(problem.id, prior)

    def weight(self, problem: Problem) -> float:
        """How often a problem is drawn, relative to others."""
        rate = self.success(problem)
        return rate * (1.0 - rate) + self._floor

    def difficulty(self) -> dict[str, float]:
        """1 - success of every problem, by id."""
        return {name: round(1.0 - self.success(problem), 6) for name, problem in self._problems.items()}

    def _estimate(self, key: str, prior: float) -> float:
        weight, total = self._seen.get(key, (0.0, 0.0))
        return (total + PRIOR_WEIGHT * prior) / (weight + PRIOR_WEIGHT)

    def state(self) -> dict[str, Any]:
        """What has been learnt, as JSON; :meth:`resumed` goes on from it."""
        return {
            "problems": list(self._problems),
            "seen": {key: list(value) for key, value in sorted(self._seen.items())},
            "random": self._random.bit_generator.state,
        }

    def resumed(self, state: Mapping[str, Any]) -> Self:
        """Go on from a :meth:`state` of a curriculum over the same problems; returns itself.

        Raises UsageError for what is no such state, or one of other problems; then nothing has changed.
        """
        if not isinstance(state, Mapping) or (missing := {"seen", "random"} - set(state)):
            lack = (
                f"it lacks {', '.join(sorted(missing))}" if isinstance(state, Mapping) else f"{state!r:.60}"
            )
            raise UsageError(f"this is no state of a curriculum: {lack}")
        if not isinstance(state["seen"], Mapping) or not isinstance(state.get("problems", []), list | tuple):
            raise UsageError("this is no state of a curriculum: seen is no mapping, or problems no list")
        self._demand_same(state)
        drawing = np.random.default_rng(0)
        try:
            seen = {key: (float(weight), float(total)) for key, (weight, total) in state["seen"].items()}
            drawing.bit_generator.state = dict(state["random"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(f"this is no state of a curriculum: {error}") from error
        self._seen, self._random = seen, drawing
        return self

    def _demand_same(self, state: Mapping[str, Any]) -> None:
        """Refuse a state of other problems: what it knows would be lost, and what it does not know drawn as if it did."""
        own = dict.fromkeys(
            (*self._problems, *(key for each in self._problems.values() for key in _faults(each)))
        )
        # Of a state that does not list its problems is known which were played.
        others = [
            each for each in dict.fromkeys((*state.get("problems", ()), *state["seen"])) if each not in own
        ]
        absent = [each for each in self._problems if each not in state.get("problems", self._problems)]
        told = [f"it knows {_some(others)}, which this one does not have"] if others else []
        told += [f"it does not know {_some(absent)}"] if absent else []
        if told:
            raise UsageError(f"this is the state of a curriculum over other problems: {'; '.join(told)}")


def _some(names: Sequence[str]) -> str:
    """Names for a message, the first few of many."""
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def _faults(problem: Problem) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"fault:{choice.fault}" for choice in problem.faults)) or (
        f"fault:{NO_FAULT}",
    )
