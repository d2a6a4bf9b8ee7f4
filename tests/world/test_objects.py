"""Reading and writing objects, whoever asks: the same answers and the same refusals on every world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.identity import User
from sregym_env.cluster.oncall import ONCALL
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.status import StatusError
from sregym_env.tools.workstation import Workstation
from tests.world.worlds import NAMESPACE

DEPLOYMENTS = "deployments.apps"


def settings(name: str, **data: str) -> dict[str, Any]:
    """A ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": data,
    }


def named(objects: list[Any]) -> list[str]:
    return [obj["metadata"]["name"] for obj in objects]


# --- reading ------------------------------------------------------------------------------------------


def test_an_object_says_what_it_is(world: World) -> None:
    geo = world.cluster.get(DEPLOYMENTS, "geo", NAMESPACE)
    assert (geo["apiVersion"], geo["kind"], geo["metadata"]["namespace"]) == (
        "apps/v1",
        "Deployment",
        NAMESPACE,
    )
    listed = world.cluster.list(DEPLOYMENTS, NAMESPACE)
    assert {(obj["apiVersion"], obj["kind"]) for obj in listed} == {("apps/v1", "Deployment")}


def test_lists_are_in_order_and_cover_all_namespaces(world: World) -> None:
    everywhere = world.cluster.list("pods")
    places = [(pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in everywhere]
    assert places == sorted(places)
    assert {"kube-system", NAMESPACE} <= {namespace for namespace, _ in places}
    assert named(world.cluster.list("pods", NAMESPACE)) == [n for ns, n in places if ns == NAMESPACE]


def test_selectors(world: World) -> None:
    cluster = world.cluster
    assert named(cluster.list("services", NAMESPACE, label_selector="io.kompose.service=geo")) == ["geo"]
    assert named(cluster.list("services", field_selector="metadata.name=geo")) == ["geo"]
    on_worker = cluster.list("pods", NAMESPACE, field_selector="spec.nodeName=sre-worker")
    assert on_worker
    assert {pod["spec"]["nodeName"] for pod in on_worker} == {"sre-worker"}
    assert cluster.list("pods", "no-such-namespace") == []


def test_subresources(world: World) -> None:
    scale = world.cluster.get(DEPLOYMENTS, "geo", NAMESPACE, subresource="scale")
    assert (scale["kind"], scale["spec"]["replicas"]) == ("Scale", 1)
    assert world.cluster.get(DEPLOYMENTS, "geo", NAMESPACE, subresource="status")["status"]["replicas"] == 1


def test_cluster_scoped_objects(world: World) -> None:
    nodes = world.cluster.list("nodes")
    assert len(nodes) == 4
    assert world.cluster.get("nodes", nodes[0]["metadata"]["name"])["kind"] == "Node"


def test_what_is_served(world: World) -> None:
    served = world.cluster.registry
    assert [resource.key for resource in served.resources] == [r.key for r in BUILTIN.resources]
    assert served.by_kind("apps/v1", "Deployment") is BUILTIN.by_key(DEPLOYMENTS)
    assert world.cluster.version()["gitVersion"].startswith("v1.")


def test_a_list_is_at_the_head(world: World) -> None:
    found = world.cluster.list(DEPLOYMENTS, NAMESPACE)
    head = int(world.cluster.head(DEPLOYMENTS))
    assert all(int(each["metadata"]["resourceVersion"]) <= head for each in found)


def test_a_definition_is_served_once_it_is_established(world: World) -> None:
    names = {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "shortNames": ["gd"]}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    world.cluster.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "gadgets.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
        }
    )
    world.advance(20.0)
    found = world.cluster.registry.find("gd")
    assert found is not None
    gadget = {
        "apiVersion": "example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "a", "namespace": NAMESPACE},
        "spec": {"size": 3},
    }
    world.cluster.create(gadget)
    assert world.cluster.get(found.key, "a", NAMESPACE)["spec"] == {"size": 3}


Refusal = tuple[Callable[[Cluster], Any], int, str, str]

