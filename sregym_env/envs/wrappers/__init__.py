"""Wrappers: other faces of the same environment. All of them can be forked, pickled and made again from a spec."""

from __future__ import annotations

from sregym_env.envs.wrappers.budget import ObservationBudget
from sregym_env.envs.wrappers.chat import ChatObservation, ToolCallAction
from sregym_env.envs.wrappers.forking import fork
from sregym_env.envs.wrappers.numeric import NumericView
from sregym_env.envs.wrappers.steps import StepLimit
from sregym_env.envs.wrappers.terms import RewardTerms

__all__ = [
    "ChatObservation",
    "NumericView",
    "ObservationBudget",
    "RewardTerms",
    "StepLimit",
    "ToolCallAction",
    "fork",
]
