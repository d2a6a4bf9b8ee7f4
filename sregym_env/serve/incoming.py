"""The object in the body of a write: its type and address made sure of, its unknown fields complained about."""

from __future__ import annotations

from sregym_env.kube import schema, status
from sregym_env.kube.types import Manifest
from sregym_env.serve.asking import Ask
from sregym_env.serve.bodies import body, duplicates


def incoming(ask: Ask) -> tuple[Manifest, tuple[str, ...]]:
    """The object in the body, its type made sure of, and warnings about fields it should not have."""
    obj = body(ask.request, ask.resource.kind)
    assert isinstance(obj, dict)
    obj = typed(obj, ask.resource.api_version, ask.resource.kind)
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


def typed(obj: Manifest, api_version: str, kind: str) -> Manifest:
    """The object with the type its path implies. Raises BadRequest where it says it is something else."""
    own_version, own_kind = obj.get("apiVersion") or api_version, obj.get("kind") or kind
    if own_version != api_version:
        raise status.bad_request(
            f"the API version in the data ({own_version}) does not match the expected API version ({api_version})"
        )
    if own_kind != kind:
        raise status.bad_request(
            f"{own_kind} in version {status.go_quote(own_version)} cannot be handled as a {kind}"
        )
    return {**obj, "apiVersion": api_version, "kind": kind}


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
    metadata = dict(metadata_of(ask, obj))
    where = ask.where
    name = metadata.get("name") or where.name
    if name != where.name:
        raise status.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({where.name})"
        )
    metadata["name"] = name
    if where.namespace is not None:
        if (metadata.get("namespace") or where.namespace) != where.namespace:
            raise status.bad_request(
                f"the namespace of the object ({metadata['namespace']}) does not match the namespace on the "
                f"request ({where.namespace})"
            )
        metadata["namespace"] = where.namespace
    return {**obj, "metadata": metadata}
