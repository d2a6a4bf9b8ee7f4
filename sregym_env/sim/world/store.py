"""The object store: what etcd and the watch cache are to a real API server.

Objects are immutable once stored; a write stores a new object. Tables are copied only when a forked store
first writes to them, so a fork costs a handful of pointers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.sim.world.shared import SharedLog

Key = tuple[str, str]
"""(namespace, name); the namespace of a cluster-scoped object is empty."""

Objects = list[Manifest]
"""Objects in key order. Shared with the store: do not change it."""

OwnerIndex = dict[str, tuple[Key, ...]]
"""Keys of the objects that have an owner, by the owner's UID, in order. Shared: do not change it."""

_NOBODY = ""
"""In place of a UID: objects without a controller."""

_EMPTY: dict[Key, Manifest] = {}

WRITE_EFFORT = 60.0
LOOK_EFFORT = 0.05
"""What a write costs, and an object that is handed out in a list (units of ``runtime/effort.py``)."""

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]


class Change(NamedTuple):
    """One committed write."""

    revision: int
    type: ChangeType
    resource: str
    key: Key
    old: Manifest | None
    new: Manifest | None

    @property
    def object(self) -> Manifest:
        """The object after the write, or its last state if it is gone."""
        found = self.new if self.new is not None else self.old
        assert found is not None
        return found


