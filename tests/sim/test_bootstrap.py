"""The base cluster comes up by itself, and then costs nothing for weeks."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.cluster.app import Binary, Image
from sregym_env.cluster.oncall import ONCALL
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.runtime.clock import DAY, EPOCH, MINUTE
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import rbac
from sregym_env.sim.bringup import populate
from sregym_env.sim.bringup.assembly import CONTROLLERS
from sregym_env.sim.containers import images
from sregym_env.sim.machines import kubelet, nodes
from sregym_env.sim.world import Machinery, SimWorld
from tests.sim.kubelet_world import Behaviour, behaviour, condition

__all__ = ["behaviour"]


MACHINERY = Machinery.of(
    CONTROLLERS,
    {**kubelet.HANDLERS, "traffic": lambda world: world.memory.pop("traffic.due", None)},
)


def _image(reference: str, name: str) -> Image:
    return Image(reference, 30_000_000, {name: Binary("daemon")}, entrypoint=(name,))


IMAGES = {
    reference: _image(reference, name)
    for reference, name in (
        (populate.COREDNS_IMAGE, "coredns"),
        (populate.KUBE_PROXY_IMAGE, "/usr/local/bin/kube-proxy"),
        (populate.ETCD_IMAGE, "etcd"),
        (populate.CALICO_NODE_IMAGE, "calico-node"),
        (populate.CALICO_CONTROLLERS_IMAGE, "kube-controllers"),
        (populate.METRICS_IMAGE, "metrics-server"),
        (populate.LOCALPV_IMAGE, "provisioner-localpv"),
        *((f"registry.k8s.io/{n}:{nodes.VERSION}", n) for n in populate.CONTROL_PLANE_COMPONENTS),
    )
}


@pytest.fixture
def world(behaviour: Behaviour) -> SimWorld:
    made = SimWorld(0, start=EPOCH - 41 * DAY, machinery=MACHINERY, images=IMAGES)
    populate.populate(made)
    made.advance(900)
    return made


def test_every_system_pod_is_ready(world: SimWorld) -> None:
    pods = world.store.list("pods")
    assert len(pods) == 17
    assert all(condition(pod, "Ready")["status"] == "True" for pod in pods)
    names = {pod["metadata"]["name"] for pod in pods}
    assert "etcd-sre-control-plane" in names
    assert not [event for event in world.store.list("events") if event["type"] == "Warning"]


def test_the_daemons_run_on_every_node(world: SimWorld) -> None:
    for name in ("kube-proxy", "calico-node"):
        found = world.store.get("daemonsets.apps", "kube-system", name)
        assert found is not None
        assert found["status"]["numberAvailable"] == 4


def test_dns_pods_stand_apart_behind_the_well_known_address(world: SimWorld) -> None:
    service = world.store.get("services", "kube-system", "kube-dns")
    assert service is not None
    assert service["spec"]["clusterIP"] == "10.96.0.10"
    dns = [
        p for p in world.store.list("pods") if p["metadata"].get("labels", {}).get("k8s-app") == "kube-dns"
    ]
    assert len({pod["spec"]["nodeName"] for pod in dns}) == 2
    assert all(pod["spec"]["priority"] == 2000000000 for pod in dns)


def test_weeks_pass_without_work_and_leave_no_events(world: SimWorld) -> None:
    world.run_until(EPOCH)
    assert world.store.list("events") == []
    assert len(world.queue) == 0
    assert world.store.get("namespaces", "", "default") is not None


def test_every_namespace_has_its_defaults(world: SimWorld) -> None:
    for namespace in populate.NAMESPACES:
        assert world.store.get("serviceaccounts", namespace, "default") is not None
        assert world.store.get("configmaps", namespace, "kube-root-ca.crt") is not None


@pytest.mark.parametrize(
    ("verb", "group", "resource", "namespace", "allowed"),
    [
        ("delete", "", "pods", "default", True),
        ("create", "", "pods/exec", "kube-system", True),
        ("patch", "apps", "deployments", "default", True),
        ("patch", "", "nodes", "", True),
        ("delete", "", "nodes", "", False),
        ("delete", "", "namespaces", "", False),
        ("create", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", "", False),
        ("delete", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", "", True),
        ("create", "rbac.authorization.k8s.io", "clusterrolebindings", "", False),
        ("create", "authorization.k8s.io", "selfsubjectaccessreviews", "", True),
    ],
)
def test_what_the_engineer_may_do(
    world: SimWorld, verb: str, group: str, resource: str, namespace: str, allowed: bool
) -> None:
    user = ONCALL
    granted = any(grant.allows(verb, group, resource, namespace, "x") for grant in rbac.grants(world, user))
    assert granted is allowed


def test_a_node_that_falls_silent_and_comes_back(world: SimWorld) -> None:
    stopped = world.now()
    nodes.stop(world, "sre-worker")
    world.advance(70)
    node = world.store.get("nodes", "", "sre-worker")
    assert node is not None
    assert condition(node, "Ready")["reason"] == "NodeStatusUnknown"
    silent = nodes.present(world, node)
    last = parse_rfc3339(condition(silent, "Ready")["lastHeartbeatTime"])
    assert stopped - 5 * MINUTE < last <= stopped
    nodes.start(world, "sre-worker")
    world.advance(10)
    node = world.store.get("nodes", "", "sre-worker")
    assert node is not None
    assert condition(node, "Ready")["reason"] == "KubeletReady"
    assert not (node["spec"].get("taints") or [])
    here = [pod for pod in world.store.list("pods") if pod["spec"].get("nodeName") == "sre-worker"]
    assert all(condition(pod, "Ready")["status"] == "True" for pod in here)


def listed(world: SimWorld, name: str) -> list[dict[str, Any]]:
    """The images that a node's status names."""
    node = world.store.get("nodes", "", name)
    assert node is not None
    found: list[dict[str, Any]] = nodes.present(world, node)["status"]["images"]
    return found


