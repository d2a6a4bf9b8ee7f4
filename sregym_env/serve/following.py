"""Container logs over HTTP, once or for as long as the container writes."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sregym_env.kube import durations, status
from sregym_env.runtime.clock import SECOND
from sregym_env.serve.asking import Ask
from sregym_env.serve.message import Reply, Response, Stream
from sregym_env.sim.machines import container_logs

PLAIN = "text/plain"
LOOK_SECONDS = 0.25

LINES, MOST_LINES = 1000, 64_000
"""How many lines are looked at for new ones, at first and at most: more than any container writes between two looks."""


def log(ask: Ask) -> Reply:
    """The log of one container. Raises BadRequest with the kubelet's text where there is none yet."""
    request, where = ask.request, ask.where
    container = request.first("container") or None
    since = request.number("sinceSeconds")
    if request.first("sinceTime"):
        try:
            begin = durations.parse_rfc3339(request.first("sinceTime"))
        except ValueError as error:
            raise status.bad_request(str(error)) from None
        since = max(1, (ask.hosted.world.now() - begin + SECOND - 1) // SECOND)
    text = ask.cluster.logs(
        where.namespace or "",
        where.name,
        container=container,
        previous=request.flag("previous"),
        tail=request.number("tailLines"),
        since_seconds=since,
        timestamps=request.flag("timestamps"),
        limit_bytes=request.number("limitBytes"),
    )
    if not request.flag("follow"):
        return Response(200, text.encode(), PLAIN)
    return Stream(_follow(ask, text, container), PLAIN)


async def _follow(ask: Ask, text: str, container: str | None) -> AsyncIterator[bytes]:
    """What is there, then what comes, until the run of the container has ended."""
    hosted, where, stamped = ask.hosted, ask.where, ask.request.flag("timestamps")
    store = hosted.world.store
    pod = store.get("pods", where.namespace or "", where.name)
    assert pod is not None
    chosen = container_logs.choose_container(pod, container)
    run = container_logs.run_of(pod, chosen, False)
    seen = _stamped_lines(ask, chosen)
    yield text.encode()
    while not hosted.closing:
        pod = store.get("pods", where.namespace or "", where.name)
        ended = pod is None or not _running(pod, chosen, run)
        if pod is not None:
            lines = _stamped_lines(ask, chosen, seen[-1] if seen else "")
            fresh = lines[_known(lines, seen) :]
            if fresh:
                shown = fresh if stamped else [line.partition(" ")[2] for line in fresh]
                yield "".join(f"{line}\n" for line in shown).encode()
                seen = lines
        if ended:
            return
        await hosted.bell.wait(LOOK_SECONDS)


def _stamped_lines(ask: Ask, container: str, last: str = "") -> list[str]:
    """The newest lines with their times, which tell equal lines apart: back to the ``last`` that was seen, as far as it is
    there."""
    tail = LINES
    while True:
        try:
            text = ask.cluster.logs(
                ask.where.namespace or "", ask.where.name, container=container, tail=tail, timestamps=True
            )
        except status.StatusError:
            return []
        lines = text.splitlines()
        if not last or len(lines) < tail or tail >= MOST_LINES or last in lines:
            return lines
        tail *= 4


def _known(lines: list[str], seen: list[str]) -> int:
    """How many of the lines have been seen before."""
    if not seen:
        return 0
    last = seen[-1]
    for index in range(len(lines) - 1, -1, -1):
        if lines[index] == last:
            return index + 1
    # The last line that was seen is among them no more: the log was rotated. Its time still tells.
    newest = last.partition(" ")[0]
    return sum(1 for line in lines if line.partition(" ")[0] <= newest)


def _running(pod: dict[str, object], container: str, run: int) -> bool:
    found = container_logs.container_status(pod, container)
    if found is None:
        return False
    return "running" in found.get("state", {}) and int(found["restartCount"]) == run
