"""Which split an episode belongs to: decided by what is wrong, never by the episode.

A family is a mechanism: all faults that work the same way, on whatever target of whatever application. A family
belongs to the same split in every dataset, for ever: nothing is drawn, and nobody can train on what others test on.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from sregym_env.rollouts.record import Labels

TRAIN, VALIDATION, TEST, MIXED = "train", "validation", "test", "mixed"

SPLITS: Final = (TRAIN, VALIDATION, TEST, MIXED)
"""``mixed`` holds problems with families of several splits: they belong into none of them."""

HEALTHY: Final = "healthy"
"""The family of problems in which nothing is wrong."""

_VALIDATION_BELOW, _TEST_BELOW = 15, 30
"""Of 100: 15 % of the families for validation, as many for tests."""


def families(labels: Labels) -> tuple[str, ...]:
    """The families of an episode's faults, in alphabetical order."""
    return tuple(sorted({str(spec["mechanism"]) for spec in labels.specs})) or (HEALTHY,)


def split_of_family(family: str) -> str:
    """The split of a family."""
    drawn = int.from_bytes(blake2b(f"sregym-split-1/{family}".encode(), digest_size=8).digest(), "big") % 100
    return VALIDATION if drawn < _VALIDATION_BELOW else TEST if drawn < _TEST_BELOW else TRAIN


def split_of(families: Iterable[str]) -> str:
    """The split of a problem with these families."""
    found = {split_of_family(family) for family in families}
    return found.pop() if len(found) == 1 else MIXED
