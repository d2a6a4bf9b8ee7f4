"""What field ownership needs to know of a type: which parts merge, which are replaced as a whole.

Shapes come from the packaged schemas, from the ``openAPIV3Schema`` of a custom resource, or, where a custom
resource keeps unknown fields, from the values themselves. The rules are those of
``k8s.io/kube-openapi/pkg/schemaconv``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sregym_env.kube import schema
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Json

Kind = Literal["scalar", "map", "list", "deduced", "untyped"]


@dataclass(slots=True, eq=False)
class Shape:
    """A type. Structs are maps whose fields have names that the schema declares."""

    kind: Kind
    atomic: bool = False
    """Owned and replaced as a whole."""
    scalar: str = "untyped"
    """Of a scalar: ``string``, ``numeric``, ``boolean`` or ``untyped``."""
    keys: tuple[str, ...] = ()
    """Of a list that merges: the fields by which its items are told apart; none where it is a set of values."""
    defaults: Mapping[str, Json] = field(default_factory=dict)
    """Values of keys that an item leaves out."""
    names: frozenset[str] = frozenset()
    """Declared fields of a struct."""
    make_field: Callable[[str], Shape] | None = None
    make_item: Callable[[], Shape] | None = None
    """The type of list items, or of values below names that are not declared."""
    _fields: dict[str, Shape] = field(default_factory=dict)
    _item: Shape | None = None

    def child(self, name: str) -> Shape | None:
        """The type of a field; None where it may not be there."""
        found = self._fields.get(name)
        if found is not None:
            return found
        if name in self.names and self.make_field is not None:
            found = self._fields[name] = self.make_field(name)
            return found
        return self.item

    @property
    def item(self) -> Shape | None:
        """The type of items and of undeclared fields."""
        if self._item is None and self.make_item is not None:
            self._item = self.make_item()
        return self._item

    @property
    def leaf(self) -> bool:
        """Whether values of it are owned as a whole."""
        return self.atomic or self.kind == "scalar" or self.kind == "untyped"


UNTYPED = Shape("untyped", atomic=True)
"""Anything, owned as a whole."""

DEDUCED = Shape("deduced")
"""Anything: maps merge, everything else is owned as a whole."""
DEDUCED.make_item = lambda: DEDUCED


def resolved(shape: Shape, value: Json) -> Shape:
    """The shape of a value; for a deduced one that depends on the value."""
    if shape.kind != "deduced" or isinstance(value, dict):
        return shape
    return UNTYPED


# --- packaged schemas -----------------------------------------------------------------------------

_SCALARS = {
    "string": "string",
    "bytes": "string",
    "time": "untyped",
    "microtime": "untyped",
    "int32": "numeric",
    "int64": "numeric",
    "double": "numeric",
    "bool": "boolean",
    "quantity": "untyped",
    "intorstring": "untyped",
}

_KEY_DEFAULTS: Mapping[str, Json] = {"protocol": "TCP", "name": ""}
"""Defaults of list keys in the published schemas: the protocol of a port, and the name of a reference to an
object (``LocalObjectReference.name``, not other names)."""

_built: dict[tuple[str, bool, str, tuple[str, ...]], Shape] = {}


def of_resource(resource: Resource) -> Shape:
    """The shape of a resource's objects."""
    if resource.definition:
        return _of_type("#" + resource.definition)
    custom = resource.custom_type
    if custom is None:
        return DEDUCED
    made: Shape | None = custom.cache.get("shape")
    if made is None:
        made = custom.cache["shape"] = of_custom(custom.schema)
    return made


def of_definition(definition: str) -> Shape:
    """The shape of a packaged definition by its full name."""
    return _of_type("#" + definition)


def _of_type(name: str, atomic: bool = False, list_type: str = "", keys: tuple[str, ...] = ()) -> Shape:
    known = (name, atomic, list_type, keys)
    found = _built.get(known)
    if found is None:
        found = _built[known] = _compile(schema.compile_type(name), atomic, list_type, keys)
    return found


def _compile(type_: schema.Type, atomic: bool, list_type: str, keys: tuple[str, ...]) -> Shape:
    if type_.kind == "any":
        return UNTYPED
    if type_.kind == "struct":
        struct = type_.struct
        assert struct is not None
        return Shape(
            "map",
            atomic,
            names=frozenset(struct.fields),
            make_field=lambda name: _of_field(struct.fields[name]),
        )
    item = type_.item
    if type_.kind == "map":
        assert item is not None
        values = item.name
        return Shape("map", atomic, make_item=lambda: _of_type(values))
    if type_.kind == "list":
        assert item is not None
        items = item.name
        merges = list_type in ("set", "map")
        return Shape(
            "list",
            not merges,
            keys=keys if merges else (),
            defaults=_defaults(item, keys) if merges else {},
            make_item=lambda: _of_type(items),
        )
    return Shape("scalar", scalar=_SCALARS[type_.kind])


