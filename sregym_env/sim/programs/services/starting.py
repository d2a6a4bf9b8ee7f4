"""How a service starts: its steps one after the other, until one has to wait or it ends.

What a step writes or ends is dated by the time that has gone by since the last wait (:class:`~.steps.Pass`); the steps
themselves take no events, so that a healthy start costs one.
"""

from __future__ import annotations

import re

import orjson

from sregym_env.runtime import ids
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import consul
from sregym_env.sim.programs.services.drivers import DRIVERS
from sregym_env.sim.programs.services.peers import Registered, fixed, watched, watches
from sregym_env.sim.programs.services.settings import ServiceSettings
from sregym_env.sim.programs.services.steps import (
    NOTICED,
    End,
    Fill,
    Level,
    Open,
    Pass,
    Print,
    Reach,
    ReadConfig,
    ReadText,
    Register,
    Say,
    Start,
)
from sregym_env.sim.programs.services.values import config, filled_in, flattened, number, value
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import Call, Failure

FLUSH = 0.02
"""Seconds between the last words of a process and its end."""
LEAST_WAIT = 0.1
"""Seconds that a library waits at least before it tries again."""


def begin(ctx: ProcessContext, settings: ServiceSettings) -> None:
    """Start from the first step."""
    _Start(ctx, settings).run(0, 0)


def resume(ctx: ProcessContext, settings: ServiceSettings, reason: str) -> None:
    """Go on with the step that waited: ``start:<step>:<attempt>``."""
    kind, step, attempt = reason.split(":")
    if kind == "start":
        _Start(ctx, settings).run(int(step), int(attempt))


