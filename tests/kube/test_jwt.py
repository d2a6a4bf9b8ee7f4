"""Tokens: signatures that others accept, and only they."""

from __future__ import annotations

from base64 import urlsafe_b64decode

import pytest

from sregym_env.kube import jwt

KEY = jwt.Key(0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721)
"""The key of RFC 6979, appendix A.2.5."""


def test_the_example_of_the_rfc() -> None:
    assert KEY.public == (
        0x60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6,
        0x7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299,
    )
    assert jwt._signature(KEY.secret, jwt.sha256(b"sample").digest()) == (
        0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716,
        0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8,
    )


def test_others_accept_the_signature() -> None:
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    utils = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.utils")
    hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
    key = jwt.Key.of(b"a cluster")
    token = jwt.sign(key, {"sub": "system:serviceaccount:default:default"})
    text, _, signature = token.rpartition(".")
    raw = urlsafe_b64decode(signature + "==")
    der = utils.encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    numbers = ec.EllipticCurvePublicNumbers(*key.public, ec.SECP256R1())
    numbers.public_key().verify(der, text.encode(), ec.ECDSA(hashes.SHA256()))


def test_the_same_claims_give_the_same_token() -> None:
    key, other = jwt.Key.of(b"a"), jwt.Key.of(b"b")
    assert jwt.sign(key, {"sub": "x"}) == jwt.sign(key, {"sub": "x"})
    assert jwt.sign(key, {"sub": "x"}) != jwt.sign(key, {"sub": "y"})
    assert key.id != other.id and key.jwk["x"] != other.jwk["x"]
