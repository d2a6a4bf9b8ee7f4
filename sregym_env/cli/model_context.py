"""``sregym mcp``: one episode for the MCP client that starts this program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sregym_env.envs.env import SREGymEnv
from sregym_env.serve.model_context import over_standard_streams

RESULT = ("is_success", "Diagnosis", "Mitigation", "TTD", "TTM", "commands", "exit_reason")
"""What a result says of an episode, from the last ``info``."""


def serve(
    problem: str, *, seed: int, noise: bool, variation: bool, max_commands: int, report: Path | None
) -> None:
    """Stage a problem and serve its tools over standard streams until they are closed.

    How the episode ended is written to ``report``; the client is told nothing of it.
    """
    env = SREGymEnv(problem, noise=noise, variation=variation, max_commands=max_commands)
    briefing, _ = env.reset(seed=seed)

    def act(action: str) -> tuple[str, Mapping[str, Any]]:
        observation, _, terminated, truncated, info = env.step(action)
        if (terminated or truncated) and report is not None:
            result = {"reward": sum(env.terms_total.values()), **{key: info[key] for key in RESULT}}
            report.write_text(json.dumps(result) + "\n")
        return observation, info

    over_standard_streams(act, briefing)
