""".NET, with the console logger of ``Microsoft.Extensions.Logging``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level

_SHORT = {"debug": "dbug", "info": "info", "warning": "warn", "error": "fail", "fatal": "crit"}


@dataclass(frozen=True, slots=True)
class DotNet(Uncollected):
    """A managed process; what nobody catches ends it with ``abort``."""

    stops: tuple[float, int] = (0.3, 0)
    """The host takes SIGTERM for the end of its application."""
    at_rest: float = 0.003
    per_step: float = 0.0002
    panics: int = 134

    @property
    def slip(self) -> str:
        """What the common language runtime says."""
        return "System.NullReferenceException: Object reference not set to an instance of an object."

    @property
    def unset(self) -> str:
        """What Kestrel says of an address without a port."""
        return "System.FormatException: Invalid url: 'http://*:'"

    def taken(self, port: int) -> str:
        """As Kestrel says it."""
        return f"System.IO.IOException: Failed to bind to address http://[::]:{port}: address already in use."

    def line(self, level: Level, where: str, text: str) -> str:
        """``info: cart.cartstore.ValkeyCartStore[0]`` and the message below it; without a category what a program writes
        to the console itself."""
        return f"{_SHORT[level]}: {where}[0]\n      {text}" if where else text

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """From information on."""
        return level != "debug"

    def panic(self, where: str, text: str, operation: str) -> str:
        """What the runtime prints of an exception that nobody has caught."""
        return f"Unhandled exception. {text}\n   at {where}"
