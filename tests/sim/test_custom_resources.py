"""Custom resources from their definition to their end."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from sregym_env.cluster.identity import User
from sregym_env.kube.status import StatusError
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import custom
from sregym_env.sim.apiserver.admission import calling
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.controllers import horizontalpodautoscaler
from sregym_env.sim.world import SimWorld
from tests.sim.custom_widgets import (
    CRD,
    DEFINITIONS,
    KEY,
    SPEC,
    bare_world,
    definition,
    widget,
    widgets_world,
)


@pytest.fixture
def world() -> SimWorld:
    return widgets_world()


@pytest.fixture
def cluster(world: SimWorld) -> SimCluster:
    return SimCluster(world)


def refused(code: int, text: str) -> Any:
    class _Refused:
        def __enter__(self) -> None:
            pass

        def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> bool:
            assert isinstance(error, StatusError), error
            assert (error.code, error.message) == (code, text)
            return True

    return _Refused()


# --- definitions ---------------------------------------------------------------------------------


def test_a_definition_is_served_once_established() -> None:
    world = bare_world()
    cluster = SimCluster(world)
    made = cluster.create(CRD)
    assert made["status"] == {
        "acceptedNames": {"kind": "", "plural": ""},
        "conditions": [],
        "storedVersions": ["v1"],
    }
    assert made["spec"]["names"]["listKind"] == "WidgetList"
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert cluster.registry.by_key(KEY) is None
    with refused(404, "the server could not find the requested resource"):
        cluster.list(KEY)
    world.advance(1)
    status = cluster.get(DEFINITIONS, KEY)["status"]
    assert status["acceptedNames"] == {
        "kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget",
        "shortNames": ["wd"], "categories": ["all"],
    }  # fmt: skip
    assert [(c["type"], c["status"], c["reason"], c["message"]) for c in status["conditions"]] == [
        ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
    ]
    assert cluster.list(KEY) == []


def test_the_registry_is_shared_by_forks_and_never_stale(world: SimWorld) -> None:
    before = custom.registry_of(world)
    fork = world.fork()
    assert custom.registry_of(fork) is before
    SimCluster(fork).delete(DEFINITIONS, KEY)
    fork.advance(1)
    assert custom.registry_of(fork).by_key(KEY) is None
    assert custom.registry_of(world) is before
    assert custom.find(fork, KEY) is None


def test_names_that_are_taken_are_not_accepted(world: SimWorld, cluster: SimCluster) -> None:
    names = {"plural": "gizmos", "kind": "Gizmo", "shortNames": ["wd"]}
    other = {**definition(names=names), "metadata": {"name": "gizmos.example.com"}}
    cluster.create(other)
    world.advance(1)
    status = cluster.get(DEFINITIONS, "gizmos.example.com")["status"]
    assert [(c["type"], c["status"], c["reason"], c["message"]) for c in status["conditions"]] == [
        ("NamesAccepted", "False", "ShortNamesConflict", '"wd" is already in use'),
        ("Established", "False", "NotAccepted", "not all names are accepted"),
    ]
    cluster.delete(DEFINITIONS, KEY)
    world.advance(2)
    assert cluster.list("gizmos.example.com") == []


def test_deleting_a_definition_deletes_its_objects_first(world: SimWorld, cluster: SimCluster) -> None:
    held = widget("held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.create(widget("free"))
    cluster.create(held)
    left = cluster.delete(DEFINITIONS, KEY)
    assert left["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    with refused(405, "create not allowed while custom resource definition is terminating"):
        cluster.create(widget("late"))
    world.advance(1)
    assert [w["metadata"]["name"] for w in cluster.list(KEY)] == ["held"]
    conditions = {c["type"]: c for c in cluster.get(DEFINITIONS, KEY)["status"]["conditions"]}
    assert conditions["Terminating"]["reason"] == "InstanceDeletionCheck"
    cluster.patch(KEY, "held", {"metadata": {"finalizers": None}}, namespace="default", type="merge")
    world.advance(1)
    assert world.store.get(DEFINITIONS, "", KEY) is None
    with refused(404, "the server could not find the requested resource"):
        cluster.list(KEY)


def _schema(**changes: Any) -> dict[str, Any]:
    made = definition()
    del made["spec"]["versions"][1:]
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {**SPEC, **changes}
    return made


_BASE = "spec.validation.openAPIV3Schema.properties[spec]"


@pytest.mark.parametrize(
    ("crd", "text"),
    [
        ({**CRD, "metadata": {"name": "x.example.com"}},
         'metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group'),
        (definition(scope="World"), 'spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'),
        (_schema(type=None), f"{_BASE}.type: Required value: must not be empty for specified object fields"),
        (_schema(type="thing"),
         f'{_BASE}.type: Unsupported value: "thing": supported values: "array", "boolean", "integer", "number", '
         '"object", "string"'),
        (_schema(properties={"l": {"type": "array"}}, **{"x-kubernetes-validations": []}),
         f"{_BASE}.properties[l].items: Required value: must be specified"),
        (_schema(properties={"l": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}},
                 **{"x-kubernetes-validations": []}),
         f"{_BASE}.properties[l].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
         "complexity becomes quadratic"),
        (_schema(properties={"l": {"type": "array", "x-kubernetes-list-type": "map",
                                   "x-kubernetes-list-map-keys": ["name"],
                                   "items": {"type": "object", "properties": {"name": {"type": "string"}}}}},
                 **{"x-kubernetes-validations": []}),
         f"{_BASE}.properties[l].items.properties[name].default: Required value: this property is in "
         "x-kubernetes-list-map-keys, so it must have a default or be a required property"),
        (_schema(properties={"n": {"type": "integer", "default": "x"}}, **{"x-kubernetes-validations": []}),
         f'{_BASE}.properties[n].default: Invalid value: "string": {_BASE}.properties[n].default in body must be of '
         'type integer: "string"'),
        (_schema(**{"x-kubernetes-validations": [{"rule": "self.nope"}]}),
         f'{_BASE}.x-kubernetes-validations[0].rule: Invalid value: apiextensions.ValidationRule{{Rule:"self.nope", '
         'Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", '
         "OptionalOldSelf:(*bool)(nil)}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n"
         " | self.nope\n | ....^"),
        (_schema(properties={"l": {"type": "array", "items": {
            "type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}},
            **{"x-kubernetes-validations": []}),
         f'{_BASE}.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf '
         "cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema"),
        (definition(names={"plural": "widgets", "kind": "Widget", "listKind": "Widget"}),
         'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'),
        ({**definition(group="x.k8s.io"), "metadata": {"name": "widgets.x.k8s.io"}},
         'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval '
         'annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'),
    ],
)  # fmt: skip
def test_definitions_are_validated(crd: dict[str, Any], text: str) -> None:
    if crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].get("type", "") is None:
        crd = copy.deepcopy(crd)
        del crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["type"]
    with pytest.raises(StatusError) as caught:
        SimCluster(bare_world()).create(crd)
    assert text in caught.value.message


def test_exactly_one_version_is_stored() -> None:
    crd = definition()
    crd["spec"]["versions"][0]["storage"] = False
    with pytest.raises(StatusError, match="must have exactly one version marked as storage version"):
        SimCluster(bare_world()).create(crd)


def test_a_new_schema_takes_effect_at_once(cluster: SimCluster) -> None:
    cluster.create(widget("w"))
    crd = copy.deepcopy(cluster.get(DEFINITIONS, KEY))
    fields = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    fields["color"] = {"type": "string", "default": "red"}
    updated = cluster.replace(crd)
    assert updated["metadata"]["generation"] == 2
    assert cluster.get(KEY, "w", "default")["spec"]["color"] == "red"
    assert cluster.create(widget("x", size=1, color="blue"))["spec"]["color"] == "blue"


def test_what_is_established_is_immutable(cluster: SimCluster) -> None:
    with pytest.raises(StatusError, match="field is immutable"):
        cluster.patch(DEFINITIONS, KEY, {"spec": {"scope": "Cluster"}}, type="merge")


# --- objects -------------------------------------------------------------------------------------


def test_objects_are_defaulted_and_counted(cluster: SimCluster) -> None:
    made = cluster.create({**widget(), "status": {"ready": True}})
    assert made["spec"] == {"size": 3, "max": 10, "replicas": 1, "mode": "slow"}
    assert "status" not in made and made["metadata"]["generation"] == 1
    grown = cluster.patch(KEY, "w", {"spec": {"size": 4}}, namespace="default", type="merge")
    assert grown["metadata"]["generation"] == 2
    ready = cluster.patch(
        KEY, "w", {"status": {"ready": True}, "spec": {"size": 9}}, namespace="default", type="merge",
        subresource="status",
    )  # fmt: skip
    assert (ready["status"], ready["spec"]["size"], ready["metadata"]["generation"]) == (
        {"ready": True},
        4,
        2,
    )
    again = cluster.patch(KEY, "w", {"status": {"ready": False}}, namespace="default", type="merge")
    assert again["status"] == {"ready": True}


_UNCHECKED = (
    '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct '
    "the existing errors to complete validation"
)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"size": 0}, "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"),
        ({"size": 11}, 'spec: Invalid value: "object": size must not be above max'),
        ({"size": 1, "mode": "bad"}, "spec.mode: Forbidden: mode bad is not allowed"),
        ({"size": "1"},
         f'[spec.size: Invalid value: "string": spec.size in body must be of type integer: "string", {_UNCHECKED}]'),
        ({"max": 2}, f"[spec.size: Required value, {_UNCHECKED}]"),
        ({"size": 1, "tags": ["a", "a"]}, 'spec.tags[1]: Duplicate value: "a"'),
    ],
)  # fmt: skip
def test_objects_are_validated(cluster: SimCluster, spec: dict[str, Any], text: str) -> None:
    with refused(422, f'Widget.example.com "w" is invalid: {text}'):
        cluster.create(widget(**spec))


def test_transition_rules_need_an_old_value(cluster: SimCluster) -> None:
    cluster.create(widget(size=5))
    with refused(
        422, 'Widget.example.com "w" is invalid: spec.size: Invalid value: "integer": must not shrink'
    ):
        cluster.patch(KEY, "w", {"spec": {"size": 4}}, namespace="default", type="merge")


def test_what_was_invalid_before_may_stay(world: SimWorld, cluster: SimCluster) -> None:
    stored = cluster.create(widget(size=5))
    world.store.put(KEY, {**stored, "spec": {**stored["spec"], "size": 99, "max": 5}})
    labelled = cluster.patch(
        KEY, "w", {"metadata": {"labels": {"a": "b"}}}, namespace="default", type="merge"
    )
    assert labelled["metadata"]["labels"] == {"a": "b"}


def test_unknown_fields_are_refused_or_dropped(cluster: SimCluster) -> None:
    obj = widget(size=1, foo=1, bar=2)
    text = 'strict decoding error: unknown field "spec.bar", unknown field "spec.foo"'
    with refused(400, f'Widget in version "v1" cannot be handled as a Widget: {text}'):
        cluster.create(obj)
    assert "foo" not in cluster.create(obj, strict=False)["spec"]


def test_strategic_patches_are_unknown(cluster: SimCluster) -> None:
    cluster.create(widget())
    with refused(
        415,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    ):
        cluster.patch(KEY, "w", {"spec": {"size": 4}}, namespace="default")


def test_versions_differ_by_name_only(cluster: SimCluster) -> None:
    cluster.create(widget("old", "v1beta1", anything={"goes": 1}, size=1))
    assert cluster.get(KEY, "old", "default")["apiVersion"] == "example.com/v1"
    beta = cluster.get("widgets.v1beta1.example.com", "old", "default")
    assert (beta["apiVersion"], beta["spec"]["anything"]) == ("example.com/v1beta1", {"goes": 1})
    listed = cluster.list("widgets.v1beta1.example.com", "default")
    assert [obj["apiVersion"] for obj in listed] == ["example.com/v1beta1"]


def test_scale_reads_and_writes_where_the_definition_says(cluster: SimCluster) -> None:
    cluster.create(widget())
    scaled = cluster.patch(
        KEY, "w", {"spec": {"replicas": 4}}, namespace="default", type="merge", subresource="scale"
    )
    assert (scaled["kind"], scaled["spec"], scaled["status"]) == ("Scale", {"replicas": 4}, {"replicas": 0})
    assert cluster.get(KEY, "w", "default")["spec"]["replicas"] == 4


def test_an_autoscaler_keeps_them_within_its_limits() -> None:
    world = widgets_world(horizontalpodautoscaler.CONTROLLER)
    cluster = SimCluster(world)
    cluster.create(widget(size=1, replicas=7))
    target = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w"}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "namespace": "default"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 2},
    }
    cluster.create(scaler)
    world.advance(20)
    assert cluster.get(KEY, "w", "default")["spec"]["replicas"] == 2


def test_replicas_are_no_negative_number(cluster: SimCluster) -> None:
    with refused(
        422,
        'Widget.example.com "w" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer',
    ):
        cluster.create(widget(size=1, replicas=-1))


def test_selectable_fields(cluster: SimCluster) -> None:
    cluster.create(widget("a", size=1, mode="fast"))
    cluster.create(widget("b", size=1))
    found = cluster.list(KEY, "default", field_selector="spec.mode=fast")
    assert [obj["metadata"]["name"] for obj in found] == ["a"]
    with pytest.raises(StatusError, match=r"field label not supported: spec\.size"):
        cluster.list(KEY, "default", field_selector="spec.size=1")


def test_rights_are_by_group_and_resource(world: SimWorld, cluster: SimCluster) -> None:
    bob = cluster.as_user(User("bob", ("system:authenticated",)))
    text = (
        'widgets.example.com is forbidden: User "bob" cannot list resource "widgets" in API group "example.com" in '
        'the namespace "default"'
    )
    with refused(403, text):
        bob.list(KEY, "default")
    rule = {"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["list"]}
    group = "rbac.authorization.k8s.io"
    named = {"metadata": {"name": "viewer", "namespace": "default"}, "apiVersion": f"{group}/v1"}
    cluster.create({**named, "kind": "Role", "rules": [rule]})
    subject = {"kind": "User", "name": "bob", "apiGroup": group}
    cluster.create(
        {**named, "kind": "RoleBinding", "subjects": [subject],
         "roleRef": {"kind": "Role", "name": "viewer", "apiGroup": group}}
    )  # fmt: skip
    assert bob.list(KEY, "default") == []


def test_quotas_count_them(world: SimWorld, cluster: SimCluster) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"},
             "spec": {"hard": {"count/widgets.example.com": "1"}}}  # fmt: skip
    cluster.create(quota)
    cluster.create(widget("one"))
    world.advance(1)
    assert cluster.get("resourcequotas", "q", "default")["status"]["used"] == {
        "count/widgets.example.com": "1"
    }
    text = (
        'widgets.example.com "two" is forbidden: exceeded quota: q, requested: count/widgets.example.com=1, used: '
        "count/widgets.example.com=1, limited: count/widgets.example.com=1"
    )
    with refused(403, text):
        cluster.create(widget("two"))


def test_owners_take_their_dependents_along(world: SimWorld, cluster: SimCluster) -> None:
    owner = cluster.create(widget("owner"))
    reference = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
    }
    child = widget("child")
    child["metadata"]["ownerReferences"] = [reference]
    cluster.create(child)
    cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "c", "namespace": "default", "ownerReferences": [reference]}})  # fmt: skip
    cluster.delete(KEY, "owner", "default")
    world.advance(2)
    assert cluster.list(KEY) == [] and cluster.list("configmaps", "default") == []


def test_a_namespace_takes_them_along(world: SimWorld, cluster: SimCluster) -> None:
    obj = widget()
    cluster.create({**obj, "metadata": {"name": "w", "namespace": "other"}})
    cluster.delete("namespaces", "other")
    world.advance(30)
    assert world.store.get(KEY, "other", "w") is None
    assert world.store.get("namespaces", "", "other") is None


def test_generated_names_and_cluster_scope() -> None:
    world = bare_world()
    cluster = SimCluster(world)
    cluster.create(definition(scope="Cluster"))
    world.advance(1)
    obj = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"generateName": "w-"},
        "spec": {"size": 1},
    }
    made = cluster.create(obj)
    assert made["metadata"]["name"].startswith("w-") and "namespace" not in made["metadata"]
    assert apiserver.resource_of(world, KEY).namespaced is False


# --- conversion ----------------------------------------------------------------------------------

CLIENT = {"service": {"namespace": "other", "name": "converter", "path": "/convert"}}
WEBHOOK = {
    "strategy": "Webhook",
    "webhook": {"clientConfig": CLIENT, "conversionReviewVersions": ["v1"]},
}


def _converting(monkeypatch: pytest.MonkeyPatch, answer: Any) -> SimCluster:
    """A cluster whose widgets are converted by a webhook that gives this answer."""

    def call(_world: SimWorld, _target: Any, body: str, _timeout: int) -> tuple[str, float]:
        review = json.loads(body)
        return json.dumps({**review, "response": answer(review["request"])}), 0.0

    if answer is not None:
        monkeypatch.setattr(calling, "call", call)
    world = bare_world()
    cluster = SimCluster(world)
    cluster.create(definition(conversion=WEBHOOK))
    world.advance(1)
    return cluster


def _renamed(request: dict[str, Any]) -> dict[str, Any]:
    """``spec.size`` of v1 is ``spec.volume`` of v1beta1."""
    wanted = request["desiredAPIVersion"]
    names = {"size": "volume"} if wanted.endswith("beta1") else {"volume": "size"}
    objects = [
        {**obj, "apiVersion": wanted, "spec": {names.get(k, k): v for k, v in obj["spec"].items()}}
        for obj in request["objects"]
    ]
    return {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}


def test_a_webhook_converts(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = _converting(monkeypatch, _renamed)
    made = cluster.create(widget("w", "v1beta1", volume=3))
    assert (made["apiVersion"], made["spec"]) == ("example.com/v1beta1", {"volume": 3})
    seen = cluster.get(KEY, "w", "default")
    assert (seen["apiVersion"], seen["spec"]["size"], seen["spec"]["max"]) == ("example.com/v1", 3, 10)
    beta = "widgets.v1beta1.example.com"
    changed = cluster.patch(beta, "w", {"spec": {"volume": 4}}, namespace="default", type="merge")
    assert changed["spec"] == {"volume": 4}
    assert [w["spec"]["volume"] for w in cluster.list(beta)] == [4]
    assert cluster.get(KEY, "w", "default")["spec"]["size"] == 4
    assert cluster.get(KEY, "w", "default")["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, 'failed: Post "https://converter.other.svc:443/convert?timeout=30s": service "converter" not found'),
        (lambda r: {"uid": r["uid"], "result": {"status": "Failed", "message": "no"}}, "failed: no"),
        (lambda r: {"uid": r["uid"], "result": {"status": "Success"}, "convertedObjects": []},
         "returned 0 objects, expected 1"),
        (lambda r: {"uid": r["uid"], "result": {"status": "Success"}, "convertedObjects": r["objects"]},
         "returned invalid converted object at index 0: invalid groupVersion (received example.com/v1, expected "
         "example.com/v1beta1)"),
    ],
)  # fmt: skip
def test_a_webhook_that_does_not_convert(monkeypatch: pytest.MonkeyPatch, answer: Any, text: str) -> None:
    cluster = _converting(monkeypatch, answer)
    cluster.create(widget())
    assert cluster.get(KEY, "w", "default")["spec"]["size"] == 3
    for read in (
        lambda: cluster.get("widgets.v1beta1.example.com", "w", "default"),
        lambda: cluster.list("widgets.v1beta1.example.com"),
    ):
        with refused(500, f"conversion webhook for example.com/v1, Kind=Widget {text}"):
            read()


# --- policies ------------------------------------------------------------------------------------

_GROUP = "admissionregistration.k8s.io/v1"


def _policy(expression: str, failure: str = "Fail", **spec: Any) -> dict[str, Any]:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
            "resources": ["configmaps", "widgets"]}  # fmt: skip
    return {
        "apiVersion": _GROUP,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "failurePolicy": failure,
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression}],
            **spec,
        },
    }


def _binding(*actions: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": _GROUP,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": list(actions or ("Deny",)), **spec},
    }


def _config(**data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "default"},
        "data": data,
    }


_DENIED = "is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request:"


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (_policy("object.data.a == 'x'"), "failed expression: object.data.a == 'x'"),
        (_policy("object.data.b == 'x'"), "expression 'object.data.b == 'x'' resulted in error: no such key: b"),
        (_policy("variables.v", variables=[{"name": "v", "expression": "object.data.b == 'x'"}]),
         "expression 'variables.v' resulted in error: composited variable \"v\" fails to evaluate: no such key: b"),
        (_policy("variables.v", variables=[{"name": "v", "expression": "object.data.a == 'x'"}]),
         "failed expression: variables.v"),
        (_policy("true", validations=[{"expression": "false", "message": " no ", "messageExpression": "1 == 1 ? '' : ''"}]),
         "no"),
        (_policy("true", validations=[{"expression": "false", "messageExpression": "'by ' + request.userInfo.username"}]),
         "by kubernetes-admin"),
        (_policy("authorizer.group('').resource('pods').namespace('default').check('get').allowed() && "
                 "authorizer.requestResource.check('delete').allowed() && namespaceObject.metadata.name == 'other'"),
         "failed expression: authorizer"),
    ],
)  # fmt: skip
def test_a_policy_denies(cluster: SimCluster, policy: dict[str, Any], text: str) -> None:
    cluster.create(policy)
    cluster.create(_binding())
    with pytest.raises(StatusError) as caught:
        cluster.create(_config(a="y"))
    assert caught.value.message.startswith(f'configmaps "c" {_DENIED} {text}')
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")


@pytest.mark.parametrize(
    ("policy", "binding"),
    [
        (_policy("object.data.b == 'x'", failure="Ignore"), _binding()),
        (_policy("false", matchConditions=[{"name": "m", "expression": "object.data.a == 'x'"}]), _binding()),
        (_policy("false"), _binding(matchResources={"namespaceSelector": {"matchLabels": {"a": "b"}}})),
        (_policy("false"), _binding("Audit")),
        (_policy("false"), _binding(policyName="q")),
    ],
)
def test_a_policy_lets_pass(cluster: SimCluster, policy: dict[str, Any], binding: dict[str, Any]) -> None:
    cluster.create(policy)
    cluster.create(binding)
    cluster.create(_config(a="y"))


def test_parameters_and_custom_resources(world: SimWorld, cluster: SimCluster) -> None:
    kind = {"apiVersion": "example.com/v1", "kind": "Widget"}
    cluster.create(_policy("has(object.data) && size(object.data) <= params.spec.size", paramKind=kind,
                           matchConditions=[{"name": "m", "expression": "request.kind.kind == 'ConfigMap'"}]))  # fmt: skip
    cluster.create(_binding(paramRef={"name": "limit", "parameterNotFoundAction": "Deny"}))
    with pytest.raises(
        StatusError, match="no params found for policy binding with `Deny` parameterNotFoundAction"
    ):
        cluster.create(_config(a="y"))
    with pytest.raises(StatusError, match="failed to configure binding"):
        cluster.create(widget("limit", size=1))
    cluster.delete("validatingadmissionpolicybindings.admissionregistration.k8s.io", "b")
    cluster.create(widget("limit", size=1))
    cluster.create(_binding(paramRef={"name": "limit", "parameterNotFoundAction": "Deny"}))
    cluster.create(_config(a="y"))
    with pytest.raises(StatusError, match="denied request: failed expression"):
        cluster.replace(_config(a="y", b="z"))


def test_policies_must_compile(cluster: SimCluster) -> None:
    with pytest.raises(StatusError) as caught:
        cluster.create(_policy("objekt.x"))
    assert caught.value.message.startswith(
        'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.validations[0].expression: '
        "Invalid value: \"objekt.x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'objekt'"
    )


@pytest.mark.parametrize(
    ("expression", "warnings"),
    [
        ("object.spec.replicas > 1", None),
        ("object.replicas > 1",
         ["apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^"]),
        ("object.spec.template.spec.containers.all(c, c.image == 1)",
         ["apps/v1, Kind=Deployment: ERROR: <input>:1:53: found no matching overload for '_==_' applied to '(string, int)'\n"
          " | object.spec.template.spec.containers.all(c, c.image == 1)\n | " + "." * 52 + "^"]),
    ],
)  # fmt: skip
def test_policies_are_checked_against_the_types_they_name(
    world: SimWorld, cluster: SimCluster, expression: str, warnings: list[str] | None
) -> None:
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["deployments"],
    }
    cluster.create(_policy(expression, matchConstraints={"resourceRules": [rule]}))
    world.advance(1)
    status = cluster.get("validatingadmissionpolicies.admissionregistration.k8s.io", "p")["status"]
    found = status["typeChecking"].get("expressionWarnings")
    assert (found and [w["warning"] for w in found]) == warnings
    assert status["observedGeneration"] == 1
