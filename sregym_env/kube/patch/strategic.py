"""Strategic merge patches: applying them (``k8s.io/apimachinery/pkg/util/strategicpatch``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sregym_env.kube.patch.errors import PatchError
from sregym_env.kube.patch.rfc6902 import json_equal
from sregym_env.kube.registry import Resource
from sregym_env.kube.schema import Field, Struct, Type, go_format, struct_of
from sregym_env.kube.types import Json, Manifest

PATCH = "$patch"
ORDER = "$setElementOrder/"
DELETE = "$deleteFromPrimitiveList/"
RETAIN = "$retainKeys"
"""Keys with which a patch says more than the values it brings."""


def field_of(struct: Struct | None, key: str) -> Field | None:
    """The schema of a field, where there is one."""
    return struct.fields.get(key) if struct is not None else None


def _item_struct(type_: Type | None) -> Struct | None:
    """The struct below a field: itself, or the one of its list elements or map values."""
    while type_ is not None and type_.item is not None:
        type_ = type_.item
    return type_.struct if type_ is not None else None


def struct_below(field: Field | None) -> Struct | None:
    """The schema of what a field holds, or of its items."""
    return _item_struct(field.type) if field is not None else None


def strategic_merge_patch(obj: Manifest, patch: Mapping[str, Any], resource: Resource) -> Manifest:
    """Apply a strategic merge patch; raises PatchError with the API server's text."""
    struct = struct_of(resource)
    if struct is None:
        raise PatchError("strategic merge patch format is not supported")
    merged = merge_map(obj, patch, struct)
    return {} if merged is None else merged


def merge_map(obj: Manifest, patch: Mapping[str, Any], struct: Struct | None, apply: bool = True) -> Manifest:
    """Merge a patch into an object, or (``apply=False``) a patch into another patch."""
    directive = patch.get(PATCH)
    if directive is not None:
        return _replaced(directive, patch)
    draft = _Draft(obj)
    if apply and RETAIN in patch:
        _retain_keys(draft, patch)
    for key, value in patch.items():
        if key.startswith("$"):
            if not apply:
                draft.set(key, value)
            elif key.startswith(DELETE):
                _delete_primitives(draft, key.removeprefix(DELETE), value)
            elif key.startswith(ORDER):
                _check_list_order(key.removeprefix(ORDER), value, patch, struct)
            elif key != RETAIN:
                raise PatchError(f"Unknown directive: {key}")  # nothing else starts with a dollar sign
            continue
        _merge_key(draft, key, value, patch, struct, apply)
    if apply:
        for key, value in patch.items():
            if key.startswith(ORDER) and key.removeprefix(ORDER) not in patch:
                _reorder(draft, key.removeprefix(ORDER), value, struct)
    return draft.done()


class _Draft:
    """A dictionary that is copied on its first change."""

    __slots__ = ("base", "copy")

    def __init__(self, base: Manifest) -> None:
        self.base = base
        self.copy: Manifest | None = None

    def get(self, key: str) -> Json:
        return (self.base if self.copy is None else self.copy).get(key)

    def __contains__(self, key: str) -> bool:
        return key in (self.base if self.copy is None else self.copy)

    def set(self, key: str, value: Json) -> None:
        if self.copy is None:
            if key in self.base and json_equal(self.base[key], value):
                return
            self.copy = dict(self.base)
        self.copy[key] = value

    def put(self, key: str, value: Json) -> None:
        if self.copy is None:
            self.copy = dict(self.base)
        self.copy[key] = value

    def delete(self, key: str) -> None:
        if key in self:
            if self.copy is None:
                self.copy = dict(self.base)
            del self.copy[key]

    def key_list(self) -> list[str]:
        return list(self.base if self.copy is None else self.copy)

    def done(self) -> Manifest:
        return self.base if self.copy is None else self.copy


def _replaced(directive: Json, patch: Mapping[str, Any]) -> Manifest:
    if directive == "replace":
        return {k: _without_directives(v) for k, v in patch.items() if k != PATCH}
    if directive == "delete":
        return {}
    if directive == "merge":
        return {k: v for k, v in patch.items() if k != PATCH}
    raise PatchError(f"unknown patch type: {directive} in map: {go_format(patch)}")


def _retain_keys(draft: _Draft, patch: Mapping[str, Any]) -> None:
    keep = patch[RETAIN]
    if not isinstance(keep, list):
        raise PatchError("invalid patch format of retainKeys")
    for key, value in patch.items():
        if value is not None and not key.startswith("$") and key not in keep:
            raise PatchError("invalid patch format of retainKeys")
    for key in draft.key_list():
        if key not in keep:
            draft.delete(key)


def _delete_primitives(draft: _Draft, key: str, values: Json) -> None:
    if not isinstance(values, list):
        raise PatchError(f"the value of $deleteFromPrimitiveList/{key} must be a list")
    current = draft.get(key)
    if isinstance(current, list):
        draft.set(key, [v for v in current if v not in values])


