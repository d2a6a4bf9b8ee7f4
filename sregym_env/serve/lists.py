"""Reading collections: selectors, pages, lists and tables."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import orjson

from sregym_env.kube import conversion, selectors, status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Request
from sregym_env.serve.negotiate import META, Representation, partial, table
from sregym_env.serve.paths import ApiPath
from sregym_env.sim.cluster import SimCluster

Matches = Callable[[Manifest], bool]


def as_served(resource: Resource, obj: Manifest) -> Manifest:
    """A stored object in the version the path names."""
    if obj.get("apiVersion") == resource.api_version:
        return obj
    return conversion.from_storage(resource, obj)


def found(cluster: SimCluster, where: ApiPath, request: Request) -> list[Manifest]:
    """The objects of a collection that the request's selectors choose."""
    resource = where.resource
    labels, fields = request.first("labelSelector"), request.first("fieldSelector")
    chosen = matcher(resource, labels, fields)
    if fields and resource is not cluster.registry.by_key(resource.key):
        objects = [as_served(resource, obj) for obj in cluster.list(resource.key, where.namespace)]
        return [obj for obj in objects if chosen(obj)]
    listed = cluster.list(resource.key, where.namespace, label_selector=labels, field_selector=fields)
    return [as_served(resource, obj) for obj in listed]


def matcher(resource: Resource, label_selector: str, field_selector: str) -> Matches:
    """Whether an object is chosen by selectors. Raises BadRequest."""
    try:
        labels = selectors.parse_labels(label_selector) if label_selector else None
        fields = selectors.parse_fields_of(resource, field_selector) if field_selector else None
    except selectors.SelectorError as error:
        raise status.bad_request(str(error)) from error

    def matches(obj: Manifest) -> bool:
        if labels is not None and not labels.matches(obj["metadata"].get("labels") or {}):
            return False
        return fields is None or fields.matches(obj)

    return matches


def listing(
    hosted: Hosted, cluster: SimCluster, where: ApiPath, request: Request, shape: Representation
) -> Manifest:
    """A collection as a list or table, one page of it when a limit is given."""
    objects = found(cluster, where, request)
    metadata: Manifest = {"resourceVersion": str(hosted.world.store.revision)}
    objects = _page(objects, request, metadata)
    resource = where.resource
    if shape == "table":
        include = request.first("includeObject", "Metadata")
        return table(resource, objects, hosted.world.now(), include=include, metadata=metadata)
    if shape == "metadata":
        items = [partial(obj) for obj in objects]
        return {"kind": "PartialObjectMetadataList", "apiVersion": META, "metadata": metadata, "items": items}
    return {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": metadata,
        "items": [_item(obj) for obj in objects],
    }


def _item(obj: Manifest) -> Manifest:
    """An item of a typed list, in which kind and version are said once for all."""
    return {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}


def _page(objects: list[Manifest], request: Request, metadata: Manifest) -> list[Manifest]:
    limit = request.number("limit") or 0
    token = request.first("continue")
    if token:
        start = _position(token)
        objects = [obj for obj in objects if _key(obj) > start]
    if limit <= 0 or len(objects) <= limit:
        return objects
    page = objects[:limit]
    metadata["continue"] = _token(metadata["resourceVersion"], _key(page[-1]))
    if not request.first("labelSelector") and not request.first("fieldSelector"):
        metadata["remainingItemCount"] = len(objects) - limit
    return page


def _key(obj: Manifest) -> tuple[str, str]:
    metadata = obj["metadata"]
    return (metadata.get("namespace", ""), metadata["name"])


def _token(revision: str, key: tuple[str, str]) -> str:
    raw = orjson.dumps({"v": META, "rv": int(revision), "start": f"{key[0]}/{key[1]}\0"})
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _position(token: str) -> tuple[str, str]:
    try:
        decoded: dict[str, Any] = orjson.loads(urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        namespace, _, name = str(decoded["start"]).rstrip("\0").partition("/")
    except (ValueError, KeyError, TypeError):
        raise status.bad_request("continue key is not valid: encountered error unmarshalling") from None
    return namespace, name
