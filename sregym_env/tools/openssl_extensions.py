"""What OpenSSL's configuration says of names and extensions: ``-subj``, ``-addext``, ``-config``, ``-extfile``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address

from cryptography import x509
from cryptography.x509 import ExtensionType, GeneralName, Name
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sregym_env.runtime.numbers import whole
from sregym_env.tools.openssl_options import Refused

Section = dict[str, str]
Config = Mapping[str, Section]

DEFAULT = "default"
"""What stands before the first section of a file."""

_ATTRIBUTES = {
    "CN": "COMMON_NAME", "commonName": "COMMON_NAME", "O": "ORGANIZATION_NAME", "organizationName": "ORGANIZATION_NAME",
    "OU": "ORGANIZATIONAL_UNIT_NAME", "organizationalUnitName": "ORGANIZATIONAL_UNIT_NAME", "C": "COUNTRY_NAME",
    "countryName": "COUNTRY_NAME", "ST": "STATE_OR_PROVINCE_NAME", "stateOrProvinceName": "STATE_OR_PROVINCE_NAME",
    "L": "LOCALITY_NAME", "localityName": "LOCALITY_NAME", "emailAddress": "EMAIL_ADDRESS", "serialNumber": "SERIAL_NUMBER",
    "DC": "DOMAIN_COMPONENT", "domainComponent": "DOMAIN_COMPONENT",
}  # fmt: skip
_USAGES = {
    "digitalSignature": "digital_signature", "nonRepudiation": "content_commitment", "contentCommitment": "content_commitment",
    "keyEncipherment": "key_encipherment", "dataEncipherment": "data_encipherment", "keyAgreement": "key_agreement",
    "keyCertSign": "key_cert_sign", "cRLSign": "crl_sign", "encipherOnly": "encipher_only", "decipherOnly": "decipher_only",
}  # fmt: skip
_EXTENDED = {
    "serverAuth": "SERVER_AUTH", "clientAuth": "CLIENT_AUTH", "codeSigning": "CODE_SIGNING",
    "emailProtection": "EMAIL_PROTECTION", "timeStamping": "TIME_STAMPING", "anyExtendedKeyUsage": "ANY_EXTENDED_KEY_USAGE",
}  # fmt: skip
OF_THE_KEYS = ("subjectKeyIdentifier", "authorityKeyIdentifier")
"""Extensions that follow from keys: who issues the certificate makes them."""


def parsed(text: str) -> Config:
    """The sections of a configuration file."""
    found: dict[str, Section] = {DEFAULT: {}}
    name = DEFAULT
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if line.startswith("[") and "]" in line:
            name = line[1 : line.index("]")].strip()
            found.setdefault(name, {})
        elif "=" in line:
            key, _, value = line.partition("=")
            found[name][key.strip()] = value.strip()
    return found


def subject(verb: str, text: str) -> Name:
    """The name that ``/C=DE/O=Example/CN=host`` spells. Raises Refused."""
    if not text.startswith("/"):
        raise Refused(
            f"req: subject name is expected to be in the format /type0=value0/type1=value1/type2=... where characters may be "
            f"escaped by \\. This name is not in that format: '{text[:80]}'"
        )
    parts = text.replace("\\/", "\0")[1:].split("/")
    return named(
        verb,
        ((key, value.replace("\0", "/")) for key, _, value in (part.partition("=") for part in parts) if key),
    )


def named(verb: str, pairs: Iterable[tuple[str, str]]) -> Name:
    """A name of attributes and their values; those whose value is empty are left out. Raises Refused."""
    attributes = []
    for key, value in pairs:
        # Configuration files number what occurs more than once: 0.organizationName.
        short = key.rpartition(".")[2] if key.partition(".")[0].isdecimal() else key
        kind = _ATTRIBUTES.get(short)
        if kind is None:
            raise Refused(
                f'{verb}: Skipping unknown subject name attribute "{short[:40]}"\n{verb}: Error making certificate request'
            )
        if value:
            try:
                attributes.append(x509.NameAttribute(getattr(NameOID, kind), value))
            except ValueError as error:
                raise Refused(f"{verb}: {short}: {error}\n{verb}: Error making certificate request") from None
    return x509.Name(attributes)


def extensions(
    verb: str, section: Mapping[str, str], config: Config
) -> dict[str, tuple[ExtensionType | None, bool]]:
    """Extensions by OpenSSL's names, and whether they are critical; None for those of :data:`OF_THE_KEYS`. Raises Refused."""
    found: dict[str, tuple[ExtensionType | None, bool]] = {}
    for name, text in section.items():
        words = [word.strip() for word in text.split(",") if word.strip()]
        critical = words[:1] == ["critical"]
        if name in OF_THE_KEYS:
            found[name] = (None, critical)
            continue
        read = _READERS.get(name)
        if read is None:
            raise Refused(f"Error checking extension section: {name[:60]}: unknown extension name")
        try:
            found[name] = (read(words[critical:], config), critical)
        except (ValueError, KeyError) as error:
            raise Refused(
                f"{verb}: Error adding extensions: name={name}, value={text[:120]} ({str(error)[:80]})"
            ) from None
    return found


def _alternative_names(words: list[str], config: Config) -> ExtensionType:
    listed: list[GeneralName] = []
    for word in words:
        if word.startswith("@"):
            listed += [_general(key.partition(".")[0], value) for key, value in config[word[1:]].items()]
        else:
            kind, _, value = word.partition(":")
            listed.append(_general(kind, value))
    return x509.SubjectAlternativeName(listed)


def _general(kind: str, value: str) -> GeneralName:
    if kind == "DNS":
        return x509.DNSName(value)
    if kind == "IP":
        return x509.IPAddress(ip_address(value))
    if kind == "URI":
        return x509.UniformResourceIdentifier(value)
    if kind == "email":
        return x509.RFC822Name(value)
    raise ValueError(f"{kind[:20]} is no kind of a name")


def _constraints(words: list[str], config: Config) -> ExtensionType:
    given = dict(word.partition(":")[::2] for word in words)
    authority = given.get("CA", "FALSE").upper() == "TRUE"
    length = whole(given["pathlen"], -1) if "pathlen" in given and authority else None
    return x509.BasicConstraints(authority, length)


def _usage(words: list[str], config: Config) -> ExtensionType:
    wanted = {_USAGES[word] for word in words}
    return x509.KeyUsage(**{name: name in wanted for name in set(_USAGES.values())})


def _extended(words: list[str], config: Config) -> ExtensionType:
    return x509.ExtendedKeyUsage([getattr(ExtendedKeyUsageOID, _EXTENDED[word]) for word in words])


_READERS: Mapping[str, Callable[[list[str], Config], ExtensionType]] = {
    "subjectAltName": _alternative_names,
    "basicConstraints": _constraints,
    "keyUsage": _usage,
    "extendedKeyUsage": _extended,
}
