"""Bringing an application up through the API, on any world."""

from __future__ import annotations

from typing import Protocol

from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.app import App
from sregym_env.errors import ClusterError

LIMIT = 900.0
"""Seconds in which an application must become available."""

LOOK_SECONDS = 5.0
"""How often it is looked at meanwhile."""


class Backend(Protocol):
    """Where episodes can be played: it makes worlds."""

    def deploy(self, app: App, seed: int) -> World:
        """A world in which ``app`` is available and its users are served. Raises ClusterError where that fails.

        A backend that has one cluster gives the same world again, made anew as far as the application is concerned.
        """


class DeployError(ClusterError):
    """An application did not become available: its declaration, the cluster or the simulation is wrong."""


def deploy(world: World) -> None:
    """Create what the world's application consists of and wait until it is available. Raises DeployError."""
    for manifest in world.app.manifests:
        world.cluster.create(manifest)
    await_available(world)


def await_available(world: World, limit: float = LIMIT) -> None:
    """Let time pass until every workload of the application is available. Raises DeployError."""
    world.advance(LOOK_SECONDS)
    waited = LOOK_SECONDS
    while missing := unavailable(world.cluster, world.app.namespace):
        if waited > limit:
            raise DeployError(f"{world.app.name} is not available after {waited:.0f} s: {', '.join(missing)}")
        world.advance(LOOK_SECONDS)
        waited += LOOK_SECONDS


def unavailable(cluster: Cluster, namespace: str) -> list[str]:
    """Names of the Deployments, StatefulSets and DaemonSets of a namespace that are not fully available."""
    found = []
    for resource in ("deployments.apps", "statefulsets.apps"):
        for obj in cluster.list(resource, namespace):
            status = obj.get("status", {})
            observed = status.get("observedGeneration", 0) == obj["metadata"]["generation"]
            if not observed or status.get("availableReplicas", 0) < obj["spec"].get("replicas", 1):
                found.append(obj["metadata"]["name"])
    for obj in cluster.list("daemonsets.apps", namespace):
        status = obj.get("status", {})
        if status.get("numberAvailable", 0) < status.get("desiredNumberScheduled", 1):
            found.append(obj["metadata"]["name"])
    return found
