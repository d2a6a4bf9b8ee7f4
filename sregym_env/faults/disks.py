"""What faults of a node's data disk have in common: the way out is another disk."""

from __future__ import annotations

from collections.abc import Iterator

from sregym_env.cluster.targets import NodeTarget
from sregym_env.faults.commands import apply, await_rollout, delete, drop, named, restart, scale

_HOST = "kubernetes.io/hostname"


def dependents(target: NodeTarget) -> tuple[str, ...]:
    """Components that need what lies on the node when they start."""
    return tuple(dict.fromkeys(name for volume in target.volumes for name in volume.dependents))


def set_free(target: NodeTarget) -> Iterator[str]:
    """Patches that let stores go elsewhere which somebody has bound by name to the machine that holds their data."""
    for volume in target.volumes:
        terms = volume.template_declares(
            "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
        )
        asked = [wish for term in terms or () for wish in term.get("matchExpressions", ())]
        bound = {
            volume.template_path("nodeSelector", _HOST.replace("/", "~1")): target.node
            == volume.template_declares("nodeSelector", _HOST),
            volume.template_path("affinity", "nodeAffinity"): any(
                wish["key"] == _HOST and wish.get("values") == [target.node] for wish in asked
            ),
        }
        if paths := [path for path, is_bound in bound.items() if is_bound]:
            yield drop(volume.workload, *paths)


def move_away(target: NodeTarget) -> list[str]:
    """Close the node and make the claims anew: volumes come up elsewhere, where clients that start seed them."""
    claims = [volume.claim_manifest for volume in target.volumes if volume.claimed]
    return [
        f"kubectl cordon {target.node}",
        *(scale(volume.workload, 0) for volume in target.volumes),
        *(delete(volume.claim) for volume in target.volumes),
        *set_free(target),
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
