"""What a served cluster bears: a client in another process that reads without rest, and many at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from sregym_env.rollouts.bench.probes import APP, Probe, environment
from sregym_env.rollouts.load import TABLE, Target, serving, soak
from sregym_env.sim.embedded import EmbeddedWorld

CLIENT = Path(__file__).with_name("client.py")
"""Run as a program of its own."""

REQUESTS = 1000
"""Of one client."""


def _world() -> EmbeddedWorld:
    world = environment().episode.world
    assert isinstance(world, EmbeddedWorld)
    return world


def _lists(accept: str) -> Iterator[float]:
    """Seconds of the server's processor time per answer to a client that asks for the pods."""
    with serving(_world(), APP) as target:
        _ask_from_another_process(target, accept, 50)
        for _ in range(3):
            began = process_time()
            _ask_from_another_process(target, accept, REQUESTS)
            yield (process_time() - began) / REQUESTS


def _ask_from_another_process(target: Target, accept: str, number: int) -> None:
    what = (
        target.host,
        str(target.port),
        target.token,
        f"/api/v1/namespaces/{APP}/pods",
        accept,
        str(number),
    )
    subprocess.run([sys.executable, "-P", str(CLIENT), *what], capture_output=True, check=True)


def _losses() -> Iterator[float]:
    """How many of many watches and commands got not what they should."""
    world = _world()
    pods = [pod["metadata"]["name"] for pod in world.store.list("pods", APP)]
    pod = next(name for name in pods if name.startswith("frontend"))
    with serving(world, APP) as target:
        yield len(soak(world, target, pod, watches=50, execs=20, rounds=100).losses())


PROBES: dict[str, Probe] = {
    "served.list": lambda: _lists("application/json"),
    "served.table": lambda: _lists(TABLE),
    "served.losses": _losses,
}
