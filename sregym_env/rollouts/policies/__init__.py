"""Who can act: policies by name, so that workers and command lines can make them.

In flow observations, out come turns. A policy is made anew for every process that plays
(:func:`policy`), from its name and options that are plain JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from sregym_env.errors import UsageError
from sregym_env.rollouts.policies.expert import ExpertPolicy
from sregym_env.rollouts.policies.llm import LLMPolicy
from sregym_env.rollouts.policies.policy import Policy, Turn, turn
from sregym_env.rollouts.policies.random_walk import RandomPolicy
from sregym_env.rollouts.policies.scripted import SCRIPTED, RestartPolicy, UndoPolicy, WaitPolicy

__all__ = [
    "POLICIES",
    "ExpertPolicy",
    "LLMPolicy",
    "Policy",
    "RandomPolicy",
    "RestartPolicy",
    "Turn",
    "UndoPolicy",
    "WaitPolicy",
    "policy",
    "turn",
]

POLICIES: Mapping[str, Callable[..., Policy]] = {
    "expert": ExpertPolicy,
    "llm": LLMPolicy,
    "random": RandomPolicy,
    **SCRIPTED,
}
"""What can be made by name."""


def policy(name: str, options: Mapping[str, Any] | None = None) -> Policy:
    """A policy by name. Raises UsageError for a name or an option that there is not."""
    if name not in POLICIES:
        raise UsageError(f"no policy {name!r}; there are {', '.join(sorted(POLICIES))}")
    known = signature(POLICIES[name]).parameters
    unknown = sorted(set(options or {}) - set(known))
    if unknown and not any(each.kind is Parameter.VAR_KEYWORD for each in known.values()):
        there = f"its options are {', '.join(known)}" if known else "it has no options"
        raise UsageError(f"policy {name}: no option {unknown[0]!r}; {there}")
    try:
        return POLICIES[name](**(options or {}))
    except TypeError as error:
        raise UsageError(f"policy {name}: {error}") from error
