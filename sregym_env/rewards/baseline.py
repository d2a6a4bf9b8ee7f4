"""What the oracle remembers of the healthy system, taken before the fault strikes.

Only references to stored objects are kept: objects are immutable, so a baseline costs a few lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.cluster.api import World
from sregym_env.kube.types import Manifest

ObjectKey = tuple[str, str, str]
"""(resource, namespace or "", name)."""

WORKLOADS = ("deployments.apps", "statefulsets.apps", "daemonsets.apps")

NAMESPACED = (
    *WORKLOADS,
    "services",
    "configmaps",
    "secrets",
    "persistentvolumeclaims",
    "serviceaccounts",
    "jobs.batch",
    "cronjobs.batch",
    "networkpolicies.networking.k8s.io",
    "resourcequotas",
    "limitranges",
    "poddisruptionbudgets.policy",
    "horizontalpodautoscalers.autoscaling",
    "ingresses.networking.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
)
"""Kinds whose baseline objects must survive a repair, in the application's and the system's namespaces."""

CLUSTER_SCOPED = (
    "namespaces",
    "nodes",
    "storageclasses.storage.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
)

SYSTEM_NAMESPACES = ("kube-system",)

WINDOW_SECONDS = 60.0
"""How long users are watched before a journey is believed to be healthy."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The healthy system: its objects, which Services had ready backends, and what users did."""

    namespace: str
    objects: Mapping[ObjectKey, Manifest]
    backed: frozenset[tuple[str, str]]
    """(namespace, name) of the Services with at least one ready endpoint."""
    offered: Mapping[str, float]
    """Requests per second that users offered, by journey."""


def capture(world: World) -> Baseline:
    """Take the baseline of a world that is healthy now."""
    namespace = world.app.namespace
    objects = dict(protected_objects(world))
    health = world.traffic.health(WINDOW_SECONDS)
    return Baseline(
        namespace=namespace,
        objects=objects,
        backed=frozenset(ready_services(world, namespace)),
        offered={journey.journey: journey.requests / WINDOW_SECONDS for journey in health},
    )


def protected_objects(world: World) -> list[tuple[ObjectKey, Manifest]]:
    """Every object a repair must not lose, with its key, in a stable order."""
    found: list[tuple[ObjectKey, Manifest]] = []
    for resource in CLUSTER_SCOPED:
        found.extend(((resource, "", _name(obj)), obj) for obj in world.cluster.list(resource))
    for namespace in (world.app.namespace, *SYSTEM_NAMESPACES):
        for resource in NAMESPACED:
            listed = world.cluster.list(resource, namespace)
            found.extend(((resource, namespace, _name(obj)), obj) for obj in listed)
    return found


def ready_services(world: World, namespace: str) -> list[tuple[str, str]]:
    """(namespace, name) of the Services that have a ready endpoint."""
    ready = []
    for slice_ in world.cluster.list("endpointslices.discovery.k8s.io", namespace):
        name = slice_["metadata"].get("labels", {}).get("kubernetes.io/service-name", "")
        if name and any(_is_ready(endpoint) for endpoint in slice_.get("endpoints") or ()):
            ready.append((namespace, name))
    return sorted(set(ready))


def _is_ready(endpoint: Manifest) -> bool:
    return (endpoint.get("conditions") or {}).get("ready", True) is not False


def _name(obj: Manifest) -> str:
    name: str = obj["metadata"]["name"]
    return name
