"""Server-side apply over HTTP: with plain requests, and with the real kubectl where there is one."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from sregym_env.kube.types import Manifest
from sregym_env.serve.app import Application
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Served
from tests.serve.test_api import DEPLOYMENTS, NS, ask, configmap, json

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"

CRD: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer"},
                                    "tags": {
                                        "type": "array",
                                        "items": {"type": "string"},
                                        "x-kubernetes-list-type": "set",
                                    },
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


def apply(application: Application, path: str, body: Any, manager: str = "me", more: str = "") -> Any:
    return ask(application, f"{path}?fieldManager={manager}{more}", "PATCH", body, content_type=APPLY)


def owners(obj: Manifest) -> list[tuple[str, str]]:
    return [(entry["manager"], entry["operation"]) for entry in obj["metadata"]["managedFields"]]


def test_an_apply_creates_and_then_changes(application: Application) -> None:
    made = apply(application, f"{NS}/configmaps/a", configmap("a", x="1"))
    assert made.status == 201
    assert owners(json(made)) == [("me", "Apply")]
    again = apply(application, f"{NS}/configmaps/a", configmap("a", x="1"))
    assert again.status == 200
    assert json(again)["metadata"]["resourceVersion"] == json(made)["metadata"]["resourceVersion"]
    refused = apply(application, f"{NS}/configmaps/a", configmap("a", x="2"), "you")
    assert refused.status == 409
    assert json(refused) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'Apply failed with 1 conflict: conflict with "me": .data.x',
        "reason": "Conflict",
        "details": {
            "causes": [
                {"reason": "FieldManagerConflict", "message": 'conflict with "me"', "field": ".data.x"}
            ]
        },
        "code": 409,
    }
    forced = apply(application, f"{NS}/configmaps/a", configmap("a", x="2"), "you", "&force=true")
    assert json(forced)["data"] == {"x": "2"}
    assert owners(json(forced)) == [("you", "Apply")]


def test_a_body_may_be_yaml(application: Application) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: 'yes'\n"
    assert json(apply(application, f"{NS}/configmaps/a", body))["data"] == {"x": "yes"}


def test_a_dry_run_keeps_nothing(application: Application) -> None:
    made = apply(application, f"{NS}/configmaps/a", configmap("a", x="1"), more="&dryRun=All")
    assert owners(json(made)) == [("me", "Apply")]
    assert ask(application, f"{NS}/configmaps/a").status == 404


@pytest.mark.parametrize(
    ("agent", "manager"),
    [
        ("kubectl/v1.32.5 (linux/amd64) kubernetes/9894294", "kubectl"),
        ("OpenAPI-Generator/31.0.0/python", "OpenAPI-Generator"),
        ("we\u200bird\u0007 name", "weird name"),
        ("", "unknown"),
        ("x" * 200, "x" * 128),
    ],
)
def test_managers_without_a_name_are_known_by_their_program(
    application: Application, agent: str, manager: str
) -> None:
    made = ask(application, f"{NS}/configmaps", "POST", configmap("a", x="1"), user_agent=agent)
    assert owners(json(made)) == [(manager, "Update")]


@pytest.mark.parametrize(
    ("query", "method", "type_", "message"),
    [
        (
            "",
            "PATCH",
            APPLY,
            'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
        ),
        (
            "?fieldManager=me&force=true",
            "PATCH",
            MERGE,
            'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
        ),
        (
            "?fieldManager=" + "x" * 129,
            "PATCH",
            MERGE,
            'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
        ),
        (
            "?fieldManager=a%07b",
            "PUT",
            "application/json",
            'UpdateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\ab": invalid character U+0007 '
            "(at position 1)",
        ),
    ],
)
def test_options_are_checked(
    application: Application, query: str, method: str, type_: str, message: str
) -> None:
    ask(application, f"{NS}/configmaps", "POST", configmap("a", x="1"))
    reply = ask(application, f"{NS}/configmaps/a{query}", method, configmap("a", x="2"), content_type=type_)
    assert (reply.status, json(reply)["message"]) == (422, message)


def test_what_clients_read_names_its_owners(application: Application) -> None:
    one = json(ask(application, f"{DEPLOYMENTS}/frontend"))
    assert owners(one) == [("kubectl-create", "Update"), ("kube-controller-manager", "Update")]
    listed = json(ask(application, DEPLOYMENTS))["items"]
    assert all(item["metadata"]["managedFields"] for item in listed)
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    partial = json(ask(application, DEPLOYMENTS, accept=accept))["items"]
    assert [item["metadata"] for item in partial] == [item["metadata"] for item in listed]


def test_reading_and_putting_back_changes_nothing(application: Application) -> None:
    one = json(ask(application, f"{DEPLOYMENTS}/frontend"))
    back = json(ask(application, f"{DEPLOYMENTS}/frontend", "PUT", one))
    assert back == one


def test_an_apply_meets_the_owner_of_what_was_deployed(application: Application) -> None:
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "frontend"},
        "spec": {"replicas": 3},
    }
    refused = apply(application, f"{DEPLOYMENTS}/frontend", body)
    assert json(refused)["message"] == (
        'Apply failed with 1 conflict: conflict with "kubectl-create" using apps/v1: .spec.replicas'
    )
    made = json(apply(application, f"{DEPLOYMENTS}/frontend", body, more="&force=true"))
    assert made["spec"]["replicas"] == 3
    assert made["spec"]["template"] == json(ask(application, f"{DEPLOYMENTS}/frontend"))["spec"]["template"]


def test_a_scale_is_applied(application: Application) -> None:
    scale = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "geo"},
        "spec": {"replicas": 2},
    }
    refused = apply(application, f"{DEPLOYMENTS}/geo/scale", scale)
    assert refused.status == 409
    made = apply(application, f"{DEPLOYMENTS}/geo/scale", scale, more="&force=true")
    assert json(made)["spec"] == {"replicas": 2}
    entries = json(ask(application, f"{DEPLOYMENTS}/geo"))["metadata"]["managedFields"]
    assert [e["manager"] for e in entries if e.get("subresource") == "scale"] == ["me"]


def test_both_versions_of_an_autoscaler_are_applied(application: Application) -> None:
    path = "/apis/autoscaling/{}/namespaces/hotel-reservation/horizontalpodautoscalers/geo"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "geo"}
    old = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "geo"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50},
    }
    assert apply(application, path.format("v1"), old).status == 201
    new = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "geo"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 5},
    }
    made = apply(application, path.format("v2"), new)
    assert made.status == 200
    assert json(made)["spec"]["maxReplicas"] == 5
    assert owners(json(made)) == [("me", "Apply")]


def test_custom_resources_merge_by_their_schema(application: Application, world: EmbeddedWorld) -> None:
    assert (
        ask(application, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "POST", CRD).status == 201
    )
    world.advance(5)
    path = "/apis/example.com/v1/namespaces/hotel-reservation/widgets/w"

    def widget(**spec: Any) -> Manifest:
        return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}

    assert apply(application, path, widget(size=1, tags=["a"], free={"x": {"y": 1}}), "one").status == 201
    merged = json(apply(application, path, widget(tags=["b"], free={"x": {"z": 2}}), "two"))
    assert merged["spec"] == {"size": 1, "tags": ["a", "b"], "free": {"x": {"y": 1, "z": 2}}}
    assert json(apply(application, path, widget(tags=["a"], free={"x": {"y": 1}}), "one"))["spec"] == {
        "tags": ["a", "b"],
        "free": {"x": {"y": 1, "z": 2}},
    }
    assert json(apply(application, path, widget(free={"x": {"y": 2}}), "two"))["message"] == (
        'Apply failed with 1 conflict: conflict with "one": .spec.free.x.y'
    )
    assert json(apply(application, path, widget(colour="red"), "two"))["message"] == (
        "failed to create typed patch object (hotel-reservation/w; example.com/v1, Kind=Widget): .spec.colour: field "
        "not declared in schema"
    )


# --- the real kubectl -------------------------------------------------------------------------------

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx:1.14.2
        ports: [{containerPort: 80}]
"""


