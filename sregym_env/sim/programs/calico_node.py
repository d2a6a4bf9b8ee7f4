"""``calico-node``: says how large the packets of a machine's new pods may be, by what its environment says when it starts."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.servers import Daemon
from sregym_env.sim.world import interfaces


class CalicoNode(Daemon):
    """The process of its DaemonSet on one machine."""

    name = "calico_node"

    def start(self, ctx: ProcessContext) -> None:
        """Write the MTU of new pods beside the configuration of the CNI (``writeMTUFile`` of Felix)."""
        super().start(ctx)
        mtu = interfaces.told(ctx.process.env.get("FELIX_IPINIPMTU", ""))
        interfaces.set_up(ctx.world, ctx.process.node, mtu)
