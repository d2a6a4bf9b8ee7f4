"""OpenAPI v3 documents of every served API version, generated from the packaged schemas when asked for."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson

from sregym_env.kube import schema
from sregym_env.kube.explanation import (
    API_VERSION_TEXT,
    KIND_TEXT,
    LIST_META_TEXT,
    LIST_TEXT,
    META_TEXT,
    custom_schema,
)
from sregym_env.kube.registry import BUILTIN, Registry, Resource
from sregym_env.kube.types import Manifest

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_SPECIAL: dict[str, tuple[str, Manifest]] = {
    "quantity": (
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        {"oneOf": [{"type": "string"}, {"type": "number"}]},
    ),
    "intorstring": (
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        {"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"},
    ),
    "time": (f"{_META}.Time", {"type": "string", "format": "date-time"}),
    "microtime": (f"{_META}.MicroTime", {"type": "string", "format": "date-time"}),
}
_LEAVES: dict[str, Manifest] = {
    "string": {"type": "string"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "bool": {"type": "boolean"},
    "double": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
    "any": {"type": "object"},
}
_DEFAULTS: dict[str, Any] = {"string": "", "int32": 0, "int64": 0, "bool": False, "double": 0}
_PREFIX = "#/components/schemas/"

_VERBS = (
    ("get", "get", "get"),
    ("put", "put", "update"),
    ("patch", "patch", "patch"),
    ("delete", "delete", "delete"),
)
_CUSTOM_PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
_PATCH_TYPES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)


def _group_path(api_version: str) -> str:
    return f"apis/{api_version}" if "/" in api_version else f"api/{api_version}"


@lru_cache(maxsize=8)
def index(registry: Registry = BUILTIN) -> Manifest:
    """The document at ``/openapi/v3``: where the others are."""
    found = {}
    for api_version in dict.fromkeys(r.api_version for r in registry.resources):
        path = _group_path(api_version)
        text = f"{schema.VERSION} {path}".encode()
        if any(r.custom and r.api_version == api_version for r in registry.resources):
            text = document(registry, path) or text
        digest = sha256(text).hexdigest().upper()
        found[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
    return {"paths": found}


@lru_cache(maxsize=64)
def document(registry: Registry, path: str) -> bytes | None:
    """The serialised document of one API version (``api/v1``, ``apis/apps/v1``), None where not served."""
    api_version = path.removeprefix("apis/").removeprefix("api/")
    resources = [r for r in registry.resources if r.api_version == api_version]
    if not resources or _group_path(api_version) != path:
        return None
    return orjson.dumps(
        {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": f"v{schema.VERSION}.5"},
            "paths": _paths(resources),
            "components": {"schemas": _schemas(resources)},
        }
    )


V2_ACCEPTED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""Asked for with an ``@``, which no media type may contain, and answered without."""


def second() -> bytes:
    """The document at ``/openapi/v2`` in the protobuf that kubectl asks for: valid, and without definitions.

    Clients that know version 3 need it only to learn that a type is unknown here too.
    """
    title, version = b"Kubernetes", f"v{schema.VERSION}.5".encode()
    info = _field(1, title) + _field(2, version)
    return _field(1, b"2.0") + _field(2, info)


def _field(number: int, data: bytes) -> bytes:
    return bytes((number << 3 | 2, len(data))) + data


# --- paths --------------------------------------------------------------------------------------


def _paths(resources: list[Resource]) -> Manifest:
    found: Manifest = {}
    for resource in resources:
        base = f"/{_group_path(resource.api_version)}"
        collection = f"{base}/{resource.plural}"
        if resource.namespaced:
            collection = f"{base}/namespaces/{{namespace}}/{resource.plural}"
        operations = {}
        if "list" in resource.verbs:
            operations["get"] = _operation(resource, "list")
        if "create" in resource.verbs:
            operations["post"] = _operation(resource, "post", body=True)
        found[collection] = operations
        item = {
            method: _operation(resource, action, body=method in ("put", "patch"))
            for method, action, verb in _VERBS
            if verb in resource.verbs
        }
        if item:
            found[f"{collection}/{{name}}"] = item
    return found


def _parameter(name: str, description: str) -> Manifest:
    return {
        "name": name,
        "in": "query",
        "description": description,
        "schema": {"type": "string", "uniqueItems": True},
    }


_WRITE_PARAMETERS = [
    _parameter("dryRun", "When present, indicates that modifications should not be persisted."),
    _parameter("fieldManager", "The name associated with the actor or entity that is making these changes."),
    _parameter(
        "fieldValidation", "How to handle objects in the request containing unknown or duplicate fields."
    ),
]


def _operation(resource: Resource, action: str, body: bool = False) -> Manifest:
    group, version, kind = resource.gvk
    made: Manifest = {
        "description": f"{action} the specified {kind}",
        "operationId": f"{action}{(group.split('.')[0] or 'core').title()}{version.title()}{kind}",
        "responses": {"200": {"description": "OK"}, "401": {"description": "Unauthorized"}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {"group": group, "kind": kind, "version": version},
    }
    if body:
        made["parameters"] = _WRITE_PARAMETERS
        name = definition_name(resource)
        ref = {"$ref": _PREFIX + name} if name else {"type": "object"}
        media: tuple[str, ...] = _PATCH_TYPES if action == "patch" else ("*/*",)
        if resource.custom:
            media = _CUSTOM_PATCHES if action == "patch" else ("application/json", "application/yaml")
        made["requestBody"] = {"content": {name: {"schema": ref} for name in media}, "required": True}
    return made


# --- custom resources ---------------------------------------------------------------------------


def definition_name(resource: Resource) -> str:
    """Name of a resource's definition: ``com.example.v1.Widget`` for a custom one."""
    if not resource.custom:
        return resource.definition
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])