def _defaults(item: schema.Type, keys: tuple[str, ...]) -> dict[str, Json]:
    found = {key: _KEY_DEFAULTS[key] for key in keys if key == "protocol"}
    if item.struct is not None and item.struct.go_name == "LocalObjectReference":
        found["name"] = _KEY_DEFAULTS["name"]
    return found


def _of_field(declared: schema.Field) -> Shape:
    type_ = declared.type
    if type_.kind == "list":
        return _of_type(declared.type_name, False, *_list_type(declared))
    atomic = declared.map_type == "atomic"
    if not declared.map_type and type_.struct is not None:
        atomic = type_.struct.map_type == "atomic"
    return _of_type(declared.type_name, atomic)


def _list_type(declared: schema.Field) -> tuple[str, tuple[str, ...]]:
    if declared.list_type:
        return declared.list_type, declared.map_keys
    if declared.merges:
        # Without a list type, what a strategic patch merges is merged here too.
        return ("map", (declared.merge_key,)) if declared.merge_key else ("set", ())
    return "atomic", ()


# --- custom resources -----------------------------------------------------------------------------

_CustomSchema = Mapping[str, Any]


def of_custom(openapi: _CustomSchema) -> Shape:
    """The shape of custom resources with that ``openAPIV3Schema``; deduced where there is none."""
    if not openapi:
        return _with_object_fields(DEDUCED)
    return _with_object_fields(_of_openapi(openapi))


def _with_object_fields(shape: Shape) -> Shape:
    """A shape with the fields that every object has."""

    def make(name: str) -> Shape:
        if name == "metadata":
            return of_definition(schema.OBJECT_META)
        if name in ("apiVersion", "kind"):
            return Shape("scalar", scalar="string")
        found = shape.child(name)
        return UNTYPED if found is None else found

    names = shape.names | {"apiVersion", "kind", "metadata"}
    return Shape("map", shape.atomic, names=names, make_field=make, make_item=shape.make_item)


def _of_openapi(openapi: _CustomSchema) -> Shape:
    if openapi.get("x-kubernetes-int-or-string"):
        return UNTYPED
    match openapi.get("type"):
        case "array":
            return _of_array(openapi)
        case "object":
            made = _of_object(openapi)
            return _with_object_fields(made) if openapi.get("x-kubernetes-embedded-resource") else made
        case "string":
            return Shape("scalar", scalar="string")
        case "boolean":
            return Shape("scalar", scalar="boolean")
        case "integer" | "number":
            return Shape("scalar", scalar="numeric")
    return DEDUCED if openapi.get("x-kubernetes-preserve-unknown-fields") else UNTYPED


def _of_object(openapi: _CustomSchema) -> Shape:
    atomic = openapi.get("x-kubernetes-map-type") == "atomic"
    properties = openapi.get("properties") or {}
    others = openapi.get("additionalProperties")
    make_item: Callable[[], Shape] | None = None
    if isinstance(others, Mapping):
        values: _CustomSchema = others
        make_item = lambda: _of_openapi(values)  # noqa: E731 - a thunk
    elif others is True or openapi.get("x-kubernetes-preserve-unknown-fields"):
        make_item = lambda: DEDUCED  # noqa: E731
    return Shape(
        "map",
        atomic,
        names=frozenset(properties),
        make_field=lambda name: _of_openapi(properties[name]),
        make_item=make_item,
    )


def _of_array(openapi: _CustomSchema) -> Shape:
    items = openapi.get("items") or {}
    list_type = openapi.get("x-kubernetes-list-type", "atomic")
    keys: tuple[str, ...] = ()
    defaults: dict[str, Json] = {}
    if list_type == "map":
        keys = tuple(openapi.get("x-kubernetes-list-map-keys") or ())
        fields = items.get("properties") or {}
        defaults = {key: fields[key]["default"] for key in keys if "default" in (fields.get(key) or {})}
    return Shape(
        "list",
        list_type not in ("set", "map"),
        keys=keys,
        defaults=defaults,
        make_item=lambda: _of_openapi(items),
    )
