"""The environment ids: one per curated problem, one for any (fault, target) pair, one for a suite."""

from __future__ import annotations

import gymnasium

from sregym_env.envs.curated import CURATED

ENTRY_POINT = "sregym_env.envs:SREGymEnv"
"""A string, so that nothing is imported before the first ``gymnasium.make``."""

NAMESPACE = "SREGym"
PAIR = f"{NAMESPACE}/Pair-v0"
SUITE = f"{NAMESPACE}/Suite-v0"


def env_id(problem: str) -> str:
    """The environment id of a curated problem."""
    return f"{NAMESPACE}/{problem}-v0"


def register_all() -> None:
    """Register every id once; later calls do nothing."""
    if SUITE in gymnasium.registry:
        return
    for problem in CURATED:
        gymnasium.register(env_id(problem), ENTRY_POINT, kwargs={"problem": problem})
    gymnasium.register(PAIR, ENTRY_POINT)
    gymnasium.register(SUITE, ENTRY_POINT, kwargs={"problems": "curated"})
