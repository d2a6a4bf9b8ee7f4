"""The paper describers write on: levels of indentation, Go's elastic tabs, and the blocks many kinds share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.ordering import go_sorted
from sregym_env.kube.tables import event_times, since
from sregym_env.kube.types import Manifest

PADDING = 2
"""Blanks between columns (``tabwriter`` in ``describe.go``)."""
MAX_ANNOTATION = 140
"""Characters of an annotation that stand on its line (``maxAnnotationLen``)."""
_SKIPPED_ANNOTATIONS = ("kubectl.kubernetes.io/last-applied-configuration",)


UNASKED: list[Manifest] = []
"""The events where they are not to be shown (``--show-events=false``)."""


class Reader(Protocol):
    """Where a describer finds related objects. Lists are empty when they may not be read."""

    def list(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> list[Manifest]:
        """Objects of a resource."""
        ...

    def get(self, resource: str, name: str, namespace: str | None = None) -> Manifest | None:
        """One object, None when there is none."""
        ...

    def now(self) -> int:
        """The time from which ages are told."""
        ...


class Sheet:
    """Lines with tabs, aligned as Go's tabwriter does when rendered."""

    __slots__ = ("_done", "_lines", "now")

    def __init__(self, now: int) -> None:
        self.now = now
        self._lines: list[str] = []
        self._done: list[str] = []

    def line(self, level: int, text: str) -> None:
        """Add a line; ``text`` may hold tabs and line breaks of its own."""
        pad = "  " * level
        if "\n" in text:
            first, *rest = text.split("\n")
            self._lines.append(pad + first)
            self._lines.extend(rest)
        else:
            self._lines.append(pad + text)

    def flush(self) -> None:
        """Align what was written so far on its own."""
        if self._lines:
            self._done.append(align_tabs(self._lines))
            self._lines = []

    def raw(self) -> str:
        """The lines with their tabs as they are, where kubectl prints a description without aligning it."""
        lines = (line.lstrip(" ") if line.lstrip(" ").startswith("\t") else line for line in self._lines)
        return "".join(f"{line}\n" for line in lines)

    def render(self) -> str:
        """The aligned text."""
        self.flush()
        return "".join(self._done)

    # --- blocks ---

    def labels(self, title: str, values: Mapping[str, str] | None, indent: str = "") -> None:
        """``Title:  a=b`` with one pair per line, sorted."""
        if not values:
            self.line(0, f"{indent}{title}:\t<none>")
            return
        lead = f"{indent}{title}:\t"
        for key in sorted(values):
            self.line(0, f"{lead}{key}={values[key]}")
            lead = f"{indent}\t"

    def annotations(self, values: Mapping[str, str] | None, indent: str = "") -> None:
        """Annotations; long ones shortened, the last-applied configuration left out."""
        shown = [key for key in sorted(values or ()) if key not in _SKIPPED_ANNOTATIONS]
        if not shown or values is None:
            self.line(0, f"{indent}Annotations:\t<none>")
            return
        lead = f"{indent}Annotations:\t"
        for key in shown:
            value = values[key].removesuffix("\n")
            if len(value) + len(key) + 2 > MAX_ANNOTATION or "\n" in value:
                self.line(0, f"{lead}{key}:")
                for part in value.split("\n"):
                    self.line(0, f"{indent}\t  {_short(part)}")
            else:
                self.line(0, f"{lead}{key}: {value}")
            lead = f"{indent}\t"

    def events(self, events: Sequence[Manifest]) -> None:
        """The events block."""
        if events is UNASKED:
            return
        if not events:
            self.line(0, "Events:\t<none>")
            return
        self.flush()
        self.line(0, "Events:")
        self.line(1, "Type\tReason\tAge\tFrom\tMessage")
        self.line(1, "----\t------\t----\t----\t-------")
        for event in go_sorted(events, lambda a, b: _last_time(a) < _last_time(b)):
            source = (event.get("source") or {}).get("component") or event.get("reportingComponent") or ""
            message = (event.get("message") or "").strip()
            self.line(
                1,
                f"{event.get('type', '')}\t{event.get('reason', '')}\t{event_age(event, self.now)}\t{source}\t{message}",
            )


