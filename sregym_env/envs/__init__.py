"""The Gymnasium face: environment, spaces, registration. The only package that imports gymnasium.

``SREGymEnv`` is imported when it is first asked for, so that registering ids stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sregym_env.envs.spaces import Text

if TYPE_CHECKING:
    from sregym_env.envs.env import SREGymEnv

__all__ = ["SREGymEnv", "Text"]


def __getattr__(name: str) -> Any:
    if name == "SREGymEnv":
        from sregym_env.envs.env import SREGymEnv

        return SREGymEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
