"""The API server's write path: what it fills in, what it refuses and how it says so."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.cluster.identity import User
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import EPOCH
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events, quota
from sregym_env.sim.apiserver.rbac import Authorizer
from sregym_env.sim.world import Machinery, SimWorld

NAMESPACE = "shop"


@pytest.fixture
def world() -> SimWorld:
    """An API server with one namespace and nobody who reacts."""
    made = SimWorld(1, start=EPOCH, machinery=Machinery.of((), {}), images={})
    for name in ("default", NAMESPACE):
        apiserver.create(
            made, "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        )
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": NAMESPACE},
    }
    apiserver.create(made, "serviceaccounts", account)
    return made


def obj(api_version: str, kind: str, name: str, /, **fields: Any) -> Manifest:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        **fields,
    }


def pod(name: str = "web", **resources: Any) -> Manifest:
    container = {"name": "c", "image": "nginx:1.27", "resources": resources}
    return obj("v1", "Pod", name, spec={"containers": [container]})


def deployment(**spec: Any) -> Manifest:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
    return obj(
        "apps/v1",
        "Deployment",
        "web",
        spec={"selector": {"matchLabels": labels}, "template": template, **spec},
    )


def refused(world: SimWorld, resource: str, manifest: Manifest) -> str:
    with pytest.raises(StatusError) as caught:
        apiserver.create(world, resource, manifest)
    return str(caught.value)


def test_a_created_object_gets_its_server_side_fields(world: SimWorld) -> None:
    stored = apiserver.create(world, "deployments.apps", deployment())
    metadata = stored["metadata"]
    assert metadata["creationTimestamp"] == "2026-08-06T10:00:00Z"
    assert metadata["generation"] == 1
    assert metadata["uid"] and metadata["resourceVersion"]
    assert stored["spec"]["replicas"] == 1, "defaults are filled in"
    assert stored["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": "25%", "maxUnavailable": "25%"}


def test_generation_rises_with_the_spec_only(world: SimWorld) -> None:
    stored = apiserver.create(world, "deployments.apps", deployment())
    labelled = {**stored, "metadata": {**stored["metadata"], "labels": {"a": "b"}}}
    assert apiserver.update(world, "deployments.apps", labelled)["metadata"]["generation"] == 1
    current = world.store.get("deployments.apps", NAMESPACE, "web")
    assert current is not None
    scaled = {**current, "spec": {**current["spec"], "replicas": 3}}
    assert apiserver.update(world, "deployments.apps", scaled)["metadata"]["generation"] == 2


def test_an_update_that_changes_nothing_is_not_a_write(world: SimWorld) -> None:
    stored = apiserver.create(world, "deployments.apps", deployment())
    before = world.store.revision
    assert apiserver.update(world, "deployments.apps", stored) is stored
    assert world.store.revision == before


def test_an_old_resource_version_is_a_conflict(world: SimWorld) -> None:
    stored = apiserver.create(world, "deployments.apps", deployment())
    apiserver.update(world, "deployments.apps", {**stored, "spec": {**stored["spec"], "replicas": 2}})
    with pytest.raises(StatusError) as caught:
        apiserver.update(world, "deployments.apps", {**stored, "spec": {**stored["spec"], "replicas": 5}})
    assert caught.value.code == 409
    assert str(caught.value) == (
        'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


def test_status_is_not_for_ordinary_updates(world: SimWorld) -> None:
    stored = apiserver.create(world, "deployments.apps", {**deployment(), "status": {"replicas": 99}})
    assert stored["status"] == {}
    apiserver.update(world, "deployments.apps", {**stored, "status": {"replicas": 99}})
    current = world.store.get("deployments.apps", NAMESPACE, "web")
    assert current is not None and current["status"] == {}


@pytest.mark.parametrize(
    ("resource", "manifest", "text"),
    [
        ("configmaps", obj("v1", "ConfigMap", "Bad_Name"), 'ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value'),
        ("pods", {**pod(), "metadata": {"name": "x", "namespace": "nowhere"}}, 'namespaces "nowhere" not found'),
        ("deployments.apps", deployment(replicas=-1), "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        (
            "pods",
            obj("v1", "Pod", "x", spec={"serviceAccountName": "ghost", "containers": [{"name": "c", "image": "i"}]}),
            'pods "x" is forbidden: error looking up service account shop/ghost: serviceaccount "ghost" not found',
        ),
        (
            "pods",
            obj("v1", "Pod", "x", spec={"priorityClassName": "vip", "containers": [{"name": "c", "image": "i"}]}),
            'pods "x" is forbidden: no PriorityClass with name vip was found',
        ),
    ],
)  # fmt: skip
def test_refusals_speak_as_the_real_server(
    world: SimWorld, resource: str, manifest: Manifest, text: str
) -> None:
    assert text in refused(world, resource, manifest)


def test_a_second_object_of_the_same_name_already_exists(world: SimWorld) -> None:
    apiserver.create(world, "configmaps", obj("v1", "ConfigMap", "a"))
    assert refused(world, "configmaps", obj("v1", "ConfigMap", "a")) == 'configmaps "a" already exists'


# --- admission ------------------------------------------------------------------------------------


def test_pods_get_an_account_tolerations_and_a_priority(world: SimWorld) -> None:
    spec = apiserver.create(world, "pods", pod())["spec"]
    assert spec["serviceAccountName"] == "default"
    assert spec["volumes"][0]["name"].startswith("kube-api-access-")
    assert (
        spec["containers"][0]["volumeMounts"][0]["mountPath"]
        == "/var/run/secrets/kubernetes.io/serviceaccount"
    )
    assert [t["key"] for t in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")


def make_quota(world: SimWorld, **hard: str) -> Manifest:
    named = {key.replace("_", "."): value for key, value in hard.items()}
    return apiserver.create(world, "resourcequotas", obj("v1", "ResourceQuota", "q", spec={"hard": named}))


def test_a_memory_quota_asks_every_pod_for_its_memory(world: SimWorld) -> None:
    make_quota(world, memory="1Gi")
    assert (
        refused(world, "pods", pod())
        == 'pods "web" is forbidden: failed quota: q: must specify memory for: c'
    )


def test_a_quota_counts_what_is_there(world: SimWorld) -> None:
    made = make_quota(world, requests_memory="1Gi")
    apiserver.create(world, "pods", pod("a", requests={"memory": "700Mi"}))
    assert quota.used(world, made) == {"requests.memory": "700Mi"}
    assert refused(world, "pods", pod("b", requests={"memory": "400Mi"})) == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.memory=400Mi, '
        "used: requests.memory=700Mi, limited: requests.memory=1Gi"
    )


def test_a_limit_range_fills_in_and_bounds(world: SimWorld) -> None:
    item = {"type": "Container", "default": {"memory": "256Mi"}, "max": {"memory": "1Gi"}}
    apiserver.create(world, "limitranges", obj("v1", "LimitRange", "l", spec={"limits": [item]}))
    resources = apiserver.create(world, "pods", pod())["spec"]["containers"][0]["resources"]
    assert resources["limits"] == {"memory": "256Mi"}
    assert "maximum memory usage per Container is 1Gi, but limit is 2Gi" in refused(
        world, "pods", pod("big", limits={"memory": "2Gi"})
    )


def test_a_restricted_namespace_names_every_breach(world: SimWorld) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    apiserver.patch_metadata(world, "namespaces", "", NAMESPACE, labels=labels)
    text = refused(world, "pods", pod())
    assert text.startswith(
        'pods "web" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false'
    )
    assert 'container "c" must set securityContext.capabilities.drop=["ALL"]' in text
    assert text.endswith('must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")')


# --- services -------------------------------------------------------------------------------------


def service(name: str, **spec: Any) -> Manifest:
    return obj("v1", "Service", name, spec={"ports": [{"port": 80}], **spec})


def test_services_get_addresses_and_may_not_take_each_others(world: SimWorld) -> None:
    first = apiserver.create(world, "services", service("a"))
    address = first["spec"]["clusterIP"]
    assert address.startswith("10.96.") and first["spec"]["clusterIPs"] == [address]
    assert f"failed to allocate IP {address}: provided IP is already allocated" in refused(
        world, "services", service("b", clusterIP=address)
    )
    node_port = apiserver.create(world, "services", service("c", type="NodePort"))["spec"]["ports"][0][
        "nodePort"
    ]
    assert 30000 <= node_port <= 32767
    assert apiserver.create(world, "services", service("d", clusterIP="None"))["spec"]["clusterIP"] == "None"


# --- deletion -------------------------------------------------------------------------------------


def test_a_pod_that_never_ran_goes_at_once_and_a_running_one_with_grace(world: SimWorld) -> None:
    apiserver.create(world, "pods", pod("idle"))
    apiserver.delete(world, "pods", NAMESPACE, "idle")
    assert world.store.get("pods", NAMESPACE, "idle") is None
    placed = apiserver.create(world, "pods", pod("busy"))
    world.store.put("pods", {**placed, "spec": {**placed["spec"], "nodeName": "n"}})
    apiserver.delete(world, "pods", NAMESPACE, "busy")
    left = world.store.get("pods", NAMESPACE, "busy")
    assert left is not None
    assert left["metadata"]["deletionTimestamp"] == "2026-08-06T10:00:30Z"
    apiserver.delete(world, "pods", NAMESPACE, "busy", grace=0)
    assert world.store.get("pods", NAMESPACE, "busy") is None


def test_a_finalizer_keeps_an_object_until_it_is_taken_away(world: SimWorld) -> None:
    made = obj("v1", "ConfigMap", "kept")
    made["metadata"]["finalizers"] = ["example.org/wait"]
    apiserver.create(world, "configmaps", made)
    apiserver.delete(world, "configmaps", NAMESPACE, "kept")
    left = world.store.get("configmaps", NAMESPACE, "kept")
    assert left is not None and "deletionTimestamp" in left["metadata"]
    apiserver.patch_metadata(world, "configmaps", NAMESPACE, "kept", finalizers=[])
    assert world.store.get("configmaps", NAMESPACE, "kept") is None


# --- events and RBAC ------------------------------------------------------------------------------


def test_the_same_event_again_is_counted(world: SimWorld) -> None:
    about = apiserver.create(world, "pods", pod())
    for _ in range(3):
        events.record(world, about, "Warning", "BackOff", "again", component="kubelet", host="n")
    found = world.store.list("events", NAMESPACE)
    assert [(e["reason"], e["count"]) for e in found] == [("BackOff", 3)]
    assert found[0]["involvedObject"]["name"] == "web"


def test_many_different_texts_are_folded(world: SimWorld) -> None:
    about = apiserver.create(world, "pods", pod())
    for number in range(15):
        events.record(world, about, "Warning", "Failed", f"text {number}", component="kubelet")
    texts = [e["message"] for e in world.store.list("events", NAMESPACE)]
    assert len(texts) == 11
    assert sum(text.startswith("(combined from similar events): ") for text in texts) == 1


def test_rbac_allows_what_a_binding_grants_and_nothing_else(world: SimWorld) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]}]
    role = obj("rbac.authorization.k8s.io/v1", "Role", "reader", rules=rules)
    apiserver.create(world, "roles.rbac.authorization.k8s.io", role)
    ana = Authorizer(world, User("ana"))
    assert not ana.allows("get", "", "pods", NAMESPACE)
    binding = obj(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        "ana-reads",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        subjects=[{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "ana"}],
    )
    apiserver.create(world, "rolebindings.rbac.authorization.k8s.io", binding)
    assert ana.allows("get", "", "pods", NAMESPACE)
    assert ana.allows("get", "", "pods/log", NAMESPACE)
    assert not ana.allows("delete", "", "pods", NAMESPACE)
    assert not ana.allows("get", "", "pods", "default")
    assert not ana.allows("get", "", "secrets", NAMESPACE)


def test_a_dry_run_leaves_no_trace_not_even_in_chance(world: SimWorld) -> None:
    before = world.streams.state(), world.store.revision
    made = apiserver.create(world, "services", service("a"), dry_run=True)
    assert made["spec"]["clusterIP"].startswith("10.96.")
    assert (world.streams.state(), world.store.revision) == before
