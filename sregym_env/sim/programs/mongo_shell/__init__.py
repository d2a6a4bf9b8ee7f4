"""``mongo``, the legacy shell of MongoDB 4.4, and the other client tools of the image."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.sim.programs.mongo_shell.client import greeting, mongo, reply, run
from sregym_env.sim.programs.mongo_shell.tools import mongodump, mongostat
from sregym_env.sim.world.program import Command

COMMANDS: Mapping[str, Command] = {"mongo": mongo, "mongodump": mongodump, "mongostat": mongostat}
"""Client programs of the image by name."""

__all__ = ["COMMANDS", "greeting", "reply", "run"]
