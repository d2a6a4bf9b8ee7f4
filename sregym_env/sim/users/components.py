"""Which workload a pod belongs to: the component an engineer would name."""

from __future__ import annotations

from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld

_OWNERS = {
    "ReplicaSet": "replicasets.apps",
    "Job": "jobs.batch",
}


def app_of(world: SimWorld) -> App | None:
    """The deployed application, or None on a bare cluster."""
    try:
        return world.app
    except LookupError:
        return None


def workload_of(world: SimWorld, pod: Manifest) -> tuple[str, str]:
    """(kind, name) of the topmost controller of a pod; ``("Pod", name)`` for a pod of its own."""
    metadata = pod["metadata"]
    owner = _controller(metadata)
    if owner is None:
        return "Pod", metadata["name"]
    resource = _OWNERS.get(owner[0])
    if resource is not None:
        middle = world.store.get(resource, metadata.get("namespace", ""), owner[1])
        above = None if middle is None else _controller(middle["metadata"])
        if above is not None:
            return above
        if middle is None and owner[0] == "ReplicaSet":
            # The ReplicaSet may be gone before its last pods are.
            suffix = (metadata.get("labels") or {}).get("pod-template-hash")
            if suffix and owner[1].endswith("-" + suffix):
                return "Deployment", owner[1][: -len(suffix) - 1]
    return owner


def _controller(metadata: Manifest) -> tuple[str, str] | None:
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("controller"):
            return owner["kind"], owner["name"]
    return None
