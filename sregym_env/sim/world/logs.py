"""Container logs: lines that were written, and lines that steady traffic keeps writing.

A line is stored when a program says it once. What a program says once per failing request is stored as a
:class:`Burst`, a rate over an interval, and becomes lines only when somebody reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import islice
from typing import NamedTuple

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import keyed_bits, keyed_unit
from sregym_env.sim.world.shared import SharedLog

Shown = Callable[[int], int]
"""What a machine's clock said at an instant (:func:`sregym_env.sim.world.wallclock.reader`)."""

FILE_BYTES = 10 * 1024 * 1024
"""Size at which the kubelet begins a new file (``containerLogMaxSize``); only the newest one is read through the API."""

ORDINAL = "{ordinal}"
"""What stands in a template for a number that counts up over everything that the process writes, such as a server's
connections."""
STRIDE = 16
"""Numbers between two lines of a stream: others connect, too. The first half is for streams that go on at the same time,
the other for what is written once meanwhile."""

LINE_EFFORT = 1.0
"""What a line that is written costs (units of ``runtime/effort.py``)."""

FRAME_BYTES = len("2026-08-06T10:00:05.123456789Z stdout F ") + 1
"""What the container runtime writes around every line."""


class Line(NamedTuple):
    """One line at one instant."""

    time: int
    text: str


class RequestLine(NamedTuple):
    """A line that a share of the requests writes which are served in one way."""

    template: str
    low: float
    """Requests are thought of as lying between 0 and 1, those that fare alike side by side; from here ..."""
    share: float
    """... so many write it."""
    elapsed: float = 0.0
    """Seconds from the request's arrival until it does."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Requests, ``rate`` per second from ``start`` until ``end`` (None while it goes on), and a line that those among
    them write which lie within ``among``, ``after`` microseconds.

    Streams with the same seed, start and rate tell of the same requests: their lines stand together, and agree in the
    request's identifiers. ``template`` may hold a placeholder for the line's own timestamp, see :func:`stamped`.
    """

    start: int
    end: int | None
    rate: float
    template: str
    seed: str
    first: int = 0
    """Where the numbers begin for which :data:`ORDINAL` stands."""
    among: tuple[float, float] = (0.0, 1.0)
    """From and to: see :class:`RequestLine`."""
    after: int = 0
    gone: int | None = None
    """When the process was gone that wrote it: nothing is written then."""

    def lines_before(self, until: int, since: int = 0, shown: Shown | None = None) -> Iterator[Line]:
        """Its lines from the newest to the oldest, none at or after ``until``, none before ``since``. ``shown`` is what the
        clock of its machine said at an instant, if that was ever wrong."""
        until = until if self.gone is None else min(self.gone, until)
        end = until - self.after if self.end is None else min(self.end, until - self.after)
        period = SECOND / self.rate
        index = int((end - self.start) / period) + 1
        first = max(self.start, since - self.after)
        low, high = self.among
        everybody = high - low >= 1.0
        phase = 0.0 if everybody else keyed_unit(self.seed, "among")
        # No request of a lower index arrives at or after ``first``.
        last = max(0, int((first - self.start) / period) - 1)
        while index >= last:
            # Multiples of the golden section: of any number of requests as many lie within as should.
            if everybody or low <= (phase + index * _GOLDEN) % 1.0 < high:
                # Keyed by the index, not drawn: reading moves no chance, and every reader finds the same lines.
                time = self.start + int((index + keyed_unit(self.seed, index)) * period)
                if first <= time < end:
                    time += self.after
                    text = stamped(self._traced(index), time if shown is None else shown(time))
                    yield Line(time, text.replace(ORDINAL, str(self.first + index * STRIDE)))
            index -= 1

    def _traced(self, index: int) -> str:
        """The template with the identifiers of the request's own trace and span."""
        if "{trace_id}" not in self.template and "{span_id}" not in self.template:
            return self.template
        trace = f"{keyed_bits(self.seed, 'trace', index):016x}{keyed_bits(self.seed, 'rest', index):016x}"
        span = f"{keyed_bits(self.seed, 'span', index):016x}"
        return self.template.replace("{trace_id}", trace).replace("{span_id}", span)

    def next_number(self, until: int) -> int:
        """A number beyond those of its lines before an instant; 0 where they have none."""
        if ORDINAL not in self.template:
            return 0
        end = until if self.end is None else min(self.end, until)
        return self.first + (int((end - self.start) / SECOND * self.rate) + 2) * STRIDE

    def bytes_before(self, until: int) -> int:
        """About how much it has written by then."""
        end = until if self.end is None else min(self.end, until)
        low, high = self.among
        return int((end - self.start) / SECOND * self.rate * (high - low)) * (
            len(self.template) + FRAME_BYTES
        )


