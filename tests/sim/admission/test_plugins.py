"""The admission plugins of a default v1.32 API server, each with its own words."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sregym_env.cluster.identity import User
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.pod_standards import violations
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from tests.sim.admission.webhook_world import pod

PS = "pod-security.kubernetes.io/"


@pytest.fixture
def world() -> EmbeddedWorld:
    return bare_cluster()


def namespace(world: EmbeddedWorld, name: str = "n", **labels: str) -> None:
    labels = {PS + key.replace("_", "-"): value for key, value in labels.items()}
    world.cluster.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    )
    world.advance(2)


def refusal(world: EmbeddedWorld, obj: Manifest, user: User | None = None) -> str:
    cluster = world.cluster if user is None else world.cluster.as_user(user)
    try:
        cluster.create(obj)
    except StatusError as error:
        return error.message
    return ""


# --- PodSecurity --------------------------------------------------------------------------------------------

_GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def secured(context: dict[str, Any] | None = None, **spec: Any) -> Manifest:
    made = pod("p", "n")
    container = {**made["spec"]["containers"][0], "securityContext": {**_GOOD, **(context or {})}}
    return {**made, "spec": {"containers": [container], **spec}}


@pytest.mark.parametrize(
    ("level", "made", "text"),
    [
        ("privileged", secured({"privileged": True, "allowPrivilegeEscalation": True}), ""),
        ("baseline", pod("p", "n"), ""),
        ("restricted", secured(), ""),
        (
            "restricted",
            pod("p", "n"),
            'allowPrivilegeEscalation != false (container "c" must set '
            'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set '
            'securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set '
            'securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set '
            'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
        ),
        (
            "baseline",
            secured({"privileged": True, "allowPrivilegeEscalation": True}, hostNetwork=True, hostPID=True),
            'host namespaces (hostNetwork=true, hostPID=true), privileged (container "c" must not set '
            "securityContext.privileged=true)",
        ),
        (
            "baseline",
            secured({"capabilities": {"add": ["SYS_ADMIN", "CHOWN", "NET_ADMIN"]}}),
            'non-default capabilities (container "c" must not include "NET_ADMIN", "SYS_ADMIN" in '
            "securityContext.capabilities.add)",
        ),
        (
            "restricted",
            secured({"capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}}),
            'unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add)',
        ),
        (
            "baseline",
            secured(
                volumes=[{"name": "a", "hostPath": {"path": "/"}}, {"name": "b", "hostPath": {"path": "/"}}]
            ),
            'hostPath volumes (volumes "a", "b")',
        ),
        (
            "restricted",
            secured(volumes=[{"name": "a", "hostPath": {"path": "/"}}]),
            'restricted volume types (volume "a" uses restricted volume type "hostPath")',
        ),
        (
            "baseline",
            secured(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
            "forbidden sysctls (kernel.msgmax)",
        ),
        (
            "baseline",
            secured({"appArmorProfile": {"type": "Unconfined"}}),
            'forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined")',
        ),
        (
            "restricted",
            secured({"runAsNonRoot": False}, securityContext={"runAsUser": 0}),
            'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false), runAsUser=0 '
            "(pod must not set runAsUser=0)",
        ),
        (
            "baseline",
            secured({"seccompProfile": {"type": "Unconfined"}}),
            'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
        ),
        (
            "baseline",
            secured({"seLinuxOptions": {"type": "spc_t", "user": "root"}}),
            'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may '
            "not be set)",
        ),
    ],
)
def test_pod_security(world: EmbeddedWorld, level: str, made: Manifest, text: str) -> None:
    namespace(world, enforce=level, enforce_version="v1.31")
    expected = f'pods "p" is forbidden: violates PodSecurity "{level}:v1.31": {text}'
    assert refusal(world, made) == (expected if text else "")
    assert ", ".join(map(str, violations(level, made))) == text


def test_pod_security_warns_of_pods_and_of_workloads(world: EmbeddedWorld) -> None:
    namespace(world, warn="baseline")
    text = 'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
    cluster = world.cluster
    cluster.create(secured(hostNetwork=True))
    assert cluster.warnings() == (text,)
    assert cluster.warnings() == ()
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"hostNetwork": True, **pod()["spec"]}}
    cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "n"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
        }
    )
    assert cluster.warnings() == (text,)
    world.advance(10)
    assert cluster.warnings() == (), "controllers are not warned"


def test_labels_of_a_namespace_are_judged(world: EmbeddedWorld) -> None:
    bad = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "m", "labels": {f"{PS}enforce": "strict"}},
    }
    expected = (
        'Namespace "m" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": '
        "must be one of privileged, baseline, restricted"
    )
    assert refusal(world, bad) == expected
    namespace(world)
    world.cluster.create(secured(hostNetwork=True))
    change = {"metadata": {"labels": {f"{PS}enforce": "baseline"}}}
    world.cluster.patch("namespaces", "n", change)
    assert world.cluster.warnings() == (
        'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
        "p: host namespaces",
    )


# --- RuntimeClass -------------------------------------------------------------------------------------------


def runtime_class(name: str = "gvisor", handler: str = "runsc", **more: Any) -> Manifest:
    return {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": handler,
            **more}  # fmt: skip


def classed(**spec: Any) -> Manifest:
    made = pod("p")
    return {**made, "spec": {**made["spec"], "runtimeClassName": "gvisor", **spec}}


def test_runtime_class_is_looked_up_and_merged(world: EmbeddedWorld) -> None:
    assert refusal(world, classed()) == 'pods "p" is forbidden: pod rejected: RuntimeClass "gvisor" not found'
    world.cluster.create(
        runtime_class(
            overhead={"podFixed": {"cpu": "250m"}},
            scheduling={
                "nodeSelector": {"kernel": "new"},
                "tolerations": [{"key": "x", "operator": "Exists"}],
            },
        )
    )
    text = "conflict: runtimeClass.scheduling.nodeSelector[kernel] = new; pod.spec.nodeSelector[kernel] = old"
    assert refusal(world, classed(nodeSelector={"kernel": "old"})) == f'pods "p" is forbidden: {text}'
    text = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    assert refusal(world, classed(overhead={"cpu": "1"})) == f'pods "p" is forbidden: {text}'
    spec = world.cluster.create(classed(nodeSelector={"a": "b"}))["spec"]
    assert spec["overhead"] == {"cpu": "250m"}
    assert spec["nodeSelector"] == {"a": "b", "kernel": "new"}
    assert spec["tolerations"][-1] == {"key": "x", "operator": "Exists"}
    plain = pod("q")
    plain["spec"]["overhead"] = {"cpu": "1"}
    text = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    assert refusal(world, plain) == f'pods "q" is forbidden: {text}'


def test_a_node_without_the_runtime_cannot_make_the_sandbox(world: EmbeddedWorld) -> None:
    world.cluster.create(runtime_class())
    world.cluster.create(classed())
    world.advance(30)
    assert world.cluster.get("pods", "p", "default")["status"]["phase"] == "Pending"
    messages = {
        e["message"]
        for e in world.cluster.list("events", "default")
        if e["reason"] == "FailedCreatePodSandBox"
    }
    text = (
        'rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "runsc" is configured'
    )
    assert messages == {f"Failed to create pod sandbox: {text}"}
    world.cluster.create(runtime_class("plain", "runc"))
    world.cluster.create(
        {**classed(runtimeClassName="plain"), "metadata": {"name": "q", "namespace": "default"}}
    )
    world.advance(30)
    assert world.cluster.get("pods", "q", "default")["status"]["phase"] == "Running"


# --- classes and priorities ---------------------------------------------------------------------------------


def test_default_ingress_class(world: EmbeddedWorld) -> None:
    def ingress(name: str, **metadata: Any) -> Manifest:
        backend = {"service": {"name": "s", "port": {"number": 80}}}
        return {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": {"name": name, "namespace": "default", **metadata},
            "spec": {"defaultBackend": backend},
        }

    assert "ingressClassName" not in world.cluster.create(ingress("a"))["spec"]
    for name in ("old", "new"):
        annotations = {"ingressclass.kubernetes.io/is-default-class": "true"}
        world.cluster.create(
            {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "IngressClass",
                "metadata": {"name": name, "annotations": annotations},
                "spec": {"controller": "example.com/c"},
            }
        )
        world.advance(5)
    assert world.cluster.create(ingress("b"))["spec"]["ingressClassName"] == "new"
    named = world.cluster.create(ingress("c", annotations={"kubernetes.io/ingress.class": "x"}))
    assert "ingressClassName" not in named["spec"]


def priority_class(name: str, value: int, default: bool = False) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "globalDefault": default,
    }


def test_priorities(world: EmbeddedWorld) -> None:
    world.cluster.create(priority_class("usual", 7, True))
    text = "PriorityClass usual is already marked as default. Only one default can exist"
    expected = f'priorityclasses.scheduling.k8s.io "other" is forbidden: {text}'
    assert refusal(world, priority_class("other", 8, True)) == expected
    assert world.cluster.create(pod("a"))["spec"]["priority"] == 7
    stubborn = pod("b")
    stubborn["spec"]["priority"] = 9
    text = (
        "the integer value of priority (9) must not be provided in pod spec; priority admission controller computed "
        "7 from the given PriorityClass name"
    )
    assert refusal(world, stubborn) == f'pods "b" is forbidden: {text}'


# --- namespaces, claims, certificates, nodes ----------------------------------------------------------------


def test_namespaces_that_must_stay_and_those_that_go(world: EmbeddedWorld) -> None:
    with pytest.raises(StatusError) as caught:
        world.cluster.delete("namespaces", "default")
    assert caught.value.message == 'namespaces "default" is forbidden: this namespace may not be deleted'
    namespace(world)
    finalized = {"metadata": {"name": "f", "namespace": "n", "finalizers": ["a.b/c"]}}
    world.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", **finalized})
    world.cluster.delete("namespaces", "n")
    made = pod("", "n", generateName="web-")
    del made["metadata"]["name"]
    with pytest.raises(StatusError) as caught:
        world.cluster.create(made)
    text = "unable to create new content in namespace n because it is being terminated"
    assert caught.value.message == f'pods "web-" is forbidden: {text}'
    assert caught.value.details["causes"][0]["reason"] == "NamespaceTerminating"


def test_a_generated_name_is_not_known_to_the_mutating_phase(world: EmbeddedWorld) -> None:
    made = pod("", generateName="web-")
    del made["metadata"]["name"]
    made["spec"]["serviceAccountName"] = "nobody"
    text = 'error looking up service account default/nobody: serviceaccount "nobody" not found'
    assert refusal(world, made) == f'pods "web-" is forbidden: {text}'
    del made["spec"]["serviceAccountName"]
    assert world.cluster.create(made)["metadata"]["name"].startswith("web-")


@lru_cache(maxsize=4)
def request(organization: str) -> str:
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, "ana"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization),
        ]
    )
    key = ec.generate_private_key(ec.SECP256R1())
    csr = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    return b64encode(csr.public_bytes(serialization.Encoding.PEM)).decode()


def signing_request(organization: str = "dev") -> Manifest:
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "ana"},
        "spec": {
            "request": request(organization),
            "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth"],
        },
    }


def test_nobody_becomes_an_administrator_by_certificate(world: EmbeddedWorld) -> None:
    text = "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
    expected = f'certificatesigningrequests.certificates.k8s.io "ana" is forbidden: {text}'
    assert refusal(world, signing_request("system:masters")) == expected
    assert refusal(world, signing_request()) == ""


def test_approval_takes_a_permission_on_the_signer(world: EmbeddedWorld) -> None:
    world.cluster.create(signing_request())
    rules = [
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["certificatesigningrequests", "certificatesigningrequests/approval"],
            "verbs": ["*"],
        }
    ]
    _grant(world, rules)
    approved = {"type": "Approved", "status": "True", "reason": "Because", "message": "so"}
    change = {"status": {"conditions": [approved]}}

    def approve() -> None:
        world.cluster.as_user(User("ana")).patch(
            "certificatesigningrequests.certificates.k8s.io",
            "ana",
            change,
            type="merge",
            subresource="approval",
        )

    with pytest.raises(StatusError) as caught:
        approve()
    text = 'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"'
    assert (
        caught.value.message == f'certificatesigningrequests.certificates.k8s.io "ana" is forbidden: {text}'
    )
    permission = {
        "apiGroups": ["certificates.k8s.io"],
        "resources": ["signers"],
        "resourceNames": ["kubernetes.io/*"],
        "verbs": ["approve"],
    }
    world.cluster.delete("clusterroles.rbac.authorization.k8s.io", "r")
    world.cluster.delete("clusterrolebindings.rbac.authorization.k8s.io", "r")
    _grant(world, [*rules, permission])
    approve()


def _grant(world: EmbeddedWorld, rules: list[dict[str, Any]]) -> None:
    group = "rbac.authorization.k8s.io"
    common = {"apiVersion": f"{group}/v1", "metadata": {"name": "r"}}
    world.cluster.create({**common, "kind": "ClusterRole", "rules": rules})
    world.cluster.create(
        {
            **common,
            "kind": "ClusterRoleBinding",
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "r"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": "ana"}],
        }
    )


def test_claims_grow_only_where_their_class_allows_it(world: EmbeddedWorld) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    world.cluster.create(claim)
    bound = world.store.get("persistentvolumeclaims", "default", "c")
    assert bound is not None
    spec = {**bound["spec"], "volumeName": "v"}
    world.store.put("persistentvolumeclaims", {**bound, "spec": spec, "status": {"phase": "Bound"}})
    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    with pytest.raises(StatusError) as caught:
        world.cluster.patch("persistentvolumeclaims", "c", larger, namespace="default")
    assert caught.value.message == (
        'persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the '
        "storageclass that provisions the pvc must support resize"
    )


KUBELET = User("system:node:sre-worker", ("system:nodes", "system:masters", "system:authenticated"))


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda c: c.create(pod("p")),
            'pods "p" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "sre-worker" can '
            "only create mirror pods",
        ),
        (
            lambda c: c.patch("nodes", "sre-worker2", {"metadata": {"labels": {"a": "b"}}}),
            'nodes "sre-worker2" is forbidden: node "sre-worker" is not allowed to modify node "sre-worker2"',
        ),
        (
            lambda c: c.patch(
                "nodes", "sre-worker", {"metadata": {"labels": {"node-role.kubernetes.io/x": ""}}}
            ),
            'nodes "sre-worker" is forbidden: is not allowed to modify the following labels: node-role.kubernetes.io/x',
        ),
        (
            lambda c: c.patch(
                "nodes", "sre-worker", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
            ),
            'nodes "sre-worker" is forbidden: node "sre-worker" is not allowed to modify taints',
        ),
        (lambda c: c.patch("nodes", "sre-worker", {"metadata": {"labels": {"mine": "yes"}}}), ""),
    ],
)
def test_a_kubelet_keeps_to_its_own(world: EmbeddedWorld, act: Any, text: str) -> None:
    found = ""
    try:
        act(world.cluster.as_user(KUBELET))
    except StatusError as error:
        found = error.message
    assert found == text


def test_a_node_that_registers_is_tainted_until_it_is_ready(world: EmbeddedWorld) -> None:
    made = world.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "fresh"}})
    assert made["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
