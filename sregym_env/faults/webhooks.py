"""What faults of admission webhooks are made of: configurations, the servers behind them, and webhooks of others."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.cluster import certificates
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.targets import ComponentTarget
from sregym_env.faults.commands import restart, restart_short
from sregym_env.faults.fault import Predicate
from sregym_env.faults.standing import Keeps
from sregym_env.kube.types import Manifest

GROUP = "admissionregistration.k8s.io"

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.53"
"""A server of webhooks that lets every ordinary pod through."""

SERVERS = (
    ("pod-policy", "check.pod-policy.example.com"), ("image-guard", "images.guard.example.com"), ("label-check", "labels.check.example.com"),
    ("workload-rules", "rules.workloads.example.com"), ("naming-policy", "naming.policy.example.com"), ("owner-check", "owners.check.example.com"),
    ("registry-guard", "registry.guard.example.com"), ("platform-rules", "rules.platform.example.com"),
)  # fmt: skip
"""(name of a server and its objects, name of its webhook)."""

AGE = 20 * 86400
LEFT = 400 * 86400
"""Seconds since a certificate with which all is well is valid, and for which it is so still."""

_PATHS = {"Validating": "/pods", "Mutating": "/mutating-pods"}

_BESIDE: Mapping[str, str] = {
    "route-audit": "debug-toolbox", "ingress-naming": "trace-agents", "dns-records": "profiler-agent", "edge-certificates": "mesh-opt-in",
    "traffic-classes": "vault-agents", "public-hosts": "log-shippers", "gateway-owners": "warm-pools", "cdn-sync": "capture-agents",
    "host-policy": "time-travel", "ingress-review": "node-scratch",
}  # fmt: skip
"""Webhooks of others for Ingresses, each with one for pods that ask for it by a label."""

OTHERS = tuple(_BESIDE)
"""Webhooks of others and well, by which a drawn world is told from another."""


def bystanders(name: str, bundle: str = "") -> list[Manifest]:
    """Two webhooks of others: one that is asked about Ingresses, and may fail, and one about pods that have a label which
    none has. Who deletes every webhook, or every one for pods, takes one of them away as well.

    ``bundle`` are the authorities that the first one trusts (:func:`bundle`).
    """
    beside = _BESIDE[name]
    asked: dict[str, Any] = {"url": f"https://admission.network.example.com/{name}"}
    if bundle:
        asked["caBundle"] = bundle
    ingresses = {
        "name": f"{name}.network.example.com",
        "admissionReviewVersions": ["v1"],
        "clientConfig": asked,
        "failurePolicy": "Ignore",
        "rules": [_rule("networking.k8s.io", "ingresses", "CREATE", "UPDATE")],
        "sideEffects": "None",
        "timeoutSeconds": 2,
    }
    pods = {
        "name": f"{beside}.tools.example.com",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": f"https://admission.tools.example.com/{beside}"},
        "failurePolicy": "Fail",
        "objectSelector": {"matchLabels": {f"tools.example.com/{beside}": "enabled"}},
        "reinvocationPolicy": "Never",
        "rules": [_rule("", "pods", "CREATE")],
        "sideEffects": "None",
        "timeoutSeconds": 5,
    }
    return [configuration("Validating", name, ingresses), configuration("Mutating", beside, pods)]


def untouched(name: str, bundle: str = "") -> list[Predicate]:
    """Whether those two are there still, and as they were."""
    return [Keeps(*bystanders(name, bundle))]


def reference(kind: str, name: str) -> ObjectRef:
    """Where a configuration of webhooks (``Validating``, ``Mutating``) stands."""
    return ObjectRef(f"{kind.lower()}webhookconfigurations.{GROUP}", name)


def configuration(kind: str, name: str, *hooks: Mapping[str, Any]) -> Manifest:
    """A configuration of webhooks."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": list(hooks),
    }


def _rule(group: str, resource: str, *operations: str) -> dict[str, Any]:
    return {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": list(operations),
        "resources": [resource],
    }


def hook(target: ComponentTarget, name: str, client: Mapping[str, Any], seconds: int) -> dict[str, Any]:
    """A webhook that must be asked before a pod is created where the target lives, and waited for so many seconds."""
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": dict(client),
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": target.namespace}},
        "rules": [_rule("", "pods", "CREATE")],
        "sideEffects": "None",
        "timeoutSeconds": seconds,
    }


def served_by(name: str, place: str, bundle: str, kind: str = "Validating") -> dict[str, Any]:
    """The ``clientConfig`` of a webhook with a server of :func:`server`."""
    service = {"namespace": place, "name": name, "path": _PATHS[kind], "port": 443}
    return {"service": service, "caBundle": bundle}


def bundle(key: str, name: str = "ca") -> str:
    """An authority as a ``caBundle`` has it."""
    return b64encode(certificates.authority(key, name).encode()).decode()


def names_of(name: str, place: str) -> tuple[str, str]:
    """The names by which a server is called, for its certificate."""
    host = f"{name}.{place}.svc"
    return host, f"{host}.cluster.local"


def server(name: str, place: str, affinity: Mapping[str, Any] | None = None) -> list[Manifest]:
    """A webhook's server and its Service; its certificate lies in the Secret ``NAME-tls``."""
    labels = {"app": name}
    container = {
        "name": "webhook",
        "image": IMAGE,
        "args": [
            "webhook",
            "--tls-cert-file=/certs/tls.crt",
            "--tls-private-key-file=/certs/tls.key",
            "--port=8443",
        ],
        "ports": [{"containerPort": 8443}],
        "volumeMounts": [{"name": "certs", "mountPath": "/certs", "readOnly": True}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
    }
    spec: dict[str, Any] = {
        "containers": [container],
        "volumes": [{"name": "certs", "secret": {"secretName": f"{name}-tls"}}],
    }
    if affinity is not None:
        spec["affinity"] = affinity
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": place},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": place},
            "spec": {"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]},
        },
    ]


def remade(target: ComponentTarget) -> Sequence[str]:
    """Command lines that make anew what could not be created.

    Whatever has lost a pod meanwhile waits as long as its controller does; a new revision does not.
    """
    return [*restart(target, [target.name]), restart_short(target.namespace)]


def ignored(config: ObjectRef) -> str:
    """The command line by which a configuration's only webhook need not answer."""
    short = config.resource.partition(".")[0]
    return (
        f"kubectl patch {short} {config.name} --type=json "
        """-p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'"""
    )
