"""How episodes are played, as plain JSON: what a record keeps, and what an environment is made from again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from sregym_env.envs.rules import Rules
from sregym_env.rewards.judge import Judge


def configuration(
    rules: Rules,
    judge: Judge,
    *,
    noise: bool,
    variation: bool = True,
    silent_alerts: bool = False,
    backend: Literal["sim", "live"] = "sim",
) -> dict[str, Any]:
    """Everything that makes two playings of one problem and seed differ."""
    return {
        "backend": backend,
        "mode": rules.mode,
        "stage": rules.stage,
        "noise": noise,
        "variation": variation,
        **({"silent_alerts": True} if silent_alerts else {}),
        "reward": asdict(rules.reward),
        "judge": {"name": judge.name, **judge.settings},
        "max_commands": rules.max_commands,
        "time_limit": rules.time_limit,
        "grade_at_limit": rules.grade_at_limit,
        "obs_chars": rules.observation_chars,
    }


def arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an environment that plays as a configuration says, without problem, judge and backend."""
    return {name: value for name, value in config.items() if name not in ("backend", "judge")}
