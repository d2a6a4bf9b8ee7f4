"""Pod sandboxes: the network namespace and the address that a pod's containers share."""

from __future__ import annotations

from sregym_env.runtime.clock import seconds
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import pids
from sregym_env.sim.machines.kubelet import process_numbers
from sregym_env.sim.machines.kubelet.state import PodRecord
from sregym_env.sim.machines.kubelet.status import internal_ip
from sregym_env.sim.machines.kubelet.sync import Sync
from sregym_env.sim.network.local_ports import RANGE, sysctls, taken_as
from sregym_env.sim.world import SimWorld, interfaces

SETUP = (0.4, 1.1)
"""Seconds that mounting, pausing and wiring a pod take before its first container."""
HANDLERS = ("", "runc")
"""Runtimes that the nodes' containerd is configured for."""
RETRY = seconds(12)
"""Time between attempts to make a sandbox (the kubelet's back-off period of 10 s and what a sync takes)."""
READY = -1
"""``PodRecord.sandbox_at`` of a pod whose sandbox is up."""


def ensure(sync: Sync) -> bool:
    """Set up the sandbox; whether it is there."""
    record = sync.record
    if record.sandbox_at == READY:
        return True
    problem = _no_runtime(sync)
    if problem:
        sync.event("Warning", "FailedCreatePodSandBox", f"Failed to create pod sandbox: {problem}")
        sync.look_again(sync.now + RETRY)
        return False
    problem = (_refused(sync) or _no_process(sync)) if 0 < record.sandbox_at <= sync.now else ""
    if problem:
        sync.event("Warning", "FailedCreatePodSandBox", f"Failed to create pod sandbox: {problem}")
        sync.look_again(sync.now + RETRY)
        return False
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
        interfaces.wire(sync.world, record.node, record.uid)
    most = process_numbers.of_pods(sync.world, record.node)
    if most:
        pids.allow(sync.world, record.uid, most)
    sync.record = evolve(record, sandbox_at=READY, ip=ip)
    return True


def _no_runtime(sync: Sync) -> str:
    """Why containerd has no runtime for the pod's class; empty where it has."""
    name = sync.spec.get("runtimeClassName")
    if not name:
        return ""
    found = sync.world.store.get("runtimeclasses.node.k8s.io", "", name)
    if found is None:
        return f'runtimeclass.node.k8s.io "{name}" not found'
    handler = found.get("handler", "")
    if handler in HANDLERS:
        return ""
    what = f'failed to get sandbox runtime: no runtime for "{handler}" is configured'
    return f"rpc error: code = Unknown desc = {what}"


def _refused(sync: Sync) -> str:
    """What the kernel refuses of the settings that the pod brings for its network namespace; empty where it takes all."""
    if "securityContext" not in sync.spec:
        return ""
    value = sysctls({"spec": sync.spec}).get(RANGE)
    if value is None or taken_as(value) is not None:
        return ""
    where = f"write sysctl key {RANGE}: write /proc/sys/{RANGE.replace('.', '/')}: invalid argument"
    return (
        "rpc error: code = Unknown desc = failed to start sandbox: failed to create containerd task: failed to create shim task: OCI "
        f"runtime create failed: runc create failed: unable to start container process: error during container init: {where}: unknown"
    )


def _no_process(sync: Sync) -> str:
    """What containerd says where the machine has no process left for the pod's shim; empty where it has."""
    world, record = sync.world, sync.record
    if not pids.full(world, record.node):
        return ""
    # Every attempt has another name.
    name = "".join(f"{keyed_bits('sandbox', record.uid, world.clock, part):016x}" for part in range(4))
    return (
        f'rpc error: code = Unknown desc = failed to start sandbox "{name}": failed to create containerd task: failed to start shim: '
        "fork/exec /usr/bin/containerd-shim-runc-v2: resource temporarily unavailable: unknown"
    )


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
