"""The official Python client's long conversations: watches, informers, logs, exec, port-forward, leader election."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import EVERYTHING
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


def until(question: Callable[[], Any], seconds: float = 60.0) -> Any:
    """The first true answer. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := question():
            return found
        time.sleep(0.05)
    raise TimeoutError


def pod_of(core: Any, service: str) -> str:
    found = core.list_namespaced_pod(NS, label_selector=f"io.kompose.service={service}")
    return str(found.items[0].metadata.name)


def config_map(name: str, **data: str) -> Any:
    return kubernetes.client.V1ConfigMap(metadata={"name": name, "labels": {"suite": "streams"}}, data=data)


def watched(core: Any, **more: Any) -> list[tuple[str, str]]:
    """What a watch on the suite's ConfigMaps tells until it ends."""
    told = kubernetes.watch.Watch().stream(
        core.list_namespaced_config_map, NS, label_selector="suite=streams", **more
    )
    return [
        (event["type"], "" if event["type"] == "BOOKMARK" else event["object"].metadata.name)
        for event in told
    ]


# --- watches and informers --------------------------------------------------------------------------


def test_a_watch_without_a_version_begins_with_what_there_is(core: Any) -> None:
    core.create_namespaced_config_map(NS, config_map("a"))
    assert watched(core, timeout_seconds=1) == [("ADDED", "a")]


def test_a_watch_goes_on_from_a_version(core: Any) -> None:
    core.create_namespaced_config_map(NS, config_map("a"))
    version = core.list_namespaced_config_map(NS).metadata.resource_version
    core.patch_namespaced_config_map("a", NS, {"data": {"x": "1"}})
    core.create_namespaced_config_map(NS, config_map("b"))
    core.delete_namespaced_config_map("a", NS)
    seen = watched(core, resource_version=version, timeout_seconds=1)
    assert seen == [("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "a")]


def test_bookmarks_close_a_watch(core: Any) -> None:
    seen = watched(core, allow_watch_bookmarks=True, timeout_seconds=1)
    assert seen[-1] == ("BOOKMARK", "")


def test_leaving_a_selector_is_a_deletion(core: Any) -> None:
    core.create_namespaced_config_map(NS, config_map("a"))
    version = core.list_namespaced_config_map(NS).metadata.resource_version
    core.patch_namespaced_config_map("a", NS, {"metadata": {"labels": {"suite": None}}})
    core.patch_namespaced_config_map("a", NS, {"metadata": {"labels": {"suite": "streams"}}})
    seen = watched(core, resource_version=version, timeout_seconds=1)
    assert seen == [("DELETED", "a"), ("ADDED", "a")]


def test_a_forgotten_version_is_gone(core: Any, server: Served) -> None:
    for number in range(9000):
        server.server.hosted.world.store.put(
            "events", {"metadata": {"name": f"e{number % 9}", "namespace": NS}}
        )
    with pytest.raises(kubernetes.client.ApiException) as caught:
        watched(core, resource_version="1", timeout_seconds=1)
    assert caught.value.status == 410


def test_pages(core: Any) -> None:
    names: list[str] = []
    page = core.list_namespaced_pod(NS, limit=7)
    while True:
        names += [pod.metadata.name for pod in page.items]
        going_on = page.metadata._continue
        if not going_on:
            break
        assert page.metadata.remaining_item_count
        page = core.list_namespaced_pod(NS, limit=7, _continue=going_on)
    assert len(names) == len(set(names)) == len(core.list_namespaced_pod(NS).items) > 14


def test_a_shared_informer(core: Any) -> None:
    informers = pytest.importorskip("kubernetes.informer")
    informer = informers.SharedInformer(
        core.list_namespaced_config_map, namespace=NS, label_selector="suite=streams", resync_period=1
    )
    seen: list[tuple[str, str]] = []
    for kind in ("ADDED", "MODIFIED", "DELETED"):
        informer.add_event_handler(kind, lambda obj, kind=kind: seen.append((kind, obj.metadata.name)))
    core.create_namespaced_config_map(NS, config_map("before"))
    informer.start()
    try:
        until(lambda: ("ADDED", "before") in seen)
        core.create_namespaced_config_map(NS, config_map("after"))
        until(lambda: ("ADDED", "after") in seen)
        core.patch_namespaced_config_map("after", NS, {"data": {"x": "1"}})
        until(lambda: ("MODIFIED", "after") in seen)
        core.delete_namespaced_config_map("before", NS)
        until(lambda: ("DELETED", "before") in seen)
        assert informer.cache.list_keys() == [f"{NS}/after"]
    finally:
        informer.stop()


def test_rolling_out_is_watched_to_its_end(client: Any) -> None:
    apps = kubernetes.client.AppsV1Api(client)
    stamp = datetime.now(UTC).isoformat()
    template = {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": stamp}}}
    changed = apps.patch_namespaced_deployment("search", NS, {"spec": {"template": template}})
    watch = kubernetes.watch.Watch()
    for event in watch.stream(
        apps.list_namespaced_deployment, NS, field_selector="metadata.name=search", timeout_seconds=20
    ):
        found = event["object"]
        done = found.status.observed_generation >= changed.metadata.generation
        if done and found.status.updated_replicas == found.status.replicas == found.status.available_replicas:
            watch.stop()
            break
    else:
        pytest.fail("the rollout did not end")


# --- logs, exec, port-forward -----------------------------------------------------------------------


def test_logs(core: Any) -> None:
    name = pod_of(core, "frontend")
    lines = core.read_namespaced_pod_log(name, NS, tail_lines=3).splitlines()
    stamped = core.read_namespaced_pod_log(name, NS, tail_lines=3, timestamps=True).splitlines()
    assert len(lines) == len(stamped) == 3
    assert all(line.endswith(plain) and line[:2] == "20" for plain, line in zip(lines, stamped, strict=True))
    assert len(core.read_namespaced_pod_log(name, NS, limit_bytes=10)) == 10


def test_logs_are_followed(core: Any) -> None:
    core.create_namespaced_pod(
        NS,
        {
            "metadata": {"name": "talker"},
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "c",
                        "image": "busybox:1.36",
                        "command": ["sh", "-c", "for i in 1 2 3; do echo line $i; sleep 1; done"],
                    }
                ],
            },
        },
    )
    until(lambda: core.read_namespaced_pod("talker", NS).status.phase != "Pending")
    told = list(kubernetes.watch.Watch().stream(core.read_namespaced_pod_log, "talker", NS))
    assert told == ["line 1", "line 2", "line 3"]
    until(lambda: core.read_namespaced_pod("talker", NS).status.phase == "Succeeded")


