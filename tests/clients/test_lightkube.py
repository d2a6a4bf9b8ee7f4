"""lightkube, a typed client over httpx, against the served cluster."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sregym_env.sim.embedded import EmbeddedWorld
from tests.clients.conftest import EVERYTHING, manifests
from tests.serve.serving import Served

lightkube = pytest.importorskip("lightkube")

from lightkube import codecs, generic_resource  # noqa: E402
from lightkube.config.kubeconfig import KubeConfig  # noqa: E402
from lightkube.core.exceptions import ApiError  # noqa: E402
from lightkube.models.apps_v1 import DeploymentSpec  # noqa: E402
from lightkube.models.autoscaling_v1 import ScaleSpec  # noqa: E402
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec  # noqa: E402
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta  # noqa: E402
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition  # noqa: E402
from lightkube.resources.apps_v1 import Deployment, DeploymentScale, DeploymentStatus  # noqa: E402
from lightkube.resources.core_v1 import ConfigMap, Node, Pod, PodEviction, Service  # noqa: E402
from lightkube.types import CascadeType, PatchType  # noqa: E402

NS = "hotel-reservation"


def connected(served: Served, namespace: str = NS) -> Any:
    config = KubeConfig.from_file(str(served.kubeconfig))
    return lightkube.Client(config=config, namespace=namespace, field_manager="suite")


@pytest.fixture
def client(server: Served) -> Iterator[Any]:
    with connected(server) as made:
        yield made


def config_map(name: str, **data: str) -> Any:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=NS, labels={"suite": "lightkube"}), data=data)


def deployment(replicas: int = 1) -> Any:
    labels = {"app": "web"}
    container = Container(name="c", image="busybox:1.36", command=["sleep", "3600"])
    return Deployment(
        apiVersion="apps/v1",
        kind="Deployment",
        metadata=ObjectMeta(name="web", namespace=NS),
        spec=DeploymentSpec(
            replicas=replicas,
            selector=LabelSelector(matchLabels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[container])
            ),
        ),
    )


# --- reading ----------------------------------------------------------------------------------------


def test_lists(client: Any) -> None:
    pods = list(client.list(Pod))
    assert len(pods) >= 19
    paged = list(client.list(Pod, chunk_size=6))
    assert [pod.metadata.name for pod in paged] == [pod.metadata.name for pod in pods]
    assert len(list(client.list(Pod, namespace="*"))) > len(pods)
    listed = client.list(Pod)
    assert next(iter(listed)).metadata.name
    assert listed.resourceVersion.isdigit()
    assert len(list(client.list(Node))) == 4


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"io.kompose.service": "geo"}, {"geo"}),
        ({"io.kompose.service": ("geo", "rate")}, {"geo", "rate"}),
        ({"io.kompose.service": None}, None),
    ],
)
def test_selects(client: Any, labels: dict[str, Any], expected: set[str] | None) -> None:
    found = {(pod.metadata.labels or {}).get("io.kompose.service") for pod in client.list(Pod, labels=labels)}
    assert found == expected if expected else len(found) >= 19
    others = client.list(Pod, fields={"status.phase": "Pending"})
    assert not list(others)


@pytest.mark.parametrize("manifest", manifests(), ids=lambda m: f"{m['kind']}-{m['metadata']['name']}")
def test_every_kind_is_read_into_its_model(
    running: Served, furnished: EmbeddedWorld, manifest: dict[str, Any]
) -> None:
    running.put(furnished.fork(), "real")
    metadata = manifest["metadata"]
    with connected(running) as client:
        model = type(codecs.from_dict(manifest))
        place = {"namespace": metadata["namespace"]} if "namespace" in metadata else {}
        got = client.get(model, metadata["name"], **place)
        assert (got.metadata.name, got.kind) == (metadata["name"], manifest["kind"])
        assert got.to_dict()["metadata"]["uid"]
        assert client.replace(got).metadata.uid == got.metadata.uid


def test_errors_carry_a_status(client: Any) -> None:
    with pytest.raises(ApiError) as caught:
        client.get(Pod, "nobody")
    assert (caught.value.status.code, caught.value.status.reason) == (404, "NotFound")
    details: Any = caught.value.status.details
    assert details.name == "nobody"
    with pytest.raises(ApiError) as refused:
        client.create(config_map("Bad_Name"))
    details = refused.value.status.details
    assert details.causes[0].field == "metadata.name"


# --- writing ----------------------------------------------------------------------------------------


def test_a_life(client: Any) -> None:
    made = client.create(config_map("a", x="1"))
    made.data["x"] = "2"
    replaced = client.replace(made)
    with pytest.raises(ApiError) as caught:
        client.replace(made)
    assert caught.value.status.reason == "Conflict"
    assert client.patch(ConfigMap, "a", {"data": {"y": "3"}}, patch_type=PatchType.MERGE).data == {
        "x": "2",
        "y": "3",
    }
    change = [{"op": "remove", "path": "/data/y"}]
    assert client.patch(ConfigMap, "a", change, patch_type=PatchType.JSON).data == {"x": "2"}
    assert replaced.metadata.uid == made.metadata.uid
    client.delete(ConfigMap, "a")
    with pytest.raises(ApiError):
        client.get(ConfigMap, "a")


def test_collections_are_deleted(client: Any) -> None:
    for name in ("a", "b"):
        client.create(config_map(name))
    client.deletecollection(ConfigMap)
    assert not list(client.list(ConfigMap, labels={"suite": "lightkube"}))


def test_a_deployment_rolls_out(client: Any) -> None:
    client.create(deployment())
    client.wait(Deployment, "web", for_conditions=["Available"])
    scaled = client.replace(
        DeploymentScale(metadata=ObjectMeta(name="web", namespace=NS), spec=ScaleSpec(replicas=2)), "web"
    )
    assert scaled.spec.replicas == 2
    assert client.get(DeploymentScale, "web").spec.replicas == 2
    assert client.get(DeploymentStatus, "web").status
    image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "busybox:1.37"}]}}}}
    patched = client.patch(Deployment, "web", image)
    (container,) = patched.spec.template.spec.containers
    assert (container.image, container.command) == ("busybox:1.37", ["sleep", "3600"])
    client.delete(Deployment, "web", cascade=CascadeType.FOREGROUND)


def test_applies_and_meets_conflicts(client: Any) -> None:
    applied = client.apply(deployment(1), field_manager="one")
    assert applied.spec.replicas == 1
    with pytest.raises(ApiError) as caught:
        client.apply(deployment(2), field_manager="two")
    assert caught.value.status.reason == "Conflict"
    details: Any = caught.value.status.details
    assert details.causes[0].field == ".spec.replicas"
    forced = client.apply(deployment(2), field_manager="two", force=True)
    assert forced.spec.replicas == 2
    owners = {entry.manager for entry in forced.metadata.managedFields if entry.operation == "Apply"}
    assert owners == {"one", "two"}


def test_dry_runs(client: Any) -> None:
    assert client.create(config_map("a", x="1"), dry_run=True).data == {"x": "1"}
    with pytest.raises(ApiError):
        client.get(ConfigMap, "a")


def test_a_file_of_everything_is_applied(bare: Served) -> None:
    with connected(bare, "furnished") as client:
        for found in codecs.load_all_yaml(EVERYTHING.read_text(), create_resources_for_crds=True):
            client.apply(found, force=True)
        client.wait(Deployment, "web", for_conditions=["Available"], namespace="furnished")


def test_evictions(client: Any) -> None:
    name = next(iter(client.list(Pod, labels={"io.kompose.service": "search"}))).metadata.name
    client.create(PodEviction(metadata=ObjectMeta(name=name, namespace=NS)), name)
    assert client.get(Pod, name).metadata.deletionTimestamp


def test_custom_resources(bare: Served) -> None:
    with connected(bare, "default") as client:
        definition = codecs.from_dict(next(m for m in manifests() if m["kind"] == "CustomResourceDefinition"))
        client.create(definition)
        client.wait(CustomResourceDefinition, "widgets.example.com", for_conditions=["Established"])
        widget_type: Any = generic_resource.create_namespaced_resource(
            "example.com", "v1", "Widget", "widgets"
        )
        made = client.create(widget_type(metadata={"name": "w"}, spec={"size": 1}))
        assert made.metadata.generation == 1
        patched = client.patch(widget_type, "w", {"spec": {"size": 2}}, patch_type=PatchType.MERGE)
        assert patched.spec["size"] == 2
        status = client.patch(
            widget_type.Status, "w", {"status": {"ready": True}}, patch_type=PatchType.MERGE
        )
        assert status.status["ready"]
        assert [item.metadata.name for item in client.list(widget_type)] == ["w"]
        client.delete(widget_type, "w")


# --- streams ----------------------------------------------------------------------------------------


def test_watches(client: Any) -> None:
    listed = client.list(ConfigMap)
    assert list(listed)
    version = listed.resourceVersion

    def change() -> None:
        client.create(config_map("a", x="1"))
        client.patch(ConfigMap, "a", {"data": {"x": "2"}})
        client.delete(ConfigMap, "a")

    changing = threading.Timer(0.1, change)
    changing.start()
    watching = client.watch(
        ConfigMap, labels={"suite": "lightkube"}, resource_version=version, server_timeout=60
    )
    seen = []
    for event, obj in watching:
        seen.append((event, obj.data["x"]))
        if event == "DELETED":
            break
    changing.join()
    assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


def test_logs(client: Any) -> None:
    name = next(iter(client.list(Pod, labels={"io.kompose.service": "frontend"}))).metadata.name
    lines = list(client.log(name, tail_lines=3))
    assert len(lines) == 3
    followed = client.log(name, follow=True, tail_lines=3)
    assert next(iter(followed)).strip()


@pytest.mark.parametrize(("script", "code"), [("echo out; echo err >&2", 0), ("exit 3", 3)])
def test_exec(client: Any, script: str, code: int) -> None:
    name = next(iter(client.list(Pod, labels={"io.kompose.service": "mongodb-geo"}))).metadata.name
    done = client.exec(name, command=["sh", "-c", script], stdout=True, stderr=True)
    assert done.exit_code == code
    if code == 0:
        assert (done.stdout, done.stderr) == ("out\n", "err\n")


def test_exec_takes_standard_input(client: Any) -> None:
    name = next(iter(client.list(Pod, labels={"io.kompose.service": "mongodb-geo"}))).metadata.name
    assert client.exec(name, command=["head", "-n", "1"], stdin="one\ntwo\n", stdout=True).stdout == "one\n"


def test_services(client: Any) -> None:
    assert client.get(Service, "frontend").spec.clusterIP
