"""How much a process has served: integrals over the history of the traffic, computed where somebody looks."""

from __future__ import annotations

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.world.history import Load, history, window

Rate = tuple[float, float, float]
"""(begin, end, requests per second): seconds since the Unix epoch."""


def rates(ctx: ProcessContext, operation: str) -> list[Rate]:
    """The rate at which this run of the process has served an operation, piece by piece, oldest first."""
    process, end = ctx.process, ctx.now()
    found: list[Rate] = []
    until = end / SECOND
    for segment, length in window(ctx.world, process.started_at, end):
        for load in segment.loads:
            if load.process == process.key and load.restart == process.restart:
                rate = sum(rate for name, rate in load.rates if name == operation)
                if rate:
                    found.append((until - length, until, rate))
        until -= length
    return found[::-1]


def served(ctx: ProcessContext, operation: str) -> float:
    """How many requests of an operation this run of the process has served."""
    return sum((end - begin) * rate for begin, end, rate in rates(ctx, operation))


def answered(ctx: ProcessContext, since: int = 0) -> dict[str, tuple[float, float]]:
    """(served well, refused) of every operation that this run of the process was asked for, ``since`` a time."""
    process, end = ctx.process, ctx.now()
    found: dict[str, tuple[float, float]] = {}
    for segment, length in window(ctx.world, max(process.started_at, since), end):
        for load in segment.loads:
            if load.process == process.key and load.restart == process.restart:
                for name, rate in load.rates:
                    well, ill = found.get(name, (0.0, 0.0))
                    found[name] = (well + rate * length * load.ok, ill + rate * length * (1.0 - load.ok))
    return found


def present(ctx: ProcessContext) -> float:
    """Requests of all kinds per second that a program is sent now."""
    last = history(ctx.world).last()
    run = ctx.process.key, ctx.process.restart
    loads: tuple[Load, ...] = () if last is None else last.loads
    return sum(rate for load in loads if (load.process, load.restart) == run for _, rate in load.rates)
