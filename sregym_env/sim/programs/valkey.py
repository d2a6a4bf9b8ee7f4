"""``valkey-server``: Redis' successor under the Linux Foundation, with the same protocol and its own names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sregym_env.sim.programs.redis import Redis, client
from sregym_env.sim.world.program import Command


class Valkey(Redis):
    """The server; ``settings`` of its binary hold its version."""

    name = "valkey"
    account = "valkey"
    """The user to whom the image's entrypoint steps down."""
    marks = ("*", "*")
    ready = "Ready to accept connections tcp"

    @property
    def commands(self) -> Mapping[str, Command]:
        """``valkey-cli``, also under its old name. Without a terminal replies are printed raw."""
        command = partial(client, program="Valkey")
        return {"valkey-cli": command, "redis-cli": command}
