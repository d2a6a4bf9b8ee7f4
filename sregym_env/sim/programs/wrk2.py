"""The load generator: ``wrk`` in an endless loop of rounds, as the workload script of the benchmark runs it.

It offers the users' journeys at the rate its script asks for. What it prints about each round is rendered from
the history of the traffic when somebody reads the log, so a steady load costs no events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.dataplane.law import Law, edges
from sregym_env.sim.dataplane.plan import Floats
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, NEVER, Quiet
from sregym_env.sim.programs.wrk2_options import options_of, said, words_in, words_of
from sregym_env.sim.world.history import JourneyState, window
from sregym_env.sim.world.logs import Line
from sregym_env.sim.world.program import Call, Usage

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
        """Read the command line, or the one in the workload script; without one there is nothing to do."""
        ctx.set_memory(24 * MIB)
        if ctx.over_limit:
            return
        words = self._words(ctx)
        if isinstance(words, int):
            ctx.exit(words)
            return
        options = options_of(words)
        if isinstance(options, str):
            ctx.log(said(options))
            ctx.exit(1)
            return
        ctx.update(
            host=options.host,
            port=options.port,
            rate=options.rate,
            connections=options.connections,
            threads=options.threads,
            round=options.duration,
        )

    def _words(self, ctx: ProcessContext) -> list[str] | int:
        """What stands behind ``wrk``; an exit code where nothing can be run."""
        argv = ctx.process.argv
        if (words := words_of(argv, ctx.process.env)) is not None:
            return words
        for word in argv[1:]:
            if word.startswith("/"):
                try:
                    return words_in(ctx.read(word), ctx.process.env) or []
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
            for journey in app.at(ctx.process.namespace).journeys
        )

    def connections(self, ctx: ProcessContext) -> tuple[str, int, int]:
        """(host, port, how many connections it keeps open there)."""
        state = ctx.process.state
        return state.get("host", ""), state.get("port", 0), state.get("connections", 0)

    def lines(self, ctx: ProcessContext, since: int, limit: int | None = None) -> list[Line]:
        """What was printed at or after ``since``, its end only where there is a ``limit`` of lines: a header when a round
        begins, its result when it ends."""
        state = ctx.process.state
        if "rate" not in state:
            return []
        length = seconds(state["round"])
        period = length + seconds(PAUSE)
        start = ctx.process.started_at + seconds(START)
        last = (ctx.now() - start) // period
        first = max(0, (since - start) // period - 1, last - KEPT_ROUNDS)
        found: list[Line] = []
        for index in range(last, first - 1, -1):
            begun = start + index * period
            printed = [Line(begun, f"Running wrk2 on round #{index + 1}")]
            unstarted = _unstarted(ctx, begun)
            if unstarted:
                printed.append(Line(begun, unstarted))
            elif begun + length <= ctx.now():
                printed += [Line(begun + length, text) for text in _result(ctx, begun, begun + length)]
            found = [*(line for line in printed if line.time >= since), *found]
            if limit is not None and len(found) >= limit:
                return found[-limit:] if limit else []
        return found

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """The script's shell ignores SIGTERM; what was printed so far goes into the stored log."""
        if ctx.world.unread:
            return NEVER, 137
        process = ctx.process
        log = ctx.world.log((process.key[0], process.container, process.restart))
        for line in self.lines(ctx, 0):
            log.write(line.time, line.text)
        return NEVER, 137

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Forty microseconds of CPU per request sent."""
        return Usage(0.002 + 0.00004 * float(ctx.process.state.get("rate", 0.0)), ctx.process.memory)


def _unstarted(ctx: ProcessContext, begun: int) -> str:
    """Why wrk2 did not begin a round: it looks for its target, and tries each address, before it sends anything."""
    told = ""
    for _, journey in _spans(ctx, begun, begun + 1):
        told = next((_unreached(text) for text, share in journey.errors if share > 0.999), "")
        if not told:
            return ""
    state = ctx.process.state
    return told.format(f"{state['host']}:{state['port']}") if told else ""


def _unreached(text: str) -> str:
    """What it says where this comes of every request; empty where it begins all the same."""
    if ": lookup " in text:
        known = text.endswith("no such host")
        return f"unable to resolve {{}} {'Name or service not known' if known else 'Temporary failure in name resolution'}"
    return "unable to connect to {} Connection refused" if text.endswith("connection refused") else ""


def _result(ctx: ProcessContext, begun: int, ended: int) -> Iterator[str]:
    """wrk2's report of one round: what a finite number of requests shows of the laws that held meanwhile."""
    answered = failed = 0.0
    broken = dict.fromkeys(("connect", "read", "timeout"), 0.0)
    parts: dict[tuple[float, float], float] = {}
    for duration, journey in _spans(ctx, begun, ended):
        sent = journey.rate * duration
        lost = sum(share for text, share in journey.errors if not text.startswith("HTTP "))
        for text, share in journey.errors:
            if not text.startswith("HTTP "):
                broken[_socket_error(text)] += sent * share
        answered += sent * (1.0 - lost)
        failed += sent * max(1.0 - journey.ok - lost, 0.0)
        kind = (journey.latency, journey.deviation)
        parts[kind] = parts.get(kind, 0.0) + sent * (1.0 - lost)
    state, span = ctx.process.state, (ended - begun) / SECOND
    chance = Chance((ctx.world.streams.seed, "wrk2", begun))
    yield f"Running {span:.0f}s test @ http://{state['host']}:{state['port']}"
    yield f"  {state['threads']} threads and {state['connections']} connections"
    # The last answers of a round arrive after its end.
    count = max(round(answered - chance.unit("late") * min(3.0, answered)), 0)
    bad = min(round(failed), count)
    if count:
        yield from _latencies(parts, answered, span, count, state["threads"], chance)
    read = max(count - bad, 0) * ANSWER_BYTES + bad * ERROR_BYTES
    yield f"  {count} requests in {span:.2f}s, {_bytes(read)} read"
    refused, cut, slow = (round(number) for number in broken.values())
    if refused or cut or slow:
        yield f"  Socket errors: connect {refused}, read {cut}, write 0, timeout {slow}"
    if bad:
        yield f"  Non-2xx or 3xx responses: {bad}"
    yield f"Requests/sec: {count / span:9.2f}"
    yield f"Transfer/sec: {_bytes(read / span):>11}"


