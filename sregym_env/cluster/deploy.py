"""Bringing an application up through the API, on any world."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.app import App
from sregym_env.errors import AppError
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest

LIMIT = 900.0
"""Seconds in which an application must become available."""

DEFINITION_LIMIT = 30.0
"""Seconds in which a definition of custom resources must be served."""

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"

LOOK_SECONDS = 5.0
"""How often it is looked at meanwhile."""


class Backend(Protocol):
    """Where episodes can be played: it makes worlds."""

    def deploy(self, app: App, seed: int) -> World:
        """A world in which ``app`` is available and its users are served. Raises AppError where that fails.

        A backend that has one cluster gives the same world again, made anew as far as the application is concerned.
        """


def deploy(world: World) -> None:
    """Create what the world's application consists of and wait until it is available. Raises AppError."""
    for manifest in world.app.manifests:
        create(world, manifest)
    await_available(world)


def create(world: World, manifest: Manifest) -> None:
    """Create one object; a definition of custom resources is awaited until it is served. Raises AppError."""
    app, name = world.app.name, manifest["metadata"]["name"]
    try:
        made = world.cluster.create(manifest)
    except StatusError as error:
        raise AppError(
            f"application {app}: {manifest['kind']} {name} is refused: {error}; correct the manifest"
        ) from error
    waited = 0.0
    while made["kind"] == "CustomResourceDefinition" and not _is_served(made):
        if waited >= DEFINITION_LIMIT:
            raise AppError(
                f"application {app}: {name} is not served after {waited:.0f} s; see its conditions"
            )
        world.advance(1.0)
        waited += 1.0
        made = world.cluster.get(DEFINITIONS, name)


def _is_served(definition: Manifest) -> bool:
    conditions = definition.get("status", {}).get("conditions") or ()
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def await_available(world: World, limit: float = LIMIT) -> None:
    """Let time pass until every workload of the application is available. Raises AppError."""
    world.advance(LOOK_SECONDS)
    waited = LOOK_SECONDS
    while missing := [
        name for namespace in world.app.namespaces for name in unavailable(world.cluster, namespace)
    ]:
        if waited > limit:
            raise AppError(
                f"application {world.app.name} is not available after {waited:.0f} s: {', '.join(missing)}; correct "
                f"its manifests and images. Its pods say: {'; '.join(_complaints(world)) or 'nothing'}"
            )
        world.advance(LOOK_SECONDS)
        waited += LOOK_SECONDS


def unavailable(cluster: Cluster, namespace: str) -> list[str]:
    """Names of the Deployments, StatefulSets and DaemonSets of a namespace that are not fully available."""
    found = []
    for resource in ("deployments.apps", "statefulsets.apps"):
        for obj in cluster.list(resource, namespace):
            status = obj.get("status", {})
            # Until the controller has seen the object, its status tells of an older one or of nothing.
            observed = status.get("observedGeneration", 0) == obj["metadata"]["generation"]
            if not observed or status.get("availableReplicas", 0) < obj["spec"].get("replicas", 1):
                found.append(obj["metadata"]["name"])
    for obj in cluster.list("daemonsets.apps", namespace):
        status = obj.get("status", {})
        if status.get("numberAvailable", 0) < status.get("desiredNumberScheduled", 1):
            found.append(obj["metadata"]["name"])
    return found


_MOST_COMPLAINTS = 5


def _complaints(world: World) -> list[str]:
    """What pods that are not ready wait for, and the last lines that they wrote."""
    found = []
    for pod in [pod for namespace in world.app.namespaces for pod in world.cluster.list("pods", namespace)]:
        name, namespace, status = pod["metadata"]["name"], pod["metadata"]["namespace"], pod.get("status", {})
        conditions = {c["type"]: c for c in status.get("conditions") or ()}
        if conditions.get("Ready", {}).get("status") == "True" or status.get("phase") == "Succeeded":
            continue
        states = [c.get("state", {}) for c in status.get("containerStatuses") or ()]
        reasons = [s["waiting"].get("reason", "") for s in states if "waiting" in s]
        said = [conditions.get("PodScheduled", {}).get("message", ""), *reasons]
        with suppress(StatusError):
            said.append(world.cluster.logs(namespace, name, tail=1).strip())
        found.append(f"{name}: {', '.join(filter(None, said)) or status.get('phase', 'Pending')}")
    return found[:_MOST_COMPLAINTS]
