"""Playing an attempt in an episode of its own, and what it cost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from time import process_time
from types import FrameType

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.runtime import effort
from sregym_env.sim.world import SimWorld

from .attempt import Attempt


class Endless(BaseException):
    """An action was stopped because it took far too long; no ``except Exception`` may catch this."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one action of an attempt cost."""

    attempt: str
    action: int
    seconds: float
    """Of the processor."""
    own: float
    """Of these, what the action took by itself: all but the world's events, and the grading of what is handed in."""
    exit_reason: str
    exit_code: int
    text: str
    """The observation's end."""
    chars: int
    units: int = 0
    """Units of work that were counted (``runtime/effort.py``)."""
    failure: str = ""
    """Where an exception came from that voided the episode."""


@cache
def staged() -> SREGymEnv:
    """An environment whose episode has begun; attempts are played in its forks."""
    env = SREGymEnv(
        fault="wrong_binary", target="geo", variation=False, max_commands=200, time_limit=10 * 86_400
    )
    env.reset(seed=5)
    return env


def played(attempt: Attempt, patience: float = 60.0) -> Iterator[Cost]:
    """The cost of every action; an action that takes longer than ``patience`` is the last."""
    env = staged().fork()
    for index, action in enumerate(attempt.actions):
        began = process_time()
        try:
            with interrupted(patience), counted() as efforts, apart() as events:
                observation, _, terminated, truncated, info = env.step(action)
        except Endless as error:
            where, seconds = _where(error), process_time() - began
            yield Cost(attempt.id, index, seconds, seconds, "endless", 0, "", 0, units(efforts), where)
            return
        seconds = process_time() - began
        failure = env.episode.failure
        yield Cost(
            attempt.id,
            index,
            seconds,
            0.0 if action.startswith("submit") else seconds - sum(events),
            info["exit_reason"],
            info["exit_code"],
            observation[-160:],
            len(observation),
            units(efforts),
            "" if failure is None else f"{type(failure).__name__}: {str(failure)[:80]} {_where(failure)}",
        )
        if terminated or truncated:
            return


@contextmanager
def counted() -> Iterator[list[effort.Effort]]:
    """The allowances that are opened in the body."""
    opened: list[effort.Effort] = []
    plain = effort.bounded

    @contextmanager
    def bounded(own: float = effort.OWN, world: float = effort.WORLD) -> Iterator[effort.Effort]:
        outer = effort.present()
        with plain(own, world) as found:
            # What is opened within another is noted there as well.
            if outer is None:
                opened.append(found)
            yield found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effort, "bounded", bounded)
        yield opened


@contextmanager
def apart() -> Iterator[list[float]]:
    """The seconds of the processor that the world's events take in the body, one span after the other."""
    spans: list[float] = []
    plain = SimWorld._happen_within

    def happen(world: SimWorld, present: effort.Effort, time: int) -> None:
        outermost, began = not present.within, process_time()
        try:
            plain(world, present, time)
        finally:
            if outermost:
                spans.append(process_time() - began)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimWorld, "_happen_within", happen)
        yield spans


def units(efforts: list[effort.Effort]) -> int:
    """What has been used of allowances."""
    return round(sum(each.used for each in efforts))


def _where(error: BaseException) -> str:
    """The innermost lines of our own code."""
    trace, lines = error.__traceback__, []
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "sregym_env/" in name:
            lines.append(f"{name.rpartition('sregym_env/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " ".join(lines[-4:])


@contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    """Raise :class:`Endless` in the body after so many seconds of the processor's time."""

    def stop(_: int, __: FrameType | None) -> None:
        raise Endless

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
