"""Content negotiation: how objects are represented, and how bodies are read."""

from __future__ import annotations

from typing import Any, Literal

import orjson
import yaml

from sregym_env.kube import conversion, status
from sregym_env.kube.registry import Resource
from sregym_env.kube.tables import Printer, printer
from sregym_env.kube.types import Json, Manifest
from sregym_env.serve import protobuf
from sregym_env.serve.message import Request
from sregym_env.serve.pace import Pace

Representation = Literal["object", "table", "metadata"]

META = "meta.k8s.io/v1"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_KINDS: dict[str, Representation] = {
    "Table": "table",
    "PartialObjectMetadata": "metadata",
    "PartialObjectMetadataList": "metadata",
}
_ACCEPTED = ("application/json", "application/yaml", PROTOBUF)


def representation(accept: str) -> Representation:
    """What the client wants back. Raises NotAcceptable where it takes no JSON."""
    if not accept:
        return "object"
    for clause in accept.split(","):
        media, *parameters = (part.strip() for part in clause.split(";"))
        options = dict(p.partition("=")[::2] for p in parameters)
        if media in ("*/*", "application/*", "application/json") and "as" not in options:
            return "object"
        if media == "application/json" and options.get("g") == "meta.k8s.io" and options.get("as") in _KINDS:
            return _KINDS[options["as"]]
    raise status.not_acceptable(
        "only the following media types are accepted: application/json, application/json;stream=watch"
    )


def table(
    resource: Resource,
    objects: list[Manifest],
    now: int,
    *,
    include: str = "Metadata",
    definitions: bool = True,
    metadata: Manifest | None = None,
) -> Manifest:
    """Objects as a ``meta.k8s.io/v1`` Table; ``include`` is the request's ``includeObject``."""
    chosen = printer(resource)
    made: Manifest = {
        "kind": "Table",
        "apiVersion": META,
        "metadata": metadata or {},
        "columnDefinitions": _columns(chosen) if definitions else None,
        "rows": [_row(chosen, resource, obj, now, include) for obj in objects],
    }
    return made


def _columns(chosen: Printer) -> list[Manifest]:
    return [
        {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": "",
            "priority": int(column.wide),
        }
        for column in chosen.columns
    ]


def _row(chosen: Printer, resource: Resource, obj: Manifest, now: int, include: str) -> Manifest:
    # Printers know one version of each kind: the stored one.
    row: Manifest = {"cells": list(chosen.row(conversion.to_storage(resource, obj), now))}
    finished = _CONDITIONS.get((obj.get("status") or {}).get("phase")) if obj.get("kind") == "Pod" else None
    if finished:
        row["conditions"] = [finished]
    if include == "Object":
        row["object"] = obj
    elif include != "None":
        row["object"] = partial(obj)
    return row


_CONDITIONS: dict[Any, Manifest] = {
    "Succeeded": {
        "type": "Completed",
        "status": "True",
        "reason": "Succeeded",
        "message": "The pod has completed successfully.",
    },
    "Failed": {"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."},
}


def partial(obj: Manifest) -> Manifest:
    """The ``PartialObjectMetadata`` of an object."""
    return {"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": obj["metadata"]}


def body(request: Request, pace: Pace) -> Json:
    """The request's body as JSON. Raises BadRequest, UnsupportedMediaType."""
    kind = request.header("content-type").partition(";")[0].strip()
    if request.body.startswith(protobuf.MAGIC):
        decoded = protobuf.decode(request.body)
        return orjson.loads(pace.inward(orjson.dumps(decoded)))
    if kind and kind not in (*_ACCEPTED, "*/*") and not kind.endswith(("+json", "+yaml")):
        raise status.unsupported_media_type(_ACCEPTED)
    raw = pace.inward(request.body)
    if kind.endswith("yaml"):
        return _yaml(raw)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise status.bad_request(
            f"the object provided is unrecognized (must be of type Object): {error}"
        ) from None


def _yaml(raw: bytes) -> Json:
    if raw.lstrip().startswith(b"{"):
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass
    try:
        return yaml.load(raw, _Loader)
    except yaml.YAMLError as error:
        raise status.bad_request(f"error decoding YAML: {error}") from None


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader without dates: a timestamp stays a string, as in Go's YAML-to-JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
