"""What most programs have in common: they ignore wake-ups, speak no HTTP and add no commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.world.program import (
    PLENTY,
    Call,
    Capacity,
    Command,
    Flow,
    HttpRequest,
    HttpResponse,
    Usage,
)

MIB = 1024 * 1024
NEVER = 86_400.0
"""Seconds that are longer than any grace period: a process that ignores SIGTERM."""


ONCE = "once"
"""Key of a process's state: that it serves one connection and no more, as ``nc -l`` without ``-k``; its value is how many
waits of its script are over with that."""

CLOSED = "closed"
"""Why one is woken that serves once: somebody has come and gone."""


class Quiet:
    """A program that stays up, uses little and answers every call at once."""

    name = "quiet"

    def start(self, ctx: ProcessContext) -> None:
        """Begin."""
        ctx.set_memory(2 * MIB)

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Nothing was deferred."""

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Answer within half a millisecond."""
        return Flow(1.0, 0.0005)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Speak no HTTP."""
        return None

    def typed(self, ctx: ProcessContext, text: str, port: int) -> str:
        """Keep silent."""
        return ""

    def certificate(self, ctx: ProcessContext, port: int) -> str:
        """Speak no TLS."""
        return ""

    def handshake_failed(self, ctx: ProcessContext, client: str, text: str) -> None:
        """Say nothing of clients that go away."""

    def learned(self, ctx: ProcessContext, what: Any) -> None:
        """Remember nothing of what it serves."""

    def attend(self, ctx: ProcessContext) -> tuple[tuple[float, str], ...]:
        """Hold no connection that it would miss."""
        return ()

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Exit cleanly on SIGTERM."""
        return 0.2, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A milli-core at rest, a tenth of a millisecond of CPU per request."""
        return Usage(0.001 + 0.0001 * sum(rates.values()), ctx.process.memory)

    def capacity(self, ctx: ProcessContext) -> Capacity:
        """Whatever its CPU can carry."""
        return PLENTY

    @property
    def commands(self) -> Mapping[str, Command]:
        """None of its own."""
        return {}
