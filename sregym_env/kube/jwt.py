"""JSON Web Tokens signed with ES256, as an API server with an ECDSA key issues them.

Signatures are deterministic (RFC 6979), so that the same world always issues the same token. The arithmetic is
plain Python: a few milliseconds for a signature, which is made for few tokens, and no dependency.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson

_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
"""NIST P-256: the prime, the order and the base point (FIPS 186-4, D.1.2.3)."""

_Jacobian = tuple[int, int, int]
_INFINITY: _Jacobian = (1, 1, 0)


@dataclass(frozen=True, slots=True)
class Key:
    """A signing key."""

    secret: int

    @classmethod
    def of(cls, seed: bytes) -> Key:
        """The key that follows from a seed."""
        return cls(int.from_bytes(sha256(seed).digest()) % (_N - 1) + 1)

    @property
    def public(self) -> tuple[int, int]:
        """The public point."""
        return _public(self.secret)

    @property
    def id(self) -> str:
        """The key's id: a digest of its public half."""
        x, y = self.public
        return _encode(sha256(b"\x04" + x.to_bytes(32) + y.to_bytes(32)).digest())

    @property
    def jwk(self) -> dict[str, str]:
        """The public key as a JSON Web Key."""
        x, y = self.public
        return {
            "use": "sig",
            "kty": "EC",
            "kid": self.id,
            "crv": "P-256",
            "alg": "ES256",
            "x": _encode(x.to_bytes(32)),
            "y": _encode(y.to_bytes(32)),
        }


def sign(key: Key, claims: dict[str, Any]) -> str:
    """A token with these claims."""
    head = _encode(orjson.dumps({"alg": "ES256", "kid": key.id}))
    text = f"{head}.{_encode(orjson.dumps(claims))}"
    r, s = _signature(key.secret, sha256(text.encode()).digest())
    return f"{text}.{_encode(r.to_bytes(32) + s.to_bytes(32))}"


def _encode(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


# --- ECDSA ----------------------------------------------------------------------------------------


def _signature(secret: int, digest: bytes) -> tuple[int, int]:
    z = int.from_bytes(digest)
    for k in _nonces(secret, digest):
        r = _affine(_times(k, _G))[0] % _N
        s = pow(k, -1, _N) * (z + r * secret) % _N
        if r and s:
            return r, s
    raise AssertionError("unreachable: nonces never end")


def _nonces(secret: int, digest: bytes) -> Any:
    """RFC 6979, section 3.2, with SHA-256."""
    seed = secret.to_bytes(32) + (int.from_bytes(digest) % _N).to_bytes(32)
    k, v = b"\0" * 32, b"\1" * 32
    for separator in (b"\0", b"\1"):
        k = hmac.digest(k, v + separator + seed, "sha256")
        v = hmac.digest(k, v, "sha256")
    while True:
        v = hmac.digest(k, v, "sha256")
        candidate = int.from_bytes(v)
        if 0 < candidate < _N:
            yield candidate
        k = hmac.digest(k, v + b"\0", "sha256")
        v = hmac.digest(k, v, "sha256")


@lru_cache(maxsize=256)
def _public(secret: int) -> tuple[int, int]:
    return _affine(_times(secret, _G))


def _times(factor: int, point: tuple[int, int]) -> _Jacobian:
    total, addend = _INFINITY, (point[0], point[1], 1)
    while factor:
        if factor & 1:
            total = _add(total, addend)
        addend = _double(addend)
        factor >>= 1
    return total


def _affine(point: _Jacobian) -> tuple[int, int]:
    x, y, z = point
    inverse = pow(z, -1, _P)
    return x * inverse * inverse % _P, y * inverse * inverse * inverse % _P


def _double(point: _Jacobian) -> _Jacobian:
    x, y, z = point
    if not z or not y:
        return _INFINITY
    delta, gamma = z * z % _P, y * y % _P
    beta = x * gamma % _P
    alpha = 3 * (x - delta) * (x + delta) % _P
    x3 = (alpha * alpha - 8 * beta) % _P
    z3 = ((y + z) * (y + z) - gamma - delta) % _P
    return x3, (alpha * (4 * beta - x3) - 8 * gamma * gamma) % _P, z3


def _add(one: _Jacobian, other: _Jacobian) -> _Jacobian:
    if not one[2]:
        return other
    if not other[2]:
        return one
    z1z1, z2z2 = one[2] * one[2] % _P, other[2] * other[2] % _P
    u1, u2 = one[0] * z2z2 % _P, other[0] * z1z1 % _P
    s1, s2 = one[1] * other[2] * z2z2 % _P, other[1] * one[2] * z1z1 % _P
    h, r = (u2 - u1) % _P, (s2 - s1) % _P
    if not h:
        return _INFINITY if r else _double(one)
    hh = h * h % _P
    hhh = h * hh % _P
    v = u1 * hh % _P
    x3 = (r * r - hhh - 2 * v) % _P
    return x3, (r * (v - x3) - s1 * hhh) % _P, h * one[2] * other[2] % _P
