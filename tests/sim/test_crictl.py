"""``crictl`` on a machine: what it ends the kubelet starts again, and what it cannot do it says in its own words."""

from __future__ import annotations

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.kube.types import Manifest
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from tests.sim.test_machine_level import NAMESPACE, inside, node_of, on_node


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(APP).fork()


def pod_of(world: EmbeddedWorld, name: str) -> Manifest:
    found = world.cluster.list("pods", NAMESPACE, label_selector=f"io.kompose.service={name}")
    return found[0]


def status_of(world: EmbeddedWorld, name: str) -> Manifest:
    status: Manifest = pod_of(world, name)["status"]["containerStatuses"][0]
    return status


def typed(world: EmbeddedWorld, name: str, script: str, profile: str = "sysadmin") -> str:
    return on_node(world, node_of(world, name), f"chroot /host sh -c '{script}' 2>&1", profile)


GEO = "$(crictl ps -q --name geo\\$)"


def reasons(world: EmbeddedWorld, pod: Manifest) -> list[str]:
    events = world.cluster.list("events", NAMESPACE)
    return [each["reason"] for each in events if each["involvedObject"].get("uid") == pod["metadata"]["uid"]]


@pytest.mark.parametrize("profile", ["legacy", "general", "sysadmin"])
def test_a_container_that_is_stopped_starts_again(world: EmbeddedWorld, profile: str) -> None:
    before = status_of(world, "geo")
    identity = typed(world, "geo", f"id={GEO}; crictl stop $id", profile).strip()
    assert before["containerID"].endswith(identity)
    world.advance(10)
    after = status_of(world, "geo")
    assert (after["restartCount"], after["ready"]) == (before["restartCount"] + 1, True)
    assert after["containerID"] != before["containerID"]
    assert after["lastState"]["terminated"]["exitCode"] == 137
    assert after["lastState"]["terminated"]["reason"] == "Error"


def test_a_timeout_lets_it_end_by_itself(world: EmbeddedWorld) -> None:
    began = world.now()
    typed(world, "geo", f"crictl stop -t 20 {GEO}")
    assert world.now() - began < 30_000_000
    world.advance(10)
    assert status_of(world, "geo")["lastState"]["terminated"]["exitCode"] != 137


def test_who_stops_it_again_and_again_meets_the_back_off(world: EmbeddedWorld) -> None:
    for _ in range(3):
        typed(world, "geo", f"crictl stop {GEO}")
        world.advance(25)
    assert status_of(world, "geo")["restartCount"] >= 2
    assert "BackOff" in reasons(world, pod_of(world, "geo"))


def test_a_container_must_be_stopped_before_it_is_removed(world: EmbeddedWorld) -> None:
    told = typed(world, "geo", f"crictl rm {GEO}; echo $?")
    assert "is running, please stop it first" in told and told.endswith("\n1\n")
    assert status_of(world, "geo")["restartCount"] == 0
    typed(world, "geo", f"crictl rm -f {GEO}")
    world.advance(10)
    assert status_of(world, "geo")["restartCount"] == 1
    assert typed(world, "geo", "crictl ps -a --name geo\\$ | grep -c Exited").strip() == "0"


def test_a_stopped_container_can_be_removed(world: EmbeddedWorld) -> None:
    typed(world, "geo", f"crictl stop {GEO}")
    world.advance(10)
    script = "crictl ps -a --name geo\\$ | grep Exited | cut -c1-13"
    ended = typed(world, "geo", script).strip()
    assert typed(world, "geo", f"crictl rm {ended}").strip() == ended
    assert typed(world, "geo", script).strip() == ""


def test_a_pod_whose_sandbox_is_stopped_gets_another_one(world: EmbeddedWorld) -> None:
    before = pod_of(world, "geo")
    told = typed(
        world, "geo", "id=$(crictl pods | grep geo- | grep -v mongodb | cut -c1-13); crictl stopp $id"
    )
    assert told.startswith("Stopped sandbox ")
    world.advance(15)
    after = pod_of(world, "geo")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["podIP"] != before["status"]["podIP"]
    assert after["status"]["containerStatuses"][0]["restartCount"] == 1
    assert after["status"]["containerStatuses"][0]["ready"]
    assert "SandboxChanged" in reasons(world, after)
    # The old one may be removed, the new one only by force.
    old = told.split()[-1]
    assert typed(world, "geo", f"crictl rmp {old}") == f"Removed sandbox {old}\n"
    new = typed(world, "geo", "crictl pods | grep geo- | grep -v mongodb | cut -c1-13").strip()
    assert new != old
    assert "is running, please stop it first" in typed(world, "geo", f"crictl rmp {new}")
    typed(world, "geo", f"crictl rmp -f {new}")
    world.advance(15)
    assert pod_of(world, "geo")["status"]["containerStatuses"][0]["restartCount"] == 2


def test_exec_runs_in_the_container(world: EmbeddedWorld) -> None:
    mongo = "$(crictl ps -q --name geo-mongo)"
    name = inside(world, "mongodb-geo", "hostname")
    assert typed(world, "mongodb-geo", f"crictl exec {mongo} hostname") == name
    assert (
        typed(world, "mongodb-geo", f'crictl exec -s {mongo} sh -c "echo hi > /tmp/x; cat /tmp/x"') == "hi\n"
    )
    assert inside(world, "mongodb-geo", "cat /tmp/x") == "hi\n"
    told = typed(world, "mongodb-geo", f'crictl exec {mongo} sh -c "exit 3"; echo $?')
    assert "command terminated with exit code 3" in told and told.endswith("1\n")
    assert "executable file not found in $PATH" in typed(world, "mongodb-geo", f"crictl exec {mongo} nope")
    assert "input is not a terminal" in typed(world, "mongodb-geo", f"crictl exec -it {mongo} sh")


def test_images_are_pulled_and_removed(world: EmbeddedWorld) -> None:
    told = typed(
        world,
        "geo",
        "crictl pull nginx:1.14.2; crictl images | grep -c nginx; crictl rmi nginx:1.14.2; crictl images | grep -c nginx",
    )
    assert told.startswith("Image is up to date for sha256:")
    assert told.split()[-4:] == ["1", "Deleted:", "docker.io/library/nginx:1.14.2", "0"]
    assert "FATA[0000] pulling image: rpc error: code = " in typed(world, "geo", "crictl pull nope/nope:1")
    assert "no such image" in typed(world, "geo", "crictl rmi nope")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("crictl stop abc123nope", 'code = NotFound desc = an error occurred when try to find container "abc123nope": not found'),
        ("crictl stop", "you must specify at least one CONTAINER-ID or use --all"),
        ("crictl stop -t x 1", 'invalid value "x" for flag -timeout: parse error'),
        ("crictl rm nope", "code = NotFound"), ("crictl stopp nope", "try to find sandbox"), ("crictl rmp nope", "try to find sandbox"),
        ("crictl exec nope ls", "code = NotFound"), ("crictl frob", 'No help topic for "frob"'), ("crictl stopp", "ID cannot be empty"),
    ],
)  # fmt: skip
def test_mistakes(world: EmbeddedWorld, line: str, said: str) -> None:
    assert said in typed(world, "geo", line)


def test_a_pod_of_the_agent_may_stop_itself(world: EmbeddedWorld) -> None:
    typed(world, "geo", "crictl stop $(crictl ps -q --name debugger | head -1); sleep 5; echo alive")
    world.advance(30)
    assert status_of(world, "geo")["ready"]
