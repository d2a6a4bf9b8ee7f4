"""The official Python client writes: create, replace, every kind of patch and delete for every kind of object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from tests.clients.conftest import manifests
from tests.serve.serving import Served

kubernetes = pytest.importorskip("kubernetes")

STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Kind:
    """The typed calls for one kind of object, as users of the client write them."""

    api: Any
    name: str
    namespaced: bool

    def call(self, verb: str, *arguments: Any, **more: Any) -> Any:
        """``verb`` on this kind: ``create_namespaced_pod``, ``read_node``, ..."""
        middle = "_namespaced_" if self.namespaced else "_"
        call: Callable[..., Any] = getattr(self.api, f"{verb}{middle}{self.name}")
        return call(*arguments, **more)


def kind_of(client: Any, manifest: dict[str, Any]) -> Kind:
    """The calls for the kind of a manifest."""
    group, _, version = manifest["apiVersion"].rpartition("/")
    prefix = "".join(part.capitalize() for part in group.removesuffix(".k8s.io").split(".")) or "Core"
    api = getattr(kubernetes.client, f"{prefix}{version.capitalize()}Api")(client)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", manifest["kind"].replace("CSI", "Csi")).lower()
    return Kind(api, name, "namespace" in manifest["metadata"])


def place(manifest: dict[str, Any]) -> tuple[str, ...]:
    """Name and, where there is one, namespace."""
    metadata = manifest["metadata"]
    return tuple(filter(None, (metadata["name"], metadata.get("namespace"))))


@pytest.fixture(scope="module")
def client(running: Served) -> Iterator[Any]:
    made = kubernetes.config.new_client_from_config(str(running.kubeconfig))
    yield made
    made.close()


@pytest.fixture
def world(running: Served, furnished: EmbeddedWorld) -> EmbeddedWorld:
    """A furnished cluster of the test's own in which time stands still."""
    return running.put(furnished.fork(), "step")


WRITTEN = [m for m in manifests() if (m["kind"], m["metadata"]["name"]) != ("Event", "lone.2")]


@pytest.mark.parametrize("manifest", WRITTEN, ids=lambda m: f"{m['kind']}-{m['metadata']['name']}")
class TestEveryKind:
    def test_is_created(self, running: Served, client: Any, manifest: dict[str, Any]) -> None:
        # Created in a world without the others: what an object refers to need not exist yet.
        world = running.put(bare_cluster(), "step")
        if "namespace" in manifest["metadata"]:
            world.cluster.create(manifests()[0])
        if manifest["kind"] == "Pod":
            world.cluster.create(next(m for m in manifests() if m["kind"] == "ServiceAccount"))
        kind = kind_of(client, manifest)
        made = kind.call("create", *place(manifest)[1:], manifest)
        assert made.metadata.name == manifest["metadata"]["name"]
        assert made.metadata.uid
        with pytest.raises(kubernetes.client.ApiException) as caught:
            kind.call("create", *place(manifest)[1:], manifest)
        assert (caught.value.status, json.loads(caught.value.body)["reason"]) == (409, "AlreadyExists")

    def test_is_replaced(self, world: EmbeddedWorld, client: Any, manifest: dict[str, Any]) -> None:
        kind = kind_of(client, manifest)
        found = kind.call("read", *place(manifest))
        found.metadata.labels = {**(found.metadata.labels or {}), "touched": "yes"}
        replaced = kind.call("replace", *place(manifest), found)
        assert replaced.metadata.labels["touched"] == "yes"
        assert replaced.metadata.uid == found.metadata.uid
        with pytest.raises(kubernetes.client.ApiException) as caught:
            kind.call("replace", *place(manifest), found)
        assert (caught.value.status, json.loads(caught.value.body)["reason"]) == (409, "Conflict")

    @pytest.mark.parametrize(
        ("content_type", "change"),
        [
            (STRATEGIC, {"metadata": {"labels": {"touched": "yes"}}}),
            (MERGE, {"metadata": {"labels": {"touched": "yes"}}}),
            (JSON, [{"op": "add", "path": "/metadata/labels", "value": {"touched": "yes"}}]),
        ],
        ids=["strategic", "merge", "json"],
    )
    def test_is_patched(
        self, world: EmbeddedWorld, client: Any, manifest: dict[str, Any], content_type: str, change: Any
    ) -> None:
        kind = kind_of(client, manifest)
        patched = kind.call("patch", *place(manifest), change, _content_type=content_type)
        assert patched.metadata.labels["touched"] == "yes"
        assert kind.call("read", *place(manifest)).metadata.labels["touched"] == "yes"

    def test_is_applied(self, world: EmbeddedWorld, client: Any, manifest: dict[str, Any]) -> None:
        kind = kind_of(client, manifest)
        metadata = {
            **manifest["metadata"],
            "labels": {**manifest["metadata"].get("labels", {}), "touched": "yes"},
        }
        change = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}
        applied = kind.call(
            "patch", *place(manifest), change, _content_type=APPLY, field_manager="suite", force=True
        )
        assert applied.metadata.labels["touched"] == "yes"

    def test_is_left_alone_by_a_dry_run(
        self, world: EmbeddedWorld, client: Any, manifest: dict[str, Any]
    ) -> None:
        kind = kind_of(client, manifest)
        before = kind.call("read", *place(manifest)).metadata.resource_version
        change = {"metadata": {"labels": {"touched": "yes"}}}
        assert kind.call("patch", *place(manifest), change, dry_run="All").metadata.labels["touched"] == "yes"
        kind.call("delete", *place(manifest), dry_run="All")
        assert kind.call("read", *place(manifest)).metadata.resource_version == before

    def test_is_deleted(self, world: EmbeddedWorld, client: Any, manifest: dict[str, Any]) -> None:
        kind = kind_of(client, manifest)
        uid = kind.call("read", *place(manifest)).metadata.uid
        kind.call("delete", *place(manifest), grace_period_seconds=0)
        world.advance(60)
        try:
            left = kind.call("read", *place(manifest)).metadata
            assert (
                left.uid != uid or left.finalizers
            )  # made again by its controller, or protected while in use
        except kubernetes.client.ApiException as missing:
            assert (missing.status, json.loads(missing.body)["reason"]) == (404, "NotFound")