QUANTILES = (0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1.0)
"""As wrk2 prints them (``print_stats_latency``)."""
ANSWER_BYTES, ERROR_BYTES = 2150.0, 260.0
"""Assumed sizes of an answer and of an error, headers included."""


def _latencies(
    parts: Mapping[tuple[float, float], float],
    total: float,
    span: float,
    count: int,
    threads: int,
    chance: Chance,
) -> Iterator[str]:
    mixture = tuple((round(weight / total, 3), *kind) for kind, weight in parts.items() if weight > 0.0)
    borders, below, mean, spread = _mixture(mixture)
    noise = np.array([chance.normal(f"q{number}") for number in range(len(QUANTILES))])
    asked = np.array(QUANTILES)
    # The largest of n values lies about where one in n lies beyond.
    seen = np.clip(asked + noise * np.sqrt(asked * (1.0 - asked) / count), 0.0, 1.0 - 0.7 / count)
    found = np.interp(np.maximum.accumulate(seen), below, borders)
    middle = mean + chance.normal("mean") * spread / count**0.5
    within = np.interp([middle - spread, middle + spread], borders, below)
    yield "  Thread Stats   Avg      Stdev     99%   +/- Stdev"
    share = 100.0 * float(within[1] - within[0])
    yield f"    Latency   {_time(middle):>8}  {_time(spread):>8} {_time(found[3]):>8} {share:7.2f}%"
    rate = count / span / threads
    wobble = max(rate, 1.0) ** 0.5 * (1.0 + 0.1 * chance.normal("wobble"))
    most = rate + 2.3 * wobble
    yield f"    Req/Sec   {rate:8.2f}  {wobble:8.2f} {most:8.2f} {68.3 + 3.0 * chance.normal('within'):7.2f}%"
    yield "  Latency Distribution (HdrHistogram - Recorded Latency)"
    for quantile, value in zip(QUANTILES, found, strict=True):
        yield f" {quantile * 100:.3f}%  {_time(value):>8}"


@lru_cache(maxsize=256)
def _mixture(parts: tuple[tuple[float, float, float], ...]) -> tuple[Floats, Floats, float, float]:
    """(borders of bins in seconds, share below each, mean, standard deviation) of a mixture of (weight, mean, deviation)."""
    law = Law.mixed((weight, Law.gamma(mean, spread * spread)) for weight, mean, spread in parts)
    below = np.concatenate([[0.0], np.cumsum(law.mass)])
    below.flags.writeable = False
    return edges(), below, law.mean, law.variance**0.5


def _bytes(size: float) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 1024.0:
            return f"{size:.2f}{unit}"
        size /= 1024.0
    return f"{size:.2f}GB"


def _socket_error(text: str) -> str:
    """Which of wrk2's counters a failed connection adds to."""
    if "refused" in text or "no such host" in text:
        return "connect"
    return "read" if "reset" in text or "EOF" in text else "timeout"


def _time(value: float) -> str:
    """As wrk prints a time: three units, two digits."""
    if value < 0.001:
        return f"{value * 1e6:.2f}us"
    return f"{value * 1e3:.2f}ms" if value < 1.0 else f"{value:.2f}s"


def _spans(ctx: ProcessContext, begun: int, ended: int) -> Iterator[tuple[float, JourneyState]]:
    """(seconds, state) of every journey of its users in every stretch of the history."""
    app = ctx.world.app
    others = {each.name for each in app.journeys}
    others -= {each.name for each in app.at(ctx.process.namespace).journeys}
    for segment, held in window(ctx.world, begun, ended):
        for journey in segment.journeys:
            if journey.name not in others:
                yield held, journey
