"""What a cluster serves, as discovery tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sregym_env.kube.discovery import aggregated_type
from sregym_env.kube.registry import BUILTIN, Registry, Resource, custom_resources, is_established
from sregym_env.live.connection import Connection

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

_Place = tuple[str, str, str]
"""(group, version, plural)."""


def discover(connection: Connection) -> Registry:
    """Everything that is served now, in the server's order. Raises StatusError."""
    served = [*_served(connection, "/api"), *_served(connection, "/apis")]
    unknown = any(BUILTIN.by_plural(*place) is None for place, _ in served)
    custom = _custom(connection) if unknown else {}
    return Registry(
        BUILTIN.by_plural(*place) or custom.get(place) or _plain(place, told) for place, told in served
    )


def _served(connection: Connection, root: str) -> Iterator[tuple[_Place, dict[str, Any]]]:
    groups = connection.ask("GET", root, accept=aggregated_type("v2")).json()
    for group in groups.get("items") or ():
        for version in group.get("versions") or ():
            for told in version.get("resources") or ():
                yield (group["metadata"].get("name", ""), version["version"], told["resource"]), told


def _custom(connection: Connection) -> dict[_Place, Resource]:
    """The resources of custom resource definitions, which know their schemas."""
    crds = connection.ask("GET", _DEFINITIONS).json()["items"]
    found = (resource for crd in crds if is_established(crd) for resource in custom_resources(crd))
    return {(resource.group, resource.version, resource.plural): resource for resource in found}


def _plain(place: _Place, told: dict[str, Any]) -> Resource:
    """A resource of which nothing is known but what discovery tells: a newer one, or of an aggregated API."""
    group, version, plural = place
    return Resource(
        group=group,
        version=version,
        kind=told["responseKind"]["kind"],
        plural=plural,
        singular=told.get("singularResource") or told["responseKind"]["kind"].lower(),
        namespaced=told.get("scope") == "Namespaced",
        short_names=tuple(told.get("shortNames") or ()),
        categories=tuple(told.get("categories") or ()),
        verbs=tuple(told.get("verbs") or ()),
        subresources=tuple(sub["subresource"] for sub in told.get("subresources") or ()),
    )
