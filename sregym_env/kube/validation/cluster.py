"""Validation of the kinds that the cluster itself is run with: API services, leases, runtime classes,
certificate requests, events, revisions."""

from __future__ import annotations

import base64
import binascii

from sregym_env.kube import names
from sregym_env.kube.status import (
    GoValue,
    duplicate,
    forbidden_field,
    invalid_value,
    required,
    unsupported,
)
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation.metadata import (
    IMMUTABLE,
    NOT_NEGATIVE,
    Errors,
    immutable,
    validate_labels,
)
from sregym_env.kube.validation.webhooks import validate_service_reference


def _spec(obj: Manifest) -> Manifest:
    spec: Manifest = obj.get("spec") or {}
    return spec


def domain_prefixed_path(value: str, where: str, out: Errors) -> None:
    """``IsDomainPrefixedPath``: ``acme.io/foo``."""
    if not value:
        out.append(required(where))
        return
    host, _, path = value.partition("/")
    if not host or not path:
        text = 'must be a domain-prefixed path (such as "acme.io/foo")'
        out.append(invalid_value(where, value, text))
        return
    out += [invalid_value(where, host, text) for text in names.dns1123_subdomain(host)]


# --- aggregation ----------------------------------------------------------------------------------------------


def validate_api_service(obj: Manifest, out: Errors) -> None:
    """An APIService."""
    spec = _spec(obj)
    group, version = spec.get("group", ""), spec.get("version", "")
    expected = f"{version}.{group}"
    name = (obj.get("metadata") or {}).get("name") or ""
    if name != expected:
        text = f'must be `spec.version+"."+spec.group`: "{expected}"'
        out.append(invalid_value("metadata.name", name, text))
    if group:
        out += [invalid_value("spec.group", group, text) for text in names.dns1123_subdomain(group)]
    out += [invalid_value("spec.version", version, text) for text in names.dns1035_label(version)]
    for field, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        value = spec.get(field, 0)
        if not 0 < value <= most:
            out.append(invalid_value(f"spec.{field}", value, f"must be positive and less than {most}"))
    service = spec.get("service")
    bundle = spec.get("caBundle")
    if service is None:
        if bundle:
            shown = f"{len(bundle)} bytes"
            out.append(invalid_value("spec.caBundle", shown, "local APIServices may not have a caBundle"))
        if spec.get("insecureSkipTLSVerify"):
            text = "local APIServices may not have insecureSkipTLSVerify"
            out.append(invalid_value("spec.insecureSkipTLSVerify", True, text))
        return
    validate_service_reference(service, "spec.service", out)
    if bundle and spec.get("insecureSkipTLSVerify"):
        text = "may not be true if caBundle is present"
        out.append(invalid_value("spec.insecureSkipTLSVerify", True, text))


# --- coordination, revisions, events ----------------------------------------------------------------------------


