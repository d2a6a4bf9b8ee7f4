"""The object in the body of a write: its type and address made sure of, its unknown fields complained about."""

from __future__ import annotations

from sregym_env.kube import incoming as incoming_
from sregym_env.kube import schema, status
from sregym_env.kube.types import Manifest
from sregym_env.serve.asking import Ask
from sregym_env.serve.bodies import body, duplicates


def incoming(ask: Ask) -> tuple[Manifest, tuple[str, ...]]:
    """The object in the body, its type made sure of, and warnings about fields it should not have."""
    obj = body(ask.request, ask.resource.kind)
    assert isinstance(obj, dict)
    obj = incoming_.typed(obj, ask.resource.api_version, ask.resource.kind)
    metadata_of(ask, obj)
    if ask.validation == "Ignore":
        return obj, ()
    doubles = [f'duplicate field "{path}"' for path in duplicates(ask.request.body)]
    if ask.validation == "Strict":
        if doubles:
            text = f"strict decoding error: {', '.join(doubles)}"
            raise status.cannot_handle(ask.resource.kind, ask.resource.version, text)
        return obj, ()
    _, warnings = schema.decode(ask.resource, obj, strict=False)
    return obj, (*doubles, *warnings)


def metadata_of(ask: Ask, obj: Manifest) -> Manifest:
    """The object's metadata, empty where there is none. Raises BadRequest where it is something else."""
    found = obj.get("metadata") or {}
    if isinstance(found, dict):
        return found
    names = {bool: "bool", int: "number", float: "number", str: "string"}
    kind, version = ask.resource.kind, ask.resource.version
    text = f"cannot unmarshal {names.get(type(found), 'array')} into Go struct field {kind}.metadata"
    raise status.cannot_handle(kind, version, f"json: {text} of type v1.ObjectMeta")


def addressed(ask: Ask, obj: Manifest) -> Manifest:
    """The object with the name and namespace of the URL. Raises BadRequest where its own differ."""
    metadata_of(ask, obj)
    return incoming_.addressed(obj, ask.where.name, ask.where.namespace)
