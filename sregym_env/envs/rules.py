"""How an episode is played, whatever the problem is, and why it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sregym_env.envs.briefing import Mode
from sregym_env.rewards.oracle import Patience
from sregym_env.rewards.reward import RewardRule, Stage

ExitReason = Literal[
    "",
    "submitted",
    "max_commands",
    "time_limit",
    "max_steps",
    "max_tokens",
    "sim_seconds",
    "deadline",
    "gave_up",
    "infra",
]
"""Why an episode is over. ``max_commands`` and ``time_limit`` are the environment's limits; the others up to
``gave_up`` are what somebody else may give for :meth:`~sregym_env.envs.episode.Episode.finish`."""

OUTSIDE: tuple[str, ...] = ("max_steps", "max_tokens", "sim_seconds", "deadline", "gave_up", "infra")
"""What :meth:`~sregym_env.envs.episode.Episode.finish` may be told."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How an episode is played, whatever the problem is."""

    mode: Mode = "proactive"
    stage: Stage = "e2e"
    reward: RewardRule = field(default_factory=RewardRule)
    max_commands: int = 60
    """Commands that reach the world; every action counts as one at least."""
    time_limit: float = 4 * 3600.0
    """Simulated seconds."""
    grade_at_limit: bool = False
    """Whether an episode that runs into a limit has the repair judged as it stands, as if it had been handed in."""
    observation_chars: int = 16_000
    patience: Patience = field(default_factory=Patience)