class Store:
    """All objects of a cluster by resource and key, with one global revision counter.

    ``listener`` is called after every committed write.
    """

    __slots__ = ("_by_owner", "_keys", "_owned", "_sorted", "_tables", "changes", "listener", "revision")

    def __init__(self) -> None:
        self._tables: dict[str, dict[Key, Manifest]] = {}
        self._owned: set[str] = set()
        self._sorted: dict[tuple[str, str | None], Objects] = {}
        self._keys: dict[tuple[str, str | None], list[Key]] = {}
        """Keys in order; unlike the lists of objects they outlive changes of objects."""
        self._by_owner: dict[str, OwnerIndex] = {}
        self.revision = 0
        self.changes: SharedLog[Change] = SharedLog(keep=4096)
        self.listener: Callable[[Change], None] = _nobody

    def get(self, resource: str, namespace: str, name: str) -> Manifest | None:
        """One object or None. Cluster-scoped objects have the namespace ``""``."""
        table = self._tables.get(resource)
        return None if table is None else table.get((namespace, name))

    def list(self, resource: str, namespace: str | None = None) -> Objects:
        """Objects in (namespace, name) order; of every namespace if it is None. Do not change the list."""
        slot = (resource, namespace)
        known = self._sorted.get(slot)
        if known is not None:
            effort.note(LOOK_EFFORT * len(known))
            return known
        table = self._tables.get(resource, _EMPTY)
        keys = self._keys.get(slot)
        if keys is None:
            keys = self._keys[slot] = sorted(
                table if namespace is None else [key for key in table if key[0] == namespace]
            )
        found = self._sorted[slot] = [table[key] for key in keys]
        effort.note(2 * LOOK_EFFORT * len(found))
        return found

    def owned_by(self, resource: str, uid: str) -> Objects:
        """Objects of ``resource`` that have ``uid`` among their owner references, in key order."""
        keys = self._owners(resource).get(uid)
        if keys is None:
            return []
        table = self._tables[resource]
        return [table[key] for key in keys]

    def uncontrolled(self, resource: str, namespace: str) -> Objects:
        """Objects of a namespace that no owner reference names a controller of, in key order."""
        keys = self._owners(resource).get(_NOBODY)
        if keys is None:
            return []
        table = self._tables[resource]
        return [table[key] for key in keys if key[0] == namespace]

    def holds(self, resource: str) -> bool:
        """Whether there is any object of a resource."""
        return bool(self._tables.get(resource))

    def resources(self) -> Iterable[str]:
        """Keys of the resources that have ever held an object, sorted."""
        return sorted(self._tables)

    def put(self, resource: str, obj: Manifest) -> Manifest:
        """Store ``obj`` under its name with the next resourceVersion and return what was stored."""
        metadata = obj["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        table = self._writable(resource)
        old = table.get(key)
        self.revision += 1
        stored = {**obj, "metadata": {**metadata, "resourceVersion": str(self.revision)}}
        table[key] = stored
        self._commit("ADDED" if old is None else "MODIFIED", resource, key, old, stored)
        return stored

    def remove(self, resource: str, namespace: str, name: str) -> Manifest | None:
        """Remove an object for good; what it last was, or None if it was not there."""
        key = (namespace, name)
        old = self._writable(resource).pop(key, None)
        if old is None:
            return None
        self.revision += 1
        self._commit("DELETED", resource, key, old, None)
        return old

    def fork(self) -> Store:
        """An independent store with the same objects. The listener is not carried over."""
        copy = Store()
        copy._tables = self._tables.copy()
        copy._sorted = self._sorted.copy()
        copy._keys = self._keys.copy()
        copy._by_owner = self._by_owner.copy()
        copy.revision = self.revision
        copy.changes = self.changes.fork()
        # A store that nobody has written to since its last fork is forked without being changed.
        if self._owned:
            self._owned = set()
        return copy

    @property
    def tables(self) -> Mapping[str, Mapping[Key, Manifest]]:
        """All objects by resource and key. Shared with the store: do not change them."""
        return self._tables

    def refilled(self, tables: Mapping[str, dict[Key, Manifest]]) -> Store:
        """An independent store at the same revision with other tables in place of some of its own, which are its to
        keep. It remembers no changes, as after a compaction; the listener is not carried over."""
        copy = Store()
        copy._tables = {**self._tables, **tables}
        copy._owned = set(tables)
        copy._sorted = {slot: found for slot, found in self._sorted.items() if slot[0] not in tables}
        copy._keys = {slot: found for slot, found in self._keys.items() if slot[0] not in tables}
        copy._by_owner = {name: found for name, found in self._by_owner.items() if name not in tables}
        copy.revision = self.revision
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """The objects and their history; indexes are made anew, and the listener is not carried over."""
        return {"_tables": self._tables, "revision": self.revision, "changes": self.changes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Store.__init__(self)
        for name, value in state.items():
            setattr(self, name, value)
        self._owned = set(self._tables)

    def _owners(self, resource: str) -> OwnerIndex:
        index = self._by_owner.get(resource)
        if index is None:
            index = self._by_owner[resource] = _owner_index(self.list(resource))
        return index

    def _writable(self, resource: str) -> dict[Key, Manifest]:
        if resource not in self._owned:
            self._tables[resource] = self._tables.get(resource, {}).copy()
            self._owned.add(resource)
        return self._tables[resource]

    def _commit(
        self, type: ChangeType, resource: str, key: Key, old: Manifest | None, new: Manifest | None
    ) -> None:
        everywhere, here = (resource, None), (resource, key[0])
        self._sorted.pop(everywhere, None)
        self._sorted.pop(here, None)
        if type != "MODIFIED":
            self._keys.pop(everywhere, None)
            self._keys.pop(here, None)
        index = self._by_owner.get(resource)
        # Identity is enough: writes keep what they do not change, and an equal copy only costs a move.
        if index is not None and (type != "MODIFIED" or _references(old) is not _references(new)):
            self._by_owner[resource] = _moved(index, key, _slots(old), _slots(new))
        effort.note(WRITE_EFFORT)
        change = Change(self.revision, type, resource, key, old, new)
        self.changes.append(change)
        self.listener(change)


def _nobody(_: Change) -> None:
    """The listener of a store that nobody listens to."""


def _references(obj: Manifest | None) -> Objects | None:
    return None if obj is None else obj["metadata"].get("ownerReferences")


def _slots(obj: Manifest | None) -> tuple[str, ...]:
    """Where an object stands in an owner index: under its owners' UIDs, and under nobody without a controller."""
    if obj is None:
        return ()
    owners = _references(obj)
    if not owners:
        return (_NOBODY,)
    uids = tuple(owner["uid"] for owner in owners)
    return uids if any(owner.get("controller") for owner in owners) else (*uids, _NOBODY)


def _owner_index(objects: Objects) -> OwnerIndex:
    index: dict[str, list[Key]] = {}
    for obj in objects:
        metadata = obj["metadata"]
        for uid in _slots(obj):
            index.setdefault(uid, []).append((metadata.get("namespace", ""), metadata["name"]))
    return {uid: tuple(keys) for uid, keys in index.items()}


def _moved(index: OwnerIndex, key: Key, before: tuple[str, ...], after: tuple[str, ...]) -> OwnerIndex:
    """A new index in which one object stands elsewhere. Forks may share the one given."""
    moved = dict(index)
    for uid in before:
        keys = moved.pop(uid)
        at = bisect_left(keys, key)
        left = keys[:at] + keys[at + 1 :]
        if left:
            moved[uid] = left
    for uid in after:
        keys = moved.get(uid, ())
        at = bisect_left(keys, key)
        moved[uid] = (*keys[:at], key, *keys[at:])
    return moved
