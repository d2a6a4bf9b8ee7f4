"""Custom resources as real clients see them: kubectl byte for byte like the one in process, the dynamic client."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import yaml

from sregym_env.serve.app import Application
from sregym_env.serve.message import Request, Response
from sregym_env.sim.embedded import EmbeddedWorld
from tests.parity.harness import Case, Sides, sides
from tests.serve.serving import NAMESPACE, Served, real_kubectl
from tests.sim.custom_widgets import CRD, widget


def _widget(name: str = "w", **spec: Any) -> dict[str, Any]:
    made = widget(name, **spec)
    del made["metadata"]["namespace"]
    return made


FILES = {
    "crd.yaml": yaml.safe_dump(CRD),
    "bigger.yaml": yaml.safe_dump(_widget(size=4)),
    "smaller.yaml": yaml.safe_dump(_widget(size=2)),
    "invalid.yaml": yaml.safe_dump(_widget("x", size="a", tags=["a", "a"])),
    "unknown.yaml": yaml.safe_dump(_widget("x", size=1, foo=1)),
    "denied.yaml": yaml.safe_dump(_widget("x", size=99)),
    "beta.yaml": yaml.safe_dump({**_widget("x"), "apiVersion": "example.com/v1beta1"}),
    "rule.yaml": yaml.safe_dump(CRD).replace("self.size <= self.max", "self.sizes <= self.max"),
    "policy.yaml": """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p2}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "objekt.data == null"}]
""",
}
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "size(object.data) < 2", message: too much}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
"""

LINES = """
get wd
get widgets.v1beta1.example.com w -o yaml
get wd w -o wide
get wd w -o json
get crd widgets.example.com -o yaml
get wd w --subresource=scale
get wd w --subresource=scale -o yaml
get wd w --subresource=status
describe wd w
describe crd widgets.example.com
explain wd
explain wd.spec
explain wd.spec.mode
explain wd --recursive
api-resources --api-group=example.com -o wide
api-versions
get wd --field-selector spec.mode=slow
get wd --field-selector spec.size=3
apply -f bigger.yaml
apply -f smaller.yaml
apply -f invalid.yaml
apply -f unknown.yaml
apply -f unknown.yaml --validate=warn
apply -f denied.yaml
apply -f beta.yaml
apply -f rule.yaml
apply -f policy.yaml
apply --server-side -f bigger.yaml
diff -f bigger.yaml
scale wd w --replicas=4
patch wd w -p '{"spec":{"size":5}}'
patch wd w --type=merge --subresource=status -p '{"status":{"ready":"a"}}'
label wd w a=b
delete wd w
delete crd widgets.example.com
rollout status wd/w
get --raw /apis/example.com/v1
create cm c --from-literal=a=b --from-literal=c=d
create cm c --from-literal=a=b
get validatingadmissionpolicies,validatingadmissionpolicybindings
""".strip().splitlines()


@pytest.fixture(scope="module")
def prepared(settled: EmbeddedWorld) -> EmbeddedWorld:
    """A world with a definition, one object of it and a policy."""
    world = settled.fork()
    world.cluster.create(CRD)
    world.advance(2)
    world.cluster.create(_widget(), namespace=NAMESPACE)
    for manifest in yaml.safe_load_all(POLICY):
        world.cluster.create(manifest)
    world.advance(5)
    return world


@pytest.fixture(scope="module")
def both(prepared: EmbeddedWorld) -> Iterator[Sides]:
    """The real kubectl and the one in process."""
    if real_kubectl() is None:
        pytest.skip("no kubectl 1.32 on this machine")
    with sides(prepared, FILES) as made:
        yield made


@pytest.mark.parametrize("line", LINES)
def test_both_kubectls_say_the_same(both: Sides, line: str) -> None:
    real, ours = both.compare(Case(line))
    assert ours == real


def _get(application: Application, path: str, accept: str = "") -> Any:
    request = Request("GET", path, {}, {"authorization": "Bearer admin", "accept": accept})
    reply = application.respond(request)
    assert isinstance(reply, Response)
    return orjson.loads(reply.body)


