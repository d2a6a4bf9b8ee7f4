"""Traces as an agent reads them: bounded, paged, the same every time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sregym_env.kube.durations import rfc3339
from sregym_env.telemetry.traces.model import FOLLOWS_FROM, Dependency, Operation, Span, Trace, tag_text


@dataclass(frozen=True, slots=True)
class View:
    """How much is shown, and which part."""

    page: int = 1
    """From 1."""
    rows: int = 60
    """Lines of a page: traces, or spans of a trace with what belongs to them."""
    bar: int = 24
    """Characters of the time line."""
    width: int = 120
    """Characters of one tag's value, or of a name; the rest is cut."""
    repeats: int = 3
    """Siblings of one kind from which on all but the first are folded into one line."""


# --- small things -------------------------------------------------------------------------------------


def duration_text(microseconds: int) -> str:
    """``850µs``, ``12.3ms``, ``1.20s``, ``2m05s``."""
    if microseconds < 1000:
        return f"{microseconds}µs"
    if microseconds < 999_950:
        return f"{microseconds / 1000:.1f}ms"
    if microseconds < 59_995_000:
        return f"{microseconds / 1_000_000:.2f}s"
    minutes, seconds = divmod(round(microseconds / 1_000_000), 60)
    return f"{minutes}m{seconds:02d}s"


def time_text(microseconds: int) -> str:
    """``2026-08-06T12:00:00.123Z``."""
    return f"{rfc3339(microseconds)[:-1]}.{microseconds % 1_000_000 // 1000:03d}Z"


def _cut(text: str, width: int) -> str:
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    return text if len(text) <= width else f"{text[:width]}... [+{len(text) - width} characters]"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _paged(lines: Sequence[str], view: View, what: str) -> list[str]:
    """One page of lines, and which one of how many where there is more than one."""
    rows = max(1, view.rows)
    pages = max(1, math.ceil(len(lines) / rows))
    page = min(max(1, view.page), pages)
    shown = list(lines[(page - 1) * rows : page * rows])
    if pages > 1:
        shown.append(f"-- page {page} of {pages} ({_count(len(lines), what)}) --")
    return shown


