"""Draw the primes of which RSA keys in worlds are made (``sregym_env/cluster/primes.json``). The same every time."""

from __future__ import annotations

import json
from hashlib import blake2b
from itertools import count
from math import gcd, prod
from pathlib import Path

FILE = Path(__file__).parents[1] / "sregym_env" / "cluster" / "primes.json"
EACH = 24
SIZES = (512, 1024, 1536, 2048)
"""Bits of primes; keys have twice as many."""

SMALL = [n for n in range(3, 5000, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2))]
PRODUCT = prod(SMALL)


def drawn(text: str, bits: int) -> int:
    """An odd number of so many bits, the two highest of them set."""
    data = b"".join(blake2b(f"{text}/{part}".encode()).digest() for part in range(-(-bits // 512)))
    return int.from_bytes(data[: bits // 8]) | 3 << (bits - 2) | 1


def probably_prime(n: int) -> bool:
    """Miller and Rabin's test by twelve bases: numbers that were drawn do not pass by chance."""
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(base, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def prime(text: str, bits: int) -> int:
    """A prime that 65537 does not divide the predecessor of."""
    for attempt in count():
        n = drawn(f"{text}/{attempt}", bits)
        if gcd(n, PRODUCT) == 1 and n % 65537 != 1 and probably_prime(n):
            return n
    raise AssertionError("unreachable")


if __name__ == "__main__":
    found = {str(bits): [f"{prime(f'{bits}/{k}', bits):x}" for k in range(EACH)] for bits in SIZES}
    FILE.write_text(json.dumps(found, indent=0) + "\n")
