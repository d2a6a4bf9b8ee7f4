"""``psql`` as a container's main process."""

from __future__ import annotations

from sregym_env.sim.programs.defaults import Quiet


class Psql(Quiet):
    """Runs a script against a server, and ends."""

    name = "psql"
