"""CertificateApproval, CertificateSigning and CertificateSubjectRestriction: who may vouch for whom.

Follows ``plugin/pkg/admission/certificates`` of v1.32.
"""

from __future__ import annotations

from base64 import b64decode
from functools import lru_cache
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.apiserver.rbac import Authorizer
from sregym_env.sim.world import SimWorld

_CLIENT = "kubernetes.io/kube-apiserver-client"
"""The signer of certificates by which clients are known to the API server."""


def validate_approval(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> None:
    """Raise Forbidden where the user may not approve requests to the signer."""
    _check(world, request, "approve", old or new)


def validate_signing(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> None:
    """Raise Forbidden where the user may not sign as the signer."""
    before: dict[str, Any] = (old or {}).get("status") or {}
    after: dict[str, Any] = new.get("status") or {}
    if any(before.get(field) != after.get(field) for field in ("certificate", "conditions")):
        _check(world, request, "sign", old or new)


def _check(world: SimWorld, request: Attributes, verb: str, csr: Manifest) -> None:
    signer = csr["spec"].get("signerName", "")
    allowed = Authorizer(world, request.user)
    domain = f"{signer.partition('/')[0]}/*"
    if not any(
        allowed.allows(verb, "certificates.k8s.io", "signers", None, name) for name in (signer, domain)
    ):
        raise refused(request, csr, f'user not permitted to {verb} requests with signerName "{signer}"')


def validate_subject(_: SimWorld, request: Attributes, csr: Manifest, old: Manifest | None) -> None:
    """Raise Forbidden for a client certificate that would make its bearer an administrator."""
    if request.operation != "CREATE" or csr["spec"].get("signerName") != _CLIENT:
        return
    if "system:masters" in _organizations(csr["spec"].get("request") or ""):
        raise refused(request, csr, f"use of {_CLIENT} signer with system:masters group is not allowed")


@lru_cache(maxsize=64)
def _organizations(encoded: str) -> tuple[str, ...]:
    """The organizations (groups) that a certificate request asks for; none if it cannot be parsed."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    try:
        csr = x509.load_pem_x509_csr(b64decode(encoded))
    except ValueError:
        return ()
    return tuple(str(each.value) for each in csr.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
