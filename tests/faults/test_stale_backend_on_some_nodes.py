"""A machine whose kube-proxy is stuck: clients there are sent to pods that are gone, until another kube-proxy starts."""

from __future__ import annotations

import json
import pickle

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import ServiceRulesStuck
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import subject

NAMESPACE = "social-network"


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(apps.app(NAMESPACE))


def _typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def _node(world: EmbeddedWorld, name: str) -> str:
    (pod,) = world.cluster.list("pods", NAMESPACE, label_selector=f"service={name}")
    return str(pod["spec"]["nodeName"])


def _proxy(world: World, node: str) -> str:
    pods = world.cluster.list("pods", "kube-system", label_selector="k8s-app=kube-proxy")
    return next(str(pod["metadata"]["name"]) for pod in pods if pod["spec"]["nodeName"] == node)


def _ends(world: EmbeddedWorld, node: str, name: str) -> set[str]:
    saved = _typed(
        world, f"kubectl exec -n kube-system {_proxy(world, node)} -- iptables-save -t nat"
    ).splitlines()
    return {
        line.rpartition(" ")[2]
        for line in saved
        if "--to-destination" in line and f'"{NAMESPACE}/{name}' in line
    }


def _endpoints(world: EmbeddedWorld, name: str) -> set[str]:
    found = json.loads(_typed(world, f"kubectl get endpoints {name} -n {NAMESPACE} -o json"))
    return {
        f"{address['ip']}:{port['port']}"
        for subset in found.get("subsets") or ()
        for address in subset.get("addresses") or ()
        for port in subset["ports"]
    }


def _rolled_out(world: EmbeddedWorld, name: str) -> None:
    _typed(world, f"kubectl rollout restart deploy/{name} -n {NAMESPACE}")
    world.advance(90.0)


def _healthy(world: EmbeddedWorld, node: str) -> bool:
    (address,) = (
        each["address"]
        for each in world.cluster.get("nodes", node)["status"]["addresses"]
        if each["type"] == "InternalIP"
    )
    return "503" not in _typed(
        world, f"curl -s -o /dev/null -w '%{{http_code}}' http://{address}:10256/healthz"
    )


def test_rules_follow_the_endpoints_until_kube_proxy_is_stuck_and_again_from_its_next_start(
    world: EmbeddedWorld,
) -> None:
    name, node = "user-timeline-service", _node(world, "nginx-thrift")
    other = next(n for n in sorted(_nodes(world)) if n != node)
    _rolled_out(world, name)
    assert _ends(world, node, name) == _ends(world, other, name) == _endpoints(world, name)

    world.nodes.apply(ServiceRulesStuck(node))
    before = _ends(world, node, name)
    _rolled_out(world, name)
    assert _ends(world, node, name) == before != _endpoints(world, name)
    assert _ends(world, other, name) == _endpoints(world, name)
    assert "user-timeline" in _suffering(world)
    assert "home-timeline" not in _suffering(world)
    assert not _healthy(world, node)
    assert _healthy(world, other)

    _typed(world, f"kubectl delete pod -n kube-system {_proxy(world, node)}")
    world.advance(90.0)
    assert _ends(world, node, name) == _endpoints(world, name)
    assert not _suffering(world)
    assert _healthy(world, node)
    _rolled_out(world, name)
    assert _ends(world, node, name) == _endpoints(world, name)


def _nodes(world: EmbeddedWorld) -> set[str]:
    return {
        pod["spec"]["nodeName"]
        for pod in world.cluster.list("pods", "kube-system", label_selector="k8s-app=kube-proxy")
    }


def _suffering(world: EmbeddedWorld) -> set[str]:
    return {each.journey for each in world.traffic.health(30.0) if each.success_ratio < 0.99}


def test_names_are_asked_for_by_the_same_rules(world: EmbeddedWorld) -> None:
    name = "nginx-thrift"
    node = _node(world, name)
    (pod,) = world.cluster.list("pods", NAMESPACE, label_selector=f"service={name}")
    asked = (
        f"kubectl exec -n {NAMESPACE} {pod['metadata']['name']} -c nginx-thrift -- getent hosts user-service"
    )
    address = world.cluster.get("services", "user-service", NAMESPACE)["spec"]["clusterIP"]
    assert address in _typed(world, asked)
    world.nodes.apply(ServiceRulesStuck(node))
    _typed(world, "kubectl delete pods -n kube-system -l k8s-app=kube-dns")
    world.advance(60.0)
    assert _typed(world, asked).strip() == "command terminated with exit code 2"


def test_a_service_of_which_the_rules_do_not_know_is_reached_from_other_machines_only(
    world: EmbeddedWorld,
) -> None:
    node = _node(world, "nginx-thrift")
    world.nodes.apply(ServiceRulesStuck(node))
    _typed(
        world,
        f"kubectl expose deploy user-service -n {NAMESPACE} --name=user-service-too --port=9090",
    )
    world.advance(30.0)
    assert not _ends(world, node, "user-service-too")
    other = next(n for n in sorted(_nodes(world)) if n != node)
    assert _ends(world, other, "user-service-too") == _endpoints(world, "user-service-too")


def test_what_is_left_behind_travels_with_the_world(world: EmbeddedWorld) -> None:
    world.nodes.apply(ServiceRulesStuck(_node(world, "nginx-thrift")))
    _rolled_out(world, "user-timeline-service")
    packed = pickle.loads(pickle.dumps(world))
    assert packed.digest() == world.digest()
    assert _suffering(packed) == _suffering(world)


def test_healing_it_brings_the_rules_up_to_date(world: EmbeddedWorld) -> None:
    name, node = "user-timeline-service", _node(world, "nginx-thrift")
    world.nodes.apply(ServiceRulesStuck(node))
    _rolled_out(world, name)
    world.nodes.heal(ServiceRulesStuck(node))
    world.advance(60.0)
    assert not _suffering(world)


def test_nothing_but_the_callers_shows_it() -> None:
    pair = subject("stale_backend_on_some_nodes", "user-service", NAMESPACE)
    world = pair.world()
    node = pair.injected.instances[0].parameters["node"]
    workstation = Workstation(world, ONCALL)
    first = "\n".join(
        workstation.run(line).text
        for line in (
            f"kubectl get deploy,svc -n {NAMESPACE}",
            "kubectl get nodes",
            "kubectl get pods -n kube-system",
            f"kubectl get events -n {NAMESPACE}",
            "alerts",
        )
    )
    assert "kube-proxy" not in first.replace(_proxy(world, node), "").replace("kube-proxy-", "")
    told = workstation.run(f"kubectl logs -n {NAMESPACE} deploy/compose-post-service --since=5m").text
    assert "user-service" in told
    assert "proxy" not in told


def test_the_machine_is_one_on_which_a_caller_stands(every_inventory: Inventory) -> None:
    declared = declaration("stale_backend_on_some_nodes")
    for target in declared.targets.find(every_inventory):
        bound = declared.bind(every_inventory, target.name)
        stand = {pod["spec"].get("nodeName") for pod in every_inventory.pods}
        assert bound.parameters["node"] in stand
