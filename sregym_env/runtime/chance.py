"""Named draws: chance that depends on a key and a name alone, never on what was drawn before.

Two draws of the same name from equal chances are equal, draws of different names are independent; so a new draw
never shifts another one. What makes things one after the other, as a world does, draws from
:class:`~sregym_env.runtime.streams.Streams` instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

from sregym_env.runtime.streams import keyed_bits, keyed_unit

T = TypeVar("T")

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Chance:
    """Draws under a key of strings and integers: ``Chance(("past", 7)).unit("age")``."""

    key: tuple[str | int, ...]

    def at(self, *names: str | int) -> Chance:
        """The chance of a part: independent of this one and of every other part."""
        return Chance((*self.key, *names))

    def bits(self, name: str | int) -> int:
        """64 bits."""
        return keyed_bits(*self.key, name)

    def unit(self, name: str | int) -> float:
        """A number in [0, 1)."""
        return keyed_unit(*self.key, name)

    def yes(self, name: str | int, probability: float) -> bool:
        """True with a probability."""
        return self.unit(name) < probability

    def uniform(self, name: str | int, low: float, high: float) -> float:
        """A number in [low, high)."""
        return low + (high - low) * self.unit(name)

    def below(self, name: str | int, n: int) -> int:
        """An integer in [0, n)."""
        return self.bits(name) % n

    def between(self, name: str | int, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return low + self.below(name, high - low + 1)

    def normal(self, name: str | int) -> float:
        """A number of the standard normal distribution."""
        # 0 has no finite quantile.
        return _NORMAL.inv_cdf(max(self.unit(name), 1e-12))

    def lognormal(self, name: str | int, median: float, sigma: float) -> float:
        """A lognormal number with a median and the standard deviation of its logarithm."""
        return median * math.exp(sigma * self.normal(name))

    def poisson(self, name: str | int, mean: float) -> int:
        """A Poisson count; by inversion, so ``mean`` should not be large."""
        left, count, share = self.unit(name), 0, math.exp(-mean)
        while left >= share and count < 1000:
            left -= share
            count += 1
            share *= mean / count
        return count

    def choice(self, name: str | int, items: Sequence[T]) -> T:
        """One of a non-empty sequence."""
        return items[self.below(name, len(items))]

    def weighted(self, name: str | int, weights: Mapping[T, float]) -> T:
        """One key of a mapping, in proportion to its weight."""
        left = self.unit(name) * sum(weights.values())
        for item, weight in weights.items():
            left -= weight
            if left < 0:
                return item
        return list(weights)[-1]

    def shuffled(self, name: str | int, items: Sequence[T]) -> list[T]:
        """All items in random order."""
        order = sorted(range(len(items)), key=lambda index: keyed_bits(*self.key, name, index))
        return [items[index] for index in order]

    def sample(self, name: str | int, items: Sequence[T], count: int) -> list[T]:
        """``count`` different items (fewer if there are not so many) in random order."""
        return self.shuffled(name, items)[:count]
