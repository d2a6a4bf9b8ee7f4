"""URL paths of the API, from names that anybody may have made up."""

from __future__ import annotations

from urllib.parse import quote

from sregym_env.kube import status
from sregym_env.kube.registry import Resource


def collection(kind: Resource, namespace: str | None) -> str:
    """The path of all objects of a kind, of one namespace or of all."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    within = f"/namespaces/{_segment(kind, namespace)}" if kind.namespaced and namespace else ""
    return f"{root}{within}/{kind.plural}"


def item(kind: Resource, namespace: str | None, name: str, subresource: str = "") -> str:
    """The path of one object or of a subresource of it. Raises NotFound for what cannot be a name."""
    path = f"{collection(kind, namespace or 'default')}/{_segment(kind, name)}"
    return f"{path}/{subresource}" if subresource else path


def _segment(kind: Resource, name: str) -> str:
    # An empty name would ask for the collection, and dots would walk up the path.
    if name in ("", ".", ".."):
        raise status.not_found(kind, name)
    return quote(name, safe="")
