"""Python, with the standard library's ``logging`` in the form that OpenTelemetry's correlation gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level

_LEVELS = {"debug": "DEBUG", "info": "INFO", "warning": "WARNING", "error": "ERROR", "fatal": "CRITICAL"}


@dataclass(frozen=True, slots=True)
class Python(Uncollected):
    """An interpreter; what nobody catches ends it with a traceback."""

    service: str
    """Its name in the correlated fields."""
    root: str = "/app"
    stops: tuple[float, int] = (0.1, 143)
    at_rest: float = 0.003
    per_step: float = 0.0004
    panics: int = 1

    @property
    def slip(self) -> str:
        """What the interpreter says."""
        return "AttributeError: 'NoneType' object has no attribute 'add_insecure_port'"

    @property
    def unset(self) -> str:
        """As the services look up what they cannot do without."""
        return "Exception: environment variable is not set"

    def taken(self, port: int) -> str:
        """As gRPC's server says it."""
        return f"RuntimeError: Failed to bind to address [::]:{port}; set GRPC_VERBOSITY=debug environment variable to see detailed error message."

    def line(self, level: Level, where: str, text: str) -> str:
        """``2026-08-06 12:00:00,123 INFO [main] [recommendation_server.py:47] [trace_id=… span_id=…
        resource.service.name=… trace_sampled=True] - text``."""
        return (
            f"{{time|%Y-%m-%d %H:%M:%S,%L}} {_LEVELS[level]} [main] [{where}] [trace_id={{trace_id}} span_id={{span_id}} "
            f"resource.service.name={self.service} trace_sampled=True] - {text}"
        )

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """From information on."""
        return level != "debug"

    def panic(self, where: str, text: str, operation: str) -> str:
        """A traceback; ``where`` is ``file.py:line``."""
        file, _, line = where.partition(":")
        return f'Traceback (most recent call last):\n  File "{self.root}/{file}", line {line or 1}, in <module>\n{text}'
