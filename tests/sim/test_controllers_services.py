"""Endpoints, EndpointSlices, budgets and quotas."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube.status import StatusError
from sregym_env.sim import apiserver
from sregym_env.sim.world import SimWorld
from tests.sim.control_plane import change, cluster, create, get, names, pods, run, said, set_phase, workload

SLICES, BUDGETS, QUOTAS = "endpointslices.discovery.k8s.io", "poddisruptionbudgets.policy", "resourcequotas"
PORT = {"name": "http", "port": 80, "targetPort": 8080}


def served(replicas: int = 2, **spec: Any) -> SimWorld:
    world = cluster("n1")
    made = workload(replicas=replicas)
    made["template"]["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 9090}]
    create(world, "deployments.apps", "web", made)
    create(world, "services", "web", {"selector": {"app": "web"}, "ports": [PORT], **spec})
    run(world)
    return world


def only_slice(world: SimWorld) -> Any:
    found = world.store.list(SLICES, "default")
    assert len(found) == 1
    return found[0]


def conditions(world: SimWorld) -> list[tuple[bool, bool, bool]]:
    return [
        (e["conditions"]["ready"], e["conditions"]["serving"], e["conditions"]["terminating"])
        for e in only_slice(world)["endpoints"]
    ]


def test_ready_pods_become_endpoints() -> None:
    world = served()
    found = only_slice(world)
    assert found["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert conditions(world) == [(True, True, False)] * 2
    assert found["endpoints"][0]["targetRef"]["name"] == pods(world)[0]["metadata"]["name"]
    assert found["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
    subset = get(world, "endpoints", "web")["subsets"][0]
    assert [address["ip"] for address in subset["addresses"]] == [p["status"]["podIP"] for p in pods(world)]
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]


def test_pods_that_are_not_ready_stay_listed_but_not_ready() -> None:
    world = served()
    set_phase(world, pods(world)[0], "Running", ready=False)
    world.settle()
    assert conditions(world) == [(False, False, False), (True, True, False)]
    subset = get(world, "endpoints", "web")["subsets"][0]
    assert (len(subset["addresses"]), len(subset["notReadyAddresses"])) == (1, 1)


def test_terminating_pods_serve_but_are_not_ready() -> None:
    world = served(1)
    apiserver.delete(world, "pods", "default", pods(world)[0]["metadata"]["name"])
    world.settle()
    assert (False, True, True) in conditions(world)
    assert "subsets" not in get(world, "endpoints", "web")


def test_unready_pods_are_published_when_asked() -> None:
    world = served(1, publishNotReadyAddresses=True)
    set_phase(world, pods(world)[0], "Running", ready=False)
    world.settle()
    assert conditions(world) == [(True, False, False)]


def test_named_target_port_is_looked_up_in_the_pod() -> None:
    world = served(1)
    change(world, "services", "web", ports=[{**PORT, "targetPort": "web"}])
    world.settle()
    assert only_slice(world)["ports"][0]["port"] == 9090
    change(world, "services", "web", ports=[{**PORT, "targetPort": "nonsense"}])
    world.settle()
    assert only_slice(world)["ports"] == []
    assert "subsets" not in get(world, "endpoints", "web")


def test_selector_that_matches_nothing_leaves_an_empty_slice() -> None:
    world = served(1)
    change(world, "services", "web", selector={"app": "wrong"})
    world.settle()
    assert only_slice(world)["endpoints"] == []
    assert "subsets" not in get(world, "endpoints", "web")
    change(world, "services", "web", selector={"app": "web"})
    world.settle()
    assert conditions(world) == [(True, True, False)]


def test_relabelled_pod_leaves_the_service() -> None:
    world = served(1)
    name = pods(world)[0]["metadata"]["name"]
    apiserver.patch_metadata(world, "pods", "default", name, labels={"app": "other"})
    world.settle()
    listed = [e["targetRef"]["name"] for e in only_slice(world)["endpoints"]]
    assert name not in listed


def test_slice_that_was_meddled_with_is_put_right() -> None:
    world = served(1)
    found = only_slice(world)
    apiserver.update(world, SLICES, {**found, "endpoints": []})
    world.settle()
    assert conditions(world) == [(True, True, False)]
    apiserver.delete(world, SLICES, "default", found["metadata"]["name"])
    world.settle()
    assert conditions(world) == [(True, True, False)]


def test_endpoints_of_a_deleted_service_go() -> None:
    world = served(1)
    apiserver.delete(world, "services", "default", "web")
    world.settle()
    assert names(world, "endpoints") == []
    assert names(world, SLICES) == []


def test_service_without_selector_is_left_alone() -> None:
    world = cluster()
    create(world, "services", "external", {"ports": [{"port": 80}]})
    world.settle()
    assert names(world, SLICES) == []


def test_disruption_budget_counts_healthy_pods() -> None:
    world = served(3)
    create(world, BUDGETS, "web", {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}})
    world.settle()
    status = get(world, BUDGETS, "web")["status"]
    assert (status["currentHealthy"], status["desiredHealthy"], status["disruptionsAllowed"]) == (3, 2, 1)
    set_phase(world, pods(world)[0], "Running", ready=False)
    world.settle()
    assert get(world, BUDGETS, "web")["status"]["disruptionsAllowed"] == 0
    change(world, BUDGETS, "web", selector={"matchLabels": {"app": "none"}})
    world.settle()
    assert said(world, "NoPods") == ["No matching pods found"]


def test_disruption_budget_by_share_of_the_wanted_replicas() -> None:
    world = served(3)
    create(world, BUDGETS, "web", {"maxUnavailable": "34%", "selector": {"matchLabels": {"app": "web"}}})
    world.settle()
    status = get(world, BUDGETS, "web")["status"]
    assert (status["expectedPods"], status["desiredHealthy"]) == (3, 1)


def test_quota_status_follows_the_pods() -> None:
    world = served(2)
    create(world, QUOTAS, "limits", {"hard": {"pods": "5", "services": "3"}})
    world.settle()
    assert get(world, QUOTAS, "limits")["status"] == {
        "hard": {"pods": "5", "services": "3"},
        "used": {"pods": "2", "services": "1"},
    }
    change(world, "deployments.apps", "web", replicas=4)
    run(world)
    assert get(world, QUOTAS, "limits")["status"]["used"]["pods"] == "4"


def test_a_local_load_balancer_gets_a_health_check_port() -> None:
    world = cluster("n1")
    local = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 80}]}
    made = create(world, "services", "front", local)
    port = made["spec"]["healthCheckNodePort"]
    assert 30000 <= port <= 32767
    assert change(world, "services", "front", selector={"a": "b"})["spec"]["healthCheckNodePort"] == port
    plain = change(world, "services", "front", type="ClusterIP")["spec"]
    assert not {"healthCheckNodePort", "externalTrafficPolicy"} & set(plain)
    assert "nodePort" not in plain["ports"][0]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (
            {"ports": [{"port": 80, "nodePort": 30123}]},
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
        ),
        (
            {"ports": [{"port": 80}], "externalTrafficPolicy": "Local"},
            'spec.externalTrafficPolicy: Invalid value: "Local": '
            "may only be set for externally-accessible services",
        ),
    ],
)
def test_fields_of_other_types_are_refused(spec: Any, complaint: str) -> None:
    with pytest.raises(StatusError) as raised:
        create(cluster("n1"), "services", "web", spec)
    assert raised.value.message == f'Service "web" is invalid: {complaint}'
