"""``get --watch``: the current rows, then a row for every change, over a bounded time.

A real watch runs until it is interrupted. Nobody can interrupt a command here, so it runs on the cluster's clock for
``--request-timeout`` (30 seconds by default) and then says that it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.kube.durations import parse_duration
from sregym_env.kube.status import StatusError
from sregym_env.kube.tables import align
from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import whole
from sregym_env.tools.kubectl.call import TIME_IS_UP, Call
from sregym_env.tools.kubectl.errors import KubectlError
from sregym_env.tools.kubectl.output import print_value, split_format, without_managed_fields
from sregym_env.tools.kubectl.resolve import Info, Target, get_object, list_objects
from sregym_env.tools.kubectl.table import TablePrinter

WATCH_SECONDS = 30
"""Virtual seconds that ``-w`` shows: nobody can interrupt it."""
STEP_SECONDS = 1
"""Virtual seconds between looks."""
_EVENT_WIDTH = len("MODIFIED")


def watch(call: Call, target: Target, table: TablePrinter) -> None:
    """Print a table that grows while the cluster's time passes."""
    seconds = _limit(call)
    before = _snapshot(call, target)
    shown = _Shown(call, target, table)
    if not call.flags["watch-only"]:
        shown.add("ADDED", list(before.values()))
    for _ in range(0, seconds, STEP_SECONDS):
        if call.left() <= 0:
            break
        call.advance(STEP_SECONDS)
        after = _snapshot(call, target)
        shown.add("ADDED", [obj for key, obj in after.items() if key not in before])
        shown.add("MODIFIED", [obj for key, obj in after.items() if key in before and before[key] != obj])
        shown.add("DELETED", [obj for key, obj in before.items() if key not in after])
        before = after
    shown.finish()
    if call.left() <= 0:
        raise KubectlError("", TIME_IS_UP)
    if "request-timeout" not in call.given:
        call.warn(
            f"watch closed after {seconds}s; run the command again, or use --request-timeout to watch longer"
        )


class _Shown:
    """What a watch prints: rows of one table, or objects one after the other."""

    def __init__(self, call: Call, target: Target, table: TablePrinter) -> None:
        self._call = call
        self._target = target
        self._table = table
        self._name, self._argument = split_format(call)
        self._lines: list[list[str]] = []
        self._events = bool(call.flags["output-watch-events"])

    def add(self, event: str, objects: Sequence[Manifest]) -> None:
        """Show changed objects."""
        if self._name in ("", "wide"):
            self._rows(event, objects)
            return
        for obj in objects:
            self._object(event, obj)

    def _rows(self, event: str, objects: Sequence[Manifest]) -> None:
        if not objects:
            return
        headers = None if not self._lines else False
        rows = self._table.lines(self._target.resource, objects, kind=False, headers=headers)
        if self._events:
            headed = len(rows) > len(objects)
            rows = [
                [("EVENT" if headed and not at else event).ljust(_EVENT_WIDTH), *row]
                for at, row in enumerate(rows)
            ]
        self._lines += rows

    def _object(self, event: str, obj: Manifest) -> None:
        info = Info(self._target.resource, without_managed_fields(obj))
        if self._name == "name":
            self._call.print(f"{info.label}\n")
            return
        value = {"type": event, "object": info.object} if self._events else info.object
        if self._name == "yaml" and self._call.out:
            self._call.print("---\n")
        print_value(self._call, self._name, self._argument, value)

    def finish(self) -> None:
        """Print the table: its columns are as wide as the widest row."""
        self._call.print(align(self._lines))


def _limit(call: Call) -> int:
    text = call.flags.get("request-timeout") or "0"
    try:
        seconds = whole(text, 0) if text.isdecimal() else parse_duration(text) // 1_000_000_000
    except ValueError as error:
        raise KubectlError(f"error: {error}") from None
    return max(1, min(seconds or WATCH_SECONDS, 600))


def _snapshot(call: Call, target: Target) -> dict[tuple[str, str], Manifest]:
    if target.name is None:
        objects = list_objects(call, target.resource)
    else:
        try:
            objects = [get_object(call, target)]
        except StatusError as error:
            if error.code != 404:
                raise
            objects = []
    return {(o["metadata"].get("namespace", ""), o["metadata"]["name"]): o for o in objects}
