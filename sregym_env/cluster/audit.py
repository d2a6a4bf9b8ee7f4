"""Who changed what: the account that a world may keep of the requests made to its API.

A cluster's own control loops write all the time, and what they write is nobody's doing. The embedded cluster tells
which objects somebody asked it to write; a cluster that keeps no such account cannot be asked.
"""

from __future__ import annotations

from typing import Protocol, cast

from sregym_env.cluster.api import World
from sregym_env.cluster.inventory import ObjectKey


class Audited(World, Protocol):
    """A world that keeps account."""

    def account(self) -> None:
        """From now on, account is kept of the objects that requests write; what was known is forgotten."""

    def written(self) -> tuple[ObjectKey, ...] | None:
        """Those objects, each once, in the order in which they were first written; None where nobody has asked for it.

        Requests of programs in pods, and of control loops, are left out.
        """


def audited(world: World) -> Audited | None:
    """The world as one that keeps account, or None if it does not."""
    kind = type(world)
    return cast(Audited, world) if hasattr(kind, "account") and hasattr(kind, "written") else None
