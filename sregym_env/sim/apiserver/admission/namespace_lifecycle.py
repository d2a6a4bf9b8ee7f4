"""NamespaceLifecycle: nothing is created in a namespace that is missing or going away; three namespaces stay."""

from __future__ import annotations

from sregym_env.kube import registry, status
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld

IMMORTAL = frozenset(("default", "kube-system", "kube-public"))
"""Namespaces that nobody may delete."""

_REVIEWS = "localsubjectaccessreviews.authorization.k8s.io"
"""Questions about access may be asked for namespaces that do not exist."""

_NAMESPACES = registry.by_key("namespaces")
assert _NAMESPACES is not None


def validate(world: SimWorld, request: Attributes, new: Manifest | None) -> None:
    """Raise NotFound for a missing namespace and Forbidden for one that is being terminated or must stay."""
    namespace = request.namespace
    if request.operation == "DELETE":
        if request.resource.key == "namespaces" and request.name in IMMORTAL:
            raise refused(request, new, "this namespace may not be deleted")
        return
    if request.operation != "CREATE" or not request.resource.namespaced or request.resource.key == _REVIEWS:
        return
    found = world.store.get("namespaces", "", namespace)
    if found is None:
        assert _NAMESPACES is not None
        raise status.not_found(_NAMESPACES, namespace)
    if "deletionTimestamp" in found["metadata"]:
        text = f"unable to create new content in namespace {namespace} because it is being terminated"
        error = refused(request, new, text)
        error.details["causes"] = [
            {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
        ]
        raise error
