"""A disk that returns read errors."""

from __future__ import annotations

from sregym_env.cluster.disturbances import DiskReadErrors
from sregym_env.cluster.edits import ObjectRef, RecreatePods
from sregym_env.cluster.targets import NodeTarget, nodes_with_volumes
from sregym_env.faults.disks import dependents, move_away, traces
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault


@fault(layer="hardware", mechanism="disk_read_errors", targets=nodes_with_volumes(), level="hard")
def latent_sector_error(
    target: NodeTarget,
    fraction: float = drawn(
        lambda target, chance: round(chance.uniform("fraction", 0.15, 0.6), 2), published=0.3
    ),
) -> Fault:
    """A share of the reads from a node's data disk fail with input/output errors.

    Databases whose volumes lie on the node crash as soon as they read them back; no object in the cluster
    is wrong. The data must move to a healthy node.
    """
    return Fault(
        resource=ObjectRef("nodes", target.node),
        cause=f"The data disk of node {target.node} has latent sector errors: {fraction:.0%} of reads fail with "
        f"input/output errors, which crashes the databases whose volumes lie there ({', '.join(target.components)}).",
        disturbances=[DiskReadErrors(target.node, fraction)],
        trigger=[RecreatePods(name) for name in (*target.components, *dependents(target))],
        details={"field": "disk", "wrong": f"{fraction:.0%} of reads return EIO"},
        facts={"node": target.node},
        remedies=[move_away(target)],
        look=traces(target),
        accepts=[ref for volume in target.volumes for ref in (volume.claim, volume.workload)],
        aliases=[target.node],
    )
