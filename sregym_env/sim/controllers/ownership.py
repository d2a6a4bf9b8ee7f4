"""Owner references: who controls an object, and how controllers adopt and release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.selectors import from_dict
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.store import Change, Key

Selector = Mapping[str, Any] | None
"""A ``LabelSelector``; None selects nothing."""


def reference(owner: Manifest, api_version: str, kind: str) -> dict[str, Any]:
    """A controlling owner reference to ``owner``."""
    metadata = owner["metadata"]
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Manifest) -> dict[str, Any] | None:
    """The owner reference of the object's controller, or None."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return owner  # type: ignore[no-any-return]
    return None


def controlled(world: SimWorld, resource: str, owner: Manifest) -> list[Manifest]:
    """Objects of ``resource`` whose controller is ``owner``, in key order."""
    uid = owner["metadata"]["uid"]
    found = []
    for obj in world.store.owned_by(resource, uid):
        reference = controller_of(obj)
        if reference is not None and reference["uid"] == uid:
            found.append(obj)
    return found


def claim(
    world: SimWorld, resource: str, owner: Manifest, api_version: str, kind: str, selector: Selector
) -> list[Manifest]:
    """The objects ``owner`` controls, after adopting matching orphans and releasing what no longer matches.

    In key order. An owner that is being deleted adopts and releases nothing.
    """
    metadata = owner["metadata"]
    mine = controlled(world, resource, owner)
    if "deletionTimestamp" in metadata:
        return mine
    matches = from_dict(selector).matches
    kept = [obj for obj in mine if matches(obj["metadata"].get("labels"))]
    if len(kept) != len(mine):
        for obj in mine:
            if not matches(obj["metadata"].get("labels")):
                _release(world, resource, obj, metadata["uid"])
    adopted = [
        _adopt(world, resource, obj, reference(owner, api_version, kind))
        for obj in world.store.uncontrolled(resource, metadata["namespace"])
        if "deletionTimestamp" not in obj["metadata"] and matches(obj["metadata"].get("labels"))
    ]
    found = [obj for obj in adopted if obj is not None]
    if found:
        kept = sorted([*kept, *found], key=lambda obj: str(obj["metadata"]["name"]))
    return kept


def _adopt(world: SimWorld, resource: str, obj: Manifest, owner: dict[str, Any]) -> Manifest | None:
    metadata = obj["metadata"]
    owners = [*(metadata.get("ownerReferences") or ()), owner]
    return apiserver.patch_metadata(
        world, resource, metadata["namespace"], metadata["name"], owner_references=owners
    )


def _release(world: SimWorld, resource: str, obj: Manifest, uid: str) -> None:
    metadata = obj["metadata"]
    owners = [owner for owner in metadata.get("ownerReferences") or () if owner["uid"] != uid]
    apiserver.patch_metadata(
        world, resource, metadata["namespace"], metadata["name"], owner_references=owners
    )


@dataclass(frozen=True, slots=True)
class WakeOwner:
    """A wake function: the controlling owner of a kind, before and after the change; for an orphan, every
    object in its namespace that would select it."""

    kind: str
    owners: str
    """Registry key of the resource whose objects are owners."""
    selector_of: Callable[[Manifest], Selector]
    concerns: Callable[[Change], bool] | None = None
    """Which changes matter to an owner; all where it is None."""

    def __call__(self, world: SimWorld, change: Change) -> Iterable[Key]:
        """Keys of the owners that a change concerns."""
        if self._is_anothers(change) or (self.concerns is not None and not self.concerns(change)):
            return ()
        namespace = change.key[0]
        keys: list[Key] = []
        orphan = change.new is not None
        for obj in (change.old, change.new):
            owner = None if obj is None else controller_of(obj)
            if owner is None:
                continue
            orphan = orphan and obj is not change.new
            if owner["kind"] == self.kind and (namespace, owner["name"]) not in keys:
                keys.append((namespace, owner["name"]))
        if orphan:
            labels = change.object["metadata"].get("labels")
            if labels:
                keys.extend(
                    (namespace, candidate["metadata"]["name"])
                    for candidate in world.store.list(self.owners, namespace)
                    if from_dict(self.selector_of(candidate)).matches(labels)
                )
        return keys

    def _is_anothers(self, change: Change) -> bool:
        """Whether an owner of another kind controls the object, before the change as after it."""
        old, new = change.old, change.new
        if old is not None and new is not None:
            if old["metadata"].get("ownerReferences") is not new["metadata"].get("ownerReferences"):
                return False
        owner = controller_of(change.object)
        return owner is not None and owner["kind"] != self.kind


def spec_selector(obj: Manifest) -> Selector:
    """``spec.selector`` of a workload."""
    found: Selector = obj["spec"].get("selector")
    return found
