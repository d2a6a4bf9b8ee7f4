"""``get --watch``: the current rows, then a row for every change, over a bounded time.

A real watch runs until it is interrupted. Nobody can interrupt a command here, so it runs on the cluster's clock for
``--request-timeout`` (30 seconds by default) and then says that it stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sregym_env.kube.durations import parse_duration
from sregym_env.kube.status import StatusError
from sregym_env.kube.tables import align
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import TIME_IS_UP, Call
from sregym_env.tools.kubectl.errors import KubectlError
from sregym_env.tools.kubectl.resolve import Target, get_object, list_objects

if TYPE_CHECKING:
    from sregym_env.tools.kubectl.get import TablePrinter

WATCH_SECONDS = 30
"""Virtual seconds that ``-w`` shows: nobody can interrupt it."""
STEP_SECONDS = 1
"""Virtual seconds between looks."""


def watch(call: Call, target: Target, table: TablePrinter) -> None:
    """Print a table that grows while the cluster's time passes."""
    seconds = _limit(call)
    before = _snapshot(call, target)
    lines: list[list[str]] = []
    if not call.flags["watch-only"]:
        lines = table.lines(target.resource, list(before.values()), kind=False)
    for _ in range(0, seconds, STEP_SECONDS):
        if call.left() <= 0:
            break
        call.advance(STEP_SECONDS)
        after = _snapshot(call, target)
        changed = [obj for key, obj in after.items() if before.get(key) is not obj and before.get(key) != obj]
        changed += [obj for key, obj in before.items() if key not in after]
        if changed:
            lines += table.lines(target.resource, changed, kind=False, headers=False if lines else None)
        before = after
    call.print(align(lines))
    if call.left() <= 0:
        raise KubectlError("", TIME_IS_UP)
    call.warn(
        f"watch closed after {seconds}s; run the command again, or use --request-timeout to watch longer"
    )


def _limit(call: Call) -> int:
    text = call.flags.get("request-timeout") or "0"
    try:
        seconds = int(text) if text.isdecimal() else parse_duration(text) // 1_000_000_000
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
