"""Vector environments: text arrives whole from other processes, whatever characters it has."""

from __future__ import annotations

import copy
import multiprocessing
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

import sregym_env  # noqa: F401 - registers the ids
from sregym_env.envs.spaces import Text

PROBLEM = "SREGym/network_policy_block-v0"
ACTIONS = (
    "kubectl get pods -A",
    "printf 'a\\tb\\n\u00e4\u20ac\U0001f600\\n'",
    "submit mitigation",
    "kubectl get nodes",  # the next episode begins
    "kubectl get nodes",
)


def _arrays(info: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in info.items()}


def test_the_asynchronous_kind_says_what_the_synchronous_one_says() -> None:
    serial = gym.make_vec(PROBLEM, num_envs=2, vectorization_mode="sync")
    parallel = gym.make_vec(PROBLEM, num_envs=2, vectorization_mode="async")
    try:
        here, there = serial.reset(seed=[1, 2]), parallel.reset(seed=[1, 2])
        assert here[0] == there[0]
        before = there[0]
        for action in ACTIONS:
            observations, rewards, terminated, truncated, info = serial.step((action, action))
            theirs = parallel.step((action, action))
            assert theirs[0] == observations
            assert list(theirs[1]) == list(rewards)
            assert list(theirs[2]) == list(terminated)
            assert list(theirs[3]) == list(truncated)
            assert _arrays(theirs[4]) == _arrays(info)
        assert before == here[0], "a later step changed an earlier observation"
    finally:
        parallel.close()


def test_shared_memory_holds_any_text_up_to_the_length_of_the_space() -> None:
    space = Text(10)
    memory = create_shared_memory(space, 3, multiprocessing)
    texts = read_from_shared_memory(space, memory, 3)
    assert copy.deepcopy(texts) == ("", "", "")
    for index, text in enumerate(("\U0001f600" * 10, "", "a\tb\x00\udcff")):
        write_to_shared_memory(space, index, text, memory)
    seen = copy.deepcopy(texts)
    assert seen == ("\U0001f600" * 10, "", "a\tb\x00\udcff")
    write_to_shared_memory(space, 0, "short", memory)
    assert texts[0] == "short"
    assert texts[1:] == seen[1:]
    assert space.contains(seen[0])
    with pytest.raises(ValueError, match="41 characters"):
        write_to_shared_memory(space, 1, "x" * 41, memory)
    assert texts[2] == seen[2]
