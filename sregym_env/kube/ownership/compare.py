"""The fields of a value, and which fields differ between two values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sregym_env.kube.ownership.fields import LEAF, SELF, Fields, field, keyed, union, valued
from sregym_env.kube.ownership.shape import UNTYPED, Shape, resolved
from sregym_env.kube.types import Json, Manifest

_ABSENT: Final = object()


def element_of(shape: Shape, item: Json) -> str:
    """The path element of an item of a list that merges. Raises ValueError where it has none."""
    if not shape.keys:
        if isinstance(item, dict):
            raise ValueError("associative list without keys has an element that's a map type")
        if isinstance(item, list):
            raise ValueError("not supported: associative list with lists as elements")
        if item is None:
            raise ValueError("associative list without keys has an element that's an explicit null")
        return valued(item)
    if item is None:
        raise ValueError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise ValueError("associative list with keys may not have non-map elements")
    found = []
    for key in shape.keys:
        value = item.get(key)
        if key not in item:
            if key not in shape.defaults:
                raise ValueError(
                    f'associative list with keys has an element that omits key field "{key}" '
                    "(and doesn't have default value)"
                )
            value = shape.defaults[key]
        found.append((key, value))
    return keyed(tuple(found))


def elements(shape: Shape, items: list[Json]) -> dict[str, list[Json]]:
    """The items of a list by their elements, in order; items without an element are left out."""
    found: dict[str, list[Json]] = {}
    for item in items:
        try:
            element = element_of(shape, item)
        except ValueError:
            continue
        found.setdefault(element, []).append(item)
    return found


# --- the fields of a value --------------------------------------------------------------------------


def fields_of(shape: Shape, obj: Manifest) -> Fields:
    """The fields that a configuration sets: what its applier owns."""
    return _set(shape, obj) or LEAF


def _set(shape: Shape, value: Json) -> Fields | None:
    shape = resolved(shape, value)
    if shape.leaf:
        return LEAF
    if isinstance(value, dict):
        return _set_of_map(shape, value)
    if isinstance(value, list):
        return _set_of_list(shape, value)
    return None


def _set_of_map(shape: Shape, value: Manifest) -> Fields | None:
    out: Fields = {}
    for name, child in value.items():
        below = _set(shape.child(name) or UNTYPED, child)
        if child is None or child == {} or name not in shape.names:
            below = _as_member(below)
        if below is not None:
            out[field(name)] = below
    return out or None


def _set_of_list(shape: Shape, value: list[Json]) -> Fields | None:
    out: Fields = {}
    item_shape = shape.item or UNTYPED
    for element, items in elements(shape, value).items():
        out[element] = _as_member(_set(item_shape, items[0]) if len(items) == 1 else None)
    return out or None


def _as_member(node: Fields | None) -> Fields:
    if not node:
        return LEAF
    return node if SELF in node else {SELF: LEAF, **node}


def everything(shape: Shape, value: Json) -> Fields:
    """The node of a value of which every part is a member, containers included."""
    shape = resolved(shape, value)
    if shape.leaf or not value:
        return LEAF
    out: Fields = {SELF: LEAF}
    if isinstance(value, dict):
        for name, child in value.items():
            out[field(name)] = everything(shape.child(name) or UNTYPED, child)
    elif isinstance(value, list):
        item_shape = shape.item or UNTYPED
        for element, items in elements(shape, value).items():
            out[element] = everything(item_shape, items[0]) if len(items) == 1 else LEAF
    else:
        return LEAF
    return out


# --- comparison -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a value differs from another: sets of fields."""

    added: Fields
    modified: Fields
    removed: Fields

    @property
    def changed(self) -> Fields:
        """What is new or has another value."""
        return union(self.added, self.modified)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.modified or self.removed)


def compare(shape: Shape, old: Manifest, new: Manifest) -> Comparison:
    """What differs between two objects of a type."""
    if old is new:
        return Comparison(LEAF, LEAF, LEAF)
    walk = _Walk()
    walk.containers(shape, old, new, walk.root)
    added, modified, removed = walk.root
    return Comparison(added, modified, removed)


_Level = tuple[Fields, Fields, Fields]
"""Nodes under construction: what is added, modified and removed at one place."""


class _Walk:
    """One comparison in progress. Subtrees that are the same object are passed over."""

    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root: _Level = ({}, {}, {})

    def value(self, shape: Shape, old: Any, new: Any, element: str, level: _Level) -> None:
        if old is new:
            return
        if old is _ABSENT:
            level[0][element] = everything(shape, new)
            return
        if new is _ABSENT:
            level[2][element] = everything(shape, old)
            return
        ours, theirs = resolved(shape, old), resolved(shape, new)
        if ours.leaf or theirs.leaf or not (old or new) or not _alike(old, new):
            if not _equal(old, new):
                level[1][element] = LEAF
            return
        below: _Level = ({}, {}, {})
        self.containers(theirs, old, new, below)
        for node, found in zip(level, below, strict=True):
            if found:
                node[element] = found

    def containers(self, shape: Shape, old: Any, new: Any, level: _Level) -> None:
        if isinstance(old, dict) or isinstance(new, dict):
            self._maps(shape, old or {}, new or {}, level)
        else:
            self._lists(shape, old or [], new or [], level)

    def _maps(self, shape: Shape, old: Manifest, new: Manifest, level: _Level) -> None:
        for name, value in new.items():
            known = old.get(name, _ABSENT)
            if value is not known:
                self.value(shape.child(name) or UNTYPED, known, value, field(name), level)
        for name, value in old.items():
            if name not in new:
                self.value(shape.child(name) or UNTYPED, value, _ABSENT, field(name), level)

    def _lists(self, shape: Shape, old: list[Json], new: list[Json], level: _Level) -> None:
        item = shape.item or UNTYPED
        ours, theirs = elements(shape, old), elements(shape, new)
        for element in {**ours, **theirs}:
            before, after = ours.get(element, ()), theirs.get(element, ())
            if len(before) > 1 or len(after) > 1:
                self._duplicates(before, after, element, level)
                continue
            self.value(item, before[0] if before else _ABSENT, after[0] if after else _ABSENT, element, level)

    def _duplicates(self, old: Any, new: Any, element: str, level: _Level) -> None:
        """Items that cannot be told apart are one value."""
        if not old:
            level[0][element] = LEAF
        elif not new:
            level[2][element] = LEAF
        elif list(old) != list(new):
            level[1][element] = LEAF


def _alike(old: Json, new: Json) -> bool:
    """Whether two values can be compared part by part; nothing is like an empty container."""
    if old is None or new is None:
        return True
    return (isinstance(old, dict) and isinstance(new, dict)) or (
        isinstance(old, list) and isinstance(new, list)
    )


def _equal(old: Json, new: Json) -> bool:
    """Equality as the API server sees it: ``true`` is not ``1``, and nothing is not an empty container."""
    if isinstance(old, bool) is not isinstance(new, bool):
        return False
    return bool(old == new)
