"""The API server as a pod reaches it: certificates, tokens, permissions."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sregym_env.sim.embedded import EmbeddedWorld
from tests.sim.admission.webhook_world import pod, world_with_webhook

SERVER = "https://kubernetes.default.svc"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


@pytest.fixture(scope="module")
def world() -> EmbeddedWorld:
    made = world_with_webhook()
    made.cluster.create(pod("idle"))
    made.advance(20)
    return made


def run(world: EmbeddedWorld, script: str) -> tuple[str, int]:
    done = world.cluster.exec("default", "idle", ["sh", "-c", script])
    return done.stdout + done.stderr, done.exit_code


def test_its_certificate_is_vouched_for_by_the_mounted_authority(world: EmbeddedWorld) -> None:
    assert run(world, f"curl -s --cacert {ACCOUNT}/ca.crt {SERVER}/healthz") == ("ok", 0)
    assert run(world, f"curl -s --cacert {ACCOUNT}/ca.crt https://10.96.0.1/livez") == ("ok", 0)
    text, code = run(world, f"curl {SERVER}/healthz")
    assert code == 60
    assert text.startswith("curl: (60) SSL certificate problem: unable to get local issuer certificate")
    later = world.fork()
    later.advance(400 * 86_400)
    text, code = run(later, f"curl --cacert {ACCOUNT}/ca.crt {SERVER}/healthz")
    assert (code, "certificate has expired" in text) == (60, True)


def test_strangers_learn_little(world: EmbeddedWorld) -> None:
    assert orjson.loads(run(world, f"curl -sk {SERVER}/version")[0])["gitVersion"] == "v1.32.5"
    answer = orjson.loads(run(world, f"curl -sk {SERVER}/api/v1/namespaces/default/pods")[0])
    assert (answer["code"], answer["reason"]) == (403, "Forbidden")
    assert answer["message"] == (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace '
        '"default"'
    )
    answer = orjson.loads(run(world, f"curl -sk -H 'Authorization: Bearer nonsense' {SERVER}/api")[0])
    assert (answer["code"], answer["message"]) == (401, "Unauthorized")


def test_a_token_stands_for_its_account(world: EmbeddedWorld) -> None:
    ask = (
        f'curl -sk -H "Authorization: Bearer $(cat {ACCOUNT}/token)" {SERVER}/api/v1/namespaces/default/pods'
    )
    answer = orjson.loads(run(world, ask)[0])
    assert 'User "system:serviceaccount:default:default" cannot list resource "pods"' in answer["message"]
    allowed = world.fork()
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": "default"}
    allowed.cluster.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "view", "namespace": "default"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "view"},
            "subjects": [subject],
        }
    )
    answer = orjson.loads(run(allowed, ask)[0])
    assert (answer["kind"], [item["metadata"]["name"] for item in answer["items"]]) == ("PodList", ["idle"])
    one = orjson.loads(run(allowed, f"{ask}/idle")[0])
    assert (one["kind"], one["status"]["phase"]) == ("Pod", "Running")
    assert run(allowed, f"{ask}/idle/log")[0] == "Paused\n"
    assert orjson.loads(run(allowed, f"{ask}/nobody")[0])["message"] == 'pods "nobody" not found'
    assert orjson.loads(run(allowed, ask.replace("curl", "curl -X POST -d {}"))[0])["code"] == 403


@pytest.fixture
def editing(world: EmbeddedWorld) -> EmbeddedWorld:
    """The default account may edit its namespace."""
    allowed = world.fork()
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": "default"}
    allowed.cluster.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "edit", "namespace": "default"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "edit"},
            "subjects": [subject],
        }
    )
    return allowed


def call(
    world: EmbeddedWorld, method: str, path: str, body: str = "", media: str = "application/json"
) -> Any:
    data = f"-d '{body}' -H 'Content-Type: {media}'" if body else ""
    asked = f'curl -sk -X {method} {data} -H "Authorization: Bearer $(cat {ACCOUNT}/token)" {SERVER}{path}'
    return orjson.loads(run(world, asked)[0])


MAPS = "/api/v1/namespaces/default/configmaps"


def test_it_is_written_to(editing: EmbeddedWorld) -> None:
    made = call(editing, "POST", MAPS, '{"metadata":{"name":"m"},"data":{"a":"1"}}')
    assert (made["kind"], made["metadata"]["namespace"], made["data"]) == ("ConfigMap", "default", {"a": "1"})
    again = call(editing, "POST", MAPS, '{"metadata":{"name":"m"}}')
    assert (again["code"], again["reason"]) == (409, "AlreadyExists")
    merged = call(editing, "PATCH", f"{MAPS}/m", '{"data":{"b":"2"}}', "application/merge-patch+json")
    assert merged["data"] == {"a": "1", "b": "2"}
    removed = call(
        editing, "PATCH", f"{MAPS}/m", '[{"op":"remove","path":"/data/a"}]', "application/json-patch+json"
    )
    assert removed["data"] == {"b": "2"}
    put = call(editing, "PUT", f"{MAPS}/m", '{"metadata":{"name":"m"},"data":{"c":"3"}}')
    assert put["data"] == {"c": "3"}
    assert editing.cluster.get("configmaps", "m", "default")["data"] == {"c": "3"}
    gone = call(editing, "DELETE", f"{MAPS}/m")
    assert (gone["status"], gone["details"]["name"]) == ("Success", "m")
    assert call(editing, "GET", f"{MAPS}/m")["reason"] == "NotFound"


def test_server_side_apply_and_scale_from_a_pod(editing: EmbeddedWorld) -> None:
    body = '{"metadata":{"name":"applied"},"data":{"x":"y"}}'
    path = f"{MAPS}/applied?fieldManager=me"
    assert call(editing, "PATCH", f"{MAPS}/applied", body, "application/apply-patch+yaml")["code"] == 422
    assert call(editing, "PATCH", path, body, "application/apply-patch+yaml")["data"] == {"x": "y"}
    labels = {"app": "d"}
    editing.cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod()["spec"]},
            },
        }
    )
    path = "/apis/apps/v1/namespaces/default/deployments/d/scale"
    scaled = call(editing, "PATCH", path, '{"spec":{"replicas":2}}', "application/merge-patch+json")
    assert (scaled["kind"], scaled["spec"]["replicas"]) == ("Scale", 2)
    editing.advance(20)
    assert editing.cluster.get("deployments.apps", "d", "default")["status"]["replicas"] == 2
    left = call(editing, "DELETE", "/api/v1/namespaces/default/pods?labelSelector=app%3Dd")
    assert (left["kind"], len(left["items"])) == ("PodList", 2)


def test_writes_need_permission_and_a_body_that_can_be_read(
    world: EmbeddedWorld, editing: EmbeddedWorld
) -> None:
    refused = call(world, "DELETE", "/api/v1/namespaces/default/pods/idle")
    assert refused["message"] == (
        'pods "idle" is forbidden: User "system:serviceaccount:default:default" cannot delete resource "pods" in '
        'API group "" in the namespace "default"'
    )
    assert call(editing, "POST", "/api/v1/namespaces/kube-system/configmaps", "{}")["code"] == 403
    assert call(editing, "POST", MAPS, "{}", "application/x-www-form-urlencoded")["code"] == 415
    assert call(editing, "POST", MAPS, "{")["code"] == 400
    assert call(editing, "POST", MAPS, '{"kind":"Pod"}')["code"] == 400
    assert call(editing, "POST", MAPS, '{"metadata":{"name":"x","namespace":"other"}}')["code"] == 400
    assert call(editing, "PATCH", f"{MAPS}/m", "{}", "application/json")["code"] == 415
    assert call(editing, "PUT", f"{MAPS}/m", '{"metadata":{"name":"n"}}')["code"] == 400
    assert call(editing, "POST", f"{MAPS}/m", "{}")["code"] == 405


def test_a_file_as_the_body(editing: EmbeddedWorld) -> None:
    script = (
        'echo \'{"metadata": {"name": "f"},\' > /tmp/b; echo \'"data": {}}\' >> /tmp/b; '
        f'curl -sk -d @/tmp/b -H "Content-Type: application/json" '
        f'-H "Authorization: Bearer $(cat {ACCOUNT}/token)" {SERVER}{MAPS}'
    )
    assert orjson.loads(run(editing, script)[0])["metadata"]["name"] == "f"
    assert run(editing, f"curl -sk -d @/none {SERVER}") == ("curl: Failed to open /none\n", 26)
