"""``openssl`` on the workstation: what an on-call engineer asks of certificates.

``x509`` shows one, ``s_client`` fetches a server's, ``verify`` checks a chain's dates, ``base64`` codes; what makes keys and
certificates is in :mod:`~sregym_env.tools.openssl_issuing`. Texts are those of
OpenSSL 3.0. ``cryptography`` is imported when the first certificate is looked at.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.shell import Shell
from sregym_env.tools.openssl_options import LONGEST, Refused, content, encoded_number, flags, octets, spelled

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from sregym_env.tools.openssl_issuing import Issuing

VERSION = "OpenSSL 3.0.15 3 Sep 2024 (Library: OpenSSL 3.0.15 3 Sep 2024)"
MOST = 20
"""Certificates of one file that are looked at."""

_X509_BARE = frozenset(
    "-text -noout -dates -startdate -enddate -subject -issuer -serial -fingerprint -sha256 -sha1 -pubkey -modulus".split()
)
_X509_VALUED = frozenset(
    "-in -out -inform -outform -checkend -checkhost -checkip -ext -nameopt -certopt -dateopt".split()
)
_MAKING = frozenset("genrsa genpkey ecparam pkey rsa ec req".split())
"""Commands that make keys, requests and certificates."""
_SIGNING = frozenset("-req -signkey -key -CA".split())
"""Options with which ``x509`` makes a certificate."""
_CLIENT_BARE = frozenset(
    "-showcerts -brief -quiet -tls1_2 -tls1_3 -no_ign_eof -ign_eof -debug -msg -state -prexit -noservername -verify_return_error".split()
)
_CLIENT_VALUED = frozenset(
    "-connect -host -port -servername -CAfile -CApath -cert -key -verify -alpn -starttls -cipher -verify_hostname -timeout".split()
)
_COMMANDS = frozenset(
    "asn1parse ca ciphers cms crl dgst dhparam enc list ocsp passwd pkcs12 pkcs7 pkcs8 rand s_server s_time smime speed "
    "storeutl ts".split()
)


class Wire(Protocol):
    """Whatever carries requests."""

    def now(self) -> int:
        """The present, microseconds."""
        ...

    def request(self, call: HttpCall) -> HttpExchange:
        """One request."""
        ...


class Openssl:
    """The program, over one wire."""

    __slots__ = ("_wire",)

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    @property
    def _issuing(self) -> Issuing:
        from sregym_env.tools.openssl_issuing import Issuing

        return Issuing(self._wire.now)

    def run(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``openssl COMMAND ...``."""
        words = list(argv[1:])
        verb = words.pop(0) if words else "help"
        verbs = {
            "x509": self._x509,
            "s_client": self._client,
            "verify": self._verify,
            "base64": self._base64,
        }
        if verb in ("version", "-v", "--version"):
            return ExecResult(f"{VERSION if not words or words[0] != '-v' else VERSION.partition(' (')[0]}\n")
        if verb in ("help", "-help", "--help"):
            return ExecResult(stderr=f"help:\n\nStandard commands\n{_columns((*verbs, *_MAKING, 'version'))}")
        if verb == "enc" and words[:1] in (["-base64"], ["-a"]):
            verb, words = "base64", words[1:]
        try:
            if verb in _MAKING:
                return self._issuing.run(verb, words, stdin, shell)
            if verb in verbs:
                return verbs[verb](words, stdin, shell)
        except Refused as error:
            return ExecResult(stderr=f"{error}\n", exit_code=1)
        if verb in _COMMANDS:
            text = f"openssl: '{verb}' is not available on this workstation ({', '.join((*verbs, *sorted(_MAKING)))} and version are)\n"
            return ExecResult(stderr=text, exit_code=1)
        return ExecResult(stderr=f"Invalid command '{verb}'; type \"help\" for a list.\n", exit_code=1)

    # --- commands ---------------------------------------------------------------------------------

    def _x509(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        if not _SIGNING.isdisjoint(words):
            return self._issuing.run("x509", words, stdin, shell)
        given = flags("x509", words, _X509_BARE, _X509_VALUED)
        pem = content(shell, given["-in"], "x509") if "-in" in given else stdin
        found = _certificates(pem)
        if not found:
            where = f" from {given['-in']}" if "-in" in given else " from <stdin>"
            raise Refused(f"Could not read certificate{where}\nUnable to load certificate")
        certificate = found[0]
        # In the order in which they are asked for.
        out = ""
        for name in given:
            if name in _SHOWN:
                out += _SHOWN[name](certificate)
            elif name == "-ext":
                out += _extension(certificate, given["-ext"])
            elif name == "-fingerprint":
                out += _fingerprint(
                    certificate, "SHA256" if "-sha256" in given and "-sha1" not in given else "SHA1"
                )
        code = 0
        if "-checkend" in given:
            if not given["-checkend"].isdecimal() or len(given["-checkend"]) > 9:
                raise Refused(f'x509: Non-number "{given["-checkend"]}" for option -checkend')
            late = self._wire.now() / 1e6 + int(given["-checkend"])
            code = int(certificate.not_valid_after_utc.timestamp() < late)
            out += "Certificate will expire\n" if code else "Certificate will not expire\n"
        if "-noout" not in given:
            out += _pem(certificate)
        if "-out" in given:
            shell.files.put_text(shell.resolve(given["-out"]), out)
            out = ""
        return ExecResult(out, exit_code=code)

    def _client(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        given = flags("s_client", words, _CLIENT_BARE, _CLIENT_VALUED, operand="-connect")
        host, _, port = given.get(
            "-connect", f"{given.get('-host', 'localhost')}:{given.get('-port', '4433')}"
        ).rpartition(":")
        if not host or not port.isdecimal() or "/" in host:
            raise Refused(
                "s_client: -connect argument or target parameter malformed or ambiguous\ns_client: Use -help for summary."
            )
        authorities = content(shell, given["-CAfile"], "s_client") if "-CAfile" in given else ""
        trusted = self._wire.request(HttpCall(f"https://{host}:{port}/", "HEAD", authorities=authorities))
        done = trusted
        if trusted.outcome == "tls" and not trusted.certificate:
            done = self._wire.request(HttpCall(f"https://{host}:{port}/", "HEAD", insecure=True))
        if done.outcome in ("no_such_host", "dns_timeout"):
            text = (
                "40A7D5B5D57F0000:error:10080002:BIO routines:BIO_lookup_ex:system lib:../crypto/bio/bio_addr.c:758:"
                "Name or service not known\nconnect:errno=22\n"
            )
            return ExecResult(stderr=text, exit_code=1, seconds=done.seconds)
        if done.outcome in ("refused", "timeout") and done.phase != "wait":
            number = 111 if done.outcome == "refused" else 110
            reason = "Connection refused" if done.outcome == "refused" else "Connection timed out"
            text = (
                "40A7D5B5D57F0000:error:8000006F:system library:BIO_connect:"
                f"{reason}:../crypto/bio/bio_sock2.c:114:calling connect()\n"
                "40A7D5B5D57F0000:error:10000067:BIO routines:BIO_connect:connect error:../crypto/bio/bio_sock2.c:116:\n"
                f"connect:errno={number}\n"
            )
            return ExecResult(stderr=text, exit_code=1, seconds=done.seconds)
        chain = _certificates(done.certificate)
        if not chain:
            text = (
                "CONNECTED(00000003)\n---\nno peer certificate available\n---\nNo client certificate CA names sent\n---\n"
                "SSL handshake has read 5 bytes and written 293 bytes\nVerification: OK\n---\nNew, (NONE), Cipher is (NONE)\n---\n"
            )
            wrong = "40A7D5B5D57F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../ssl/record/ssl3_record.c:354:\n"
            return ExecResult(text, wrong, 1, seconds=done.seconds)
        errors = _errors(chain, trusted.problem, datetime.fromtimestamp(self._wire.now() // 1_000_000, UTC))
        shown, told = _session(chain, errors, "-showcerts" in given), _depths(chain, errors)
        opened, _, rest = shown.partition("\n")
        return ExecResult(
            shown, told, seconds=done.seconds, chunks=((1, f"{opened}\n"), (2, told), (1, rest))
        )

    def _verify(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        given: dict[str, str] = {}
        operands = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word in ("-CAfile", "-untrusted", "-CApath", "-purpose"):
                if not rest:
                    raise Refused(f"verify: Option {word} needs a value\nverify: Use -help for summary.")
                given[word] = rest.pop(0)
            elif word.startswith("-") and word not in ("-verbose", "-x509_strict", "-partial_chain"):
                raise Refused(f"verify: Unknown option: {word.lstrip('-')}\nverify: Use -help for summary.")
            elif not word.startswith("-"):
                operands.append(word)
        roots = [*_certificates(content(shell, given["-CAfile"], "verify"))] if "-CAfile" in given else []
        between = (
            [*_certificates(content(shell, given["-untrusted"], "verify"))] if "-untrusted" in given else []
        )
        now = datetime.fromtimestamp(self._wire.now() // 1_000_000, UTC)
        out = errors = ""
        for name in operands or ["-"]:
            pem = stdin if name == "-" else content(shell, name, "verify")
            found = _certificates(pem)
            if not found:
                errors += f"Could not read certificate file from {name}\nUnable to load certificate file\n"
                continue
            code, reason, depth, where = _judged(found[0], [*between, *found[1:]], roots, now)
            shown = "stdin" if name == "-" else name
            if code:
                errors += f"{spelled(where.subject, ', ')}\nerror {code} at {depth} depth lookup: {reason}\nerror {shown}: verification failed\n"
            else:
                out += f"{shown}: OK\n"
        return ExecResult(out, errors, 2 if errors else 0)

    def _base64(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        given = flags("base64", words, frozenset(("-d", "-A", "-e", "-a")), frozenset(("-in", "-out")))
        text = content(shell, given["-in"], "base64") if "-in" in given else stdin
        data = text.encode("utf-8", "surrogateescape")
        if "-d" in given:
            try:
                out = base64.b64decode(data).decode("utf-8", "surrogateescape")
            except (binascii.Error, ValueError):
                raise Refused("error reading input file") from None
        else:
            whole = base64.b64encode(data).decode()
            out = (
                whole
                if "-A" in given
                else "".join(f"{whole[at : at + 64]}\n" for at in range(0, len(whole), 64))
            )
        if "-out" in given:
            shell.files.put_text(shell.resolve(given["-out"]), out)
            out = ""
        return ExecResult(out)


def _columns(names: Sequence[str]) -> str:
    listed = sorted(names)
    rows = (listed[at : at + 4] for at in range(0, len(listed), 4))
    return "".join("".join(f"{name:<18}" for name in row).rstrip() + "\n" for row in rows)


# --- certificates ---------------------------------------------------------------------------------


def _certificates(pem: str) -> list[Certificate]:
    from cryptography import x509

    found = []
    for block in pem[:LONGEST].split("-----BEGIN CERTIFICATE-----")[1 : MOST + 1]:
        text = f"-----BEGIN CERTIFICATE-----{block.partition('-----END')[0]}-----END CERTIFICATE-----\n"
        try:
            found.append(x509.load_pem_x509_certificate(text.encode("utf-8", "replace")))
        except ValueError:
            continue
    return found


def _stamp(moment: datetime) -> str:
    return moment.strftime("%b %e %H:%M:%S %Y GMT")


def _pem(certificate: Certificate) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM).decode()


def _fingerprint(certificate: Certificate, kind: str) -> str:
    from cryptography.hazmat.primitives import hashes

    digest = certificate.fingerprint(hashes.SHA256() if kind == "SHA256" else hashes.SHA1())
    return f"{kind.lower()} Fingerprint={':'.join(f'{byte:02X}' for byte in digest)}\n"


def _key(certificate: Certificate) -> tuple[str, int, str]:
    """(algorithm, bits, what follows it)."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key: Any = certificate.public_key()
    bits = int(getattr(key, "key_size", 256))
    kind = type(key).__name__
    if kind.endswith("RSAPublicKey"):
        return (
            "rsaEncryption",
            bits,
            f"                Public-Key: ({bits} bit)\n                Modulus:\n{octets(encoded_number(key.public_numbers().n), ' ' * 20)}                Exponent: {key.public_numbers().e} (0x{key.public_numbers().e:x})\n",
        )
    if kind.endswith(("ECPublicKey", "EllipticCurvePublicKey")):
        curve = {"secp256r1": "prime256v1"}.get(key.curve.name, key.curve.name)
        point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return (
            "id-ecPublicKey",
            bits,
            f"                Public-Key: ({bits} bit)\n                pub:\n{octets(point, ' ' * 20)}                ASN1 OID: {curve}\n                NIST CURVE: P-{bits}\n",
        )
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return (
        "ED25519",
        bits,
        f"                ED25519 Public-Key:\n                pub:\n{octets(raw, ' ' * 20)}",
    )


_EXTENSIONS = {
    "subjectAltName": "Subject Alternative Name", "keyUsage": "Key Usage", "extendedKeyUsage": "Extended Key Usage",
    "basicConstraints": "Basic Constraints", "subjectKeyIdentifier": "Subject Key Identifier",
    "authorityKeyIdentifier": "Authority Key Identifier",
}  # fmt: skip
_USAGES = (
    ("digital_signature", "Digital Signature"), ("content_commitment", "Non Repudiation"), ("key_encipherment", "Key Encipherment"),
    ("data_encipherment", "Data Encipherment"), ("key_agreement", "Key Agreement"), ("key_cert_sign", "Certificate Sign"),
    ("crl_sign", "CRL Sign"),
)  # fmt: skip
_EXTENDED = {
    "serverAuth": "TLS Web Server Authentication", "clientAuth": "TLS Web Client Authentication", "codeSigning": "Code Signing",
}  # fmt: skip


def _extension_value(name: str, value: Any) -> str:
    from cryptography import x509

    if name == "subjectAltName":
        parts = []
        for entry in value:
            label = "URI"
            for kind, word in (
                (x509.DNSName, "DNS"),
                (x509.IPAddress, "IP Address"),
                (x509.RFC822Name, "email"),
            ):
                label = word if isinstance(entry, kind) else label
            parts.append(f"{label}:{entry.value}")
        return ", ".join(parts)
    if name == "keyUsage":
        return ", ".join(label for attribute, label in _USAGES if getattr(value, attribute))
    if name == "extendedKeyUsage":
        return ", ".join(_EXTENDED.get(usage._name, usage._name) for usage in value)
    if name == "basicConstraints":
        length = "" if value.path_length is None else f", pathlen:{value.path_length}"
        return f"CA:{'TRUE' if value.ca else 'FALSE'}{length}"
    digest = getattr(value, "key_identifier", None) or getattr(value, "digest", b"") or b""
    return ":".join(f"{byte:02X}" for byte in digest)


def _extension_lines(certificate: Certificate, wanted: frozenset[str] | None, indent: str) -> str:
    from cryptography import x509

    try:
        present = list(certificate.extensions)
    except (ValueError, x509.DuplicateExtension):
        return ""
    out = ""
    for extension in present:
        name = extension.oid._name
        if name in _EXTENSIONS and (wanted is None or name in wanted):
            critical = "critical" if extension.critical else ""
            out += f"{indent}X509v3 {_EXTENSIONS[name]}: {critical}\n{indent}    {_extension_value(name, extension.value)}\n"
    return out


def _extension(certificate: Certificate, asked: str) -> str:
    found = _extension_lines(certificate, frozenset(asked.split(",")), "")
    return found or f"No extensions matching {asked} in certificate\n"


def _text(certificate: Certificate) -> str:
    from cryptography.exceptions import UnsupportedAlgorithm

    serial = certificate.serial_number
    digits = f"{serial:x}"
    digits = digits.rjust(len(digits) + len(digits) % 2, "0")
    shown = ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))
    number = f" {serial} (0x{serial:x})" if serial < 1 << 63 else f"\n            {shown}"
    try:
        algorithm = certificate.signature_algorithm_oid._name.replace("ed25519", "ED25519")
        kind, bits, body = _key(certificate)
        del bits
    except (ValueError, UnsupportedAlgorithm):
        algorithm, kind, body = "unknown", "unknown", ""
    extensions = _extension_lines(certificate, None, " " * 12)
    signature = ":".join(f"{byte:02x}" for byte in certificate.signature)
    lines = "".join(f"        {signature[at : at + 54]}\n" for at in range(0, len(signature), 54))
    return (
        f"Certificate:\n    Data:\n        Version: {certificate.version.value + 1} (0x{certificate.version.value:x})\n"
        f"        Serial Number:{number}\n        Signature Algorithm: {algorithm}\n        Issuer: {spelled(certificate.issuer)}\n"
        f"        Validity\n            Not Before: {_stamp(certificate.not_valid_before_utc)}\n"
        f"            Not After : {_stamp(certificate.not_valid_after_utc)}\n        Subject: {spelled(certificate.subject)}\n"
        f"        Subject Public Key Info:\n            Public Key Algorithm: {kind}\n{body}"
        + (f"        X509v3 extensions:\n{extensions}" if extensions else "")
        + f"    Signature Algorithm: {algorithm}\n    Signature Value:\n{lines}"
    )


def _start(certificate: Certificate) -> str:
    return f"notBefore={_stamp(certificate.not_valid_before_utc)}\n"


def _end(certificate: Certificate) -> str:
    return f"notAfter={_stamp(certificate.not_valid_after_utc)}\n"


def _serial(certificate: Certificate) -> str:
    digits = f"{certificate.serial_number:X}"
    return f"serial={digits.rjust(len(digits) + len(digits) % 2, '0')}\n"


def _public(certificate: Certificate) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return certificate.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _modulus(certificate: Certificate) -> str:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    key = certificate.public_key()
    return (
        f"Modulus={key.public_numbers().n:X}\n"
        if isinstance(key, RSAPublicKey)
        else "Modulus=No modulus for this public key type\n"
    )


_SHOWN: Mapping[str, Any] = {
    "-text": _text,
    "-dates": lambda certificate: _start(certificate) + _end(certificate),
    "-startdate": _start,
    "-enddate": _end,
    "-subject": lambda certificate: f"subject={spelled(certificate.subject)}\n",
    "-issuer": lambda certificate: f"issuer={spelled(certificate.issuer)}\n",
    "-serial": _serial,
    "-pubkey": _public,
    "-modulus": _modulus,
}
"""What ``x509`` shows, by option."""


def _judged(
    certificate: Certificate, between: list[Certificate], roots: list[Certificate], now: datetime
) -> tuple[int, str, int, Certificate]:
    """(error number, reason, depth, certificate) of OpenSSL's verification; number 0 where there is nothing wrong."""
    from cryptography.exceptions import InvalidSignature

    present, depth = certificate, 0
    while depth < MOST:
        if now < present.not_valid_before_utc:
            return 9, "certificate is not yet valid", depth, present
        if now > present.not_valid_after_utc + timedelta(seconds=0):
            return 10, "certificate has expired", depth, present
        if any(present == root for root in roots):
            return 0, "", depth, present
        issuer = next(
            (other for other in (*roots, *between) if other.subject == present.issuer and other != present),
            None,
        )
        if issuer is None:
            if present.subject == present.issuer:
                return 18, "self-signed certificate", depth, present
            return 20, "unable to get local issuer certificate", depth, present
        try:
            present.verify_directly_issued_by(issuer)
        except (ValueError, TypeError, InvalidSignature):
            return 7, "certificate signature failure", depth, present
        present, depth = issuer, depth + 1
    return 22, "certificate chain too long", depth, present


_REASONS = {
    9: "certificate is not yet valid",
    10: "certificate has expired",
    18: "self-signed certificate",
    19: "self-signed certificate in certificate chain",
    20: "unable to get local issuer certificate",
    21: "unable to verify the first certificate",
}


def _errors(chain: list[Certificate], problem: str, now: datetime) -> tuple[int, ...]:
    """What ``s_client`` says of a chain that curl does not trust: it goes on, and asks for the dates all the same."""
    if not problem:
        return ()
    dates = 9 if now < chain[0].not_valid_before_utc else 10 if now > chain[0].not_valid_after_utc else 0
    if "certificate has expired" in problem or "not yet valid" in problem:
        return (dates or 10,)
    if "self-signed" in problem:
        first: tuple[int, ...] = (19 if "in certificate chain" in problem else 18,)
    else:
        first = (20, 21) if len(chain) == 1 else (20,)
    return (*first, dates) if dates else first


def _depths(chain: list[Certificate], errors: Sequence[int]) -> str:
    out = "".join(f"depth={at} {spelled(chain[at].subject)}\n" for at in reversed(range(1, len(chain))))
    last = f"depth=0 {spelled(chain[0].subject)}\n"
    dates = ""
    for number in errors:
        if number in (9, 10):
            dates = _end(chain[0]) if number == 10 else _start(chain[0])
        out += f"{last}verify error:num={number}:{_REASONS[number]}\n{dates}verify return:1\n"
    return f"{out}{last}{dates}verify return:1\n"


def _session(chain: list[Certificate], errors: Sequence[int], every: bool) -> str:
    listed = ""
    for at, certificate in enumerate(chain):
        kind, bits, _ = _key(certificate)
        listed += (
            f" {at} s:{spelled(certificate.subject)}\n   i:{spelled(certificate.issuer)}\n"
            f"   a:PKEY: {kind}, {bits} (bit); sigalg: {certificate.signature_algorithm_oid._name}\n"
            f"   v:NotBefore: {_stamp(certificate.not_valid_before_utc)}; NotAfter: {_stamp(certificate.not_valid_after_utc)}\n"
        )
        if every:
            listed += _pem(certificate)
    first = chain[0]
    own = "" if every else _pem(first)
    # The last one is what the verification ended with.
    code = f"{errors[-1]} ({_REASONS[errors[-1]]})" if errors else "0 (ok)"
    return (
        f"CONNECTED(00000003)\n---\nCertificate chain\n{listed}---\nServer certificate\n{own}subject={spelled(first.subject)}\n"
        f"issuer={spelled(first.issuer)}\n---\nNo client certificate CA names sent\nServer Temp Key: X25519, 253 bits\n---\n"
        f"Verification{': OK' if code == '0 (ok)' else f' error: {code.partition(chr(32))[2].strip(chr(40) + chr(41))}'}\n---\n"
        "New, TLSv1.3, Cipher is TLS_AES_128_GCM_SHA256\n"
        f"Server public key is {_key(first)[1]} bit\nSecure Renegotiation IS NOT supported\nCompression: NONE\nExpansion: NONE\n"
        f"Early data was not sent\nVerify return code: {code}\n---\nDONE\n"
    )