@pytest.mark.parametrize("name", [machine.name for machine in nodes.MACHINES])
def test_a_node_lists_the_images_of_its_pods(world: SimWorld, name: str) -> None:
    """Largest first, by digest and then by tag; what the pods' statuses say of them is the same."""
    found = listed(world, name)
    sizes = [entry["sizeBytes"] for entry in found]
    assert sizes == sorted(sizes, reverse=True)
    tags = {entry["names"][0]: entry["names"][1] for entry in found}
    ran = {
        (status["imageID"], status["image"])
        for pod in world.store.list("pods")
        if pod["spec"].get("nodeName") == name
        for status in pod["status"]["containerStatuses"]
    }
    assert ran | {(images.image_id(nodes.PAUSE), nodes.PAUSE)} == set(tags.items())
    stored = world.store.get("nodes", "", name)
    assert stored is not None
    assert "images" not in stored["status"]


def test_sizes_are_those_that_pulls_tell(world: SimWorld) -> None:
    told = {
        int(text.rpartition("Image size: ")[2].split()[0])
        for event in world.store.list("events")
        if (text := event.get("message", "")).startswith("Successfully pulled") and "kube-proxy" in text
    }
    shown = {
        entry["sizeBytes"]
        for entry in listed(world, "sre-worker")
        if populate.KUBE_PROXY_IMAGE in entry["names"]
    }
    assert shown
    assert told <= shown


def test_an_image_is_found_by_its_digest(world: SimWorld) -> None:
    by_digest = images.image_id(populate.KUBE_PROXY_IMAGE)
    assert images.find(world.images, by_digest) is images.find(world.images, populate.KUBE_PROXY_IMAGE)
    assert images.image_id(by_digest) == by_digest
    assert images.find(world.images, by_digest[:-4] + "0000") is None


@pytest.mark.parametrize("grace", [None, 0])
def test_a_static_pod_cannot_be_got_rid_of(world: SimWorld, grace: int | None) -> None:
    name = "kube-scheduler-sre-control-plane"
    before = world.store.get("pods", "kube-system", name)
    apiserver.delete(world, "pods", "kube-system", name, grace=grace)
    world.advance(60)
    after = world.store.get("pods", "kube-system", name)
    assert before is not None
    assert after is not None
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert condition(after, "Ready")["status"] == "True"
    assert (before["metadata"]["uid"], "kube-scheduler") not in world.processes


def test_bootstrap_is_deterministic(behaviour: Behaviour) -> None:
    def names(seed: int) -> list[str]:
        made = SimWorld(seed, start=EPOCH - 41 * DAY, machinery=MACHINERY, images=IMAGES)
        populate.populate(made)
        made.advance(60)
        return [f"{p['metadata']['name']} {p['status'].get('podIP')}" for p in made.store.list("pods")]

    assert names(3) == names(3)
    assert names(3) != names(4)
