"""Certificates of PEM texts, and whether a private key belongs to one. ``cryptography`` is imported when the first is looked at."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_BEGIN = "-----BEGIN CERTIFICATE-----"


@lru_cache(maxsize=512)
def certificates(pem: str) -> tuple[Certificate, ...]:
    """The certificates of a PEM text in order; blocks that cannot be parsed are left out."""
    from cryptography import x509

    found = []
    for block in pem.split(_BEGIN)[1:]:
        text = f"{_BEGIN}{block.partition('-----END')[0]}-----END CERTIFICATE-----\n"
        try:
            found.append(x509.load_pem_x509_certificate(text.encode()))
        except ValueError:
            continue
    return tuple(found)


def pair_problem(certificate: str, key: str) -> str:
    """Why ``tls.X509KeyPair`` refuses a certificate and a private key (PEM texts); empty if it takes them."""
    if "-----BEGIN" not in certificate:
        return "tls: failed to find any PEM data in certificate input"
    if _BEGIN not in certificate:
        if "PRIVATE KEY-----" in certificate:
            return (
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have "
                "been switched"
            )
        return (
            'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of '
            "the following types: " + f"[{certificate.partition('-----BEGIN ')[2].partition('-----')[0]}]"
        )
    if "-----BEGIN" not in key:
        return "tls: failed to find any PEM data in key input"
    if "PRIVATE KEY-----" not in key:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    found = certificates(certificate)
    if not found:
        return "x509: malformed certificate"
    return _mismatch(found[0], key)


@lru_cache(maxsize=128)
def _mismatch(certificate: Certificate, key: str) -> str:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    form = serialization.PublicFormat.SubjectPublicKeyInfo
    encoding = serialization.Encoding.DER
    try:
        private = serialization.load_pem_private_key(key.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "tls: failed to parse private key"
    ours = private.public_key().public_bytes(encoding, form)
    if ours != certificate.public_key().public_bytes(encoding, form):
        return "tls: private key does not match public key"
    return ""
