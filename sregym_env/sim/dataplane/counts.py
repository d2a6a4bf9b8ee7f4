"""Whole events from integrals: how many there were when the model says there were 1234.5 on average.

The count is a Poisson process run on the integral itself: ``count(chance, x)`` never falls, grows by a Poisson number over
every stretch, and depends on the key and ``x`` alone. So a counter can be read at any time, in any order, as often as one
likes, without stepping through what happened before, and nothing that is read shifts anything.
"""

from __future__ import annotations

import math
from functools import lru_cache

from sregym_env.runtime.chance import Chance

LEVELS = 40
"""The integral ends at ``2 ** LEVELS`` events; halves are drawn on the way down to stretches of a single expected event."""
EXACT = 64
"""Events up to which a half's share is drawn bit by bit; beyond, by the normal law."""


def count(chance: Chance, mean: float) -> int:
    """Number of events up to the point at which their expectation is ``mean``."""
    if mean <= 0.0:
        return 0
    if mean >= float(1 << LEVELS):
        raise ValueError(f"{mean} events are more than a counter holds: split it by a label")
    whole = math.floor(mean)
    total, within = _before(chance.key, whole)
    part = mean - whole
    return total + sum(chance.unit(f"{whole}.{number}") < part for number in range(within))


@lru_cache(maxsize=4096)
def _before(key: tuple[str | int, ...], whole: int) -> tuple[int, int]:
    """(events before the stretch ``[whole, whole + 1)``, events in it)."""
    chance = Chance(key)
    inside = _rounded((1 << LEVELS) + chance.normal("all") * math.sqrt(1 << LEVELS))
    before, low = 0, 0
    for level in range(LEVELS, 0, -1):
        half = 1 << (level - 1)
        left = _half(chance, f"{level}:{low}", inside)
        if whole >= low + half:
            before, low, inside = before + left, low + half, inside - left
        else:
            inside = left
    return before, inside


def _half(chance: Chance, name: str, events: int) -> int:
    """How many of ``events`` fall into the first half of their stretch: binomial."""
    if events <= EXACT:
        return (chance.bits(name) & ((1 << events) - 1)).bit_count()
    return min(max(_rounded(events / 2.0 + chance.normal(name) * math.sqrt(events) / 2.0), 0), events)


def _rounded(value: float) -> int:
    return max(0, math.floor(value + 0.5))
