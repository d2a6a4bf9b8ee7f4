"""Wrappers: other faces of the same environment."""

from __future__ import annotations

from sregym_env.envs.wrappers.forking import fork
from sregym_env.envs.wrappers.numeric import NumericView
from sregym_env.envs.wrappers.steps import StepLimit

__all__ = ["NumericView", "StepLimit", "fork"]
