"""Pod sandboxes: the network namespace and the address that a pod's containers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sregym_env.runtime.clock import seconds
from sregym_env.runtime.frozen import evolve
from sregym_env.sim.kubelet.state import PodRecord
from sregym_env.sim.kubelet.status import internal_ip
from sregym_env.sim.kubelet.sync import Sync

if TYPE_CHECKING:
    from sregym_env.sim.world import SimWorld

SETUP = (0.4, 1.1)
"""Seconds that mounting, pausing and wiring a pod take before its first container."""
READY = -1
"""``PodRecord.sandbox_at`` of a pod whose sandbox is up."""


def ensure(sync: Sync) -> bool:
    """Set up the sandbox; whether it is there."""
    record = sync.record
    if record.sandbox_at == READY:
        return True
    if record.sandbox_at == 0:
        due = sync.now + seconds(sync.chance(*SETUP))
        sync.record = evolve(record, sandbox_at=due)
        sync.look_again(due)
        return False
    if sync.now < record.sandbox_at:
        sync.look_again(record.sandbox_at)
        return False
    if sync.spec.get("hostNetwork"):
        ip = internal_ip(sync.world.store.get("nodes", "", record.node))
    else:
        ip = _address(sync.world, record.node)
    sync.record = evolve(record, sandbox_at=READY, ip=ip)
    return True


def _address(world: SimWorld, node: str) -> str:
    """The next free address of the node's range: in order, so that one is not soon used again."""
    manifest = world.store.get("nodes", "", node)
    cidr = "10.244.255.0/24" if manifest is None else manifest["spec"].get("podCIDR", "10.244.255.0/24")
    prefix = cidr.rsplit(".", 1)[0]
    taken = frozenset(
        record.ip
        for record in world.runtime.values()
        if isinstance(record, PodRecord) and record.node == node
    )
    slot = f"ipam:{node}"
    last = world.memory.get(slot, 1)
    for _ in range(253):
        last = 2 if last >= 254 else last + 1
        address = f"{prefix}.{last}"
        if address not in taken:
            world.memory[slot] = last
            return address
    return ""
