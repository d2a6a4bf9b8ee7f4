"""Certificates as clients judge them: real X.509, the cluster's virtual clock, the words of Go and of OpenSSL.

A server inside the simulated network presents the PEM text of the files it was given. Nothing here makes
keys or certificates, and nothing depends on anything but its arguments. ``cryptography`` is imported when the
first certificate is looked at.

Source of the rules and texts: ``crypto/x509`` and ``crypto/tls`` of Go 1.23, curl 8.5 with OpenSSL 3.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sregym_env.cluster.key_pairs import certificates
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.status import go_quote
from sregym_env.runtime.clock import SECOND

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

DEEPEST = 8
"""Certificates between a server's and a root that are looked at."""

NO_CERTIFICATES = "unable to load root certificates: unable to parse bytes as PEM block"
"""What client-go says of a bundle of authorities without any certificate in it."""


class Tls(NamedTuple):
    """How a client secures a connection."""

    refuses: Callable[[str], str] | None = None
    """Why the client does not trust a server that presents a chain (PEM), empty if it does; None trusts all."""
    alert: str = "bad certificate"
    """What a client that refuses tells the server, as Go words it."""


class Facts(NamedTuple):
    """What verification needs to know of one certificate."""

    subject: bytes
    issuer: bytes
    name: str
    """How Go names it in hints: common name, organization or serial number."""
    common_name: str
    issuer_name: str
    """The common name of who has signed it."""
    has_names: bool
    """Whether there is a subjectAltName extension."""
    dns_names: tuple[str, ...]
    addresses: tuple[str, ...]
    begins: int
    ends: int
    """Validity, microseconds since the Unix epoch."""
    authority: bool | None
    """Whether its basic constraints make it an authority; None without them."""
    signs: bool
    """Whether its key usage, if any, allows signing certificates."""
    serves: bool
    """Whether its extended key usage, if any, allows authenticating servers."""


@lru_cache(maxsize=512)
def facts(certificate: Certificate) -> Facts:
    """The facts of one certificate."""
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    extensions = certificate.extensions
    names: x509.SubjectAlternativeName | None = None
    authority: bool | None = None
    signs = serves = True
    for extension in extensions:
        value = extension.value
        if isinstance(value, x509.SubjectAlternativeName):
            names = value
        elif isinstance(value, x509.BasicConstraints):
            authority = value.ca
        elif isinstance(value, x509.KeyUsage):
            signs = value.key_cert_sign
        elif isinstance(value, x509.ExtendedKeyUsage):
            allowed = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE)
            serves = any(usage in allowed for usage in value)

    def first(oid: x509.ObjectIdentifier) -> str:
        found = certificate.subject.get_attributes_for_oid(oid)
        return str(found[0].value) if found else ""

    common = first(NameOID.COMMON_NAME)
    issued = [str(each.value) for each in certificate.issuer.get_attributes_for_oid(NameOID.COMMON_NAME)]
    return Facts(
        certificate.subject.public_bytes(),
        certificate.issuer.public_bytes(),
        common or first(NameOID.ORGANIZATION_NAME) or f"serial:{certificate.serial_number}",
        common,
        issued[0] if issued else "",
        names is not None,
        () if names is None else tuple(names.get_values_for_type(x509.DNSName)),
        () if names is None else tuple(str(ip) for ip in names.get_values_for_type(x509.IPAddress)),
        _microseconds(certificate.not_valid_before_utc),
        _microseconds(certificate.not_valid_after_utc),
        authority,
        signs,
        serves,
    )


