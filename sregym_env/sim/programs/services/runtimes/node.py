"""Node.js: what is written to its console, and the trace of an error that nobody has caught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level

VERSION = "v22.21.1"


@dataclass(frozen=True, slots=True)
class Node(Uncollected):
    """One thread and its event loop; as process 1 it stops when its handler of SIGTERM says so."""

    prefix: str = ""
    """What stands before every line of its logger."""
    stops: tuple[float, int] = (0.1, 0)
    at_rest: float = 0.003
    per_step: float = 0.0003
    panics: int = 1

    @property
    def slip(self) -> str:
        """What V8 says."""
        return "TypeError: Cannot read properties of undefined (reading 'bind')"

    @property
    def unset(self) -> str:
        """What Node's network library says of a port that is none."""
        return "RangeError [ERR_SOCKET_BAD_PORT]: options.port should be >= 0 and < 65536. Received type number (NaN)."

    def taken(self, port: int) -> str:
        """As ``listen`` fails."""
        return f"Error: listen EADDRINUSE: address already in use 0.0.0.0:{port}"

    def line(self, level: Level, where: str, text: str) -> str:
        """What is handed to the console, and an error's trace: ``where`` is its innermost frame."""
        return f"{self.prefix}{text}" + (f"\n    at {where}" if where else "")

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """From information on."""
        return level != "debug"

    def panic(self, where: str, text: str, operation: str) -> str:
        """An error that reached the event loop."""
        return f"node:internal/process/promises:394\n      triggerUncaughtException(err, true);\n      ^\n\n{text}\n    at {where}\n\nNode.js {VERSION}"
