"""The order in which Go writes the fields of API structs, and JSON in that order.

kubectl prints what it got from the server with sorted keys, but objects it made itself the way Go marshals their
structs. The order comes from the program itself (``tools_dev/build_field_order.py``).
"""

from __future__ import annotations

import gzip
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import unsorted_compact_json, unsorted_json

_Structs = dict[str, dict[str, tuple[str, str]]]

_DATA = "order-1.32.json.gz"


@lru_cache(maxsize=1)
def _order() -> tuple[dict[str, str], _Structs]:
    """Struct by ``apiVersion kind``; for each struct its fields in order, with the struct below each and its zero."""
    data = orjson.loads(gzip.decompress((files("sregym_env.kube") / "data" / _DATA).read_bytes()))
    structs = {
        name: {field: (below, zero) for field, below, zero in (entry.split(":", 2) for entry in fields)}
        for name, fields in data["structs"].items()
    }
    return data["kinds"], structs


def in_go_order(obj: Manifest) -> Manifest:
    """The object with its keys in the order of the Go structs; of an unknown kind as it is."""
    kinds, structs = _order()
    if obj.get("kind") == "List" and "items" in obj:
        rest = {
            key: value for key, value in obj.items() if key not in ("kind", "apiVersion", "metadata", "items")
        }
        items = [in_go_order(item) for item in obj["items"]]
        return {
            "kind": "List",
            "apiVersion": "v1",
            "metadata": obj.get("metadata", {}),
            **rest,
            "items": items,
        }
    struct = kinds.get(f"{obj.get('apiVersion')} {obj.get('kind')}")
    ordered: Manifest = obj if struct is None else _ordered(obj, struct, structs)
    return ordered


def with_zeros(obj: Manifest) -> Manifest:
    """The object as Go writes it after having read it into its structs: with the empty fields that it never omits."""
    kinds, structs = _order()
    struct = kinds.get(f"{obj.get('apiVersion')} {obj.get('kind')}")
    filled: Manifest = obj if struct is None else _filled(obj, struct, structs)
    return filled


def _filled(value: Any, struct: str, structs: _Structs) -> Any:
    if isinstance(value, list):
        return [_filled(item, struct, structs) for item in value]
    if not isinstance(value, dict):
        return value
    fields = structs[struct]
    if value and not any(key in fields for key in value):
        return {key: _filled(item, struct, structs) for key, item in value.items()}  # a map of structs
    made = {key: _filled(item, fields[key][0], structs) if key in fields and fields[key][0] else item
            for key, item in value.items()}  # fmt: skip
    for field, (below, zero) in fields.items():
        if zero and made.get(field) is None:
            made[field] = _filled({}, below, structs) if zero == "*" else orjson.loads(zero)
    return made


def _ordered(value: Any, struct: str, structs: _Structs) -> Any:
    if isinstance(value, list):
        return [_ordered(item, struct, structs) for item in value]
    if not isinstance(value, dict):
        return value
    fields = structs[struct]
    if not any(key in fields for key in value):
        return {key: _ordered(value[key], struct, structs) for key in sorted(value)}  # a map of structs
    made = {}
    for field, (below, _) in fields.items():
        if field in value:
            made[field] = _ordered(value[field], below, structs) if below else _plain(value[field])
    return {**made, **{key: value[key] for key in sorted(value) if key not in fields}}


def _plain(value: Any) -> Any:
    return {key: value[key] for key in sorted(value)} if isinstance(value, dict) else value


def to_go_json(obj: Manifest) -> str:
    """``kubectl -o json`` of an object that kubectl made itself."""
    return unsorted_json(in_go_order(obj))


def to_compact_go_json(obj: Manifest) -> str:
    """Go's ``json.Marshal`` of a struct."""
    return unsorted_compact_json(in_go_order(obj))
