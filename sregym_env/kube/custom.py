"""Custom resources: pruning, defaulting and validating by the ``openAPIV3Schema`` of their definition.

All functions are pure and share structure with their input. Texts are those of the API server's
structural schema code and of ``k8s.io/kube-openapi/pkg/validation``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import re2

from sregym_env.kube import formats
from sregym_env.kube.status import (
    FieldError,
    GoValue,
    go_quote,
    invalid_value,
    required,
    too_long,
    unsupported,
)
from sregym_env.kube.types import Json, Manifest

Schema = Mapping[str, Any]

_ROOT = frozenset(("apiVersion", "kind", "metadata"))
ABSENT: Any = object()
"""In place of an old value: there is none, or none that is known to correspond."""


def prune(schema: Schema, obj: Manifest) -> tuple[Manifest, tuple[str, ...]]:
    """The object without the fields its schema does not know, and a text for each
    (``unknown field "spec.foo"``), sorted."""
    unknown: list[str] = []
    made = _prune(schema, obj, "", unknown, True)
    return made, tuple(f'unknown field "{path}"' for path in sorted(unknown))


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
    root = root or bool(schema.get("x-kubernetes-embedded-resource"))
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
            unknown.append(at)
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
            if child is None and "default" in others and not others.get("nullable"):
                child = others["default"]
            new = apply_schema_defaults(others, child)
            if new is not value[key]:
                changed = dict(value) if changed is None else changed
                changed[key] = new
    return value if changed is None else changed


# --- validation ------------------------------------------------------------------------------------


def validate(schema: Schema, obj: Manifest, old: Manifest | None = None) -> list[FieldError]:
    """Complaints about a custom resource (its metadata is checked elsewhere).

    Values that are the same in ``old`` are not complained about (validation ratcheting).
    """
    out: list[FieldError] = []
    for key in schema.get("required") or ():
        if key not in obj and (old is None or key in old):
            out.append(required(key))
    for key, field in (schema.get("properties") or {}).items():
        if key not in _ROOT and key in obj:
            validate_at(field, obj[key], key, out, ABSENT if old is None else old.get(key, ABSENT))
    _combined(schema, obj, "", out)
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        for key, child in obj.items():
            if key not in _ROOT:
                validate_at(others, child, key, out, ABSENT if old is None else old.get(key, ABSENT))
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


def validate_at(schema: Schema, value: Json, where: str, out: list[FieldError], old: Json = ABSENT) -> None:
    """Note what a schema has to complain about a value at a path."""
    if old is value or (old is not ABSENT and old == value and type(old) is type(value)):
        return
    kind = _type_name(value)
    wanted = schema.get("type")
    if value is None and schema.get("nullable"):
        return
    if schema.get("x-kubernetes-int-or-string"):
        if kind not in ("integer", "string"):
            text = f'{where} in body must be of type integer,string: "{kind}"'
            out.append(_type_invalid(where, kind, text))
            return
    elif wanted and kind != wanted and not (wanted == "number" and kind == "integer"):
        out.append(_type_invalid(where, kind, f'{where} in body must be of type {wanted}: "{kind}"'))
        return
    allowed = schema.get("enum")
    if allowed is not None and value not in allowed:
        out.append(unsupported(where, value, [a if isinstance(a, str) else _enum_text(a) for a in allowed]))
    if kind in ("integer", "number"):
        _number(schema, value, where, out)
    elif kind == "string":
        _string(schema, value, where, out)
    elif kind == "array":
        _array(schema, value, where, out, old)
    elif kind == "object":
        _object(schema, value, where, out, old)
    _combined(schema, value, where, out)


def _type_invalid(where: str, kind: str, text: str) -> FieldError:
    return BlockingError("Invalid value", where, kind, text)


class BlockingError(FieldError):
    """A complaint about a type: rules cannot be asked about such a value."""

    __slots__ = ()


def _enum_text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _bound(value: float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(schema: Schema, value: float, where: str, out: list[FieldError]) -> None:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None:
        exclusive = schema.get("exclusiveMinimum")
        if value < low or (exclusive and value == low):
            word = "greater than" if exclusive else "greater than or equal to"
            out.append(invalid_value(where, value, f"{where} in body should be {word} {_bound(low)}"))
    if high is not None:
        exclusive = schema.get("exclusiveMaximum")
        if value > high or (exclusive and value == high):
            word = "less than" if exclusive else "less than or equal to"
            out.append(invalid_value(where, value, f"{where} in body should be {word} {_bound(high)}"))
    factor = schema.get("multipleOf")
    if factor and value % factor:
        out.append(invalid_value(where, value, f"{where} in body should be a multiple of {_bound(factor)}"))


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    """A pattern in Go's syntax (RE2); None where it is none."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def is_pattern(pattern: str) -> bool:
    """Whether a pattern is a regular expression in Go's syntax."""
    return _compiled(pattern) is not None


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
    format_ = schema.get("format")
    if format_ and not formats.is_valid(format_, value):
        text = f"{where} in body must be of type {format_}: {go_quote(value)}"
        out.append(invalid_value(where, value, text))


