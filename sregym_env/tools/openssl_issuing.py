"""``openssl`` makes keys, requests and certificates: ``genrsa``, ``genpkey``, ``ecparam``, ``pkey``, ``req`` and ``x509 -req``.

A key follows from the command that makes it and from when it is made, a serial number from what it is given to: the same
actions make the same bytes. Texts are those of OpenSSL 3.0 with Debian's configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import Certificate, CertificateSigningRequest, Name

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.shell.shell import Shell
from sregym_env.tools import openssl_extensions as ext
from sregym_env.tools import openssl_keys as keys
from sregym_env.tools.openssl_keys import PrivateKey
from sregym_env.tools.openssl_options import Refused, content, flags, spelled

DAYS = 30
"""For which a certificate is valid where nobody says."""
LONGEST_DAYS = 36_500
DIGESTS = frozenset("-sha256 -sha384 -sha512 -sha1".split())

_REQ_BARE = DIGESTS | frozenset(
    "-new -x509 -nodes -noenc -batch -noout -text -subject -verify -pubkey -utf8 -verbose".split()
)
_REQ_VALUED = frozenset(
    "-newkey -pkeyopt -key -keyout -in -out -days -subj -addext -config -extensions -reqexts -set_serial -passin -passout -inform -outform -nameopt".split()
)
_SIGN_BARE = DIGESTS | frozenset("-req -CAcreateserial -noout -text -clrext".split())
_SIGN_VALUED = frozenset(
    "-in -out -days -signkey -key -CA -CAkey -CAserial -set_serial -extfile -extensions -copy_extensions -passin -inform -outform".split()
)


class Issuer(NamedTuple):
    """Who signs: a name and a key, and the certificate of an authority."""

    name: Name
    key: PrivateKey
    certificate: Certificate | None = None


class Issuing:
    """The commands, at the present that ``now`` tells (microseconds since 1970)."""

    __slots__ = ("_now",)

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now

    def run(self, verb: str, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        """One of the commands. Raises Refused, whatever files hold: what is in them may be anything."""
        try:
            return self._commands[verb](words, stdin, shell)
        except (ValueError, TypeError, UnsupportedAlgorithm, x509.DuplicateExtension) as error:
            raise Refused(f"{verb}: {str(error)[:200]}") from None

    @property
    def _commands(self) -> Mapping[str, Callable[[list[str], str, Shell], ExecResult]]:
        return {
            "x509": self._sign,
            "genrsa": self._genrsa,
            "genpkey": self._genpkey,
            "ecparam": self._ecparam,
            "pkey": self._pkey,
            "rsa": self._pkey,
            "ec": self._pkey,
            "req": self._req,
        }

    # --- keys -------------------------------------------------------------------------------------

    def _genrsa(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        given = flags(
            "genrsa", words, frozenset(("-traditional", "-verbose")), frozenset(("-out",)), operand="bits"
        )
        key = keys.made("genrsa", "rsa", given.get("bits", ""), self._text(words))
        return _written(keys.private_pem(key), given, shell)

    def _genpkey(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        given = flags(
            "genpkey",
            words,
            frozenset(("-quiet",)),
            frozenset(("-algorithm", "-pkeyopt", "-out", "-outform")),
        )
        if "-algorithm" not in given:
            raise Refused("genpkey: Error initializing context\ngenpkey: Use -help for summary.")
        option = given.get("-pkeyopt", "").rpartition(":")[2]
        key = keys.made("genpkey", given["-algorithm"], option, self._text(words))
        return _written(keys.private_pem(key), given, shell)

    def _ecparam(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        given = flags(
            "ecparam", words, frozenset(("-genkey", "-noout", "-list_curves")), frozenset(("-name", "-out"))
        )
        if "-list_curves" in given:
            listed = (("secp384r1", "NIST/SECG curve over a 384 bit prime field"), ("secp521r1", "NIST/SECG curve over a 521 bit prime field"), ("prime256v1", "X9.62/SECG curve over a 256 bit prime field"))  # fmt: skip
            return ExecResult("".join(f"  {name:<10}: {what}\n" for name, what in listed))
        out = "" if "-noout" in given else keys.parameters_pem(given.get("-name", ""))
        if "-genkey" in given:
            out += keys.private_pem(keys.made("ecparam", "ec", given.get("-name", ""), self._text(words)))
        return _written(out, given, shell)

    def _pkey(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        bare = frozenset("-pubout -noout -check -nodes -text -modulus".split())
        given = flags("pkey", words, bare, frozenset("-in -out -inform -outform -passin".split()))
        key = keys.read(
            "pkey",
            content(shell, given["-in"], "pkey") if "-in" in given else stdin,
            given.get("-in", "<stdin>"),
        )
        out = keys.described(key) if "-text" in given else ""
        if "-modulus" in given:
            out += keys.modulus(key)
        if "-check" in given:
            out += "Key is valid\n"
        if "-noout" not in given:
            out += keys.public_pem(key) if "-pubout" in given else keys.private_pem(key)
        return _written(out, given, shell)

    # --- requests and certificates of one's own ---------------------------------------------------

    def _req(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        given = flags("req", words, _REQ_BARE, _REQ_VALUED, repeated="-addext")
        if "-newkey" in given or "-new" in given or "-x509" in given:
            return self._asked(words, given, shell)
        pem = content(shell, given["-in"], "req") if "-in" in given else stdin
        return _written(_shown(_request(pem, given.get("-in", "<stdin>")), given), given, shell)

    def _asked(self, words: list[str], given: Mapping[str, str], shell: Shell) -> ExecResult:
        config = ext.parsed(content(shell, given["-config"], "req")) if "-config" in given else {}
        ours = config.get("req", {})
        key = self._key_for(words, given, shell)
        subject = _subject(given, ours, config)
        section = given.get("-extensions" if "-x509" in given else "-reqexts", ours.get("x509_extensions" if "-x509" in given else "req_extensions", ""))  # fmt: skip
        if section and section not in config:
            raise Refused(f"Error checking extension section {section}")
        wanted = dict(config.get(section, {}))
        wanted |= (each.partition("=")[::2] for each in given.get("-addext", "").splitlines())
        said = "-----\n" if "-newkey" in given else ""
        if "-x509" not in given:
            return _written(
                _pem(self._signed_request(subject, key, ext.extensions("req", wanted, config))),
                given,
                shell,
                said,
            )
        # Debian's v3_ca, unless a file says otherwise.
        usual = {
            "subjectKeyIdentifier": "hash",
            "authorityKeyIdentifier": "keyid",
            "basicConstraints": "critical,CA:TRUE",
        }
        listed = ext.extensions("req", wanted if section else {**usual, **wanted}, config)
        built = self._certificate("req", subject, key.public_key(), Issuer(subject, key), given, listed)
        return _written(_pem(built), given, shell, said)

    def _key_for(self, words: list[str], given: Mapping[str, str], shell: Shell) -> PrivateKey:
        if "-newkey" not in given and "-key" in given:
            return keys.read("req", content(shell, given["-key"], "req"), given["-key"])
        if "-nodes" not in given and "-noenc" not in given:
            raise Refused("req: there is no terminal to ask for a pass phrase: give -nodes (or -noenc)")
        algorithm, _, option = given.get("-newkey", "rsa:2048").partition(":")
        if algorithm == "ec":
            option = (
                keys.curve_of(content(shell, option, "req"))
                if option
                else given.get("-pkeyopt", "").rpartition(":")[2]
            )
        key = keys.made("req", algorithm, option, self._text(words))
        _written(keys.private_pem(key), {"-out": given.get("-keyout", "privkey.pem")}, shell)
        return key

    def _signed_request(
        self, subject: Name, key: PrivateKey, listed: Mapping[str, tuple[Any, bool]]
    ) -> CertificateSigningRequest:
        builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
        for value, critical in listed.values():
            if value is not None:
                builder = builder.add_extension(value, critical)
        return builder.sign(key, _digest(key), ecdsa_deterministic=_deterministic(key))

    # --- what others ask for ----------------------------------------------------------------------

    def _sign(self, words: list[str], stdin: str, shell: Shell) -> ExecResult:
        """``openssl x509 -req``: a certificate for a request, of an authority (``-CA``) or of the request's own key; and, without
        ``-req``, one like another of the same key (``-key``, ``-signkey``)."""
        given = flags("x509", words, _SIGN_BARE, _SIGN_VALUED)
        pem = content(shell, given["-in"], "x509") if "-in" in given else stdin
        where = given.get("-in", "<stdin>")
        asked: Any = _request(pem, where) if "-req" in given else _certificate(pem, where)
        issuer = _issuer(given, asked.subject, shell)
        config = ext.parsed(content(shell, given["-extfile"], "x509")) if "-extfile" in given else {}
        section = given.get("-extensions", config.get(ext.DEFAULT, {}).get("extensions", ext.DEFAULT))
        if config and section not in config:
            raise Refused(f"Error checking extension section {section}")
        wanted = {name: value for name, value in config.get(section, {}).items() if name != "extensions"}
        listed = ext.extensions("x509", wanted, config)
        if "-req" not in given or given.get("-copy_extensions", "none") != "none":
            listed = {each.oid._name: (each.value, each.critical) for each in asked.extensions} | listed
        built = self._certificate("x509", asked.subject, asked.public_key(), issuer, given, listed)
        if "-CAcreateserial" in given and "-CA" in given and "-noout" not in given:
            beside = given.get("-CAserial", f"{given['-CA'].removesuffix('.crt').removesuffix('.pem')}.srl")
            shell.files.put_text(shell.resolve(beside), f"{built.serial_number:040X}\n")
        said = (
            f"Certificate request self-signature ok\nsubject={spelled(asked.subject)}\n"
            if "-req" in given
            else ""
        )
        return _written("" if "-noout" in given else _pem(built), given, shell, said)

    def _certificate(
        self,
        verb: str,
        subject: Name,
        public: Any,
        issuer: Issuer,
        given: Mapping[str, str],
        listed: Mapping[str, tuple[Any, bool]],
    ) -> Certificate:
        days = whole(given.get("-days", str(DAYS)), -1)
        if not 0 <= days <= LONGEST_DAYS:
            raise Refused(
                f'{verb}: Non-positive number "{given["-days"][:20]}" for option -days\n{verb}: Use -help for summary.'
            )
        begins = datetime.fromtimestamp(self._now() // 1_000_000, UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer.name)
            .public_key(public)
            .serial_number(self._serial(given, subject))
            .not_valid_before(begins)
            .not_valid_after(begins + timedelta(days=days))
        )
        for name, (value, critical) in listed.items():
            made = value if value is not None else _of_the_keys(name, public, issuer)
            builder = builder.add_extension(made, critical)
        return builder.sign(issuer.key, _digest(issuer.key), ecdsa_deterministic=_deterministic(issuer.key))

    def _serial(self, given: Mapping[str, str], subject: Name) -> int:
        stated = whole(given.get("-set_serial", ""), 0)
        data = f"{self._now()}/{subject.rfc4514_string()}/{sorted(given.items())}".encode("utf-8", "replace")
        return stated or int.from_bytes(blake2b(data, digest_size=20).digest()) >> 1 or 1

    def _text(self, words: Sequence[str]) -> str:
        """What a key follows from."""
        return f"{self._now()}/{words!r}".encode("utf-8", "replace").decode()


def _subject(given: Mapping[str, str], ours: Mapping[str, str], config: ext.Config) -> Name:
    if "-subj" in given:
        return ext.subject("req", given["-subj"])
    if ours.get("prompt", "yes") == "no" or ("-batch" in given and ours):
        return ext.named("req", config.get(ours.get("distinguished_name", ""), {}).items())
    raise Refused("req: there is no terminal to ask for a name: give -subj, or a -config with prompt = no")


def _issuer(given: Mapping[str, str], subject: Name, shell: Shell) -> Issuer:
    own = given.get("-signkey", given.get("-key"))
    if "-CA" in given:
        pem = content(shell, given["-CA"], "x509")
        held = given.get("-CAkey", given["-CA"])
        authority, key = (
            _certificate(pem, given["-CA"]),
            keys.read("x509", content(shell, held, "x509"), held),
        )
        if key.public_key() != authority.public_key():
            raise Refused("x509: CA certificate and CA private key do not match")
        return Issuer(authority.subject, key, authority)
    if own is None:
        raise Refused("x509: We need a private key to sign with, use -signkey or -CAkey or -key")
    return Issuer(subject, keys.read("x509", content(shell, own, "x509"), own))


def _request(pem: str, where: str) -> CertificateSigningRequest:
    try:
        found = x509.load_pem_x509_csr(pem.encode("utf-8", "replace"))
        valid = found.is_signature_valid
    except (ValueError, UnsupportedAlgorithm):
        raise Refused(f"Unable to load X509 request from {where}") from None
    if not valid:
        raise Refused("Certificate request self-signature did not match the contents")
    return found


def _certificate(pem: str, where: str) -> Certificate:
    try:
        return x509.load_pem_x509_certificate(pem.encode("utf-8", "replace"))
    except ValueError:
        raise Refused(f"Could not read certificate from {where}\nUnable to load certificate") from None


def _of_the_keys(name: str, public: Any, issuer: Issuer) -> Any:
    if name == "subjectKeyIdentifier":
        return x509.SubjectKeyIdentifier.from_public_key(public)
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key())


def _digest(key: PrivateKey) -> Any:
    """Always SHA-256, which is the default; Ed25519 has its own."""
    return None if isinstance(key, Ed25519PrivateKey) else hashes.SHA256()


def _deterministic(key: PrivateKey) -> bool | None:
    return True if isinstance(key, EllipticCurvePrivateKey) else None


def _pem(made: Certificate | CertificateSigningRequest) -> str:
    return made.public_bytes(Encoding.PEM).decode()


def _shown(request: CertificateSigningRequest, given: Mapping[str, str]) -> str:
    out = "Certificate request self-signature verify OK\n" if "-verify" in given else ""
    if "-text" in given:
        names = ", ".join(each.oid._name for each in request.extensions)
        out += f"Certificate Request:\n    Data:\n        Version: 1 (0x0)\n        Subject: {spelled(request.subject)}\n"
        out += f"        Requested Extensions: {names}\n" if names else ""
    if "-subject" in given:
        out += f"subject={spelled(request.subject)}\n"
    if "-pubkey" in given:
        out += request.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return out if "-noout" in given else out + _pem(request)


PRIVATE = 0o600
"""Permissions of files with keys."""


def _written(text: str, given: Mapping[str, str], shell: Shell, said: str = "") -> ExecResult:
    """A command's output, in the file that ``-out`` names; what it says of it besides."""
    if "-out" not in given:
        return ExecResult(text, said)
    path = shell.resolve(given["-out"])
    shell.files.put_text(path, text)
    if "PRIVATE KEY-----" in text:
        shell.files.set_mode(path, PRIVATE)
    return ExecResult(stderr=said)
