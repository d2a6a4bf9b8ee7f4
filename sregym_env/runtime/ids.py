"""Identifiers as Kubernetes makes them: UIDs, pod name suffixes, template hashes."""

from __future__ import annotations

from hashlib import blake2b

from sregym_env.runtime.streams import Streams

SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The alphabet of generated names (k8s.io/apimachinery/pkg/util/rand): no vowels, no look-alikes."""


UID_DRAWS = 2
"""Draws from the ``uid`` stream for one of them."""


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


def safe_hash(data: bytes) -> str:
    """A stable hash as ``pod-template-hash`` looks: the decimal digits of a 32-bit number, each spelled
    with a letter of the safe alphabet (``rand.SafeEncodeString``), so up to ten of ``456789bcdf``."""
    number = int.from_bytes(blake2b(data, digest_size=4).digest(), "big")
    return "".join(SAFE_ALPHABET[ord(digit) % len(SAFE_ALPHABET)] for digit in str(number))
