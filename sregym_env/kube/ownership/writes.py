"""Who owns what after a write, and what server-side apply makes of an object."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sregym_env.kube.ownership.compare import Comparison, compare, fields_of
from sregym_env.kube.ownership.entries import Entry, Key, Operation, capped
from sregym_env.kube.ownership.fields import (
    LEAF,
    Fields,
    difference,
    from_paths,
    intersection,
    outside,
    paths,
    union,
)
from sregym_env.kube.ownership.merge import merge, remove, with_containers
from sregym_env.kube.ownership.shape import Shape
from sregym_env.kube.status import StatusError, apply_conflict
from sregym_env.kube.types import Manifest

BEFORE_APPLY = "before-first-apply"
"""The manager of what an object without records had when it was first applied to."""

UNOWNED: Fields = from_paths(
    ("apiVersion",),
    ("kind",),
    ("metadata",),
    *(
        ("metadata", name)
        for name in (
            "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
            "managedFields", "resourceVersion",
        )
    ),
)  # fmt: skip
"""What nobody can own: identity and what the server counts."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions in which a kind is served, and how to get from one to another."""

    current: str
    """The version of the request, in which objects are given."""
    shapes: Mapping[str, Shape]
    convert: Callable[[Manifest, str], Manifest]
    """An object in another version."""

    @property
    def shape(self) -> Shape:
        """The shape of the request's version."""
        return self.shapes[self.current]


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, and how."""

    manager: str
    operation: Operation
    api_version: str
    time: str
    """RFC 3339."""
    subresource: str = ""
    ignored: Fields = dataclasses.field(default_factory=dict)
    """Fields that this way of writing cannot change (``status`` outside its subresource), with all below them."""

    def entry(self, fields: Fields) -> Entry:
        """The writer's entry."""
        return Entry(self.manager, self.operation, self.api_version, fields, self.time, self.subresource)


class ApplyConflict(Exception):
    """An apply would change fields that others own."""

    def __init__(self, conflicts: Sequence[tuple[Entry, Fields]]) -> None:
        super().__init__("apply conflict")
        self.conflicts = tuple(sorted(conflicts, key=lambda pair: pair[0].key))

    @property
    def fields(self) -> Fields:
        """All fields in conflict."""
        found: Fields = LEAF
        for _, fields in self.conflicts:
            found = union(found, fields)
        return found

    def without(self, fields: Fields) -> ApplyConflict:
        """The conflicts that are left when some fields may be taken."""
        left = [(entry, difference(theirs, fields)) for entry, theirs in self.conflicts]
        return ApplyConflict([pair for pair in left if pair[1]])

    @property
    def error(self) -> StatusError:
        """What the API server answers."""
        return apply_conflict(
            [(entry.shown, path) for entry, fields in self.conflicts for path in paths(fields)]
        )


class _Differences:
    """How two objects differ, in each version in which it is asked."""

    __slots__ = ("_found", "_ignored", "_new", "_old", "_versions")

    def __init__(self, versions: Versions, old: Manifest, new: Manifest, ignored: Fields) -> None:
        self._versions, self._old, self._new, self._ignored = versions, old, new, ignored
        self._found: dict[str, Comparison] = {}

    def at(self, version: str) -> Comparison | None:
        """The comparison in a version; None where it is not served (any more)."""
        found = self._found.get(version)
        if found is not None:
            return found
        shape = self._versions.shapes.get(version)
        if shape is None:
            return None
        old, new = self._old, self._new
        if version != self._versions.current:
            old, new = self._versions.convert(old, version), self._versions.convert(new, version)
        made = compare(shape, old, new)
        if self._ignored:
            made = Comparison(
                outside(made.added, self._ignored),
                outside(made.modified, self._ignored),
                outside(made.removed, self._ignored),
            )
        self._found[version] = made
        return made


def _taken(
    differences: _Differences, entries: Iterable[Entry], writer: Key | None
) -> tuple[dict[Key, Entry], list[tuple[Entry, Fields]]]:
    """(Entries after a write, what it takes from whom). The writer's own entry is passed over."""
    left: dict[Key, Entry] = {}
    taken: list[tuple[Entry, Fields]] = []
    for entry in entries:
        if entry.key == writer:
            left[entry.key] = entry
            continue
        found = differences.at(entry.api_version)
        if found is None:
            continue
        lost = intersection(entry.fields, found.changed) if found.added or found.modified else LEAF
        if lost:
            taken.append((entry, lost))
        fields = difference(difference(entry.fields, lost), found.removed)
        if fields:
            left[entry.key] = entry.having(fields)
    return left, taken


