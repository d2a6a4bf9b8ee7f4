"""Content negotiation: how objects are represented."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sregym_env.kube import conversion, status
from sregym_env.kube.registry import Resource
from sregym_env.kube.tables import Printer, printer
from sregym_env.kube.types import Manifest
from sregym_env.serve.bodies import ACCEPTED

Representation = Literal["object", "table", "metadata"]

Embed = Callable[[Manifest, bool], Any]
"""What stands for an object in a row: all of it, or its metadata."""

META = "meta.k8s.io/v1"
_KINDS: dict[str, Representation] = {
    "Table": "table",
    "PartialObjectMetadata": "metadata",
    "PartialObjectMetadataList": "metadata",
}
YAML = "application/yaml"
_ANY = ("*/*", "application/*", "application/json", YAML)
_STREAMED = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")


def representation(accept: str) -> Representation:
    """What the client wants back. Raises NotAcceptable where it takes no JSON."""
    if not accept:
        return "object"
    for clause in accept.split(","):
        media, *parameters = (part.strip() for part in clause.split(";"))
        options = dict(p.partition("=")[::2] for p in parameters)
        if media in _ANY and "as" not in options:
            return "object"
        if media == "application/json" and options.get("g") == "meta.k8s.io" and options.get("as") in _KINDS:
            return _KINDS[options["as"]]
    raise status.not_acceptable(f"only the following media types are accepted: {', '.join(ACCEPTED)}")


def wants_yaml(accept: str) -> bool:
    """Whether the client prefers YAML to JSON."""
    if "yaml" not in accept:
        return False
    known = (clause.partition(";")[0].strip() for clause in accept.split(","))
    return next((media for media in known if media in _ANY), "") == YAML


def check_streamable(accept: str) -> None:
    """Raises NotAcceptable for a watch in a format that cannot be streamed."""
    if wants_yaml(accept):
        raise status.not_acceptable(f"only the following media types are accepted: {', '.join(_STREAMED)}")


def table(
    resource: Resource,
    objects: list[Manifest],
    now: int,
    *,
    include: str = "Metadata",
    definitions: bool = True,
    metadata: Manifest | None = None,
    embed: Embed | None = None,
) -> Manifest:
    """Objects as a ``meta.k8s.io/v1`` Table; ``include`` is the request's ``includeObject``, and ``embed`` says
    what to put into the rows for an object."""
    chosen = printer(resource)
    made: Manifest = {
        "kind": "Table",
        "apiVersion": META,
        "metadata": metadata or {},
        "columnDefinitions": _columns(chosen) if definitions else None,
        "rows": [_row(chosen, resource, obj, now, include, embed or _embedded) for obj in objects],
    }
    return made


def _columns(chosen: Printer) -> list[Manifest]:
    return [
        {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": column.description,
            "priority": int(column.wide),
        }
        for column in chosen.columns
    ]


def _row(
    chosen: Printer, resource: Resource, obj: Manifest, now: int, include: str, embed: Embed
) -> Manifest:
    # Printers know one version of each kind: the stored one.
    row: Manifest = {"cells": list(chosen.row(conversion.to_storage(resource, obj), now))}
    finished = _CONDITIONS.get((obj.get("status") or {}).get("phase")) if obj.get("kind") == "Pod" else None
    if finished:
        row["conditions"] = [finished]
    if include != "None":
        row["object"] = embed(obj, include == "Object")
    return row


def _embedded(obj: Manifest, whole: bool) -> Manifest:
    return obj if whole else partial(obj)


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
