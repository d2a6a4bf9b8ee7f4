"""What a world offers to be asked about logs: streams, and their entries in either direction.

Times are nanoseconds since the epoch, ranges hold their start and not their end. Sources render lazily: an entry that
nobody takes from an iterator is never made, so the last lines of a long log cost what is read of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sregym_env.telemetry.logql.labels import Labels, make_labels
from sregym_env.telemetry.logql.matching import all_match
from sregym_env.telemetry.logql.syntax import Matcher

Entry = tuple[int, str]
"""When a line was written, and the line without its newline."""


@dataclass(frozen=True, slots=True)
class Volume:
    """How much a stream holds."""

    entries: int
    bytes: int


class Stream(Protocol):
    """The lines of one set of labels."""

    @property
    def labels(self) -> Labels:
        """What tells it from other streams."""
        ...

    def entries(self, start: int, end: int, backward: bool = False) -> Iterator[Entry]:
        """Entries of ``start <= time < end`` by their time, oldest first or newest first."""
        ...

    def volume(self, start: int, end: int) -> Volume:
        """How much there is of a range, at little cost."""
        ...


class LogSource(Protocol):
    """All logs of a world."""

    def streams(self, matchers: Sequence[Matcher], start: int, end: int) -> Sequence[Stream]:
        """Streams that match and may have entries of a range, by their labels; all streams without matchers."""
        ...


class StoredStream:
    """A stream whose lines are there already."""

    __slots__ = ("_entries", "_labels", "_times")

    def __init__(self, labels: Labels, entries: Iterable[Entry]) -> None:
        """``entries`` in any order."""
        self._labels = labels
        self._entries = sorted(entries, key=lambda entry: entry[0])
        self._times = [time for time, _ in self._entries]

    @property
    def labels(self) -> Labels:
        """What tells it from other streams."""
        return self._labels

    def entries(self, start: int, end: int, backward: bool = False) -> Iterator[Entry]:
        """Entries of a range, oldest first or newest first."""
        low, high = bisect_left(self._times, start), bisect_left(self._times, end)
        indices = range(high - 1, low - 1, -1) if backward else range(low, high)
        return map(self._entries.__getitem__, indices)

    def volume(self, start: int, end: int) -> Volume:
        """How much there is of a range."""
        low, high = bisect_left(self._times, start), bisect_left(self._times, end)
        return Volume(max(0, high - low), sum(len(line.encode()) for _, line in self._entries[low:high]))


class StoredLogs:
    """Logs that are there already: recordings, and what tests ask about."""

    __slots__ = ("_streams",)

    def __init__(self, streams: Iterable[tuple[dict[str, str], Iterable[Entry]]]) -> None:
        made = [StoredStream(make_labels(labels), entries) for labels, entries in streams]
        self._streams = sorted(made, key=lambda stream: stream.labels)

    def streams(self, matchers: Sequence[Matcher], start: int, end: int) -> Sequence[Stream]:
        """Streams that match and have entries of the range."""
        return [
            stream
            for stream in self._streams
            if all_match(matchers, dict(stream.labels)) and next(stream.entries(start, end), None) is not None
        ]
