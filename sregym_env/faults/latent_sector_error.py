"""A disk that returns read errors."""

from __future__ import annotations

from sregym_env.cluster.disturbances import DiskReadErrors
from sregym_env.cluster.edits import ObjectRef, RecreatePods
from sregym_env.cluster.targets import NodeTarget, nodes_with_volumes
from sregym_env.faults.commands import apply, await_rollout, delete, named, restart, scale
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
    dependents = tuple(dict.fromkeys(name for volume in target.volumes for name in volume.dependents))
    return Fault(
        resource=ObjectRef("nodes", target.node),
        cause=f"The data disk of node {target.node} has latent sector errors: {fraction:.0%} of reads fail with "
        f"input/output errors, which crashes the databases whose volumes lie there ({', '.join(target.components)}).",
        disturbances=[DiskReadErrors(target.node, fraction)],
        trigger=[RecreatePods(name) for name in (*target.components, *dependents)],
        details={"field": "disk", "wrong": f"{fraction:.0%} of reads return EIO"},
        facts={"node": target.node},
        remedies=[_move_away(target, dependents)],
        look=[
            *dict.fromkeys(f"kubectl get pods -n {volume.namespace} -o wide" for volume in target.volumes),
            "kubectl describe pv",
            *(
                f"kubectl logs {named(volume.workload)} -n {volume.namespace} --previous"
                for volume in target.volumes[:2]
            ),
        ],
        accepts=[ref for volume in target.volumes for ref in (volume.claim, volume.workload)],
        aliases=[target.node],
    )


def _move_away(target: NodeTarget, dependents: tuple[str, ...]) -> list[str]:
    """Close the node and make the claims anew: volumes come up elsewhere, where clients that start seed them."""
    claims = [volume.claim_manifest for volume in target.volumes if volume.claimed]
    return [
        f"kubectl cordon {target.node}",
        *(scale(volume.workload, 0) for volume in target.volumes),
        *(delete(volume.claim) for volume in target.volumes),
        *([apply(*claims)] if claims else []),
        *(scale(volume.workload, volume.replicas) for volume in target.volumes),
        *(await_rollout(volume.workload) for volume in target.volumes),
        *restart(target, dependents),
    ]
