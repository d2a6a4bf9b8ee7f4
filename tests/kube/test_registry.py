"""The resource table, and Status errors."""

from __future__ import annotations

import pytest

from sregym_env.kube import registry, schema, status


@pytest.mark.parametrize(
    ("token", "key"),
    [
        ("po", "pods"),
        ("Pod", "pods"),
        ("deployment", "deployments.apps"),
        ("deploy", "deployments.apps"),
        ("deployments.apps", "deployments.apps"),
        ("deployments.v1.apps", "deployments.apps"),
        ("Deployment.v1.apps", "deployments.apps"),
        ("hpa", "horizontalpodautoscalers.autoscaling"),
        ("ev", "events"),
        ("events.events.k8s.io", "events.events.k8s.io"),
        ("pods.metrics.k8s.io", "pods.metrics.k8s.io"),
        ("node", "nodes"),
        ("netpol", "networkpolicies.networking.k8s.io"),
        ("sc", "storageclasses.storage.k8s.io"),
        ("limits", "limitranges"),
        ("crds", "customresourcedefinitions.apiextensions.k8s.io"),
    ],
)
def test_find(token: str, key: str) -> None:
    found = registry.BUILTIN.find(token)
    assert found is not None
    assert found.key == key


def test_unknown_lookups_are_none() -> None:
    assert registry.BUILTIN.find("foos") is None
    assert registry.by_key("foos") is None
    assert registry.by_kind("v1", "Foo") is None


def test_versions_of_one_key() -> None:
    preferred = registry.by_key("horizontalpodautoscalers.autoscaling")
    older = registry.by_kind("autoscaling/v1", "HorizontalPodAutoscaler")
    assert preferred is not None and preferred.version == "v2"
    assert older is not None and older.key == preferred.key
    assert older not in registry.BUILTIN.preferred()


def test_get_all_in_discovery_order() -> None:
    assert [r.plural for r in registry.BUILTIN.in_category("all")] == [
        "pods",
        "replicationcontrollers",
        "services",
        "daemonsets",
        "deployments",
        "replicasets",
        "statefulsets",
        "horizontalpodautoscalers",
        "cronjobs",
        "jobs",
    ]


def test_every_definition_exists() -> None:
    for resource in registry.RESOURCES:
        if resource.definition:
            assert "metadata" in schema.compile_struct(resource.definition).fields, resource.key


CRD = {
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "shortNames": ["wg"]},
        "versions": [
            {"name": "v1beta1", "served": True},
            {"name": "v1", "served": True, "subresources": {"status": {}}},
            {"name": "v2", "served": False},
        ],
    }
}


def test_custom_resources_join_the_registry() -> None:
    served = registry.BUILTIN.with_resources(registry.custom_resources(CRD))
    found = served.find("wg")
    assert found is not None
    assert (found.api_version, found.subresources) == ("example.com/v1", ("status",))
    assert registry.BUILTIN.find("wg") is None


DEPLOYMENTS = registry.by_key("deployments.apps")
assert DEPLOYMENTS is not None


@pytest.mark.parametrize(
    ("error", "code", "reason", "message"),
    [
        (status.not_found("pods", "x"), 404, "NotFound", 'pods "x" not found'),
        (status.not_found(DEPLOYMENTS, "x"), 404, "NotFound", 'deployments.apps "x" not found'),
        (status.already_exists("configmaps", "x"), 409, "AlreadyExists", 'configmaps "x" already exists'),
        (
            status.conflict(DEPLOYMENTS, "x"),
            409,
            "Conflict",
            'Operation cannot be fulfilled on deployments.apps "x": the object has been modified; please '
            "apply your changes to the latest version and try again",
        ),
        (
            status.forbidden("pods", "", "u", "list", "ns"),
            403,
            "Forbidden",
            'pods is forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "ns"',
        ),
        (
            status.forbidden("nodes", "n", "u", "get"),
            403,
            "Forbidden",
            'nodes "n" is forbidden: User "u" cannot get resource "nodes" in API group "" at the cluster scope',
        ),
        (
            status.forbidden("pods", "p", "u", "get", "ns", "log"),
            403,
            "Forbidden",
            'pods "p" is forbidden: User "u" cannot get resource "pods/log" in API group "" in the namespace "ns"',
        ),
        (status.gone(1, 1234), 410, "Expired", "too old resource version: 1 (1234)"),
        (
            status.invalid(
                DEPLOYMENTS, "x", [status.required("spec.a"), status.invalid_value("spec.b", -1, "no")]
            ),
            422,
            "Invalid",
            'Deployment.apps "x" is invalid: [spec.a: Required value, spec.b: Invalid value: -1: no]',
        ),
        (
            status.apply_conflict([('"kubectl" using apps/v1', ".spec.replicas")]),
            409,
            "Conflict",
            'Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas',
        ),
        (
            status.apply_conflict([('"m" using v1', ".a"), ('"m" using v1', ".b")]),
            409,
            "Conflict",
            'Apply failed with 2 conflicts: conflicts with "m" using v1:\n- .a\n- .b',
        ),
        (status.internal_error("boom"), 500, "InternalError", "Internal error occurred: boom"),
    ],
)
def test_status_errors(error: status.StatusError, code: int, reason: str, message: str) -> None:
    assert (error.code, error.reason, str(error)) == (code, reason, message)
    body = error.status
    assert body["kind"] == "Status" and body["code"] == code and body["message"] == message


def test_details() -> None:
    details = status.not_found(DEPLOYMENTS, "x").status["details"]
    assert details == {"name": "x", "group": "apps", "kind": "deployments"}
    causes = status.invalid(DEPLOYMENTS, "x", [status.required("spec.a")]).status["details"]["causes"]
    assert causes == [{"reason": "FieldValueRequired", "message": "Required value", "field": "spec.a"}]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (status.required("a"), "a: Required value"),
        (status.required("a", "say it"), "a: Required value: say it"),
        (status.invalid_value("a", 'q"', "no"), 'a: Invalid value: "q\\"": no'),
        (status.invalid_value("a", None), 'a: Invalid value: "null"'),
        (status.invalid_value("a", True), "a: Invalid value: true"),
        (status.invalid_value("a", {"b": "c"}), 'a: Invalid value: map[string]string{"b":"c"}'),
        (status.duplicate("a", "x"), 'a: Duplicate value: "x"'),
        (status.missing("a", "x"), 'a: Not found: "x"'),
        (status.unsupported("a", "x", ["b", "c"]), 'a: Unsupported value: "x": supported values: "b", "c"'),
        (status.forbidden_field("a", "no"), "a: Forbidden: no"),
        (status.too_long("a", 63), "a: Too long: may not be more than 63 bytes"),
    ],
)
def test_field_errors(error: status.FieldError, text: str) -> None:
    assert str(error) == text
