"""``ffmpeg`` that encodes without end and keeps what it makes: one file, or segments of a length with a wrap or without one.

What it reads does not matter here: its bit rate is what it was told (``-b:v``). A recording's bytes are counted and never made
(:mod:`sregym_env.sim.containers.spooling`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import spooling, view
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.image_tools import format_date
from sregym_env.sim.world.program import Usage

SEGMENT, DONE = "segment", "done"
"""Why it is woken: the next segment is due, it has made as much as it was told."""
SWITCHES = frozenset(
    "-hide_banner -nostdin -re -y -n -nostats -stats -an -vn -sn -dn -report -shortest -copyts".split()
)
"""Options without a value; all others have one."""
KEY_FRAMES = 10.0
"""Seconds between two key frames by libx264's own settings at 25 frames a second: a segment begins with one."""
LONGEST = 10.0 * 86_400 * 365
RATE = 200_000.0
"""Bits per second where nothing is said (``-b:v``)."""
LEAST, MOST = 10_000.0, 4e9
"""Bits per second that are made of what is asked for."""
_UNITS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_LENGTHS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
_NUMBER = re.compile(r"%(0?)(\d{0,2})d")


class Orders(NamedTuple):
    """What a command line asks for."""

    source: str
    output: str
    segmented: bool
    seconds: float
    """Of a segment, 0 where it never ends."""
    wrap: int
    """How many segments there are at most, the first ones written over; 0 for no bound."""
    first: int
    dated: bool
    """Whether segments are named after the time; these are never written over."""
    rate: float
    """Bytes per second."""
    lasts: float
    """Seconds after which it ends; 0 for never."""


class Ffmpeg(Quiet):
    """The encoder; ``settings`` of its binary are its version."""

    name = "ffmpeg"

    def start(self, ctx: ProcessContext) -> None:
        """Read the command line and begin the first file."""
        ctx.set_memory(90 * MIB)
        if ctx.over_limit:
            return
        orders = _orders(ctx.process.argv[1:])
        binary = ctx.image.binaries.get(ctx.process.binary)
        version = binary.settings if binary is not None and isinstance(binary.settings, str) else "7.1.1"
        if "-hide_banner" not in ctx.process.argv:
            ctx.log(f"ffmpeg version {version} Copyright (c) 2000-2025 the FFmpeg developers")
        if orders is None:
            ctx.log("At least one output file must be specified")
            ctx.exit(1)
            return
        ctx.log(f"Input #0, lavfi, from '{orders.source}':")
        kind = "segment" if orders.segmented else orders.output.rpartition(".")[2]
        ctx.log(f"Output #0, {kind}, to '{orders.output}':")
        ctx.update(orders=tuple(orders), made=0)
        if orders.segmented and not orders.dated and not _NUMBER.search(orders.output):
            ctx.log(f"[segment @ {_address(ctx)}] Invalid segment filename template '{orders.output}'")
            self._fail(ctx, "Invalid argument", -22)
            return
        if orders.lasts:
            ctx.wake_in(orders.lasts, DONE)
        self._next(ctx, orders)

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Begin the next segment; end where there is no room, or where as much was made as was asked for."""
        state = ctx.process.state
        if not state.get("orders"):
            return
        orders = Orders(*state["orders"])
        if reason == SEGMENT:
            ctx.update(made=state["made"] + 1)
            self._next(ctx, orders)
        elif reason == DONE:
            spooling.finish(ctx.world, ctx.process.key)
            ctx.exit(0)
        elif reason == spooling.NO_SPACE:
            self._fail(ctx, "No space left on device", -28)

    def _next(self, ctx: ProcessContext, orders: Orders) -> None:
        path = _path(orders, ctx.process.state["made"], ctx.now())
        if orders.segmented:
            ctx.log(f"[segment @ {_address(ctx)}] Opening '{path}' for writing")
        try:
            view.spool(ctx.world, ctx.process, path, orders.rate)
        except OSError as error:
            ctx.log(f"[out#0/segment @ {_address(ctx)}] Error opening output {path}: {error.strerror}")
            self._fail(ctx, str(error.strerror), -(error.errno or 1))
            return
        if orders.seconds and ctx.process.key in spooling.streams(ctx.world):
            ctx.wake_in(orders.seconds, SEGMENT)

    def _fail(self, ctx: ProcessContext, why: str, code: int) -> None:
        ctx.log(f"[out#0/segment @ {_address(ctx)}] Error muxing a packet")
        ctx.log(f"[out#0/segment @ {_address(ctx)}] Task finished with error code: {code} ({why})")
        ctx.log("Conversion failed!")
        ctx.update(orders=None)
        ctx.exit(code & 255, delay=0.5)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Close what is open and end, as on a signal."""
        ctx.log("Exiting normally, received signal 15.")
        return 0.4, 255

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A part of a core: most of the work is done by other hardware."""
        return Usage(0.12, ctx.process.memory)


def _address(ctx: ProcessContext) -> str:
    return f"0x55{keyed_bits('muxer', *ctx.process.key, ctx.process.restart) & 0xFFFFFFFFFF:010x}"


def _orders(words: Sequence[str]) -> Orders | None:
    """A command line as it is meant; None where it names no output."""
    said: dict[str, str] = {}
    output, index = "", 0
    while index < len(words):
        word = words[index]
        index += 1
        if not word.startswith("-"):
            output = word
        elif word not in SWITCHES:
            said[word] = words[index] if index < len(words) else ""
            index += 1
    if not output:
        return None
    segmented = said.get("-f", "") in ("segment", "stream_segment", "ssegment")
    length = _seconds(said.get("-segment_time", "2"), 2.0)
    bits = _amount(said.get("-b:v", said.get("-b", "")), RATE)
    return Orders(
        said.get("-i", "")[:400],
        output,
        segmented,
        max(-(-length // KEY_FRAMES) * KEY_FRAMES, KEY_FRAMES) if segmented else 0.0,
        whole(said.get("-segment_wrap", ""), 0),
        whole(said.get("-segment_start_number", ""), 0),
        said.get("-strftime", "0") not in ("0", "false"),
        min(max(bits, LEAST), MOST) / 8.0,
        _seconds(said.get("-t", ""), 0.0),
    )


def _amount(text: str, default: float) -> float:
    """A number with a unit, as ``8000k``."""
    digits = text.rstrip("kKMG")
    number = _decimal(digits)
    return default if number is None else number * _UNITS.get(text[len(digits) :], 1.0)


def _seconds(text: str, default: float) -> float:
    """A duration: ``60``, ``00:01:00`` or ``500ms``."""
    total = 0.0
    *clock, last = text.split(":")[:3] if text else [""]
    digits = last.rstrip("mus")
    parts = [*map(_decimal, clock), _decimal(digits)]
    for part in parts:
        if part is None:
            return default
        total = total * 60.0 + part
    return min(total * _LENGTHS.get(last[len(digits) :], 1.0), LONGEST)


def _decimal(text: str) -> float | None:
    before, _, after = text.partition(".")
    number = whole(before or ("0" if after else ""))
    fraction = whole(after[:6] or "0")
    return None if number is None or fraction is None else number + fraction / 10.0 ** len(after[:6] or "0")


def _path(orders: Orders, made: int, now: int) -> str:
    """Where a segment goes."""
    if not orders.segmented:
        return orders.output
    if orders.dated:
        return format_date(now, orders.output[:1000])
    number = orders.first + (made % orders.wrap if orders.wrap else made)
    return _NUMBER.sub(
        lambda found: str(number).rjust(int(found[2] or "0"), "0" if found[1] else " "),
        orders.output,
        count=1,
    )