def _table(rows: Sequence[Sequence[str]], right: frozenset[int]) -> list[str]:
    """Rows in columns, the first of them the header; the last column is left as it is."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    out = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row[:-1], widths, strict=True))
        ]
        out.append("  ".join([*cells, row[-1]]).rstrip())
    return out


# --- searches -----------------------------------------------------------------------------------------


def search_text(traces: Sequence[Trace], view: View | None = None) -> str:
    """A table of traces, newest first: when, how long, how many spans and errors, where it began, which services."""
    view = view or View()
    if not traces:
        return "no traces\n"
    ordered = sorted(traces, key=lambda trace: (-trace.start, trace.trace_id))
    durations = sorted(trace.duration for trace in ordered)
    failed = sum(trace.errors > 0 for trace in ordered)
    summary = (
        f"{_count(len(ordered), 'trace')}, {failed} with errors; duration median "
        f"{duration_text(durations[len(durations) // 2])}, max {duration_text(durations[-1])}"
    )
    rows = [("TRACE ID", "START", "DURATION", "SPANS", "ERRORS", "ROOT", "SERVICES")]
    rows += [
        (
            trace.trace_id,
            time_text(trace.start),
            duration_text(trace.duration),
            str(len(trace.spans)),
            str(trace.errors),
            _cut(f"{trace.root.service}: {trace.root.operation}", 60),
            _cut(", ".join(f"{name} ({count})" for name, count in trace.services.items()), view.width),
        )
        for trace in ordered
    ]
    header, *body = _table(rows, frozenset((2, 3, 4)))
    return "\n".join([summary, header, *_paged(body, view, "trace")]) + "\n"


def operations_text(operations: Sequence[Operation], view: View | None = None) -> str:
    """Operations of a service, with the side of the call."""
    view = view or View()
    if not operations:
        return "no operations\n"
    lines = [
        f"{_cut(each.name, view.width)}{f' ({each.kind})' if each.kind else ''}"
        for each in sorted(operations, key=lambda each: (each.name, each.kind))
    ]
    return "\n".join(_paged(lines, view, "operation")) + "\n"


def dependencies_text(links: Sequence[Dependency], view: View | None = None) -> str:
    """Who calls whom, and how often."""
    view = view or View()
    if not links:
        return "no dependencies\n"
    ordered = sorted(links, key=lambda link: (link.parent, link.child))
    rows = [("CALLER", "CALLED", "CALLS"), *((link.parent, link.child, str(link.calls)) for link in ordered)]
    header, *body = _table(rows, frozenset())
    return "\n".join([header, *_paged(body, view, "dependency")]) + "\n"


# --- one trace ----------------------------------------------------------------------------------------


def trace_text(trace: Trace, view: View | None = None) -> str:
    """A trace as a tree: offset, duration, time line, service and operation of each span; what errors say below them."""
    view = view or View()
    services = ", ".join(f"{name} ({count})" for name, count in trace.services.items())
    head = [
        f"trace {trace.trace_id}  {time_text(trace.start)}  {duration_text(trace.duration)}  "
        f"{_count(len(trace.spans), 'span')}, {_count(trace.errors, 'error')}",
        f"services: {_cut(services, 4 * view.width)}",
    ]
    head += [f"warning: {_cut(warning, view.width)}" for warning in trace.warnings[:5]]
    return "\n".join([*head, *_paged(_tree(trace, view), view, "line")]) + "\n"


@dataclass(frozen=True, slots=True)
class _Line:
    """A span to be shown, or several of one kind behind their first."""

    span: Span
    depth: int
    folded: tuple[Span, ...] = ()


def _tree(trace: Trace, view: View) -> list[str]:
    ruler = _Ruler(trace.start, max(1, trace.duration), max(1, view.bar))
    known = {span.span_id for span in trace.spans}
    margin = " " * ruler.width
    out: list[str] = []
    for line in _lines(trace, view):
        span, indent = line.span, "  " * min(line.depth, _DEEPEST)
        if line.folded:
            out.append(f"{ruler.mark(line.folded)}  {indent}... {_repeats(line.folded, view)}")
            continue
        parent = span.parent_id
        lost = f"  (its parent {parent} is not here)" if parent and parent not in known else ""
        error = "  ERROR" if span.failed else ""
        out.append(f"{ruler.mark((span,))}  {indent}{_name(span, view)}{error}{lost}")
        if span.failed:
            out += [f"{margin}  {indent}    {detail}" for detail in _details(span, view)]
        out += [
            f"{margin}  {indent}    follows from span {each.span_id} of trace {each.trace_id}"
            for each in span.references
            if each.trace_id != span.trace_id and each.kind == FOLLOWS_FROM
        ]
    return out


_DEEPEST = 30
"""Levels that are indented; what is deeper stands below them."""


@dataclass(frozen=True, slots=True)
class _Ruler:
    """The time line of a trace."""

    begin: int
    whole: int
    """Microseconds."""
    bar: int
    """Characters."""

    @property
    def width(self) -> int:
        """Characters of a mark."""
        return 20 + self.bar

    def mark(self, spans: Sequence[Span]) -> str:
        """Offset, duration and bar of spans, from where the first begins to where the last ends."""
        start = min(span.start for span in spans)
        duration = max(span.end for span in spans) - start
        left = min(self.bar - 1, (start - self.begin) * self.bar // self.whole)
        length = max(1, min(self.bar - left, round(duration * self.bar / self.whole)))
        bar = (" " * left + "█" * length).ljust(self.bar)
        return f"{'+' + duration_text(start - self.begin):>9} {duration_text(duration):>9} {bar}"


def _repeats(spans: Sequence[Span], view: View) -> str:
    """What is said of spans behind the first of their kind."""
    durations = [span.duration for span in spans]
    failed = sum(span.failed for span in spans)
    errors = f", {_count(failed, 'error')}" if failed else ""
    between = f"{duration_text(min(durations))} to {duration_text(max(durations))}"
    return f"{len(spans)} more {_name(spans[0], view)} ({between}{errors})"


def _name(span: Span, view: View) -> str:
    kind = f" [{span.kind}]" if span.kind and span.kind != "internal" else ""
    return _cut(f"{span.service}: {span.operation}", view.width) + kind


_SAID_ALREADY = frozenset(
    ("error", "span.kind", "internal.span.format", "otel.library.name", "otel.library.version")
)
_MOST_DETAILS = 8


def _details(span: Span, view: View) -> list[str]:
    """Tags and events of a failed span."""
    found = [
        f"{key}={_cut(tag_text(value), view.width)}" for key, value in span.tags if key not in _SAID_ALREADY
    ]
    for event in span.events:
        fields = " ".join(f"{key}={_cut(tag_text(value), view.width)}" for key, value in event.fields)
        found.append(f"event +{duration_text(max(0, event.time - span.start))}: {fields}")
    if len(found) > _MOST_DETAILS:
        found = [*found[:_MOST_DETAILS], f"... and {len(found) - _MOST_DETAILS} more"]
    return found


def _lines(trace: Trace, view: View) -> list[_Line]:
    """Spans in the order of a tree, repeats folded. Without recursion: a trace may be deep."""
    known = {span.span_id for span in trace.spans}
    ordered = sorted(trace.spans, key=lambda span: (span.start, span.span_id))
    children: dict[str, list[Span]] = {}
    for span in ordered:
        parent = span.parent_id if span.parent_id in known and span.parent_id != span.span_id else ""
        children.setdefault(parent, []).append(span)
    out: list[_Line] = []
    # Spans that belong to each other in a circle hang on nothing; they come behind all others.
    reached = _reached(children)
    roots = children.get("", []) + [span for span in ordered if id(span) not in reached]
    stack = [_Line(span, 0, folded) for span, folded in reversed(_folded(roots, children, view.repeats))]
    shown: set[int] = set()
    while stack:
        line = stack.pop()
        if line.folded:
            out.append(line)
            continue
        if id(line.span) in shown:
            continue
        shown.add(id(line.span))
        out.append(line)
        below = _folded(children.get(line.span.span_id, []), children, view.repeats)
        stack += [_Line(span, line.depth + 1, folded) for span, folded in reversed(below)]
    return out


def _reached(children: dict[str, list[Span]]) -> set[int]:
    found: set[int] = set()
    stack = list(children.get("", []))
    while stack:
        span = stack.pop()
        if id(span) not in found:
            found.add(id(span))
            stack += children.get(span.span_id, [])
    return found


def _folded(
    spans: Sequence[Span], children: dict[str, list[Span]], repeats: int
) -> list[tuple[Span, tuple[Span, ...]]]:
    """Siblings, those without children that do the same one after the other as their first and the rest of them."""
    out: list[tuple[Span, tuple[Span, ...]]] = []
    at = 0
    while at < len(spans):
        first = spans[at]
        end = at + 1
        while end < len(spans) and _same(first, spans[end], children):
            end += 1
        out.append((first, ()))
        if end - at > max(1, repeats):
            out.append((first, tuple(spans[at + 1 : end])))
        else:
            out += [(span, ()) for span in spans[at + 1 : end]]
        at = end
    return out


def _same(first: Span, other: Span, children: dict[str, list[Span]]) -> bool:
    return (
        first.service == other.service
        and first.operation == other.operation
        and first.failed == other.failed
        and not children.get(first.span_id)
        and not children.get(other.span_id)
    )
