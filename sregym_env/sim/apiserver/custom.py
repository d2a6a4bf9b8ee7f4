"""What a world serves: the built-in resources and those of its CustomResourceDefinitions.

The registry follows from the stored definitions alone. It is kept by identity of the store's sorted list of
them, which forks share and every write of a definition replaces, so it costs nothing and is never stale.
"""

from __future__ import annotations

from sregym_env.kube import registry, status, validation
from sregym_env.kube.defaults import apply_defaults
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.registry import BUILTIN, Registry, Resource
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld

_API_SERVICES = "apiservices.apiregistration.k8s.io"
_METRICS = "v1beta1.metrics.k8s.io"
"""The registration without which there is no metrics API."""

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"

PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml")
"""The patch formats that custom resources know."""


def registry_of(world: SimWorld) -> Registry:
    """Everything the world's API server serves now."""
    found = registry.with_definitions(world.store.list(DEFINITIONS))
    if aggregated(world):
        return found
    return registry.without_group(found, "metrics.k8s.io")


def aggregated(world: SimWorld) -> bool:
    """Whether the metrics API is registered; in a world without any registrations it is."""
    if world.store.get(_API_SERVICES, "", _METRICS) is not None:
        return True
    return not world.store.list(_API_SERVICES)


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


def is_custom(key: str) -> bool:
    """Whether a resource key is not that of a built-in resource."""
    return BUILTIN.by_key(key) is None


def served(world: SimWorld, api_version: str, kind: str) -> Resource | None:
    """The resource in which objects of a kind are created, or None if the kind is not served."""
    found = BUILTIN.by_kind(api_version, kind)
    return found if found is not None else registry_of(world).by_kind(api_version, kind)


def version_of(world: SimWorld, key: str, obj: Manifest) -> Resource:
    """The registry entry of a resource key in the version that an object is written in. Raises NotFound."""
    kind = resource_of(world, key)
    if kind.custom and obj.get("apiVersion") != kind.api_version:
        found = registry_of(world).by_kind(str(obj.get("apiVersion") or ""), kind.kind)
        return kind if found is None or found.key != kind.key else found
    return kind


# --- definitions -----------------------------------------------------------------------------------

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that keeps a definition until its objects are gone."""


def doomed(crd: Manifest, now: int) -> Manifest:
    """A definition at the first request to delete it: its objects must go first."""
    metadata = crd["metadata"]
    if "deletionTimestamp" in metadata:
        return crd
    finalizers = [*(metadata.get("finalizers") or ())]
    if CLEANUP not in finalizers:
        finalizers.append(CLEANUP)
    text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    terminating = condition("Terminating", "True", "InstanceDeletionPending", text, now)
    found = crd.get("status") or {}
    conditions = with_condition(found.get("conditions") or [], terminating)
    return {
        **crd,
        "metadata": {**metadata, "finalizers": finalizers},
        "status": {**found, "conditions": conditions},
    }


def condition(type_: str, value: str, reason: str, message: str, now: int) -> Manifest:
    """A condition of a definition."""
    return {
        "lastTransitionTime": rfc3339(now),
        "message": message,
        "reason": reason,
        "status": value,
        "type": type_,
    }


def with_condition(conditions: list[Manifest], new: Manifest) -> list[Manifest]:
    """Conditions with one set in its place (``SetCRDCondition``); the very same list where nothing changes."""
    for index, known in enumerate(conditions):
        if known["type"] == new["type"]:
            if all(known.get(key) == new[key] for key in ("status", "reason", "message")):
                return conditions
            if known["status"] == new["status"]:
                new = {**new, "lastTransitionTime": known["lastTransitionTime"]}
            return [*conditions[:index], new, *conditions[index + 1 :]]
    return [*conditions, new]


def is_terminating(crd: Manifest) -> bool:
    """Whether a definition is on its way out (condition ``Terminating``)."""
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Terminating" and c["status"] == "True" for c in conditions)


def refuse_while_terminating(world: SimWorld, kind: Resource) -> None:
    """Raise MethodNotAllowed for a new object of a definition that is being deleted."""
    crd = world.store.get(DEFINITIONS, "", kind.key)
    if crd is not None and is_terminating(crd):
        text = "create not allowed while custom resource definition is terminating"
        raise status.StatusError(405, "MethodNotAllowed", text, {"group": kind.group, "kind": kind.plural})


# --- objects ---------------------------------------------------------------------------------------


def with_status(kind: Resource, before: Manifest, new: Manifest) -> Manifest:
    """A custom object, as it is served, with the status of another; the very same where nothing changes.

    Raises Invalid.
    """
    made = {key: value for key, value in before.items() if key != "status"}
    if "status" in new:
        made["status"] = new["status"]
    made = apply_defaults(kind, made)
    if made == before:
        return before
    errors = validation.validate_update(kind, made, before)
    if errors:
        raise status.invalid(kind, before["metadata"]["name"], errors)
    return made
