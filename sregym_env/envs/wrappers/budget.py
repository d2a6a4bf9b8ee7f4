"""Shorter observations than the environment's own."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from sregym_env.envs.arguments import whole
from sregym_env.envs.env import MIN_OBSERVATION_CHARS
from sregym_env.envs.observation import fit
from sregym_env.envs.spaces import Text
from sregym_env.envs.wrappers.forking import ForkingWrapper, unwrapped
from sregym_env.errors import UsageError


class ObservationBudget(ForkingWrapper[str, str, str, str]):
    """Cuts observations to so many characters, with the note that says what was left out and how to see it.

    For an environment that somebody else has made; ``obs_chars=`` does the same in the first place, and also cuts the
    answers to single tool calls. Raises UsageError for a budget that could not even hold the note.
    """

    def __init__(self, env: gymnasium.Env[str, str], chars: int) -> None:
        chars = whole("chars", chars, MIN_OBSERVATION_CHARS)
        RecordConstructorArgs.__init__(self, chars=chars)
        super().__init__(env)
        unwrapped(env)
        if not isinstance(env.observation_space, Text):
            raise UsageError(f"ObservationBudget cuts texts; {env} shows {env.observation_space}")
        self._chars = min(chars, env.observation_space.max_length)
        self.observation_space = Text(self._chars)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode."""
        return self._cut(*self.env.reset(seed=seed, options=options))

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """One step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        observation, info = self._cut(observation, info)
        return observation, float(reward), terminated, truncated, info

    def _cut(self, observation: str, info: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        text, cut = fit(observation, self._chars)
        return text, {**info, "obs_chars": len(text), "obs_truncated": bool(info["obs_truncated"]) or cut}