def run(core: Any, command: list[str], **more: Any) -> Any:
    return kubernetes.stream.stream(
        core.connect_get_namespaced_pod_exec,
        pod_of(core, "mongodb-geo"),
        NS,
        command=command,
        **{"stdout": True, "stderr": True, "stdin": False, "tty": False, **more},
    )


def test_exec_answers_at_once(core: Any) -> None:
    assert run(core, ["sh", "-c", "echo one; echo two"]) == "one\ntwo\n"


def test_exec_keeps_the_channels_apart(core: Any) -> None:
    stream = run(core, ["sh", "-c", "echo out; echo err >&2; exit 3"], _preload_content=False)
    stream.run_forever(timeout=60)
    assert (stream.read_stdout(), stream.read_stderr(), stream.returncode) == ("out\n", "err\n", 3)


def test_exec_takes_standard_input(core: Any) -> None:
    stream = run(core, ["head", "-n", "2"], stdin=True, _preload_content=False)
    stream.write_stdin("one\ntwo\n")
    stream.run_forever(timeout=60)
    assert stream.read_stdout() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("pod", "container", "text"),
    [("nobody", "", '"reason":"NotFound"'), ("", "nobody", "container nobody is not valid for pod")],
)
def test_exec_into_what_is_not_there(core: Any, pod: str, container: str, text: str) -> None:
    name = pod or pod_of(core, "mongodb-geo")
    more = {"container": container} if container else {}
    with pytest.raises(kubernetes.client.ApiException) as caught:
        kubernetes.stream.stream(
            core.connect_get_namespaced_pod_exec, name, NS, command=["true"], stdout=True, **more
        )
    assert text in str(caught.value)


def test_a_forwarded_socket_speaks_to_the_pod(core: Any) -> None:
    forward = kubernetes.stream.portforward(
        core.connect_get_namespaced_pod_portforward, pod_of(core, "frontend"), NS, ports="5000"
    )
    sock = forward.socket(5000)
    sock.setblocking(True)
    for path in ("/", "/hotels?inDate=2015-04-09&outDate=2015-04-10&lat=37.7749&lon=-122.4194"):
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += sock.recv(4096)
        head, _, rest = head.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(rest) < length:
            rest += sock.recv(4096)
        assert rest
    sock.close()
    assert forward.error(5000) is None


def test_services_and_pods_are_proxied(core: Any) -> None:
    through_service = core.connect_get_namespaced_service_proxy("frontend:5000", NS)
    assert "<html" in through_service
    assert "<html" in core.connect_get_namespaced_pod_proxy(f"{pod_of(core, 'frontend')}:5000", NS)


# --- what is built on top ---------------------------------------------------------------------------


