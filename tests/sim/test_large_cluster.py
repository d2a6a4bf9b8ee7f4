"""Clusters of many machines: as many pods as these hold, no more than a small one bears."""

from __future__ import annotations

import pytest

from sregym_env.rollouts.bench.large import NAMESPACE, fleet
from sregym_env.sim.apiserver.requests import MOST_PODS, PODS_EACH


def test_fifty_machines_bear_more_pods_than_a_few() -> None:
    world = fleet(machines=50, pods=520)
    pods = world.cluster.list("pods", NAMESPACE)
    assert len(pods) == 520 > MOST_PODS
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    by_node = [pod["spec"]["nodeName"] for pod in pods]
    assert len(set(by_node)) > 40
    assert max(map(by_node.count, set(by_node))) <= 20


def test_a_small_cluster_holds_no_more_than_it_did() -> None:
    world = fleet(machines=3, pods=600)
    assert PODS_EACH * 4 < MOST_PODS == len(world.cluster.list("pods"))


@pytest.mark.exhaustive
def test_two_thousand_pods_are_listed_and_described() -> None:
    from sregym_env.cluster.oncall import ONCALL
    from sregym_env.tools.workstation import Workstation

    world = fleet()
    station = Workstation(world, ONCALL)
    listed = station.run("kubectl get pods -A --no-headers").text.splitlines()
    assert len(listed) >= 2000 and all(" Running " in line or " Completed " in line for line in listed)
    assert "Non-terminated Pods:" in station.run("kubectl describe node sre-worker7").text
    described = station.run(f"kubectl describe deployment service-07 -n {NAMESPACE}").text
    assert "50 desired | 50 updated | 50 total | 50 available" in described
