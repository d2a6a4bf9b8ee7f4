"""Who is recorded as owner of what, and what is shown where nobody is."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.ownership import inferred
from sregym_env.kube.ownership.fields import is_fields, paths
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.world import SimWorld
from tests.sim import control_plane

DEPLOYMENTS = "deployments.apps"


@pytest.fixture
def world() -> SimWorld:
    return control_plane.cluster("n1")


@pytest.fixture
def cluster(world: SimWorld) -> SimCluster:
    return SimCluster(world)


def deployment(**spec: Any) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {**control_plane.workload(), **spec},
    }


def config_map(**data: str) -> Manifest:
    metadata = {"name": "settings", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def shown(cluster: SimCluster, resource: str, name: str, namespace: str | None = "default") -> list[Manifest]:
    obj = cluster.get(resource, name, namespace)
    kind = cluster.registry.by_key(resource)
    assert kind is not None
    found: list[Manifest] = inferred.with_managed_fields(kind, obj)["metadata"].get("managedFields", [])
    return found


def owners(entries: list[Manifest]) -> list[tuple[str, str, str]]:
    return [(e["manager"], e["operation"], e.get("subresource", "")) for e in entries]


def owned(entries: list[Manifest], manager: str) -> set[str]:
    return {path for e in entries if e["manager"] == manager for path in paths(e["fieldsV1"])}


def test_writes_without_a_manager_are_not_recorded(cluster: SimCluster) -> None:
    cluster.create(config_map(a="1"))
    stored = cluster.patch("configmaps", "settings", {"data": {"a": "2"}}, namespace="default")
    assert "managedFields" not in stored["metadata"]
    stored = cluster.patch(
        "configmaps", "settings", {"data": {"a": "3"}}, namespace="default", field_manager="me"
    )
    assert owners(stored["metadata"]["managedFields"]) == [
        ("kubectl-create", "Update", ""),
        ("me", "Update", ""),
    ]


def test_an_owner_who_changes_a_value_writes_later(world: SimWorld, cluster: SimCluster) -> None:
    cluster.create(config_map(a="1"), field_manager="helm")
    world.advance(100)
    changed = cluster.patch(
        "configmaps", "settings", {"data": {"a": "2"}}, namespace="default", field_manager="helm"
    )
    (entry,) = changed["metadata"]["managedFields"]
    assert entry["time"] == rfc3339(world.now())
    world.advance(100)
    again = cluster.patch(
        "configmaps", "settings", {"data": {"a": "2"}}, namespace="default", field_manager="helm"
    )
    assert again == changed


def test_a_change_that_the_server_takes_back_writes_nothing(world: SimWorld, cluster: SimCluster) -> None:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    web = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": spec,
    }
    made = cluster.create(web, field_manager="helm")
    world.advance(100)
    # A Service keeps the address that it has been given, whoever leaves it out.
    sent = {**web, "metadata": made["metadata"]}
    assert cluster.replace(sent, field_manager="helm") == made


def test_a_creator_owns_defaults_but_not_what_is_allocated(cluster: SimCluster) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }
    entries = cluster.create(service, field_manager="kubectl-create")["metadata"]["managedFields"]
    assert owned(entries, "kubectl-create") == {
        ".spec.internalTrafficPolicy", ".spec.ports", '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].port', '.spec.ports[port=80,protocol="TCP"].protocol',
        '.spec.ports[port=80,protocol="TCP"].targetPort', ".spec.selector", ".spec.sessionAffinity", ".spec.type",
    }  # fmt: skip


def test_unsigned_changes_cannot_be_read_from_the_records(cluster: SimCluster) -> None:
    cluster.create(config_map(a="1", b="1"), field_manager="kubectl-create")
    before = shown(cluster, "configmaps", "settings")
    cluster.patch("configmaps", "settings", {"data": {"a": "2", "b": None, "c": "3"}}, namespace="default")
    after = shown(cluster, "configmaps", "settings")
    assert owners(after) == owners(before)
    assert [e["time"] for e in after] == [e["time"] for e in before]
    assert owned(after, "kubectl-create") == {".data", ".data.a", ".data.c"}


def test_what_the_world_adds_stays_when_an_applier_applies_again(cluster: SimCluster) -> None:
    def apply() -> dict[str, Any]:
        return cluster.patch(
            "configmaps",
            "settings",
            config_map(a="1"),
            namespace="default",
            type="apply",
            field_manager="helm",
        )

    apply()
    cluster.patch("configmaps", "settings", {"data": {"added": "1"}}, namespace="default")
    assert owned(shown(cluster, "configmaps", "settings"), "helm") == {".data.a"}
    assert apply()["data"] == {"a": "1", "added": "1"}


def test_an_unrecorded_object_shows_the_same_before_and_after_an_unsigned_change(
    world: SimWorld, cluster: SimCluster
) -> None:
    cluster.create(deployment())
    world.settle()
    before = shown(cluster, DEPLOYMENTS, "web")
    world.advance(100)
    changed = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "broken"}]}}}}
    cluster.patch(DEPLOYMENTS, "web", changed, namespace="default")
    assert shown(cluster, DEPLOYMENTS, "web")[-1]["fieldsV1"] == before[-1]["fieldsV1"]
    makers = [
        [e for e in found if "subresource" not in e] for found in (before, shown(cluster, DEPLOYMENTS, "web"))
    ]
    assert makers[0] == makers[1]


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("pods", "kube-controller-manager"),
        ("replicasets.apps", "kube-controller-manager"),
        ("nodes", "kubelet"),
        ("namespaces", "kube-apiserver"),
        (DEPLOYMENTS, "kubectl-create"),
    ],
)
def test_makers_are_inferred(world: SimWorld, cluster: SimCluster, resource: str, expected: str) -> None:
    cluster.create(deployment())
    world.settle()
    obj = cluster.list(resource)[0]
    kind = apiserver.resource_of(world, resource)
    entries = inferred.with_managed_fields(kind, obj)["metadata"]["managedFields"]
    assert [e["manager"] for e in entries if "subresource" not in e] == [expected]
    assert all(is_fields(e["fieldsV1"]) for e in entries)


def test_the_reporter_of_a_status_is_shown_but_never_stored(world: SimWorld, cluster: SimCluster) -> None:
    cluster.create(deployment(), field_manager="kubectl-create")
    world.settle()
    assert owners(shown(cluster, DEPLOYMENTS, "web")) == [
        ("kube-controller-manager", "Update", "status"),
        ("kubectl-create", "Update", ""),
    ]
    stored = cluster.get(DEPLOYMENTS, "web", "default")["metadata"]["managedFields"]
    assert owners(stored) == [("kubectl-create", "Update", "")]
    whole = inferred.with_managed_fields(
        apiserver.resource_of(world, DEPLOYMENTS), cluster.get(DEPLOYMENTS, "web", "default")
    )
    replaced = cluster.replace({**whole, "spec": {**whole["spec"], "paused": True}}, field_manager="me")
    assert owners(replaced["metadata"]["managedFields"]) == [
        ("kubectl-create", "Update", ""),
        ("me", "Update", ""),
    ]


def test_who_writes_a_status_owns_it(cluster: SimCluster) -> None:
    cluster.create(deployment(), field_manager="kubectl-create")
    body = {"status": {"replicas": 7}}
    cluster.patch(
        DEPLOYMENTS, "web", body, namespace="default", type="merge", subresource="status", field_manager="me"
    )
    entries = shown(cluster, DEPLOYMENTS, "web")
    assert owned(entries, "me") == {".status.replicas"}
    applied = {**deployment(), "status": {"replicas": 9}}
    del applied["spec"]
    with pytest.raises(
        StatusError, match=r'"me" with subresource "status" using apps/v1: \.status\.replicas'
    ):
        cluster.patch(
            DEPLOYMENTS,
            "web",
            applied,
            namespace="default",
            type="apply",
            subresource="status",
            field_manager="op",
        )


def test_scaling_is_recorded_with_its_subresource(cluster: SimCluster) -> None:
    cluster.create(deployment(), field_manager="kubectl-create")
    body = {"spec": {"replicas": 4}}
    cluster.patch(
        DEPLOYMENTS,
        "web",
        body,
        namespace="default",
        type="merge",
        subresource="scale",
        field_manager="kubectl",
    )
    entries = cluster.get(DEPLOYMENTS, "web", "default")["metadata"]["managedFields"]
    assert owners(entries) == [("kubectl", "Update", "scale"), ("kubectl-create", "Update", "")]
    assert owned(entries, "kubectl") == {".spec.replicas"}
    assert ".spec.replicas" not in owned(entries, "kubectl-create")


def test_a_scale_can_be_applied(cluster: SimCluster) -> None:
    cluster.patch(
        DEPLOYMENTS, "web", deployment(replicas=2), namespace="default", type="apply", field_manager="one"
    )
    scale = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "web"},
        "spec": {"replicas": 5},
    }
    arguments: dict[str, Any] = {"namespace": "default", "type": "apply", "subresource": "scale"}
    with pytest.raises(StatusError, match=r'conflict with "one": \.spec\.replicas'):
        cluster.patch(DEPLOYMENTS, "web", scale, field_manager="two", **arguments)
    made = cluster.patch(DEPLOYMENTS, "web", scale, field_manager="two", force=True, **arguments)
    assert made["spec"]["replicas"] == 5
    entries = cluster.get(DEPLOYMENTS, "web", "default")["metadata"]["managedFields"]
    assert owners(entries) == [("one", "Apply", ""), ("two", "Apply", "scale")]
    with pytest.raises(StatusError, match=r'"two" with subresource "scale": \.spec\.replicas'):
        cluster.patch(
            DEPLOYMENTS, "web", deployment(replicas=2), namespace="default", type="apply", field_manager="one"
        )


def test_an_empty_list_ends_the_records_until_the_next_apply(cluster: SimCluster) -> None:
    cluster.create(config_map(a="1"), field_manager="kubectl-create")
    reset: Manifest = {"metadata": {"managedFields": [{}]}}
    cluster.patch("configmaps", "settings", reset, namespace="default", type="merge", field_manager="me")
    assert shown(cluster, "configmaps", "settings") == []
    cluster.patch("configmaps", "settings", {"data": {"b": "1"}}, namespace="default", field_manager="me")
    assert shown(cluster, "configmaps", "settings") == []
    cluster.patch(
        "configmaps", "settings", config_map(c="1"), namespace="default", type="apply", field_manager="me"
    )
    entries = shown(cluster, "configmaps", "settings")
    assert owners(entries) == [("me", "Apply", ""), ("before-first-apply", "Update", "")]
    assert owned(entries, "before-first-apply") == {".data", ".data.a", ".data.b"}


def test_owners_can_be_edited(cluster: SimCluster) -> None:
    cluster.create(config_map(a="1"), field_manager="kubectl-create")
    steps = [
        {"op": "test", "path": "/metadata/managedFields/0/manager", "value": "kubectl-create"},
        {"op": "replace", "path": "/metadata/managedFields/0/manager", "value": "somebody"},
    ]
    cluster.patch("configmaps", "settings", steps, namespace="default", type="json", field_manager="me")
    assert owners(shown(cluster, "configmaps", "settings")) == [("somebody", "Update", "")]
    broken = [{"op": "replace", "path": "/metadata/managedFields/0/fieldsV1", "value": {"nonsense": {}}}]
    cluster.patch("configmaps", "settings", broken, namespace="default", type="json", field_manager="me")
    assert owned(shown(cluster, "configmaps", "settings"), "somebody") == {".data", ".data.a"}


def test_nothing_is_written_where_nothing_changes(world: SimWorld, cluster: SimCluster) -> None:
    arguments: dict[str, Any] = {"namespace": "default", "type": "apply", "field_manager": "me"}
    first = cluster.patch("configmaps", "settings", config_map(a="1"), **arguments)
    world.advance(60)
    assert cluster.patch("configmaps", "settings", config_map(a="1"), **arguments) is first
    cluster.patch("configmaps", "settings", {"data": {"a": "1"}}, namespace="default", field_manager="other")
    assert cluster.get("configmaps", "settings", "default") is first


def test_a_dry_run_shows_the_owners_to_be(cluster: SimCluster) -> None:
    made = cluster.patch(
        "configmaps",
        "settings",
        config_map(a="1"),
        namespace="default",
        type="apply",
        field_manager="me",
        dry_run=True,
    )
    assert owners(made["metadata"]["managedFields"]) == [("me", "Apply", "")]
    with pytest.raises(StatusError, match="not found"):
        cluster.get("configmaps", "settings", "default")


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ({"kind": "Secret"}, 400, "invalid object type: /v1, Kind=Secret"),
        ({"apiVersion": "v2"}, 400, "invalid object type: /v2, Kind=ConfigMap"),
        (
            {"metadata": {"name": "settings", "managedFields": []}},
            400,
            "metadata.managedFields must be nil",
        ),
        (
            {"metadata": {"name": "settings", "uid": "x"}},
            409,
            'Operation cannot be fulfilled on configmaps "settings": uid mismatch: the provided object specified uid '
            "x, and no existing object was found",
        ),
        (
            {"datum": {}},
            500,
            "failed to create typed patch object (default/settings; /v1, Kind=ConfigMap): .datum: field not "
            "declared in schema",
        ),
    ],
)
def test_configurations_that_are_refused(cluster: SimCluster, change: Manifest, code: int, text: str) -> None:
    with pytest.raises(StatusError) as refused:
        cluster.patch(
            "configmaps",
            "settings",
            {**config_map(a="1"), **change},
            namespace="default",
            type="apply",
            field_manager="me",
        )
    assert (refused.value.code, refused.value.message) == (code, text)


def test_defaults_of_an_applied_object_belong_to_nobody(cluster: SimCluster) -> None:
    made = cluster.patch(
        DEPLOYMENTS, "web", deployment(), namespace="default", type="apply", field_manager="me"
    )
    assert made["spec"]["strategy"]["type"] == "RollingUpdate"
    assert not any(
        path.startswith(".spec.strategy") for path in owned(made["metadata"]["managedFields"], "me")
    )


def test_an_autoscaler_owns_replicas_where_owners_are_recorded(world: SimWorld, cluster: SimCluster) -> None:
    from sregym_env.sim.apiserver.tracking import of_scaling

    kind = apiserver.resource_of(world, DEPLOYMENTS)
    plain = cluster.create(deployment())
    assert of_scaling(kind, plain) is None
    signed = cluster.patch(
        DEPLOYMENTS, "web", {"spec": {"replicas": 2}}, namespace="default", field_manager="me"
    )
    wanted = {**signed, "spec": {**signed["spec"], "replicas": 3}}
    stored = apiserver.update(world, DEPLOYMENTS, wanted, tracked=of_scaling(kind, signed))
    assert ("kube-controller-manager", "Update", "scale") in owners(stored["metadata"]["managedFields"])
