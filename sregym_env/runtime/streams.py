"""Named random streams: chance that is the same in every process, and that reading never disturbs.

A draw is a keyed hash of (seed, name, counter). Streams with different names are independent, so a new
consumer of chance never shifts what the others see.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_UNIT = 1.0 / (1 << 53)


def keyed_bits(*key: object) -> int:
    """64 deterministic bits for a key of strings and integers."""
    text = "\x1f".join(map(str, key)).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def keyed_unit(*key: object) -> float:
    """A deterministic number in [0, 1) for a key."""
    # 53 bits are all that a float in [0, 1) can tell apart; with more, rounding could give 1.
    return (keyed_bits(*key) >> 11) * _UNIT


class Streams:
    """All random streams of one world. Each name has its own counter; forks diverge independently."""

    __slots__ = ("_counters", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._counters: dict[str, int] = {}

    def bits(self, name: str) -> int:
        """The next 64 bits of stream ``name``."""
        count = self._counters.get(name, 0)
        self._counters[name] = count + 1
        return keyed_bits(self.seed, name, count)

    def skip(self, name: str, count: int = 1) -> None:
        """Draw from stream ``name`` what nobody looks at."""
        self._counters[name] = self._counters.get(name, 0) + count

    def unit(self, name: str) -> float:
        """The next number in [0, 1) of stream ``name``."""
        return (self.bits(name) >> 11) * _UNIT

    def uniform(self, name: str, low: float, high: float) -> float:
        """The next number in [low, high)."""
        return low + (high - low) * self.unit(name)

    def exponential(self, name: str, mean: float) -> float:
        """The next exponentially distributed number with the given mean."""
        # 1 - x, because x may be 0 and is never 1.
        return -mean * math.log(1.0 - self.unit(name))

    def below(self, name: str, n: int) -> int:
        """The next integer in [0, n)."""
        # Against 2**64 every n that occurs is so small that the remainder's bias does not show.
        return self.bits(name) % n

    def choice(self, name: str, items: Sequence[T]) -> T:
        """The next pick from a non-empty sequence."""
        return items[self.below(name, len(items))]

    def sample(self, name: str, items: Sequence[T], k: int) -> list[T]:
        """``k`` different items in random order."""
        pool = list(items)
        picked: list[T] = []
        for _ in range(min(k, len(pool))):
            picked.append(pool.pop(self.below(name, len(pool))))
        return picked

    def reseed(self, seed: int) -> None:
        """From now on draw from another seed. Counters go on, so that no identifier is drawn twice."""
        self.seed = seed

    def fork(self) -> Streams:
        """An independent copy that will draw the same numbers."""
        copy = Streams(self.seed)
        copy._counters = self._counters.copy()
        return copy

    def state(self) -> tuple[int, tuple[tuple[str, int], ...]]:
        """What a digest needs to know of the streams."""
        return self.seed, tuple(sorted(self._counters.items()))
