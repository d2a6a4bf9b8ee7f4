"""The object store: what etcd and the watch cache are to a real API server.

Objects are immutable once stored; a write stores a new object. Tables are copied only when a forked store
first writes to them, so a fork costs a handful of pointers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.sim.world.plan import Pace
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

KEPT_CHANGES = 4096
"""The newest changes that are remembered, at least."""

WRITE_EFFORT = 60.0
LOOK_EFFORT = 0.05
"""What a write costs, and an object that is handed out in a list (units of ``runtime/effort.py``)."""

_KEPT = ("_tables", "_written", "_compacted", "_times", "pace", "changes")
"""What of a store is carried into another process."""

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

    ``listener`` is called after every committed write. The counter moves with every write, and where there is a
    ``pace`` also with the time of ``clock``: for all that a cluster writes and nobody here stores.
    """

    __slots__ = (
        "_by_owner", "_compacted", "_keys", "_owned", "_sorted", "_tables", "_times", "_written", "changes", "clock", "listener", "pace",
    )  # fmt: skip

    def __init__(self) -> None:
        self._tables: dict[str, dict[Key, Manifest]] = {}
        self._owned: set[str] = set()
        self._sorted: dict[tuple[str, str | None], Objects] = {}
        self._keys: dict[tuple[str, str | None], list[Key]] = {}
        """Keys in order; unlike the lists of objects they outlive changes of objects."""
        self._by_owner: dict[str, OwnerIndex] = {}
        self._written = 0
        self._compacted = 0
        """The revision up to which changes have been forgotten all at once."""
        self._times: SharedLog[int] = SharedLog(keep=KEPT_CHANGES)
        """When each write was committed."""
        self.pace: Pace | None = None
        self.clock: Callable[[], int] = _no_time
        self.changes: SharedLog[Change] = SharedLog(keep=KEPT_CHANGES)
        self.listener: Callable[[Change], None] = _nobody

    @property
    def revision(self) -> int:
        """The head of the counter: at or above the revision of everything that is stored."""
        return self._written if self.pace is None else self.pace.at(self.clock()) + self._written

    @revision.setter
    def revision(self, revision: int) -> None:
        self._written = revision if self.pace is None else revision - self.pace.at(self.clock())

    @property
    def newest(self) -> int:
        """The revision of the newest committed write: what those who watch have not seen if they know an older one."""
        last = self.changes.last()
        return self._compacted if last is None else last.revision

    @property
    def oldest(self) -> int:
        """The smallest revision from which all later writes are still known."""
        if not self.changes.forgotten:
            return self._compacted
        return next(iter(self.changes)).revision - 1

    def writes_until(self, time: int) -> int:
        """How many writes had been committed at an instant, of which not more than those remembered came later."""
        count = self._written
        for committed in self._times.newest_first():
            if committed <= time:
                break
            count -= 1
        return count

    def dated_changes(self) -> Iterator[tuple[int, Change]]:
        """The changes that are remembered, newest first, each with when it was committed."""
        return zip(self._times.newest_first(), self.changes.newest_first(), strict=False)

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

    def count(self, resource: str) -> int:
        """How many objects of a resource there are."""
        return len(self._tables.get(resource, _EMPTY))

    def resources(self) -> Iterable[str]:
        """Keys of the resources that have ever held an object, sorted."""
        return sorted(self._tables)

    def put(self, resource: str, obj: Manifest) -> Manifest:
        """Store ``obj`` under its name with the next resourceVersion and return what was stored."""
        metadata = obj["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        table = self._writable(resource)
        old = table.get(key)
        revision = self._next()
        stored = {**obj, "metadata": {**metadata, "resourceVersion": str(revision)}}
        table[key] = stored
        kind: ChangeType = "ADDED" if old is None else "MODIFIED"
        self._commit(Change(revision, kind, resource, key, old, stored))
        return stored

    def remove(self, resource: str, namespace: str, name: str) -> Manifest | None:
        """Remove an object for good; what it last was, or None if it was not there."""
        key = (namespace, name)
        old = self._writable(resource).pop(key, None)
        if old is None:
            return None
        self._commit(Change(self._next(), "DELETED", resource, key, old, None))
        return old

    def fork(self) -> Store:
        """An independent store with the same objects. Listener and clock are not carried over."""
        copy = Store()
        copy._tables = self._tables.copy()
        copy._sorted = self._sorted.copy()
        copy._keys = self._keys.copy()
        copy._by_owner = self._by_owner.copy()
        copy._written = self._written
        copy._compacted = self._compacted
        copy._times = self._times.fork()
        copy.pace = self.pace
        copy.changes = self.changes.fork()
        # A store that nobody has written to since its last fork is forked without being changed.
        if self._owned:
            self._owned = set()
        return copy

    @property
    def tables(self) -> Mapping[str, Mapping[Key, Manifest]]:
        """All objects by resource and key. Shared with the store: do not change them."""
        return self._tables

    def refill(self, tables: Mapping[str, dict[Key, Manifest]]) -> None:
        """Put other tables in place of some, at the same revision. They are the store's to keep; it remembers no
        changes any more, as after a compaction, and its listener hears of nothing."""
        self._tables.update(tables)
        self._owned.update(tables)
        for index in (self._sorted, self._keys):
            for slot in [slot for slot in index if slot[0] in tables]:
                del index[slot]
        for resource in tables:
            self._by_owner.pop(resource, None)
        self._compacted = self.newest
        self.changes = SharedLog(keep=KEPT_CHANGES)

    def __getstate__(self) -> dict[str, Any]:
        """The objects and their history; indexes are made anew, listener and clock are not carried over."""
        return {name: getattr(self, name) for name in _KEPT}

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

    def _next(self) -> int:
        """The revision of a write that happens now."""
        self._written += 1
        now = self.clock()
        self._times.append(now)
        return self._written if self.pace is None else self.pace.at(now) + self._written

    def _commit(self, change: Change) -> None:
        type, resource, key, old, new = change[1:6]
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
        self.changes.append(change)
        self.listener(change)


def _nobody(_: Change) -> None:
    """The listener of a store that nobody listens to."""


def _no_time() -> int:
    """The clock of a store outside of any world."""
    return 0


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
