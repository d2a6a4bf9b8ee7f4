"""The environment ids: one per curated problem, one for any (fault, target) pair, one for a suite."""

from __future__ import annotations

import gymnasium

from sregym_env.envs.curated import CURATED

ENTRY_POINT = "sregym_env.envs:SREGymEnv"
"""A string, so that nothing is imported before the first ``gymnasium.make``."""

VECTOR_ENTRY_POINT = "sregym_env.envs.vector:SREGymVectorEnv"
"""What ``gymnasium.make_vec`` makes unless it is told another way."""

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
        _register(env_id(problem), {"problem": problem})
    _register(PAIR, {})
    _register(SUITE, {"problems": "curated"})


def _register(name: str, arguments: dict[str, str]) -> None:
    gymnasium.register(name, ENTRY_POINT, vector_entry_point=VECTOR_ENTRY_POINT, kwargs=arguments)
