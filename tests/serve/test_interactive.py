"""Sessions over the wire: real terminals, pipes, copies and attached pods with the real kubectl and a Python client."""

from __future__ import annotations

import os
import pty
import select
import shlex
import time
import urllib.request
from pathlib import Path

import pytest

from tests.serve.serving import NAMESPACE, Served, real_kubectl
from tests.serve.test_kubectl import forwarding

POD = "deploy/mongodb-geo"


class Typist:
    """A person at a terminal in which kubectl runs."""

    def __init__(self, kubectl: Served, line: str) -> None:
        assert kubectl.binary is not None
        environment = {"KUBECONFIG": str(kubectl.kubeconfig), "HOME": str(kubectl.home), "TERM": "xterm"}
        self.pid, self._screen = pty.fork()
        if self.pid == 0:
            os.execve(str(kubectl.binary), ["kubectl", *shlex.split(line)], environment)
        self.seen = ""

    def until(self, text: str, seconds: float = 60.0) -> str:
        """What appears on the screen up to a text."""
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} did not appear: {self.seen!r}")
        shown, _, self.seen = self.seen.partition(text)
        return shown

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._screen, keys.encode())

    def end(self) -> int:
        """The exit code, once it has ended."""
        while self._read(60.0):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self._screen)
        return os.waitstatus_to_exitcode(status)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._screen], [], [], max(seconds, 0))
        try:
            data = os.read(self._screen, 65536) if ready else b""
        except OSError:
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)


def test_a_shell_keeps_its_state_from_line_to_line(kubectl: Served) -> None:
    typist = Typist(kubectl, f"exec -it {POD} -- bash")
    typist.until(":/# ")
    typist.type("cd /tmp; X=5\r")
    typist.until(":/tmp# ")
    typist.type("echo $X $PWD\r")
    assert typist.until(":/tmp# ").startswith("echo $X $PWD\r\n5 /tmp\r\n")
    typist.type("for i in 1 2; do\r")
    typist.until("> ")
    typist.type("echo no $i\x03")
    typist.until(":/tmp# ")
    typist.type("exit 7\r")
    typist.until("command terminated with exit code 7")
    assert typist.end() == 7


def test_control_d_ends_the_session(kubectl: Served) -> None:
    typist = Typist(kubectl, f"exec -it {POD} -- sh")
    typist.until("# ")
    typist.type("\x04")
    assert typist.end() == 0


def test_mongo_is_interactive(kubectl: Served) -> None:
    typist = Typist(kubectl, f"exec -it {POD} -- mongo --quiet")
    typist.until("> ")
    typist.type("x = 20 + 1\r")
    assert typist.until("> ") == "x = 20 + 1\r\n21\r\n"
    typist.type("x + 1\r")
    assert typist.until("> ") == "x + 1\r\n22\r\n"
    typist.type("exit\r")
    typist.until("bye") if "bye" in typist.seen else None
    assert typist.end() == 0


def test_run_with_a_terminal(kubectl: Served) -> None:
    typist = Typist(kubectl, "run tmp -it --rm --restart=Never --image=busybox -- sh")
    typist.until("/ # ")
    typist.type("wget -qO- http://frontend:5000 | head -1\r")
    assert "<!DOCTYPE html>" in typist.until("/ # ")
    typist.type("exit\r")
    typist.until('pod "tmp" deleted')
    assert typist.end() == 0


@pytest.mark.parametrize("mode", ["real", "step"])
@pytest.mark.parametrize(
    ("line", "stdin", "out", "code"),
    [
        (f"exec -i {POD} -- sh", "cd /tmp\npwd\nexit 4\n", "/tmp\n", 4),
        (f"exec -i {POD} -- wc -c", "x" * 100_000, "100000\n", 0),
        (f"exec -i {POD} -- ls /nothing", "", "", 2),
        ("run a --rm -i -q --restart=Never --image=busybox -- sh -c 'echo one; sleep 1; echo two'", "", "one\ntwo\n", 0),
        ("run b --rm -i -q --restart=Never --image=busybox -- sh", "echo hi\nexit 3\n", "hi\n", 3),
        ("run c --rm -it --restart=Never --image=busybox -- echo hi", "", 'hi\npod "c" deleted\n', 0),
        ("debug node/sre-worker -q -i --profile=general --image=busybox -- cat /host/etc/hostname", "", "sre-worker\n", 0),
    ],
)  # fmt: skip
def test_pipes(kubectl: Served, mode: str, line: str, stdin: str, out: str, code: int) -> None:
    kubectl.server.hosted.pace.mode = "step" if mode == "step" else "real"
    done = kubectl.kubectl(shlex.split(line), stdin)
    assert (done.stdout, done.code) == (out, code), done.stderr


