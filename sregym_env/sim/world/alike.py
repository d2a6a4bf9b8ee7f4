"""Equal parts of stored objects made one: pods of one owner say the same thing in most of their fields.

Objects never change once they are stored, so nobody can tell whether two of them share a part. A world takes half the
room for it, and so does everything that is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim.world.store import Key


def made_one(tables: Mapping[str, Mapping[Key, Manifest]]) -> dict[str, dict[Key, Manifest]]:
    """Tables that say the same, in the same order, and hold every value once."""
    kept = _Kept()
    return {
        resource: {key: kept.one(manifest) for key, manifest in table.items()}
        for resource, table in tables.items()
    }


class _Kept:
    """One of each value that has been met."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._others: dict[Any, Any] = {}

    def one(self, value: Any) -> Any:
        """The value, or an equal one that was met before."""
        kind = type(value)
        if kind is str:
            return self._texts.setdefault(value, value)
        if kind is dict:
            made: Any = {self._texts.setdefault(name, name): self.one(part) for name, part in value.items()}
            # Parts are one each already: their identity says what they are. The order counts.
            slot: Any = (*map(id, made), None, *map(id, made.values()))
            return self._others.setdefault(slot, made)
        if kind is list:
            made = [self.one(part) for part in value]
            return self._others.setdefault((kind, *map(id, made)), made)
        # 1, 1.0 and True are equal, and not the same.
        return self._others.setdefault((kind, value), value)