def _last_time(event: Manifest) -> str:
    # kubectl sorts by lastTimestamp, which events of the events.k8s.io API leave empty.
    return event.get("lastTimestamp") or ""


def event_age(event: Manifest, now: int) -> str:
    """``23s``, or ``23s (x5 over 2m)`` for an event seen several times."""
    _, last, count = event_times(event)
    first = since(event.get("eventTime") or event.get("firstTimestamp"), now)
    if event.get("series") or (event.get("count") or 0) > 1:
        return f"{since(last, now)} (x{count} over {first})"
    return first


def _short(text: str) -> str:
    limit = MAX_ANNOTATION - 2
    return text[:limit] + "..." if len(text) > limit else text


def events_of(reader: Reader, obj: Manifest, uid: str | None = None) -> list[Manifest]:
    """Events about an object."""
    metadata = obj["metadata"]
    terms = [f"involvedObject.name={metadata['name']}"]
    if metadata.get("namespace"):
        terms.append(f"involvedObject.namespace={metadata['namespace']}")
    if obj.get("kind"):
        terms.append(f"involvedObject.kind={obj['kind']}")
    identity = metadata.get("uid") if uid is None else uid
    if identity:
        terms.append(f"involvedObject.uid={identity}")
    return reader.list("events", metadata.get("namespace"), field_selector=",".join(terms))


def align_tabs(lines: Iterable[str], padding: int = PADDING) -> str:
    """Go's tabwriter (elastic tab stops): a column is a run of neighbouring lines with a cell there."""
    rows = [line.split("\t") for line in lines]
    _widen(rows, 0, 0, len(rows), padding)
    return "".join(["".join(row) + "\n" for row in rows])


def _widen(rows: list[list[str]], column: int, start: int, end: int, padding: int) -> None:
    i = start
    while i < end:
        if column >= len(rows[i]) - 1:
            i += 1
            continue
        j, width = i, 0
        while j < end and column < len(rows[j]) - 1:
            width = max(width, len(rows[j][column]) + padding)
            j += 1
        for row in rows[i:j]:
            row[column] = row[column].ljust(width)
        _widen(rows, column + 1, i, j, padding)
        i = j


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def rfc1123(stamp: str | None) -> str:
    """``Mon, 02 Jan 2006 15:04:05 +0000``: how describe shows a timestamp."""
    if not stamp:
        return "Mon, 01 Jan 0001 00:00:00 +0000"
    days = parse_rfc3339(stamp) // 86_400_000_000
    year, month, day = int(stamp[:4]), int(stamp[5:7]), int(stamp[8:10])
    return f"{_DAYS[(days + 3) % 7]}, {day:02d} {_MONTHS[month - 1]} {year:04d} {stamp[11:19]} +0000"


def controller_of(obj: Manifest) -> str:
    """``ReplicaSet/web-5d4f``: the controlling owner, or nothing."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return f"{owner['kind']}/{owner['name']}"
    return ""


def header(sheet: Sheet, obj: Manifest, *, namespaced: bool = True) -> None:
    """Name, namespace, labels and annotations, with which most kinds begin."""
    metadata = obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    if namespaced:
        sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))


def conditions_table(sheet: Sheet, obj: Manifest) -> None:
    """``Type  Status  Reason`` of the conditions, as workloads show them."""
    conditions: Sequence[Mapping[str, Any]] = (obj.get("status") or {}).get("conditions") or ()
    if conditions:
        sheet.line(0, "Conditions:\n  Type\tStatus\tReason")
        sheet.line(1, "----\t------\t------")
        for condition in conditions:
            sheet.line(1, f"{condition['type']} \t{condition['status']}\t{condition.get('reason', '')}")


def title_bool(value: object) -> str:
    """``True`` or ``False``."""
    return "True" if value else "False"


def go_bool(value: object) -> str:
    """``true`` or ``false``."""
    return "true" if value else "false"
