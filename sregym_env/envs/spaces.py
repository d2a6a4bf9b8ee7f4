"""The space of what agents write and read: any text up to a length.

:class:`gymnasium.spaces.Text` tests every character of a string against a character set, which costs most
of a millisecond for a page of logs and refuses anything that is not ASCII. Membership here is a type and a
length. Vector environments carry it between processes as UTF-8 behind its length.
"""

from __future__ import annotations

import multiprocessing
import string
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory
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


_HEADER = 4
"""Bytes for the length of a text in shared memory."""


def _room(space: Text) -> int:
    """Bytes that one text may take in shared memory."""
    # No character takes more than four bytes in UTF-8.
    return _HEADER + 4 * space.max_length


def _buffer(shared_memory: Any) -> NDArray[np.uint8]:
    return np.frombuffer(shared_memory.get_obj(), dtype=np.uint8)


@create_shared_memory.register(Text)
def _create(space: Text, n: int = 1, ctx: Any = multiprocessing) -> Any:
    return ctx.Array("B", n * _room(space))


@write_to_shared_memory.register(Text)
def _write(space: Text, index: int, values: str, shared_memory: Any) -> None:
    # A policy may write lone surrogates (JSON can), which strict UTF-8 refuses.
    data = values.encode("utf-8", "surrogatepass")
    start, room = index * _room(space), _room(space)
    if _HEADER + len(data) > room:
        raise ValueError(f"a text of {len(values)} characters in a space of {space.max_length}")
    whole = len(data).to_bytes(_HEADER, "little") + data
    _buffer(shared_memory)[start : start + len(whole)] = np.frombuffer(whole, dtype=np.uint8)


@read_from_shared_memory.register(Text)
def _read(space: Text, shared_memory: Any, n: int = 1) -> SharedTexts:
    return SharedTexts(space, shared_memory, n)


class SharedTexts(Sequence[str]):
    """The texts that lie in shared memory now. A (deep) copy of it is a tuple of what they are then.

    A vector environment asks for this once, before there is any observation, and copies it after every step.
    """

    __slots__ = ("_rows",)

    def __init__(self, space: Text, shared_memory: Any, n: int) -> None:
        self._rows = _buffer(shared_memory).reshape(n, _room(space))

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        row: bytes = self._rows[index].tobytes()
        end = _HEADER + int.from_bytes(row[:_HEADER], "little")
        return row[_HEADER:end].decode("utf-8", "surrogatepass")

    def __deepcopy__(self, _: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return repr(tuple(self))
