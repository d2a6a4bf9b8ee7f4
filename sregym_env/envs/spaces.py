"""The space of what agents write and read: any text up to a length.

:class:`gymnasium.spaces.Text` tests every character of a string against a character set, which costs most
of a millisecond for a page of logs and refuses anything that is not ASCII. Membership here is a type and a
length.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

SAMPLE_CHARS = 64
"""Length of random samples; nothing is learnt from drawing 64 KiB of noise."""


class Text(spaces.Text):
    """Any string of ``min_length`` to ``max_length`` characters."""

    def __init__(self, max_length: int, *, min_length: int = 0, seed: Any = None) -> None:
        super().__init__(max_length, min_length=min_length, charset=frozenset(string.printable), seed=seed)

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string of an admissible length."""
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length

    def sample(
        self,
        mask: tuple[int | None, NDArray[np.int8] | None] | None = None,
        probability: tuple[int | None, NDArray[np.float64] | None] | None = None,
    ) -> str:
        """A short random string of printable characters."""
        if mask is not None or probability is not None:
            return str(super().sample(mask, probability))
        longest = min(self.max_length, max(SAMPLE_CHARS, self.min_length))
        length = int(self.np_random.integers(self.min_length, longest + 1))
        picked = self.np_random.integers(0, len(string.printable), size=length)
        return "".join(string.printable[index] for index in picked)

    def __repr__(self) -> str:
        return f"Text({self.min_length}, {self.max_length})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Text)
            and self.min_length == other.min_length
            and self.max_length == other.max_length
        )

    __hash__ = None  # type: ignore[assignment]
