"""Services that are given work over a connection which they hold all the time: what they do and say when it goes.

The program of such a service asks for records and waits; it is its client library that notices the end of the connection,
writes of it, and tries again until there is somebody to connect to.
"""

from __future__ import annotations

from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.streams import keyed_unit
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.kafka import groups
from sregym_env.sim.programs.services.drivers import DRIVERS
from sregym_env.sim.programs.services.drivers.kafka import Consumer
from sregym_env.sim.programs.services.settings import ServiceSettings
from sregym_env.sim.programs.services.steps import Say
from sregym_env.sim.world.logs import stamped

STEP = 0.002
"""Seconds between two things that a client says of one event."""
LOST = "lost"
"""In the state of a consumer: since when it has had no broker, microseconds since the Unix epoch; 0 while it has one."""


def attend(ctx: ProcessContext, settings: ServiceSettings) -> tuple[tuple[float, str], ...]:
    """Notice whether the broker is still there. What is written until it is back: lines per second, and each with a place for its
    time."""
    wanted = groups.subscription(ctx.process)
    found = [(peer, DRIVERS[peer.driver]) for peer in settings.peers]
    for peer, driver in found:
        if wanted is None or not isinstance(driver, Consumer):
            continue
        there, lost = groups.attended(ctx), ctx.process.state.get(LOST, 0)
        if there:
            if lost:
                _say(ctx, settings, driver.returned(ctx, peer))
                ctx.update(**{LOST: 0})
            return ()
        why = driver.trouble(ctx, peer)
        if not lost:
            _say(ctx, settings, driver.parted(ctx, peer, why, (ctx.now() - wanted.since) / SECOND))
            ctx.update(**{LOST: ctx.now()})
        if why is None:
            return ()
        return tuple(
            (1.0 / every, _line(settings, said))
            for every, said in driver.missing(ctx, peer, why)
            if settings.runtime.says(said.level, ctx.process.env)
        )
    return ()


def _say(ctx: ProcessContext, settings: ServiceSettings, several: tuple[Say, ...]) -> None:
    if ctx.world.unread:
        return
    passed = 0.3 * keyed_unit(*ctx.process.key, ctx.now())
    for said in several:
        passed += STEP
        if settings.runtime.says(said.level, ctx.process.env):
            ctx.log(stamped(_line(settings, said), ctx.wall() + seconds(passed)), delay=passed)


def _line(settings: ServiceSettings, said: Say) -> str:
    """A line that belongs to no request."""
    line = settings.runtime.line(said.level, said.where, said.text)
    if "{trace_id}" not in line:
        return line
    return line.replace("{trace_id}", "").replace("{span_id}", "").replace("trace_flags=01", "trace_flags=")
