"""The scheduler finds the right node, or says in one sentence why there is none."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.scheduler import filters
from sregym_env.sim.world import SimWorld
from tests.sim.kubelet_world import Behaviour, behaviour, condition, create, events, get, new_world, pod

__all__ = ["behaviour"]

TAINTED = "1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"
NO_HELP = "preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
NO_VICTIMS = (
    "preemption: 0/4 nodes are available: 1 Preemption is not helpful for scheduling, "
    "3 No preemption victims found for incoming pod."
)


def requests(**amounts: str) -> dict[str, Any]:
    return {"resources": {"requests": amounts}}


def required(key: str, *values: str) -> dict[str, Any]:
    expression = {"key": key, "operator": "In", "values": list(values)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def company(kind: str, labels: dict[str, str]) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def labelled(manifest: Manifest, **labels: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def claim(name: str, **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec},
    }


def with_claim(name: str) -> Manifest:
    return pod(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}])


def storage_class(world: SimWorld, mode: str) -> None:
    manifest = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "openebs.io/local",
        "volumeBindingMode": mode,
    }
    apiserver.create(world, "storageclasses.storage.k8s.io", manifest)


@pytest.mark.parametrize(
    ("manifest", "why", "clause"),
    [
        (pod(container=requests(cpu="100")), f"{TAINTED}, 3 Insufficient cpu", NO_VICTIMS),
        (
            pod(container=requests(cpu="100", memory="100Gi")),
            f"{TAINTED}, 3 Insufficient cpu, 3 Insufficient memory",
            NO_VICTIMS,
        ),
        (
            pod(container=requests(**{"example.com/gpu": "1"}) | {"name": "main"}),
            f"{TAINTED}, 3 Insufficient example.com/gpu",
            NO_VICTIMS,
        ),
        (
            pod(nodeSelector={"disk": "ssd"}),
            f"{TAINTED}, 3 node(s) didn't match Pod's node affinity/selector",
            NO_HELP,
        ),
        (
            pod(affinity=required("kubernetes.io/hostname", "elsewhere")),
            f"{TAINTED}, 3 node(s) didn't match Pod's node affinity/selector",
            NO_HELP,
        ),
        (
            pod(affinity=company("podAffinity", {"a": "b"})),
            f"{TAINTED}, 3 node(s) didn't match pod affinity rules",
            NO_HELP,
        ),
        (with_claim("nothing"), 'persistentvolumeclaim "nothing" not found', NO_HELP),
    ],
)
def test_the_sentence(behaviour: Behaviour, manifest: Manifest, why: str, clause: str) -> None:
    world = new_world()
    if "example.com/gpu" in str(manifest):
        limits = {"limits": {"example.com/gpu": "1"}}
        container = manifest["spec"]["containers"][0]
        resources = {**container["resources"], **limits}
        manifest = {
            **manifest,
            "spec": {**manifest["spec"], "containers": [{**container, "resources": resources}]},
        }
    create(world, manifest)
    world.advance(1)
    text = f"0/4 nodes are available: {why}. {clause}"
    assert events(world, "FailedScheduling") == [text]
    scheduled = condition(get(world), "PodScheduled")
    assert (scheduled["status"], scheduled["reason"], scheduled["message"]) == (
        "False",
        "Unschedulable",
        text,
    )
    world.advance(3600)
    assert len(world.queue) == 0


def test_cordoned_nodes(behaviour: Behaviour) -> None:
    world = new_world()
    for node in world.store.list("nodes"):
        apiserver.update(world, "nodes", {**node, "spec": {**node["spec"], "unschedulable": True}})
    create(world, pod())
    world.advance(1)
    text = f"0/4 nodes are available: 4 node(s) were unschedulable. {NO_HELP}"
    assert events(world, "FailedScheduling") == [text]
    node = world.store.get("nodes", "", "sre-worker2")
    assert node is not None
    spec = {key: value for key, value in node["spec"].items() if key != "unschedulable"}
    apiserver.update(world, "nodes", {**node, "spec": spec})
    world.advance(5)
    assert get(world)["spec"]["nodeName"] == "sre-worker2"
    assert events(world, "Scheduled") == ["Successfully assigned default/web to sre-worker2"]


def test_no_nodes(behaviour: Behaviour) -> None:
    world = new_world()
    for name in ("sre-control-plane", "sre-worker", "sre-worker2", "sre-worker3"):
        apiserver.delete(world, "nodes", "", name)
    create(world, pod())
    world.advance(1)
    assert events(world, "FailedScheduling") == ["no nodes available to schedule pods"]


def test_pods_spread_over_the_workers(behaviour: Behaviour) -> None:
    world = new_world()
    for index in range(9):
        create(world, pod(f"web-{index}"))
        world.advance(1)
    placed = [get(world, f"web-{index}")["spec"]["nodeName"] for index in range(9)]
    assert sorted(placed) == sorted(["sre-worker", "sre-worker2", "sre-worker3"] * 3)


def test_anti_affinity_holds_both_ways(behaviour: Behaviour) -> None:
    world = new_world()
    for index in range(3):
        apart = pod(f"web-{index}", affinity=company("podAntiAffinity", {"app": "web"}))
        create(world, labelled(apart, app="web"))
        world.advance(1)
    assert len({get(world, f"web-{index}")["spec"]["nodeName"] for index in range(3)}) == 3
    create(world, labelled(pod("plain"), app="web"))
    create(world, labelled(pod("fourth", affinity=company("podAntiAffinity", {"app": "web"})), app="web"))
    world.advance(1)
    assert sorted(events(world, "FailedScheduling")) == [
        f"0/4 nodes are available: {TAINTED}, 3 node(s) didn't match pod anti-affinity rules. {NO_VICTIMS}",
        f"0/4 nodes are available: {TAINTED}, 3 node(s) didn't satisfy existing pods anti-affinity rules. {NO_VICTIMS}",
    ]


def test_company_is_found_later(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod(affinity=company("podAffinity", {"app": "db"})))
    world.advance(2)
    create(world, labelled(pod("db"), app="db"))
    world.advance(5)
    assert get(world)["spec"]["nodeName"] == get(world, "db")["spec"]["nodeName"]


def test_host_ports(behaviour: Behaviour) -> None:
    world = new_world()
    ports = {"ports": [{"containerPort": 80, "hostPort": 80}]}
    for index in range(4):
        create(world, pod(f"web-{index}", container=ports))
        world.advance(1)
    assert (
        f"{TAINTED}, 3 node(s) didn't have free ports for the requested pod ports"
        in events(world, "FailedScheduling")[0]
    )


def test_topology_spread(behaviour: Behaviour) -> None:
    world = new_world()
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    create(world, labelled(pod(topologySpreadConstraints=[constraint]), app="web"))
    world.advance(1)
    missing = "3 node(s) didn't match pod topology spread constraints (missing required label)"
    assert missing in events(world, "FailedScheduling")[0]


def test_freed_resources_are_taken(behaviour: Behaviour) -> None:
    world = new_world()
    for index in range(4):
        create(world, pod(f"web-{index}", container=requests(cpu="5")))
        world.advance(1)
    assert "nodeName" not in get(world, "web-3")["spec"]
    apiserver.delete(world, "pods", "default", "web-0", grace=0)
    world.advance(5)
    assert get(world, "web-3")["spec"]["nodeName"]


def test_preemption(behaviour: Behaviour) -> None:
    world = new_world()
    urgent = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }
    apiserver.create(world, "priorityclasses.scheduling.k8s.io", urgent)
    for index in range(3):
        create(world, pod(f"web-{index}", container=requests(cpu="5")))
        world.advance(3)
    create(world, pod("vip", container=requests(cpu="5"), priorityClassName="urgent"))
    world.advance(15)
    assert get(world, "vip")["spec"].get("nodeName")
    uid = get(world, "vip")["metadata"]["uid"]
    node = get(world, "vip")["spec"]["nodeName"]
    assert events(world, "Preempted") == [f"Preempted by pod {uid} on node {node}"]
    assert len(world.store.list("pods", "default")) == 3


def test_preemption_spares_what_a_budget_protects(behaviour: Behaviour) -> None:
    world = new_world()
    urgent = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }
    apiserver.create(world, "priorityclasses.scheduling.k8s.io", urgent)
    for index in range(3):
        kind = "cheap" if index == 2 else "precious"
        create(world, labelled(pod(f"web-{index}", container=requests(cpu="5")), kind=kind))
        world.advance(3)
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "default"},
        "spec": {"minAvailable": "100%", "selector": {"matchLabels": {"kind": "precious"}}},
    }
    apiserver.create(world, "poddisruptionbudgets.policy", budget)
    create(world, pod("vip", container=requests(cpu="5"), priorityClassName="urgent"))
    world.advance(15)
    assert world.store.get("pods", "default", "web-2") is None
    assert get(world, "vip")["spec"].get("nodeName")


def test_preemption_policy_never(behaviour: Behaviour) -> None:
    world = new_world()
    patient = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "patient"},
        "value": 1000,
        "preemptionPolicy": "Never",
    }
    apiserver.create(world, "priorityclasses.scheduling.k8s.io", patient)
    create(world, pod(container=requests(cpu="100"), priorityClassName="patient"))
    world.advance(1)
    text = "preemption: not eligible due to preemptionPolicy=Never."
    assert events(world, "FailedScheduling")[0].endswith(text)


def test_unbound_immediate_claims(behaviour: Behaviour) -> None:
    world = new_world()
    storage_class(world, "Immediate")
    apiserver.create(world, "persistentvolumeclaims", claim("data", storageClassName="local"))
    create(world, with_claim("data"))
    world.advance(1)
    text = f"0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims. {NO_HELP}"
    assert events(world, "FailedScheduling") == [text]


def test_a_late_bound_claim_is_told_its_node_and_waited_for(behaviour: Behaviour) -> None:
    world = new_world()
    storage_class(world, "WaitForFirstConsumer")
    apiserver.create(world, "persistentvolumeclaims", claim("data", storageClassName="local"))
    create(world, with_claim("data"))
    world.advance(5)
    found = world.store.get("persistentvolumeclaims", "default", "data")
    assert found is not None
    node = found["metadata"]["annotations"]["volume.kubernetes.io/selected-node"]
    assert "nodeName" not in get(world)["spec"]
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv-1"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/data"},
            "storageClassName": "local",
            "nodeAffinity": {
                "required": required("kubernetes.io/hostname", node)["nodeAffinity"][
                    "requiredDuringSchedulingIgnoredDuringExecution"
                ]
            },
        },
    }
    apiserver.create(world, "persistentvolumes", volume)
    bound = {**found, "spec": {**found["spec"], "volumeName": "pv-1"}, "status": {"phase": "Bound"}}
    world.store.put("persistentvolumeclaims", bound)
    world.advance(5)
    assert get(world)["spec"]["nodeName"] == node


def test_volume_affinity_conflict(behaviour: Behaviour) -> None:
    world = new_world()
    terms = required("kubernetes.io/hostname", "gone")["nodeAffinity"]
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv-1"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/data"},
            "nodeAffinity": {"required": terms["requiredDuringSchedulingIgnoredDuringExecution"]},
        },
    }
    apiserver.create(world, "persistentvolumes", volume)
    made = apiserver.create(world, "persistentvolumeclaims", claim("data", volumeName="pv-1"))
    apiserver.update_status(world, "persistentvolumeclaims", "default", "data", {"phase": "Bound"})
    assert made
    create(world, with_claim("data"))
    world.advance(1)
    why = f"{TAINTED}, 3 node(s) had volume node affinity conflict"
    assert events(world, "FailedScheduling") == [f"0/4 nodes are available: {why}. {NO_HELP}"]


def test_gates_and_other_schedulers(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod("gated", schedulingGates=[{"name": "wait"}]))
    create(world, pod("foreign", schedulerName="mine"))
    world.advance(5)
    assert condition(get(world, "gated"), "PodScheduled")["reason"] == "SchedulingGated"
    assert "conditions" not in get(world, "foreign")["status"]


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "a", "operator": "Exists"}, True),
        ({"key": "a", "value": "b"}, True),
        ({"key": "a", "value": "c"}, False),
        ({"key": "a", "value": "b", "effect": "NoExecute"}, False),
        ({"key": "z", "operator": "Exists"}, False),
    ],
)
def test_tolerations(toleration: dict[str, Any], tolerated: bool) -> None:
    taint = {"key": "a", "value": "b", "effect": "NoSchedule"}
    assert filters.tolerates(toleration, taint) is tolerated
