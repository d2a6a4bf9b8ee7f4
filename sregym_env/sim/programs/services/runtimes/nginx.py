"""nginx without Lua."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.openresty import OpenResty
from sregym_env.sim.programs.services.steps import Level


@dataclass(frozen=True, slots=True)
class Nginx(OpenResty):
    """As OpenResty, with plain messages."""

    def line(self, level: Level, where: str, text: str) -> str:
        """A request's line goes out as it is; the error log's has nginx's head."""
        return text if level == "info" else OpenResty.line(self, level, "", text)

    def says(self, level: Level, env: object) -> bool:
        """The access log, and the error log from notices on."""
        return level != "debug"
