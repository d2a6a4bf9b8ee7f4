"""A pod's directories on its machine, which a kubelet makes before anything else."""

from __future__ import annotations

from sregym_env.runtime.clock import seconds
from sregym_env.sim.machines.kubelet.sync import Sync
from sregym_env.sim.world.figures import read_only

RETRY = seconds(12)
"""Time between attempts (the pod worker's back-off of 10 s with its jitter)."""


def ensure(sync: Sync) -> bool:
    """Make them; whether they are there. Pods that were there before the disk went bad have theirs."""
    record = sync.record
    if record.mounted or record.sandbox_at != 0 or read_only(record.node) not in sync.world.memory:
        return True
    text = f"mkdir /var/lib/kubelet/pods/{record.uid}: read-only file system"
    sync.event("Warning", "Failed", f"error making pod data directories: {text}")
    sync.look_again(sync.now + RETRY)
    return False
