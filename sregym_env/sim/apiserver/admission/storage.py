"""DefaultStorageClass, StorageObjectInUseProtection and PersistentVolumeClaimResize."""

from __future__ import annotations

from sregym_env.kube import quantity
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld

CLASSES = "storageclasses.storage.k8s.io"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"


def default_class(world: SimWorld, resource: str, annotation: str) -> str:
    """The newest class that an annotation makes the default, by name among equals; empty if there is none."""
    found = [
        (known["metadata"]["creationTimestamp"], known["metadata"]["name"])
        for known in world.store.list(resource)
        if (known["metadata"].get("annotations") or {}).get(annotation) == "true"
    ]
    newest = max((created for created, _ in found), default="")
    return min((name for created, name in found if created == newest), default="")


def mutate_claim(world: SimWorld, request: Attributes, claim: Manifest, _old: Manifest | None) -> Manifest:
    """A new claim with the default class, where it names none, and its protecting finalizer."""
    if request.operation != "CREATE":
        return claim
    spec = claim["spec"]
    if spec.get("storageClassName") is None:
        name = default_class(world, CLASSES, DEFAULT_CLASS)
        if name:
            spec = {**spec, "storageClassName": name}
    return _protected({**claim, "spec": spec}, CLAIM_FINALIZER)


def mutate_volume(_world: SimWorld, request: Attributes, volume: Manifest, _old: Manifest | None) -> Manifest:
    """A new volume with its protecting finalizer."""
    return _protected(volume, VOLUME_FINALIZER) if request.operation == "CREATE" else volume


def validate_resize(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> None:
    """Raise Forbidden where a claim grows that may not."""
    if old is None or new["spec"] is old["spec"]:
        return
    sizes = [
        (obj["spec"].get("resources") or {}).get("requests", {}).get("storage", "0") for obj in (new, old)
    ]
    if quantity.compare(*sizes) <= 0:
        return
    if (old.get("status") or {}).get("phase") != "Bound":
        raise refused(request, new, "Only bound persistent volume claims can be expanded")
    name = new["spec"].get("storageClassName") or ""
    kind = world.store.get(CLASSES, "", name) if name else None
    if name != old["spec"].get("storageClassName") or kind is None or not kind.get("allowVolumeExpansion"):
        raise refused(
            request,
            new,
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
            "support resize",
        )


def _protected(obj: Manifest, finalizer: str) -> Manifest:
    known = obj["metadata"].get("finalizers", [])
    if finalizer in known:
        return obj
    return {**obj, "metadata": {**obj["metadata"], "finalizers": [*known, finalizer]}}
