"""Serving a problem to real clients: kubectl, Helm, client libraries, agents that live on this machine."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Literal

from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.staging import ONCALL
from sregym_env.serve.incident import IncidentDesk
from sregym_env.serve.server import Server, Settings
from sregym_env.sim.embedded import EmbeddedWorld

AGENT_CONFIG = "kubeconfig"
"""Name of the file with the agent's credentials."""

UNLIMITED_STEPS = 10_000
UNLIMITED_SECONDS = 365 * 86400.0
"""A served episode ends when it is handed in or interrupted: more than any agent takes."""


def serve(
    problem: str,
    *,
    seed: int,
    noise: bool,
    port: int,
    desk_port: int,
    speed: float,
    step: bool,
    directory: str,
) -> None:
    """Stage the problem and serve its cluster until interrupted; prints where everything is."""
    env = SREGymEnv(
        problem, noise=noise, max_steps=UNLIMITED_STEPS, time_limit=UNLIMITED_SECONDS, raise_errors=True
    )
    env.reset(seed=seed)
    world = env.episode.world
    assert isinstance(world, EmbeddedWorld)
    mode: Literal["real", "step"] = "step" if step else "real"
    if directory:
        _serve(env, world, Path(directory), port, desk_port, mode, speed)
        return
    with tempfile.TemporaryDirectory(prefix="sregym-") as made:
        _serve(env, world, Path(made), port, desk_port, mode, speed)


def _serve(
    env: SREGymEnv,
    world: EmbeddedWorld,
    directory: Path,
    port: int,
    desk_port: int,
    mode: Literal["real", "step"],
    speed: float,
) -> None:
    settings = Settings(
        directory,
        {AGENT_CONFIG: ONCALL},
        port=port,
        mode=mode,
        factor=speed,
        namespace=world.app.namespace,
    )
    server = Server(world, settings)
    desk = IncidentDesk(env, server.hosted, _print_result)
    desk_port = server.add(desk, desk_port)
    print(f"KUBECONFIG={server.kubeconfig(AGENT_CONFIG)}")
    print(f"API server    {server.url}")
    print(
        f"incident desk http://{settings.host}:{desk_port} (GET /get_app, /status, /api/v1/alerts; POST /submit)"
    )
    print("Interrupt to stop.", flush=True)
    try:
        server.run()
    except KeyboardInterrupt:
        print()


def _print_result(reward: float, info: dict[str, Any]) -> None:
    shown = ("is_success", "Diagnosis", "Mitigation", "TTL", "TTM", "exit_reason")
    result = {"reward": reward, **{key: info[key] for key in shown}}
    print(json.dumps(result), flush=True)
