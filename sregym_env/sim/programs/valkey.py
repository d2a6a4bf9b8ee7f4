"""``valkey-server``: Redis under another name."""

from __future__ import annotations

from sregym_env.sim.programs.redis import Redis


class Valkey(Redis):
    """The server; ``settings`` of its binary hold its version."""

    name = "valkey"
