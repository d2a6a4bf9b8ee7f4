"""Describing certificate signing requests."""

from __future__ import annotations

import base64
from typing import Any

from sregym_env.kube.describe.text import Reader, Sheet, events_of, header, rfc1123
from sregym_env.kube.durations import human_duration
from sregym_env.kube.tables.access import request_status
from sregym_env.kube.types import Manifest

_SUBJECT = (
    ("Organization", "2.5.4.10"),
    ("Organizational Unit", "2.5.4.11"),
    ("Country", "2.5.4.6"),
    ("Locality", "2.5.4.7"),
    ("Province", "2.5.4.8"),
    ("StreetAddress", "2.5.4.9"),
    ("PostalCode", "2.5.4.17"),
)
"""What is shown of a subject besides the common name and the serial number, with its object identifier."""
_COMMON_NAME, _SERIAL = "2.5.4.3", "2.5.4.5"


def describe_request(obj: Manifest, reader: Reader) -> str:
    """A CertificateSigningRequest with the subject it asks for."""
    sheet = Sheet(reader.now())
    spec = obj["spec"]
    header(sheet, obj, namespaced=False)
    sheet.line(0, f"CreationTimestamp:\t{rfc1123(obj['metadata'].get('creationTimestamp'))}")
    sheet.line(0, f"Requesting User:\t{spec.get('username', '')}")
    if spec.get("signerName"):
        sheet.line(0, f"Signer:\t{spec['signerName']}")
    if spec.get("expirationSeconds") is not None:
        sheet.line(0, f"Requested Duration:\t{human_duration(spec['expirationSeconds'])}")
    sheet.line(0, f"Status:\t{request_status(obj)}")
    _subject(sheet, spec.get("request", ""))
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _subject(sheet: Sheet, request: str) -> None:
    from cryptography import x509  # only this description looks into a certificate request

    try:
        parsed = x509.load_pem_x509_csr(base64.b64decode(request))
    except ValueError:
        return
    found: dict[str, list[str]] = {}
    for attribute in parsed.subject:
        found.setdefault(attribute.oid.dotted_string, []).append(str(attribute.value))
    sheet.line(0, "Subject:")
    sheet.line(0, f"\tCommon Name:\t{_last(found, _COMMON_NAME)}")
    sheet.line(0, f"\tSerial Number:\t{_last(found, _SERIAL)}")
    for title, oid in _SUBJECT:
        _listed(sheet, title, found.get(oid))
    _alternatives(sheet, parsed)


def _last(found: dict[str, list[str]], oid: str) -> str:
    return found.get(oid, [""])[-1]


def _listed(sheet: Sheet, title: str, values: list[str] | None) -> None:
    if values:
        lead = f"\t{title}:\t"
        for value in values:
            sheet.line(0, lead + value)
            lead = "\t\t"


def _alternatives(sheet: Sheet, parsed: Any) -> None:
    from cryptography import x509

    try:
        names = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return
    groups = (
        ("DNS Names", [str(name) for name in names.get_values_for_type(x509.DNSName)]),
        ("Email Addresses", [str(name) for name in names.get_values_for_type(x509.RFC822Name)]),
        ("URIs", [str(name) for name in names.get_values_for_type(x509.UniformResourceIdentifier)]),
        ("IP Addresses", [str(name) for name in names.get_values_for_type(x509.IPAddress)]),
    )
    if any(values for _, values in groups):
        sheet.line(0, "Subject Alternative Names:")
        for title, values in groups:
            _listed(sheet, title, values)
