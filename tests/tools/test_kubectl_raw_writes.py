"""``--raw`` of ``create``, ``replace`` and ``delete``: a body as it is, sent to a path, and what the server says."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

import pytest

from sregym_env.cluster.identity import User
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl

MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENT = "/apis/apps/v1/namespaces/kube-system/deployments/coredns"
MAP = '{"kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1"}}'
BAD_REQUEST = "Error from server (BadRequest): "
UNRECOGNIZED = f"{BAD_REQUEST}the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "


class Files:
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def read_text(self, path: str) -> str:
        if path not in self._texts:
            raise FileNotFoundError(path)
        return self._texts[path]

    def list_files(self, path: str) -> list[str]:
        return []


@pytest.fixture
def world() -> EmbeddedWorld:
    return bare_cluster()


def typed(world: EmbeddedWorld, line: str, stdin: str = "", user: User | None = None) -> tuple[str, str, int]:
    cluster = world.cluster if user is None else world.cluster.as_user(user)
    done = Kubectl(cluster).run(shlex.split(line), stdin, Files({"map.json": MAP}))
    return done.stdout, done.stderr, done.exit_code


def test_an_object_lives_and_dies(world: EmbeddedWorld) -> None:
    made = json.loads(typed(world, f"create -f map.json --raw {MAPS}")[0])
    assert (made["kind"], made["metadata"]["namespace"], made["data"]) == ("ConfigMap", "default", {"x": "1"})
    assert made["metadata"]["managedFields"][0]["manager"] == "kubectl"
    put = json.loads(typed(world, f"replace -f - --raw {MAPS}/a", MAP.replace('"1"', '"2"'))[0])
    assert (put["data"], put["metadata"]["uid"]) == ({"x": "2"}, made["metadata"]["uid"])
    gone = json.loads(typed(world, f"delete --raw {MAPS}/a")[0])
    assert (gone["status"], gone["details"]["uid"]) == ("Success", made["metadata"]["uid"])
    assert typed(world, "get cm a")[2] == 1


@pytest.mark.parametrize(
    ("line", "stdin", "said"),
    [
        (f"create -f - --raw {MAPS}", "a: b", f"{UNRECOGNIZED}invalid character 'a' looking for beginning of value (613a2062)"),
        (f"create -f - --raw {MAPS}", '{"kind":', f'{UNRECOGNIZED}unexpected end of JSON input ({{"kind":)'),
        (f"create -f - --raw {MAPS}", "", f"{UNRECOGNIZED}unexpected end of JSON input (<empty>)"),
        ("create -f map.json --raw /api/v1/namespaces/default/services", "", f'{BAD_REQUEST}ConfigMap in version "v1" cannot be handled as a Service'),
        (f"create -f map.json --raw {MAPS}/a", "", "Error from server (MethodNotAllowed): the server does not allow this method on the requested resource"),
        (f"replace -f map.json --raw {MAPS}", "", "Error from server (MethodNotAllowed): the server does not allow this method on the requested resource"),
        (f"replace -f map.json --raw {MAPS}/b", "", f"{BAD_REQUEST}the name of the object (a) does not match the name on the URL (b)"),
        (f"replace -f map.json --raw {MAPS}/a", "", 'Error from server (NotFound): configmaps "a" not found'),
        (f"delete --raw {MAPS}/a", "", 'Error from server (NotFound): configmaps "a" not found'),
        ("delete --raw /nothing", "", "Error from server (NotFound): the server could not find the requested resource"),
        ("delete --raw /api/v1/deployments/x", "", "Error from server (NotFound): the server could not find the requested resource"),
        ("create -f map.json --raw /apis", "", "Error from server (MethodNotAllowed): the server does not allow this method on the requested resource"),
        ("create -f map.json --raw api", "", 'error: --raw must be a valid URL path: parse "api": invalid URI for request'),
        ("create -f map.json -f map.json --raw /api", "", "error: --raw can only use a single local file or stdin"),
        ("create -f nope.json --raw /api", "", "error: open nope.json: no such file or directory"),
        ("create -f http://a/b --raw /api", "", "error: --raw cannot read from a url"),
        ("create -f map.json --raw /api -o yaml", "", "error: --raw and --output are mutually exclusive"),
        ("create -f map.json --raw /api -R", "", "error: --raw and --recursive are mutually exclusive"),
        ("create -f map.json --raw /api --edit", "", "error: --raw and --edit are mutually exclusive"),
        ("replace --raw /api", "", "error: must specify one of -f and -k"),
    ],
)  # fmt: skip
def test_refusals(world: EmbeddedWorld, line: str, stdin: str, said: str) -> None:
    before = world.digest()
    assert typed(world, line, stdin) == ("", f"{said}\n", 1)
    assert world.digest() == before


def test_how_something_is_deleted_stands_in_the_body(world: EmbeddedWorld) -> None:
    wrong = typed(world, f"delete -f - --raw {DEPLOYMENT}", '{"propagationPolicy":"x"}')
    assert wrong[1].startswith('The DeleteOptions "" is invalid: propagationPolicy: Unsupported value: "x"')
    left = json.loads(typed(world, f"delete -f - --raw {DEPLOYMENT}", '{"propagationPolicy":"Orphan"}')[0])
    assert left["metadata"]["finalizers"] == ["orphan"]
    world.advance(5)
    assert typed(world, "get deploy coredns -n kube-system")[2] == 1
    assert typed(world, "get rs -n kube-system -l k8s-app=kube-dns -o name")[0]


def test_a_collection_is_deleted(world: EmbeddedWorld) -> None:
    typed(world, f"create -f map.json --raw {MAPS}")
    found = json.loads(typed(world, f"delete --raw {MAPS}")[0])
    assert (found["kind"], {each["metadata"]["name"] for each in found["items"]}) == (
        "ConfigMapList",
        {"a", "kube-root-ca.crt"},
    )
    assert typed(world, "get cm a")[2] == 1


def test_a_part_is_not_the_whole(world: EmbeddedWorld) -> None:
    """What is sent through a node is for its kubelet, and no part of an object can be deleted."""
    before = world.digest()
    assert typed(world, "delete --raw /api/v1/nodes/sre-worker/proxy/healthz") == ("ok", "", 0)
    for part in ("status", "log"):
        refused = typed(world, f"delete --raw /api/v1/namespaces/kube-system/pods/x/{part}")
        assert refused[1].startswith("Error from server (MethodNotAllowed)")
    assert world.digest() == before


def test_a_pod_is_evicted(world: EmbeddedWorld) -> None:
    name = (
        typed(world, "get pods -n kube-system -l k8s-app=kube-dns -o name")[0].split()[0].removeprefix("pod/")
    )
    path = f"/api/v1/namespaces/kube-system/pods/{name}/eviction"
    _, errors, code = typed(world, f"create -f - --raw {path}", f'{{"metadata":{{"name":"{name}"}}}}')
    assert (errors, code) == ("", 0)
    world.advance(60)
    assert name not in typed(world, "get pods -n kube-system -o name")[0]


def test_a_namespace_that_hangs_is_let_go(world: EmbeddedWorld) -> None:
    """What engineers paste when a namespace stays Terminating."""
    typed(world, "create namespace stuck")
    stuck = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"stuck"},"spec":{"finalizers":["kubernetes","example.com/x"]}}'
    typed(world, "replace -f - --raw /api/v1/namespaces/stuck/finalize", stuck)
    typed(world, "delete namespace stuck --wait=false")
    world.advance(60)
    assert typed(world, "get namespace stuck -o jsonpath={.status.phase}")[0] == "Terminating"
    freed = stuck.replace('"kubernetes","example.com/x"', "")
    typed(world, "replace -f - --raw /api/v1/namespaces/stuck/finalize", freed)
    world.advance(5)
    assert typed(world, "get namespace stuck")[2] == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"create -f map.json --raw {MAPS}", 'configmaps is forbidden: User "jane" cannot create resource "configmaps"'),
        (f"replace -f map.json --raw {MAPS}/a", 'configmaps "a" is forbidden: User "jane" cannot update resource "configmaps"'),
        (f"delete --raw {MAPS}/a", 'configmaps "a" is forbidden: User "jane" cannot delete resource "configmaps"'),
        (f"delete --raw {MAPS}", 'configmaps is forbidden: User "jane" cannot deletecollection resource "configmaps"'),
        ("delete --raw /nothing", 'forbidden: User "jane" cannot delete path "/nothing"'),
        ("replace -f map.json --raw /api/v1/namespaces/default/finalize", 'namespaces "default" is forbidden: User "jane" cannot update resource "namespaces/finalize"'),
    ],
)  # fmt: skip
def test_who_may_not_write_is_refused(world: EmbeddedWorld, line: str, said: str) -> None:
    before = world.digest()
    out, errors, code = typed(world, line, user=User("jane", ("system:authenticated",)))
    assert (out, code) == ("", 1)
    assert errors.startswith(f"Error from server (Forbidden): {said}")
    assert world.digest() == before
