"""A machine whose link loses packets: what crosses it is late, what does not is not, and every status is as ever."""

from __future__ import annotations

import re

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import MachineLinkLoss
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import subject

NAMESPACE = "social-network"
RETRANSMITTED = "promql 'rate(node_netstat_Tcp_RetransSegs[5m]) / rate(node_netstat_Tcp_OutSegs[5m])'"


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(apps.app(NAMESPACE))


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def _node(world: World, name: str) -> str:
    (pod,) = world.cluster.list("pods", NAMESPACE, label_selector=f"service={name}")
    return str(pod["spec"]["nodeName"])


def _shares(world: World) -> dict[str, float]:
    found = {}
    for line in _typed(world, RETRANSMITTED).splitlines():
        match = re.match(r'\s+([\d.e-]+)\s+.*node="([^"]+)"', line)
        if match:
            found[match[2]] = float(match[1])
    return found


def _latencies(world: World) -> dict[str, float]:
    return {each.journey: each.latency_seconds for each in world.traffic.health(60.0)}


def test_what_crosses_the_machine_is_late_and_everything_is_ready(world: EmbeddedWorld) -> None:
    before, node = _latencies(world), _node(world, "post-storage-service")
    pods = [pod["metadata"]["name"] for pod in world.cluster.list("pods", NAMESPACE)]
    world.nodes.apply(MachineLinkLoss(node, 0.4))
    world.advance(900.0)
    assert _latencies(world)["home-timeline"] > 30.0 * before["home-timeline"]
    assert [pod["metadata"]["name"] for pod in world.cluster.list("pods", NAMESPACE)] == pods
    for pod in world.cluster.list("pods", NAMESPACE):
        for status in pod["status"].get("containerStatuses") or ():
            assert status["restartCount"] == 0
            assert status["ready"] or "terminated" in status["state"]
    assert "NotReady" not in _typed(world, "kubectl get nodes")
    world.nodes.heal(MachineLinkLoss(node, 0.4))
    world.advance(120.0)
    assert _latencies(world) == pytest.approx(before, rel=0.05)


def test_its_tcp_sends_again_more_than_that_of_any_other_machine(world: EmbeddedWorld) -> None:
    node = _node(world, "post-storage-service")
    assert max(_shares(world).values()) < 0.001
    world.nodes.apply(MachineLinkLoss(node, 0.4))
    world.advance(900.0)
    shares = _shares(world)
    mine = shares.pop(node)
    assert 0.5 < mine < 0.8
    assert 0.0 < max(shares.values()) < mine / 2.0
    world.nodes.heal(MachineLinkLoss(node, 0.4))
    world.advance(900.0)
    assert max(_shares(world).values()) < 0.001


def test_pods_of_one_machine_reach_each_other_as_ever(world: EmbeddedWorld) -> None:
    placed: dict[str, list[str]] = {}
    for pod in world.cluster.list("pods", NAMESPACE):
        placed.setdefault(pod["spec"]["nodeName"], []).append(pod["status"]["podIP"])
    node = _node(world, "nginx-thrift")
    other = next(name for name in sorted(placed) if name != node)
    world.nodes.apply(MachineLinkLoss(node, 0.6))
    ping = f"kubectl debug node/{node} -q --image=busybox -it -- ping -c 40 -q"
    assert " 0% packet loss" in _typed(world, f"{ping} {placed[node][0]}")
    told = _typed(world, f"{ping} {placed[other][0]}")
    lost = int(re.findall(r"(\d+)% packet loss", told)[0])
    assert 30 < lost < 90
    assert "min/avg/max" in told
    # Its own address lies behind the same link as those of its pods.
    ping = f"kubectl debug node/{other} -q --image=busybox -it -- ping -c 40 -q"
    for name, losing in ((node, True), (other, False)):
        address = next(
            each["address"]
            for each in world.cluster.get("nodes", name)["status"]["addresses"]
            if each["type"] == "InternalIP"
        )
        assert (" 0% packet loss" not in _typed(world, f"{ping} {address}")) is losing


def test_the_machine_bears_a_part_of_the_path_and_no_load_and_no_data(every_inventory: Inventory) -> None:
    declared = declaration("one_slow_node_gray_failure")
    app = every_inventory.app
    load = {
        pod["spec"].get("nodeName")
        for pod in every_inventory.pods
        for each in app.components
        if each.kind == "load" and pod["metadata"]["name"].startswith(f"{each.name}-")
    }
    for target in declared.targets.find(every_inventory):
        assert target.node not in load
        assert target.node not in {volume.node for volume in every_inventory.volumes}
        assert target.components
        assert {*target.components} <= app.serving


def test_users_suffer_by_the_machine_alone() -> None:
    pair = subject("one_slow_node_gray_failure", "machine-of-compose-post-service", NAMESPACE)
    world = pair.world()
    node = pair.injected.instances[0].target.node
    first = "\n".join(
        _typed(world, line)
        for line in (
            f"kubectl get deploy,svc -n {NAMESPACE}",
            f"kubectl get pods -n {NAMESPACE}",
            "kubectl get nodes",
            f"kubectl get events -n {NAMESPACE} --field-selector type=Warning",
            "alerts",
        )
    )
    assert first.count(node) == len(re.findall(rf"(?m)^{node} +Ready", first))
    assert "packet" not in first
