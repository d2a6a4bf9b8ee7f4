"""Logs, commands, attached input and forwarded ports."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.cluster.api import World
from sregym_env.cluster.http import HttpCall
from sregym_env.cluster.identity import User
from sregym_env.cluster.oncall import ONCALL
from sregym_env.kube.status import StatusError
from tests.world.worlds import NAMESPACE

DATABASE = "mongodb-geo"


def pod_of(world: World, name: str) -> str:
    """The one pod of a component."""
    (pod,) = world.cluster.list("pods", NAMESPACE, label_selector=f"io.kompose.service={name}")
    found: str = pod["metadata"]["name"]
    return found


def console(name: str, *command: str, stdin: bool = True) -> dict[str, Any]:
    """A pod that runs a command, whose standard input is kept open."""
    container = {"name": "main", "image": "busybox:1.36", "command": list(command)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "containers": [{**container, "stdin": stdin, "stdinOnce": stdin}],
            "restartPolicy": "Never",
        },
    }


# --- logs ---------------------------------------------------------------------------------------------


def test_logs(world: World) -> None:
    pod = pod_of(world, DATABASE)
    lines = world.cluster.logs(NAMESPACE, pod).splitlines()
    assert len(lines) > 10
    assert world.cluster.logs(NAMESPACE, pod, tail=3).splitlines() == lines[-3:]
    assert len(world.cluster.logs(NAMESPACE, pod, limit_bytes=100)) == 100
    stamped = world.cluster.logs(NAMESPACE, pod, tail=1, timestamps=True)
    assert stamped.endswith(f"Z {lines[-1]}\n")
    assert world.cluster.logs(NAMESPACE, pod, since_seconds=1) == ""


def test_logs_that_are_not_there(world: World) -> None:
    pod = pod_of(world, DATABASE)
    with pytest.raises(StatusError, match="container nope is not valid for pod") as refused:
        world.cluster.logs(NAMESPACE, pod, container="nope")
    assert refused.value.reason == "BadRequest"
    with pytest.raises(StatusError, match="previous terminated container"):
        world.cluster.logs(NAMESPACE, pod, previous=True)
    with pytest.raises(StatusError, match=r'pods "nope" not found'):
        world.cluster.logs(NAMESPACE, "nope")


# --- commands -----------------------------------------------------------------------------------------


def test_a_command_has_two_streams_and_an_exit_code(world: World) -> None:
    pod = pod_of(world, DATABASE)
    done = world.cluster.exec(NAMESPACE, pod, ["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.stdout, done.stderr, done.exit_code) == ("out\n", "err\n", 3)


def test_a_command_reads_its_input_to_the_end(world: World) -> None:
    pod = pod_of(world, DATABASE)
    done = world.cluster.exec(NAMESPACE, pod, ["wc", "-c"], stdin="x" * 70_000)
    assert done.stdout.split() == ["70000"]


def test_bytes_that_are_no_text(world: World) -> None:
    pod = pod_of(world, DATABASE)
    assert world.cluster.exec(NAMESPACE, pod, ["cat"], stdin="a\udcffb\n").stdout == "a\udcffb\n"


def test_commands_change_what_is_in_a_container(world: World) -> None:
    pod = pod_of(world, DATABASE)
    world.cluster.exec(NAMESPACE, pod, ["sh", "-c", "echo kept > /tmp/note"])
    assert world.cluster.exec(NAMESPACE, pod, ["cat", "/tmp/note"]).stdout == "kept\n"


def test_commands_that_cannot_be_run(world: World) -> None:
    pod = pod_of(world, DATABASE)
    done = world.cluster.exec(NAMESPACE, pod, ["no-such-program"])
    assert done.exit_code == 127
    assert 'exec: "no-such-program": executable file not found in $PATH' in done.stderr
    with pytest.raises(StatusError, match=r'pods "nope" not found'):
        world.cluster.exec(NAMESPACE, "nope", ["ls"])
    with pytest.raises(StatusError, match="container nope is not valid for pod"):
        world.cluster.exec(NAMESPACE, pod, ["ls"], container="nope")


def test_a_container_that_does_not_run(world: World) -> None:
    image = {"spec": {"containers": [{"name": "main", "image": "no-such-image:1"}]}}
    world.cluster.create({**console("stuck", "true"), **image})
    world.advance(30.0)
    with pytest.raises(StatusError) as refused:
        world.cluster.exec(NAMESPACE, "stuck", ["ls"])
    assert (refused.value.code, refused.value.reason) == (500, "InternalError")
    assert 'unable to upgrade connection: container not found ("main")' in str(refused.value)
    with pytest.raises(StatusError, match="is waiting to start: trying and failing to pull image"):
        world.cluster.logs(NAMESPACE, "stuck")


def test_connections_are_the_identitys_own(world: World) -> None:
    pod = pod_of(world, DATABASE)
    assert world.cluster.as_user(ONCALL).exec(NAMESPACE, pod, ["true"]).exit_code == 0
    nobody = world.cluster.as_user(User("nobody"))
    with pytest.raises(StatusError, match='User "nobody" cannot create resource "pods/exec"'):
        nobody.exec(NAMESPACE, pod, ["true"])
    with pytest.raises(StatusError, match='User "nobody" cannot create resource "pods/portforward"'):
        nobody.forward(NAMESPACE, pod, 27017, HttpCall("/"))
    with pytest.raises(StatusError, match='User "nobody" cannot create resource "pods/attach"'):
        nobody.attach(NAMESPACE, pod)


# --- standard streams of the main process -------------------------------------------------------------


def test_input_to_a_main_process(world: World) -> None:
    world.cluster.create(console("counting", "wc", "-l"))
    world.advance(20.0)
    seen = world.cluster.attach(NAMESPACE, "counting", stdin="a\nb\n", end=True)
    assert seen.text.strip() == "2"
    world.advance(5.0)
    assert not world.cluster.attach(NAMESPACE, "counting", cursor=seen.cursor).running
    assert world.cluster.get("pods", "counting", NAMESPACE)["status"]["phase"] == "Succeeded"


def test_watching_what_a_main_process_writes(world: World) -> None:
    script = "echo one; sleep 30; echo two; sleep 600"
    world.cluster.create(console("talking", "sh", "-c", script, stdin=False))
    world.advance(20.0)
    first = world.cluster.attach(NAMESPACE, "talking")
    assert (first.text, first.running) == ("", True)
    world.advance(30.0)
    then = world.cluster.attach(NAMESPACE, "talking", cursor=first.cursor)
    assert (then.text, then.running) == ("two\n", True)
    assert world.cluster.attach(NAMESPACE, "talking", cursor=then.cursor).text == ""


# --- forwarded ports ----------------------------------------------------------------------------------


def test_a_forwarded_port(world: World) -> None:
    pod = pod_of(world, "frontend")
    done = world.cluster.forward(NAMESPACE, pod, 5000, HttpCall("/"))
    assert (done.outcome, done.status) == ("ok", 200)
    assert done.headers["Content-Type"].startswith("text/plain")
    assert "Hotel Reservation" in done.body
    assert world.cluster.forward(NAMESPACE, pod, 5000, HttpCall("/nope")).status == 404
    posted = world.cluster.forward(
        NAMESPACE, pod, 5000, HttpCall("/", "POST", {"X-Test": "1"}, body="a=1", timeout=5.0)
    )
    assert posted.outcome == "ok"


def test_a_forwarded_port_on_which_nobody_listens(world: World) -> None:
    done = world.cluster.forward(NAMESPACE, pod_of(world, "frontend"), 5001, HttpCall("/"))
    assert (done.outcome, done.phase, done.status) == ("refused", "connect", 0)


def test_forwarding_to_a_pod_that_does_not_run(world: World) -> None:
    world.cluster.create(
        console("stuck", "true") | {"spec": {"containers": [{"name": "a", "image": "no:1"}]}}
    )
    world.advance(10.0)
    with pytest.raises(StatusError, match=r"pod not running\. Current status=Pending"):
        world.cluster.forward(NAMESPACE, "stuck", 80, HttpCall("/"))
