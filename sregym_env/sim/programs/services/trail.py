"""The requests of one operation on their way through its steps."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.flagd import resolve
from sregym_env.sim.programs.services.asides import Flagged, Remark
from sregym_env.sim.programs.services.drivers import DRIVERS
from sregym_env.sim.programs.services.protocols import UNAVAILABLE, grpc_code
from sregym_env.sim.programs.services.settings import ServiceSettings
from sregym_env.sim.programs.services.steps import (
    Ask,
    Compute,
    Handler,
    LookAside,
    Lost,
    Refuse,
    Say,
    Step,
    Together,
    When,
)
from sregym_env.sim.world.program import Failure, Flow


def served(ctx: ProcessContext, settings: ServiceSettings, handler: Handler) -> Flow:
    """What becomes of requests that a handler serves."""
    trail = _Trail(ctx, settings, handler.operation)
    trail.walk(handler.steps)
    return Flow(max(trail.alive, 0.0), trail.latency, tuple(trail.failures.items()))


class _Trail:
    """How many are still alive, how long they took, and why the others failed."""

    def __init__(
        self,
        ctx: ProcessContext,
        settings: ServiceSettings,
        operation: str,
        alive: float = 1.0,
        low: float = 0.0,
    ) -> None:
        self.ctx = ctx
        self.settings = settings
        self.operation = operation
        self.alive = alive
        self.low = low
        """Where the living begin; who dies is taken from their end."""
        self.latency = 0.0
        self.failures: dict[Failure, float] = {}

    def walk(self, steps: tuple[Step, ...]) -> None:
        """Send the living through steps, until there are none."""
        for step in steps:
            self._take(step)
            if self.alive <= 0.0:
                return

    def _take(self, step: Step) -> None:
        match step:
            case Compute(seconds):
                self.latency += self.alive * seconds
            case Ask():
                self._ask(step)
            case LookAside():
                self._look_aside(step)
            case Together(branches):
                self._together(branches)
            case When(variable, value, steps):
                if self.ctx.process.env.get(variable) == value:
                    self.walk(steps)
            case Refuse(answer, log):
                self._say(log, self.alive)
                self._lose(self.settings.wire.refused(answer), self.alive)
            case Remark(level, where, text):
                self._say(Say(level, where, text), self.alive)
            case Flagged():
                self._flagged(step)

    def _lose(self, failure: Failure, share: float) -> None:
        self.failures[failure] = self.failures.get(failure, 0.0) + share
        self.alive = max(self.alive - share, 0.0)

    def _say(self, log: Say | None, share: float, failure: Failure | None = None) -> None:
        runtime = self.settings.runtime
        if log is None or not runtime.says(log.level, self.ctx.process.env):
            return
        text = log.text
        if failure is not None:
            text = text.replace("{error}", failure.text).replace("{code}", grpc_code(failure))
        low = self.low + max(self.alive - share, 0.0)
        self.ctx.log_per_request(
            runtime.line(log.level, log.where, text), share=share, low=low, elapsed=self.latency
        )

    def _ask(self, ask: Ask) -> Flow:
        alive = self.alive
        peer = self.settings.by_peer[ask.peer]
        flow = DRIVERS[peer.driver].send(self.ctx, peer, ask, alive)
        self.latency += alive * flow.latency
        for failure, share in flow.failures:
            self._failed(ask.lost, failure, alive * share)
        if not flow.failures and flow.ok <= 0.0:
            self._failed(
                ask.lost, Failure("unavailable", UNAVAILABLE + "there is no address available"), alive
            )
        return flow

    def _failed(self, lost: Lost, failure: Failure, share: float) -> None:
        """Do to a share of the requests what their handler does about a failure."""
        self._say(lost.log, share, failure)
        match lost.then:
            case "error":
                self._lose(self.settings.wire.passed(failure, lost.answer), share)
            case "panic":
                text = lost.text.replace("{error}", failure.text)
                runtime = self.settings.runtime
                self.ctx.crash(runtime.panic(lost.where, text, self.operation), runtime.panics, share=share)
                self._lose(self.settings.wire.broken(), share)

    def _look_aside(self, step: LookAside) -> None:
        cache = self.settings.by_peer[step.cache.peer]
        driver = DRIVERS[cache.driver]
        self._ask(step.cache)
        if self.alive <= 0.0:
            return
        held = driver.holds(self.ctx, cache, step.cache.of)
        if held or (held is None and step.cache.lost.then != "ignore"):
            return
        self.walk(step.miss)
        if self.alive > 0.0:
            driver.keep(self.ctx, cache, step.cache.of)

    def _flagged(self, step: Flagged) -> None:
        """Send those through the steps for whom the flag is on."""
        peer = self.settings.by_peer[step.peer]
        found = resolve(self.ctx, peer, step.flag, step.default)
        often = step.part * max(float(found), 0.0) if isinstance(found, (bool, int, float)) else 0.0
        if often <= 0.0:
            return
        share = often if step.times else min(often, 1.0)
        low = self.low if step.times else self.low + self.alive * (1.0 - share)
        branch = _Trail(self.ctx, self.settings, self.operation, self.alive * share, low)
        branch.walk(step.steps)
        if step.times:
            return
        self.latency += branch.latency
        for failure, lost in branch.failures.items():
            self._lose(failure, lost)

    def _together(self, branches: tuple[tuple[Step, ...], ...]) -> None:
        """All branches are taken by everybody; a request lives if all of its branches do."""
        alive, slowest = self.alive, 0.0
        walk = self.ctx.evaluation()
        first = last = walk.at_stage()
        for steps in branches:
            walk.at_stage(first)
            branch = _Trail(self.ctx, self.settings, self.operation, alive, self.low)
            branch.walk(steps)
            slowest = max(slowest, branch.latency)
            for failure, share in branch.failures.items():
                # Who has failed in an earlier branch does not fail again.
                self._lose(failure, share * self.alive / alive)
            last = max(last, walk.at_stage())
        walk.at_stage(last)
        self.latency += slowest
