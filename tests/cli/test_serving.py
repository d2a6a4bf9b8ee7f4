"""`sregym serve`: what it is asked for, what it refuses, what it leaves."""

from __future__ import annotations

import io
import json
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from sregym_env.cli import serving
from sregym_env.cli.main import app
from sregym_env.cli.serving import Wanted
from sregym_env.errors import SREGymError
from sregym_env.serve.incident import healthy
from sregym_env.serve.incidents import Incidents
from tests.serve.processes import posted, serving_process

PROBLEM = "hotel-reservation/scale_to_zero/geo"


@pytest.mark.parametrize(
    ("words", "stdin", "played"),
    [
        (["a", "b"], "c", ["a", "b"]),
        (["-"], "a\nb\n", ["a", "b"]),
        (["a", "-"], "", ["a"]),
    ],
)
def test_problems_are_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], stdin: str, played: list[str]
) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(serving, "_serve", lambda _where, problems, _wanted: seen.append(list(problems)))
    monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    serving.serve(words, Wanted(directory=str(tmp_path)))
    assert seen == [played]


@pytest.mark.parametrize(
    ("words", "wanted", "told"),
    [
        (["-"], {}, "no problem on standard input"),
        ([], {}, "nothing to serve: name a problem"),
        ([], {"journal": "{tmp}/journal"}, "is empty"),
        ([PROBLEM], {"directory": "/dev/null/nowhere"}, "--directory /dev/null/nowhere cannot be written to"),
        ([PROBLEM], {"ready_file": "/nowhere/ready"}, "--ready-file /nowhere/ready"),
        ([PROBLEM], {"port": 7001, "desk_port": 7001}, "--port and --desk-port are both 7001"),
        ([PROBLEM], {"port": -1}, "--port {taken}: the port is in use; choose another with --port"),
        ([PROBLEM], {"desk_port": -1}, "--desk-port {taken}: the port is in use; choose another with --desk-port"),
        (["hotel"], {"healthy": True}, "no application 'hotel'"),
        (["hotel-reservation"], {"healthy": True, "exit_when_done": True}, "nothing is ever handed in"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_told_with_its_option(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], wanted: dict[str, Any], told: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    (directory := tmp_path / "served").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        filled = {
            key: port if value == -1 else value.format(tmp=tmp_path) if isinstance(value, str) else value
            for key, value in wanted.items()
        }
        with pytest.raises(SREGymError) as caught:
            serving.serve(words, Wanted(**{"directory": str(directory), **filled}))
    assert told.format(taken=port) in str(caught.value)
    assert not list(directory.iterdir())
    assert not (tmp_path / "journal").exists()


@pytest.mark.parametrize("option", ["--port", "--desk-port"])
def test_a_port_in_use_is_one_line_of_the_command(option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(
            app, ["serve", PROBLEM, "--published", option, port], env={"COLUMNS": "200"}
        )
    assert done.exit_code == 2
    assert done.output.splitlines() == [
        f"sregym: {option} {port}: the port is in use; choose another with {option}, or leave it out for any that is free"
    ]


def test_the_ports_of_a_journal_are_those_its_clients_know(tmp_path: Path) -> None:
    directory, journal = tmp_path / "served", tmp_path / "journal"
    pool = Incidents(directory, lambda *_: None, mode="step", journal=journal)
    pool.open(PROBLEM, variation=False)
    port = pool.server.port
    assert pool.forget()  # as a crash would leave it
    with socket.create_server(("127.0.0.1", port)), pytest.raises(SREGymError) as caught:
        serving.serve([], Wanted(directory=str(directory), journal=str(journal)))
    told = f"port {port}, on which the clients of {journal} know the server: the port is in use; end what listens there"
    assert told in str(caught.value)
    assert journal.exists()


def test_a_server_that_is_told_to_end_leaves_nothing(tmp_path: Path) -> None:
    where = tmp_path / "made" / "here"
    with serving_process(tmp_path, PROBLEM, "--published", "--admin", "--directory", str(where)) as (
        process,
        said,
    ):
        (cluster,) = said["clusters"]
        assert cluster["kubeconfig"] == str(where / "kubeconfig")
        assert yaml.safe_load((where / "admin.kubeconfig").read_text())["current-context"]
        assert "geo" not in json.dumps(said) and "scale" not in json.dumps(said)
        process.terminate()
        assert process.wait(30) == 0
    assert not where.exists()
    assert not (tmp_path / "ready.json").exists()


def test_the_end_of_the_last_episode_is_the_end(tmp_path: Path) -> None:
    with serving_process(tmp_path, PROBLEM, "--published", "--exit-when-done") as (process, said):
        (cluster,) = said["clusters"]
        assert posted(cluster["desk"], "geo has no replicas")["status"] == "200"
        assert posted(cluster["desk"], "")["status"] == "done"
        assert process.wait(30) == 0
        assert process.stdout is not None
        assert json.loads(process.stdout.read().splitlines()[-1])["is_success"] is False


def test_a_healthy_cluster_asks_for_nothing(tmp_path: Path) -> None:
    pool = Incidents(tmp_path, lambda *_: None, mode="step")
    try:
        incident = pool.open(healthy("hotel-reservation"), variation=False)
        desk = pool._open_desks[""]
        assert desk.stage == "none" and not pool.finished
        assert not [alert for alert in incident.cluster.hosted.world.alerts() if alert.state == "firing"]
    finally:
        pool.forget()


def test_a_server_that_was_killed_says_that_its_clusters_are_gone(tmp_path: Path) -> None:
    where = tmp_path / "served"
    arguments = (PROBLEM, "--published", "--directory", str(where))
    with serving_process(tmp_path, *arguments) as (process, _):
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert (where / "kubeconfig").exists()
    with serving_process(tmp_path, *arguments) as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stdout is not None
        assert f"what was served from {where} before is gone" in process.stdout.read()
    assert not list(where.iterdir())
