"""``get --raw``: simple GETs of API paths."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

from sregym_env.kube import discovery
from sregym_env.kube.numbers import whole
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.registry import Registry, Resource
from sregym_env.kube.status import bad_request, unknown_path
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call

_PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/[^/]+))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?/?\Z"
)
_HEALTH = ("/healthz", "/livez", "/readyz")


def get_raw(call: Call, uri: str) -> None:
    """Print the response to a GET of ``uri``. Raises NotFound for paths the server does not serve."""
    parts = urlsplit(uri)
    path = parts.path.rstrip("/") or "/"
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    if path in _HEALTH:
        call.print("ok")
    elif path == "/version":
        call.print(json.dumps(dict(call.cluster.version()), indent=2))
    elif path in ("/api", "/apis"):
        registry = call.registry
        address = call.kubeconfig.content.server.removeprefix("https://")
        found = discovery.core_versions(address) if path == "/api" else discovery.groups(registry)
        call.print(_served_json(found) + "\n")
    else:
        _resource(call, path, query)


def _resource(call: Call, path: str, query: dict[str, str]) -> None:
    registry = call.registry
    served = re.fullmatch(r"/api/(v1)|/apis/([^/]+/[^/]+)|/apis/([^/]+)", path)
    if served:
        found = discovery.group(registry, served[3]) if served[3] else None
        found = found or discovery.resources(registry, served[1] or served[2] or "")
        if found is None:
            raise unknown_path()
        call.print(_served_json(found) + "\n")
        return
    match = _PATH.match(path)
    resource = _served(registry, match) if match else None
    if match is None or resource is None:
        raise unknown_path()
    namespace, name, sub = match["namespace"], match["name"], match["sub"]
    if name and sub == "log" and resource.key == "pods":
        tail = whole(query["tailLines"]) if "tailLines" in query else None
        if tail is None and "tailLines" in query:
            raise bad_request(f'strconv.ParseInt: parsing "{query["tailLines"]}": invalid syntax')
        call.print(call.cluster.logs(namespace, name, container=query.get("container"), tail=tail))
        return
    if sub and sub not in resource.subresources:
        raise unknown_path()
    call.print(_served_json(_body(call, resource, namespace, name, query)) + "\n")


def _served_json(body: Manifest) -> str:
    """A body as the server writes it: the order of keys is the stored one, nothing is escaped."""
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def _served(registry: Registry, match: re.Match[str]) -> Resource | None:
    group, version = match["group"] or "", match["version"] or match["core"]
    for resource in registry.resources:
        if (resource.group, resource.version, resource.plural) == (group, version, match["plural"]):
            return resource
    return None


def _body(
    call: Call, resource: Resource, namespace: str | None, name: str | None, query: dict[str, str]
) -> Manifest:
    if name:
        return with_managed_fields(resource, call.cluster.get(resource.address, name, namespace))
    items = call.cluster.list(
        resource.address,
        namespace,
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
    )
    return {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": {},
        "items": [
            {k: v for k, v in with_managed_fields(resource, item).items() if k not in ("kind", "apiVersion")}
            for item in items
        ],
    }