def updated(
    versions: Versions, old: Manifest, new: Manifest, entries: Sequence[Entry], writer: Writer
) -> tuple[Entry, ...]:
    """The entries after somebody put ``new`` in the place of ``old``: what changed is the writer's alone."""
    differences = _Differences(versions, old, new, writer.ignored)
    kept, _ = _taken(differences, entries, None)
    found = differences.at(versions.current)
    own = difference(found.changed, UNOWNED) if found is not None else LEAF
    if own:
        mine = writer.entry(own)
        known = kept.get(mine.key)
        kept[mine.key] = mine if known is None else mine.having(union(own, known.fields))
    return capped(tuple(kept.values()))


def revised(
    versions: Versions, old: Manifest, new: Manifest, entries: Sequence[Entry], keeper: int = 0
) -> tuple[Entry, ...]:
    """The entries after a change that has no author: what is new goes to an owner that is there already, the one
    at the index ``keeper``; to nobody where there is none.

    Owners of changed fields stay owners, times stay as they are, and fields that are gone have no owner.
    """
    if not entries:
        return ()
    found = compare(versions.shape, old, new)
    kept = []
    for index, entry in enumerate(entries):
        fields = (
            difference(entry.fields, found.removed) if entry.api_version == versions.current else entry.fields
        )
        if index == keeper:
            fields = union(fields, difference(found.added, UNOWNED))
        kept.append(entry.having(fields))
    return tuple(entry for entry in kept if entry.fields)


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply leaves behind."""

    object: Manifest
    """The object; the live one itself where nothing changes."""
    entries: tuple[Entry, ...]


def applied(
    versions: Versions,
    live: Manifest,
    config: Manifest,
    entries: Sequence[Entry],
    writer: Writer,
    *,
    force: bool = False,
) -> Applied:
    """Apply a configuration: what it says becomes the writer's, what the writer alone said before and says no
    more goes. Raises ApplyConflict where others own what would change, unless ``force``."""
    shape = versions.shape
    merged = merge(shape, live, config)
    mine = writer.entry(outside(fields_of(shape, config), writer.ignored))
    before = next((entry for entry in entries if entry.key == mine.key), None)
    all_entries = [*(entry for entry in entries if entry.key != mine.key), mine]
    pruned = _pruned(versions, merged, all_entries, before)
    differences = _Differences(versions, live, pruned, writer.ignored)
    kept, taken = _taken(differences, all_entries, mine.key)
    if taken and not force:
        raise ApplyConflict(taken)
    own = difference(mine.fields, UNOWNED)
    kept.pop(mine.key, None)
    changed = pruned != live
    if own:
        time = writer.time if changed or before is None or before.fields != own else before.time
        kept[mine.key] = dataclasses.replace(mine, fields=own, time=time)
    return Applied(pruned if changed else live, tuple(kept.values()))


def _pruned(versions: Versions, merged: Manifest, entries: Sequence[Entry], before: Entry | None) -> Manifest:
    """The merged object without what its applier said before, nobody says now and nobody else owns."""
    if before is None or not before.fields or before.api_version not in versions.shapes:
        return merged
    version = before.api_version
    shape = versions.shapes[version]
    whole = merged if version == versions.current else versions.convert(merged, version)
    last = with_containers(shape, before.fields)
    left = remove(shape, whole, last)
    left = _with_owned(versions, whole, left, version, entries)
    everything = with_containers(shape, fields_of(shape, whole))
    gone = difference(everything, with_containers(shape, fields_of(shape, left)))
    result = remove(shape, whole, intersection(gone, last))
    return result if version == versions.current else versions.convert(result, versions.current)


def _with_owned(
    versions: Versions, whole: Manifest, left: Manifest, version: str, entries: Sequence[Entry]
) -> Manifest:
    """What is left of the whole, and what of the rest anybody owns."""
    owned: dict[str, Fields] = {version: LEAF}
    for entry in entries:
        if entry.api_version in versions.shapes:
            owned[entry.api_version] = union(owned.get(entry.api_version, LEAF), entry.fields)
    for other, fields in owned.items():
        shape = versions.shapes[other]
        if other != version:
            whole, left = versions.convert(whole, other), versions.convert(left, other)
        everything = with_containers(shape, fields_of(shape, whole))
        kept = union(with_containers(shape, fields_of(shape, left)), with_containers(shape, fields))
        left = remove(shape, whole, difference(everything, kept))
        if other != version:
            whole, left = versions.convert(whole, version), versions.convert(left, version)
    return left
