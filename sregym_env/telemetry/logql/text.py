"""Answers as an agent reads them: bounded, the same every time, with what was left out said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sregym_env.kube.durations import rfc3339
from sregym_env.telemetry.logql.labels import Labels, labels_text
from sregym_env.telemetry.logql.queries import Instant, Matrix, Streams
from sregym_env.telemetry.logql.sparkline import sparkline
from sregym_env.telemetry.logql.units import float_text


@dataclass(frozen=True, slots=True)
class View:
    """How much is shown."""

    head: int = 20
    """Lines from the beginning, where not all fit."""
    tail: int = 80
    """Lines from the end."""
    width: int = 400
    """Characters of a line; the rest is cut."""
    streams: int = 20
    """Streams and series that are named."""
    bars: int = 40
    """Characters of a sparkline."""
    hidden: frozenset[str] = frozenset()
    """Labels that are not shown."""


def time_text(nanoseconds: int) -> str:
    """``2026-08-06T12:00:00.123Z``: to the millisecond."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{rfc3339(seconds * 1_000_000)[:-1]}.{rest // 1_000_000:03d}Z"


def _cut(text: str, width: int) -> str:
    """One line of text, cut with a word about it."""
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    return text if len(text) <= width else f"{text[:width]}... [+{len(text) - width} characters]"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _seen(labels: Labels, view: View) -> Labels:
    return tuple(pair for pair in labels if pair[0] not in view.hidden) if view.hidden else labels


def _short(labels: Labels, shared: Labels) -> str:
    """What tells a stream from the others."""
    own = tuple(pair for pair in labels if pair not in shared)
    return labels_text(own) if own or not shared else labels_text(labels)


def _shared(found: Sequence[Labels]) -> Labels:
    """Labels that all of several have with the same value."""
    if len(found) < 2:
        return ()
    return tuple(pair for pair in found[0] if all(pair in labels for labels in found[1:]))


def streams_text(found: Streams, limit: int, view: View | None = None) -> str:
    """Lines of all streams by their time, oldest first, and how many each stream has.

    ``limit`` is the number of lines that were asked for: where as many were found there may be more.
    """
    view = view or View()
    names = [_seen(stream.labels, view) for stream in found.streams]
    shared = _shared(names)
    rows = sorted(
        (time, index, place, line)
        for index, stream in enumerate(found.streams)
        for place, (time, line) in enumerate(reversed(stream.entries) if found.backward else stream.entries)
    )
    if not rows:
        return "no lines\n"
    out = [f"{_count(len(rows), 'line')} in {_count(len(names), 'stream')}"]
    if len(rows) >= limit:
        out[0] += f" (limit {limit} reached: there may be more)"
    if shared:
        out.append(f"common labels: {labels_text(shared)}")
    for index, labels in enumerate(names[: view.streams]):
        out.append(f"[{index + 1}] {len(found.streams[index].entries):>5}  {_short(labels, shared)}")
    if len(names) > view.streams:
        out.append(f"... and {_count(len(names) - view.streams, 'more stream')}")
    out.append("")
    shown = _ends(len(rows), view.head, view.tail)
    for place in shown:
        if place is None:
            out.append(f"... {_count(len(rows) - view.head - view.tail, 'line')} not shown ...")
            continue
        time, index, _, line = rows[place]
        stream = f"[{index + 1}] " if len(names) > 1 else ""
        out.append(f"{time_text(time)} {stream}{_cut(line, view.width)}")
    return "\n".join(out) + "\n"


def _ends(count: int, head: int, tail: int) -> list[int | None]:
    """Places from both ends, with None for what is left out between them."""
    if count <= head + tail:
        return list(range(count))
    return [*range(head), None, *range(count - tail, count)]


def instant_text(found: Instant, view: View | None = None) -> str:
    """The samples of one instant, one to a line."""
    view = view or View()
    if found.scalar:
        return f"{float_text(found.vector[0][1])}\n"
    if not found.vector:
        return "no series\n"
    out = [
        f"{_number(value):>12}  {_cut(labels_text(labels), view.width)}"
        for labels, value in found.vector[: view.streams]
    ]
    if len(found.vector) > view.streams:
        out.append(f"... and {len(found.vector) - view.streams} more series")
    return "\n".join(out) + "\n"


def matrix_text(found: Matrix, view: View | None = None) -> str:
    """Series as sparklines with their smallest, largest and last values."""
    view = view or View()
    if not found.series:
        return "no series\n"
    times = sorted({time for _, points in found.series for time, _ in points})
    begin, end = time_text(times[0] * 1_000_000), time_text(times[-1] * 1_000_000)
    out = [f"{len(found.series)} series, {_count(len(times), 'step')} from {begin} to {end}"]
    shared = _shared([labels for labels, _ in found.series])
    if shared:
        out.append(f"common labels: {labels_text(shared)}")
    for labels, points in found.series[: view.streams]:
        at = dict(points)
        values = [value for _, value in points]
        bars = sparkline([at.get(time) for time in times], view.bars)
        facts = f"min {_number(min(values))}  max {_number(max(values))}  last {_number(values[-1])}"
        out.append(f"{bars}  {facts}  {_cut(_short(labels, shared), view.width)}")
    if len(found.series) > view.streams:
        out.append(f"... and {len(found.series) - view.streams} more series")
    return "\n".join(out) + "\n"


def _number(value: float) -> str:
    """A value short enough for a table: six digits that count."""
    return float_text(value) if value != value or abs(value) == float("inf") else f"{value:.6g}"