def test_a_collection_is_deleted(world: EmbeddedWorld, client: Any) -> None:
    core = kubernetes.client.CoreV1Api(client)
    for name in ("a", "b", "c"):
        labels = {"batch": "x"} if name != "c" else {}
        core.create_namespaced_config_map("furnished", {"metadata": {"name": name, "labels": labels}})
    core.delete_collection_namespaced_config_map("furnished", label_selector="batch=x")
    left = {item.metadata.name for item in core.list_namespaced_config_map("furnished").items}
    assert "c" in left and not left & {"a", "b"}


@pytest.mark.parametrize("kind", ["deployment", "replica_set", "stateful_set"])
def test_scales(world: EmbeddedWorld, client: Any, kind: str) -> None:
    apps = kubernetes.client.AppsV1Api(client)
    name = {"deployment": "web", "replica_set": "flock", "stateful_set": "db"}[kind]
    patched = getattr(apps, f"patch_namespaced_{kind}_scale")(name, "furnished", {"spec": {"replicas": 3}})
    assert patched.spec.replicas == 3
    scale = getattr(apps, f"read_namespaced_{kind}_scale")(name, "furnished")
    scale.spec.replicas = 1
    assert getattr(apps, f"replace_namespaced_{kind}_scale")(name, "furnished", scale).spec.replicas == 1


@pytest.mark.parametrize(
    ("api", "kind", "name"),
    [
        ("CoreV1Api", "pod", "lone"),
        ("CoreV1Api", "resource_quota", "shares"),
        ("CoreV1Api", "service", "web"),
        ("CoreV1Api", "persistent_volume_claim", "disk"),
        ("AppsV1Api", "deployment", "web"),
        ("AppsV1Api", "daemon_set", "everywhere"),
        ("AppsV1Api", "stateful_set", "db"),
        ("AppsV1Api", "replica_set", "flock"),
        ("BatchV1Api", "job", "once"),
        ("BatchV1Api", "cron_job", "nightly"),
        ("AutoscalingV1Api", "horizontal_pod_autoscaler", "web"),
        ("AutoscalingV2Api", "horizontal_pod_autoscaler", "web"),
        ("PolicyV1Api", "pod_disruption_budget", "web"),
        ("NetworkingV1Api", "ingress", "web"),
    ],
)  # fmt: skip
def test_status_subresources(world: EmbeddedWorld, client: Any, api: str, kind: str, name: str) -> None:
    calls = getattr(kubernetes.client, api)(client)
    found = getattr(calls, f"read_namespaced_{kind}_status")(name, "furnished")
    assert found.status is not None
    replaced = getattr(calls, f"replace_namespaced_{kind}_status")(name, "furnished", found)
    assert replaced.metadata.uid == found.metadata.uid


def test_evictions_bindings_and_tokens(world: EmbeddedWorld, client: Any) -> None:
    core = kubernetes.client.CoreV1Api(client)
    token = core.create_namespaced_service_account_token(
        "runner", "furnished", {"spec": {"audiences": ["x"]}}
    )
    assert token.status.token
    eviction = kubernetes.client.V1Eviction(metadata={"name": "lone", "namespace": "furnished"})
    assert core.create_namespaced_pod_eviction("lone", "furnished", eviction).to_dict()
    assert core.read_namespaced_pod("lone", "furnished").metadata.deletion_timestamp


