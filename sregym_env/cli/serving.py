"""Serving problems to real clients: kubectl, Helm, client libraries, agents that live on this machine."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sregym_env.serve.incidents import Incident, Incidents


def serve(
    problems: Sequence[str],
    *,
    copies: int,
    seed: int,
    noise: bool,
    variation: bool = True,
    port: int,
    desk_port: int,
    speed: float,
    step: bool,
    directory: str,
) -> None:
    """Stage the problems and serve their clusters until interrupted; prints where everything is.

    A single one is served at the root of its URLs, several below ``/c/1``, ``/c/2`` and so on; copies differ by
    their seeds. ``-`` stands for the words on standard input: a process list does not show them.
    """
    problems = [word for each in problems for word in (sys.stdin.read().split() if each == "-" else [each])]
    if directory:
        where = Path(directory)
        _serve(where, problems, copies, seed, noise, variation, port, desk_port, speed, step)
        return
    with tempfile.TemporaryDirectory(prefix="sregym-") as made:
        _serve(Path(made), problems, copies, seed, noise, variation, port, desk_port, speed, step)


def _serve(
    directory: Path,
    problems: Sequence[str],
    copies: int,
    seed: int,
    noise: bool,
    variation: bool,
    port: int,
    desk_port: int,
    speed: float,
    step: bool,
) -> None:
    pool = Incidents(
        directory,
        _print_result,
        port=port,
        desk_port=desk_port,
        mode="step" if step else "real",
        factor=speed,
    )
    played = [(problem, seed + copy) for problem in problems for copy in range(copies)]
    for number, (problem, chosen) in enumerate(played, 1):
        name = "" if len(played) == 1 else str(number)
        _print_place(pool.open(problem, seed=chosen, noise=noise, variation=variation, name=name))
    print("Interrupt to stop.", flush=True)
    try:
        pool.server.run()
    except KeyboardInterrupt:
        print()


def _print_place(incident: Incident) -> None:
    if incident.name:
        print(f"cluster {incident.name}: {incident.problem}, seed {incident.seed}")
    print(f"KUBECONFIG={incident.kubeconfig}")
    print(f"API server    {incident.cluster.url}")
    print(f"incident desk {incident.desk} (GET /get_app, /status, /api/v1/alerts; POST /submit)")


def _print_result(incident: Incident, reward: float, info: dict[str, Any]) -> None:
    shown = ("is_success", "Diagnosis", "Mitigation", "TTD", "TTM", "exit_reason")
    where = {"cluster": incident.name} if incident.name else {}
    result = {**where, "reward": reward, **{key: info[key] for key in shown}}
    print(json.dumps(result), flush=True)
