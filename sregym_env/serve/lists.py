"""Reading collections: selectors, pages, lists and tables."""

from __future__ import annotations

import binascii
import string
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable

import orjson

from sregym_env.kube import conversion, selectors, status
from sregym_env.kube.ownership import inferred
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.serve import parameters
from sregym_env.serve.encoding import Encoder
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Request
from sregym_env.serve.negotiate import META, Embed, Representation, partial, table
from sregym_env.serve.paths import ApiPath
from sregym_env.sim.cluster import SimCluster

Matches = Callable[[Manifest], bool]


def as_served(resource: Resource, obj: Manifest) -> Manifest:
    """A stored object in the version the path names."""
    if obj.get("apiVersion") == resource.api_version:
        return obj
    return conversion.from_storage(resource, obj)


def presented(resource: Resource, obj: Manifest) -> Manifest:
    """A stored object in the version the path names, with its owners."""
    return inferred.with_managed_fields(resource, as_served(resource, obj))


def found(cluster: SimCluster, where: ApiPath, request: Request) -> list[Manifest]:
    """The objects of a collection that the request's selectors choose."""
    resource = where.resource
    labels, fields = request.first("labelSelector"), request.first("fieldSelector")
    chosen = matcher(resource, labels, fields)
    if fields and resource is not cluster.registry.by_key(resource.key):
        objects = [as_served(resource, obj) for obj in cluster.list(resource.address, where.namespace)]
        return [obj for obj in objects if chosen(obj)]
    listed = cluster.list(resource.address, where.namespace, label_selector=labels, field_selector=fields)
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
    """A collection as a list or table, one page of it when a limit is given; what is in it is encoded already."""
    parameters.check_not_ahead(request.first("resourceVersion"), hosted.world.store.revision)
    objects = found(cluster, where, request)
    # What is measured is stored nowhere: metrics-server's lists have no version.
    metadata: Manifest = (
        {}
        if where.resource.group == "metrics.k8s.io"
        else {"resourceVersion": str(hosted.world.store.revision)}
    )
    if metadata:
        objects = _page(objects, request, metadata)
    resource, encoder = where.resource, hosted.encoder
    if shape == "table":
        include = request.first("includeObject", "Metadata")
        now = hosted.world.now()
        return table(resource, objects, now, include=include, metadata=metadata, embed=embedding(encoder))
    objects = [presented(resource, obj) for obj in objects]
    if shape == "metadata":
        items = [encoder.metadata(obj, partial) for obj in objects]
        return {"kind": "PartialObjectMetadataList", "apiVersion": META, "metadata": metadata, "items": items}
    return {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": metadata,
        "items": [encoder.item(obj) for obj in objects],
    }


def embedding(encoder: Encoder) -> Embed:
    """Objects in the rows of a table, encoded."""

    def embed(obj: Manifest, whole: bool) -> orjson.Fragment:
        if whole:
            return orjson.Fragment(encoder.whole(obj))
        return encoder.metadata(obj, partial)

    return embed


def _page(objects: list[Manifest], request: Request, metadata: Manifest) -> list[Manifest]:
    limit = request.number("limit") or 0
    token = request.first("continue")
    if token:
        # Of the present: unlike etcd, nothing here keeps what a collection was when its first page was read.
        start = _position(token)
        objects = [obj for obj in objects if _key(obj) > start]
    if limit <= 0 or len(objects) <= limit:
        return objects
    page = objects[:limit]
    metadata["continue"] = _token(metadata["resourceVersion"], _key(page[-1]))
    # As the API server, which does not count what selectors would leave out.
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
    """After which object a page begins. Raises BadRequest for a token that this server did not give."""
    problem = ""
    try:
        raw = urlsafe_b64decode(token + "=" * (-len(token) % 4))
        decoded = orjson.loads(raw)
    except (binascii.Error, ValueError):
        problem = f"illegal base64 data at input byte {_odd(token)}"
        decoded = None
    if isinstance(decoded, dict):
        start, version = decoded.get("start"), decoded.get("rv")
        if decoded.get("v") != META:
            problem = "server does not recognize this encoded version " + status.go_quote(
                str(decoded.get("v") or "")
            )
        elif not isinstance(version, int) or version == 0:
            problem = f"incorrect encoded start resourceVersion (version {META})"
        elif not isinstance(start, str) or not start:
            problem = f"encoded start key empty (version {META})"
        else:
            namespace, _, name = start.rstrip("\0").partition("/")
            return namespace, name
    elif not problem:
        problem = "json: cannot unmarshal into Go value of type storage.continueToken"
    raise status.bad_request(f"invalid continue token: continue key is not valid: {problem}")


def _odd(token: str) -> int:
    """Where a token stops being URL-safe base64."""
    known = string.ascii_letters + string.digits + "-_"
    return next((index for index, char in enumerate(token) if char not in known), len(token))
