"""What ``kubectl explain`` says about a resource or one of its fields, from the packaged descriptions."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.kube.registry import Resource
from sregym_env.kube.schema import Type, descriptions, struct_of
from sregym_env.kube.status import go_quote


@dataclass(frozen=True, slots=True)
class FieldDoc:
    """One field as ``kubectl explain`` lists it."""

    name: str
    type: str
    """``<string>``, ``<[]Container>``, ``<map[string]string>``, ``<Object>`` ..."""
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What ``kubectl explain`` prints about a resource or one of its fields."""

    resource: Resource
    field: str
    """Name of the explained field; empty for the resource itself."""
    type: str
    description: str
    fields: tuple[FieldDoc, ...]


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
