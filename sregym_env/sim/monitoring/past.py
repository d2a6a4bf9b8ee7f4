"""What objects were: the versions of the store's objects over a stretch of time.

The store remembers its newest writes, forks share them, and each knows what it replaced. An object that was not
written since is as it was; what was written before the oldest remembered write is not known any more: an object is then
taken to have been, since it was made, what it was at the first write that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.store import Change, Key

FOREVER = 1 << 62
"""After every instant."""

CHANGE_EFFORT = 0.2
"""What it costs to look at a remembered write (units of ``runtime/effort.py``)."""


class Version(NamedTuple):
    """An object as it was from ``start`` until just before ``end``, microseconds."""

    start: int
    end: int
    obj: Manifest


@dataclass(frozen=True, slots=True)
class Past:
    """The objects of a world since an instant."""

    world: SimWorld
    since: int
    changed: dict[str, dict[Key, list[tuple[int, Change]]]]
    """By resource and key: the writes since then, newest first."""

    def objects(self, resource: str) -> Iterator[list[Version]]:
        """The versions of every object that was there at some time since then, newest first, in key order."""
        store = self.world.store
        changed = self.changed.get(resource)
        if not changed:
            for obj in store.list(resource):
                yield [Version(created(obj), FOREVER, obj)]
            return
        keys = {
            (obj["metadata"].get("namespace", ""), obj["metadata"]["name"]) for obj in store.list(resource)
        }
        for key in sorted(keys | changed.keys()):
            found = self._versions(resource, key, changed.get(key, []))
            if found:
                yield found

    def _versions(self, resource: str, key: Key, writes: list[tuple[int, Change]]) -> list[Version]:
        if not writes:
            obj = self.world.store.get(resource, *key)
            return [] if obj is None else [Version(created(obj), FOREVER, obj)]
        found = []
        end = FOREVER
        for time, change in writes:
            if change.new is not None and time < end:
                found.append(Version(time, end, change.new))
            end = time
        before = writes[-1][1].old
        if before is not None and created(before) < end:
            found.append(Version(created(before), end, before))
        return found


def past(world: SimWorld, since: int) -> Past:
    """The objects of a world since an instant."""
    changed: dict[str, dict[Key, list[tuple[int, Change]]]] = {}
    count = 0
    for time, change in world.store.dated_changes():
        count += 1
        if time < since:
            break
        changed.setdefault(change.resource, {}).setdefault(change.key, []).append((time, change))
    effort.spend(CHANGE_EFFORT * count)
    return Past(world, since, changed)


def created(obj: Manifest) -> int:
    """When an object was made, microseconds; 0 where it does not say."""
    text = obj["metadata"].get("creationTimestamp")
    return parse_rfc3339(text) if text else 0
