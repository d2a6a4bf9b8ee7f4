"""OpenResty: nginx whose locations are Lua."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level

_SHORT = {"debug": "debug", "info": "info", "warning": "warn", "error": "error", "fatal": "emerg"}


@dataclass(frozen=True, slots=True)
class OpenResty(Uncollected):
    """A master and its workers; errors of Lua are lines of the error log."""

    stops: tuple[float, int] = (0.1, 0)
    """On SIGTERM nginx ends at once, and cleanly."""
    at_rest: float = 0.001
    per_step: float = 0.0001
    panics: int = 1

    @property
    def slip(self) -> str:
        """What nginx says of a module that was not built in."""
        return 'unknown directive "opentracing_propagate_contexts" in /usr/local/openresty/nginx/conf/nginx.conf:11'

    @property
    def unset(self) -> str:
        """What nginx says of a directive without a port."""
        return 'invalid number of arguments in "listen" directive'

    def taken(self, port: int) -> str:
        """As ``bind`` fails."""
        return f"bind() to 0.0.0.0:{port} failed (98: Address already in use)"

    def line(self, level: Level, where: str, text: str) -> str:
        """``2026/08/06 12:00:00 [error] 7#7: *123 [lua] compose.lua:62: text``; of nginx itself without a position."""
        head = f"{{time|%Y/%m/%d %H:%M:%S}} [{_SHORT[level]}] 7#7: "
        return f"{head}*1 [lua] {where}: {text}" if where else f"{head}{text}"

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """From warnings on, as the error log is set."""
        return level in ("warning", "error", "fatal")

    def panic(self, where: str, text: str, operation: str) -> str:
        """A master that cannot start prints an emergency."""
        return f"nginx: [emerg] {text}"
