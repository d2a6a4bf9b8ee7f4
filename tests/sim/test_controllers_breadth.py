"""Control loops of the kinds that are seldom looked at: what they do when somebody does."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from sregym_env.kube.status import StatusError
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import subresources
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world import SimWorld
from tests.sim.conformance.entries import entries
from tests.sim.control_plane import (
    change,
    cluster,
    create,
    get,
    names,
    pods,
    run,
    said,
    set_phase,
    template,
    workload,
)

CONTROLLERS = "replicationcontrollers"
SLICES = "endpointslices.discovery.k8s.io"
BUDGETS = "poddisruptionbudgets.policy"
CLAIMS = "persistentvolumeclaims"
STATEFUL = "statefulsets.apps"


# --- replication controllers ----------------------------------------------------------------------------


def test_replication_controller_keeps_its_number() -> None:
    world = cluster("n1")
    create(
        world, CONTROLLERS, "old", {"replicas": 2, "selector": {"app": "old"}, "template": template("old")}
    )
    run(world)
    assert len(pods(world, app="old")) == 2
    status = get(world, CONTROLLERS, "old")["status"]
    assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (2, 2, 2)
    owner = pods(world)[0]["metadata"]["ownerReferences"][0]
    assert (owner["apiVersion"], owner["kind"]) == ("v1", "ReplicationController")
    change(world, CONTROLLERS, "old", replicas=1)
    run(world)
    assert len(pods(world, app="old")) == 1
    assert said(world, "SuccessfulDelete")
    apiserver.delete(world, CONTROLLERS, "default", "old")
    run(world)
    assert not pods(world)


# --- evictions -------------------------------------------------------------------------------------------


def budgeted(**spec: Any) -> SimWorld:
    world = cluster("n1")
    create(world, "deployments.apps", "web", workload(replicas=2))
    run(world)
    create(world, BUDGETS, "web", {"selector": {"matchLabels": {"app": "web"}}, **spec})
    world.settle()
    return world


def evict(world: SimWorld, pod: Any) -> Any:
    return subresources.evict(world, "default", pod["metadata"]["name"], {}, dry_run=False)


def test_eviction_leaves_a_condition_and_spends_the_budget() -> None:
    world = budgeted(maxUnavailable=1)
    first, second = pods(world)
    assert evict(world, first)["status"] == "Success"
    gone = get(world, "pods", first["metadata"]["name"])
    assert gone["status"]["conditions"][-1]["reason"] == "EvictionByEvictionAPI"
    with pytest.raises(StatusError) as raised:
        evict(world, second)
    assert raised.value.code == 429
    assert raised.value.details["causes"][0]["message"] == (
        "The disruption budget web needs 1 healthy pods and has 2 currently"
    )


@pytest.mark.parametrize(
    ("policy", "goes"), [("AlwaysAllow", True), ("IfHealthyBudget", False), (None, False)]
)
def test_unhealthy_pods(policy: str | None, goes: bool) -> None:
    world = budgeted(minAvailable=2, **({"unhealthyPodEvictionPolicy": policy} if policy else {}))
    sick = pods(world)[0]
    set_phase(world, sick, "Running", ready=False)
    world.settle()
    if goes:
        assert evict(world, sick)["status"] == "Success"
    else:
        with pytest.raises(StatusError):
            evict(world, sick)


def test_a_pod_of_two_budgets_cannot_be_evicted() -> None:
    world = budgeted(maxUnavailable=1)
    create(world, BUDGETS, "other", {"selector": {}, "maxUnavailable": 1})
    world.settle()
    with pytest.raises(StatusError, match="more than one PodDisruptionBudget") as raised:
        evict(world, pods(world)[0])
    assert raised.value.code == 500


def test_budget_over_pods_without_scale() -> None:
    world = cluster("n1")
    create(world, "daemonsets.apps", "agent", workload("agent"))
    run(world)
    create(world, BUDGETS, "agent", {"selector": {"matchLabels": {"app": "agent"}}, "maxUnavailable": 1})
    world.settle()
    about = "daemonsets.apps does not implement the scale subresource"
    assert get(world, BUDGETS, "agent")["status"]["conditions"][0]["message"] == about
    assert said(world, "CalculateExpectedPodCountFailed") == [
        f"Failed to calculate the number of expected pods: {about}"
    ]


# --- endpoints ----------------------------------------------------------------------------------------------


def test_manual_endpoints_are_mirrored() -> None:
    world = cluster("n1")
    create(world, "services", "legacy", {"ports": [{"port": 80}]})
    subsets = [
        {
            "addresses": [{"ip": "192.0.2.7"}],
            "notReadyAddresses": [{"ip": "192.0.2.8"}],
            "ports": [{"port": 80}],
        }
    ]
    create(world, "endpoints", "legacy", subsets=subsets, metadata={"labels": {"a": "b"}})
    world.settle()
    (piece,) = world.store.list(SLICES, "default")
    labels = piece["metadata"]["labels"]
    assert labels["endpointslice.kubernetes.io/managed-by"] == "endpointslicemirroring-controller.k8s.io"
    assert labels["kubernetes.io/service-name"] == "legacy" and labels["a"] == "b"
    assert [e["conditions"] for e in piece["endpoints"]] == [{"ready": True}, {"ready": False}]
    current = get(world, "endpoints", "legacy")
    apiserver.update(world, "endpoints", {**current, "subsets": [{**subsets[0], "notReadyAddresses": []}]})
    world.settle()
    (piece,) = world.store.list(SLICES, "default")
    assert len(piece["endpoints"]) == 1
    change(world, "services", "legacy", selector={"app": "web"})
    world.settle()
    assert not any(
        "mirroring" in found["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"]
        for found in world.store.list(SLICES, "default")
    )


def test_endpoints_with_the_skip_label_are_not_mirrored() -> None:
    world = cluster("n1")
    create(world, "services", "legacy", {"ports": [{"port": 80}]})
    labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
    create(
        world,
        "endpoints",
        "legacy",
        subsets=[{"addresses": [{"ip": "192.0.2.7"}]}],
        metadata={"labels": labels},
    )
    world.settle()
    assert not world.store.list(SLICES, "default")


# --- access --------------------------------------------------------------------------------------------------


def test_token_secret_is_filled_and_goes_with_its_account() -> None:
    world = cluster("n1")
    create(world, "serviceaccounts", "robot")
    annotations = {"kubernetes.io/service-account.name": "robot"}
    create(
        world,
        "secrets",
        "robot-token",
        type="kubernetes.io/service-account-token",
        metadata={"annotations": annotations},
    )
    world.settle()
    secret = get(world, "secrets", "robot-token")
    assert set(secret["data"]) == {"ca.crt", "namespace", "token"}
    assert base64.b64decode(secret["data"]["namespace"]) == b"default"
    uid = get(world, "serviceaccounts", "robot")["metadata"]["uid"]
    assert secret["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == uid
    apiserver.delete(world, "serviceaccounts", "default", "robot")
    world.settle()
    assert "robot-token" not in names(world, "secrets")


def test_cluster_roles_aggregate() -> None:
    world = cluster("n1")
    roles = "clusterroles.rbac.authorization.k8s.io"
    selector = {"matchLabels": {"to": "watcher"}}
    create(world, roles, "watcher", aggregationRule={"clusterRoleSelectors": [selector]}, rules=[])
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["watch"]}
    create(world, roles, "part", rules=[rule], metadata={"labels": {"to": "watcher"}})
    world.settle()
    assert get(world, roles, "watcher")["rules"] == [rule]
    apiserver.delete(world, roles, "", "part")
    world.settle()
    assert not get(world, roles, "watcher").get("rules")


# --- claims of stateful sets -----------------------------------------------------------------------------------


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


@pytest.mark.parametrize(
    ("deleted", "scaled", "after_scaling", "after_deletion"),
    [
        ("Retain", "Retain", ["data-db-0", "data-db-1"], ["data-db-0", "data-db-1"]),
        ("Retain", "Delete", ["data-db-0"], ["data-db-0"]),
        ("Delete", "Retain", ["data-db-0", "data-db-1"], []),
        ("Delete", "Delete", ["data-db-0"], []),
    ],
)
def test_claims_follow_the_retention_policy(
    deleted: str, scaled: str, after_scaling: list[str], after_deletion: list[str]
) -> None:
    world = cluster("n1")
    policy = {"whenDeleted": deleted, "whenScaled": scaled}
    spec = workload("db", replicas=2, serviceName="db", volumeClaimTemplates=[CLAIM])
    create(world, STATEFUL, "db", {**spec, "persistentVolumeClaimRetentionPolicy": policy})
    run(world)
    change(world, STATEFUL, "db", replicas=1)
    run(world)
    run(world)
    assert names(world, CLAIMS) == after_scaling
    apiserver.delete(world, STATEFUL, "default", "db")
    run(world)
    run(world)
    assert names(world, CLAIMS) == after_deletion


# --- on a whole cluster --------------------------------------------------------------------------------------------


@pytest.fixture
def whole() -> EmbeddedWorld:
    return bare_cluster()


def available(world: SimWorld) -> tuple[str, str, str]:
    service = get(world, "apiservices.apiregistration.k8s.io", "v1beta1.metrics.k8s.io")
    (condition,) = service["status"]["conditions"]
    return condition["status"], condition["reason"], condition["message"]


def test_api_service_says_whether_what_stands_behind_it_answers(whole: EmbeddedWorld) -> None:
    assert available(whole) == ("True", "Passed", "all checks passed")
    whole.cluster.patch(
        "deployments.apps",
        "metrics-server",
        {"spec": {"replicas": 0}},
        namespace="kube-system",
        subresource="scale",
    )
    whole.advance(60)
    text = 'endpoints for service/metrics-server in "kube-system" have no addresses with port name "https"'
    assert available(whole) == ("False", "MissingEndpoints", text)
    with pytest.raises(StatusError) as raised:
        whole.cluster.list("nodes.metrics.k8s.io")
    assert raised.value.code == 503
    whole.cluster.delete("services", "metrics-server", "kube-system")
    whole.advance(5)
    assert available(whole)[1:] == (
        "ServiceNotFound",
        'service/metrics-server in "kube-system" is not present',
    )
    whole.cluster.delete("apiservices.apiregistration.k8s.io", "v1beta1.metrics.k8s.io")
    with pytest.raises(StatusError) as raised:
        whole.cluster.list("nodes.metrics.k8s.io")
    assert raised.value.code == 404


def test_flow_schema_without_its_priority_level(whole: EmbeddedWorld) -> None:
    schemas = "flowschemas.flowcontrol.apiserver.k8s.io"
    create(whole, schemas, "mine", {"priorityLevelConfiguration": {"name": "nowhere"}})
    whole.advance(1)
    (condition,) = get(whole, schemas, "mine")["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "NotFound")


def test_certificate_requests_are_signed_once_approved(whole: EmbeddedWorld) -> None:
    from cryptography import x509

    key = "certificatesigningrequests.certificates.k8s.io"
    entry = next(entry for entry in entries() if entry.resource.key == key)
    body = entry.manifest(entry.rich)
    wanted = {
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
        "expirationSeconds": 3600,
    }
    whole.cluster.create({**body, "spec": {**body["spec"], **wanted}})
    request = get(whole, key, "made")
    assert request["spec"]["username"] == "kubernetes-admin"
    now = "2026-08-06T10:00:00Z"
    approved = {
        "type": "Approved",
        "status": "True",
        "reason": "Yes",
        "lastUpdateTime": now,
        "lastTransitionTime": now,
    }
    whole.cluster.patch(
        key, "made", {"status": {"conditions": [approved]}}, type="merge", subresource="status"
    )
    whole.advance(1)
    made = x509.load_pem_x509_certificate(base64.b64decode(get(whole, key, "made")["status"]["certificate"]))
    assert made.subject.rfc4514_string() == "CN=jane,O=sre"
    assert (made.not_valid_after_utc - made.not_valid_before_utc).total_seconds() == 3600
    whole.advance(3700)
    assert whole.store.get(key, "", "made") is None


def test_leases_of_the_control_plane_are_renewed(whole: EmbeddedWorld) -> None:
    def renewed() -> str:
        found = whole.cluster.get("leases.coordination.k8s.io", "kube-scheduler", "kube-system")
        return str(found["spec"]["renewTime"])

    before = renewed()
    whole.advance(10)
    assert renewed() > before


def test_a_namespace_stays_while_an_aggregated_api_does_not_answer(whole: EmbeddedWorld) -> None:
    whole.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}})
    whole.cluster.patch(
        "deployments.apps",
        "metrics-server",
        {"spec": {"replicas": 0}},
        namespace="kube-system",
        subresource="scale",
    )
    whole.advance(60)
    whole.cluster.delete("namespaces", "old")
    whole.advance(60)
    first = get(whole, "namespaces", "old")["status"]["conditions"][0]
    assert (first["status"], first["reason"]) == ("True", "DiscoveryFailed")
    assert first["message"] == (
        "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "
        "metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"
    )
    whole.cluster.delete("apiservices.apiregistration.k8s.io", "v1beta1.metrics.k8s.io")
    whole.advance(60)
    assert whole.store.get("namespaces", "", "old") is None


def test_a_service_leads_to_endpoints_written_by_hand(whole: EmbeddedWorld) -> None:
    def pod(name: str, **container: Any) -> None:
        spec = {
            "containers": [{"name": "c", "image": "busybox:1.36", "command": ["sleep", "3600"], **container}]
        }
        whole.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})

    image = "registry.k8s.io/e2e-test-images/agnhost:2.47"
    pod("server", image=image, command=None, args=["netexec", "--http-port=8080"])
    pod("client")
    whole.advance(15)
    address = get(whole, "pods", "server")["status"]["podIP"]
    create(whole, "services", "legacy", {"ports": [{"port": 80, "targetPort": 8080}]})

    def ask() -> Any:
        return whole.cluster.exec("default", "client", ["wget", "-qO-", "-T", "2", "http://legacy/hostname"])

    assert ask().exit_code != 0
    subsets = [{"addresses": [{"ip": address}], "ports": [{"port": 8080}]}]
    create(whole, "endpoints", "legacy", subsets=subsets)
    whole.advance(1)
    assert whole.store.list(SLICES, "default")[-1]["metadata"]["name"].startswith("legacy-")
    assert ask().stdout == "server"


def test_groups_of_custom_resources_are_registered(whole: EmbeddedWorld) -> None:
    key = "customresourcedefinitions.apiextensions.k8s.io"
    entry = next(entry for entry in entries() if entry.resource.key == key)
    whole.cluster.create(entry.manifest(entry.rich))
    whole.advance(2)
    service = get(whole, "apiservices.apiregistration.k8s.io", "v1.example.com")
    assert service["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
    assert service["status"]["conditions"][0]["reason"] == "Local"
    whole.cluster.delete(key, entry.name)
    whole.advance(10)
    assert whole.store.get("apiservices.apiregistration.k8s.io", "", "v1.example.com") is None
