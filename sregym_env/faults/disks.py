"""What faults of a node's data disk have in common: the way out is another disk."""

from __future__ import annotations

from sregym_env.cluster.targets import NodeTarget
from sregym_env.faults.commands import apply, await_rollout, delete, named, restart, scale


def dependents(target: NodeTarget) -> tuple[str, ...]:
    """Components that need what lies on the node when they start."""
    return tuple(dict.fromkeys(name for volume in target.volumes for name in volume.dependents))


def move_away(target: NodeTarget) -> list[str]:
    """Close the node and make the claims anew: volumes come up elsewhere, where clients that start seed them."""
    claims = [volume.claim_manifest for volume in target.volumes if volume.claimed]
    return [
        f"kubectl cordon {target.node}",
        *(scale(volume.workload, 0) for volume in target.volumes),
        *(delete(volume.claim) for volume in target.volumes),
        *([apply(*claims)] if claims else []),
        *(scale(volume.workload, volume.replicas) for volume in target.volumes),
        *(await_rollout(volume.workload) for volume in target.volumes),
        *restart(target, dependents(target)),
    ]


def traces(target: NodeTarget) -> list[str]:
    """Command lines that show where the data lie, and what those who read them said last."""
    return [
        *dict.fromkeys(f"kubectl get pods -n {volume.namespace} -o wide" for volume in target.volumes),
        "kubectl describe pv",
        *(
            f"kubectl logs {named(volume.workload)} -n {volume.namespace} --previous"
            for volume in target.volumes[:2]
        ),
    ]
