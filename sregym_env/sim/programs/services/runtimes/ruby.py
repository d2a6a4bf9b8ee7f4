"""Ruby: Sinatra on Puma."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level


@dataclass(frozen=True, slots=True)
class Ruby(Uncollected):
    """An interpreter and Puma's threads."""

    stops: tuple[float, int] = (0.2, 0)
    """Puma stops gracefully."""
    at_rest: float = 0.001
    per_step: float = 0.0004
    panics: int = 1

    @property
    def slip(self) -> str:
        """What the interpreter says."""
        return "undefined method 'to_sym' for nil (NoMethodError)"

    @property
    def unset(self) -> str:
        """What ``ENV[...]`` leaves of a port that is not there."""
        return "'Integer': can't convert nil into Integer (TypeError)"

    def taken(self, port: int) -> str:
        """As Puma says it."""
        return f'Address already in use - bind(2) for "0.0.0.0" port {port} (Errno::EADDRINUSE)'

    def line(self, level: Level, where: str, text: str) -> str:
        """What is put out, as it is."""
        return text

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """From information on."""
        return level != "debug"

    def panic(self, where: str, text: str, operation: str) -> str:
        """A backtrace, innermost frame first."""
        return f"/email_server/{where}:in '<main>': {text}"
