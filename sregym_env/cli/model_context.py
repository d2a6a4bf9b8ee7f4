"""``sregym mcp``: one episode for the MCP client that starts this program."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.files import write_whole
from sregym_env.serve.model_context import over_standard_streams

RESULT = ("is_success", "trainable", "Diagnosis", "Mitigation", "TTD", "TTM", "commands", "exit_reason")
"""What a result says of an episode, from the last ``info``."""


def serve(
    problem: str, *, seed: int, noise: bool, variation: bool, max_commands: int, report: Path | None
) -> None:
    """Stage a problem and serve its tools over standard streams until they are closed.

    How the episode ended is written to ``report``; the client is told nothing of it. Who leaves before the repair is handed
    in has given up: what was handed in is paid. Raises UsageError where the report could not be written.
    """
    if report is not None:
        _demand_writable(report)
    env = SREGymEnv(problem, noise=noise, variation=variation, max_commands=max_commands)
    briefing, info = env.reset(seed=seed)
    over = False

    def tell() -> None:
        if report is not None:
            earned = round(sum(env.terms_total.values()), 6) if info["trainable"] else None
            write_whole(
                report, json.dumps({"reward": earned, **{key: info[key] for key in RESULT}}).encode() + b"\n"
            )

    def act(action: str) -> tuple[str, Mapping[str, Any]]:
        nonlocal info, over
        observation, _, terminated, truncated, info = env.step(action)
        if (terminated or truncated) and not over:
            over = True
            tell()
        return observation, info

    try:
        over_standard_streams(act, briefing)
    finally:
        if not over:
            *_, info = env.finish("gave_up")
            tell()


def _demand_writable(report: Path) -> None:
    """At once: when the episode is over, it is too late to tell."""
    try:
        report.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--result {report} cannot be written: {error.strerror}; name another file"
        ) from None
    if not os.access(report.parent, os.W_OK | os.X_OK):
        raise UsageError(f"--result {report}: nothing can be written in {report.parent}; name another file")
