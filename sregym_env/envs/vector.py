"""Many worlds in one process, as Gymnasium's vector environments do it.

A step of the embedded cluster takes less time than sending its text to another process, so the sub-environments live
here, one after the other, or in threads where steps wait for somebody else: a real cluster, a model that judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any, TypeVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from sregym_env.envs.arguments import mapping, whole
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.wrappers.steps import StepLimit
from sregym_env.errors import UsageError

Wrap = Callable[[gymnasium.Env[Any, Any]], gymnasium.Env[Any, Any]]
"""Puts a wrapper around a sub-environment."""

_T = TypeVar("_T")
_Stepped = tuple[Any, float, bool, bool, dict[str, Any]]


class SREGymVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """Sub-environments side by side: ``gymnasium.make_vec(id, num_envs=8)``.

    Observations, rewards, infos and the three ways of resetting are those of Gymnasium's ``SyncVectorEnv``, to the
    last key, whatever ``threads`` is.

    Args:
        num_envs: how many sub-environments.
        each: arguments of single sub-environments, over those that all have; dealt round, so that two mappings make
            every other sub-environment alike. ``each=[{"problem": "a"}, {"problem": "b"}]``.
        in_turn: of ``problems``, deal one after the other instead of having seeds draw them: the k-th episode of
            sub-environment i plays number ``i + k * num_envs``, round and round, so that an evaluation plays each
            equally often.
        wrap: wrappers for every sub-environment, innermost first: classes or functions that take an environment.
            (``make_vec`` does not hand its own ``wrappers`` on.)
        autoreset_mode: ``NextStep``, ``SameStep`` or ``Disabled``, as Gymnasium has them.
        threads: carry out steps and resets in so many threads; 0 for none.
        copy: hand out copies of batched observations.
        max_episode_steps: an outer limit, which settles the episode (:class:`StepLimit`).
        arguments: of :class:`SREGymEnv`.

    ``reset(options=...)`` takes what a single environment takes, ``reset_mask`` as Gymnasium has it, and ``each``: a list
    with the options of every sub-environment, over those of all. Raises UsageError for what makes no sense.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        each: Sequence[Mapping[str, Any]] = (),
        in_turn: bool = False,
        wrap: Sequence[Wrap] = (),
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        threads: int = 0,
        copy: bool = True,
        max_episode_steps: int | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__()
        # First of all: older Gymnasiums close what was never finished.
        self.envs: list[gymnasium.Env[Any, Any]] = []
        self._pool: ThreadPoolExecutor | None = None
        num_envs = whole("num_envs", num_envs, 1)
        self.num_envs = num_envs
        self.autoreset_mode = _mode(autoreset_mode)
        self._copy = copy
        self._threads = min(whole("threads", threads, 0), num_envs)
        each, wrap = _sequence("each", each), _sequence("wrap", wrap)
        self._wrapped = bool(wrap)
        if len(each) > num_envs:
            raise UsageError(
                f"each has {len(each)} entries for {num_envs} sub-environments: the last would never be played"
            )
        self.envs = [
            _made(_with_own(arguments, each[index % len(each)] if each else {}), wrap, max_episode_steps)
            for index in range(num_envs)
        ]
        self._turns = _turns(self.envs, in_turn)
        self._episodes = [0] * num_envs
        self._batch_spaces()
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = self.envs[0].render_mode
        self._texts: list[Any] = [None] * num_envs
        self._batch: Any = create_empty_array(self.single_observation_space, n=num_envs, fn=np.zeros)
        self._over = np.zeros(num_envs, dtype=np.bool_)

    def _batch_spaces(self) -> None:
        first = self.envs[0]
        for index, env in enumerate(self.envs):
            if env.observation_space != first.observation_space or env.action_space != first.action_space:
                raise UsageError(
                    f"sub-environment {index} has other spaces than the first: give all the same"
                )
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, self.num_envs)
        self.action_space = batch_space(first.action_space, self.num_envs)

    # --- Gymnasium --------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode everywhere, or where ``options["reset_mask"]`` is true.

        A single seed is the first sub-environment's, and the next number the next one's.
        """
        seeds = self._seeds(seed)
        shared, single, mask = self._options(options)
        indexes = [index for index in range(self.num_envs) if mask[index]]
        for index in indexes:
            # Of a refused reset every sub-environment stays as it was; a wrapper of somebody's own may take options, too.
            inner = self.envs[index].unwrapped
            if not self._wrapped and isinstance(inner, SREGymEnv):
                inner.demand_options({**shared, **single[index]})
        begun = self._all(
            lambda index: self._begin(index, seeds[index], {**shared, **single[index]}), indexes
        )
        self._over[mask] = False
        infos: dict[str, Any] = {}
        for index, (observation, info) in zip(indexes, begun, strict=True):
            self._texts[index] = observation
            infos = self._add_info(infos, info, index)
        return self._batched(), infos

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action everywhere. Where an episode was over, the way of resetting says what happens."""
        # A text is a sequence, too: of single characters, one for each.
        if isinstance(actions, str | bytes):
            raise UsageError(f"a step takes a list of {self.num_envs} actions, not the text {actions[:80]!r}")
        listed = list(iterate(self.action_space, actions))
        if len(listed) != self.num_envs:
            raise UsageError(f"{len(listed)} actions for {self.num_envs} sub-environments")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            over = np.flatnonzero(self._over).tolist()
            raise gymnasium.error.ResetNeeded(
                f"the episodes of sub-environments {over} are over: reset(options={{'reset_mask': ...}})"
            )
        stepped = self._all(lambda index: self._step(index, listed[index]), range(self.num_envs))
        infos: dict[str, Any] = {}
        for index, ((observation, _, _, _, info), last) in enumerate(stepped):
            self._texts[index] = observation
            if last:
                infos = self._add_info(infos, last, index)
            infos = self._add_info(infos, info, index)
        rewards = np.array([each[1] for each, _ in stepped], dtype=np.float64)
        terminated = np.array([each[2] for each, _ in stepped], dtype=np.bool_)
        truncated = np.array([each[3] for each, _ in stepped], dtype=np.bool_)
        self._over = terminated | truncated
        return self._batched(), rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...]:
        """What every sub-environment renders."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **_: Any) -> None:
        """Close the sub-environments."""
        for env in self.envs:
            env.close()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every sub-environment, or look an attribute up."""
        found = (env.get_wrapper_attr(name) for env in self.envs)
        return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of every sub-environment."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every sub-environment: a list or tuple has one value for each. Raises UsageError."""
        listed = values if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(listed) != self.num_envs:
            raise UsageError(f"{len(listed)} values for {self.num_envs} sub-environments")
        for env, value in zip(self.envs, listed, strict=True):
            env.set_wrapper_attr(name, value)

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]
        """The seeds of the sub-environments' generators."""
        return self.get_attr("np_random_seed")

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The sub-environments' generators."""
        return self.get_attr("np_random")

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the threads, which are made anew where they are needed."""
        return {**self.__dict__, "_pool": None}

    # --- one sub-environment ------------------------------------------------------------------------

    def _begin(self, index: int, seed: int | None, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of one sub-environment."""
        turns = self._turns[index]
        if turns and not {"problem", "fault"} & set(options):
            turn = index + self._episodes[index] * self.num_envs
            options = {**options, "problem": turns[turn % len(turns)]}
            self._episodes[index] += 1
        begun: tuple[Any, dict[str, Any]] = self.envs[index].reset(seed=seed, options=options or None)
        return begun

    def _step(self, index: int, action: Any) -> tuple[_Stepped, dict[str, Any] | None]:
        """One action in one sub-environment, and what ``info`` tells of an episode that ended and was reset at once."""
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and self._over[index]:
            observation, info = self._begin(index, None, {})
            return (observation, 0.0, False, False, info), None
        observation, reward, terminated, truncated, info = self.envs[index].step(action)
        stepped = (observation, float(reward), terminated, truncated, info)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and (terminated or truncated):
            begun = self._begin(index, None, {})
            return (begun[0], *stepped[1:4], begun[1]), {"final_obs": observation, "final_info": info}
        return stepped, None

    # --- all of them ----------------------------------------------------------------------------------

    def _all(self, work: Callable[[int], _T], indexes: Sequence[int]) -> list[_T]:
        """The work for every index, in their order; in threads where there are any."""
        if not self._threads:
            return [work(index) for index in indexes]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="sregym")
        return list(self._pool.map(work, indexes))

    def _batched(self) -> Any:
        self._batch = concatenate(self.single_observation_space, self._texts, self._batch)
        return deepcopy(self._batch) if self._copy else self._batch

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + index for index in range(self.num_envs)]
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise UsageError(f"{len(seeds)} seeds for {self.num_envs} sub-environments")
        return seeds

    def _options(
        self, options: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any], list[dict[str, Any]], NDArray[np.bool_]]:
        """What all are told, what every single one is told besides, and who is reset."""
        shared = mapping("options", options)
        given = _sequence("options['each']", shared.pop("each", None) or [None] * self.num_envs)
        single = [mapping("an entry of options['each']", each) for each in given]
        if len(single) != self.num_envs:
            raise UsageError(
                f"options['each'] has {len(single)} entries for {self.num_envs} sub-environments"
            )
        mask = shared.pop("reset_mask", None)
        if mask is None:
            return shared, single, np.ones(self.num_envs, dtype=np.bool_)
        fits = isinstance(mask, np.ndarray) and mask.shape == (self.num_envs,) and mask.dtype == np.bool_
        if not fits or not mask.any():
            raise UsageError(
                f"options['reset_mask'] must be a numpy array of {self.num_envs} booleans, at least one of them true"
            )
        return shared, single, mask