def _array(schema: Schema, value: list[Json], where: str, out: list[FieldError], old: Json) -> None:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        out.append(invalid_value(where, len(value), f"{where} in body should have at least {least} items"))
    if most is not None and len(value) > most:
        text = f"must have at most {most} items"
        out.append(FieldError("Too many", where, len(value), text))
    items = schema.get("items")
    if items is not None:
        before = correlated_items(schema, old)
        for index, item in enumerate(value):
            validate_at(items, item, f"{where}[{index}]", out, before(item))
    _unique(schema, value, where, out)


def correlated_items(schema: Schema, old: Json) -> Callable[[Json], Json]:
    """Which item of an old list an item of a new one corresponds to, by the keys of a map list."""
    keys = schema.get("x-kubernetes-list-map-keys")
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map" or not keys:
        return _nothing
    known = {_key_of(item, schema): item for item in old if isinstance(item, dict)}
    return lambda item: known.get(_key_of(item, schema), ABSENT) if isinstance(item, dict) else ABSENT


def _nothing(_item: Json) -> Json:
    return ABSENT


def _key_of(item: Manifest, schema: Schema) -> str:
    fields = (schema.get("items") or {}).get("properties") or {}
    found = {
        key: item.get(key, (fields.get(key) or {}).get("default"))
        for key in schema["x-kubernetes-list-map-keys"]
    }
    return go_interface(found)


def _unique(schema: Schema, value: list[Json], where: str, out: list[FieldError]) -> None:
    """The items of sets and the keys of maps are unique."""
    kind = schema.get("x-kubernetes-list-type")
    if kind not in ("set", "map"):
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        if kind == "map" and isinstance(item, dict):
            shown = _key_of(item, schema)
        else:
            shown = go_interface(item)
        if shown in seen:
            out.append(FieldError("Duplicate value", f"{where}[{index}]", GoValue(shown)))
        seen.add(shown)


def go_interface(value: Json) -> str:
    """A JSON value as Go's ``%#v`` prints it: ``map[string]interface {}{"name":"a"}``."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{go_quote(k)}:{go_interface(value[k])}" for k in sorted(value))
        return f"map[string]interface {{}}{{{pairs}}}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(go_interface(v) for v in value) + "}"
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return go_quote(value) if isinstance(value, str) else str(value)


def _object(schema: Schema, value: Manifest, where: str, out: list[FieldError], old: Json) -> None:
    before = old if isinstance(old, dict) else None
    if schema.get("x-kubernetes-embedded-resource"):
        out += [
            required(f"{where}.{key}", "must not be empty")
            for key in ("apiVersion", "kind")
            if not value.get(key)
        ]
    for key in schema.get("required") or ():
        if key not in value and (before is None or key in before):
            out.append(required(f"{where}.{key}"))
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        text = f"{where} in body should have at least {least} properties"
        out.append(invalid_value(where, len(value), text))
    if most is not None and len(value) > most:
        out.append(FieldError("Too many", where, len(value), f"must have at most {most} items"))
    known = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    for key, child in value.items():
        inner = known.get(key) or (others if isinstance(others, Mapping) else None)
        if inner is not None:
            validate_at(
                inner, child, f"{where}.{key}", out, ABSENT if before is None else before.get(key, ABSENT)
            )


def _combined(schema: Schema, value: Json, where: str, out: list[FieldError]) -> None:
    """``allOf``, ``anyOf``, ``oneOf`` and ``not``."""
    for part in schema.get("allOf") or ():
        if not _accepts(part, value, where):
            inner: list[FieldError] = []
            validate_at({**part, "type": schema.get("type")}, value, where, inner)
            out += inner
            out.append(_composite(where, "must validate all the schemas (allOf)"))
    options = schema.get("anyOf")
    if options and not any(_accepts(part, value, where) for part in options):
        out.append(_composite(where, "must validate at least one schema (anyOf)"))
    options = schema.get("oneOf")
    if options:
        count = sum(_accepts(part, value, where) for part in options)
        if count != 1:
            found = f"Found {count} valid alternatives" if count else "Found none valid"
            out.append(_composite(where, f"must validate one and only one schema (oneOf). {found}"))
    if "not" in schema and _accepts(schema["not"], value, where):
        out.append(_composite(where, "must not validate the schema (not)"))


def _composite(where: str, text: str) -> FieldError:
    return invalid_value("<nil>", "", f'"{where}" {text}')


def _accepts(schema: Schema, value: Json, where: str) -> bool:
    found: list[FieldError] = []
    if where:
        validate_at(schema, value, where, found)
    else:
        found = validate(schema, value)
        for key in schema.get("properties") or {}:
            if key in _ROOT and key in value:
                validate_at(schema["properties"][key], value[key], key, found)
    return not found