def test_documents_follow_the_definitions(application: Application, world: EmbeddedWorld) -> None:
    before = _get(application, "/openapi/v3")["paths"]
    assert "apis/example.com/v1" not in before
    world.cluster.create(CRD)
    world.advance(1)
    paths = _get(application, "/openapi/v3")["paths"]
    assert {path: where for path, where in paths.items() if path in before} == before
    document = _get(application, "/openapi/v3/apis/example.com/v1")
    schema = document["components"]["schemas"]["com.example.v1.Widget"]
    assert schema["properties"]["spec"]["properties"]["size"]["minimum"] == 1
    assert schema["x-kubernetes-group-version-kind"] == [
        {"group": "example.com", "kind": "Widget", "version": "v1"}
    ]
    crd = copy.deepcopy(
        world.cluster.get("customresourcedefinitions.apiextensions.k8s.io", "widgets.example.com")
    )
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "Another."
    world.cluster.replace(crd)
    changed = _get(application, "/openapi/v3")["paths"]
    assert changed["apis/example.com/v1"] != paths["apis/example.com/v1"]
    groups = [group["name"] for group in _get(application, "/apis")["groups"]]
    assert (
        groups.index("flowcontrol.apiserver.k8s.io")
        < groups.index("example.com")
        < groups.index("metrics.k8s.io")
    )
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    found = [g for g in _get(application, "/apis", accept)["items"] if g["metadata"]["name"] == "example.com"]
    assert [version["version"] for version in found[0]["versions"]] == ["v1", "v1beta1"]
    below = found[0]["versions"][0]["resources"][0]["subresources"]
    assert [part["subresource"] for part in below] == ["status", "scale"]


def test_tables_have_the_columns_of_the_definition(application: Application, world: EmbeddedWorld) -> None:
    world.cluster.create(CRD)
    world.advance(1)
    world.cluster.create(_widget(), namespace=NAMESPACE)
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    table = _get(application, f"/apis/example.com/v1/namespaces/{NAMESPACE}/widgets", accept)
    assert [(c["name"], c["type"], c["priority"]) for c in table["columnDefinitions"]] == [
        ("Name", "string", 0), ("Size", "integer", 0), ("Age", "date", 0), ("Mode", "string", 1),
    ]  # fmt: skip
    assert table["rows"][0]["cells"] == ["w", 3, "0s", "slow"]


def test_the_dynamic_client(server: Served, prepared: EmbeddedWorld) -> None:
    kubernetes = pytest.importorskip("kubernetes")
    from kubernetes.dynamic import DynamicClient
    from kubernetes.dynamic.exceptions import UnprocessibleEntityError

    world = server.put(prepared.fork(), "real")
    client = kubernetes.config.new_client_from_config(str(server.kubeconfig))
    dynamic = DynamicClient(client)
    widgets = dynamic.resources.get(api_version="example.com/v1", kind="Widget")
    made = widgets.create(_widget("py", size=2), namespace=NAMESPACE)
    assert made.spec.max == 10
    widgets.patch(
        {"spec": {"size": 3}}, name="py", namespace=NAMESPACE, content_type="application/merge-patch+json"
    )
    with pytest.raises(UnprocessibleEntityError) as caught:
        widgets.patch(
            {"spec": {"size": 1}}, name="py", namespace=NAMESPACE, content_type="application/merge-patch+json"
        )
    assert "must not shrink" in json.loads(caught.value.body)["message"]
    assert [w.metadata.name for w in widgets.get(namespace=NAMESPACE).items] == ["py", "w"]
    events = widgets.watch(namespace=NAMESPACE, timeout=1)
    assert [(e["type"], e["object"].metadata.name) for e in events] == [("ADDED", "py"), ("ADDED", "w")]
    widgets.delete(name="py", namespace=NAMESPACE)
    assert world.store.get("widgets.example.com", NAMESPACE, "py") is None
    widgets.delete(namespace=NAMESPACE, label_selector="a!=b")
    assert world.store.list("widgets.example.com") == []


def test_a_policy_that_refuses_pods_breaks_a_rollout_and_its_end_heals_it(settled: EmbeddedWorld) -> None:
    world = settled.fork()
    cluster = world.cluster
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    group = "admissionregistration.k8s.io/v1"
    cluster.create(
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "limits"},
            "spec": {
                "matchConstraints": {"resourceRules": [rule]},
                "validations": [
                    {
                        "expression": "object.spec.containers.all(c, c.?resources.?limits.?memory.hasValue())",
                        "messageExpression": "request.userInfo.username + ' must set limits'",
                    }
                ],
            },
        }
    )
    cluster.create(
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "everywhere"},
            "spec": {"policyName": "limits", "validationActions": ["Deny"]},
        }
    )
    selector = "io.kompose.service=frontend"
    (pod,) = cluster.list("pods", NAMESPACE, label_selector=selector)
    cluster.delete("pods", pod["metadata"]["name"], NAMESPACE, grace_period_seconds=0)
    world.advance(30)
    assert cluster.list("pods", NAMESPACE, label_selector=selector) == []
    texts = [e["message"] for e in cluster.list("events", NAMESPACE) if e["reason"] == "FailedCreate"]
    assert texts and texts[0].startswith('Error creating: pods "frontend-')
    assert texts[0].endswith(
        "is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'everywhere' denied request: "
        "system:serviceaccount:kube-system:replicaset-controller must set limits"
    )
    cluster.delete("validatingadmissionpolicybindings.admissionregistration.k8s.io", "everywhere")
    world.advance(1200)
    assert len(cluster.list("pods", NAMESPACE, label_selector=selector)) == 1
