"""Another weighting of what the environment pays."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any, TypeVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from sregym_env.envs.arguments import mapping
from sregym_env.envs.wrappers.forking import ForkingWrapper, unwrapped
from sregym_env.errors import UsageError
from sregym_env.rewards.reward import TERMS

_Obs = TypeVar("_Obs")
_Act = TypeVar("_Act")


class RewardTerms(ForkingWrapper[_Obs, _Act, _Obs, _Act]):
    """Pays every term of the reward times a factor; a term without one is paid as it is.

    ``RewardTerms(env, {"diagnosis": 2.0, "command_cost": 0.0})``. ``info`` goes on telling what the environment itself
    pays, by term. Raises UsageError for terms that there are not, and for factors that are no finite numbers.
    """

    def __init__(self, env: gymnasium.Env[_Obs, _Act], factors: Mapping[str, float]) -> None:
        factors = mapping("factors", factors)
        RecordConstructorArgs.__init__(self, factors=factors)
        super().__init__(env)
        unwrapped(env)
        for name, factor in factors.items():
            if name not in TERMS:
                raise UsageError(f"no reward term {name!r}; there are {', '.join(TERMS)}")
            if isinstance(factor, bool) or not isinstance(factor, Real) or not isfinite(factor):
                raise UsageError(f"the factor of {name} must be a finite number, not {factor!r}")
        self._factors = {term: float(factors.get(term, 1.0)) for term in TERMS}
        self._paid = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Obs, dict[str, Any]]:
        """Begin an episode."""
        begun = self.env.reset(seed=seed, options=options)
        self._paid = 0.0
        return begun

    def step(self, action: _Act) -> tuple[_Obs, float, bool, bool, dict[str, Any]]:
        """One step."""
        observation, _, terminated, truncated, info = self.env.step(action)
        # The terms in info are those of the whole episode, so that nothing is lost or paid twice at an outer limit.
        due = sum(factor * info[f"reward_{term}"] for term, factor in self._factors.items())
        earned = round(due - self._paid, 6) if info["trainable"] else 0.0
        self._paid = due
        return observation, earned, terminated, truncated, info
