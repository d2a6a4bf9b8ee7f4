"""Which object or collection a URL path means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sregym_env.kube.registry import Registry, Resource


@dataclass(frozen=True, slots=True)
class ApiPath:
    """A path below ``/api`` or ``/apis``, understood."""

    resource: Resource
    namespace: str | None = None
    """None for cluster-scoped resources and for collections across namespaces."""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    """What follows ``proxy``."""


_NAMESPACE_SUBRESOURCES = ("status", "finalize")


@lru_cache(maxsize=4096)
def parse(path: str, registry: Registry) -> ApiPath | None:
    """The meaning of ``/api/v1/...`` or ``/apis/group/version/...``; None where nothing is served."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = None
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource = registry.by_plural(group, version, rest[0])
    if resource is None or (namespace is not None and not resource.namespaced):
        return None
    name, subresource, below = (*rest[1:4], "", "", "")[:3]
    if resource.namespaced and namespace is None and name:
        return None
    if subresource and subresource not in resource.subresources:
        return None
    if below:
        if subresource != "proxy":
            return None
        below = path.split("/proxy", 1)[1]
    return ApiPath(resource, namespace, name, subresource, below)