class _Start:
    def __init__(self, ctx: ProcessContext, settings: ServiceSettings) -> None:
        self.ctx = ctx
        self.settings = settings
        self.delay = 0.0
        """Seconds that have gone by since this run of steps began."""

    def run(self, first: int, attempt: int) -> None:
        """Take the steps from ``first``; the first of them for the ``attempt``-th time."""
        for index in range(first, len(self.settings.start)):
            if not self._take(self.settings.start[index], index, attempt if index == first else 0):
                return
        self._unwatched()

    def _unwatched(self) -> None:
        """What the client of a registry writes itself of names that it has no port left to watch."""
        for peer, (host, port) in watches(self.ctx, self.settings.peers):
            if watched(self.ctx, peer) or not isinstance(peer.address, Registered):
                continue
            address = next(iter(self.ctx.connect(host, port).resolution.addresses), host)
            url = f"http://{host}:{port}/v1/health/service/{peer.address.name}?passing=1"
            text = f'Get "{url}": dial tcp {address}:{port}: connect: cannot assign requested address'
            self._print(f"{{time|%Y/%m/%d %H:%M:%S}} lb: error retrieving instances from Consul: {text}")

    def _take(self, step: Start, index: int, attempt: int) -> bool:
        """Whether the start goes on at once."""
        match step:
            case Print(text):
                self.ctx.log(filled_in(self.ctx, text), delay=self.delay)
            case Say(level, where, text):
                self._say(level, where, filled_in(self.ctx, text))
            case Pass(passed):
                self.delay += passed
            case ReadConfig():
                return self._read(step)
            case ReadText():
                return self._read_text(step)
            case Reach():
                return self._reach(step, index, attempt)
            case Fill(peer, lost):
                known = self.settings.by_peer[peer]
                return self._went(DRIVERS[known.driver].fill(self.ctx, known), lost)
            case Open():
                return self._in_time(index) and self._open(step)
            case Register():
                return self._register(step)
        return True

    # --- what steps say -----------------------------------------------------------------------------

    def _say(self, level: Level, where: str, text: str) -> None:
        ctx, runtime = self.ctx, self.settings.runtime
        if not ctx.world.unread and runtime.says(level, ctx.process.env):
            self._print(runtime.line(level, where, text))

    def _print(self, template: str) -> None:
        self.ctx.log(stamped(template, self.ctx.wall() + seconds(self.delay)), delay=self.delay)

    def _went(self, failure: Failure | None, lost: End) -> bool:
        if failure is not None:
            self._end(lost, failure.text)
        return failure is None

    def _end(self, end: End, error: str) -> None:
        ctx, runtime = self.ctx, self.settings.runtime
        text = end.text.replace("{error}", error)
        if end.how == "fatal":
            self._say("fatal", end.where, text)
            ctx.exit(1, delay=self.delay + FLUSH)
            return
        self._print(runtime.panic(end.where, text, ""))
        ctx.exit(runtime.panics, delay=self.delay + FLUSH)

    # --- steps ----------------------------------------------------------------------------------------

    def _read(self, step: ReadConfig) -> bool:
        ctx = self.ctx
        try:
            text = ctx.read(step.path)
        except OSError:
            self._say(step.missing.level, step.missing.where, step.missing.text)
            ctx.exit(1)
            return False
        try:
            document = orjson.loads(text)
        except ValueError:
            # These programs ignore what the parser returns, and go on with what they have.
            document = None
        ctx.update(config={**flattened(document, step.strings), **self.settings.constant})
        return True

    def _read_text(self, step: ReadText) -> bool:
        ctx = self.ctx
        try:
            text = ctx.read(step.path)
        except OSError:
            self._end(step.missing, f'open() "{step.path}" failed (2: No such file or directory)')
            return False
        if step.found:
            found = ((key, re.search(expression, text)) for key, expression in step.found)
            ctx.update(config={**config(ctx), **{key: match[1] for key, match in found if match}})
        return True

    def _reach(self, step: Reach, index: int, attempt: int) -> bool:
        ctx = self.ctx
        peer = self.settings.by_peer[step.peer]
        failure = DRIVERS[peer.driver].reach(ctx, peer)
        if failure is None:
            return True
        if failure.kind == "auth" and step.lost is not None:
            self._end(step.lost, failure.text)
            return False
        for log in step.log:
            self._say(log.level, log.where, filled_in(ctx, log.text).replace("{error}", failure.text))
        lived = (ctx.now() - ctx.process.started_at) / SECOND
        if step.every:
            ctx.wake_in(step.every, f"start:{index}:{attempt + 1}")
        elif attempt < len(step.again) and lived < step.patience:
            ctx.wake_in(max(step.again[attempt] - lived, LEAST_WAIT), f"start:{index}:{attempt + 1}")
        elif step.lost is not None:
            self.delay += max(step.patience - lived, 0.0)
            self._end(step.lost, failure.text)
        return False

    def _in_time(self, index: int) -> bool:
        """Whether the time that has gone by is over: nobody is answered before."""
        if self.delay < NOTICED:
            return True
        self.ctx.wake_in(self.delay, f"start:{index}:0")
        return False

    def _open(self, step: Open) -> bool:
        ctx, runtime = self.ctx, self.settings.runtime
        if self.settings.slips:
            self._end(End("panic", step.unset.where), runtime.slip)
            return False
        port = number(value(ctx, step.port))
        if not port:
            self._end(step.unset, runtime.unset)
            return False
        try:
            ctx.listen(port, *step.more)
        except OSError:
            self._end(step.taken, runtime.taken(port))
            return False
        return True

    def _register(self, step: Register) -> bool:
        """As the registry's client for Go does."""
        ctx, port = self.ctx, number(value(self.ctx, step.port))
        id = ids.uid(ctx.world.streams)
        name, address = step.name, ctx.process.ip
        self._say(
            "info",
            step.where,
            f"Trying to register service [ name: {name}, id: {id}, address: {address}, port: {port} ]",
        )
        host, on = fixed(ctx, step.registry)
        failure = ctx.ask(host, on, Call("register"), step.patience)
        agent = None if failure else ctx.peer(host, on)
        if failure is None and (agent is None or agent.process.program != "consul"):
            failure = Failure("http", "Unexpected response code: 404 (404 page not found)", 404)
        if failure is not None or agent is None:
            reason = failure.text if failure is not None else "EOF"
            url = f"http://{host}:{on}/v1/agent/service/register"
            shown = reason if failure is not None and failure.kind == "http" else f'Put "{url}": {reason}'
            self._end(step.lost, shown)
            return False
        consul.register(agent, id, name, address, port)
        ctx.update(registration=id)
        return True
