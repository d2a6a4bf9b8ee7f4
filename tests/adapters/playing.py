"""An episode that an adapter's test plays: the declared solution of one problem."""

from __future__ import annotations

from sregym_env.envs.env import SREGymEnv

PROBLEM = "network_policy_block"
SEED = 3


def solution() -> tuple[str, tuple[str, ...]]:
    """The diagnosis and the repair's command lines."""
    env = SREGymEnv(PROBLEM, raise_errors=True)
    env.reset(seed=SEED)
    found = env.episode.staged.solutions[0]
    return found.diagnosis, found.remedies[0]
