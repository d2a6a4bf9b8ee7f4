"""A machine that is gone, with the data that lie on it."""

from __future__ import annotations

from sregym_env.cluster.disturbances import NodeDown
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.targets import NodeTarget, nodes_with_volumes
from sregym_env.faults.commands import apply, await_rollout, delete, restart, scale
from sregym_env.faults.disks import set_free
from sregym_env.faults.fault import Fault, fault


@fault(layer="hardware", mechanism="node_down", targets=nodes_with_volumes(), level="hard")
def node_without_power(target: NodeTarget) -> Fault:
    """A machine has gone down for good: its kubelet is silent, and the databases whose volumes lie there have no pods.

    Nothing has been changed. What has no volume moves to other nodes after five minutes; the data must be made anew
    on a node that is there.
    """
    dependents = tuple(dict.fromkeys(name for volume in target.volumes for name in volume.dependents))
    # A registry that has moved has forgotten everybody.
    registries = [each.name for each in target.app.components if each.kind == "registry"]
    registered = [each.name for name in registries for each in target.app.dependents(name, "start")]
    claims = [volume.claim_manifest for volume in target.volumes if volume.claimed]
    spaces = dict.fromkeys(volume.namespace for volume in target.volumes)
    return Fault(
        resource=ObjectRef("nodes", target.node),
        cause=f"Node {target.node} is down: its machine has no power and its kubelet has stopped reporting (NotReady). The "
        f"databases whose volumes are local to it ({', '.join(target.components)}) cannot run anywhere else.",
        disturbances=[NodeDown(target.node)],
        details={"field": "node", "wrong": "NotReady"},
        facts={"node": target.node},
        remedies=[
            [
                f"kubectl cordon {target.node}",
                *(scale(volume.workload, 0) for volume in target.volumes),
                *(
                    f"kubectl delete pods -n {space} --field-selector spec.nodeName={target.node} --force --grace-period=0"
                    for space in spaces
                ),
                *(delete(volume.claim) for volume in target.volumes),
                *set_free(target),
                *([apply(*claims)] if claims else []),
                *(scale(volume.workload, volume.replicas) for volume in target.volumes),
                *(await_rollout(volume.workload) for volume in target.volumes),
                *restart(target, dict.fromkeys((*dependents, *registered))),
            ]
        ],
        look=["kubectl get nodes", f"kubectl describe node {target.node}", "kubectl describe pv"],
        accepts=[ref for volume in target.volumes for ref in (volume.claim, volume.workload)],
        aliases=[target.node],
    )
