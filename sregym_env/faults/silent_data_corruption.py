"""A disk that brings other bytes than were written, and says nothing of it."""

from __future__ import annotations

from sregym_env.cluster.disturbances import DiskCorruption
from sregym_env.cluster.edits import ObjectRef, RecreatePods
from sregym_env.cluster.targets import NodeTarget, nodes_with_volumes
from sregym_env.faults.disks import dependents, move_away, traces
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault


@fault(layer="hardware", mechanism="disk_corrupts_data", targets=nodes_with_volumes(), level="hard")
def silent_data_corruption(
    target: NodeTarget,
    fraction: float = drawn(
        lambda target, chance: round(chance.uniform("fraction", 0.15, 0.9), 2), published=1.0
    ),
) -> Fault:
    """A share of the reads from a node's data disk bring other bytes than were written, without an error.

    What databases have in memory goes on; a block that is read back has a wrong checksum, and they abort. The kernel and the
    disk's own figures know of no failed read. The data must move to a healthy node.
    """
    return Fault(
        resource=ObjectRef("nodes", target.node),
        cause=f"The data disk of node {target.node} silently corrupts data: {fraction:.0%} of reads bring other bytes than were "
        f"written, so the checksums of the databases whose volumes lie there do not match and they abort ({', '.join(target.components)}).",
        disturbances=[DiskCorruption(target.node, fraction)],
        trigger=[RecreatePods(name) for name in (*target.components, *dependents(target))],
        details={"field": "disk", "wrong": f"{fraction:.0%} of reads are corrupted"},
        facts={"node": target.node},
        remedies=[move_away(target)],
        look=traces(target),
        accepts=[ref for volume in target.volumes for ref in (volume.claim, volume.workload)],
        aliases=[target.node],
    )
