"""The official Python client: its models are strict about every required field and type."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.serving import Served

kubernetes = pytest.importorskip("kubernetes")

NS = "hotel-reservation"


@pytest.fixture
def client(server: Served) -> Iterator[Any]:
    made = kubernetes.config.new_client_from_config(str(server.kubeconfig))
    yield made
    made.close()


@pytest.fixture
def core(client: Any) -> Any:
    return kubernetes.client.CoreV1Api(client)


@pytest.fixture
def apps(client: Any) -> Any:
    return kubernetes.client.AppsV1Api(client)


def pod_of(core: Any, service: str) -> str:
    found = core.list_namespaced_pod(NS, label_selector=f"io.kompose.service={service}")
    return str(found.items[0].metadata.name)


LISTS = (
    ("CoreV1Api", "pod service endpoints config_map secret service_account event node namespace persistent_volume "
     "persistent_volume_claim resource_quota limit_range replication_controller pod_template"),
    ("AppsV1Api", "deployment replica_set daemon_set stateful_set controller_revision"),
    ("BatchV1Api", "job cron_job"),
    ("NetworkingV1Api", "ingress network_policy ingress_class"),
    ("RbacAuthorizationV1Api", "role role_binding cluster_role cluster_role_binding"),
    ("StorageV1Api", "storage_class csi_driver csi_node volume_attachment"),
    ("PolicyV1Api", "pod_disruption_budget"),
    ("AutoscalingV2Api", "horizontal_pod_autoscaler"),
    ("CoordinationV1Api", "lease"),
    ("DiscoveryV1Api", "endpoint_slice"),
    ("SchedulingV1Api", "priority_class"),
    ("AdmissionregistrationV1Api", "mutating_webhook_configuration validating_webhook_configuration"),
    ("ApiextensionsV1Api", "custom_resource_definition"),
)  # fmt: skip


@pytest.mark.parametrize(("api", "kind"), [(api, kind) for api, kinds in LISTS for kind in kinds.split()])
def test_every_list_satisfies_the_models(client: Any, api: str, kind: str) -> None:
    calls = getattr(kubernetes.client, api)(client)
    call = getattr(calls, f"list_{kind}_for_all_namespaces", None) or getattr(calls, f"list_{kind}")
    for item in call().items:
        assert item.metadata.uid


def test_a_deployment_lives_and_dies(core: Any, apps: Any) -> None:
    models = kubernetes.client
    container = models.V1Container(name="c", image="busybox:1.36", command=["sleep", "3600"])
    labels = {"app": "web"}
    template = models.V1PodTemplateSpec(
        metadata=models.V1ObjectMeta(labels=labels), spec=models.V1PodSpec(containers=[container])
    )
    spec = models.V1DeploymentSpec(
        replicas=1, selector=models.V1LabelSelector(match_labels=labels), template=template
    )
    made = apps.create_namespaced_deployment(
        NS, models.V1Deployment(metadata=models.V1ObjectMeta(name="web"), spec=spec)
    )
    assert made.metadata.generation == 1
    patched = apps.patch_namespaced_deployment("web", NS, {"spec": {"replicas": 2}})
    assert patched.spec.replicas == 2
    scale = apps.read_namespaced_deployment_scale("web", NS)
    scale.spec.replicas, scale.metadata.resource_version = 1, None  # whatever the controller wrote meanwhile
    assert apps.replace_namespaced_deployment_scale("web", NS, scale).spec.replicas == 1
    deadline = time.monotonic() + 60
    while not (apps.read_namespaced_deployment("web", NS).status.available_replicas or 0):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    gone = apps.delete_namespaced_deployment("web", NS)
    assert gone["status"] == "Success"
    with pytest.raises(kubernetes.client.ApiException) as caught:
        apps.read_namespaced_deployment("web", NS)
    assert caught.value.status == 404


@pytest.mark.parametrize("resource", ["pod", "service", "service_account"])
def test_deletes_that_answer_with_the_object(core: Any, resource: str) -> None:
    item = getattr(core, f"list_namespaced_{resource}")(NS).items[0]
    gone = getattr(core, f"delete_namespaced_{resource}")(item.metadata.name, NS)
    assert gone.metadata.name == item.metadata.name


def test_logs(core: Any) -> None:
    text = core.read_namespaced_pod_log(pod_of(core, "frontend"), NS, tail_lines=2)
    assert len(text.splitlines()) == 2


def test_a_watch_follows_changes(core: Any) -> None:
    version = core.list_namespaced_config_map(NS).metadata.resource_version
    body = kubernetes.client.V1ConfigMap(metadata=kubernetes.client.V1ObjectMeta(name="a"), data={"x": "1"})

    def change() -> None:
        core.create_namespaced_config_map(NS, body)
        core.delete_namespaced_config_map("a", NS)

    timer = threading.Timer(0.1, change)
    timer.start()
    seen = []
    for event in kubernetes.watch.Watch().stream(
        core.list_namespaced_config_map, NS, resource_version=version, timeout_seconds=60
    ):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            break
    timer.join()
    assert seen == [("ADDED", "a"), ("DELETED", "a")]


@pytest.mark.parametrize(("script", "code"), [("echo out; echo err >&2", 0), ("exit 3", 3)])
def test_exec(core: Any, script: str, code: int) -> None:
    stream = kubernetes.stream.stream(
        core.connect_get_namespaced_pod_exec,
        pod_of(core, "mongodb-geo"),
        NS,
        command=["sh", "-c", script],
        stdout=True,
        stderr=True,
        stdin=False,
        tty=False,
        _preload_content=False,
    )
    stream.run_forever(timeout=60)
    assert stream.returncode == code
    if code == 0:
        assert (stream.read_stdout(), stream.read_stderr()) == ("out\n", "err\n")


def test_exec_with_standard_input(core: Any) -> None:
    stream = kubernetes.stream.stream(
        core.connect_get_namespaced_pod_exec,
        pod_of(core, "mongodb-geo"),
        NS,
        command=["cat"],
        stdout=True,
        stdin=True,
        _preload_content=False,
    )
    stream.write_stdin("hello\n")
    stream.run_forever(timeout=60)
    assert stream.read_stdout() == "hello\n"


def test_the_dynamic_client(client: Any) -> None:
    dynamic = kubernetes.dynamic.DynamicClient(client)
    deployments = dynamic.resources.get(api_version="apps/v1", kind="Deployment")
    assert deployments.get(name="frontend", namespace=NS).spec.replicas == 1
    maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}
    assert maps.create(body=body, namespace=NS).data.x == "1"
    changed = {**body, "data": {"x": "2"}}
    with pytest.raises(
        kubernetes.dynamic.exceptions.ConflictError, match=r"conflict with .*OpenAPI-Generator"
    ):
        maps.server_side_apply(body=changed, namespace=NS, field_manager="me")
    maps.server_side_apply(body=changed, namespace=NS, field_manager="me", force_conflicts=True)
    assert maps.get(name="a", namespace=NS).data.x == "2"


def test_the_version(client: Any) -> None:
    assert kubernetes.client.VersionApi(client).get_code().minor == "32"


def test_a_refused_request_carries_a_status(core: Any) -> None:
    with pytest.raises(kubernetes.client.ApiException) as caught:
        core.create_namespaced_config_map(NS, {"metadata": {"name": "Bad_Name"}})
    assert caught.value.status == 422
    assert "a lowercase RFC 1123 subdomain" in caught.value.body


def test_port_forward(core: Any) -> None:
    name = pod_of(core, "frontend")
    forward = kubernetes.stream.portforward(
        core.connect_get_namespaced_pod_portforward, name, NS, ports="5000"
    )
    sock = forward.socket(5000)
    sock.setblocking(True)
    sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    received = b""
    while b"</html>" not in received:
        part = sock.recv(4096)
        assert part, received
        received += part
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    sock.close()