def _mode(value: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(value)
    except ValueError:
        known = ", ".join(mode.value for mode in AutoresetMode)
        raise UsageError(f"autoreset_mode must be one of {known}, not {value!r}") from None


def _sequence(name: str, value: Sequence[_T]) -> Sequence[_T]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise UsageError(f"{name} must be a list, not {value!r}")
    return value


def _with_own(arguments: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of all with those of one over them: who names what to play wants nothing of what all play."""
    own = mapping("an entry of each", own)
    plays = any(name in own for name in ("problem", "problems", "fault"))
    left = {name: value for name, value in arguments.items() if not (plays and name in _PLAYED)}
    return {**left, **own}


_PLAYED = ("problem", "problems", "fault", "app", "target", "params")


def _made(
    arguments: Mapping[str, Any], wrap: Sequence[Wrap], max_steps: int | None
) -> gymnasium.Env[Any, Any]:
    env: gymnasium.Env[Any, Any] = SREGymEnv(**arguments)
    if max_steps is not None:
        env = StepLimit(env, max_steps)
    for wrapper in wrap:
        env = wrapper(env)
    return env


def _turns(envs: Sequence[gymnasium.Env[Any, Any]], in_turn: bool) -> list[tuple[Any, ...]]:
    """The problems that every sub-environment is dealt from; nothing where seeds draw them."""
    if not in_turn:
        return [()] * len(envs)
    listed = []
    for env in envs:
        inner = env.unwrapped
        problems = inner.problems if isinstance(inner, SREGymEnv) else ()
        if not problems:
            raise UsageError("in_turn=True deals problems out: pass problems= as well")
        listed.append(problems)
    return listed