def _microseconds(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


# --- Go -----------------------------------------------------------------------------------------------


def go_refusal(presented: str, roots: str, host: str, now: int) -> str:
    """Why a Go client with these authorities does not trust a server; empty if it does.

    ``presented`` is the server's chain, ``roots`` the authorities the client was given, both PEM texts;
    ``host`` is the name it asked for.
    """
    text = _go_complaint(presented, roots, host, now)
    return f"tls: failed to verify certificate: {text}" if text else ""


def _go_complaint(presented: str, roots: str, host: str, now: int) -> str:
    chain = certificates(presented)
    if not chain:
        return "x509: certificate signed by unknown authority"
    leaf = facts(chain[0])
    text = _expired(leaf, now) or _wrong_name(leaf, host)
    if text:
        return text
    trusted = certificates(roots)
    if chain[0] not in trusted:
        text = _no_chain(chain[0], trusted, chain[1:], now, ())
        if text:
            return text
    return "" if leaf.serves else "x509: certificate specifies an incompatible key usage"


def _expired(found: Facts, now: int) -> str:
    text = "x509: certificate has expired or is not yet valid: current time "
    shown = rfc3339(now // SECOND * SECOND)
    if now < found.begins:
        return f"{text}{shown} is before {rfc3339(found.begins)}"
    if now > found.ends:
        return f"{text}{shown} is after {rfc3339(found.ends)}"
    return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _wrong_name(found: Facts, host: str) -> str:
    numeric = _is_address(host)
    names = found.addresses if numeric else found.dns_names
    if any(name == host if numeric else _covers(name, host) for name in names):
        return ""
    if not found.has_names and _covers(found.common_name, host):
        return "x509: certificate relies on legacy Common Name field, use SANs instead"
    if numeric and not names:
        return f"x509: cannot validate certificate for {host} because it doesn't contain any IP SANs"
    if not names:
        return f"x509: certificate is not valid for any names, but wanted to match {host}"
    return f"x509: certificate is valid for {', '.join(names)}, not {host}"


def _covers(pattern: str, host: str) -> bool:
    """Whether a name of a certificate is that of a host; a wildcard stands for its first label alone."""
    left, right = pattern.lower().rstrip(".").split("."), host.lower().rstrip(".").split(".")
    if len(left) != len(right) or not pattern or not host:
        return False
    return (left[0] == "*" or left[0] == right[0]) and left[1:] == right[1:]


def _no_chain(
    certificate: Certificate,
    roots: tuple[Certificate, ...],
    others: tuple[Certificate, ...],
    now: int,
    seen: tuple[Certificate, ...],
) -> str:
    """Why no chain leads from a certificate to a root; empty if one does."""
    hint = ""
    failure = ""
    issuer = facts(certificate).issuer
    for candidate in (*roots, *others):
        known = facts(candidate)
        if known.subject != issuer or candidate in seen or candidate == certificate:
            continue
        problem = _unsigned(certificate, candidate) or _expired(known, now)
        if problem:
            hint = hint or (
                f" (possibly because of {go_quote(problem)} while trying to verify candidate authority "
                f"certificate {go_quote(known.name)})"
            )
            continue
        if candidate in roots:
            return ""
        if len(seen) < DEEPEST:
            failure = _no_chain(candidate, roots, others, now, (*seen, certificate))
            if not failure:
                return ""
    return failure or f"x509: certificate signed by unknown authority{hint}"


@lru_cache(maxsize=1024)
def _unsigned(certificate: Certificate, parent: Certificate) -> str:
    """Why ``parent`` cannot have signed ``certificate``; empty if it has."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    known = facts(parent)
    if known.authority is not True or not known.signs:
        return "x509: invalid signature: parent certificate cannot sign this kind of certificate"
    try:
        certificate.verify_directly_issued_by(parent)
    except (InvalidSignature, ValueError, TypeError):
        key = parent.public_key()
        if isinstance(key, ec.EllipticCurvePublicKey):
            return "x509: ECDSA verification failure"
        if isinstance(key, ed25519.Ed25519PublicKey):
            return "x509: Ed25519 verification failure"
        return "crypto/rsa: verification error"
    return ""


# --- OpenSSL --------------------------------------------------------------------------------------------


def as_curl(now: int, url: str, *, insecure: bool = False, authorities: str = "") -> Tls:
    """How curl secures a connection: it trusts ``authorities`` (PEM) besides those of the public, or all."""
    if insecure:
        return Tls()
    host = urlsplit(url).hostname or ""
    return Tls(
        lambda presented: curl_refusal(presented, authorities, host, now), "unknown certificate authority"
    )


def curl_refusal(presented: str, roots: str, host: str, now: int) -> str:
    """Why curl does not trust a server, as it prints it after its exit code 60; empty if it does."""
    chain = certificates(presented)
    if not chain:
        return "SSL certificate problem: unable to get local issuer certificate"
    problem = path_problem(chain, certificates(roots), now)
    if problem:
        return f"SSL certificate problem: {problem}"
    leaf = facts(chain[0])
    names = leaf.addresses if _is_address(host) else leaf.dns_names
    if any(_covers(name, host) or name == host for name in names):
        return ""
    if not leaf.has_names:
        if _covers(leaf.common_name, host):
            return ""
        return f"SSL: certificate subject name '{leaf.common_name}' does not match target host name '{host}'"
    kind = "ipv4 address" if _is_address(host) else "host name"
    return f"SSL: no alternative certificate subject name matches target {kind} '{host}'"


CURL_ADVICE = (
    "\nMore details here: https://curl.se/docs/sslcerts.html\n\ncurl failed to verify the legitimacy of the server "
    "and therefore could not\nestablish a secure connection to it. To learn more about this situation and\nhow to "
    "fix it, please visit the web page mentioned above."
)
"""What curl 8.5 adds to a certificate problem."""


def curl_text(problem: str) -> tuple[int, str]:
    """Curl's exit code and message for a handshake that failed; ``problem`` is empty without a certificate."""
    if not problem:
        return 35, "OpenSSL/3.0.13: error:0A00010B:SSL routines::wrong version number"
    return 60, problem + (CURL_ADVICE if problem.startswith("SSL certificate problem") else "")


def path_problem(chain: tuple[Certificate, ...], roots: tuple[Certificate, ...], now: int) -> str:
    """Why OpenSSL does not trust a chain at an instant, as it words it; empty if it does. Below 0 it does not ask the time."""
    path = [chain[0]]
    while path[-1] not in roots and len(path) <= DEEPEST:
        issuer = facts(path[-1]).issuer
        if issuer == facts(path[-1]).subject:
            alone = len(path) == 1
            return "self-signed certificate" if alone else "self-signed certificate in certificate chain"
        above = [
            other
            for other in (*roots, *chain[1:])
            if facts(other).subject == issuer and not _unsigned(path[-1], other)
        ]
        if not above:
            return "unable to get local issuer certificate"
        path.append(above[0])
    for certificate in reversed(path):
        known = facts(certificate)
        if 0 <= now < known.begins:
            return "certificate is not yet valid"
        if now > known.ends:
            return "certificate has expired"
    return ""
