"""The journal of a kubelet: a number for each of its runs, and what systemd says of their begin and end, in that order."""

from __future__ import annotations

import re

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import power

NODE = "sre-worker2"
START, VERSION = "Started kubelet", '"Kubelet version"'
END = ["Stopping kubelet", "Deactivated successfully", "Stopped kubelet"]


@pytest.fixture
def world() -> EmbeddedWorld:
    found = bare_cluster(0)
    found.advance(900.0)
    return found


def on(world: EmbeddedWorld, command: str) -> str:
    """What a command prints in a login on the machine."""
    done = world.nodes.run(NODE, command)
    return done.stdout + done.stderr


def journal(world: EmbeddedWorld) -> list[str]:
    """The lines of the kubelet's journal."""
    return on(world, "journalctl -u kubelet --no-pager -o short-precise").splitlines()


def story(lines: list[str]) -> list[str]:
    """What is told of begins and ends."""
    wanted = (START, VERSION, *END, "Scheduled restart job", "Failed with result")
    return [next(word for word in wanted if word in line) for line in lines if any(w in line for w in wanted)]


def pids(lines: list[str]) -> list[str]:
    """The numbers under which kubelets have written, each once, in order."""
    found = [match[1] for line in lines if (match := re.search(r" kubelet\[(\d+)\]: ", line))]
    for line in lines:
        match = re.search(r" kubelet\[(\d+)\]: [IWE]\d{4} [\d:.]+ +(\d+) ", line)
        assert match is None or match[1] == match[2], line
    return list(dict.fromkeys(found))


def test_one_that_was_never_started_again_has_one_number(world: EmbeddedWorld) -> None:
    lines = journal(world)
    assert START in lines[0] and VERSION in lines[1]
    assert "Successfully registered node" in "\n".join(lines)
    assert pids(lines) == on(world, "pgrep kubelet").split()
    assert f'kubelet",pid={pids(lines)[0]},' in on(world, "ss -ltnp")


def test_a_restart_is_told_in_the_order_of_systemd(world: EmbeddedWorld) -> None:
    before = journal(world)
    on(world, "systemctl restart kubelet")
    world.advance(60.0)
    lines = journal(world)
    assert lines[: len(before)] == before
    assert story(lines[len(before) :]) == [*END, START, VERSION]
    assert len(pids(lines)) == 2
    assert pids(lines)[1:] == on(world, "pgrep kubelet").split()
    assert f"Main PID: {pids(lines)[1]} (kubelet)" in on(world, "systemctl status kubelet")
    assert "Node was previously registered" in "\n".join(lines[len(before) :])


def test_what_happens_while_none_runs_is_noticed_by_the_next_one(world: EmbeddedWorld) -> None:
    before = journal(world)
    on(world, "systemctl stop kubelet")
    world.advance(40.0)
    assert story(journal(world)[len(before) :]) == END
    on(world, "systemctl start kubelet")
    world.advance(60.0)
    lines = journal(world)[len(before) :]
    assert story(lines) == [*END, START, VERSION]
    assert all("systemd[1]" in line for line in lines[:4])
    assert lines == sorted(lines, key=lambda line: line[:22])


def test_one_that_fails_has_a_number_for_each_attempt(world: EmbeddedWorld) -> None:
    before = journal(world)
    on(world, "sed -i s/^kind:/kin:/ /var/lib/kubelet/config.yaml; systemctl restart kubelet")
    world.advance(25.0)
    lines = journal(world)[len(before) :]
    attempt = [START, "Failed with result"]
    assert story(lines) == [*END, *attempt, *(["Scheduled restart job", *attempt] * 2)]
    assert len(pids(lines)) == 3
    assert f"Main PID: {pids(lines)[-1]} (code=exited" in on(world, "systemctl status kubelet")
    on(world, "sed -i s/^kin:/kind:/ /var/lib/kubelet/config.yaml")
    world.advance(20.0)
    assert story(journal(world))[-3:] == ["Scheduled restart job", START, VERSION]


def test_a_reboot_begins_another_run_and_changes_nothing_that_was_told(world: EmbeddedWorld) -> None:
    before = journal(world)
    power.reboot(world, NODE, outage=75.0)
    world.advance(300.0)
    lines = journal(world)
    assert story(lines) == [START, VERSION, START, VERSION]
    assert len(pids(lines)) == 2 and pids(lines)[0] == pids(before)[0]
    number = next(at for at, line in enumerate(lines) if START in line and at)
    assert all(f"kubelet[{pids(lines)[0]}]" in line for line in lines[1:number])
    power.reboot(world, NODE, outage=75.0)
    world.advance(300.0)
    assert pids(journal(world))[:2] == pids(lines) and len(pids(journal(world))) == 3


def test_one_that_does_not_come_up_with_its_machine_is_not_told_of(world: EmbeddedWorld) -> None:
    on(world, "systemctl disable --now kubelet")
    world.advance(60.0)
    before = journal(world)
    power.reboot(world, NODE, outage=75.0)
    world.advance(300.0)
    assert journal(world) == before
    assert on(world, "pgrep kubelet; systemctl is-active kubelet") == "inactive\n"
    on(world, "systemctl start kubelet")
    world.advance(30.0)
    assert story([line for line in journal(world) if line not in before]) == [START, VERSION]


def test_the_kernel_tells_of_links_after_it_has_booted(world: EmbeddedWorld) -> None:
    power.reboot(world, NODE, outage=75.0)
    world.advance(300.0)
    lines = on(world, "dmesg").splitlines()
    stamps = [float(line[1:13]) for line in lines]
    assert stamps == sorted(stamps)
    links = [at for at, line in enumerate(lines) if "link becomes ready" in line]
    bridge = next(at for at, line in enumerate(lines) if "Bridge firewalling" in line)
    assert links and min(links) > bridge
    assert min(stamps[at] for at in links) > 11.0