REFUSALS: dict[str, Refusal] = {
    "no such object": (
        lambda c: c.get("pods", "nope", NAMESPACE),
        404,
        "NotFound",
        'pods "nope" not found',
    ),
    "a group is named": (
        lambda c: c.get(DEPLOYMENTS, "nope", NAMESPACE),
        404,
        "NotFound",
        'deployments.apps "nope" not found',
    ),
    "no way out of the path": (
        lambda c: c.get("pods", "..", NAMESPACE),
        404,
        "NotFound",
        'pods ".." not found',
    ),
    "not served": (
        lambda c: c.list("gadgets.example.com"),
        404,
        "NotFound",
        "the server could not find the requested resource",
    ),
    "there already": (
        lambda c: c.create(settings("kube-root-ca.crt")),
        409,
        "AlreadyExists",
        'configmaps "kube-root-ca.crt" already exists',
    ),
    "no such namespace": (
        lambda c: c.create(
            {**settings("a"), "metadata": {"name": "a", "namespace": "nowhere"}},
        ),
        404,
        "NotFound",
        'namespaces "nowhere" not found',
    ),
    "another namespace than asked": (
        lambda c: c.create(settings("a"), namespace="default"),
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
    "invalid": (
        lambda c: c.patch(DEPLOYMENTS, "geo", {"spec": {"replicas": -1}}, namespace=NAMESPACE),
        422,
        "Invalid",
        'Deployment.apps "geo" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ),
    "unknown field": (
        lambda c: c.patch(DEPLOYMENTS, "geo", {"spec": {"replica": 1}}, namespace=NAMESPACE, type="merge"),
        422,
        "Invalid",
        'unknown field "spec.replica"',
    ),
    "a stale version": (
        lambda c: c.replace(
            {
                **c.get("services", "geo", NAMESPACE),
                "metadata": {"name": "geo", "namespace": NAMESPACE, "resourceVersion": "1"},
            }
        ),
        409,
        "Conflict",
        "the object has been modified; please apply your changes to the latest version and try again",
    ),
    "a patch that does not fit": (
        lambda c: c.patch(
            "services", "geo", [{"op": "remove", "path": "/spec/nope"}], namespace=NAMESPACE, type="json"
        ),
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
    ),
    "a bad selector": (
        lambda c: c.list("pods", NAMESPACE, label_selector="a=b=c"),
        400,
        "BadRequest",
        "found '=', expected: ',' or 'end of string'",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(world: World, case: str) -> None:
    act, code, reason, message = REFUSALS[case]
    with pytest.raises(StatusError) as refused:
        act(world.cluster)
    assert (refused.value.code, refused.value.reason) == (code, reason)
    assert message in str(refused.value)


# --- writing ------------------------------------------------------------------------------------------


def test_create_replace_delete(world: World) -> None:
    cluster = world.cluster
    made = cluster.create(settings("extra", a="1"))
    assert made["metadata"]["uid"]
    cluster.replace({**made, "data": {"b": "2"}})
    assert cluster.get("configmaps", "extra", NAMESPACE)["data"] == {"b": "2"}
    left = cluster.delete("configmaps", "extra", NAMESPACE)
    assert (left["kind"], left["metadata"]["name"]) == ("ConfigMap", "extra")
    assert left["metadata"]["uid"] == made["metadata"]["uid"]
    assert "extra" not in named(cluster.list("configmaps", NAMESPACE))


def test_an_object_without_a_namespace_goes_where_the_request_goes(world: World) -> None:
    bare = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extra"}}
    assert world.cluster.create(bare, namespace=NAMESPACE)["metadata"]["namespace"] == NAMESPACE
    assert world.cluster.create(bare)["metadata"]["namespace"] == "default"


def test_the_four_patches(world: World) -> None:
    cluster = world.cluster
    container = {"name": "hotel-reserv-geo", "env": [{"name": "EXTRA", "value": "1"}]}
    strategic = {"spec": {"template": {"spec": {"containers": [container]}}}}
    (patched,) = cluster.patch(DEPLOYMENTS, "geo", strategic, namespace=NAMESPACE)["spec"]["template"][
        "spec"
    ]["containers"]
    assert {"name": "EXTRA", "value": "1"} in patched["env"]
    assert patched["image"], "a strategic patch merges a list by its key"

    cluster.create(settings("extra", a="1", b="2"))
    merged = cluster.patch(
        "configmaps", "extra", {"data": {"a": None, "c": "3"}}, namespace=NAMESPACE, type="merge"
    )
    assert merged["data"] == {"b": "2", "c": "3"}
    operations = [{"op": "replace", "path": "/data/b", "value": "4"}]
    assert (
        cluster.patch("configmaps", "extra", operations, namespace=NAMESPACE, type="json")["data"]["b"] == "4"
    )
    configuration = settings("applied", a="1")
    applied = cluster.patch(
        "configmaps", "applied", configuration, namespace=NAMESPACE, type="apply", field_manager="me"
    )
    assert applied["data"] == {"a": "1"}


def test_appliers_conflict_and_force(world: World) -> None:
    def apply(manager: str, value: str, *, force: bool = False) -> Any:
        return world.cluster.patch(
            "configmaps",
            "shared",
            settings("shared", a=value),
            namespace=NAMESPACE,
            type="apply",
            field_manager=manager,
            force=force,
        )

    apply("one", "1")
    with pytest.raises(StatusError) as refused:
        apply("two", "2")
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")
    assert 'conflict with "one": .data.a' in str(refused.value)
    assert apply("two", "2", force=True)["data"] == {"a": "2"}


def test_a_dry_run_changes_nothing(world: World) -> None:
    cluster = world.cluster
    assert cluster.create(settings("extra"), dry_run=True)["metadata"]["name"] == "extra"
    cluster.patch("services", "geo", {"metadata": {"labels": {"x": "y"}}}, namespace=NAMESPACE, dry_run=True)
    cluster.delete("services", "geo", NAMESPACE, dry_run=True)
    assert "extra" not in named(cluster.list("configmaps", NAMESPACE))
    assert "x" not in cluster.get("services", "geo", NAMESPACE)["metadata"]["labels"]


def test_unknown_fields_are_dropped_where_nobody_is_strict(world: World) -> None:
    odd = {**settings("odd", a="1"), "colour": "red"}
    with pytest.raises(StatusError, match="strict decoding error: unknown field"):
        world.cluster.create(odd)
    assert "colour" not in world.cluster.create(odd, strict=False)


def test_scaling_and_owners(world: World) -> None:
    cluster = world.cluster
    cluster.patch(
        DEPLOYMENTS, "geo", {"spec": {"replicas": 2}}, namespace=NAMESPACE, type="merge", subresource="scale"
    )
    world.advance(30.0)
    assert cluster.get(DEPLOYMENTS, "geo", NAMESPACE)["status"]["availableReplicas"] == 2
    cluster.delete(DEPLOYMENTS, "geo", NAMESPACE, propagation="Foreground")
    world.advance(60.0)
    assert not [name for name in named(cluster.list("pods", NAMESPACE)) if name.startswith("geo-")]


def test_posting_to_a_subresource(world: World) -> None:
    pod = named(world.cluster.list("pods", NAMESPACE, label_selector="io.kompose.service=geo"))[0]
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": NAMESPACE},
    }
    world.cluster.create(eviction, namespace=NAMESPACE, subresource="eviction", name=pod)
    world.advance(60.0)
    assert pod not in named(world.cluster.list("pods", NAMESPACE))


def test_a_selector_that_cannot_be_read_is_told_in_the_servers_words(world: World) -> None:
    with pytest.raises(StatusError) as refused:
        world.cluster.list("pods", NAMESPACE, label_selector="a=b=c")
    assert str(refused.value) == "found '=', expected: ',' or 'end of string'"
    answer = Workstation(world, ONCALL).run("kubectl get pods -l a=b=c").text
    assert answer == (
        'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "a=b=c", '
        "field selector \"\": found '=', expected: ',' or 'end of string'\n"
    )


def test_the_server_warns(world: World) -> None:
    world.cluster.warnings()
    world.cluster.list("componentstatuses")
    assert world.cluster.warnings() == ("v1 ComponentStatus is deprecated in v1.19+",)
    assert world.cluster.warnings() == ()


# --- who asks -----------------------------------------------------------------------------------------


def test_the_on_call_engineer_may_not_do_everything(world: World) -> None:
    cluster = world.cluster.as_user(ONCALL)
    assert cluster.user == ONCALL
    assert cluster.list("pods", NAMESPACE)
    with pytest.raises(StatusError) as refused:
        cluster.delete("nodes", "sre-worker")
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    assert str(refused.value) == (
        'nodes "sre-worker" is forbidden: User "sre-agent" cannot delete resource "nodes" in API group "" at the '
        "cluster scope"
    )
    assert world.cluster.get("nodes", "sre-worker")


def test_somebody_without_any_role(world: World) -> None:
    with pytest.raises(StatusError, match='User "nobody" cannot list resource "pods"'):
        world.cluster.as_user(User("nobody")).list("pods", NAMESPACE)


def test_groups_count(world: World) -> None:
    chief = world.cluster.as_user(User("chief", ("system:masters", "system:authenticated")))
    assert chief.list("secrets", "kube-system") is not None
    assert chief.review_access("delete", "nodes")


def test_asking_what_one_may_do(world: World) -> None:
    cluster = world.cluster.as_user(ONCALL)
    assert cluster.review_access("delete", "pods", NAMESPACE)
    assert cluster.review_access("create", "pods", NAMESPACE, subresource="exec")
    assert cluster.review_access("patch", DEPLOYMENTS, NAMESPACE, "geo")
    assert not cluster.review_access("delete", "nodes")
    assert not cluster.review_access("create", "clusterrolebindings.rbac.authorization.k8s.io")
    assert not cluster.review_access("get", "/metrics")
    assert world.cluster.review_access("*", "*")
