"""The three patch formats of the API server, and the patches kubectl computes.

All functions are pure and share structure: what a patch does not touch is the same object in the
result, and a patch without effect returns the original object itself.

* :func:`json_patch` - RFC 6902, with the error texts of ``evanphx/json-patch``.
* :func:`merge_patch` - RFC 7386.
* :func:`strategic_merge_patch` - Kubernetes' own, driven by the patch keys of the schema, with
  ``$patch``, ``$setElementOrder``, ``$deleteFromPrimitiveList`` and ``$retainKeys``.
* :func:`two_way` and :func:`three_way` - the strategic patches of ``kubectl edit`` and ``apply``.
* :func:`two_way_merge` and :func:`three_way_merge` - the same as merge patches, for custom resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.registry import Resource
from sregym_env.kube.schema import Field, Struct, Type, go_format, struct_of
from sregym_env.kube.types import Json, Manifest


class PatchError(ValueError):
    """A patch that cannot be applied; the text is what the API server says."""


# --- RFC 6902 ---------------------------------------------------------------------------------------


def json_patch(obj: Json, operations: Sequence[Mapping[str, Any]]) -> Json:
    """Apply a JSON patch; raises PatchError worded as the API server's library."""
    if not isinstance(operations, list | tuple):
        raise PatchError("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    for operation in operations:
        obj = _apply_operation(obj, operation)
    return obj


def _apply_operation(obj: Json, operation: Mapping[str, Any]) -> Json:
    kind = operation.get("op") or "unknown"
    path = operation.get("path")
    if kind not in ("add", "remove", "replace", "move", "copy", "test"):
        raise PatchError(f"Unexpected kind: {kind}")
    if not isinstance(path, str):
        raise PatchError(f"{kind} operation failed to decode path: missing value")
    if kind == "test":
        return _test(obj, path, operation)
    if kind == "add":
        return _point(obj, path, _split(path), _Add(operation.get("value"), path))
    if kind == "replace":
        return _point(obj, path, _split(path), _Replace(operation.get("value"), path))
    if kind == "remove":
        return _point(obj, path, _split(path), _Remove(path))
    source = operation.get("from")
    if not isinstance(source, str):
        raise PatchError(
            f"{kind} operation failed to decode from: operation, missing from field: missing value"
        )
    if kind == "copy":
        return _point(obj, path, _split(path), _Add(_lookup(obj, source, "copy"), path))
    value = _lookup(obj, source, "move")
    obj = _point(obj, source, _split(source), _Remove(source))
    return _point(obj, path, _split(path), _Add(value, path))


def _split(path: str) -> list[str]:
    if not path:
        return []
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _test(obj: Json, path: str, operation: Mapping[str, Any]) -> Json:
    value = _lookup(obj, path, "test")
    if not json_equal(value, operation.get("value")):
        raise PatchError(f"testing value {path} failed: test failed")
    return obj


def json_equal(left: Json, right: Json) -> bool:
    """Equality of JSON values; unlike in Python, true is not 1."""
    if left is right:
        return True
    if type(left) is not type(right):
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        return numbers and not isinstance(left, bool) and not isinstance(right, bool) and left == right
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            k in right and json_equal(v, right[k]) for k, v in left.items()
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(json_equal(a, b) for a, b in zip(left, right, strict=True))
    return bool(left == right)


def _lookup(obj: Json, path: str, verb: str) -> Json:
    """The value at a pointer. A missing last key of an object is null, except for a move."""
    steps = _split(path)
    for depth, step in enumerate(steps):
        last = depth == len(steps) - 1
        if isinstance(obj, dict) and step in obj:
            obj = obj[step]
        elif isinstance(obj, list) and step.isdigit() and int(step) < len(obj):
            obj = obj[int(step)]
        elif last and isinstance(obj, dict):
            if verb == "move":
                raise PatchError(
                    f"error in move for path: '{step}': "
                    f"Unable to remove nonexistent key: {step}: missing value"
                )
            return None
        elif last and isinstance(obj, list) and step.isdigit():
            where = f"path: '{step}'" if verb == "move" else f"from: '{path}'"
            raise PatchError(
                f"error in {verb} for {where}: Unable to access invalid index: {step}: invalid index referenced"
            )
        else:
            what = "is missing path" if verb == "test" else "doc is missing from path"
            raise PatchError(f"{verb} operation does not apply: {what}: {path}: missing value")
    return obj


@dataclass(frozen=True, slots=True)
class _Add:
    value: Json
    path: str
    verb: str = "add"

    def in_dict(self, target: dict[str, Json], key: str) -> Json:
        return {**target, key: self.value}

    def in_list(self, target: list[Json], key: str) -> Json:
        if key == "-":
            return [*target, self.value]
        index = _index(key, self.path, "add")
        if not -len(target) - 1 <= index <= len(target):
            raise PatchError(_bad_index("add", self.path, index))
        if index < 0:
            index += len(target) + 1
        return [*target[:index], self.value, *target[index:]]


@dataclass(frozen=True, slots=True)
class _Replace:
    value: Json
    path: str
    verb: str = "replace"

    def in_dict(self, target: dict[str, Json], key: str) -> Json:
        # Unlike the RFC, the API server's library lets a replace create the key.
        return {**target, key: self.value}

    def in_list(self, target: list[Json], key: str) -> Json:
        index = _index(key, self.path, "replace")
        if not -len(target) <= index < len(target):
            raise PatchError(f"Object to be patched is missing field ({self.path}: missing value)")
        index %= len(target)
        return [*target[:index], self.value, *target[index + 1 :]]


@dataclass(frozen=True, slots=True)
class _Remove:
    path: str
    verb: str = "remove"

    def in_dict(self, target: dict[str, Json], key: str) -> Json:
        if key not in target:
            raise PatchError(
                f"error in remove for path: '{self.path}': "
                f"Unable to remove nonexistent key: {key}: missing value"
            )
        return {k: v for k, v in target.items() if k != key}

    def in_list(self, target: list[Json], key: str) -> Json:
        index = _index(key, self.path, "remove")
        if not -len(target) <= index < len(target):
            raise PatchError(_bad_index("remove", self.path, index))
        index %= len(target)
        return [*target[:index], *target[index + 1 :]]


_Change = _Add | _Replace | _Remove


def _bad_index(verb: str, path: str, index: int) -> str:
    return (
        f"error in {verb} for path: '{path}': "
        f"Unable to access invalid index: {index}: invalid index referenced"
    )


def _index(key: str, path: str, verb: str) -> int:
    try:
        return int(key)
    except ValueError:
        text = f'strconv.Atoi: parsing "{key}": invalid syntax'
        raise PatchError(f"error in {verb} for path: '{path}': {text}") from None


def _point(obj: Json, path: str, steps: list[str], change: _Change) -> Json:
    if not steps:
        if isinstance(change, _Remove):
            raise PatchError(f'remove operation does not apply: doc is missing path: "{path}": missing value')
        return change.value
    step = steps[0]
    if len(steps) == 1:
        if isinstance(obj, dict):
            return change.in_dict(obj, step)
        if isinstance(obj, list):
            return change.in_list(obj, step)
    elif isinstance(obj, dict) and isinstance(obj.get(step), dict | list):
        return {**obj, step: _point(obj[step], path, steps[1:], change)}
    elif isinstance(obj, list) and step.isdigit() and int(step) < len(obj):
        index = int(step)
        return [*obj[:index], _point(obj[index], path, steps[1:], change), *obj[index + 1 :]]
    shown = path if change.verb == "replace" else f'"{path}"'
    raise PatchError(f"{change.verb} operation does not apply: doc is missing path: {shown}: missing value")


# --- RFC 7386 ---------------------------------------------------------------------------------------


def merge_patch(obj: Json, patch: Json) -> Json:
    """Apply a JSON merge patch: objects merge, nulls delete, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    base = obj if isinstance(obj, dict) else {}
    changed: dict[str, Json] | None = None if isinstance(obj, dict) else {}
    for key, value in patch.items():
        if value is None:
            if key in base:
                changed = dict(base) if changed is None else changed
                changed.pop(key, None)
            continue
        old = base.get(key)
        new = merge_patch(old, value) if isinstance(value, dict) else value
        if new is not old and not (key in base and json_equal(new, old)):
            changed = dict(base) if changed is None else changed
            changed[key] = new
    return obj if changed is None else changed


def two_way_merge(original: Mapping[str, Any], modified: Mapping[str, Any]) -> Manifest:
    """The merge patch that turns ``original`` into ``modified``."""
    return _diff_merge(original, modified, True, True)


def three_way_merge(
    original: Mapping[str, Any], modified: Mapping[str, Any], current: Mapping[str, Any]
) -> Manifest:
    """The merge patch of ``kubectl apply`` for kinds without patch keys (custom resources)."""
    additions = _diff_merge(current, modified, True, False)
    deletions = _diff_merge(original, modified, False, True)
    return _overlay(deletions, additions)


def _diff_merge(
    original: Mapping[str, Any], modified: Mapping[str, Any], additions: bool, deletions: bool
) -> Manifest:
    patch: Manifest = {}
    for key, value in modified.items():
        old = original.get(key)
        if key in original and isinstance(old, dict) and isinstance(value, dict):
            if inner := _diff_merge(old, value, additions, deletions):
                patch[key] = inner
        elif additions and not (key in original and json_equal(old, value)):
            patch[key] = value
    if deletions:
        for key in original:
            if key not in modified:
                patch[key] = None
    return patch


def _overlay(below: Manifest, above: Manifest) -> Manifest:
    out = dict(below)
    for key, value in above.items():
        old = out.get(key)
        out[key] = _overlay(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return out


# --- strategic merge patch: applying ---------------------------------------------------------------------

_PATCH = "$patch"
_ORDER = "$setElementOrder/"
_DELETE = "$deleteFromPrimitiveList/"
_RETAIN = "$retainKeys"


def _field_of(struct: Struct | None, key: str) -> Field | None:
    return struct.fields.get(key) if struct is not None else None


def _item_struct(type_: Type | None) -> Struct | None:
    """The struct below a field: itself, or the one of its list elements or map values."""
    while type_ is not None and type_.item is not None:
        type_ = type_.item
    return type_.struct if type_ is not None else None


def _below(field: Field | None) -> Struct | None:
    return _item_struct(field.type) if field is not None else None


def strategic_merge_patch(obj: Manifest, patch: Mapping[str, Any], resource: Resource) -> Manifest:
    """Apply a strategic merge patch; raises PatchError with the API server's text."""
    struct = struct_of(resource)
    if struct is None:
        raise PatchError("strategic merge patch format is not supported")
    merged = _merge_map(obj, patch, struct)
    return {} if merged is None else merged


def _merge_map(
    obj: Manifest, patch: Mapping[str, Any], struct: Struct | None, apply: bool = True
) -> Manifest:
    """Merge a patch into an object, or (``apply=False``) a patch into another patch."""
    directive = patch.get(_PATCH)
    if directive is not None:
        return _replaced(directive, patch)
    draft = _Draft(obj)
    if apply and _RETAIN in patch:
        _retain_keys(draft, patch)
    for key, value in patch.items():
        if key.startswith("$"):
            if not apply:
                draft.set(key, value)
            elif key.startswith(_DELETE):
                _delete_primitives(draft, key.removeprefix(_DELETE), value)
            elif key.startswith(_ORDER):
                _check_list_order(key.removeprefix(_ORDER), value, patch, struct)
            elif key != _RETAIN:
                raise PatchError(f"Unknown directive: {key}")  # nothing else starts with a dollar sign
            continue
        _merge_key(draft, key, value, patch, struct, apply)
    if apply:
        for key, value in patch.items():
            if key.startswith(_ORDER) and key.removeprefix(_ORDER) not in patch:
                _reorder(draft, key.removeprefix(_ORDER), value, struct)
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
        return {k: _without_directives(v) for k, v in patch.items() if k != _PATCH}
    if directive == "delete":
        return {}
    if directive == "merge":
        return {k: v for k, v in patch.items() if k != _PATCH}
    raise PatchError(f"unknown patch type: {directive} in map: {go_format(patch)}")


def _retain_keys(draft: _Draft, patch: Mapping[str, Any]) -> None:
    keep = patch[_RETAIN]
    if not isinstance(keep, list):
        raise PatchError("invalid patch format of retainKeys")
    for key, value in patch.items():
        if value is not None and not key.startswith("$") and key not in keep:
            raise PatchError("invalid patch format of retainKeys")
    for key in draft.key_list():
        if key not in keep:
            draft.delete(key)


def _delete_primitives(draft: _Draft, key: str, values: Json) -> None:
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
    field = _field_of(struct, key)
    old = draft.get(key)
    if isinstance(value, dict):
        if field is not None and field.strategy == "replace":
            draft.set(key, _without_directives(value))
        else:
            merged = _merge_map(old, value, _below(field), apply)
            if _PATCH in value:
                draft.set(key, merged)
            elif merged is not old:
                draft.put(key, merged)  # known to differ: no need to compare
    elif isinstance(value, list):
        if field is not None and field.merges:
            order = patch.get(_ORDER + key)
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
        items = [v for v in value if not (isinstance(v, dict) and v.get(_PATCH) in ("delete", "replace"))]
        return [_without_directives(v) for v in items]
    return value


def _merge_list(
    old: list[Json], patch: list[Json], field: Field, order: list[Json] | None, apply: bool
) -> list[Json]:
    if not old and not patch:
        return old
    sample = old[0] if old else patch[0]
    if not isinstance(sample, dict):
        merged = list(dict.fromkeys([*old, *patch]))
        return _ordered(merged, order if order is not None else patch, old, "")
    key = field.merge_key
    replaced = any(isinstance(p, dict) and p.get(_PATCH) == "replace" for p in patch)
    if replaced and apply:
        kept: list[Json] = _without_directives(patch)
        return kept
    merged = _merge_items(old, patch, field, apply)
    guide = order if order is not None else [p for p in patch if p.get(_PATCH) != "delete"]
    return _ordered(merged, guide, old, key)


def _check_list_order(key: str, order: Json, patch: Mapping[str, Any], struct: Struct | None) -> None:
    field, items = _field_of(struct, key), patch.get(key)
    if field is not None and isinstance(items, list) and isinstance(order, list):
        _check_order(items, order, field.merge_key)


def _check_order(patch: list[Json], order: list[Json], key: str) -> None:
    """The items of a patch must come in the order that its ``$setElementOrder`` gives."""
    kept = [p for p in patch if not (isinstance(p, dict) and p.get(_PATCH) == "delete")]
    wanted = iter(_identities(order, key))
    if not all(identity in wanted for identity in _identities(kept, key)):
        shown, guide = go_format(patch), go_format(order)
        raise PatchError(
            f"The order in patch list:\n{shown}\n doesn't match $setElementOrder list:\n{guide}\n"
        )


def _merge_items(old: list[Json], patch: list[Json], field: Field, apply: bool) -> list[Json]:
    key = field.merge_key
    struct = _below(field)
    merged = list(old)
    for item in patch:
        if not isinstance(item, dict):
            raise PatchError("list element of patch is not an object")
        identity = item.get(key)
        if key not in item:
            raise PatchError(f"map: {go_format(item)} does not contain declared merge key: {key}")
        index = _position(merged, key, identity)
        if item.get(_PATCH) == "delete" and apply:
            merged = [m for m in merged if m.get(key) != identity]
        elif index < 0:
            merged.append(_without_directives(item) if apply else item)
        else:
            merged[index] = _merge_map(merged[index], item, struct, apply)
    return merged


def _position(items: Sequence[Json], key: str, identity: Json) -> int:
    for index, item in enumerate(items):
        if (item.get(key) if key else item) == identity:
            return index
    return -1


def _identities(items: Iterable[Json], key: str) -> list[Json]:
    return [item.get(key) if key and isinstance(item, dict) else item for item in items]


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
    field = _field_of(struct, key)
    if isinstance(current, list) and field is not None and field.merges:
        draft.set(key, _ordered(current, order, current, field.merge_key))


# --- strategic merge patch: computing ----------------------------------------------------------------------


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
    return _merge_map(deletions, delta, struct, apply=False)


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
        field = _field_of(struct, key)
        if isinstance(before, dict) and isinstance(value, dict):
            keeps = field is not None and field.retain_keys
            if inner := _diff_map(before, value, _below(field), want, keeps):
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
        patch[_RETAIN] = sorted(k for k, v in new.items() if v is not None)
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
        patch[_DELETE + key] = removed
    if removed or (want.changes and old != new):
        if new:
            patch[_ORDER + key] = list(new)


def _diff_objects(
    patch: Manifest, key: str, old: list[Json], new: list[Json], field: Field, want: _Want
) -> None:
    merge_key = field.merge_key
    struct = _below(field)
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
        items += [{_PATCH: "delete", merge_key: i} for i in sorted(gone, key=str)]
    same_order = list(before) == list(after)
    if items:
        patch[key] = items
    if (want.changes and (items or not same_order)) or (want.deletions and items):
        if new:
            patch[_ORDER + key] = [{merge_key: i} for i in after]