def _merge_key(
    draft: _Draft, key: str, value: Json, patch: Mapping[str, Any], struct: Struct | None, apply: bool
) -> None:
    if value is None:
        if apply or key in draft:
            draft.delete(key)
        else:
            draft.set(key, None)
        return
    if key not in draft or type(draft.get(key)) is not type(value):
        if not apply:
            draft.set(key, value)
            return
        fresh = _without_directives(value)
        if isinstance(value, dict) and not fresh and value:
            # All it said was deletions or directives: Go keeps the empty object it makes of them.
            fresh = {}
        draft.set(key, fresh)
        return
    field = field_of(struct, key)
    old = draft.get(key)
    if isinstance(value, dict):
        if field is not None and field.strategy == "replace":
            draft.set(key, _without_directives(value))
        else:
            merged = merge_map(old, value, struct_below(field), apply)
            if PATCH in value:
                draft.set(key, merged)
            elif merged is not old:
                draft.put(key, merged)  # known to differ: no need to compare
    elif isinstance(value, list):
        if field is not None and field.merges:
            order = patch.get(ORDER + key)
            draft.set(key, _merge_list(old, value, field, order, apply))
        else:
            draft.set(key, value)
    else:
        draft.set(key, value)


def _without_directives(value: Json) -> Json:
    """The object a patch describes where nothing was before: without nulls and directives."""
    if isinstance(value, dict):
        return {
            k: _without_directives(v) for k, v in value.items() if v is not None and not k.startswith("$")
        }
    if isinstance(value, list):
        items = [v for v in value if not (isinstance(v, dict) and v.get(PATCH) in ("delete", "replace"))]
        return [_without_directives(v) for v in items]
    return value


def _merge_list(
    old: list[Json], patch: list[Json], field: Field, order: list[Json] | None, apply: bool
) -> list[Json]:
    if not old and not patch:
        return old
    if order is not None and not isinstance(order, list):
        raise PatchError("the value of $setElementOrder must be a list")
    sample = old[0] if old else patch[0]
    if not isinstance(sample, dict):
        merged = list(dict.fromkeys(_identities([*old, *patch], "")))
        return _ordered(merged, order if order is not None else patch, old, "")
    key = field.merge_key
    replaced = any(isinstance(p, dict) and p.get(PATCH) == "replace" for p in patch)
    if replaced and apply:
        kept: list[Json] = _without_directives(patch)
        return kept
    merged = _merge_items(old, patch, field, apply)
    guide = order if order is not None else [p for p in patch if p.get(PATCH) != "delete"]
    return _ordered(merged, guide, old, key)


def _check_list_order(key: str, order: Json, patch: Mapping[str, Any], struct: Struct | None) -> None:
    field, items = field_of(struct, key), patch.get(key)
    if field is not None and isinstance(items, list) and isinstance(order, list):
        _check_order(items, order, field.merge_key)


def _check_order(patch: list[Json], order: list[Json], key: str) -> None:
    """The items of a patch must come in the order that its ``$setElementOrder`` gives."""
    kept = [p for p in patch if not (isinstance(p, dict) and p.get(PATCH) == "delete")]
    wanted = iter(_identities(order, key))
    if not all(identity in wanted for identity in _identities(kept, key)):
        shown, guide = go_format(patch), go_format(order)
        raise PatchError(
            f"The order in patch list:\n{shown}\n doesn't match $setElementOrder list:\n{guide}\n"
        )


def _merge_items(old: list[Json], patch: list[Json], field: Field, apply: bool) -> list[Json]:
    key = field.merge_key
    struct = struct_below(field)
    merged: list[Json] = list(old)
    places: dict[Json, list[int]] = {}
    for index, item in enumerate(old):
        places.setdefault(_identity(item, key), []).append(index)
    for item in patch:
        if not isinstance(item, dict):
            raise PatchError("list element of patch is not an object")
        if key not in item:
            raise PatchError(f"map: {go_format(item)} does not contain declared merge key: {key}")
        identity = _identity(item, key)
        if item.get(PATCH) == "delete" and apply:
            for index in places.pop(identity, ()):
                merged[index] = None
        elif identity in places:
            index = places[identity][0]
            merged[index] = merge_map(merged[index], item, struct, apply)
        else:
            places[identity] = [len(merged)]
            merged.append(_without_directives(item) if apply else item)
    return [item for item in merged if item is not None]


def _identity(item: Json, key: str) -> Json:
    """What tells an item of a list from the others. Raises PatchError where nothing can."""
    found = item.get(key) if key and isinstance(item, dict) else item
    if isinstance(found, dict | list):
        raise PatchError(f"unexpected merge key {go_format(found)}")
    return found


def _identities(items: Iterable[Json], key: str) -> list[Json]:
    return [_identity(item, key) for item in items]


def _ordered(items: list[Json], guide: Sequence[Json], server: Sequence[Json], key: str) -> list[Json]:
    """Go's ``normalizeElementOrder``: the items the guide names in its order, the rest in the server's
    order, and the two merged so that server order decides where it knows both."""
    wanted = {i: n for n, i in reversed(list(enumerate(_identities(guide, key))))}
    known = {i: n for n, i in reversed(list(enumerate(_identities(server, key))))}
    named: list[tuple[Json, Json]] = []
    others: list[tuple[Json, Json]] = []
    for item, identity in zip(items, _identities(items, key), strict=True):
        (named if identity in wanted else others).append((identity, item))
    named.sort(key=lambda pair: wanted[pair[0]])
    out: list[Json] = []
    left = right = 0
    while left < len(others) and right < len(named):
        li, ri = known.get(others[left][0]), known.get(named[right][0])
        if li is not None and ri is not None and li < ri:
            out.append(others[left][1])
            left += 1
        else:
            out.append(named[right][1])
            right += 1
    out += [item for _, item in others[left:]]
    out += [item for _, item in named[right:]]
    return out


def _reorder(draft: _Draft, key: str, order: list[Json], struct: Struct | None) -> None:
    current = draft.get(key)
    field = field_of(struct, key)
    if isinstance(current, list) and field is not None and field.merges:
        draft.set(key, _ordered(current, order, current, field.merge_key))
