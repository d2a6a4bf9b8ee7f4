"""The API server as a pod reaches it: certificates, tokens, permissions."""

from __future__ import annotations

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
    assert orjson.loads(run(allowed, ask.replace("curl", "curl -X POST -d {}"))[0])["code"] == 405
