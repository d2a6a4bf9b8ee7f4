"""kr8s, a client that follows kubectl's words, against the served cluster."""

from __future__ import annotations

import threading
import urllib.request
from typing import Any

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.sim.embedded import EmbeddedWorld
from tests.clients.conftest import manifests
from tests.serve.serving import Served

kr8s = pytest.importorskip("kr8s")
objects = pytest.importorskip("kr8s.objects")

NS = "hotel-reservation"

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": NS, "labels": {"app": "web"}},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "c", "image": "busybox:1.36", "command": ["sleep", "3600"]}],
            },
        },
    },
}


@pytest.fixture
def api(server: Served) -> Any:
    return kr8s.api(kubeconfig=str(server.kubeconfig), namespace=NS)


def config_map(api: Any, name: str, **data: str) -> Any:
    metadata = {"name": name, "namespace": NS, "labels": {"suite": "kr8s"}}
    return objects.ConfigMap({"metadata": metadata, "data": data}, api=api)


def frontend(api: Any) -> Any:
    (pod,) = api.get("pods", label_selector={"io.kompose.service": "frontend"})
    return pod


# --- reading ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pods", "po", "Pod", "deployments.apps", "deploy", "services", "svc"])
def test_lists_by_any_name(api: Any, kind: str) -> None:
    found = list(api.get(kind))
    assert len(found) >= 19
    assert all(item.namespace == NS for item in found)


def test_lists_everywhere_and_by_selectors(api: Any) -> None:
    everywhere = list(api.get("pods", namespace=kr8s.ALL))
    assert len(everywhere) > len(list(api.get("pods")))
    running = list(api.get("pods", namespace=kr8s.ALL, field_selector={"status.phase": "Running"}))
    assert 0 < len(running) <= len(everywhere)
    assert [pod.labels["io.kompose.service"] for pod in [frontend(api)]] == ["frontend"]
    assert list(api.get("pods", label_selector="io.kompose.service in (geo,rate)"))


def test_every_kind_of_the_server_is_listed(bare: Served, furnished: EmbeddedWorld) -> None:
    bare.put(furnished.fork(), "real")
    api = kr8s.api(kubeconfig=str(bare.kubeconfig), namespace="furnished")
    kinds = {manifest["kind"] for manifest in manifests()} - {"Event", "ReplicationController"}
    names = {
        resource["kind"]: resource["name"] for resource in api.api_resources() if "list" in resource["verbs"]
    }
    assert kinds <= set(names)
    for kind in sorted(kinds):
        assert list(api.get(names[kind], namespace=kr8s.ALL)), kind


def test_gets_one(api: Any) -> None:
    deployment = objects.Deployment.get("frontend", namespace=NS, api=api)
    assert deployment.ready()
    assert deployment.replicas == 1
    assert [pod.name for pod in deployment.pods()] == [frontend(api).name]
    with pytest.raises(kr8s.NotFoundError):
        objects.Deployment.get("nobody", namespace=NS, api=api)
    assert objects.Service.get("frontend", namespace=NS, api=api).ready()
    assert frontend(api).ready()


def test_who_and_what(api: Any) -> None:
    assert api.version()["gitVersion"].startswith("v1.32.")
    assert api.whoami() == "kubernetes-admin"
    assert {"apps/v1", "v1", "batch/v1"} <= set(api.api_versions())


# --- writing ----------------------------------------------------------------------------------------


def test_a_life(api: Any) -> None:
    made = config_map(api, "a", x="1")
    assert not made.exists()
    made.create()
    assert made.exists()
    with pytest.raises(kr8s.ServerError) as caught:
        config_map(api, "a").create()
    assert caught.value.response.status_code == 409
    made.patch({"data": {"y": "2"}})
    assert dict(made.data) == {"x": "1", "y": "2"}
    made.patch([{"op": "replace", "path": "/data/x", "value": "3"}], type="json")
    made.label(color="blue")
    made.annotate(note="hello")
    made.refresh()
    assert (made.data.x, made.labels.color, made.annotations.note) == ("3", "blue", "hello")
    made.remove_label("color")
    assert "color" not in made.labels
    made.delete()
    made.wait("delete", timeout=60)
    assert not made.exists()


def test_a_deployment_rolls_out(api: Any) -> None:
    web = objects.Deployment(DEPLOYMENT, api=api)
    web.create()
    web.wait("condition=Available", timeout=60)
    web.scale(3)
    web.wait("jsonpath='{.status.readyReplicas}'=3", timeout=60)
    assert len(web.pods()) == 3
    web.patch(
        {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "busybox:1.37"}]}}}},
        type="strategic",
    )
    assert web.spec.template.spec.containers[0].image == "busybox:1.37"
    web.delete(propagation_policy="Foreground")
    web.wait("delete", timeout=60)
    assert not list(api.get("pods", label_selector="app=web"))