_GOLDEN = 0.6180339887498949
"""(sqrt(5) - 1) / 2, whose multiples modulo 1 are spread most evenly."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """The same lines over and over from ``start`` until ``end`` (None while it goes on), ``period`` microseconds apart."""

    start: int
    end: int | None
    period: int
    lines: tuple[tuple[int, str], ...]
    """Each with its place in the period, in order."""

    def lines_before(self, until: int, since: int = 0, shown: Shown | None = None) -> Iterator[Line]:
        """Its lines from the newest to the oldest, none at or after ``until``, none before ``since``; no clock is in them."""
        end = until if self.end is None else min(self.end, until)
        first = max(self.start, since)
        turn = (end - self.start) // self.period
        while turn >= 0:
            begun = self.start + turn * self.period
            if begun + self.period < first:
                return
            for offset, text in reversed(self.lines):
                if first <= begun + offset < end:
                    yield Line(begun + offset, text)
            turn -= 1

    def bytes_before(self, until: int) -> int:
        """About how much it has written by then."""
        end = until if self.end is None else min(self.end, until)
        return (end - self.start) // self.period * sum(len(text) + FRAME_BYTES for _, text in self.lines)


def stamped(template: str, time: int) -> str:
    """A line with its timestamps filled in.

    ``{time}`` becomes ``2026-08-06T10:00:05Z``, ``{time_ms}`` becomes ``2026-08-06T10:00:05.123+00:00``, ``{time_s}`` becomes
    ``1786010405.123``, and what stands behind a bar is a form for ``strftime``, where ``%L`` is the millisecond: ``{time|%Y/%m/%d %H:%M:%S.%L}``. Outside
    of a request's trace ``{trace_id}`` and ``{span_id}`` are 0.
    """
    if "{trace_id}" in template or "{span_id}" in template:
        template = template.replace("{trace_id}", "0").replace("{span_id}", "0")
    if "{time" not in template:
        return template
    text = rfc3339(time)
    millis = f"{text[:-1]}.{time % SECOND // 1000:03d}+00:00"
    filled = template.replace("{time}", text).replace("{time_ms}", millis)
    if "{time_s}" in filled:
        filled = filled.replace("{time_s}", f"{time // SECOND}.{time % SECOND // 1000:03d}")
    if "{time|" not in filled:
        return filled
    instant = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=time)
    milliseconds = f"{time % SECOND // 1000:03d}"
    return _FORMED.sub(lambda found: instant.strftime(found[1].replace("%L", milliseconds)), filled)


_FORMED = re.compile(r"\{time\|([^}]*)\}")


class ContainerLog:
    """Everything one run of a container has written."""

    __slots__ = ("_bytes", "_entries", "_next", "_streams")

    def __init__(self) -> None:
        self._entries: SharedLog[Line | Burst | Cycle] = SharedLog(keep=5000)
        self._bytes = 0
        """What has been written, without the streams that still go on."""
        self._next = 1
        """The lowest number that has not been given to anything, streams that still go on aside."""
        self._streams = False
        """Whether there may be a stream that still goes on."""

    def number(self, now: int, least: int) -> int:
        """A number for what happens once now, beyond all that were given: see :data:`ORDINAL`."""
        going = self._going(now)
        found = max(self._next, least, going)
        if going and found % STRIDE < STRIDE // 2:
            found += STRIDE // 2 - found % STRIDE
        self._next = found + 1
        return found

    @property
    def latest(self) -> int:
        """The number that was given last."""
        return self._next - 1

    def _going(self, now: int) -> int:
        """The same for streams that go on; 0 without any."""
        if not self._streams:
            return 0
        return max(
            (
                entry.next_number(now)
                for entry in self._entries.newest_first()
                if isinstance(entry, Burst) and entry.end is None
            ),
            default=0,
        )

    def write(self, time: int, text: str) -> None:
        """Add lines at an instant; ``text`` may hold several."""
        lines = text.rstrip("\n").split("\n")
        effort.note(LINE_EFFORT * len(lines))
        for line in lines:
            self._entries.append(Line(time, line))
            self._bytes += len(line) + FRAME_BYTES

    def open_burst(self, burst: Burst | Cycle, *, least: int = 0) -> None:
        """Start a steady stream of lines, their numbers at ``least`` or above."""
        if isinstance(burst, Burst) and ORDINAL in burst.template:
            others = [
                entry
                for entry in self._entries.newest_first()
                if isinstance(entry, Burst) and entry.end is None and ORDINAL in entry.template
            ]
            same = [entry.first for entry in others if entry.seed == burst.seed]
            begin = -(-max(self._next, least, self._going(burst.start)) // STRIDE) * STRIDE
            seeds = {entry.seed for entry in others}
            burst = evolve(burst, first=same[0] if same else begin + len(seeds) % (STRIDE // 2))
        self._entries.append(burst)
        self._streams = True

    def close(self, time: int) -> None:
        """End whatever still goes on: the process that wrote is gone."""
        self._close(time, (Burst, Cycle), gone=True)

    def close_bursts(self, time: int) -> None:
        """End every steady stream that comes of traffic and still goes on."""
        self._close(time, (Burst,))

    def _close(self, time: int, kinds: tuple[type[Burst] | type[Cycle], ...], *, gone: bool = False) -> None:
        if not any(
            isinstance(entry, kinds) and (entry.end is None or (gone and _writes_at(entry, time)))
            for entry in self._entries.newest_first()
        ):
            return
        closed: SharedLog[Line | Burst | Cycle] = SharedLog(keep=5000)
        self._streams = False
        for entry in self._entries:
            if gone and isinstance(entry, Burst) and (entry.end is None or _writes_at(entry, time)):
                entry = evolve(entry, gone=time)
            if not isinstance(entry, Line) and isinstance(entry, kinds) and entry.end is None:
                entry = evolve(entry, end=time)
                self._bytes += entry.bytes_before(time)
                if isinstance(entry, Burst):
                    self._next = max(self._next, entry.next_number(time))
            self._streams |= not isinstance(entry, Line) and entry.end is None
            closed.append(entry)
        self._entries = closed

    def _written(self, now: int) -> int:
        """Bytes that have been written, rotated files included."""
        if not self._streams:
            return self._bytes
        going = (entry for entry in self._entries if not isinstance(entry, Line) and entry.end is None)
        return self._bytes + sum(burst.bytes_before(now) for burst in going)

    def size(self, now: int) -> int:
        """Bytes of its newest file."""
        written = self._written(now)
        return written % FILE_BYTES if written > FILE_BYTES else written

    def read(
        self, now: int, *, since: int = 0, limit: int | None = None, shown: Shown | None = None
    ) -> list[Line]:
        """The newest ``limit`` lines written at or after ``since``, oldest first, as far as the newest file has them."""
        written = self._written(now)
        size = written % FILE_BYTES
        rotated = written > FILE_BYTES
        most = size // FRAME_BYTES + 1 if rotated else 2 * FILE_BYTES // FRAME_BYTES
        cap = most if limit is None else min(most, limit)
        if cap <= 0:
            return []
        newest = [line for _, _, line in islice(self._newest_first(now, since, shown), cap)]
        return (_fitting(newest, size) if rotated else newest)[::-1]

    def before(self, until: int, since: int = 0, shown: Shown | None = None) -> Iterator[Line]:
        """Lines written before ``until`` and not before ``since``, the newest first; none is made that is not taken. Files
        that were rotated away are there as well."""
        for _, _, line in self._newest_first(until - 1, since, shown):
            yield line

    def _newest_first(self, now: int, since: int, shown: Shown | None) -> Iterator[tuple[int, int, Line]]:
        """Lines from the newest to the oldest, each with what it is sorted by; no more are made than are taken."""
        written: list[tuple[int, int, Line]] = []
        streams: list[Iterator[tuple[int, int, Line]]] = []
        for index, entry in enumerate(self._entries.newest_first()):
            if not isinstance(entry, Line):
                streams.append(_ranked(entry.lines_before(now, since, shown), index))
            elif since <= entry.time <= now:
                written.append((-entry.time, index, entry))
        written.sort()
        return merge(written, *streams)

    def fork(self) -> ContainerLog:
        """An independent log with the same past."""
        copy = ContainerLog()
        copy._entries = self._entries.fork()
        copy._bytes, copy._next, copy._streams = self._bytes, self._next, self._streams
        return copy


def _writes_at(entry: Line | Burst | Cycle, time: int) -> bool:
    """Whether requests of a stream that has ended still write at an instant."""
    return (
        isinstance(entry, Burst)
        and entry.gone is None
        and entry.end is not None
        and entry.end + entry.after > time
    )


def _ranked(lines: Iterator[Line], index: int) -> Iterator[tuple[int, int, Line]]:
    return ((-line.time, index, line) for line in lines)


def _fitting(newest: list[Line], size: int) -> list[Line]:
    """As many lines, the newest first, as ``size`` bytes hold; what has been written once is there."""
    left = size
    for index, line in enumerate(newest):
        left -= len(line.text) + FRAME_BYTES
        if left < 0 and index:
            return newest[:index]
    return newest


def single(lines: Sequence[Line]) -> Iterator[Line]:
    """What was written at once may be several lines: a runtime keeps each of them by itself."""
    for line in lines:
        if "\n" not in line.text:
            yield line
            continue
        for text in line.text.split("\n"):
            yield Line(line.time, text)


def stamps(lines: Sequence[Line], shown: Shown | None = None) -> list[str]:
    """When each line was written by the clock of its machine, to the nanosecond, as the kubelet tells it: always nine
    digits, no two alike.

    The world counts microseconds. Lines of the same one are told apart below it, counted from the last, so that a
    line has the same stamp however many before it are read.
    """
    found: list[str] = []
    place, before = 0, -1
    for line in reversed(lines):
        place = place + 1 if line.time == before else 0
        before = line.time
        below = 999 - line.time * 7919 % 211 - 5 * place
        second, micro = divmod(line.time if shown is None else shown(line.time), SECOND)
        found.append(f"{rfc3339(second * SECOND)[:-1]}.{micro:06d}{max(below, 0):03d}Z")
    return found[::-1]
