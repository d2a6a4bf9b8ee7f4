"""Reading lines under a bound, and counting what was read."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sregym_env.runtime import effort
from sregym_env.telemetry.logql.errors import too_large, too_long
from sregym_env.telemetry.logql.labels import Labels
from sregym_env.telemetry.logql.source import Entry, LogSource, Stream
from sregym_env.telemetry.logql.syntax import Matcher

LINE_EFFORT = 1.5
"""What a line costs that is read and looked at (units of ``runtime/effort.py``)."""

STAGE_EFFORT = 4.0
"""What a line costs in each stage behind the first filters."""

CHARACTER_EFFORT = 0.004
"""What each of its characters costs, once for reading it and once in each of these stages."""

WINDOW_EFFORT = 2.0
SAMPLE_EFFORT = 0.1
"""What a window of a metric query costs, and each sample in it."""

COMBINED = 12
"""As how many samples of a window a sample counts that is aggregated or joined with another."""

SHARE = 0.75
"""How much of what an agent's action may still cost one query may use; then it times out, and the action goes on."""

_BLOCK = 256
_STAGED_BLOCK = 16
"""Lines between two looks at what is left, without and with stages, whose templates may cost much."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may ask for: Loki's defaults, and bounds that a real Loki finds in its time-outs."""

    max_entries: int = 5000
    """``max_entries_limit_per_query``."""
    max_series: int = 500
    """``max_query_series``."""
    max_length: int = 721 * 3_600_000_000_000
    """``max_query_length`` in nanoseconds: 30 days and an hour."""
    max_lines: int = 500_000
    """Lines that one query may read, in the place of ``query_timeout``."""
    max_samples: int = 10_000_000
    """Samples that all windows of one query may hold together; one that is combined with others counts for several."""
    max_answer: int = 32 * 1024 * 1024
    """Characters of lines and labels that one answer may have, in the place of the largest message of gRPC."""
    align: bool = True
    """``align_queries_with_step``, which the Helm chart sets: metric queries begin and end at multiples of their step."""


class Scan:
    """What one query has read so far."""

    __slots__ = ("_floor", "_limits", "bytes", "held", "kept", "lines", "samples")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.lines = 0
        self.bytes = 0
        self.kept = 0
        self.samples = 0
        self.held = 0
        present = effort.present()
        self._floor = -math.inf if present is None else present.own * (1 - SHARE)

    def check(self) -> None:
        """Raises QueryError, as a Loki that runs into its time-out, where the query has cost too much."""
        present = effort.present()
        if self.lines > self._limits.max_lines or self.samples > self._limits.max_samples:
            raise too_long()
        if present is not None and present.own < self._floor:
            raise too_long()

    def took(self, lines: int, bytes: int, stages: int) -> None:
        """Note lines that were read."""
        self.lines += lines
        self.bytes += bytes
        effort.note(lines * (LINE_EFFORT + stages * STAGE_EFFORT) + bytes * CHARACTER_EFFORT * (1 + stages))

    def windowed(self, samples: int) -> None:
        """Note a window of so many samples. Raises QueryError where it is too much."""
        self.samples += samples
        effort.note(WINDOW_EFFORT + samples * SAMPLE_EFFORT)
        self.check()

    def combined(self, samples: int) -> None:
        """Note a vector of so many samples that an operation takes in. Raises QueryError where it is too much."""
        self.windowed(samples * COMBINED)

    def holds(self, line: str, labels: Labels = ()) -> None:
        """Note what an answer is going to hold. Raises QueryError where it is too much."""
        self.held += len(line) + sum(len(name) + len(value) for name, value in labels)
        if self.held > self._limits.max_answer:
            raise too_large(self.held, self._limits.max_answer)

    def counted(self, entries: Iterator[Entry], stages: int) -> Iterator[Entry]:
        """The same entries, noted by the block. Raises QueryError where it is too much."""
        self.check()
        block = _STAGED_BLOCK if stages else _BLOCK
        lines = size = 0
        try:
            for entry in entries:
                lines += 1
                size += len(entry[1])
                yield entry
                if lines == block:
                    self.took(lines, size, stages)
                    lines = size = 0
                    self.check()
        finally:
            self.took(lines, size, stages)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A stream with its labels at hand."""

    stream: Stream
    labels: Labels
    base: Mapping[str, str]


def choose(source: LogSource, matchers: Sequence[Matcher], start: int, end: int) -> list[Chosen]:
    """The streams of a selector, by their labels."""
    streams = sorted(source.streams(matchers, start, end), key=lambda stream: stream.labels)
    return [Chosen(stream, stream.labels, dict(stream.labels)) for stream in streams]


def merged(
    chosen: Sequence[Chosen], entries: Callable[[Stream], Iterator[Entry]], backward: bool
) -> Iterator[tuple[Chosen, int, str]]:
    """Entries of several streams by their time; those of one instant by the order of streams."""
    if len(chosen) == 1:
        only = chosen[0]
        for time, line in entries(only.stream):
            yield only, time, line
        return
    sign = -1 if backward else 1

    def keyed(index: int) -> Iterator[tuple[int, int, str]]:
        for time, line in entries(chosen[index].stream):
            yield sign * time, index, line

    for key, index, line in heapq.merge(*(keyed(index) for index in range(len(chosen)))):
        yield chosen[index], sign * key, line
