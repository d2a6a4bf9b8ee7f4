"""Identifiers as Kubernetes makes them: UIDs, pod name suffixes, template hashes."""

from __future__ import annotations

from hashlib import blake2b

from sregym_env.runtime.streams import Streams

SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The alphabet of generated names (k8s.io/apimachinery/pkg/util/rand): no vowels, no look-alikes."""


def uid(streams: Streams) -> str:
    """A random (version 4) UUID from the world's ``uid`` stream."""
    bits = streams.bits("uid") << 64 | streams.bits("uid")
    text = f"{bits:032x}"
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"


def name_suffix(streams: Streams, length: int = 5) -> str:
    """A suffix such as ``x7k2p`` for ``generateName``."""
    bits = streams.bits("name")
    letters = []
    for _ in range(length):
        bits, digit = divmod(bits, len(SAFE_ALPHABET))
        letters.append(SAFE_ALPHABET[digit])
    return "".join(letters)


def safe_hash(data: bytes, length: int = 10) -> str:
    """A stable hash in the safe alphabet, as ``pod-template-hash`` looks (8 to 10 characters)."""
    number = int.from_bytes(blake2b(data, digest_size=8).digest(), "big")
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(SAFE_ALPHABET))
        letters.append(SAFE_ALPHABET[digit])
    return "".join(letters)
