"""What waits in a container takes the time it takes, and the world goes on meanwhile."""

from __future__ import annotations

import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.types import Manifest
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs import exec as programs_exec
from sregym_env.tools.workstation import Workstation

BLACK_HOLE = "10.99.99.99"
"""An address behind which nobody is."""


def pod(name: str, image: str, *command: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": name, "image": image, "command": list(command)}],
        },
    }


@pytest.fixture
def world() -> EmbeddedWorld:
    made = bare_cluster()
    made.cluster.create(pod("box", "busybox:1.36", "sleep", "7200"), namespace="default")
    made.cluster.create(pod("deb", "debian:12", "sleep", "7200"), namespace="default")
    made.advance(30)
    return made


def spent(world: EmbeddedWorld, name: str, *command: str, limit: float = 600.0) -> tuple[ExecResult, float]:
    before = world.now()
    result = world.cluster.exec("default", name, list(command), limit=limit)
    return result, (world.now() - before) / 1e6


@pytest.mark.parametrize(
    ("command", "code", "seconds"),
    [
        (["sleep", "3"], 0, 3.0),
        (["sleep", "1m"], 0, 60.0),
        (["sleep", "1", "2"], 0, 3.0),
        (["sh", "-c", "sleep 2; sleep 3"], 0, 5.0),
        (["sh", "-c", "for i in 1 2 3; do sleep 1; done"], 0, 3.0),
        (["wget", "-T", "3", "-qO-", f"http://{BLACK_HOLE}"], 1, 3.0),
        (["nc", "-w", "2", "-z", BLACK_HOLE, "80"], 1, 2.0),
        (["timeout", "2", "sleep", "10"], 143, 2.0),
        (["timeout", "20", "sleep", "1"], 0, 1.0),
        (["ping", "-c", "3", "-W", "1", BLACK_HOLE], 1, 3.0),
        (["echo", "hi"], 0, 0.0),
        (["tail", "-f", "/etc/hostname"], 124, 600.0),
        (["sleep", "infinity"], 124, 600.0),
    ],
)
def test_waiting_takes_time(world: EmbeddedWorld, command: list[str], code: int, seconds: float) -> None:
    result, took = spent(world, "box", *command)
    assert (result.exit_code, took) == (code, pytest.approx(seconds, abs=0.02))


def test_a_clock_in_a_container_is_the_worlds(world: EmbeddedWorld) -> None:
    result, _ = spent(world, "box", "sh", "-c", "date +%s; sleep 5; date +%s; echo $SECONDS")
    first, second, lasted = map(int, result.stdout.split())
    assert (second - first, lasted) == (5, 5)
    assert second == world.now() // 1_000_000


def test_files_have_the_time_at_which_they_were_written(world: EmbeddedWorld) -> None:
    result, _ = spent(world, "box", "sh", "-c", "date '+%b %e %H:%M'; ls -l /etc/hostname")
    now, listed = result.stdout.splitlines()
    started = world.cluster.get("pods", "box", "default")["status"]["startTime"]
    assert started[11:16] in listed
    assert now.split()[0] in listed


def test_what_was_printed_before_the_time_was_up_is_printed(world: EmbeddedWorld) -> None:
    result, took = spent(world, "deb", "sh", "-c", "timeout 2 sh -c 'echo a; sleep 9; echo b'; echo $?")
    assert (result.stdout, took) == ("a\n124\n", pytest.approx(2.0))
    result, took = spent(world, "deb", "sh", "-c", "echo a; sleep 100; echo b", limit=4.0)
    assert (result.stdout, result.exit_code, took) == ("a\n", 124, pytest.approx(4.0))


def test_a_container_that_ends_takes_its_commands_along(world: EmbeddedWorld) -> None:
    world.cluster.delete("pods", "box", "default", grace_period_seconds=5)
    result, took = spent(world, "box", "sh", "-c", "echo a; sleep 60; echo b > /tmp/x")
    assert (result.stdout, result.exit_code) == ("a\n", 137)
    assert took < 61


def test_where_the_world_itself_asks_nothing_moves(world: EmbeddedWorld) -> None:
    found = world.cluster.get("pods", "box", "default")
    before = world.now()
    result = programs_exec.run(world, found, "box", ["sh", "-c", "sleep 3; sleep 4; date +%s"])
    assert (world.now(), result.seconds) == (before, 7.0)
    assert int(result.stdout) == before // 1_000_000 + 7


def test_a_probe_that_waits_too_long_fails(world: EmbeddedWorld) -> None:
    slow = pod("slow", "busybox:1.36", "sleep", "7200")
    slow["spec"]["containers"][0]["readinessProbe"] = {
        "exec": {"command": ["sleep", "3"]},
        "timeoutSeconds": 1,
    }
    world.cluster.create(slow, namespace="default")
    world.advance(30)
    events = world.cluster.list(
        "events", "default", field_selector="involvedObject.name=slow,reason=Unhealthy"
    )
    assert events[0]["message"] == 'Readiness probe failed: command timed out: "sleep 3" timed out after 1s'


def test_timeout_ends_kubectl_itself(world: EmbeddedWorld) -> None:
    done = Workstation(world, ADMIN).run("timeout 3 kubectl exec box -- sh -c 'echo a; sleep 60'")
    assert (done.text, done.exit_code) == ("a\n", 124)
