"""What a program may use: steps, and room for what it makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sregym_env.runtime.effort import spend

STEPS = 300_000
"""Nodes of the tree that may be looked at."""
ROOM = 16_000_000
"""Characters and elements that may be made in all."""
STEP_EFFORT = 2.0
MAKING_EFFORT = 0.02
"""What a step, and a character or element that is made, costs (units of ``runtime/effort.py``)."""
MOST_BITS = 8192
"""Bits of a whole number."""
DEEPEST = 60
"""Calls within calls."""

_BATCH = 64
WALKING = 50
"""How many times as much as to make it it costs to walk through a value, element by element."""


class Refused(Exception):
    """Python that is not among what is known here; the text says what."""


class Exhausted(Exception):
    """A program that has used up its steps."""


class Budget:
    """What is left to a program."""

    __slots__ = ("_room", "_steps", "depth")

    def __init__(self) -> None:
        self._steps = STEPS
        self._room = ROOM
        self.depth = 0

    def step(self) -> None:
        """Count a step. Raises Exhausted, EffortExceeded."""
        self._steps -= 1
        if self._steps % _BATCH == 0:
            spend(_BATCH * STEP_EFFORT)
            if self._steps < 0:
                raise Exhausted

    def make(self, size: float) -> None:
        """Count what is about to be made. Raises MemoryError, EffortExceeded."""
        if size > self._room:
            raise MemoryError
        self._room -= int(size)
        spend(size * MAKING_EFFORT)

    def each(self, values: Iterable[Any]) -> Iterator[Any]:
        """The elements, each counted."""
        for value in values:
            self.step()
            yield value

    def weigh(self, value: Any) -> Any:
        """Make sure that whoever walks through a value comes to an end; the value."""
        open_ = [value]
        while open_:
            inner = open_.pop()
            if isinstance(inner, dict):
                self._counted(len(inner))
                open_.extend(inner.values())
                open_.extend(inner)
            elif isinstance(inner, (list, tuple, set, frozenset)):
                self._counted(len(inner))
                open_.extend(inner)
            elif isinstance(inner, (str, bytes)):
                self._counted(len(inner) / 32)
        return value

    def _counted(self, size: float) -> None:
        self.make(WALKING * (size + 1))

    def whole(self, value: Any) -> Any:
        """A result of arithmetic that is not too long a number. Raises MemoryError."""
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise MemoryError
        return value
