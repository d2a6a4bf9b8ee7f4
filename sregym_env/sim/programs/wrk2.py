"""The load generator: ``wrk`` in an endless loop of rounds, as the workload script of the benchmark runs it.

It offers the users' journeys at the rate its script asks for. What it prints about each round is rendered from
the history of the traffic when somebody reads the log, so a steady load costs no events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, NEVER, Quiet
from sregym_env.sim.world.history import history
from sregym_env.sim.world.logs import Line
from sregym_env.sim.world.program import Call, Usage

_RATE = re.compile(r"(?:-R|--rate)[ =]?(\d+)")
_ROUND = re.compile(r"(?:-d|--duration)[ =]?(\d+)")
_TARGET = re.compile(r"http://([A-Za-z0-9_.-]+):?(\d+)?")
START = 0.5
"""Seconds until the first request: the shell and the script are loaded."""
PAUSE = 1.0
"""Seconds between rounds."""
KEPT_ROUNDS = 400
"""Rounds that are written to the log when the generator ends."""


class Wrk2(Quiet):
    """The generator as a container's main process."""

    name = "wrk2"

    def start(self, ctx: ProcessContext) -> None:
        """Read the workload script; without one there is nothing to do."""
        ctx.set_memory(24 * MIB)
        if ctx.over_limit:
            return
        script = self._script(ctx)
        if isinstance(script, int):
            ctx.exit(script)
            return
        target = _TARGET.search(script)
        if target is None:
            ctx.log("Usage: wrk <options> <url>")
            ctx.exit(1)
            return
        rate, length = _RATE.search(script), _ROUND.search(script)
        ctx.update(
            host=target.group(1),
            port=int(target.group(2) or 80),
            rate=float(rate.group(1)) if rate else 100.0,
            round=float(length.group(1)) if length else 30.0,
        )

    def _script(self, ctx: ProcessContext) -> str | int:
        argv = ctx.process.argv
        words = " ".join(argv)
        if "wrk" in argv[0] or "http://" in words:
            return words
        for word in argv[1:]:
            if word.startswith("/"):
                try:
                    return ctx.read(word)
                except OSError:
                    ctx.log(f"{argv[0]}: {word}: No such file or directory")
                    return 127
        ctx.log(f"{argv[0]}: nothing to run")
        return 0

    def offers(self, ctx: ProcessContext) -> tuple[tuple[str, float, str, int, Call], ...]:
        """The journeys of the application, each at its share of the rate."""
        state, app = ctx.process.state, ctx.world.app
        if app is None or "rate" not in state:
            return ()
        return tuple(
            (
                journey.name,
                state["rate"] * journey.weight,
                state["host"],
                state["port"],
                Call(f"{journey.method} {journey.path.partition('?')[0]}"),
            )
            for journey in app.journeys
        )

    def lines(self, ctx: ProcessContext, since: int) -> list[Line]:
        """What was printed at or after ``since``: a header when a round begins, its result when it ends."""
        state = ctx.process.state
        if "rate" not in state:
            return []
        length = seconds(state["round"])
        period = length + seconds(PAUSE)
        start = ctx.process.started_at + seconds(START)
        first = max(0, (since - start) // period - 1)
        first = max(first, (ctx.now() - start) // period - KEPT_ROUNDS)
        found: list[Line] = []
        index = first
        while (begun := start + index * period) <= ctx.now():
            found.append(Line(begun, f"Running wrk2 on round #{index + 1}"))
            if begun + length <= ctx.now():
                found.extend(Line(begun + length, text) for text in _result(ctx, begun, begun + length))
            index += 1
        return [line for line in found if line.time >= since]

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """The script's shell ignores SIGTERM; what was printed so far goes into the stored log."""
        process = ctx.process
        log = ctx.world.log((process.key[0], process.container, process.restart))
        for line in self.lines(ctx, 0):
            log.write(line.time, line.text)
        return NEVER, 137

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Forty microseconds of CPU per request sent."""
        return Usage(0.002 + 0.00004 * float(ctx.process.state.get("rate", 0.0)), ctx.process.memory)


def _result(ctx: ProcessContext, begun: int, ended: int) -> Iterator[str]:
    """wrk2's report of one round."""
    requests = failed = waited = 0.0
    broken = dict.fromkeys(("connect", "read", "timeout"), 0.0)
    for duration, rate, ok, latency, errors in _spans(ctx, begun, ended):
        sent = rate * duration
        lost = 0.0
        for text, share in errors:
            if not text.startswith("HTTP "):
                broken[_socket_error(text)] += sent * share
                lost += sent * share
        requests += sent - lost
        failed += sent * (1.0 - ok) - lost
        waited += (sent - lost) * latency
    mean = waited / requests if requests > 0.5 else 0.0
    span = (ended - begun) / SECOND
    state = ctx.process.state
    count, bad = int(requests + 0.5), int(failed + 0.5)
    refused, cut, slow = (int(number + 0.5) for number in broken.values())
    yield f"Running {span:.0f}s test @ http://{state['host']}:{state['port']}"
    yield "  3 threads and 100 connections"
    yield "  Thread Stats   Avg      Stdev     99%   +/- Stdev"
    # The history knows means; the spread around them is assumed.
    yield f"    Latency   {_time(mean):>8}  {_time(mean * 0.42):>8} {_time(mean * 2.3):>8}   86.34%"
    yield f"    Req/Sec   {count / span / 3:8.2f}  {count / span / 9:8.2f} {count / span / 2:8.2f}    71.02%"
    yield "  Latency Distribution (HdrHistogram - Recorded Latency)"
    for name, factor in (
        ("50.000%", 0.86),
        ("75.000%", 1.2),
        ("90.000%", 1.6),
        ("99.000%", 2.3),
        ("99.900%", 3.6),
    ):
        yield f" {name:>7}  {_time(mean * factor):>8}"
    yield f"  {count} requests in {span:.2f}s, {count * 0.0021:.2f}MB read"
    if refused or cut or slow:
        yield f"  Socket errors: connect {refused}, read {cut}, write 0, timeout {slow}"
    if bad:
        yield f"  Non-2xx or 3xx responses: {bad}"
    yield f"Requests/sec: {count / span:9.2f}"
    yield f"Transfer/sec: {count * 2.15 / span:9.2f}KB"


def _socket_error(text: str) -> str:
    """Which of wrk2's counters a failed connection adds to."""
    if "refused" in text or "no such host" in text:
        return "connect"
    return "read" if "reset" in text or "EOF" in text else "timeout"


def _time(value: float) -> str:
    return (
        f"{value * 1e6:.2f}us"
        if value < 0.001
        else f"{value * 1e3:.2f}ms"
        if value < 1.0
        else f"{value:.2f}s"
    )


def _spans(
    ctx: ProcessContext, begun: int, ended: int
) -> Iterator[tuple[float, float, float, float, tuple[tuple[str, float], ...]]]:
    """(seconds, rate, success ratio, latency, errors) of every journey in every stretch of the history."""
    until = ended
    for segment in history(ctx.world).newest_first():
        if segment.start < until:
            covered = (until - max(segment.start, begun)) / SECOND
            for journey in segment.journeys:
                yield covered, journey.rate, journey.ok, journey.latency, journey.errors
            until = max(segment.start, begun)
        if segment.start <= begun:
            return
