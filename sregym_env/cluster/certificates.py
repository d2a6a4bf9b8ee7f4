"""Certificates of programs in a cluster: authorities and what they sign, the same for the same key and times.

Keys are Ed25519, derived from a text. Nobody outside a simulated or a test cluster may trust them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

FIRST, LAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2060, 1, 1, tzinfo=UTC)
"""From when to when authorities are valid."""

PLAIN = "ca"
"""The common name of authorities that nobody has given one."""


class Pair(NamedTuple):
    """A certificate and its private key, PEM."""

    certificate: str
    key: str


@lru_cache(maxsize=64)
def authority(key: str, name: str = PLAIN) -> str:
    """The certificate (PEM) of the authority that a text stands for, by its common name."""
    own = _private(key, "ca")
    return _pem(_builder(key, name, own, FIRST, LAST, ca=True, signer=name).sign(own, None))


@lru_cache(maxsize=64)
def issued(key: str, names: tuple[str, ...], begins: int, ends: int, signer: str = PLAIN) -> Pair:
    """A serving certificate of that authority for some names, valid between two instants (microseconds since 1970).

    ``signer`` is the authority's common name.
    """
    own = _private(key, names[0])
    builder = _builder(key, names[0], own, _instant(begins), _instant(ends), ca=False, signer=signer)
    built = builder.add_extension(
        x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False
    ).add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    private = own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Pair(_pem(built.sign(_private(key, "ca"), None)), private)


def _builder(
    key: str, name: str, own: Ed25519PrivateKey, begins: datetime, ends: datetime, *, ca: bool, signer: str
) -> x509.CertificateBuilder:
    serial = int.from_bytes(blake2b(f"{key}/{name}/{begins}".encode(), digest_size=8).digest()) >> 1
    return (
        x509.CertificateBuilder()
        .subject_name(_called(name))
        .issuer_name(_called(signer))
        .public_key(own.public_key())
        .serial_number(serial or 1)
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )


def _called(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _private(key: str, name: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(blake2b(f"{key}/{name}".encode(), digest_size=32).digest())


def _instant(microseconds: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=microseconds // 1_000_000)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()
