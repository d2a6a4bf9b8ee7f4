"""``get --raw``: simple GETs of API paths."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

from sregym_env.kube.registry import Registry, Resource
from sregym_env.kube.status import unknown_path
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_compact_json
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
        call.print(to_compact_json(_groups(call.kubectl.discover(call.cluster), path)) + "\n")
    else:
        _resource(call, path, query)


def _resource(call: Call, path: str, query: dict[str, str]) -> None:
    registry = call.kubectl.discover(call.cluster)
    served = re.fullmatch(r"/api/v1|/apis/[^/]+/[^/]+", path)
    if served:
        call.print(to_compact_json(_resource_list(registry, path.split("/", 2)[2])) + "\n")
        return
    match = _PATH.match(path)
    resource = _served(registry, match) if match else None
    if match is None or resource is None:
        raise unknown_path()
    namespace, name, sub = match["namespace"], match["name"], match["sub"]
    if name and sub == "log" and resource.key == "pods":
        tail = int(query["tailLines"]) if "tailLines" in query else None
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
        return call.cluster.get(resource.key, name, namespace)
    items = call.cluster.list(
        resource.key,
        namespace,
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
    )
    return {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": {},
        "items": [{k: v for k, v in item.items() if k not in ("kind", "apiVersion")} for item in items],
    }


def _groups(registry: Registry, path: str) -> Manifest:
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    groups: dict[str, list[str]] = {}
    for resource in registry.resources:
        versions = groups.setdefault(resource.group, [])
        if resource.version not in versions:
            versions.append(resource.version)
    groups.pop("", None)
    listed = [
        {
            "name": group,
            "versions": [{"groupVersion": f"{group}/{v}", "version": v} for v in versions],
            "preferredVersion": {"groupVersion": f"{group}/{versions[0]}", "version": versions[0]},
        }
        for group, versions in groups.items()
    ]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}


def _resource_list(registry: Registry, group_version: str) -> Manifest:
    resources = [r for r in registry.resources if r.api_version == group_version]
    if not resources:
        raise unknown_path()
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": [
            {
                "name": r.plural,
                "singularName": r.singular,
                "namespaced": r.namespaced,
                "kind": r.kind,
                "verbs": list(r.verbs),
                **({"shortNames": list(r.short_names)} if r.short_names else {}),
                **({"categories": list(r.categories)} if r.categories else {}),
            }
            for r in resources
        ],
    }
