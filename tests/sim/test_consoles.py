"""Programs that are given their input piece by piece, and the terminal before them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.types import Manifest
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import consoles
from sregym_env.sim.programs.consoles import Turn
from sregym_env.sim.programs.terminal import Terminal


def pod(**container: object) -> Manifest:
    spec = {"name": "c", "image": "busybox", **container}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [spec]}}


def started(**container: object) -> EmbeddedWorld:
    world = bare_cluster()
    world.cluster.create(pod(**container), namespace="default")
    world.advance(10.0)
    return world


@pytest.fixture
def ctx() -> ProcessContext:
    world = started(command=["sleep", "3600"])
    process = next(process for process in world.processes.values() if process.pod == "p")
    return ProcessContext(world, process)


def talk(ctx: ProcessContext, argv: list[str], *pieces: str, tty: bool = False) -> Turn:
    """Feed pieces to a command; its whole output."""
    turn = consoles.begin(ctx, argv, tty=tty)
    out, err = turn.stdout, turn.stderr
    for piece in pieces:
        assert turn.console is not None
        turn = consoles.feed(ctx, turn.console, piece)
        out, err = out + turn.stdout, err + turn.stderr
    if turn.console is not None:
        turn = consoles.close(ctx, turn.console)
        out, err = out + turn.stdout, err + turn.stderr
    return Turn(turn.console, out, err, turn.exit_code)


@pytest.mark.parametrize(
    ("argv", "pieces", "out", "code"),
    [
        (["sh"], ["cd /tmp\n", "pwd\n"], "/tmp\n", 0),
        (["sh"], ["X=4", "2\necho $X\n"], "42\n", 0),
        (["sh"], ["f() {\n", "echo in f\n", "}\n", "f\n"], "in f\n", 0),
        (["sh"], ["for i in 1 2; do\n", "echo $i\n", "done\n"], "1\n2\n", 0),
        (["sh"], ["echo hi > /tmp/f\n", "cat /tmp/f\n", "exit 3\n"], "hi\n", 3),
        (["sh"], ["false\n"], "", 1),
        (["sh"], ["echo last"], "last\n", 0),
        (["cat"], ["one\ntw", "o"], "one\ntwo", 0),
        (["wc", "-l"], ["one\n", "two\n"], "2\n", 0),
        (["ls", "/nothing"], [], "", 2),
    ],
)
def test_without_a_terminal(
    ctx: ProcessContext, argv: list[str], pieces: list[str], out: str, code: int
) -> None:
    turn = talk(ctx, argv, *pieces)
    assert (turn.stdout, turn.exit_code) == (out, code)


@pytest.mark.parametrize(
    ("image", "argv", "said"),
    [
        ("busybox", ["sh", "-c", "nosuch"], "sh: nosuch: not found\n"),
        ("busybox", ["/bin/sh", "-c", "cd /nope"], "sh: cd: can't cd to /nope: No such file or directory\n"),
        ("python:3.12", ["sh", "-c", "nosuch"], "sh: 1: nosuch: not found\n"),
        ("python:3.12", ["sh", "-c", "cd /nope"], "sh: 1: cd: can't cd to /nope\n"),
        ("python:3.12", ["bash", "-c", "nosuch"], "bash: line 1: nosuch: command not found\n"),
    ],
)
def test_a_shell_complains_in_its_own_name(image: str, argv: list[str], said: str) -> None:
    world = started(image=image, command=["sleep", "3600"])
    done = world.cluster.exec("default", "p", argv)
    assert done.stderr == said


def test_an_entrypoint_that_hands_over_keeps_options() -> None:
    world = started(image="curlimages/curl:8.10.1", args=["sh", "-c", "echo hi; nosuch"])
    world.advance(5.0)
    assert world.cluster.logs("default", "p").splitlines()[:2] == ["hi", "sh: nosuch: not found"]


def test_with_a_terminal_there_are_prompts_and_echo(ctx: ProcessContext) -> None:
    turn = talk(ctx, ["sh"], "cd /tm", "p\r", "echh\x7fo hi\r", "sleep 9\x03", "exit 4\r", tty=True)
    assert turn.stdout == (
        "/ # cd /tmp\r\n/tmp # echh\b \bo hi\r\nhi\r\n/tmp # sleep 9^C\r\n/tmp # exit 4\r\n"
    )
    assert turn.exit_code == 4


def test_control_d_ends_a_shell(ctx: ProcessContext) -> None:
    turn = consoles.begin(ctx, ["sh"], tty=True)
    assert turn.console is not None
    assert consoles.feed(ctx, turn.console, "\x04").console is None


def test_a_console_is_a_value(ctx: ProcessContext) -> None:
    turn = consoles.begin(ctx, ["sh"], tty=False)
    assert turn.console is not None
    first = consoles.feed(ctx, turn.console, "X=1\n").console
    assert first is not None
    consoles.feed(ctx, first, "X=2\n")
    assert consoles.feed(ctx, first, "echo $X\n").stdout == "1\n"


def test_a_main_process_waits_for_input_and_forks() -> None:
    world = started(stdin=True, command=["sh"])
    assert world.cluster.get("pods", "p", "default")["status"]["phase"] == "Running"
    world.cluster.attach("default", "p", stdin="X=1\n")
    twin = world.fork()
    twin.cluster.attach("default", "p", stdin="X=2\n")
    assert world.cluster.attach("default", "p", stdin="echo $X\n").text == "1\n"
    assert twin.cluster.attach("default", "p", stdin="echo $X\n").text == "2\n"
    assert world.digest() != twin.digest()
    world.cluster.attach("default", "p", stdin="exit 0\n")
    world.advance(1.0)
    assert "p" not in {
        process.pod for process in world.processes.values() if process.stdin and process.restart == 0
    }


@pytest.mark.parametrize(("once", "left"), [(True, "Succeeded"), (False, "Running")])
def test_the_end_of_the_input(once: bool, left: str) -> None:
    world = bare_cluster()
    made = pod(stdin=True, stdinOnce=once, command=["sh"])
    world.cluster.create({**made, "spec": {**made["spec"], "restartPolicy": "Never"}}, namespace="default")
    world.advance(10.0)
    seen = world.cluster.attach("default", "p", stdin="echo hi\n", end=True)
    assert (seen.text, seen.running) == ("hi\n", False)
    world.advance(2.0)
    assert world.cluster.get("pods", "p", "default")["status"]["phase"] == left


def test_the_same_input_leads_to_the_same_world() -> None:
    digests = []
    for _ in range(2):
        world = started(stdin=True, tty=True, command=["sh"])
        world.cluster.attach("default", "p", stdin="echo $RANDOM > /tmp/x\r")
        digests.append(world.digest())
    assert digests[0] == digests[1]


def test_ephemeral_containers_run_and_see_their_target() -> None:
    world = started(command=["sleep", "3600"])
    debugger = {
        "name": "d", "image": "busybox", "command": ["sh", "-c", "ps; sleep 99"], "targetContainerName": "c",
    }  # fmt: skip
    patch = {"spec": {"ephemeralContainers": [debugger]}}
    world.cluster.patch("pods", "p", patch, namespace="default", subresource="ephemeralcontainers")
    world.advance(5.0)
    stored = world.cluster.get("pods", "p", "default")
    assert "running" in stored["status"]["ephemeralContainerStatuses"][0]["state"]
    assert "1 root      0:00 sleep 3600" in world.cluster.logs("default", "p", container="d")
    reasons = [event["reason"] for event in world.cluster.list("events", "default")]
    assert reasons.count("Started") == 2


def test_a_long_document_does_not_take_for_ever(ctx: ProcessContext) -> None:
    body = "".join(f"line {number} with it's \"quotes\n" for number in range(3000))
    turn = talk(ctx, ["sh"], f"cat > /tmp/x <<E\n{body}", "E\nwc -l < /tmp/x\n")
    assert turn.stdout.strip() == "3000"


def test_lines_before_a_mistake_are_carried_out(ctx: ProcessContext) -> None:
    turn = talk(ctx, ["sh"], "echo one\nfi\necho two\n")
    assert turn.stdout == "one\ntwo\n"
    assert "syntax error" in turn.stderr


@given(st.text(alphabet="ab\r\n\x03\x04\x7f\x15\x17\x1b[A~ ", max_size=40), st.integers(0, 40))
def test_a_terminal_does_not_mind_how_keys_are_cut(keys: str, cut: int) -> None:
    whole, events, rest = Terminal().type(keys)
    half, first, echo_one = Terminal().type(keys[:cut])
    other, second, echo_two = half.type(keys[cut:])
    assert other == whole
    assert [(e.kind, e.text) for e in events] == [(e.kind, e.text) for e in (*first, *second)]
    shown = "".join(e.echo for e in events) + rest
    assert shown == "".join(e.echo for e in first) + echo_one + "".join(e.echo for e in second) + echo_two
