"""Forking an environment together with its wrappers, ours and other people's."""

from __future__ import annotations

import copy
from typing import Any, Self, TypeVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError

_Obs = TypeVar("_Obs")
_Act = TypeVar("_Act")
_InnerObs = TypeVar("_InnerObs")
_InnerAct = TypeVar("_InnerAct")


def fork(env: gymnasium.Env[Any, Any]) -> Any:
    """An independent environment in the same state, wrapped in the same way.

    What ``gymnasium.make`` puts around an environment is copied with it, and so is any other wrapper: everything that
    it holds but its spaces. Raises UsageError where what is inside is no :class:`SREGymEnv`, or its world is no value.
    """
    if isinstance(env, SREGymEnv):
        return env.fork()
    if isinstance(env, ForkingWrapper):
        return env.fork()
    if not isinstance(env, gymnasium.Wrapper):
        raise UsageError(f"{type(env).__name__} cannot be forked: it is no SREGymEnv in wrappers")
    twin = object.__new__(type(env))
    # Counters and statistics must not be shared; spaces hold nothing of an episode and are slow to copy.
    kept = {id(value): value for value in vars(env).values() if isinstance(value, gymnasium.Space)}
    kept[id(env.env)] = fork(env.env)
    twin.__dict__.update(copy.deepcopy(vars(env), kept))
    return twin


class ForkingWrapper(gymnasium.Wrapper[_Obs, _Act, _InnerObs, _InnerAct], RecordConstructorArgs):
    """A wrapper that can be forked: whatever it keeps from step to step is an immutable value."""

    def fork(self) -> Self:
        """An independent environment in the same state, in the same wrappers. Raises UsageError."""
        twin = copy.copy(self)
        twin.env = fork(self.env)
        return twin

    @property
    def sre(self) -> SREGymEnv:
        """The environment inside all wrappers."""
        return unwrapped(self)


def unwrapped(env: gymnasium.Env[Any, Any]) -> SREGymEnv:
    """The environment inside all wrappers. Raises UsageError where it is another one."""
    inner = env.unwrapped
    if not isinstance(inner, SREGymEnv):
        raise UsageError(f"this wrapper goes around a SREGymEnv, not {type(inner).__name__}")
    return inner