_LIST_META = f"{_META}.ListMeta"


def _list_meta() -> Manifest:
    """``ListMeta``, which no stored object holds."""
    return {
        "description": (
            "ListMeta describes metadata that synthetic resources must have, including lists and various status "
            "objects. A resource may have only one of {ObjectMeta, ListMeta}."
        ),
        "type": "object",
        "properties": {
            "continue": {"type": "string"},
            "remainingItemCount": {"type": "integer", "format": "int64"},
            "resourceVersion": {"type": "string"},
            "selfLink": {"type": "string"},
        },
    }


def _custom_schemas(resource: Resource, waiting: list[str], found: Manifest) -> None:
    """The definitions of a custom resource and of its list."""
    name = definition_name(resource)
    declared = custom_schema(resource)
    properties = dict(declared.get("properties") or {})
    if properties or not declared.get("x-kubernetes-preserve-unknown-fields"):
        properties["metadata"] = {
            "description": META_TEXT,
            "allOf": [{"$ref": _PREFIX + schema.OBJECT_META}],
        }
    waiting.append(schema.OBJECT_META)
    found[_LIST_META] = _list_meta()
    identity = {"group": resource.group, "kind": resource.kind, "version": resource.version}
    made = {**declared, "x-kubernetes-group-version-kind": [identity]}
    if properties:
        made["properties"] = dict(sorted(properties.items()))
    found[name] = made
    items = {
        "type": "array",
        "items": {"$ref": _PREFIX + name},
        "description": LIST_TEXT.format(resource.plural),
    }
    found[f"{name}List"] = {
        "description": f"{resource.list_kind} is a list of {resource.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string", "description": API_VERSION_TEXT},
            "items": items,
            "kind": {"type": "string", "description": KIND_TEXT},
            "metadata": {"description": LIST_META_TEXT, "allOf": [{"$ref": _PREFIX + _LIST_META}]},
        },
        "x-kubernetes-group-version-kind": [{**identity, "kind": resource.list_kind}],
    }


# --- schemas ------------------------------------------------------------------------------------


def _schemas(resources: list[Resource]) -> Manifest:
    kinds: dict[str, list[Resource]] = {}
    for resource in resources:
        if resource.definition:
            kinds.setdefault(resource.definition, []).append(resource)
    found: Manifest = {}
    waiting = list(kinds)
    for resource in resources:
        if resource.custom:
            _custom_schemas(resource, waiting, found)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = _definition(name, waiting, found)
        if name in kinds:
            found[name]["x-kubernetes-group-version-kind"] = [
                {"group": r.group, "kind": r.kind, "version": r.version} for r in kinds[name][:1]
            ]
    return dict(sorted(found.items()))


def _definition(name: str, waiting: list[str], found: Manifest) -> Manifest:
    struct = schema.compile_struct(name)
    texts = schema.descriptions(name)
    made: Manifest = {"type": "object"}
    if texts.get(""):
        made["description"] = texts[""]
    if struct.required:
        made["required"] = list(struct.required)
    properties = {}
    for declared in struct.fields.values():
        field = _type(declared.type, waiting, found, required=declared.required)
        text = texts.get(declared.name)
        if text:
            field["description"] = text
        properties[declared.name] = {**field, **_extensions(declared)}
    if properties:
        made["properties"] = properties
    if struct.map_type:
        made["x-kubernetes-map-type"] = struct.map_type
    return made


def _extensions(declared: schema.Field) -> Manifest:
    keys: Manifest = {
        "x-kubernetes-patch-strategy": declared.strategy,
        "x-kubernetes-patch-merge-key": declared.merge_key,
        "x-kubernetes-list-type": declared.list_type,
        "x-kubernetes-list-map-keys": list(declared.map_keys),
        "x-kubernetes-map-type": declared.map_type,
    }
    return {key: value for key, value in keys.items() if value}


def _type(type_: schema.Type, waiting: list[str], found: Manifest, *, required: bool = False) -> Manifest:
    if type_.struct is not None:
        waiting.append(type_.struct.definition)
        return {"allOf": [{"$ref": _PREFIX + type_.struct.definition}], "default": {}}
    if type_.item is not None:
        inner = _type(type_.item, waiting, found, required=True)
        if type_.kind == "list":
            return {"type": "array", "items": inner}
        return {"type": "object", "additionalProperties": inner}
    special = _SPECIAL.get(type_.kind)
    if special is not None:
        name, leaf = special
        if name not in found:
            text = schema.descriptions(name).get("")
            found[name] = {**leaf, "description": text} if text else leaf
        return {"allOf": [{"$ref": _PREFIX + name}]}
    leaf = dict(_LEAVES[type_.kind])
    if required and type_.kind in _DEFAULTS:
        leaf["default"] = _DEFAULTS[type_.kind]
    return leaf
