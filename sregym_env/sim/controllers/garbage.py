"""The garbage collector: objects follow their owners, in the background, in the foreground or not at all.

Follows ``pkg/controller/garbagecollector`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.cluster.api import Propagation
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import CUSTOM, Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
NEVER_OWNED = frozenset({"events", "nodes", "namespaces"})
NEVER_OWNING = frozenset({"events", "namespaces"})


def owner_key(resource: str, namespace: str, name: str, uid: str) -> Key:
    """The key under which an owner is looked at: its resource, and where and which it is."""
    return (resource, f"{namespace}/{name}/{uid}")


def reconcile(world: SimWorld, key: Key) -> int | None:
    """See to the dependents of one owner."""
    resource = key[0]
    namespace, name, uid = key[1].split("/")
    owner = world.store.get(resource, namespace, name)
    if owner is None or owner["metadata"]["uid"] != uid:
        for kind, dependent in _dependents(world, uid):
            _collect(world, kind, dependent, uid)
        return None
    finalizers = owner["metadata"].get("finalizers") or ()
    if "deletionTimestamp" not in owner["metadata"]:
        return None
    if ORPHAN in finalizers:
        for kind, dependent in _dependents(world, uid):
            _disown(world, kind, dependent, {uid})
        _unhold(world, resource, owner, ORPHAN)
    elif FOREGROUND in finalizers:
        _collect_first(world, resource, owner)
    return None


def _dependents(world: SimWorld, uid: str) -> list[tuple[str, Manifest]]:
    return [
        (resource, dependent)
        for resource in world.store.resources()
        if resource not in NEVER_OWNED
        for dependent in world.store.owned_by(resource, uid)
    ]


def _collect(world: SimWorld, resource: str, dependent: Manifest, gone: str) -> None:
    """Delete a dependent whose owner is gone, unless another owner keeps it."""
    metadata = dependent["metadata"]
    absent = {gone}
    for owner in metadata["ownerReferences"]:
        if owner["uid"] != gone and find_owner(world, metadata.get("namespace", ""), owner) is None:
            absent.add(owner["uid"])
    if len(absent) < len(metadata["ownerReferences"]):
        _disown(world, resource, dependent, absent)
        return
    if "deletionTimestamp" in metadata:
        return
    finalizers = metadata.get("finalizers") or ()
    propagation: Propagation = "Background"
    if ORPHAN in finalizers:
        propagation = "Orphan"
    elif FOREGROUND in finalizers:
        propagation = "Foreground"
    apiserver.delete(
        world,
        resource,
        metadata.get("namespace", ""),
        metadata["name"],
        propagation=propagation,
        uid=metadata["uid"],
    )


def _collect_first(world: SimWorld, resource: str, owner: Manifest) -> None:
    """Foreground deletion: the dependents go first; the owner follows when none blocks it."""
    uid = owner["metadata"]["uid"]
    blocking = False
    for kind, dependent in _dependents(world, uid):
        metadata = dependent["metadata"]
        reference = next(ref for ref in metadata["ownerReferences"] if ref["uid"] == uid)
        others = [ref for ref in metadata["ownerReferences"] if ref["uid"] != uid]
        if any(find_owner(world, metadata.get("namespace", ""), ref) is not None for ref in others):
            _disown(world, kind, dependent, {uid})
            continue
        blocking = blocking or bool(reference.get("blockOwnerDeletion"))
        if "deletionTimestamp" not in metadata:
            deeper: Propagation = "Foreground" if _dependents(world, metadata["uid"]) else "Background"
            apiserver.delete(world, kind, metadata.get("namespace", ""), metadata["name"], propagation=deeper)
    still = [found for _, found in _dependents(world, uid)] if blocking else []
    if not any(_blocks(found, uid) for found in still):
        _unhold(world, resource, owner, FOREGROUND)


def _blocks(dependent: Manifest, uid: str) -> bool:
    return any(
        ref["uid"] == uid and ref.get("blockOwnerDeletion")
        for ref in dependent["metadata"]["ownerReferences"]
    )


def find_owner(world: SimWorld, namespace: str, reference: dict[str, Any]) -> Manifest | None:
    """The object an owner reference names, if it is still that one."""
    resource = apiserver.served(world, reference["apiVersion"], reference["kind"])
    if resource is None:
        return None
    owner = world.store.get(resource.key, namespace if resource.namespaced else "", reference["name"])
    return owner if owner is not None and owner["metadata"]["uid"] == reference["uid"] else None


def _disown(world: SimWorld, resource: str, dependent: Manifest, uids: set[str]) -> None:
    metadata = dependent["metadata"]
    kept = [owner for owner in metadata["ownerReferences"] if owner["uid"] not in uids]
    apiserver.patch_metadata(
        world, resource, metadata.get("namespace", ""), metadata["name"], owner_references=kept
    )


def _unhold(world: SimWorld, resource: str, owner: Manifest, finalizer: str) -> None:
    metadata = owner["metadata"]
    rest = [name for name in metadata.get("finalizers") or () if name != finalizer]
    apiserver.patch_metadata(
        world, resource, metadata.get("namespace", ""), metadata["name"], finalizers=rest
    )


def _wake(world: SimWorld, change: Change) -> Iterable[Key]:
    namespace, name = change.key
    metadata = change.object["metadata"]
    if change.type == "DELETED":
        yield owner_key(change.resource, namespace, name, metadata["uid"])
        # Its going may let an owner go that waits in the foreground.
        for owner in metadata.get("ownerReferences") or ():
            found = find_owner(world, namespace, owner)
            if found is not None and FOREGROUND in (found["metadata"].get("finalizers") or ()):
                yield _key_of(world, namespace, owner)
    elif change.type == "ADDED":
        for owner in metadata.get("ownerReferences") or ():
            # The owner may have gone before its dependent came.
            if apiserver.served(world, owner["apiVersion"], owner["kind"]) is not None:
                if find_owner(world, namespace, owner) is None:
                    yield _key_of(world, namespace, owner)
    elif "deletionTimestamp" in metadata and metadata.get("finalizers"):
        if FOREGROUND in metadata["finalizers"] or ORPHAN in metadata["finalizers"]:
            yield owner_key(change.resource, namespace, name, metadata["uid"])


def _key_of(world: SimWorld, namespace: str, owner: dict[str, Any]) -> Key:
    resource = apiserver.served(world, owner["apiVersion"], owner["kind"])
    assert resource is not None
    where = namespace if resource.namespaced else ""
    return owner_key(resource.key, where, owner["name"], owner["uid"])


CONTROLLER = Controller(
    "garbage-collector",
    {CUSTOM: _wake, **{r.key: _wake for r in BUILTIN.preferred() if r.key not in NEVER_OWNING}},
    retried("garbage-collector", reconcile),
)
