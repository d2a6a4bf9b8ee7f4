"""Certificate requests: approved ones are signed, old ones are cleaned away.

Follows ``pkg/controller/certificates`` of v1.32. The authority's key is made from its name and signs with
Ed25519, which needs no chance: the same request always gets the same certificate.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import DAY, HOUR, MINUTE, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver.strategy import REQUESTS
from sregym_env.sim.controllers.retry import retried, sooner
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Key
from sregym_env.sim.world.wakes import own_key

LIFE = 365 * DAY
"""``--cluster-signing-duration``."""
BACKDATED = 5 * MINUTE
"""How long before it is signed a certificate begins to be valid."""
PENDING, DECIDED = DAY, HOUR
"""After these, requests that nobody decided and requests that are done with are removed (the cleaner)."""
AUTHORITY = "kubernetes"

_SIGNERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "kubernetes.io/kube-apiserver-client": (
        frozenset(("client auth",)),
        frozenset(("digital signature", "key encipherment", "client auth")),
    ),
    "kubernetes.io/kube-apiserver-client-kubelet": (
        frozenset(("digital signature", "client auth")),
        frozenset(("digital signature", "key encipherment", "client auth")),
    ),
    "kubernetes.io/kubelet-serving": (
        frozenset(("digital signature", "server auth")),
        frozenset(("digital signature", "key encipherment", "server auth")),
    ),
}
"""(usages that must be asked for, usages that may be) of the signers of the controller manager."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Sign one request if it was approved, and see when it is to be removed."""
    request = world.store.get(REQUESTS, *key)
    if request is None:
        return None
    left = _left(world, request)
    if left <= 0:
        apiserver.delete(world, REQUESTS, *key)
        return None
    status = request.get("status") or {}
    signer = request["spec"].get("signerName", "")
    if _is(status, "Approved") and not _is(status, "Failed") and signer in _SIGNERS:
        if not status.get("certificate"):
            _sign(world, request, signer)
    return sooner(left)


def _is(status: Manifest, type: str) -> bool:
    return any(c["type"] == type for c in status.get("conditions") or ())


def _left(world: SimWorld, request: Manifest) -> int:
    """Microseconds until the cleaner removes a request."""
    status = request.get("status") or {}
    decided = [
        parse_rfc3339(c["lastUpdateTime"])
        for c in status.get("conditions") or ()
        if c["type"] in ("Approved", "Denied", "Failed") and c.get("lastUpdateTime")
    ]
    if decided and (status.get("certificate") or not _is(status, "Approved")):
        return int(max(decided) + DECIDED - world.now())
    return int(parse_rfc3339(request["metadata"]["creationTimestamp"]) + PENDING - world.now())


def _sign(world: SimWorld, request: Manifest, signer: str) -> None:
    status = dict(request.get("status") or {})
    problem = _problem(request, signer)
    if problem:
        now = rfc3339(world.now())
        condition = {
            "type": "Failed",
            "status": "True",
            "reason": "SignerValidationFailed",
            "message": problem,
            "lastUpdateTime": now,
            "lastTransitionTime": now,
        }
        status["conditions"] = [*(status.get("conditions") or ()), condition]
    else:
        status["certificate"] = base64.b64encode(_certificate(world, request)).decode()
    apiserver.update_status(world, REQUESTS, "", request["metadata"]["name"], status)


def _problem(request: Manifest, signer: str) -> str:
    """Why a signer does not sign a request, or ``""``."""
    needed, allowed = _SIGNERS[signer]
    usages = set(request["spec"].get("usages") or ())
    if not needed <= usages or not usages <= allowed:
        return f"usages did not match {sorted(allowed)}"
    if signer != "kubernetes.io/kube-apiserver-client":
        parsed = _parsed(request)
        organizations = [str(a.value) for a in parsed.subject if a.oid.dotted_string == "2.5.4.10"]
        names = [str(a.value) for a in parsed.subject if a.oid.dotted_string == "2.5.4.3"]
        if organizations != ["system:nodes"]:
            return "subject organization is not system:nodes"
        if not names or not names[-1].startswith("system:node:"):
            return "subject common name does not begin with system:node: "
    return ""


def _parsed(request: Manifest) -> Any:
    from cryptography import x509  # needed only where somebody asks for a certificate

    return x509.load_pem_x509_csr(base64.b64decode(request["spec"]["request"]))


def _time(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=microseconds // SECOND)


def _certificate(world: SimWorld, request: Manifest) -> bytes:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    spec, parsed = request["spec"], _parsed(request)
    usages = set(spec.get("usages") or ())
    life = min(LIFE, spec.get("expirationSeconds", LIFE // SECOND) * SECOND)
    extended = [
        oid
        for usage, oid in (
            ("client auth", ExtendedKeyUsageOID.CLIENT_AUTH),
            ("server auth", ExtendedKeyUsageOID.SERVER_AUTH),
        )
        if usage in usages
    ]
    usage = x509.KeyUsage(
        digital_signature="digital signature" in usages,
        content_commitment=False,
        key_encipherment="key encipherment" in usages,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(parsed.subject)
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, AUTHORITY)]))
        .public_key(parsed.public_key())
        .serial_number(world.streams.bits("certificate") or 1)
        .not_valid_before(_time(world.now() - BACKDATED))
        .not_valid_after(_time(world.now() - BACKDATED + life))
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage(extended), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    )
    for extension in parsed.extensions:
        if isinstance(extension.value, x509.SubjectAlternativeName):
            made = made.add_extension(extension.value, extension.critical)
    seed = hashlib.sha256(AUTHORITY.encode()).digest()
    signed = made.sign(Ed25519PrivateKey.from_private_bytes(seed), None)
    return signed.public_bytes(serialization.Encoding.PEM)


CONTROLLER = Controller("csrsigning", {REQUESTS: own_key}, retried("csrsigning", reconcile))
