"""NamespaceLifecycle: nothing is created in a namespace that is missing or going away."""

from __future__ import annotations

from sregym_env.kube import registry, status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld


def validate(world: SimWorld, resource: Resource, new: Manifest) -> None:
    """Raise NotFound for a missing namespace and Forbidden for one that is being terminated."""
    if not resource.namespaced:
        return
    namespace = new["metadata"]["namespace"]
    found = world.store.get("namespaces", "", namespace)
    if found is None:
        kind = registry.by_key("namespaces")
        assert kind is not None
        raise status.not_found(kind, namespace)
    if "deletionTimestamp" in found["metadata"]:
        text = f"unable to create new content in namespace {namespace} because it is being terminated"
        raise status.forbidden_admission(resource, new["metadata"]["name"], text)
