"""PHP's command line interpreter with ReactPHP's server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level


@dataclass(frozen=True, slots=True)
class Php(Uncollected):
    """An interpreter with an event loop of its own."""

    stops: tuple[float, int] = (0.05, 143)
    at_rest: float = 0.001
    per_step: float = 0.0002
    panics: int = 255

    @property
    def slip(self) -> str:
        """What the interpreter says."""
        return "TypeError: rtrim(): Argument #1 ($string) must be of type string, null given"

    @property
    def unset(self) -> str:
        """What ReactPHP says of an address without a port."""
        return 'InvalidArgumentException: Invalid URI "tcp://0.0.0.0:" given (EINVAL)'

    def taken(self, port: int) -> str:
        """As ReactPHP says it."""
        return f'RuntimeException: Failed to listen on "tcp://0.0.0.0:{port}": Address already in use (EADDRINUSE)'

    def line(self, level: Level, where: str, text: str) -> str:
        """``[2026-08-06T12:00:00.000000+00:00] app.ERROR: text``: Monolog's line."""
        return f"[{{time|%Y-%m-%dT%H:%M:%S.%f}}+00:00] app.{level.upper()}: {text}"

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """Its logger writes to OpenTelemetry alone; only what ends it reaches the console."""
        return level == "fatal"

    def panic(self, where: str, text: str, operation: str) -> str:
        """A fatal error with the beginning of its trace."""
        return f"PHP Fatal error:  Uncaught {text} in {where}\nStack trace:\n#0 {{main}}\n  thrown in {where}"