def validate_lease(obj: Manifest, out: Errors) -> None:
    """A Lease."""
    spec = _spec(obj)
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        out.append(invalid_value("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    transitions = spec.get("leaseTransitions")
    if transitions is not None and transitions < 0:
        out.append(invalid_value("spec.leaseTransitions", transitions, NOT_NEGATIVE))
    if spec.get("preferredHolder") and spec.get("strategy") is None:
        text = "may only be specified when `strategy` is defined"
        out.append(forbidden_field("spec.preferredHolder", text))


def validate_revision(obj: Manifest, out: Errors) -> None:
    """A ControllerRevision."""
    number = obj.get("revision", 0)
    if number < 0:
        out.append(invalid_value("revision", number, NOT_NEGATIVE))


def update_revision(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a ControllerRevision cannot change: what it holds."""
    if new.get("data") != old.get("data"):
        out.append(invalid_value("data", GoValue("runtime.RawExtension{...}"), IMMUTABLE))


def validate_event(obj: Manifest, out: Errors) -> None:
    """An Event of the core group: it lies where the object is that it is about."""
    namespace = (obj.get("metadata") or {}).get("namespace", "")
    about = (obj.get("involvedObject") or {}).get("namespace", "")
    if not about:
        if namespace not in ("default", "kube-system", ""):
            text = "does not match event.namespace"
            out.append(invalid_value("involvedObject.namespace", about, text))
    elif about != namespace:
        text = "does not match event.namespace"
        out.append(invalid_value("involvedObject.namespace", about, text))


# --- runtime classes ----------------------------------------------------------------------------------------------


def validate_runtime_class(obj: Manifest, out: Errors) -> None:
    """A RuntimeClass."""
    handler = obj.get("handler") or ""
    out += [invalid_value("handler", handler, text) for text in names.dns1123_label(handler)]
    scheduling = obj.get("scheduling") or {}
    validate_labels(scheduling.get("nodeSelector"), "scheduling.nodeSelector", out)


def update_runtime_class(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a RuntimeClass cannot change."""
    if new.get("handler") != old.get("handler"):
        out.append(invalid_value("handler", new.get("handler"), IMMUTABLE))


# --- certificate requests --------------------------------------------------------------------------------------------

_USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system",
    "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc",
    "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
)  # fmt: skip
_BEGIN = b"-----BEGIN CERTIFICATE REQUEST-----"
SHORTEST = 600
"""Seconds that a requested certificate must at least live."""


def validate_certificate_request(obj: Manifest, out: Errors) -> None:
    """A CertificateSigningRequest, with the request that it carries."""
    spec = _spec(obj)
    problem = _request_problem(spec.get("request") or "")
    if problem:
        out.append(invalid_value("spec.request", GoValue("[]byte{...}"), problem))
    usages = spec.get("usages") or []
    if not usages:
        out.append(required("spec.usages"))
    seen: set[str] = set()
    for index, usage in enumerate(usages):
        where = f"spec.usages[{index}]"
        if usage not in _USAGES:
            out.append(unsupported(where, usage, _USAGES))
        if usage in seen:
            out.append(duplicate(where, usage))
        seen.add(usage)
    _signer(spec.get("signerName") or "", "spec.signerName", out)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < SHORTEST:
        text = f"may not specify a duration less than {SHORTEST} seconds (10 minutes)"
        out.append(invalid_value("spec.expirationSeconds", seconds, text))


def _request_problem(text: str) -> str:
    """What is wrong with a PKCS#10 request in PEM in base64, or ``""``."""
    try:
        pem = base64.b64decode(text)
    except (binascii.Error, ValueError):
        pem = b""
    if _BEGIN not in pem:
        return "PEM block type must be CERTIFICATE REQUEST"
    from cryptography import x509  # only who asks for a certificate needs it
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        parsed = x509.load_pem_x509_csr(pem)
        return "" if parsed.is_signature_valid else "x509: signature verification failed"
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "asn1: structure error: malformed certificate request"


def _signer(name: str, where: str, out: Errors) -> None:
    if not name:
        out.append(required(where))
        return
    domain, _, path = name.partition("/")
    if name.count("/") != 1:
        text = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        out.append(invalid_value(where, name, text))
        return
    complaints = names.dns1123_subdomain(domain)
    out += [invalid_value(where, domain, f"validating label {domain!r}: {text}") for text in complaints]
    if "." not in domain:
        out.append(
            invalid_value(where, domain, "should be a domain with at least two segments separated by dots")
        )
    out += [invalid_value(where, path, text) for text in names.dns1123_subdomain(path)]


# --- ingress classes ---------------------------------------------------------------------------------------------------


def validate_ingress_class(obj: Manifest, out: Errors) -> None:
    """An IngressClass."""
    spec = _spec(obj)
    domain_prefixed_path(spec.get("controller") or "", "spec.controller", out)
    parameters = spec.get("parameters")
    if parameters is None:
        return
    where = "spec.parameters"
    for field in ("kind", "name"):
        if not parameters.get(field):
            out.append(required(f"{where}.{field}", f"{field} is required"))
    scope = parameters.get("scope", "Cluster")
    if scope not in ("Cluster", "Namespace"):
        out.append(unsupported(f"{where}.scope", scope, ("Cluster", "Namespace")))
    if scope == "Namespace" and not parameters.get("namespace"):
        text = "`parameters.scope` is set to 'Namespace'"
        out.append(required(f"{where}.namespace", text))
    if scope == "Cluster" and parameters.get("namespace"):
        text = "`parameters.scope` is set to 'Cluster'"
        out.append(forbidden_field(f"{where}.namespace", text))


def update_ingress_class(new: Manifest, old: Manifest, out: Errors) -> None:
    """What an IngressClass cannot change."""
    immutable(_spec(new), _spec(old), "controller", "spec", out)
