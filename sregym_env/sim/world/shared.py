"""An append-only log that forks share until one of them writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SharedLog(Generic[T]):
    """A list one can append to and fork at no cost.

    Forks share the underlying list and remember how much of it is theirs. Only the log that made a list
    appends to it; a fork makes its own the first time it appends. So forks in different threads never meet,
    and forking changes nothing in what is forked. With ``keep`` set, the oldest entries are forgotten in batches.
    """

    __slots__ = ("_items", "_keep", "_length", "_mine", "forgotten")

    def __init__(self, keep: int = 0) -> None:
        self._items: list[T] = []
        self._mine = True
        self._length = 0
        self._keep = keep
        self.forgotten = 0
        """How many of the oldest entries are no longer held."""

    def append(self, item: T) -> None:
        """Add an entry at the end."""
        if not self._mine:
            self._items = self._items[: self._length]
            self._mine = True
        if self._keep and self._length >= 2 * self._keep:
            self.forgotten += self._length - self._keep
            self._items = self._items[self._length - self._keep :]
            self._length = self._keep
        self._items.append(item)
        self._length += 1

    def fork(self) -> SharedLog[T]:
        """An independent log with the same entries."""
        copy: SharedLog[T] = SharedLog(self._keep)
        copy._items = self._items
        copy._mine = False
        copy._length = self._length
        copy.forgotten = self.forgotten
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._keep, self.forgotten, self._items[: self._length])

    def last(self) -> T | None:
        """The newest entry, or None."""
        return self._items[self._length - 1] if self._length else None

    def newest_first(self) -> Iterator[T]:
        """Entries from the newest to the oldest."""
        items = self._items
        for index in range(self._length - 1, -1, -1):
            yield items[index]

    def __iter__(self) -> Iterator[T]:
        items = self._items
        for index in range(self._length):
            yield items[index]

    def __len__(self) -> int:
        return self._length


def _restored(keep: int, forgotten: int, items: list[T]) -> SharedLog[T]:
    log: SharedLog[T] = SharedLog(keep)
    log._items, log._length, log.forgotten = items, len(items), forgotten
    return log