def _run(kubectl: Served, line: str, stdin: str = "") -> str:
    done = kubectl.kubectl(line.split(), stdin)
    return done.stdout + done.stderr


def test_kubectl_applies_on_the_server(kubectl: Served) -> None:
    assert _run(kubectl, "apply --server-side -f -", WEB) == "deployment.apps/web serverside-applied\n"
    assert _run(kubectl, "scale deploy/web --replicas=2") == "deployment.apps/web scaled\n"
    refused = _run(kubectl, "apply --server-side -f -", WEB)
    assert refused.startswith(
        'error: Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: '
        ".spec.replicas\nPlease review the fields above--they currently have other managers."
    )
    forced = _run(kubectl, "apply --server-side --force-conflicts -f -", WEB)
    assert forced == "deployment.apps/web serverside-applied\n"
    assert _run(kubectl, "get deploy web -o jsonpath={.spec.replicas}") == "3"
    unknown = _run(kubectl, "apply --server-side -f -", WEB.replace("replicas", "replicaz"))
    assert unknown.endswith(
        "(hotel-reservation/web; apps/v1, Kind=Deployment): .spec.replicaz: field not declared in schema\n"
    )


def test_kubectl_moves_from_client_side_to_server_side(kubectl: Served) -> None:
    assert _run(kubectl, "apply -f -", WEB) == "deployment.apps/web created\n"
    more = WEB.replace("replicas: 3", "replicas: 4")
    assert _run(kubectl, "apply --server-side -f -", more) == "deployment.apps/web serverside-applied\n"
    shown = yaml.safe_load(_run(kubectl, "get deploy web -o yaml --show-managed-fields"))
    # Two applies are told in the order of their seconds, and within one second by name.
    assert sorted(owners(shown)[:2]) == [("kubectl", "Apply"), ("kubectl-last-applied", "Apply")]
    assert ("kubectl-client-side-apply", "Update") not in owners(shown)
    fewer = WEB.replace("  labels: {app: web}\nspec", "spec")
    assert _run(kubectl, "apply --server-side -f -", fewer) == "deployment.apps/web serverside-applied\n"
    assert _run(kubectl, "get deploy web -o jsonpath={.metadata.labels}") == ""
    assert _run(kubectl, "apply -f -", WEB) == "deployment.apps/web configured\n"
