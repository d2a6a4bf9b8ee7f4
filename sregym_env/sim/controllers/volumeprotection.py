"""Protection of storage in use: claims wait for their pods, volumes for their claims.

Follows ``pkg/controller/volume/{pvc,pv}protection`` of v1.32. Admission adds the finalizers; these loops take
them away when nothing uses the object any more.
"""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.controllers.volumebinding import CLAIMS, VOLUMES, claims_of, consumers
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"


def _is_held(obj: Manifest | None, finalizer: str) -> bool:
    if obj is None:
        return False
    metadata = obj["metadata"]
    return "deletionTimestamp" in metadata and finalizer in (metadata.get("finalizers") or ())


def _let_go(world: SimWorld, resource: str, obj: Manifest, finalizer: str) -> None:
    metadata = obj["metadata"]
    rest = [name for name in metadata["finalizers"] if name != finalizer]
    apiserver.patch_metadata(
        world, resource, metadata.get("namespace", ""), metadata["name"], finalizers=rest
    )


def reconcile_claim(world: SimWorld, key: Key) -> int | None:
    """Let a deleted claim go once no scheduled pod uses it."""
    claim = world.store.get(CLAIMS, *key)
    if claim is not None and _is_held(claim, CLAIM_FINALIZER):
        # A pod that no node has yet cannot start any more: kubelets refuse claims that are being deleted.
        if not any(pod["spec"].get("nodeName") for pod in consumers(world, claim)):
            _let_go(world, CLAIMS, claim, CLAIM_FINALIZER)
    return None


def reconcile_volume(world: SimWorld, key: Key) -> int | None:
    """Let a deleted volume go once it is not bound."""
    volume = world.store.get(VOLUMES, *key)
    if volume is not None and _is_held(volume, VOLUME_FINALIZER):
        if (volume.get("status") or {}).get("phase") != "Bound":
            _let_go(world, VOLUMES, volume, VOLUME_FINALIZER)
    return None


def _held_claim(_: SimWorld, change: Change) -> Iterable[Key]:
    return (change.key,) if _is_held(change.new, CLAIM_FINALIZER) else ()


def _held_volume(_: SimWorld, change: Change) -> Iterable[Key]:
    return (change.key,) if _is_held(change.new, VOLUME_FINALIZER) else ()


def _claims_let_go(world: SimWorld, change: Change) -> Iterable[Key]:
    if change.new is None or pods.is_finished(change.new):
        for name in claims_of(change.object):
            if _is_held(world.store.get(CLAIMS, change.key[0], name), CLAIM_FINALIZER):
                yield (change.key[0], name)


CONTROLLERS = (
    Controller(
        "pvc-protection",
        {CLAIMS: _held_claim, "pods": _claims_let_go},
        retried("pvc-protection", reconcile_claim),
    ),
    Controller("pv-protection", {VOLUMES: _held_volume}, retried("pv-protection", reconcile_volume)),
)
