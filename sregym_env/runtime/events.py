"""The event heap: what happens next in virtual time.

An event is data, ``(kind, args)``; the world looks up what a kind means. Ties are broken by a sequence
number, so that two runs of the same world pop events in the same order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, NamedTuple


class Event(NamedTuple):
    """Something due at ``time`` (microseconds). ``args`` are immutable values that name what it concerns."""

    time: int
    sequence: int
    kind: str
    args: tuple[Any, ...]


class EventQueue:
    """A heap of events ordered by ``(time, sequence)``. Forking copies the heap and shares the events."""

    __slots__ = ("_heap", "_sequence")

    def __init__(self) -> None:
        self._heap: list[Event] = []
        self._sequence = 0

    def push(self, time: int, kind: str, *args: Any) -> None:
        """Add an event due at ``time``."""
        self._sequence += 1
        heapq.heappush(self._heap, Event(time, self._sequence, kind, args))

    def pop_due(self, until: int) -> Event | None:
        """Remove and return the next event due at or before ``until``, or None."""
        if self._heap and self._heap[0].time <= until:
            return heapq.heappop(self._heap)
        return None

    def next_time(self) -> int | None:
        """When the next event is due, or None if nothing is."""
        return self._heap[0].time if self._heap else None

    def fork(self) -> EventQueue:
        """An independent queue with the same future."""
        copy = EventQueue()
        copy._heap = self._heap.copy()
        copy._sequence = self._sequence
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._heap, self._sequence)

    def __iter__(self) -> Iterator[Event]:
        """The events in the order in which they will happen."""
        return iter(sorted(self._heap))

    def __len__(self) -> int:
        return len(self._heap)


def _restored(heap: list[Event], sequence: int) -> EventQueue:
    queue = EventQueue()
    queue._heap, queue._sequence = heap, sequence
    return queue
