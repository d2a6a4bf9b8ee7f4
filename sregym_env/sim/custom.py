"""What a world serves: the built-in resources and those of its CustomResourceDefinitions.

The registry follows from the stored definitions alone. It is kept by identity of the store's sorted list of
them, which forks share and every write of a definition replaces, so it costs nothing and is never stale.
"""

from __future__ import annotations

from sregym_env.kube import registry, status
from sregym_env.kube.registry import BUILTIN, Registry, Resource
from sregym_env.sim.world import SimWorld

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def registry_of(world: SimWorld) -> Registry:
    """Everything the world's API server serves now."""
    return registry.with_definitions(world.store.list(DEFINITIONS))


def resource_of(world: SimWorld, key: str) -> Resource:
    """The registry entry of a resource key, in its preferred version. Raises NotFound for what is not served."""
    found = BUILTIN.by_key(key)
    if found is None:
        found = registry_of(world).by_key(key)
        if found is None:
            raise status.unknown_path()
    return found


def find(world: SimWorld, key: str) -> Resource | None:
    """The registry entry of a resource key, or None where it is not served."""
    return BUILTIN.by_key(key) or registry_of(world).by_key(key)


def served(world: SimWorld, api_version: str, kind: str) -> Resource | None:
    """The resource in which objects of a kind are created, or None if the kind is not served."""
    found = BUILTIN.by_kind(api_version, kind)
    return found if found is not None else registry_of(world).by_kind(api_version, kind)
