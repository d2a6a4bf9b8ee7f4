"""Memcached's text protocol, as somebody types it at its port: what it counts, and that it is there.

What clients have put into it is known by key spaces alone: each counts as one item, and its own keys cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.processes.context import ProcessContext

MOST = 200
"""Lines that one connection is answered."""
VERSION = "1.6.29"
"""Of images whose tag does not say."""
ITEM = 1024
"""Assumed bytes of one item, as they are counted."""

_RELEASE = re.compile(r":v?(1\.\d{1,3}\.\d{1,4})")


def answers(ctx: ProcessContext, text: str) -> str:
    """What the server answers to lines that were typed, until it is told to quit."""
    found: list[str] = []
    for line in text.splitlines()[:MOST]:
        words = line.split()
        if words[:1] == ["quit"]:
            break
        found += _answered(ctx, words)
    return "".join(f"{line}\r\n" for line in found)


def _answered(ctx: ProcessContext, words: Sequence[str]) -> Iterator[str]:
    match words:
        case ["version"]:
            yield f"VERSION {_version(ctx)}"
        case ["stats"]:
            yield from (f"STAT {name} {value}" for name, value in _counts(ctx))
            yield "END"
        case ["stats", "settings"]:
            yield from (f"STAT {name} {value}" for name, value in _settings(ctx))
            yield "END"
        case ["stats", "items" | "slabs" | "sizes"] | ["get" | "gets", _, *_]:
            yield "END"
        case ["flush_all", *_]:
            ctx.update(filled=())
            yield "OK"
        case ["delete" | "touch" | "incr" | "decr", _, *_]:
            yield "NOT_FOUND"
        case _:
            yield "ERROR"


def _version(ctx: ProcessContext) -> str:
    found = _RELEASE.search(ctx.process.image)
    return found[1] if found else VERSION


def _counts(ctx: ProcessContext) -> Iterator[tuple[str, object]]:
    ctx.unnoted()
    process, held = ctx.process, ctx.process.state.get("filled", ())
    figures = ctx.world.figures.container(process)
    # Whatever is in the cache was missed once.
    asked, items = int(figures.requests), len(held)
    missed = min(items, asked) if held else asked
    yield "pid", 1
    yield "uptime", max(ctx.now() - process.started_at, 0) // SECOND
    yield "time", ctx.wall() // SECOND
    yield "version", _version(ctx)
    yield "pointer_size", 64
    yield "rusage_user", f"{figures.cpu * 0.4:.6f}"
    yield "rusage_system", f"{figures.cpu * 0.6:.6f}"
    yield "max_connections", _option(ctx, "-c", "--conn-limit", 1024)
    yield "curr_connections", 2
    yield "rejected_connections", 0
    yield "cmd_get", asked
    yield "cmd_set", items
    yield "cmd_flush", 0
    yield "get_hits", asked - missed
    yield "get_misses", missed
    yield "get_expired", 0
    yield "bytes_read", int(figures.received)
    yield "bytes_written", int(figures.sent)
    yield "limit_maxbytes", _option(ctx, "-m", "--memory-limit", 64) * 1024 * 1024
    yield "accepting_conns", 1
    yield "threads", _option(ctx, "-t", "--threads", 4)
    yield "bytes", items * ITEM
    yield "curr_items", items
    yield "total_items", items
    yield "evictions", 0


def _settings(ctx: ProcessContext) -> Iterator[tuple[str, object]]:
    yield "maxbytes", _option(ctx, "-m", "--memory-limit", 64) * 1024 * 1024
    yield "maxconns", _option(ctx, "-c", "--conn-limit", 1024)
    yield "tcpport", _option(ctx, "-p", "--port", 11211)
    yield "evictions", "on"
    yield "num_threads", _option(ctx, "-t", "--threads", 4)
    yield "item_size_max", 1024 * 1024


def asked(argv: Sequence[str], short: str, long: str, usual: int) -> int:
    """A number of the command line, as ``-m 64``, ``-m64`` or ``--memory-limit=64``, read as C's ``atoi`` reads: 0 for what
    is none."""
    for index, word in enumerate(argv):
        if word in (short, long):
            return _number("".join(argv[index + 1 : index + 2]))
        if word.startswith(f"{long}="):
            return _number(word.partition("=")[2])
        if word.startswith(short) and not word.startswith("--"):
            return _number(word[2:])
    return usual


def _number(text: str) -> int:
    found = re.match(r"\s*\+?(\d{1,9})", text, re.ASCII)
    return int(found[1]) if found else 0


def refused(argv: Sequence[str]) -> str:
    """What it says of numbers with which it does not begin; empty where it does."""
    if not asked(argv, "-c", "--conn-limit", 1024):
        return "Maximum connections must be greater than 0"
    return "" if asked(argv, "-t", "--threads", 4) else "Number of threads must be greater than 0"


def _option(ctx: ProcessContext, short: str, long: str, usual: int) -> int:
    return asked(ctx.process.argv, short, long, usual)
