"""StatefulSets and DaemonSets."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.sim import apiserver
from sregym_env.sim.containers import nodefit
from sregym_env.sim.controllers.daemonset import target_node
from sregym_env.sim.world import SimWorld
from tests.sim.control_plane import (
    add_node,
    change,
    cluster,
    create,
    get,
    kubelet,
    names,
    pods,
    run,
    said,
    set_phase,
    template,
    workload,
)

STATEFUL, DAEMON = "statefulsets.apps", "daemonsets.apps"
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def stateful(replicas: int = 3, **spec: Any) -> SimWorld:
    world = cluster("n1")
    create(world, STATEFUL, "db", workload("db", replicas=replicas, serviceName="db", **spec))
    return world


def images(world: SimWorld) -> list[str]:
    return [pod["spec"]["containers"][0]["image"] for pod in pods(world)]


def test_ordered_pods_wait_for_each_other() -> None:
    world = stateful()
    seen = []
    for _ in range(3):
        world.settle()
        seen.append(names(world, "pods"))
        kubelet(world)
    assert seen == [["db-0"], ["db-0", "db-1"], ["db-0", "db-1", "db-2"]]
    run(world)
    status = get(world, STATEFUL, "db")["status"]
    assert (status["replicas"], status["readyReplicas"], status["currentReplicas"]) == (3, 3, 3)
    assert status["currentRevision"] == status["updateRevision"]
    assert "create Pod db-0 in StatefulSet db successful" in said(world, "SuccessfulCreate")


def test_parallel_pods_do_not() -> None:
    world = stateful(podManagementPolicy="Parallel")
    world.settle()
    assert names(world, "pods") == ["db-0", "db-1", "db-2"]


def test_pods_have_identity_and_claims() -> None:
    world = stateful(1, volumeClaimTemplates=[CLAIM])
    world.settle()
    pod = get(world, "pods", "db-0")
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-0", "db")
    assert pod["spec"]["volumes"][0] == {
        "name": "data",
        "persistentVolumeClaim": {"claimName": "data-db-0"},
    }
    assert pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "db-0"
    assert get(world, "persistentvolumeclaims", "data-db-0")["metadata"]["labels"] == {"app": "db"}


def test_scale_down_goes_from_the_highest_ordinal() -> None:
    world = stateful()
    run(world)
    change(world, STATEFUL, "db", replicas=1)
    world.settle()
    assert [p["metadata"]["name"] for p in pods(world) if "deletionTimestamp" in p["metadata"]] == ["db-2"]
    run(world)
    assert names(world, "pods") == ["db-0"]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({"type": "RollingUpdate"}, ["new", "new", "new"]),
        (
            {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
            ["nginx:1.27", "nginx:1.27", "new"],
        ),
        ({"type": "OnDelete"}, ["nginx:1.27"] * 3),
    ],
)
def test_updates_follow_the_strategy(strategy: Any, expected: list[str]) -> None:
    world = stateful(updateStrategy=strategy)
    run(world)
    change(world, STATEFUL, "db", template=template("db", "new"))
    run(world)
    assert images(world) == expected
    assert len(names(world, "controllerrevisions.apps")) == 2


def test_pods_below_the_partition_are_recreated_as_they_were() -> None:
    world = stateful(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})
    run(world)
    change(world, STATEFUL, "db", template=template("db", "new"))
    run(world)
    apiserver.delete(world, "pods", "default", "db-0")
    run(world)
    assert images(world) == ["nginx:1.27", "nginx:1.27", "new"]


def test_update_stops_at_a_pod_that_does_not_get_ready() -> None:
    world = stateful()
    run(world)
    change(world, STATEFUL, "db", template=template("db", "broken"))
    run(world, ready=False)
    assert images(world) == ["nginx:1.27", "nginx:1.27", "broken"]


def test_failed_pod_of_a_stateful_set_is_recreated() -> None:
    world = stateful(1)
    run(world)
    uid = get(world, "pods", "db-0")["metadata"]["uid"]
    set_phase(world, get(world, "pods", "db-0"), "Failed")
    run(world)
    assert get(world, "pods", "db-0")["metadata"]["uid"] != uid
    assert said(world, "RecreatingFailedPod")


# --- DaemonSets ---------------------------------------------------------------------------------------


def daemon(*nodes: str, **spec: Any) -> SimWorld:
    world = cluster(*(nodes or ("n1", "n2")))
    create(world, DAEMON, "agent", workload("agent", **spec))
    run(world)
    return world


def test_every_node_gets_one_pod() -> None:
    world = daemon()
    assert sorted(target_node(pod) for pod in pods(world)) == ["n1", "n2"]
    add_node(world, "n3")
    run(world)
    assert len(pods(world)) == 3
    status = get(world, DAEMON, "agent")["status"]
    assert (status["desiredNumberScheduled"], status["currentNumberScheduled"]) == (3, 3)


def test_daemon_pods_avoid_taints_but_tolerate_node_trouble() -> None:
    world = cluster("n1")
    add_node(world, "control", taints=[{"key": "control-plane", "effect": "NoSchedule"}])
    add_node(world, "cordoned", unschedulable=True)
    create(world, DAEMON, "agent", workload("agent"))
    run(world)
    assert sorted(target_node(pod) for pod in pods(world)) == ["cordoned", "n1"]


def test_no_execute_taint_drives_daemon_pods_off() -> None:
    world = daemon("n1")
    node = get(world, "nodes", "n1")
    taint = {"key": "dedicated", "effect": "NoExecute"}
    apiserver.update(world, "nodes", {**node, "spec": {**node["spec"], "taints": [taint]}})
    run(world)
    assert not pods(world)


def test_node_selector_limits_daemons() -> None:
    world = cluster("n1", "n2")
    spec = workload("agent")
    spec["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n2"}
    create(world, DAEMON, "agent", spec)
    run(world)
    assert [target_node(pod) for pod in pods(world)] == ["n2"]


def test_daemons_roll_one_node_at_a_time() -> None:
    world = cluster("n1")
    create(world, DAEMON, "agent", workload("agent"))
    run(world)
    change(world, DAEMON, "agent", template=template("agent", "new"))
    run(world)
    assert images(world) == ["new"]
    assert get(world, DAEMON, "agent")["status"]["updatedNumberScheduled"] == 1


def test_failed_daemon_pod_is_replaced_with_backoff() -> None:
    world = daemon("n1")
    for _ in range(3):
        set_phase(world, pods(world)[0], "Failed")
        run(world)
        world.advance(20)
        run(world)
    assert [pod["status"]["phase"] for pod in pods(world)] == ["Running"]
    assert len(said(world, "FailedDaemonPod")) == 3


@pytest.mark.parametrize(
    ("toleration", "covered"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "k", "operator": "Equal", "value": "v"}, True),
        ({"key": "k", "value": "other"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_tolerations(toleration: dict[str, str], covered: bool) -> None:
    assert nodefit.tolerates(toleration, {"key": "k", "value": "v", "effect": "NoSchedule"}) == covered


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ({"key": "zone", "operator": "In", "values": ["a", "b"]}, True),
        ({"key": "zone", "operator": "NotIn", "values": ["a"]}, False),
        ({"key": "gpu", "operator": "Exists"}, False),
        ({"key": "cores", "operator": "Gt", "values": ["4"]}, True),
        ({"key": "cores", "operator": "Lt", "values": ["4"]}, False),
    ],
)
def test_node_affinity(expression: dict[str, Any], matches: bool) -> None:
    node = {"metadata": {"name": "n1", "labels": {"zone": "a", "cores": "8"}}}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    assert nodefit.matches_node({"affinity": affinity}, node) == matches
