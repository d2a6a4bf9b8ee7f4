"""What the API server says of the APIs it serves and of its flow control."""

from __future__ import annotations

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld

API_SERVICES = "apiservices.apiregistration.k8s.io"
FLOW_SCHEMAS = "flowschemas.flowcontrol.apiserver.k8s.io"
PRIORITY_LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"


def local_api_service(
    world: SimWorld, group: str, version: str, minimum: int, priority: int, managed: str
) -> Manifest:
    """The APIService of an API that the API server serves itself; ``managed`` is ``onstart`` or ``true``."""
    condition = {
        "lastTransitionTime": rfc3339(world.now()),
        "message": "Local APIServices are always available",
        "reason": "Local",
        "status": "True",
        "type": "Available",
    }
    spec: Manifest = {"groupPriorityMinimum": minimum, "version": version, "versionPriority": priority}
    if group:
        spec["group"] = group
    return {
        "metadata": {
            "name": f"{version}.{group}",
            "labels": {"kube-aggregator.kubernetes.io/automanaged": managed},
        },
        "spec": spec,
        "status": {"conditions": [condition]},
    }


def dangling(level: str, exists: bool, since: str) -> Manifest:
    """The condition of a FlowSchema that says whether its priority level exists."""
    about = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}"'
    return {
        "lastTransitionTime": since,
        "message": f"{about} and it exists" if exists else f"{about} but there is no such object",
        "reason": "Found" if exists else "NotFound",
        "status": "False" if exists else "True",
        "type": "Dangling",
    }
