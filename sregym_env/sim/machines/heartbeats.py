"""The heartbeats of machines: from when on a kubelet says nothing, and who is to notice.

Heartbeats are not events: a machine is silent while ``world.memory["node.down:<name>"]`` is set (the time since
when, microseconds, or True for "just now").
"""

from __future__ import annotations

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.world import SimWorld

JUDGE = "nodelifecycle"
"""The control loop that judges them."""
GRACE = 50 * SECOND
"""--node-monitor-grace-period of v1.32."""


def fall_silent(world: SimWorld, name: str) -> None:
    """A machine's heartbeats stop now."""
    world.memory[f"node.down:{name}"] = world.now()
    world.wake(JUDGE, ("", name), GRACE)


def come_back(world: SimWorld, name: str) -> None:
    """A machine's heartbeats start again; its kubelet says itself that it is ready."""
    world.memory.pop(f"node.down:{name}", None)
    world.memory.pop(f"node.silent:{name}", None)
    world.wake(JUDGE, ("", name), 0)
