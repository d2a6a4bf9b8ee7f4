"""Private keys that ``openssl`` makes and reads on the workstation."""

from __future__ import annotations

import base64

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from sregym_env.cluster import keys
from sregym_env.runtime.numbers import whole
from sregym_env.tools.openssl_options import Refused, encoded_number, octets

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

_PARAMETERS = {"BggqhkjOPQMBBw==": "prime256v1", "BgUrgQQAIg==": "secp384r1", "BgUrgQQAIw==": "secp521r1"}
"""The names of curves, by the DER of their object identifiers."""
_SAME = {"secp256r1": "prime256v1", "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1"}


def made(verb: str, algorithm: str, option: str, text: str) -> PrivateKey:
    """A new key: of ``rsa`` with so many bits, of ``ec`` on a curve, of ``ed25519``. Raises Refused."""
    kind = algorithm.lower()
    if kind == "rsa":
        bits = whole(option or "2048", -1)
        if bits not in keys.RSA_BITS:
            sizes = ", ".join(map(str, keys.RSA_BITS))
            raise Refused(
                f"{verb}: RSA keys of {option[:20]} bits cannot be made on this workstation; there are {sizes}"
            )
        return keys.rsa_key(text, bits)
    if kind == "ec":
        if option not in keys.CURVES:
            raise Refused(
                f"{verb}: unknown curve name ({option[:40]})" if option else f"{verb}: no parameters set"
            )
        return keys.ec_key(text, option)
    if kind == "ed25519":
        return keys.ed25519_key(text)
    raise Refused(f"{verb}: Error setting algorithm {algorithm[:40]}: RSA, EC and ED25519 are there")


def read(verb: str, pem: str, where: str) -> PrivateKey:
    """The key of a PEM text. Raises Refused."""
    problem = f"Could not read private key from {where}\n{verb}: Unable to load private key"
    try:
        key = load_pem_private_key(pem.encode("utf-8", "replace"), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise Refused(problem) from None
    if isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey):
        return key
    raise Refused(problem)


def private_pem(key: PrivateKey) -> str:
    """A key as OpenSSL 3 writes it: PKCS #8, not encrypted."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def public_pem(key: PrivateKey) -> str:
    """Its public half."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def parameters_pem(curve: str) -> str:
    """What ``ecparam -name`` prints. Raises Refused."""
    wanted = _SAME.get(curve, curve)
    der = next((der for der, name in _PARAMETERS.items() if name == wanted), None)
    if der is None:
        raise Refused(f"ecparam: unknown curve name ({curve[:40]})")
    return f"-----BEGIN EC PARAMETERS-----\n{der}\n-----END EC PARAMETERS-----\n"


def curve_of(pem: str) -> str:
    """The curve that a file of parameters names; empty where it names none."""
    body = "".join(line for line in pem.splitlines() if not line.startswith("-----"))
    try:
        return _PARAMETERS.get(base64.b64encode(base64.b64decode(body)).decode(), "")
    except ValueError:
        return ""


def described(key: PrivateKey) -> str:
    """What ``-text`` says of a private key."""
    indent = " " * 4
    if isinstance(key, rsa.RSAPrivateKey):
        private = key.private_numbers()
        public = private.public_numbers
        parts = {
            "privateExponent": private.d, "prime1": private.p, "prime2": private.q, "exponent1": private.dmp1,
            "exponent2": private.dmq1, "coefficient": private.iqmp,
        }  # fmt: skip
        return (
            f"Private-Key: ({key.key_size} bit, 2 primes)\nmodulus:\n{octets(encoded_number(public.n), indent)}"
            f"publicExponent: {public.e} (0x{public.e:x})\n"
            + "".join(f"{name}:\n{octets(encoded_number(value), indent)}" for name, value in parts.items())
        )
    private_bytes = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    if isinstance(key, ed25519.Ed25519PrivateKey):
        public_bytes = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return f"ED25519 Private-Key:\npriv:\n{octets(private_bytes[-32:], indent)}pub:\n{octets(public_bytes, indent)}"
    size = key.key_size
    secret = key.private_numbers().private_value.to_bytes((size + 7) // 8, "big")
    point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    curve = _SAME.get(key.curve.name, key.curve.name)
    return (
        f"Private-Key: ({size} bit)\npriv:\n{octets(secret, indent)}pub:\n{octets(point, indent)}"
        f"ASN1 OID: {curve}\nNIST CURVE: P-{size}\n"
    )


def modulus(key: PrivateKey) -> str:
    """What ``rsa -modulus`` says of a key."""
    if isinstance(key, rsa.RSAPrivateKey):
        return f"Modulus={key.public_key().public_numbers().n:X}\n"
    return "Modulus=No modulus for this public key type\n"