def test_pods_wait_for_conditions(api: Any) -> None:
    pod = objects.Pod.gen(
        name="once", image="busybox:1.36", command=["sh", "-c", "echo hello; sleep 1"], restart="Never"
    )
    pod.api, pod.namespace = api, NS
    pod.create()
    pod.wait(["condition=Ready", "jsonpath='{.status.phase}'=Succeeded"], mode="any", timeout=60)
    pod.wait("jsonpath='{.status.phase}'=Succeeded", timeout=60)
    assert list(pod.logs()) == ["hello"]


def test_nodes_are_cordoned_and_tainted(api: Any) -> None:
    node = objects.Node.get("sre-worker", api=api)
    node.cordon()
    node.refresh()
    assert node.unschedulable
    node.uncordon()
    node.taint("key", "value", effect="NoSchedule")
    node.refresh()
    assert ("key", "value") in [(taint["key"], taint.get("value")) for taint in node.taints]


def test_owners(api: Any) -> None:
    parent, child = config_map(api, "parent"), config_map(api, "child")
    parent.create()
    child.create()
    child.set_owner(parent)
    parent.delete()
    child.wait("delete", timeout=60)


def test_custom_resources(bare: Served) -> None:
    api = kr8s.api(kubeconfig=str(bare.kubeconfig), namespace="default")
    definition = next(m for m in manifests() if m["kind"] == "CustomResourceDefinition")
    made = objects.CustomResourceDefinition(definition, api=api)
    made.create()
    made.wait("condition=Established", timeout=60)
    widget_type = kr8s.objects.new_class("Widget", "example.com/v1")
    widget = widget_type({"metadata": {"name": "w", "namespace": "default"}, "spec": {"size": 1}}, api=api)
    widget.create()
    widget.patch({"spec": {"size": 2}})
    assert [item.spec.size for item in api.get("widgets")] == [2]
    widget.delete()


# --- streams ----------------------------------------------------------------------------------------


def test_watches(api: Any) -> None:
    def change() -> None:
        made = config_map(api, "b", x="1")
        made.create()
        made.patch({"data": {"x": "2"}})
        made.delete()

    # What exists is told first: then the watch stands, and nothing that happens from now on is missed.
    config_map(api, "a", x="0").create()
    changing = threading.Thread(target=change)
    seen = []
    for event, obj in api.watch("configmaps", label_selector="suite=kr8s"):
        seen.append((event, obj.data.x))
        if len(seen) == 1:
            changing.start()
        if event == "DELETED":
            break
    changing.join()
    assert seen == [("ADDED", "0"), ("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


def test_logs(api: Any) -> None:
    lines = list(frontend(api).logs(tail_lines=3))
    assert len(lines) == 3
    followed = []
    for line in frontend(api).logs(follow=True, tail_lines=2, timeout=60):
        followed.append(line)
        if len(followed) == 2:
            break
    assert len(followed) == 2


@pytest.mark.parametrize(("script", "code"), [("echo out; echo err >&2", 0), ("exit 3", 3)])
def test_exec(api: Any, script: str, code: int) -> None:
    (pod,) = api.get("pods", label_selector="io.kompose.service=mongodb-geo")
    done = pod.exec(["sh", "-c", script], check=False)
    assert done.returncode == code
    if code == 0:
        assert (done.stdout, done.stderr) == (b"out\n", b"err\n")


def test_exec_that_must_not_fail(api: Any) -> None:
    (pod,) = api.get("pods", label_selector="io.kompose.service=mongodb-geo")
    with pytest.raises((kr8s.ExecError, ExceptionGroup), match=r"non-zero exit code|unhandled errors"):
        pod.exec(["false"])


@pytest.mark.parametrize("through", ["pod", "service"])
def test_port_forward(api: Any, through: str) -> None:
    end = frontend(api) if through == "pod" else objects.Service.get("frontend", namespace=NS, api=api)
    with end.portforward(remote_port=5000, local_port="auto") as port:
        for _ in range(2):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                assert b"<html" in answer.read()


def test_services_are_proxied(api: Any) -> None:
    service = objects.Service.get("frontend", namespace=NS, api=api)
    assert service.proxy_http_get("/", port=5000).status_code == 200


def test_an_incident_is_seen_and_repaired(server: Served) -> None:
    env = SREGymEnv(fault="scale_to_zero", target="geo", raise_errors=True, variation=False)
    env.reset(seed=1)
    world = env.episode.world
    assert isinstance(world, EmbeddedWorld)
    server.put(world, "real")
    api = kr8s.api(kubeconfig=str(server.kubeconfig), namespace=NS)
    idle = [found for found in api.get("deployments") if not found.replicas]
    assert [found.name for found in idle] == ["geo"]
    idle[0].scale(1)
    idle[0].wait("condition=Available", timeout=60)
