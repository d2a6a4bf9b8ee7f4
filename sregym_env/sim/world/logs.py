"""Container logs: lines that were written, and lines that steady traffic keeps writing.

A line is stored when a program says it once. What a program says once per failing request is stored as a
:class:`Burst`, a rate over an interval, and becomes lines only when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_unit
from sregym_env.sim.world.shared import SharedLog


class Line(NamedTuple):
    """One line at one instant."""

    time: int
    text: str


@dataclass(frozen=True, slots=True)
class Burst:
    """``rate`` lines per second from ``start`` until ``end`` (None while it goes on).

    ``template`` may hold a placeholder for the line's own timestamp, see :func:`stamped`.
    """

    start: int
    end: int | None
    rate: float
    template: str
    seed: str

    def lines_before(self, until: int) -> Iterator[Line]:
        """Its lines from the newest to the oldest, none at or after ``until``."""
        end = until if self.end is None else min(self.end, until)
        period = SECOND / self.rate
        index = int((end - self.start) / period) + 1
        while index >= 0:
            # Keyed by the index, not drawn: reading moves no chance, and every reader finds the same lines.
            time = self.start + int((index + keyed_unit(self.seed, index)) * period)
            if self.start <= time < end:
                yield Line(time, stamped(self.template, time))
            index -= 1


def stamped(template: str, time: int) -> str:
    """A line with its timestamp filled in.

    ``{time}`` becomes ``2026-08-06T10:00:05Z``, ``{time_ms}`` becomes ``2026-08-06T10:00:05.123+00:00``.
    """
    if "{time" not in template:
        return template
    text = rfc3339(time)
    millis = f"{text[:-1]}.{time % SECOND // 1000:03d}+00:00"
    return template.replace("{time}", text).replace("{time_ms}", millis)


class ContainerLog:
    """Everything one run of a container has written."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: SharedLog[Line | Burst] = SharedLog(keep=5000)

    def write(self, time: int, text: str) -> None:
        """Add lines at an instant; ``text`` may hold several."""
        for line in text.rstrip("\n").split("\n"):
            self._entries.append(Line(time, line))

    def open_burst(self, burst: Burst) -> None:
        """Start a steady stream of lines."""
        self._entries.append(burst)

    def close_bursts(self, time: int) -> None:
        """End every steady stream that still goes on."""
        if not any(isinstance(entry, Burst) and entry.end is None for entry in self._entries.newest_first()):
            return
        closed: SharedLog[Line | Burst] = SharedLog(keep=5000)
        for entry in self._entries:
            if isinstance(entry, Burst) and entry.end is None:
                entry = Burst(entry.start, time, entry.rate, entry.template, entry.seed)
            closed.append(entry)
        self._entries = closed

    def read(self, now: int, *, since: int = 0, limit: int | None = None) -> list[Line]:
        """The newest ``limit`` lines written at or after ``since``, oldest first."""
        cap = 20_000 if limit is None else limit
        newest: list[Line] = []
        for entry in self._entries.newest_first():
            if isinstance(entry, Line):
                if entry.time >= since and entry.time <= now:
                    newest.append(entry)
                continue
            newest.extend(line for line in islice(entry.lines_before(now), cap) if line.time >= since)
        newest.sort(key=lambda line: line.time, reverse=True)
        return newest[:cap][::-1]

    def fork(self) -> ContainerLog:
        """An independent log with the same past."""
        copy = ContainerLog()
        copy._entries = self._entries.fork()
        return copy
