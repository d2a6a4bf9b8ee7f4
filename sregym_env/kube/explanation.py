"""What ``kubectl explain`` says about a resource or one of its fields, from the packaged descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sregym_env.kube.registry import Resource, by_key
from sregym_env.kube.schema import OBJECT_META, Type, descriptions, struct_of
from sregym_env.kube.status import go_quote


@dataclass(frozen=True, slots=True)
class FieldDoc:
    """One field as ``kubectl explain`` lists it."""

    name: str
    type: str
    """``<string>``, ``<[]Container>``, ``<map[string]string>``, ``<Object>`` ..."""
    required: bool
    description: str
    enum: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """What ``kubectl explain`` prints about a resource or one of its fields."""

    resource: Resource
    field: str
    """Name of the explained field; empty for the resource itself."""
    type: str
    description: str
    fields: tuple[FieldDoc, ...]
    enum: tuple[str, ...] = ()


class UnknownField(LookupError):
    """The path of ``kubectl explain`` names a field that does not exist."""


_EXPLAIN_TYPES = {
    "int32": "integer",
    "int64": "integer",
    "bool": "boolean",
    "double": "number",
    "bytes": "string",
    "quantity": "Quantity",
    "intorstring": "IntOrString",
    "time": "string",
    "microtime": "string",
    "any": "Object",
}


def _explain_type(type_: Type) -> str:
    if type_.kind == "struct":
        assert type_.struct is not None
        return type_.struct.go_name
    if type_.kind in ("list", "map"):
        assert type_.item is not None
        return ("[]" if type_.kind == "list" else "map[string]") + _explain_type(type_.item)
    return _EXPLAIN_TYPES.get(type_.kind, type_.kind)


_LEAF_DEFINITIONS = {
    "quantity": "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "intorstring": "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "time": "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    "microtime": "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
}


def explain(resource: Resource, path: tuple[str, ...] = ()) -> Explanation:
    """Documentation of a resource or of the field at ``path``.

    Raises UnknownField with kubectl's text (``field "foo" does not exist``).
    """
    if resource.custom_type is not None:
        return _explain_custom(resource, path)
    struct = struct_of(resource)
    if struct is None:
        raise UnknownField(f"couldn't find resource for {go_quote(resource.gvk_text)}")
    description = descriptions(struct.definition).get("", "")
    name = ""
    type_text = ""
    for name in path:
        declared = struct.fields.get(name) if struct is not None else None
        if declared is None or struct is None:
            raise UnknownField(f'field "{name}" does not exist')
        type_ = declared.type
        type_text = f"<{_explain_type(type_)}>"
        description = descriptions(struct.definition).get(name, "")
        struct = _element(type_).struct
        leaf = _LEAF_DEFINITIONS.get(_element(type_).kind)
        definition = struct.definition if struct is not None else leaf
        more = descriptions(definition).get("", "") if definition else ""
        if more not in ("", description):
            description = f"{description}\n{more}"
    fields = []
    if struct is not None:
        for declared in struct.fields.values():
            shown = f"<{_explain_type(declared.type)}>"
            text = descriptions(struct.definition).get(declared.name, "")
            fields.append(FieldDoc(declared.name, shown, declared.required, text))
    return Explanation(resource, name, type_text, description, tuple(fields))


def _element(type_: Type) -> Type:
    while type_.item is not None:
        type_ = type_.item
    return type_


# --- custom resources --------------------------------------------------------------------------------


KIND_TEXT = (
    "Kind is a string value representing the REST resource this object represents. Servers may infer this from the "
    "endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)
API_VERSION_TEXT = (
    "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized "
    "schemas to the latest internal value, and may reject unrecognized values. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
)
META_TEXT = (
    "Standard object's metadata. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
LIST_META_TEXT = (
    "Standard list metadata. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)
LIST_TEXT = "List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"


def custom_schema(resource: Resource) -> dict[str, Any]:
    """The schema of a custom resource as it is published: with the fields that every object has."""
    if resource.custom_type is None:
        return {}
    declared = dict(resource.custom_type.schema)
    if declared.get("x-kubernetes-preserve-unknown-fields") and not declared.get("properties"):
        return declared
    common = {
        "apiVersion": {"type": "string", "description": API_VERSION_TEXT},
        "kind": {"type": "string", "description": KIND_TEXT},
        "metadata": {"type": "object", "description": META_TEXT},
    }
    own = declared.get("properties") or {}
    declared["properties"] = dict(sorted({**own, **common}.items()))
    return declared


def _explain_custom(resource: Resource, path: tuple[str, ...]) -> Explanation:
    """Documentation out of the schema of a definition."""
    found: Mapping[str, Any] = custom_schema(resource)
    name, type_text = "", ""
    for at, name in enumerate(path):
        inner = (_innermost(found).get("properties") or {}).get(name)
        if inner is None:
            raise UnknownField(f'field "{name}" does not exist')
        if at == 0 and name == "metadata":
            return _explain_metadata(resource, path)
        found, type_text = inner, f"<{_custom_type(inner)}>"
    inside = _innermost(found)
    needed = inside.get("required") or ()
    fields = [
        FieldDoc(key, f"<{_custom_type(child)}>", key in needed, child.get("description") or "", _enum(child))
        for key, child in sorted((inside.get("properties") or {}).items())
    ]
    if not path:
        fields = [
            FieldDoc(f.name, "<ObjectMeta>", f.required, f.description) if f.name == "metadata" else f
            for f in fields
        ]
    description = found.get("description") or inside.get("description") or ""
    return Explanation(resource, name, type_text, description, tuple(fields), _enum(found))


def _enum(schema: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(value) for value in schema.get("enum") or ())


def _explain_metadata(resource: Resource, path: tuple[str, ...]) -> Explanation:
    stand_in = by_key("configmaps")
    assert stand_in is not None
    made = explain(stand_in, path)
    if len(path) > 1:
        return replace(made, resource=resource)
    more = descriptions(OBJECT_META).get("", "")
    return replace(made, resource=resource, description=f"{META_TEXT}\n{more}")


def _innermost(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while True:
        inner = schema.get("items") or schema.get("additionalProperties")
        if not isinstance(inner, Mapping):
            return schema
        schema = inner


def _custom_type(schema: Mapping[str, Any]) -> str:
    if isinstance(schema.get("items"), Mapping):
        return "[]" + _custom_type(schema["items"])
    if isinstance(schema.get("additionalProperties"), Mapping):
        return "map[string]" + _custom_type(schema["additionalProperties"])
    kind = schema.get("type") or "Object"
    return "Object" if kind == "object" else str(kind)
