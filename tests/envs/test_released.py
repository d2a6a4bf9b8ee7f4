"""Worlds are freed when nobody plays in them any more, also those of which the collector of cycles knows nothing.

What a process has when it makes a base world is not looked through again (``runtime/garbage.py``): a world that held itself
would stay for ever.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from sregym_env import SREGymEnv
from sregym_env.envs import staging
from sregym_env.runtime import garbage
from tests.envs.test_pickling import AFTER, BEFORE, PROBLEMS


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_world_is_gone_with_its_episode(name: str) -> None:
    env = SREGymEnv(**PROBLEMS[name], raise_errors=True)
    env.reset(seed=11)
    for action in (*BEFORE, *AFTER):
        env.step(action)
    other = env.fork()
    other.step('submit diagnosis "no idea"')
    other.step("submit mitigation")
    worlds: list[weakref.ref[Any]] = [weakref.ref(each.episode.world) for each in (env, other)]
    garbage.keep()
    del env, other
    staging.forget()
    gc.collect()
    assert [world() for world in worlds] == [None, None]
    gc.unfreeze()


FEW = 1_000
"""Objects; a world is some hundred thousand."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.exhaustive) if number % 3 else name
        for number, name in enumerate(PROBLEMS)
    ],
)
def test_episodes_leave_nothing_to_the_collector_of_cycles(name: str) -> None:
    env = SREGymEnv(**PROBLEMS[name], raise_errors=True)

    def play(seed: int) -> None:
        env.reset(seed=seed)
        for action in (*BEFORE, *AFTER):
            env.step(action)

    play(11)  # what a process makes once, and keeps
    gc.collect()
    gc.disable()
    try:
        play(12)
        env.reset(seed=11)
        assert gc.collect() < FEW
    finally:
        gc.enable()
