"""Answers as an agent reads them: bounded, paged, the same every time, with what was left out said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sregym_env.kube.durations import rfc3339
from sregym_env.telemetry.labels import Labels, metric_text
from sregym_env.telemetry.logql.sparkline import sparkline
from sregym_env.telemetry.promql.durations import duration_text
from sregym_env.telemetry.promql.engine import Result
from sregym_env.telemetry.series import Times, Values


@dataclass(frozen=True, slots=True)
class View:
    """How much is shown, and which part."""

    page: int = 1
    """From 1."""
    rows: int = 40
    """Series of a page."""
    bars: int = 40
    """Characters of a sparkline."""
    width: int = 240
    """Characters of a series' labels; the rest is cut."""
    samples: int = 12
    """Samples of a series that a range is shown by."""


Row = tuple[Labels, Times, Values]


def time_text(milliseconds: int) -> str:
    """``2026-08-06T12:00:00Z``, with milliseconds where there are any."""
    text = rfc3339(milliseconds // 1000 * 1_000_000)
    rest = milliseconds % 1000
    return f"{text[:-1]}.{rest:03d}Z" if rest else text


def number_text(value: float) -> str:
    """A value short enough for a table: six digits that count."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return f"{value:.6g}" if abs(value) < 1e15 else f"{value:.6e}"


def _cut(text: str, width: int) -> str:
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    return text if len(text) <= width else f"{text[:width]}... [+{len(text) - width} characters]"


def _shared(found: Sequence[Labels]) -> Labels:
    """Labels that all of several series have with the same value."""
    if len(found) < 2:
        return ()
    common = set(found[0])
    for labels in found[1:]:
        common &= set(labels)
        if not common:
            break
    return tuple(pair for pair in found[0] if pair in common)


def _own(labels: Labels, shared: Labels) -> str:
    known = set(shared)
    return metric_text(tuple(pair for pair in labels if pair not in known)) or "{}"


def _paged(count: int, view: View) -> tuple[range, str]:
    """Which rows are shown, and what is said of the others."""
    rows = max(1, view.rows)
    pages = max(1, math.ceil(count / rows))
    page = min(max(1, view.page), pages)
    shown = range((page - 1) * rows, min(page * rows, count))
    return shown, f"-- page {page} of {pages} ({count} series) --" if pages > 1 else ""


def result_text(result: Result, view: View | None = None) -> str:
    """The answer at an instant: one line for each series; a range of samples is shown by its ends."""
    view = view or View()
    if result.type == "string":
        return f"{_cut(result.text, 10 * view.width)}\n"
    if result.type == "scalar":
        return f"{number_text(float(result.series[0][2][0]))}\n"
    if not result.series:
        return "no series\n"
    shared = _shared([labels for labels, _, _ in result.series])
    out = [_count(len(result.series))]
    if result.type == "vector":
        out[0] += f" at {time_text(int(result.series[0][1][0]))}"
    if shared:
        out.append(f"common labels: {_cut(metric_text(shared), 2 * view.width)}")
    shown, more = _paged(len(result.series), view)
    for index in shown:
        labels, times, values = result.series[index]
        name = _cut(_own(labels, shared), view.width)
        if result.type == "vector":
            out.append(f"{number_text(float(values[0])):>14}  {name}")
        else:
            out += [name, *(f"  {line}" for line in _samples(times, values, view))]
    return "\n".join([*out, more] if more else out) + "\n"


def _count(count: int) -> str:
    return f"{count} series"


def _samples(times: Times, values: Values, view: View) -> list[str]:
    """Samples one below the other, the middle of a long row left out."""
    lines = [f"{time_text(int(t))}  {number_text(float(v))}" for t, v in zip(times, values, strict=True)]
    if len(lines) <= view.samples:
        return lines
    half = view.samples // 2
    return [*lines[:half], f"... {len(lines) - 2 * half} samples not shown ...", *lines[-half:]]


def matrix_text(result: Result, start_ms: int, end_ms: int, step_ms: int, view: View | None = None) -> str:
    """The answer over a range: each series as a sparkline with its first, smallest, largest and last values."""
    view = view or View()
    if not result.series:
        return "no series\n"
    shared = _shared([labels for labels, _, _ in result.series])
    steps = (end_ms - start_ms) // step_ms + 1
    out = [
        f"{_count(len(result.series))}, {steps} steps of {duration_text(step_ms)} from {time_text(start_ms)} "
        f"to {time_text(end_ms)}"
    ]
    if shared:
        out.append(f"common labels: {_cut(metric_text(shared), 2 * view.width)}")
    shown, more = _paged(len(result.series), view)
    for index in shown:
        labels, times, values = result.series[index]
        whole: list[float | None] = [None] * steps
        for time, value in zip(times.tolist(), values.tolist(), strict=True):
            whole[(time - start_ms) // step_ms] = value
        bars = sparkline(whole, view.bars).ljust(min(view.bars, steps))
        out.append(f"{bars}  {_facts(values)}  {_cut(_own(labels, shared), view.width)}")
    return "\n".join([*out, more] if more else out) + "\n"


def _facts(values: Values) -> str:
    if not len(values):
        return "no samples"
    finite = values[np.isfinite(values)]
    told = [("first", float(values[0]))]
    if len(finite):
        told += [("min", float(finite.min())), ("max", float(finite.max()))]
    told.append(("last", float(values[-1])))
    return "  ".join(f"{word} {number_text(value)}" for word, value in told)


def series_text(found: Sequence[Labels], view: View | None = None) -> str:
    """Series by their labels, one to a line."""
    view = view or View()
    if not found:
        return "no series\n"
    shared = _shared(found)
    out = [_count(len(found))]
    if shared:
        out.append(f"common labels: {_cut(metric_text(shared), 2 * view.width)}")
    shown, more = _paged(len(found), view)
    out += [_cut(_own(found[index], shared), view.width) for index in shown]
    return "\n".join([*out, more] if more else out) + "\n"
