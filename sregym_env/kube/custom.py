"""Custom resources: pruning, defaulting and validating by the ``openAPIV3Schema`` of their definition.

All functions are pure and share structure with their input. Texts are those of the API server's
structural schema code and of ``k8s.io/kube-openapi/pkg/validation``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sregym_env.kube.registry import Resource
from sregym_env.kube.status import FieldError, cannot_handle, invalid_value, required, too_long, unsupported
from sregym_env.kube.types import Json, Manifest

Schema = Mapping[str, Any]

_ROOT = frozenset(("apiVersion", "kind", "metadata"))


def prune(schema: Schema, obj: Manifest) -> tuple[Manifest, tuple[str, ...]]:
    """The object without the fields its schema does not know, and a text for each
    (``unknown field "spec.foo"``)."""
    unknown: list[str] = []
    return _prune(schema, obj, "", unknown, True), tuple(unknown)


def decode(
    resource: Resource, schema: Schema, obj: Manifest, strict: bool
) -> tuple[Manifest, tuple[str, ...]]:
    """Like :func:`prune`; raises StatusError 400 on unknown fields when ``strict``."""
    made, unknown = prune(schema, obj)
    if unknown and strict:
        text = "strict decoding error: " + ", ".join(unknown)
        raise cannot_handle(resource.kind, resource.version, text)
    return made, unknown


def _prune(schema: Schema, value: Json, where: str, unknown: list[str], root: bool = False) -> Json:
    if isinstance(value, list):
        items = schema.get("items")
        if items is None:
            return value
        new = [_prune(items, v, f"{where}[{i}]", unknown) for i, v in enumerate(value)]
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    if not isinstance(value, dict):
        return value
    known = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    keeps = schema.get("x-kubernetes-preserve-unknown-fields") or others is True
    changed: dict[str, Json] | None = None
    for key, child in value.items():
        at = f"{where}.{key}" if where else key
        if root and key in _ROOT:
            continue
        if key in known:
            new = _prune(known[key], child, at, unknown)
        elif isinstance(others, Mapping):
            new = _prune(others, child, at, unknown)
        elif keeps:
            continue
        else:
            unknown.append(f'unknown field "{at}"')
            changed = dict(value) if changed is None else changed
            del changed[key]
            continue
        if new is not child:
            changed = dict(value) if changed is None else changed
            changed[key] = new
    return value if changed is None else changed


def apply_schema_defaults(schema: Schema, value: Json) -> Json:
    """The value with the ``default`` of every missing field whose parent is there."""
    if isinstance(value, list):
        items = schema.get("items")
        if items is None:
            return value
        new = [apply_schema_defaults(items, v) for v in value]
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    if not isinstance(value, dict):
        return value
    changed: dict[str, Json] | None = None
    for key, field in (schema.get("properties") or {}).items():
        child = value.get(key)
        if child is None and "default" in field and not (key in value and field.get("nullable")):
            child = field["default"]
        if child is None:
            continue
        new = apply_schema_defaults(field, child)
        if new is not value.get(key):
            changed = dict(value) if changed is None else changed
            changed[key] = new
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        for key, child in value.items():
            new = apply_schema_defaults(others, child)
            if new is not child:
                changed = dict(value) if changed is None else changed
                changed[key] = new
    return value if changed is None else changed


def validate(schema: Schema, obj: Manifest) -> list[FieldError]:
    """Complaints about a custom resource (its metadata is checked elsewhere)."""
    out: list[FieldError] = []
    for key in schema.get("required") or ():
        if key not in obj:
            out.append(required(key))
    for key, field in (schema.get("properties") or {}).items():
        if key not in _ROOT and key in obj:
            _validate(field, obj[key], key, out)
    return out


def _type_name(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _validate(schema: Schema, value: Json, where: str, out: list[FieldError]) -> None:
    kind = _type_name(value)
    wanted = schema.get("type")
    if value is None and schema.get("nullable"):
        return
    if schema.get("x-kubernetes-int-or-string"):
        if kind not in ("integer", "string"):
            text = f'{where} in body must be of type integer,string: "{kind}"'
            out.append(invalid_value(where, kind, text))
        return
    if wanted and kind != wanted and not (wanted == "number" and kind == "integer"):
        out.append(invalid_value(where, kind, f'{where} in body must be of type {wanted}: "{kind}"'))
        return
    allowed = schema.get("enum")
    if allowed is not None and value not in allowed:
        out.append(unsupported(where, value, [str(a) for a in allowed]))
    if kind in ("integer", "number"):
        _number(schema, value, where, out)
    elif kind == "string":
        _string(schema, value, where, out)
    elif kind == "array":
        _array(schema, value, where, out)
    elif kind == "object":
        _object(schema, value, where, out)


def _number(schema: Schema, value: float, where: str, out: list[FieldError]) -> None:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None:
        exclusive = schema.get("exclusiveMinimum")
        if value < low or (exclusive and value == low):
            word = "greater than" if exclusive else "greater than or equal to"
            out.append(invalid_value(where, value, f"{where} in body should be {word} {low}"))
    if high is not None:
        exclusive = schema.get("exclusiveMaximum")
        if value > high or (exclusive and value == high):
            word = "less than" if exclusive else "less than or equal to"
            out.append(invalid_value(where, value, f"{where} in body should be {word} {high}"))


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None  # Go accepts some syntax that Python does not


def _string(schema: Schema, value: str, where: str, out: list[FieldError]) -> None:
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least is not None and len(value) < least:
        out.append(invalid_value(where, value, f"{where} in body should be at least {least} chars long"))
    if most is not None and len(value) > most:
        out.append(too_long(where, most))
    pattern = schema.get("pattern")
    if pattern is not None:
        compiled = _compiled(pattern)
        if compiled is not None and not compiled.search(value):
            out.append(invalid_value(where, value, f"{where} in body should match '{pattern}'"))


def _array(schema: Schema, value: list[Json], where: str, out: list[FieldError]) -> None:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        out.append(invalid_value(where, len(value), f"{where} in body should have at least {least} items"))
    if most is not None and len(value) > most:
        text = f"must have at most {most} items"
        out.append(FieldError("Too many", where, len(value), text))
    items = schema.get("items")
    if items is not None:
        for index, item in enumerate(value):
            _validate(items, item, f"{where}[{index}]", out)


def _object(schema: Schema, value: Manifest, where: str, out: list[FieldError]) -> None:
    for key in schema.get("required") or ():
        if key not in value:
            out.append(required(f"{where}.{key}"))
    known = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    for key, child in value.items():
        if key in known:
            _validate(known[key], child, f"{where}.{key}", out)
        elif isinstance(others, Mapping):
            _validate(others, child, f"{where}.{key}", out)