def test_files_are_copied_there_and_back(kubectl: Served, tmp_path: Path) -> None:
    name = kubectl.kubectl(["get", "pods", "-l", "io.kompose.service=mongodb-geo", "-o", "name"]).stdout
    pod = name.strip().removeprefix("pod/")
    data = bytes(range(256)) * 400
    (tmp_path / "d" / "s").mkdir(parents=True)
    (tmp_path / "d" / "s" / "bytes").write_bytes(data)
    assert kubectl.kubectl(["cp", str(tmp_path / "d"), f"{pod}:/tmp/d"]).code == 0
    done = kubectl.kubectl(["cp", f"{pod}:/tmp/d", str(tmp_path / "back")])
    assert done.stdout == "tar: Removing leading `/' from member names\n"
    assert (tmp_path / "back" / "s" / "bytes").read_bytes() == data


def test_an_image_without_tar(kubectl: Served) -> None:
    name = kubectl.kubectl(
        ["get", "pods", "-n", "kube-system", "-l", "k8s-app=kube-proxy", "-o", "name"]
    ).stdout
    done = kubectl.kubectl(["cp", f"kube-system/{name.split()[0][4:]}:/etc/hosts", "h"])
    assert done.code == 1
    assert 'exec: "tar": executable file not found in $PATH' in done.stderr


def test_a_python_client_talks_to_a_shell(server: Served) -> None:
    from kubernetes import client, config
    from kubernetes.stream import stream

    api = client.CoreV1Api(config.new_client_from_config(str(server.kubeconfig)))
    pods = api.list_namespaced_pod(NAMESPACE, label_selector="io.kompose.service=mongodb-geo")
    talk = stream(
        api.connect_get_namespaced_pod_exec, pods.items[0].metadata.name, NAMESPACE, command=["/bin/sh"],
        stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False,
    )  # fmt: skip
    talk.write_stdin("cd /tmp\n")
    talk.write_stdin("pwd\n")
    assert talk.readline_stdout(timeout=60) == "/tmp"
    talk.write_stdin("echo $((6*7))\n")
    assert talk.readline_stdout(timeout=60) == "42"
    talk.write_stdin("exit 3\n")
    talk.run_forever(timeout=60)
    assert talk.returncode == 3


@pytest.mark.parametrize("minor", [27, 28, 29])
def test_clients_that_speak_spdy(kubectl: Served, minor: int, tmp_path: Path) -> None:
    binary = real_kubectl(minor)
    if binary is None:
        pytest.skip(f"no kubectl 1.{minor} on this machine")
    old = Served(kubectl.server, kubectl.home, binary)
    cache = {"KUBECACHEDIR": str(kubectl.home / f"cache{minor}")}
    done = old.kubectl(["exec", POD, "--", "sh", "-c", "echo out; echo err >&2; exit 3"], **cache)
    assert (done.stdout, done.code) == ("out\n", 3)
    assert done.stderr.startswith("err\n")
    done = old.kubectl(["exec", "-i", POD, "--", "wc", "-c"], "x" * 200_000, **cache)
    assert (done.stdout, done.code) == ("200000\n", 0)
    assert old.kubectl(["exec", "nothing", "--", "ls"], **cache).stderr.startswith(
        "Error from server (NotFound)"
    )
    run = f"run old{minor} --rm -i -q --restart=Never --image=busybox -- sh"
    assert old.kubectl(run.split(), "echo hi\n", **cache).stdout == "hi\n"
    with (
        forwarding(old, "svc/frontend", 5000) as (port, _),
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as response,
    ):
        assert b"Hotel Reservation" in response.read()


@pytest.mark.parametrize("stdin", ["", "sleep 1.5\n"])
def test_what_waits_takes_its_time_on_the_wall(kubectl: Served, stdin: str) -> None:
    kubectl.server.hosted.pace.mode = "real"
    kubectl.server.hosted.pace.anchor()
    command = "exec -i {} -- sh" if stdin else "exec {} -- sleep 1.5"
    began = time.monotonic()
    done = kubectl.kubectl(shlex.split(command.format(POD)), stdin)
    assert done.code == 0, done.stderr
    assert time.monotonic() - began > 1.5


def test_in_step_mode_the_world_goes_on_at_once(kubectl: Served) -> None:
    kubectl.server.hosted.pace.mode = "step"
    before, began = kubectl.server.hosted.world.now(), time.monotonic()
    assert kubectl.kubectl(shlex.split(f"exec {POD} -- sleep 90")).code == 0
    assert (kubectl.server.hosted.world.now() - before) / 1e6 >= 90
    assert time.monotonic() - began < 60
