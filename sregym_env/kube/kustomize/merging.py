"""Strategic merges the way kustomize does them: items that are new to a list go before those that are there."""

from __future__ import annotations

from typing import Any

from sregym_env.kube.patch.strategic import PATCH, field_of, struct_below
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.schema import Field, Struct, struct_of
from sregym_env.kube.types import Manifest

_GONE = object()


def strategic(obj: Manifest, patch: Manifest) -> Manifest | None:
    """The object with a patch merged in; None when the patch deletes it."""
    known = BUILTIN.by_kind(str(obj.get("apiVersion", "")), str(obj.get("kind", "")))
    made = _map(obj, patch, struct_of(known) if known is not None else None)
    return None if made is _GONE else made


def _map(held: Any, patch: Manifest, struct: Struct | None) -> Any:
    directive = patch.get(PATCH)
    body = {key: value for key, value in patch.items() if key != PATCH}
    if directive == "delete":
        return _GONE
    if directive == "replace" or not isinstance(held, dict):
        return _plain(body)
    made = dict(held)
    for key, value in body.items():
        if value is None:
            made.pop(key, None)
            continue
        merged = _value(made.get(key), value, field_of(struct, key))
        if merged is _GONE:
            made.pop(key, None)
        else:
            made[key] = merged
    return made


def _value(held: Any, patch: Any, field: Field | None) -> Any:
    if isinstance(patch, dict):
        return _map(held, patch, struct_below(field))
    if isinstance(patch, list):
        if field is not None and field.merges:
            return _items(held if isinstance(held, list) else [], patch, field)
        if any(isinstance(item, dict) and PATCH in item for item in patch):
            return _items([], patch, None)
    return patch


def _items(held: list[Any], patch: list[Any], field: Field | None) -> Any:
    directives = [item for item in patch if isinstance(item, dict) and set(item) == {PATCH}]
    rest = [item for item in patch if item not in directives]
    if any(item[PATCH] == "delete" for item in directives):
        return _GONE
    if any(item[PATCH] == "replace" for item in directives) or field is None:
        return [_plain(item) for item in rest]
    if not field.merge_key:
        return [*held, *(item for item in rest if item not in held)]
    struct = struct_below(field)
    made = list(held)
    new: list[Any] = []
    for item in rest:
        identity = item.get(field.merge_key) if isinstance(item, dict) else None
        at = next(
            (
                n
                for n, old in enumerate(made)
                if identity is not None and old.get(field.merge_key) == identity
            ),
            -1,
        )
        if at < 0:
            if not (isinstance(item, dict) and item.get(PATCH) == "delete"):
                new.append(_plain(item))
            continue
        merged = _map(made[at], item, struct)
        made[at : at + 1] = [] if merged is _GONE else [merged]
    return [*new, *made]


def _plain(value: Any) -> Any:
    """A value without directives and without what it says to remove."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k != PATCH and v is not None}
    if isinstance(value, list):
        return [
            _plain(item) for item in value if not (isinstance(item, dict) and item.get(PATCH) == "delete")
        ]
    return value
