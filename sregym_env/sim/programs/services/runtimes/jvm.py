"""The JVM: Java and Kotlin, with log4j2 in the form that the services' ``log4j2.xml`` gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level

_SHORT = {"debug": "DEBUG", "info": "INFO", "warning": "WARN", "error": "ERROR", "fatal": "FATAL"}


@dataclass(frozen=True, slots=True)
class Jvm(Uncollected):
    """A virtual machine with its shutdown hooks; what nobody catches ends the main thread."""

    main: str
    """The class with ``main``, such as ``oteldemo.AdService``."""
    source: str
    """The file it is in, such as ``AdService.java``."""
    stops: tuple[float, int] = (0.4, 143)
    """Shutdown hooks run, and the status is the signal's."""
    at_rest: float = 0.004
    """Its garbage collector and its compiler are never quite at rest."""
    per_step: float = 0.0002
    panics: int = 1

    @property
    def slip(self) -> str:
        """What the virtual machine says."""
        return 'java.lang.NullPointerException: Cannot invoke "java.util.Map.isEmpty()" because "<local3>" is null'

    @property
    def unset(self) -> str:
        """As the services check their environment."""
        return "java.lang.IllegalStateException: environment vars: port must not be null"

    def taken(self, port: int) -> str:
        """As Netty's server says it."""
        return (
            f"java.io.IOException: Failed to bind to address 0.0.0.0/0.0.0.0:{port}\n"
            "Caused by: io.netty.channel.unix.Errors$NativeIoException: bind(..) failed: Address already in use"
        )

    def line(self, level: Level, where: str, text: str) -> str:
        """``2026-08-06 12:00:00 - oteldemo.AdService - text trace_id=… span_id=… trace_flags=01``; from warnings on with
        the level."""
        severity = "" if level in ("info", "debug") else f"{_SHORT[level]} "
        head = f"{{time|%Y-%m-%d %H:%M:%S}} - {severity}{where or self.main} - {text}"
        return f"{head} trace_id={{trace_id}} span_id={{span_id}} trace_flags=01"

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """From information on."""
        return level != "debug"

    def panic(self, where: str, text: str, operation: str) -> str:
        """The default handler's trace of an exception that nobody has caught."""
        thread = "grpc-default-executor-0" if operation else "main"
        return f'Exception in thread "{thread}" {text}\n\tat {self.main}.{where or "main"}({self.source})'
