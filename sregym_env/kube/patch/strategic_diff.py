"""Strategic merge patches: computing them from two or three versions of an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.patch.rfc6902 import json_equal
from sregym_env.kube.patch.rfc7386 import three_way_merge, two_way_merge
from sregym_env.kube.patch.strategic import (
    DELETE,
    ORDER,
    PATCH,
    RETAIN,
    field_of,
    merge_map,
    struct_below,
)
from sregym_env.kube.registry import Resource
from sregym_env.kube.schema import Field, Struct, struct_of
from sregym_env.kube.types import Json, Manifest


@dataclass(frozen=True, slots=True)
class _Want:
    """What a diff may contain."""

    changes: bool = True
    deletions: bool = True


def two_way(original: Mapping[str, Any], modified: Mapping[str, Any], resource: Resource) -> Manifest:
    """The strategic patch that turns ``original`` into ``modified`` (``kubectl edit``, ``set``).

    Empty when they are equal.
    """
    struct = struct_of(resource)
    if struct is None:
        return two_way_merge(original, modified)
    return _diff_map(original, modified, struct, _Want(), False)


def three_way(
    original: Mapping[str, Any] | None,
    modified: Mapping[str, Any],
    current: Mapping[str, Any],
    resource: Resource,
) -> Manifest:
    """The patch that client-side ``kubectl apply`` sends: what ``modified`` sets and ``current`` has
    otherwise, plus deletions of what ``original`` (the last applied object) had and ``modified`` has not.

    A strategic patch, or a merge patch for resources without a schema. Empty when nothing is to do.
    """
    struct = struct_of(resource)
    if struct is None:
        return three_way_merge(original or {}, modified, current)
    delta = _diff_map(current, modified, struct, _Want(deletions=False), False)
    deletions = _diff_map(original or {}, modified, struct, _Want(changes=False), False)
    return merge_map(deletions, delta, struct, apply=False)


def _diff_map(
    old: Mapping[str, Any], new: Mapping[str, Any], struct: Struct | None, want: _Want, retain: bool
) -> Manifest:
    patch: Manifest = {}
    for key, value in new.items():
        if key not in old:
            if want.changes:
                patch[key] = value
            continue
        before = old[key]
        if before is value:
            continue
        field = field_of(struct, key)
        if isinstance(before, dict) and isinstance(value, dict):
            keeps = field is not None and field.retain_keys
            if inner := _diff_map(before, value, struct_below(field), want, keeps):
                patch[key] = inner
        elif isinstance(before, list) and isinstance(value, list) and field is not None and field.merges:
            _diff_list(patch, key, before, value, field, want)
        elif want.changes and not json_equal(before, value):
            patch[key] = value
    if want.deletions:
        for key in old:
            if key not in new:
                patch[key] = None
    if retain and (patch or any(k not in new for k, v in old.items() if v is not None)):
        patch[RETAIN] = sorted(k for k, v in new.items() if v is not None)
    return patch


def _diff_list(
    patch: Manifest, key: str, old: list[Json], new: list[Json], field: Field, want: _Want
) -> None:
    if not old:
        if new and want.changes:
            patch[key] = new
        return
    sample = old[0]
    if isinstance(sample, dict):
        _diff_objects(patch, key, old, new, field, want)
        return
    added = [v for v in dict.fromkeys(new) if v not in old] if want.changes else []
    removed = sorted((v for v in dict.fromkeys(old) if v not in new), key=str) if want.deletions else []
    if added:
        patch[key] = added
    if removed:
        patch[DELETE + key] = removed
    if removed or (want.changes and old != new):
        if new:
            patch[ORDER + key] = list(new)


def _diff_objects(
    patch: Manifest, key: str, old: list[Json], new: list[Json], field: Field, want: _Want
) -> None:
    merge_key = field.merge_key
    struct = struct_below(field)
    before = {item.get(merge_key): item for item in old}
    after = {item.get(merge_key): item for item in new}
    items: list[Json] = []
    for identity, item in after.items():
        if identity not in before:
            if want.changes:
                items.append(item)
        elif inner := _diff_map(before[identity], item, struct, want, field.retain_keys):
            items.append({**inner, merge_key: identity})
    if want.deletions:
        gone = [i for i in before if i not in after]
        items += [{PATCH: "delete", merge_key: i} for i in sorted(gone, key=str)]
    same_order = list(before) == list(after)
    if items:
        patch[key] = items
    if (want.changes and (items or not same_order)) or (want.deletions and items):
        if new:
            patch[ORDER + key] = [{merge_key: i} for i in after]
