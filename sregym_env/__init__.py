"""A Gymnasium environment in which language-model agents learn site reliability engineering.

Importing the package registers its environments; what an episode needs is imported when the first one is made::

    import gymnasium as gym, sregym_env
    env = gym.make("SREGym/latent_sector_error-v0")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sregym_env.envs.registration import register_all
from sregym_env.errors import AppError, ClusterError, ProblemError, SREGymError, StagingError, UsageError

if TYPE_CHECKING:
    from sregym_env.envs.env import SREGymEnv
    from sregym_env.envs.tasks.pairs import pairs
    from sregym_env.envs.tasks.splits import split
    from sregym_env.envs.tasks.suites import suite

__version__ = "0.1.0"

__all__ = [
    "AppError",
    "ClusterError",
    "ProblemError",
    "SREGymEnv",
    "SREGymError",
    "StagingError",
    "UsageError",
    "__version__",
    "pairs",
    "split",
    "suite",
]

register_all()


_LATER = {
    "SREGymEnv": "sregym_env.envs.env",
    "pairs": "sregym_env.envs.tasks.pairs",
    "split": "sregym_env.envs.tasks.splits",
    "suite": "sregym_env.envs.tasks.suites",
}
"""What is imported when it is first asked for, so that registering ids stays quick."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
