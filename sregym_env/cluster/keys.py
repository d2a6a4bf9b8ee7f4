"""Private keys that a text stands for: the same text, the same key, in every process.

Nobody outside a simulated cluster may trust them: RSA keys are made of two of a few dozen primes that lie beside this file
(``tools_dev/draw_primes.py``), and whoever knows the text knows the key.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

RSA_BITS = (1024, 2048, 3072, 4096)
"""Sizes of RSA keys that can be made."""

CURVES: dict[str, type[ec.EllipticCurve]] = {
    "prime256v1": ec.SECP256R1,
    "secp256r1": ec.SECP256R1,
    "P-256": ec.SECP256R1,
    "secp384r1": ec.SECP384R1,
    "P-384": ec.SECP384R1,
    "secp521r1": ec.SECP521R1,
    "P-521": ec.SECP521R1,
}
"""Curves, by OpenSSL's names."""

EXPONENT = 65537


@lru_cache(maxsize=1)
def _primes() -> dict[str, list[int]]:
    text = (Path(__file__).parent / "primes.json").read_text()
    return {bits: [int(each, 16) for each in listed] for bits, listed in json.loads(text).items()}


@lru_cache(maxsize=64)
def rsa_key(text: str, bits: int) -> rsa.RSAPrivateKey:
    """An RSA key of one of :data:`RSA_BITS`."""
    primes = _primes()[str(bits // 2)]
    first, second = _number(text, "first") % len(primes), _number(text, "second") % (len(primes) - 1)
    p, q = primes[first], primes[second + (second >= first)]
    d = pow(EXPONENT, -1, (p - 1) * (q - 1))
    numbers = rsa.RSAPrivateNumbers(
        p,
        q,
        d,
        rsa.rsa_crt_dmp1(d, p),
        rsa.rsa_crt_dmq1(d, q),
        rsa.rsa_crt_iqmp(p, q),
        rsa.RSAPublicNumbers(EXPONENT, p * q),
    )
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)


@lru_cache(maxsize=64)
def ec_key(text: str, curve: str) -> ec.EllipticCurvePrivateKey:
    """A key on one of :data:`CURVES`."""
    kind = CURVES[curve]()
    secret = _number(text, "ec") << 512 | _number(text, "more")
    return ec.derive_private_key(secret >> (1024 - kind.key_size + 1) | 1, kind)


@lru_cache(maxsize=64)
def ed25519_key(text: str) -> ed25519.Ed25519PrivateKey:
    """A key for Ed25519."""
    return ed25519.Ed25519PrivateKey.from_private_bytes(blake2b(text.encode(), digest_size=32).digest())


def _number(text: str, what: str) -> int:
    return int.from_bytes(blake2b(f"{text}/{what}".encode()).digest())
