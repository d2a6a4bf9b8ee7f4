"""Playing shortcuts: one reset of a pair, a fork of the episode for each policy, and what each earned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from sregym_env import apps
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import SREGymError
from sregym_env.faults.problems import Problem
from sregym_env.rollouts.shortcuts.catalog import SHORTCUTS
from sregym_env.rollouts.shortcuts.memory import elsewhere
from sregym_env.rollouts.shortcuts.shortcut import Knowledge, Shortcut


@dataclass(frozen=True, slots=True)
class Case:
    """A world to play in."""

    problem: Problem
    seed: int

    @property
    def pair(self) -> str:
        """What the problem is called."""
        return self.problem.id


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one shortcut earned in one world."""

    policy: str
    pair: str
    fault: str
    seed: int
    repaired: bool
    diagnosed: bool
    reward: float
    undoable: bool
    """Whether a declared repair of the fault is to take a rollout back."""
    ended: str
    """Why the episode ended; empty where it counts for nothing, because the environment failed."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Unplayed:
    """A world that could not be set up."""

    pair: str
    seed: int
    error: str


Played = tuple[Outcome, ...] | Unplayed


def cases(problems: Iterable[Problem], seeds: int, first: int = 0) -> list[Case]:
    """Every problem under so many seeds, each problem with seeds of its own."""
    return [
        Case(problem, first + number * seeds + each)
        for number, problem in enumerate(problems)
        for each in range(seeds)
    ]


def play(case: Case, names: Sequence[str]) -> Played:
    """Play shortcuts in one world, each from its beginning."""
    shortcuts = [SHORTCUTS[name] for name in names]
    env = SREGymEnv()
    try:
        env.reset(seed=case.seed, options={"problem": case.problem.model_dump(mode="json")})
        known = Knowledge(apps.app(case.problem.app))
        if any(shortcut.remembers for shortcut in shortcuts):
            known = Knowledge(known.app, elsewhere(case.problem, case.seed))
    except SREGymError as error:
        return Unplayed(case.pair, case.seed, f"{type(error).__name__}: {error}")
    return tuple(_played(env.fork(), case, shortcut, known) for shortcut in shortcuts)


def play_all(
    played: Sequence[Case],
    names: Sequence[str],
    *,
    workers: int = 1,
    watch: Callable[[], None] | None = None,
) -> tuple[list[Outcome], list[Unplayed]]:
    """Every shortcut in every world, in the order of the worlds; what was earned, and what could not be played."""
    outcomes: list[Outcome] = []
    failures: list[Unplayed] = []
    for result in _results(played, names, workers):
        if isinstance(result, Unplayed):
            failures.append(result)
        else:
            outcomes += result
        if watch is not None:
            watch()
    return outcomes, failures


def _results(played: Sequence[Case], names: Sequence[str], workers: int) -> Iterator[Played]:
    one = partial(play, names=tuple(names))
    if workers <= 1 or len(played) <= 1:
        yield from map(one, played)
        return
    with ProcessPoolExecutor(max_workers=workers) as pool:
        yield from pool.map(one, played)


def _played(env: SREGymEnv, case: Case, shortcut: Shortcut, known: Knowledge) -> Outcome:
    played = list(steps(env, shortcut, known))
    info = played[-1].info
    solutions = env.episode.staged.solutions
    return Outcome(
        policy=shortcut.name,
        pair=case.pair,
        fault="+".join(sorted({each.fault for each in case.problem.faults})),
        seed=case.seed,
        repaired=bool(info["Mitigation"]),
        diagnosed=bool(info["Diagnosis"]),
        reward=round(sum(step.reward for step in played), 6),
        undoable=any("rollout undo" in line for s in solutions for remedy in s.remedies for line in remedy),
        ended=info["exit_reason"] if info["trainable"] else "",
    )


@dataclass(frozen=True, slots=True)
class Step:
    """A line that was typed, and what came of it."""

    line: str
    observation: str
    reward: float
    info: dict[str, Any]


def steps(env: SREGymEnv, shortcut: Shortcut, known: Knowledge) -> Iterator[Step]:
    """Type the script to its end, or to that of the episode, and hand in what was repaired.

    Who repairs nothing is spared the verdict on that: it would be paid the same.
    """
    script = shortcut.script(known)
    observation: str | None = None
    over = False
    while not over:
        try:
            line = next(script) if observation is None else script.send(observation)
        except StopIteration:
            line = "submit mitigation" if shortcut.group != "diagnosis" else ""
        played = env.step(line) if line else env.finish("max_steps")
        observation, reward, terminated, truncated, info = played
        over = terminated or truncated
        yield Step(line, observation, reward, info)
