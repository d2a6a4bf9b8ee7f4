"""What languages have in common whose garbage collector, if any, costs too little to be told from the requests' own work."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.sim.dataplane.network import Collector


class Uncollected:
    """No collector to speak of."""

    __slots__ = ()

    def collector(self, env: Mapping[str, str], memory: int) -> Collector | None:
        """None, whatever the environment says."""
        return None
