"""Storage, namespaces, garbage, nodes, events: what concerns the cluster as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers.provisioner import POD_LABEL
from sregym_env.sim.machines import heartbeats
from sregym_env.sim.world import SimWorld
from tests.sim.control_plane import (
    change,
    cluster,
    create,
    get,
    names,
    place,
    pods,
    run,
    said,
    set_phase,
    workload,
)

CLAIMS, VOLUMES, CLASSES = "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"
DEPLOYMENTS, SETS = "deployments.apps", "replicasets.apps"
LOCAL = "openebs-hostpath"


def storage(mode: str = "WaitForFirstConsumer", provisioner: bool = True) -> SimWorld:
    world = cluster("n1")
    more = {"provisioner": "openebs.io/local", "volumeBindingMode": mode, "reclaimPolicy": "Delete"}
    create(world, CLASSES, LOCAL, **more)
    if provisioner:
        worker = {"metadata": {"labels": dict([POD_LABEL])}}
        create(world, "pods", "provisioner", {"containers": [{"name": "c", "image": "localpv"}]}, **worker)
    run(world)
    return world


def claim(world: SimWorld, name: str = "data", **spec: Any) -> None:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    create(world, CLAIMS, name, {**asked, "storageClassName": LOCAL, **spec})
    world.settle()


def volume(world: SimWorld, name: str, size: str, **spec: Any) -> None:
    made = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "storageClassName": "manual"}
    create(world, VOLUMES, name, {**made, "hostPath": {"path": "/data"}, **spec})


def select_node(world: SimWorld, name: str = "data") -> None:
    chosen = {"volume.kubernetes.io/selected-node": "n1"}
    apiserver.patch_metadata(world, CLAIMS, "default", name, annotations=chosen)
    world.advance(5)


def test_claim_waits_for_its_first_consumer_and_is_then_provisioned() -> None:
    world = storage()
    claim(world)
    assert said(world, "WaitForFirstConsumer") == ["waiting for first consumer to be created before binding"]
    world.advance(60)
    assert names(world, VOLUMES, None) == []
    select_node(world)
    found = get(world, CLAIMS, "data")
    name = f"pvc-{found['metadata']['uid']}"
    assert (found["spec"]["volumeName"], found["status"]["phase"]) == (name, "Bound")
    assert found["status"]["capacity"] == {"storage": "1Gi"}
    made = get(world, VOLUMES, name)
    assert made["spec"]["local"]["path"] == f"/var/openebs/local/{name}"
    assert made["status"]["phase"] == "Bound"
    assert said(world, "ProvisioningSucceeded") == [f"Successfully provisioned volume {name}"]


def test_immediate_class_needs_no_consumer() -> None:
    world = storage("Immediate")
    claim(world)
    world.advance(5)
    assert get(world, CLAIMS, "data")["status"]["phase"] == "Bound"


def test_nothing_is_provisioned_while_the_provisioner_is_down() -> None:
    world = storage(provisioner=False)
    claim(world)
    select_node(world)
    assert get(world, CLAIMS, "data")["status"]["phase"] == "Pending"
    worker = {"metadata": {"labels": dict([POD_LABEL])}}
    create(world, "pods", "provisioner", {"containers": [{"name": "c", "image": "localpv"}]}, **worker)
    run(world)
    world.advance(5)
    assert get(world, CLAIMS, "data")["status"]["phase"] == "Bound"


@pytest.mark.parametrize(
    ("storage_class", "reason", "message"),
    [
        ("fast-sdd", "ProvisioningFailed", 'storageclass.storage.k8s.io "fast-sdd" not found'),
        (
            "",
            "FailedBinding",
            "no persistent volumes available for this claim and no storage class is set",
        ),
    ],
)
def test_pending_claims_say_why(storage_class: str, reason: str, message: str) -> None:
    world = storage()
    claim(world, storageClassName=storage_class)
    assert said(world, reason) == [message]


def test_smallest_fitting_volume_is_bound() -> None:
    world = storage()
    for name, size in (("small", "500Mi"), ("large", "10Gi"), ("right", "2Gi")):
        volume(world, name, size)
    claim(world, storageClassName="manual")
    assert get(world, CLAIMS, "data")["spec"]["volumeName"] == "right"
    phases = {v["metadata"]["name"]: v["status"]["phase"] for v in world.store.list(VOLUMES)}
    assert phases == {"small": "Available", "large": "Available", "right": "Bound"}


def test_deleted_claim_takes_its_volume_and_the_data_along() -> None:
    world = storage()
    claim(world)
    select_node(world)
    name = get(world, CLAIMS, "data")["spec"]["volumeName"]
    world.volumes[name] = "contents"
    apiserver.delete(world, CLAIMS, "default", "data")
    world.advance(5)
    assert names(world, VOLUMES, None) == []
    assert name not in world.volumes


def test_claim_in_use_stays_until_its_pod_is_gone() -> None:
    world = storage()
    claim(world)
    select_node(world)
    mount = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    create(world, "pods", "user", {"containers": [{"name": "c", "image": "i"}], "volumes": [mount]})
    run(world)
    apiserver.delete(world, CLAIMS, "default", "data")
    world.advance(60)
    assert "deletionTimestamp" in get(world, CLAIMS, "data")["metadata"]
    apiserver.delete(world, "pods", "default", "user")
    run(world)
    assert names(world, CLAIMS) == []


def test_retained_volume_is_released_but_kept() -> None:
    world = storage()
    volume(world, "kept", "2Gi", persistentVolumeReclaimPolicy="Retain")
    claim(world, storageClassName="manual")
    apiserver.delete(world, CLAIMS, "default", "data")
    world.settle()
    assert get(world, VOLUMES, "kept")["status"]["phase"] == "Released"


def test_claim_that_lost_its_volume_says_so() -> None:
    world = storage()
    volume(world, "gone", "2Gi")
    claim(world, storageClassName="manual")
    world.store.remove(VOLUMES, "", "gone")
    world.settle()
    assert get(world, CLAIMS, "data")["status"]["phase"] == "Lost"
    assert said(world, "ClaimLost")


# --- namespaces and garbage ---------------------------------------------------------------------------


def test_namespaces_get_an_account_and_the_root_certificate() -> None:
    world = cluster()
    assert names(world, "serviceaccounts") == ["default"]
    apiserver.delete(world, "configmaps", "default", "kube-root-ca.crt")
    world.settle()
    assert names(world, "configmaps") == ["kube-root-ca.crt"]


def test_deleted_namespace_takes_everything_along() -> None:
    world = cluster("n1")
    create(world, "namespaces", "shop")
    world.settle()
    create(world, DEPLOYMENTS, "web", workload(), metadata={"namespace": "shop"})
    run(world)
    apiserver.delete(world, "namespaces", "", "shop")
    world.settle()
    conditions = {c["type"]: c["message"] for c in get(world, "namespaces", "shop")["status"]["conditions"]}
    assert "pods. has 1 resource instances" in conditions["NamespaceContentRemaining"]
    run(world)
    assert world.store.get("namespaces", "", "shop") is None
    assert all(not world.store.list(resource, "shop") for resource in world.store.resources())


@pytest.mark.parametrize(
    ("propagation", "left"), [("Background", (0, 0)), ("Foreground", (0, 0)), ("Orphan", (1, 2))]
)
def test_deletion_propagates(propagation: Any, left: tuple[int, int]) -> None:
    world = cluster("n1")
    create(world, DEPLOYMENTS, "web", workload(replicas=2))
    run(world)
    apiserver.delete(world, DEPLOYMENTS, "default", "web", propagation=propagation)
    world.settle()
    assert bool(names(world, DEPLOYMENTS)) == (propagation == "Foreground")
    run(world)
    assert names(world, DEPLOYMENTS) == []
    assert (len(names(world, SETS)), len(pods(world))) == left


def test_object_with_an_absent_owner_is_collected() -> None:
    world = cluster()
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "ghost", "uid": "0"}
    create(world, "configmaps", "orphan", metadata={"ownerReferences": [owner]})
    world.settle()
    assert "orphan" not in names(world, "configmaps")


def test_events_are_forgotten_after_an_hour() -> None:
    world = cluster()
    pod = create(world, "pods", "p", {"containers": [{"name": "c", "image": "i"}]})
    events.record(world, pod, "Normal", "First", "", component="test")
    world.advance(1800)
    events.record(world, pod, "Normal", "Second", "", component="test")
    world.advance(1900)
    assert [event["reason"] for event in world.store.list("events")] == ["Second"]
    world.advance(1800)
    assert world.store.list("events") == []


# --- nodes --------------------------------------------------------------------------------------------


def test_silent_node_is_tainted_and_its_pods_are_evicted_in_time() -> None:
    world = cluster("n1", "n2")
    create(world, DEPLOYMENTS, "web", workload())
    run(world)
    heartbeats.fall_silent(world, "n1")
    world.advance(45)
    assert pods(world)[0]["status"]["conditions"][0]["status"] == "True"
    world.advance(10)
    node = get(world, "nodes", "n1")
    ready = node["status"]["conditions"][0]
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert [(t["key"], t["effect"]) for t in node["spec"]["taints"]] == [
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    ]
    assert pods(world)[0]["status"]["conditions"][0]["status"] == "False"
    assert "Node is not ready" in said(world, "NodeNotReady")
    world.advance(290)
    assert "deletionTimestamp" not in pods(world)[0]["metadata"]
    world.advance(15)
    assert any("deletionTimestamp" in pod["metadata"] for pod in pods(world))
    assert len(pods(world)) == 2


def test_cordon_is_a_taint() -> None:
    world = cluster("n1")
    change(world, "nodes", "n1", unschedulable=True)
    world.settle()
    taint = get(world, "nodes", "n1")["spec"]["taints"][0]
    assert (taint["key"], taint["effect"]) == ("node.kubernetes.io/unschedulable", "NoSchedule")
    change(world, "nodes", "n1", unschedulable=False)
    world.settle()
    assert "taints" not in get(world, "nodes", "n1")["spec"]


def test_pods_of_a_removed_node_are_given_up() -> None:
    world = cluster("n1")
    pod = create(world, "pods", "p", {"containers": [{"name": "c", "image": "i"}]})
    set_phase(world, place(world, pod, "n1"), "Running", ready=True)
    apiserver.delete(world, "nodes", "", "n1")
    world.advance(30)
    assert names(world, "pods") == ["p"]
    world.advance(15)
    assert names(world, "pods") == []


def test_two_worlds_from_one_seed_are_the_same() -> None:
    def play() -> list[Any]:
        world = cluster("n1", "n2")
        create(world, DEPLOYMENTS, "web", workload(replicas=3))
        run(world)
        world.advance(30 * SECOND // SECOND)
        return [world.store.list(resource) for resource in world.store.resources()]

    assert play() == play()
