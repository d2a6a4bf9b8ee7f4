"""The incident desk, and whole incidents played with the real kubectl."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import orjson
import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.envs.env import SREGymEnv
from sregym_env.serve.access import Identities
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.incident import IncidentDesk
from sregym_env.serve.message import Request
from sregym_env.serve.pace import Pace
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Served


class Desk:
    """A desk without a network."""

    def __init__(self, env: SREGymEnv) -> None:
        self.env = env
        self.results: list[tuple[float, dict[str, Any]]] = []
        world = env.episode.world
        assert isinstance(world, EmbeddedWorld)
        self.hosted = Hosted(Pace(world, "step"), Identities({"admin": ADMIN}))
        self._desk = IncidentDesk(env, self.hosted, lambda reward, info: self.results.append((reward, info)))

    def get(self, path: str) -> Any:
        return orjson.loads(self._desk.respond(Request("GET", path)).body)

    def submit(self, body: Any) -> tuple[int, Any]:
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        reply = self._desk.respond(Request("POST", "/submit", body=raw))
        return reply.status, orjson.loads(reply.body)


def staged(fault: str = "scale_to_zero", target: str = "geo", **options: Any) -> SREGymEnv:
    env = SREGymEnv(
        fault=fault, target=target, raise_errors=True, max_commands=1000, variation=False, **options
    )
    env.reset(seed=1)
    return env


@pytest.fixture
def desk() -> Desk:
    return Desk(staged())


def test_what_an_agent_is_told(desk: Desk) -> None:
    told = desk.get("/get_app")
    assert (told["namespace"], told["namespaces"]) == ("hotel-reservation", ["hotel-reservation"])
    assert desk.get("/status") == {"stage": "diagnosis"}
    assert desk.get("/api/v1/alerts")["status"] == "success"
    assert "scale_to_zero" not in str(told)


def test_an_alert_is_since_when_it_is_however_often_one_asks(desk: Desk) -> None:
    told: dict[str, set[str]] = {}
    for _ in range(4):
        for alert in desk.get("/api/v1/alerts")["data"]["alerts"]:
            told.setdefault(str(sorted(alert["labels"].items())), set()).add(alert["activeAt"])
        desk.hosted.world.advance(17)
    assert told
    assert all(len(since) == 1 for since in told.values()), told


@pytest.mark.parametrize("body", [b"nonsense", {}, [1], {"solution": 1}, {"solution": ""}])
def test_bad_submissions_change_nothing(desk: Desk, body: Any) -> None:
    assert desk.submit(body)[0] == 400
    assert desk.get("/status") == {"stage": "diagnosis"}


def test_a_whole_incident(desk: Desk) -> None:
    solution = desk.env.episode.staged.solutions[0]
    assert desk.submit({"solution": solution.diagnosis})[1]["status"] == "200"
    assert desk.get("/status") == {"stage": "mitigation"}
    for line in solution.remedies[0]:
        desk.env.step(line)
    assert desk.submit({"solution": ""})[1]["status"] == "done"
    assert desk.get("/status") == {"stage": "done"}
    assert desk.submit({"solution": ""})[1]["status"] == "done"
    ((reward, info),) = desk.results
    assert info["is_success"]
    assert reward > 0.5


def test_a_stage_of_its_own() -> None:
    desk = Desk(staged(stage="mitigation"))
    assert desk.get("/status") == {"stage": "mitigation"}
    assert desk.submit({"solution": ""})[1]["status"] == "done"


@pytest.mark.parametrize(
    ("fault", "target"),
    [
        ("scale_to_zero", "geo"),
        ("service_target_port_mismatch", "frontend"),
        ("service_selector_mismatch", "mongodb-rate"),
        ("wrong_dns_policy", "frontend"),
        ("incorrect_image", "profile"),
        ("revoke_auth_mongodb", "mongodb-geo"),
    ],
)
def test_the_experts_repair_works_with_the_real_kubectl(kubectl: Served, fault: str, target: str) -> None:
    desk = Desk(staged(fault, target))
    solution = desk.env.episode.staged.solutions[0]
    kubectl.server.hosted.pace = desk.hosted.pace
    for line in solution.remedies[0]:
        words = shlex.split(line)
        assert words[0] == "kubectl", line
        done = kubectl.kubectl(words[1:])
        assert done.code == 0, (line, done.stderr)
    desk.submit({"solution": solution.diagnosis})
    desk.submit({"solution": ""})
    ((_, info),) = desk.results
    assert info["is_success"], info["grade"]


def test_the_command(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sregym_env.cli.main",
        "serve",
        "wrong_service_selector_hotel_reservation",
    ]
    process = subprocess.Popen(
        [*command, "--directory", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(5)]
        assert lines[0] == f"KUBECONFIG={tmp_path}/kubeconfig\n", lines
        desk = re.search(r"http://\S+", lines[3])
        assert desk is not None
        with urllib.request.urlopen(f"{desk[0]}/status", timeout=60) as response:
            assert orjson.loads(response.read()) == {"stage": "diagnosis"}
        assert (tmp_path / "kubeconfig").stat().st_mode & 0o077 == 0
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()
    assert process.returncode == 0
