"""What is malformed is refused as the real kubectl and API server refuse it; nothing is applied in silence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube import gojson
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl

MAP = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}'
KEY = "looking for beginning of object key string"


@pytest.fixture(scope="module")
def world() -> EmbeddedWorld:
    return bare_cluster()


@pytest.mark.parametrize(
    ("patch", "type", "why"),
    [
        ("{'metadata':{'labels':{'a':'b'}}}", "strategic", rf"invalid character '\'' {KEY}"),
        ("{metadata: {labels: {a: b}}}", "strategic", f"invalid character 'm' {KEY}"),
        ('{"metadata":{"labels":{"a":"b"}},}', "strategic", f"invalid character '}}' {KEY}"),
        ('{"metadata":{"labels":{"a":"b"}}', "strategic", "unexpected end of JSON input"),
        ('{"metadata":{}} x', "strategic", "invalid character 'x' after top-level value"),
        ('{"a": tru}', "merge", "error decoding patch: invalid character '}' in literal true (expecting 'e')"),
        ("[1]", "merge", "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("[1]", "strategic", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("{}", "json", "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        ("x", "json", "json: cannot unmarshal string into Go value of type jsonpatch.Patch"),
        ("[3]", "json", "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
    ],
)  # fmt: skip
def test_a_patch_that_is_none_is_a_bad_request(world: EmbeddedWorld, patch: str, type: str, why: str) -> None:
    fork = world.fork()
    before = fork.store.revision
    done = Kubectl(fork.cluster).run(["patch", "ns", "default", f"--type={type}", "-p", patch])
    assert (done.stdout, done.stderr, done.exit_code) == ("", f"Error from server (BadRequest): {why}\n", 1)
    assert fork.store.revision == before


@pytest.mark.parametrize(
    "patch", ["metadata: {labels: {a: b}}", '  {"metadata":{"labels":{"a":"b"}}}\n', "- x"]
)
def test_yaml_and_json_are_patches(world: EmbeddedWorld, patch: str) -> None:
    done = Kubectl(world.fork().cluster).run(["patch", "ns", "default", "-p", patch])
    assert (done.stdout == "namespace/default patched\n") is ("labels" in patch)


@pytest.mark.parametrize(
    ("type", "why"),
    [
        ("strategic", "invalid JSON document"), ("merge", "Invalid JSON Patch"),
        ("json", rf"invalid character '\'' {KEY}"),
    ],
)  # fmt: skip
def test_kubectl_refuses_by_itself_what_it_carries_out_itself(
    world: EmbeddedWorld, type: str, why: str
) -> None:
    line = ["patch", "ns", "default", f"--type={type}", "--dry-run=client", "-p", "{'a': 1}"]
    assert Kubectl(world.cluster).run(line).stderr == f"error: {why}\n"


@pytest.mark.parametrize("verb", ["create", "apply", "replace", "delete"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{{{MAP},}}", f"json: offset 63: invalid character '}}' {KEY}"),
        (MAP.replace('"', "'").join("{}"), rf"json: offset 2: invalid character '\'' {KEY}"),
        ("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", f"json: offset 2: invalid character 'a' {KEY}"),
        (f"{{{MAP}", "unexpected EOF"),
    ],
)  # fmt: skip
def test_what_begins_with_a_brace_is_json_or_nothing(
    world: EmbeddedWorld, verb: str, text: str, why: str
) -> None:
    done = Kubectl(world.fork().cluster).run([verb, "-f", "-"], text)
    assert (done.stdout, done.stderr, done.exit_code) == ("", f"error: error parsing STDIN: {why}\n", 1)


def test_objects_before_the_mistake_are_created(world: EmbeddedWorld) -> None:
    done = Kubectl(world.fork().cluster).run(["create", "-f", "-"], f"{{{MAP}}}\n---\nkind: Pod\n")
    assert done.stdout == "configmap/x created\n"
    assert (
        done.stderr
        == "error: error parsing STDIN: json: offset 65: invalid character '-' in numeric literal\n"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=3), max_size=4),
    st.sampled_from(["", " ", "\n"]),
)
def test_a_stream_of_json_is_read_value_by_value(found: list[object], between: str) -> None:
    stream = between.join(json.dumps(each) for each in found)
    assert [json.loads(each) for each in gojson.values(stream.encode())] == found


@given(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=3), st.data())
def test_a_stream_that_is_cut_off_ends_unexpectedly(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(ValueError, match=r"unexpected EOF|json: offset"):
        list(gojson.values(text[:cut].encode()))


# --- what was asked for, and by which command -----------------------------------------------------------------------


def test_kinds_are_told_apart_by_what_was_asked_for(world: EmbeddedWorld) -> None:
    kubectl = Kubectl(world.cluster, "kube-system")
    one = kubectl.run(["get", "deploy", "--no-headers"]).stdout.splitlines()
    two = kubectl.run(["get", "deploy,sts", "--no-headers"]).stdout.splitlines()
    assert len(one) == len(two)
    assert all(
        b.startswith("deployment.apps/") and not a.startswith("deploy") for a, b in zip(one, two, strict=True)
    )
    named = kubectl.run(["get", "deploy,sts", "coredns", "--no-headers"])
    assert named.stdout.startswith("coredns ")  # only one of them answered
    assert named.stderr == 'Error from server (NotFound): statefulsets.apps "coredns" not found\n'
    assert kubectl.run(["get", "all", "coredns"]).stderr == "error: you must specify only one resource\n"


RECORDED = "Flag --record has been deprecated, --record will be removed in the future\n"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("set image deploy/coredns coredns=x:1 --record", "kubectl set image deploy/coredns coredns=x:1 --record=true"),
        ("scale deploy coredns --replicas=3 --record=true", "kubectl scale deploy coredns --replicas=3 --record=true"),
        ("label deploy coredns a=b --record -n kube-system", "kubectl label deploy coredns a=b --record=true --namespace=kube-system"),
        ("annotate deploy coredns a=b --record", "kubectl annotate deploy coredns a=b --record=true"),
        ("patch deploy coredns --record -p {\"spec\":{\"replicas\":4}}", "kubectl patch deploy coredns --record=true --patch={\"spec\":{\"replicas\":4}}"),
        ("set resources deploy coredns --limits=cpu=1 --record=false", None),
    ],
)  # fmt: skip
def test_a_change_is_recorded_where_that_is_asked_for(
    world: EmbeddedWorld, line: str, cause: str | None
) -> None:
    kubectl = Kubectl(world.fork().cluster, "kube-system")
    done = kubectl.run(line.split())
    assert (done.exit_code, done.stderr) == (0, RECORDED)
    notes = kubectl.cluster.get("deployments.apps", "coredns", "kube-system")["metadata"]["annotations"]
    assert notes.get("kubernetes.io/change-cause") == cause


@pytest.mark.parametrize(
    "line", ["get pods --record", "delete pod x --record", "create configmap c --record"]
)
def test_what_records_nothing_takes_no_record(world: EmbeddedWorld, line: str) -> None:
    assert "unknown flag: --record" in Kubectl(world.cluster).run(line.split()).stderr


# --- raw paths ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        ("/healthz", "ok"), ("/livez/ping", "ok"), ("/readyz?verbose", "[+]ping ok\n[+]log ok\n"), ("/readyz/etcd-readiness", "ok"),
        ("/api/v1/nodes/sre-worker/proxy/healthz", "ok"), ("/api/v1/nodes/https:sre-worker:10250/proxy/healthz", "ok"),
        ("/api/v1/nodes/sre-worker/proxy/stats/summary", '{\n "node": {\n  "nodeName": "sre-worker"'),
        ("/api/v1/nodes/sre-worker/proxy/metrics", "# HELP kubelet_node_name"),
        ("/api/v1/nodes/sre-worker/proxy/metrics/resource", "# HELP container_memory_working_set_bytes"),
        ("/api/v1/nodes/sre-worker/proxy/pods", '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{'),
        ("/apis/apps/v1/namespaces/kube-system/deployments/coredns/scale", '{"kind":"Scale","apiVersion":"autoscaling/v1"'),
    ],
)  # fmt: skip
def test_raw_paths_an_engineer_looks_at(world: EmbeddedWorld, path: str, begins: str) -> None:
    done = Kubectl(world.cluster).run(["get", "--raw", path])
    assert (done.stderr, done.exit_code) == ("", 0)
    assert done.stdout.startswith(begins)


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/nothing", 'forbidden: User "jane" cannot get path "/nothing"'),
        ("/metrics", 'forbidden: User "jane" cannot get path "/metrics"'),
        ("/api/v1/bogus", 'bogus is forbidden: User "jane" cannot list resource "bogus" in API group "" at the cluster scope'),
        (
            "/apis/apps/v1/namespaces/x/bogus/y",
            'bogus.apps "y" is forbidden: User "jane" cannot get resource "bogus" in API group "apps" in the namespace "x"',
        ),
        (
            "/api/v1/nodes/nowhere/proxy/metrics",
            'nodes "nowhere" is forbidden: User "jane" cannot get resource "nodes/proxy" in API group "" at the cluster scope',
        ),
    ],
)  # fmt: skip
def test_who_may_not_ask_is_not_told_what_there_is(world: EmbeddedWorld, path: str, what: str) -> None:
    done = Kubectl(world.cluster).run(["get", "--raw", path, "--as=jane"])
    assert (done.stdout, done.stderr) == ("", f"Error from server (Forbidden): {what}\n")
    anybody = Kubectl(world.cluster).run(["get", "--raw", path])
    assert anybody.stderr.startswith("Error from server (NotFound): ") or path == "/metrics"
