"""The embedded cluster's public key infrastructure, as kubeadm would have made it when the cluster was made.

Certificates only: those of the published cluster have no private keys any more, those of other clusters have keys that
follow from the cluster's plan. They vouch for nothing outside.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from ipaddress import ip_address
from typing import TYPE_CHECKING

from sregym_env.runtime.clock import DAY, SECOND
from sregym_env.sim.world.plan import ClusterPlan

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_ROOT_DAYS, _SERVER_DAYS = 3650, 365
"""How long kubeadm's certificates hold."""

AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBhTCCASugAwIBAgIUFL1FsfG3TLSzjw6KAQaPZm/EeS8wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjA2MjYwOTUwMDBaFw0zNjA2MjMw
OTUwMDBaMBUxEzARBgNVBAMMCmt1YmVybmV0ZXMwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQEjUE4Y/8b8j09rHT5q2b51iV0Tr7vWd71rzlsPMYm5DIq9OOoB7Ws
gFPiOaTskN3lHT4+bjM9j4u59lSGmeVCo1kwVzAPBgNVHRMBAf8EBTADAQH/MA4G
A1UdDwEB/wQEAwICpDAdBgNVHQ4EFgQUsPn0L5JYtcLELXh68ENntCn82NAwFQYD
VR0RBA4wDIIKa3ViZXJuZXRlczAKBggqhkjOPQQDAgNIADBFAiEA0vsP9eXt98B9
O0ysfTPPPfX0bIL+0dgWces+ianvVzkCIEYl+is46H2U56s8T65j8NeFQ5+MSqNa
BAt3RDMq/1Lf
-----END CERTIFICATE-----
"""
"""The cluster's root certificate (``ca.crt``), valid for ten years."""

API_SERVER = """\
-----BEGIN CERTIFICATE-----
MIICEjCCAbegAwIBAgIUTNM+lTcKL9fFuktj1J1AaBpiPmIwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjA2MjYwOTUwMDBaFw0yNzA2MjYw
OTUwMDBaMBkxFzAVBgNVBAMMDmt1YmUtYXBpc2VydmVyMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEDrL8Jgd6QhXOliMpuJhzcL2JsldI6DQP9kCVB+0vtDyLSwDt
m+GjXAolenAwBAAYjPiCUP+bkW4w//Hx6J5PKaOB4DCB3TAMBgNVHRMBAf8EAjAA
MA4GA1UdDwEB/wQEAwIFoDATBgNVHSUEDDAKBggrBgEFBQcDATAfBgNVHSMEGDAW
gBSw+fQvkli1wsQteHrwQ2e0KfzY0DCBhgYDVR0RBH8wfYIKa3ViZXJuZXRlc4IS
a3ViZXJuZXRlcy5kZWZhdWx0ghZrdWJlcm5ldGVzLmRlZmF1bHQuc3ZjgiRrdWJl
cm5ldGVzLmRlZmF1bHQuc3ZjLmNsdXN0ZXIubG9jYWyCEXNyZS1jb250cm9sLXBs
YW5lhwQKYAABhwSsEgAFMAoGCCqGSM49BAMCA0kAMEYCIQDgcz7p06FM5d9FeJFO
0Q1skmP0E9TmTzD+kjJ6QZ8YOAIhAKeE/1gIZxZzyVmPipxvtLICps9jnDdz/h/D
brCg1gWY
-----END CERTIFICATE-----
"""
"""The API server's certificate (``apiserver.crt``), valid for a year."""


def authority(plan: ClusterPlan) -> str:
    """The root certificate (PEM) of a cluster."""
    return _authority(plan.key, plan.born) if plan.key else AUTHORITY


def api_server(plan: ClusterPlan, now: int) -> str:
    """The certificate (PEM) of a cluster's API server at an instant: it is renewed long before its year is over."""
    if not plan.key:
        return API_SERVER
    period = (150 + plan.bits("renewal") % 190) * DAY
    issued = plan.born + max(0, now - plan.born) // period * period
    planes = plan.control_planes
    names = (
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        *dict.fromkeys((*(machine.name for machine in planes), plan.endpoint)),
    )
    addresses = (plan.api_address, *(machine.address for machine in planes))
    return _server(plan.key, issued, names, addresses)


@lru_cache(maxsize=256)
def _authority(key: str, born: int) -> str:
    return _made(key, "kubernetes", born, _ROOT_DAYS)


@lru_cache(maxsize=256)
def _server(key: str, issued: int, names: tuple[str, ...], addresses: tuple[str, ...]) -> str:
    return _made(key, "kube-apiserver", issued, _SERVER_DAYS, names, addresses)


def _key(key: str, name: str) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(blake2b(f"{key}/{name}".encode(), digest_size=32).digest())


def _made(
    key: str, name: str, issued: int, days: int, names: tuple[str, ...] = (), addresses: tuple[str, ...] = ()
) -> str:
    """A certificate of the root's name, if it is that, or for servers of some names and addresses."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    def called(common: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])

    root, own = _key(key, "kubernetes"), _key(key, name)
    begins = datetime.fromtimestamp(0, UTC) + timedelta(seconds=issued // SECOND)
    serial = int.from_bytes(blake2b(f"{key}/{name}/{issued}".encode(), digest_size=8).digest()) >> 1
    authority = not names
    usage = dict.fromkeys(
        (
            "content_commitment",
            "data_encipherment",
            "key_agreement",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    built = (
        x509.CertificateBuilder()
        .subject_name(called(name))
        .issuer_name(called("kubernetes"))
        .public_key(own.public_key())
        .serial_number(serial or 1)
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=days))
        .add_extension(x509.BasicConstraints(authority, None), True)
        .add_extension(
            x509.KeyUsage(digital_signature=True, key_encipherment=True, key_cert_sign=authority, **usage),
            True,
        )
    )
    if authority:
        listed: list[x509.GeneralName] = [x509.DNSName("kubernetes")]
    else:
        built = built.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        listed = [
            *(x509.DNSName(each) for each in names),
            *(x509.IPAddress(ip_address(each)) for each in addresses),
        ]
    built = built.add_extension(x509.SubjectAlternativeName(listed), False)
    return built.sign(root, None).public_bytes(Encoding.PEM).decode()
