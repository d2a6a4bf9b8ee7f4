"""Several incidents in one server, and a desk that is spoken to badly."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from sregym_env.serve.incidents import Incident, Incidents

PROBLEM = "hotel-reservation/scale_to_zero/geo"


class Pool:
    """A running pool and its results."""

    def __init__(self, directory: Path) -> None:
        self.results: list[tuple[str, float, dict[str, Any]]] = []
        self.pool = Incidents(directory, self._done, mode="step")
        self.thread = threading.Thread(target=self.pool.server.run, daemon=True)
        self.thread.start()
        while not self.pool.server.started:
            time.sleep(0.01)

    def _done(self, incident: Incident, reward: float, info: dict[str, Any]) -> None:
        self.results.append((incident.name, reward, info))

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.pool.desk_port, timeout=60)
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        raw = reply.read()
        connection.close()
        return reply.status, orjson.loads(raw) if raw.startswith(b"{") else raw


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    made = Pool(tmp_path_factory.mktemp("pool"))
    yield made
    made.pool.server.stop()
    made.thread.join(30)


def test_incidents_are_played_apart(pool: Pool) -> None:
    opened = [pool.pool.open(PROBLEM, seed=seed, name=str(seed)) for seed in (1, 2)]
    for incident in opened:
        assert incident.kubeconfig.exists()
        assert "geo" not in incident.cluster.url and "scale" not in str(incident.kubeconfig)
    assert pool.ask("GET", "/c/1/status") == (200, {"stage": "diagnosis"})
    code, _ = pool.ask("POST", "/c/1/submit", orjson.dumps({"solution": "geo has no replicas"}))
    assert code == 200
    assert pool.ask("GET", "/c/1/status")[1] == {"stage": "mitigation"}
    assert pool.ask("GET", "/c/2/status")[1] == {"stage": "diagnosis"}
    assert pool.ask("POST", "/c/1/submit", b'{"solution": ""}')[1]["status"] == "done"
    ((name, _, info),) = pool.results
    assert name == "1" and not info["is_success"]
    pool.pool.close("1")
    assert pool.ask("GET", "/c/1/status")[0] == 404
    assert pool.ask("GET", "/c/2/get_app")[1]["namespace"] == "hotel-reservation"
    with pytest.raises(ValueError, match="already"):
        pool.pool.open(PROBLEM, name="2")
    pool.pool.open(PROBLEM, seed=3, name="1")
    assert pool.ask("GET", "/c/1/status")[1] == {"stage": "diagnosis"}
    pool.pool.close("1")
    pool.pool.close("2")


def test_who_has_handed_in_a_diagnosis_when_the_server_ends_is_paid_for_it(tmp_path: Path) -> None:
    own = Pool(tmp_path)
    for name in ("told", "silent"):
        own.pool.open(PROBLEM, seed=1, name=name)
    said = {
        "solution": "Deployment geo is scaled to zero replicas (spec.replicas 0), so nobody serves geo and searches fail."
    }
    own.ask("POST", "/c/told/submit", orjson.dumps(said))
    own.pool.server.stop()
    own.thread.join(30)
    assert not own.pool.forget()
    ((name, reward, info),) = own.results
    assert name == "told" and info["exit_reason"] == "gave_up"
    assert reward > 0.2 and not info["is_success"]


@pytest.fixture(scope="module")
def incident(pool: Pool) -> Iterator[Incident]:
    yield pool.pool.open(PROBLEM, seed=5, name="desk")
    pool.pool.close("desk")


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "code"),
    [
        ("GET", "/submit", b"", {}, 405),
        ("DELETE", "/status", b"", {}, 405),
        ("OPTIONS", "/submit", b"", {}, 405),
        ("POST", "/submit", b"", {}, 400),
        ("POST", "/submit", b"{", {}, 400),
        ("POST", "/submit", b"[]", {}, 400),
        ("POST", "/submit", b"null", {}, 400),
        ("POST", "/submit", b'"solution"', {}, 400),
        ("POST", "/submit", b'{"solution": 7}', {}, 400),
        ("POST", "/submit", b'{"solution": "\xff"}', {}, 400),
        ("POST", "/submit", b'{"solution": "\\ud800"}', {}, 400),
        ("POST", "/submit", b"[" * 100_000, {}, 400),
        ("POST", "/submit", b"x" * 300_000, {}, 413),
        ("POST", "/submit", b'{"solution": "x"}', {"Origin": "http://evil.example"}, 403),
        ("POST", "/submit", b'{"solution": "x"}', {"Host": "evil.example"}, 403),
        ("POST", "/submit", b'{"solution": "x"}', {"Host": "127.0.0.1.evil.example:80"}, 403),
        ("GET", "/status", b"", {"Host": "evil.example:80"}, 403),
        ("GET", "/status", b"", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("GET", "/status", b"", {"Host": "localhost:1"}, 200),
        ("GET", "/status/../submit", b"", {}, 404),
        ("GET", "/nonsense", b"", {}, 404),
        ("GET", "/status", b"", {"Connection": "Upgrade", "Upgrade": "h2c"}, 200),
    ],
)
def test_the_desk_is_not_easily_upset(
    pool: Pool, incident: Incident, method: str, path: str, body: bytes, headers: dict[str, str], code: int
) -> None:
    found, answer = pool.ask(method, f"/c/desk{path}", body, headers)
    assert found == code, answer
    assert b"Traceback" not in orjson.dumps(answer if isinstance(answer, dict) else answer.decode())
    assert pool.ask("GET", "/c/desk/status")[1] == {"stage": "diagnosis"}


def test_the_command_serves_several(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sregym_env.cli.main", "serve", PROBLEM, "--copies", "2"]
    process = subprocess.Popen(
        [*command, "--directory", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(10)]
        assert lines[0] == f"cluster 1: {PROBLEM}, seed 0\n", lines
        assert lines[6] == f"KUBECONFIG={tmp_path}/2/kubeconfig\n"
        assert lines[7].endswith("/c/2\n")
        desks = [line.split()[2] for line in lines if line.startswith("incident desk")]
        for desk in desks:
            with urllib.request.urlopen(f"{desk}/status", timeout=60) as response:
                assert orjson.loads(response.read()) == {"stage": "diagnosis"}
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()
    assert process.returncode == 0
