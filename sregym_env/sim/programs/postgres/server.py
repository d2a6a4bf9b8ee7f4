"""``postgres``: the server."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet


class Postgres(Quiet):
    """The server; ``settings`` of its binary hold its version."""

    name = "postgres"

    def start(self, ctx: ProcessContext) -> None:
        """Listen."""
        ctx.set_memory(30 * MIB)
        if not ctx.over_limit:
            ctx.listen(5432)
