"""Machines that go down and come up again: what a reboot, planned or not, does to a node and its pods.

A machine without power is silent (:mod:`~sregym_env.sim.machines.heartbeats`) and runs nothing. When it is up
again its kubelet says so, and every container of every pod on it starts once more.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.runtime.clock import seconds
from sregym_env.sim.machines import heartbeats, nodes
from sregym_env.sim.machines.kubelet import reboots
from sregym_env.sim.world import Handler, SimWorld

OUTAGE = 75.0
"""Seconds from the shutdown of a virtual machine to its kubelet's start, where nothing else is said."""


def cut(world: SimWorld, name: str) -> None:
    """Take a machine's power away. Nothing happens to one that has none."""
    if f"node.down:{name}" in world.memory:
        return
    reboots.cut(world, name)
    heartbeats.fall_silent(world, name)
    world.touch()


def boot(world: SimWorld, name: str) -> None:
    """Let a machine without power start: a new boot ID, a Ready node, and all its pods' containers again."""
    if f"node.down:{name}" not in world.memory or world.store.get("nodes", "", name) is None:
        return
    world.memory[f"node.booted:{name}"] = world.now()
    reboots.recover(world, name)
    nodes.start(world, name)


def reboot(world: SimWorld, name: str, outage: float = OUTAGE) -> None:
    """Reboot a machine now: it is up again ``outage`` seconds later, which must pass before that shows.

    Below 50 s (the node monitor's grace period) nobody notices but by the restarts; above, the node is NotReady
    meanwhile, and above 5 min more its pods are evicted.
    """
    if f"node.down:{name}" not in world.memory:
        cut(world, name)
        world.after(seconds(outage), "machine.boot", name)


HANDLERS: Mapping[str, Handler] = {"machine.boot": boot}
