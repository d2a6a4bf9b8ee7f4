"""An outer limit of steps at which nothing that was handed in is lost."""

from __future__ import annotations

from typing import Any, TypeVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from sregym_env.envs.arguments import whole
from sregym_env.envs.wrappers.forking import ForkingWrapper, unwrapped

_Obs = TypeVar("_Obs")
_Act = TypeVar("_Act")

_OF_THE_STEP = ("step_commands", "tool", "exit_code", "error_type", "obs_chars", "obs_truncated")
"""Keys of ``info`` that tell of the last action and not of where the episode stands."""


class StepLimit(ForkingWrapper[_Obs, _Act, _Obs, _Act]):
    """Ends an episode after so many steps, and settles it.

    Gymnasium's own ``TimeLimit`` only says ``truncated``: a diagnosis that was handed in is then never paid, because a
    reward is paid when the episode is over, and ``info`` does not tell how it ended. This one calls
    :meth:`SREGymEnv.finish`: the last step earns what the episode has earned, and with ``grade_at_limit`` the repair is
    judged as it stands.

    Raises UsageError for a limit that is no whole number above zero.
    """

    def __init__(self, env: gymnasium.Env[_Obs, _Act], max_steps: int) -> None:
        max_steps = whole("max_steps", max_steps, 1)
        RecordConstructorArgs.__init__(self, max_steps=max_steps)
        super().__init__(env)
        unwrapped(env)
        self._max_steps = max_steps
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Obs, dict[str, Any]]:
        """Begin an episode."""
        begun = self.env.reset(seed=seed, options=options)
        self._steps = 0
        return begun

    def step(self, action: _Act) -> tuple[_Obs, float, bool, bool, dict[str, Any]]:
        """One step; the last one settles the episode."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        if self._steps < self._max_steps or terminated or truncated:
            return observation, float(reward), terminated, truncated, info
        _, settled, terminated, truncated, last = self.sre.finish("max_steps")
        told = {**info, **last, **{name: info[name] for name in _OF_THE_STEP}}
        return observation, float(reward) + settled, terminated, truncated, told