def test_the_dynamic_client_applies_and_meets_conflicts(client: Any) -> None:
    dynamic = kubernetes.dynamic.DynamicClient(client)
    deployments = dynamic.resources.get(api_version="apps/v1", kind="Deployment")
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{"name": "c", "image": "busybox:1.36", "command": ["sleep", "3600"]}]
                },
            },
        },
    }
    made = deployments.server_side_apply(body=body, namespace=NS, field_manager="one")
    assert made.metadata.generation == 1
    again = deployments.server_side_apply(body=body, namespace=NS, field_manager="one")
    assert again.metadata.resourceVersion
    assert again.metadata.generation == 1
    scaled = {**body, "spec": {**body["spec"], "replicas": 2}}  # type: ignore[dict-item]
    with pytest.raises(kubernetes.dynamic.exceptions.ConflictError) as caught:
        deployments.server_side_apply(body=scaled, namespace=NS, field_manager="two")
    assert 'conflict with "one": .spec.replicas' in json.loads(caught.value.body)["message"]
    forced = deployments.server_side_apply(
        body=scaled, namespace=NS, field_manager="two", force_conflicts=True
    )
    assert forced.spec.replicas == 2
    managers = {entry.manager: entry.operation for entry in forced.metadata.managedFields}
    assert managers["one"] == managers["two"] == "Apply"


def test_the_dynamic_client_watches(client: Any) -> None:
    dynamic = kubernetes.dynamic.DynamicClient(client)
    maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
    version = maps.get(namespace=NS).metadata.resourceVersion
    maps.create(body={"metadata": {"name": "a"}, "data": {"x": "1"}}, namespace=NS)
    maps.patch(body={"data": {"x": "2"}}, name="a", namespace=NS, content_type="application/merge-patch+json")
    maps.delete(name="a", namespace=NS)
    seen = [
        (event["type"], event["object"].data.x)
        for event in maps.watch(namespace=NS, resource_version=version, timeout=1)
    ]
    assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


def test_a_file_of_everything_is_created(bare: Served, client: Any) -> None:
    made = kubernetes.utils.create_from_yaml(client, str(EVERYTHING), namespace="furnished")
    assert len(made) > 40
    apps = kubernetes.client.AppsV1Api(client)
    until(lambda: apps.read_namespaced_deployment("web", "furnished").status.ready_replicas == 2)
    with pytest.raises(kubernetes.utils.FailToCreateError) as caught:
        kubernetes.utils.create_from_yaml(client, str(EVERYTHING), namespace="furnished")
    assert all(error.status == 409 for error in caught.value.api_exceptions)


def test_a_file_is_applied(bare: Served, client: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n")
    for _ in range(2):
        kubernetes.utils.create_from_yaml(client, str(path), namespace="default", apply=True)
    assert kubernetes.client.CoreV1Api(client).read_namespaced_config_map("a", "default").data == {"x": "1"}


def test_metrics(client: Any) -> None:
    nodes = kubernetes.utils.get_nodes_metrics(client)["items"]
    assert all(item["usage"]["cpu"] and item["usage"]["memory"] for item in nodes)
    pods = kubernetes.utils.get_pods_metrics(client, NS)["items"]
    assert len(pods) >= 19


@pytest.mark.parametrize("kind", ["lease", "configmap"])
def test_one_of_two_candidates_leads(client: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    leading = pytest.importorskip("kubernetes.leaderelection.leaderelection")
    from kubernetes.leaderelection import electionconfig

    module = pytest.importorskip(f"kubernetes.leaderelection.resourcelock.{kind}lock")
    lock_type = module.LeaseLock if kind == "lease" else module.ConfigMapLock
    kubernetes.client.Configuration.set_default(client.configuration)
    led: list[str] = []
    ended = threading.Event()

    def candidate(name: str) -> None:
        lock = lock_type("leader", NS, name)
        make: Any = electionconfig.Config
        config = make(
            lock,
            lease_duration=3,
            renew_deadline=2,
            retry_period=1,
            onstarted_leading=lambda: led.append(name),
            onstopped_leading=None,
        )
        election = leading.LeaderElection(config)
        while not ended.is_set():
            election.try_acquire_or_renew()
            record = lock.get("leader", NS)[1]
            if getattr(record, "holder_identity", "") == name:
                led.append(name)
            ended.wait(0.2)

    threads = [threading.Thread(target=candidate, args=(name,), daemon=True) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    try:
        until(lambda: len(led) >= 4)
    finally:
        ended.set()
        for thread in threads:
            thread.join(30)
        kubernetes.client.Configuration.set_default(None)
    assert len(set(led)) == 1


def test_the_version(client: Any) -> None:
    assert kubernetes.client.VersionApi(client).get_code().git_version.startswith("v1.32.")


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_a_kubeconfig_of_nobody_is_refused(server: Served) -> None:
    config = kubernetes.client.Configuration()
    config.host = server.server.url
    config.verify_ssl = False
    config.api_key = {"authorization": "Bearer wrong"}
    with (
        kubernetes.client.ApiClient(config) as stranger,
        pytest.raises(kubernetes.client.ApiException) as caught,
    ):
        kubernetes.client.CoreV1Api(stranger).list_namespaced_pod(NS)
    assert caught.value.status == 401
