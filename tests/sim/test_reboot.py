"""A machine that reboots: what its node, its pods and its neighbours show of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.runtime.clock import DAY, MINUTE, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import nodes, power
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.tools.workstation import Workstation
from tests.sim.kubelet_world import condition

NODE = "sre-worker2"


@pytest.fixture
def world() -> EmbeddedWorld:
    return bare_cluster(0)


def node(world: EmbeddedWorld, name: str = NODE) -> dict[str, Any]:
    found = world.store.get("nodes", "", name)
    assert found is not None
    return found


def containers(world: EmbeddedWorld, *, here: bool) -> list[dict[str, Any]]:
    return [
        container
        for pod in world.store.list("pods")
        if (pod["spec"]["nodeName"] == NODE) is here
        for container in pod["status"]["containerStatuses"]
    ]


def pod_of(**spec: Any) -> dict[str, Any]:
    image = "registry.k8s.io/pause:3.10"
    whole = {"nodeName": NODE, "containers": [{"name": "main", "image": image}], **spec}
    metadata = {"name": "subject", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": whole}


def test_every_container_of_the_node_starts_again_at_the_same_moment(world: EmbeddedWorld) -> None:
    before = node(world)["status"]["nodeInfo"]
    power.reboot(world, NODE, outage=75.0)
    up = world.now() + 75_000_000
    world.advance(180)
    assert node(world)["status"]["nodeInfo"] != before
    assert {**node(world)["status"]["nodeInfo"], "bootID": before["bootID"]} == before
    ready = condition(node(world), "Ready")
    assert ready["status"] == "True"
    restarted = containers(world, here=True)
    assert restarted
    for container in restarted:
        assert container["restartCount"] == 1
        assert container["ready"]
        last = container["lastState"]["terminated"]
        assert (last["exitCode"], last["reason"]) == (255, "Unknown")
        assert last["finishedAt"] == ready["lastTransitionTime"]
        assert last["startedAt"] < last["finishedAt"] <= container["state"]["running"]["startedAt"]
    assert all(container["restartCount"] == 0 for container in containers(world, here=False))
    assert world.now() > up
    shell = Workstation(world, ADMIN)
    assert "1 (105s ago)" in shell.run("kubectl get pods -A").text
    world.run_until(up + 23 * DAY + 60_000_000)
    assert "1 (23d ago)" in shell.run("kubectl get pods -A").text
    assert "Rebooted" not in shell.run("kubectl get events").text


def test_what_tells_when_a_machine_booted_agrees(world: EmbeddedWorld) -> None:
    power.reboot(world, NODE, outage=75.0)
    world.advance(300.0)
    desk = Workstation(world, ADMIN)
    started = containers(world, here=True)[0]["state"]["running"]["startedAt"]
    since = desk.run(f"ssh {NODE} uptime -s").text.strip().replace(" ", "T") + "Z"
    status = desk.run(f"ssh {NODE} systemctl show kubelet; ssh {NODE} journalctl -u kubelet").text
    begun = re.search(r"(\d\d:\d\d:\d\d) \S+ systemd\[1\]: Started kubelet", status)
    assert since < started and begun is not None and begun[1] <= started[11:19]
    ((_, _, values),) = world.telemetry.metrics.query(
        f'node_boot_time_seconds{{node="{NODE}"}}', int(world.now() // 1000)
    ).series
    assert float(values[0]) == pytest.approx(parse_rfc3339(since) // SECOND, abs=1)


@pytest.mark.parametrize(("outage", "noticed"), [(30.0, False), (75.0, True)])
def test_a_short_outage_passes_below_the_grace_period(
    world: EmbeddedWorld, outage: float, noticed: bool
) -> None:
    power.reboot(world, NODE, outage=outage)
    world.advance(120)
    reasons = [event["reason"] for event in world.store.list("events", "default")]
    assert ("NodeNotReady" in reasons) is noticed
    assert {"Rebooted", "Starting", "NodeReady", "NodeHasSufficientMemory"} <= set(reasons)


def test_a_machine_without_power_runs_nothing_and_is_silent(world: EmbeddedWorld) -> None:
    power.reboot(world, NODE, outage=75.0)
    world.advance(70)
    assert not [process for process in world.processes.values() if process.node == NODE]
    assert condition(node(world), "Ready")["status"] == "Unknown"


def test_reboots_add_up_and_each_has_its_own_boot_id(world: EmbeddedWorld) -> None:
    seen = {node(world)["status"]["nodeInfo"]["bootID"]}
    for _ in range(2):
        power.reboot(world, NODE)
        world.advance(DAY / 1_000_000)
        seen.add(node(world)["status"]["nodeInfo"]["bootID"])
    assert len(seen) == 3
    assert {container["restartCount"] for container in containers(world, here=True)} == {2}


def test_a_kubelet_that_starts_again_is_no_reboot_and_its_silence_is_dated(world: EmbeddedWorld) -> None:
    boot = node(world)["status"]["nodeInfo"]["bootID"]
    # As in a world that bears other names than the one it was made of: what the machine told is what it told.
    world.store.put(
        "nodes", {**node(world), "status": {**node(world)["status"], "nodeInfo": {"bootID": "told"}}}
    )
    world.advance(3 * DAY / 1_000_000)
    silent = world.now()
    nodes.stop(world, NODE)
    world.advance(600.0)
    unknown = condition(world.cluster.get("nodes", NODE), "Ready")
    assert unknown["reason"] == "NodeStatusUnknown"
    assert silent - 5 * MINUTE <= parse_rfc3339(unknown["lastHeartbeatTime"]) <= silent
    nodes.start(world, NODE)
    world.advance(10.0)
    assert node(world)["status"]["nodeInfo"]["bootID"] == "told" != boot
    assert "Rebooted" not in [event["reason"] for event in world.cluster.list("events", "default")]


def test_who_registers_anew_has_told_of_his_boot(world: EmbeddedWorld) -> None:
    nodes.stop(world, NODE)
    world.cluster.delete("nodes", NODE)
    world.advance(60.0)
    kubelet_unit.boot(world, NODE)
    nodes.start(world, NODE)
    world.advance(60.0)
    assert condition(node(world), "Ready")["status"] == "True"
    nodes.stop(world, NODE)
    world.advance(10.0)
    nodes.start(world, NODE)
    world.advance(10.0)
    assert "Rebooted" not in [event["reason"] for event in world.cluster.list("events", "default")]


def test_another_reboot_during_a_reboot_is_the_same_one(world: EmbeddedWorld) -> None:
    power.reboot(world, NODE)
    world.advance(5)
    power.reboot(world, NODE)
    world.advance(300)
    assert {container["restartCount"] for container in containers(world, here=True)} == {1}


@pytest.mark.parametrize(
    ("policy", "phase", "restarts"),
    [("Always", "Running", 1), ("OnFailure", "Running", 1), ("Never", "Failed", 0)],
)
def test_the_restart_policy_decides(world: EmbeddedWorld, policy: str, phase: str, restarts: int) -> None:
    apiserver.create(world, "pods", pod_of(restartPolicy=policy))
    world.advance(30)
    power.reboot(world, NODE)
    world.advance(120)
    pod = world.store.get("pods", "default", "subject")
    assert pod is not None
    assert pod["status"]["phase"] == phase
    assert pod["status"]["containerStatuses"][0]["restartCount"] == restarts


def test_init_containers_run_again(world: EmbeddedWorld) -> None:
    image = "docker.io/library/busybox:1.36"
    init = [{"name": "first", "image": image, "command": ["true"]}]
    apiserver.create(world, "pods", pod_of(initContainers=init))
    world.advance(60)
    power.reboot(world, NODE)
    world.advance(120)
    pod = world.store.get("pods", "default", "subject")
    assert pod is not None
    status = pod["status"]
    assert status["phase"] == "Running"
    assert status["initContainerStatuses"][0]["restartCount"] == 1
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    assert status["containerStatuses"][0]["restartCount"] == 1


def test_a_fork_in_the_middle_goes_on_alike(world: EmbeddedWorld) -> None:
    power.reboot(world, NODE)
    world.advance(20)
    copy = world.fork()
    world.advance(200)
    copy.advance(200)
    assert copy.digest() == world.digest()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-p ActiveState,SubState kubelet", "ActiveState=active\nSubState=running\n"),
        ("kubelet --property=NRestarts --value", "0\n"),
        ("containerd -p Id -p LoadState", "Id=containerd.service\nLoadState=loaded\n"),
        ("-pUnitFileState chrony", "UnitFileState=enabled\n"),
        ("kubelet -p Nonsense", ""),
    ],
)
def test_systemd_tells_the_properties_that_are_asked_for(world: EmbeddedWorld, words: str, said: str) -> None:
    assert Workstation(world, ADMIN).run(f"ssh {NODE} systemctl show {words}").text == said