def test_reviews(world: EmbeddedWorld, client: Any) -> None:
    models = kubernetes.client
    authorization = models.AuthorizationV1Api(client)
    attributes = {"verb": "get", "resource": "pods", "namespace": "furnished"}
    own = authorization.create_self_subject_access_review({"spec": {"resourceAttributes": attributes}})
    assert own.status.allowed
    user = {"user": "nobody", "resourceAttributes": attributes}
    assert not authorization.create_subject_access_review({"spec": user}).status.allowed
    runner = {"user": "system:serviceaccount:furnished:runner", "resourceAttributes": attributes}
    local = authorization.create_namespaced_local_subject_access_review("furnished", {"spec": runner})
    assert local.status.allowed
    rules = authorization.create_self_subject_rules_review({"spec": {"namespace": "furnished"}})
    assert rules.status.resource_rules
    authentication = models.AuthenticationV1Api(client)
    assert authentication.create_self_subject_review({}).status.user_info.username == "kubernetes-admin"
    token = models.CoreV1Api(client).create_namespaced_service_account_token(
        "runner", "furnished", {"spec": {"expirationSeconds": 3600}}
    )
    reviewed = authentication.create_token_review({"spec": {"token": token.status.token}})
    assert reviewed.status.authenticated
    assert reviewed.status.user.username == "system:serviceaccount:furnished:runner"


def test_a_signing_request_is_approved(world: EmbeddedWorld, client: Any) -> None:
    certificates = kubernetes.client.CertificatesV1Api(client)
    request = _signing_request()
    spec = {"request": request, "signerName": "example.com/own", "usages": ["client auth"]}
    made = certificates.create_certificate_signing_request({"metadata": {"name": "me"}, "spec": spec})
    assert made.spec.username == "kubernetes-admin"
    condition = {"type": "Approved", "status": "True", "reason": "Looked", "message": "fine"}
    made.status = kubernetes.client.V1CertificateSigningRequestStatus(conditions=[condition])
    approved = certificates.replace_certificate_signing_request_approval("me", made)
    assert approved.status.conditions[0].type == "Approved"


def _signing_request() -> str:
    from base64 import b64encode

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "me")])
    built = x509.CertificateSigningRequestBuilder().subject_name(name)
    signed = built.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


@pytest.mark.parametrize(
    ("body", "status", "reason", "text"),
    [
        ({"metadata": {"name": "Bad_Name"}}, 422, "Invalid", "a lowercase RFC 1123 subdomain"),
        (
            {"kind": "Secret", "metadata": {"name": "a"}},
            400,
            "BadRequest",
            "cannot be handled as a ConfigMap",
        ),
        (
            {"metadata": {"name": "a", "namespace": "other"}},
            400,
            "BadRequest",
            "does not match the namespace",
        ),
        ({"metadata": {"name": "settings"}}, 409, "AlreadyExists", 'configmaps "settings" already exists'),
    ],
)
def test_refusals_carry_a_status(
    world: EmbeddedWorld, client: Any, body: dict[str, Any], status: int, reason: str, text: str
) -> None:
    with pytest.raises(kubernetes.client.ApiException) as caught:
        kubernetes.client.CoreV1Api(client).create_namespaced_config_map("furnished", body)
    told = json.loads(caught.value.body)
    assert (caught.value.status, told["reason"], told["kind"]) == (status, reason, "Status")
    assert text in told["message"]


def test_custom_objects(running: Served, client: Any) -> None:
    world = running.put(bare_cluster(), "step")
    for manifest in manifests():
        if manifest["kind"] in ("Namespace", "CustomResourceDefinition"):
            world.cluster.create(manifest)
    world.advance(5)
    custom = kubernetes.client.CustomObjectsApi(client)
    where = ("example.com", "v1", "furnished", "widgets")
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
    made = custom.create_namespaced_custom_object(*where, body)
    assert made["metadata"]["generation"] == 1
    patched = custom.patch_namespaced_custom_object(*where, "w", {"spec": {"size": 2}})
    assert patched["metadata"]["generation"] == 2
    status = custom.patch_namespaced_custom_object_status(*where, "w", {"status": {"ready": True}})
    assert (status["status"], status["metadata"]["generation"]) == ({"ready": True}, 2)
    assert [item["metadata"]["name"] for item in custom.list_namespaced_custom_object(*where)["items"]] == [
        "w"
    ]
    assert custom.list_cluster_custom_object("example.com", "v1", "widgets")["items"]
    with pytest.raises(kubernetes.client.ApiException) as caught:
        custom.patch_namespaced_custom_object(*where, "w", {"spec": {"size": 0}})
    assert caught.value.status == 422
    got = custom.get_namespaced_custom_object(*where, "w")
    got["spec"]["color"] = "red"
    assert custom.replace_namespaced_custom_object(*where, "w", got)["spec"] == {"size": 2, "color": "red"}
    custom.delete_namespaced_custom_object(*where, "w")
    with pytest.raises(kubernetes.client.ApiException):
        custom.get_namespaced_custom_object(*where, "w")
