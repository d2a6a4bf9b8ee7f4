"""ComponentStatus: what the API server hears when it asks the scheduler, the controller manager and etcd how they are.

The kind has been deprecated since v1.19 and is still served; its objects are never stored.
"""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld

_COMPONENTS = (
    ("controller-manager", "kube-controller-manager", "https://127.0.0.1:10257/healthz", "127.0.0.1:10257"),
    ("etcd-0", "etcd", "", "127.0.0.1:2379"),
    ("scheduler", "kube-scheduler", "https://127.0.0.1:10259/healthz", "127.0.0.1:10259"),
)
"""(name, component label of its static pod, address asked, address dialled)."""


def component_statuses(world: SimWorld) -> list[Manifest]:
    """The three of them, in name order."""
    return [_status(world, *row) for row in _COMPONENTS]


def _status(world: SimWorld, name: str, component: str, url: str, dialled: str) -> Manifest:
    condition = {"message": "ok", "status": "True", "type": "Healthy"}
    if not _runs(world, component):
        refused = f"dial tcp {dialled}: connect: connection refused"
        text = f'Get "{url}": {refused}' if url else refused
        condition = {"message": text, "status": "False", "type": "Healthy"}
    return {
        "apiVersion": "v1",
        "conditions": [condition],
        "kind": "ComponentStatus",
        "metadata": {"name": name},
    }


def _runs(world: SimWorld, component: str) -> bool:
    for pod in world.store.list("pods", "kube-system"):
        metadata = pod["metadata"]
        if (metadata.get("labels") or {}).get("component") != component:
            continue
        if any(key[0] == metadata["uid"] for key in world.processes):
            return True
    return False
