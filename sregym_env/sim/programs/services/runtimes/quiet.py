"""Go and C++ services whose loggers speak to OpenTelemetry alone: only what ends them reaches the console."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.go import SIGNAL
from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level


@dataclass(frozen=True, slots=True)
class QuietGo(Uncollected):
    """Go with ``slog`` bridged to OpenTelemetry."""

    file: str = "/usr/src/app/main.go"
    stops: tuple[float, int] = (0.05, 0)
    """A handler of SIGTERM stops the server gracefully."""
    at_rest: float = 0.001
    per_step: float = 0.0001
    panics: int = 2

    @property
    def slip(self) -> str:
        """What the runtime says."""
        return "runtime error: invalid memory address or nil pointer dereference"

    @property
    def unset(self) -> str:
        """As ``mustMapEnv`` panics."""
        return "environment variable not set"

    def taken(self, port: int) -> str:
        """As ``net.Listen`` says it."""
        return f"TCP Listen: listen tcp :{port}: bind: address already in use"

    def line(self, level: Level, where: str, text: str) -> str:
        """``2026/08/06 12:00:00 ERROR text``: slog's default handler, before and after OpenTelemetry."""
        return f"{{time|%Y/%m/%d %H:%M:%S}} {'ERROR' if level == 'fatal' else level.upper()} {text}"

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """What is said before an exit."""
        return level == "fatal"

    def panic(self, where: str, text: str, operation: str) -> str:
        """Go's panic and the trace of its goroutine."""
        routine = 214 if operation else 1
        frame = operation.rpartition("/")[2] if operation else ""
        function = f"main.(*server).{frame}(...)" if frame else "main.main()"
        signal = f"\n{SIGNAL}" if text == self.slip else ""
        return f"panic: {text}{signal}\n\ngoroutine {routine} [running]:\n{function}\n\t{self.file}:{where or 1} +0x1c5"


@dataclass(frozen=True, slots=True)
class QuietCpp(Uncollected):
    """C++ with OpenTelemetry's logger."""

    stops: tuple[float, int] = (0.05, 143)
    at_rest: float = 0.0005
    per_step: float = 0.00005
    panics: int = 139

    @property
    def slip(self) -> str:
        """What the standard library says of a locale that the image does not have."""
        return "locale::facet::_S_create_c_locale name not valid"

    @property
    def unset(self) -> str:
        """Its usage, as a port is its argument."""
        return "Usage: currency <port>"

    def taken(self, port: int) -> str:
        """As gRPC's server says it."""
        return f"No address added out of total 1 resolved for '0.0.0.0:{port}'"

    def line(self, level: Level, where: str, text: str) -> str:
        """What is written to the console."""
        return text

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """What is said at the start goes to the console, the rest to OpenTelemetry."""
        return level in ("info", "fatal")

    def panic(self, where: str, text: str, operation: str) -> str:
        """What the C++ library prints of an exception that nobody has caught."""
        return f"terminate called after throwing an instance of 'std::runtime_error'\n  what():  {text}"
