"""A cluster with a webhook in it: certificates, the agnhost program, Services and configurations."""

from __future__ import annotations

import datetime
from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import EPOCH, SECOND
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.53"
NAMESPACE = "policy"
SERVICE = "guard"
HOST = f"{SERVICE}.{NAMESPACE}.svc"
URL = f"https://{HOST}:443"


@dataclass(frozen=True)
class Pair:
    """PEM texts."""

    certificate: str
    key: str
    authority: str


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _signed(
    subject: str, key: Any, issuer: str, issuer_key: Any, days: tuple[int, int], names: tuple[str, ...] = ()
) -> x509.Certificate:
    now = datetime.datetime.fromtimestamp(EPOCH // SECOND, datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=days[0]))
        .not_valid_after(now + datetime.timedelta(days=days[1]))
    )
    if names:
        san = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        builder = builder.add_extension(san, critical=False)
    else:
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return builder.sign(issuer_key, hashes.SHA256())


def _pem(thing: Any) -> str:
    if isinstance(thing, x509.Certificate):
        return thing.public_bytes(serialization.Encoding.PEM).decode()
    return thing.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


@lru_cache(maxsize=32)
def pair(
    names: tuple[str, ...] = (HOST,),
    days: tuple[int, int] = (-30, 300),
    authority: str = "policy-ca",
    number: int = 0,
) -> Pair:
    """A server's certificate, signed by an authority of its own; valid in those days around the world's start."""
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = _signed(authority, root_key, authority, root_key, (-300, 3000))
    leaf = _signed(names[0] if names else "nobody", key, authority, root_key, days, names or ("other",))
    return Pair(_pem(leaf), _pem(key), _pem(root))


@lru_cache(maxsize=8)
def self_signed(names: tuple[str, ...] = (HOST,)) -> Pair:
    """A server's certificate that nobody but itself has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    leaf = _pem(_signed(names[0], key, names[0], key, (-30, 300), names))
    return Pair(leaf, _pem(key), leaf)


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def objects(
    used: Pair, args: tuple[str, ...] = (), replicas: int = 1, labels: dict[str, str] | None = None
) -> list[Manifest]:
    """The namespace, the Secret, the Deployment and the Service of a webhook."""
    label = {"app": SERVICE}
    volume = {"name": "certs", "secret": {"secretName": "guard-tls"}}
    container = {
        "name": "webhook",
        "image": IMAGE,
        "args": [
            "webhook",
            "--tls-cert-file=/certs/tls.crt",
            "--tls-private-key-file=/certs/tls.key",
            "--port=8443",
            *args,
        ],
        "volumeMounts": [{"name": "certs", "mountPath": "/certs", "readOnly": True}],
        "readinessProbe": {
            "httpGet": {"scheme": "HTTPS", "port": 8443, "path": "/readyz"},
            "periodSeconds": 1,
        },
        "ports": [{"containerPort": 8443}],
    }
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels or {}}},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "guard-tls", "namespace": NAMESPACE},
            "type": "kubernetes.io/tls",
            "data": {"tls.crt": encoded(used.certificate), "tls.key": encoded(used.key)},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": SERVICE, "namespace": NAMESPACE, "labels": label},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": label},
                "template": {
                    "metadata": {"labels": label},
                    "spec": {"containers": [container], "volumes": [volume]},
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, "namespace": NAMESPACE},
            "spec": {"selector": label, "ports": [{"port": 443, "targetPort": 8443}]},
        },
    ]


_settled: dict[Any, EmbeddedWorld] = {}


def world_with_webhook(used: Pair | None = None, *args: str) -> EmbeddedWorld:
    """A fork of a bare cluster in which the webhook's program is ready."""
    used = used or pair()
    key = (used, args)
    if key not in _settled:
        world = bare_cluster()
        for manifest in objects(used, args):
            world.cluster.create(manifest)
        world.advance(30)
        _settled[key] = world
    return _settled[key].fork()


def configuration(
    kind: str = "Validating",
    path: str | None = "/always-deny",
    bundle: str | None = None,
    *,
    name: str = "guard",
    rules: list[dict[str, Any]] | None = None,
    service: dict[str, Any] | None = None,
    url: str = "",
    **more: Any,
) -> Manifest:
    """A webhook configuration with one webhook, on pods in the namespace ``default`` unless said otherwise."""
    client: dict[str, Any] = {"url": url}
    if not url:
        client = {"service": {"name": SERVICE, "namespace": NAMESPACE, **(service or {})}}
        if path is not None:
            client["service"]["path"] = path
    if bundle != "":
        client["caBundle"] = encoded(pair().authority if bundle is None else bundle)
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
    webhook = {
        "name": f"{name}.example.com",
        "clientConfig": client,
        "rules": rules if rules is not None else [rule],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        **more,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    }


def rule(
    resources: str = "pods", operations: str = "CREATE", groups: str = "", **more: Any
) -> dict[str, Any]:
    """One rule; words are separated by blanks."""
    return {
        "apiGroups": groups.split() or [""],
        "apiVersions": ["*"],
        "resources": resources.split(),
        "operations": operations.split(),
        **more,
    }


def pod(name: str = "web", namespace: str = "default", **metadata: Any) -> Manifest:
    """A pod that does nothing."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {"containers": [{"name": "c", "image": IMAGE}]},
    }
