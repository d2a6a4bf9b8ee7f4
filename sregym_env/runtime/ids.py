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
    return uid_of(f"{streams.bits('uid') << 64 | streams.bits('uid'):032x}")


def uid_of(digits: str) -> str:
    """The version 4 UUID that 32 random hexadecimal digits make."""
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def name_suffix(streams: Streams, length: int = 5) -> str:
    """A suffix such as ``x7k2p`` for ``generateName``."""
    return suffix_of(streams.bits("name"), length)


def suffix_of(bits: int, length: int = 5) -> str:
    """The suffix that a random number makes."""
    letters = []
    for _ in range(length):
        bits, digit = divmod(bits, len(SAFE_ALPHABET))
        letters.append(SAFE_ALPHABET[digit])
    return "".join(letters)


def safe_hash(data: bytes) -> str:
    """A stable hash as ``pod-template-hash`` looks: the decimal digits of a 32-bit number, each spelled
    with a letter of the safe alphabet (``rand.SafeEncodeString``), so up to ten of ``456789bcdf``."""
    return hash_of(int.from_bytes(blake2b(data, digest_size=4).digest(), "big"))


def hash_of(number: int) -> str:
    """The same of a number that is given."""
    return "".join(SAFE_ALPHABET[ord(digit) % len(SAFE_ALPHABET)] for digit in str(number))
