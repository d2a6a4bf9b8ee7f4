"""Discovery: which groups, versions and resources are served, plain and aggregated."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sregym_env.kube.registry import Registry, Resource
from sregym_env.kube.types import Manifest


def aggregated_version(accept: str) -> str:
    """The version of aggregated discovery a client prefers (kubectl before 1.30 knows ``v2beta1`` only)."""
    for clause in accept.split(","):
        if "as=APIGroupDiscoveryList" in clause:
            return "v2" if "v=v2;" in clause else "v2beta1" if "v=v2beta1;" in clause else ""
    return ""


def aggregated_type(version: str) -> str:
    """The media type of aggregated discovery."""
    return f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"


_SUBRESOURCE_KINDS: dict[tuple[str, str], tuple[str, str, str]] = {
    ("pods", "attach"): ("", "v1", "PodAttachOptions"),
    ("pods", "binding"): ("", "v1", "Binding"),
    ("pods", "eviction"): ("policy", "v1", "Eviction"),
    ("pods", "exec"): ("", "v1", "PodExecOptions"),
    ("pods", "portforward"): ("", "v1", "PodPortForwardOptions"),
    ("pods", "proxy"): ("", "v1", "PodProxyOptions"),
    ("services", "proxy"): ("", "v1", "ServiceProxyOptions"),
    ("nodes", "proxy"): ("", "v1", "NodeProxyOptions"),
    ("serviceaccounts", "token"): ("authentication.k8s.io", "v1", "TokenRequest"),
}
_PROXY_VERBS = ("create", "delete", "get", "patch", "update")
_SUBRESOURCE_VERBS: dict[str, tuple[str, ...]] = {
    "attach": ("create", "get"),
    "binding": ("create",),
    "eviction": ("create",),
    "exec": ("create", "get"),
    "finalize": ("update",),
    "log": ("get",),
    "portforward": ("create", "get"),
    "proxy": _PROXY_VERBS,
    "token": ("create",),
}
_READ_WRITE = ("get", "patch", "update")


def subresource_kind(resource: Resource, subresource: str) -> tuple[str, str, str]:
    """Group, version and kind that a subresource speaks."""
    if subresource == "scale":
        return ("autoscaling", "v1", "Scale")
    return _SUBRESOURCE_KINDS.get((resource.plural, subresource), resource.gvk)


def _subresource_verbs(subresource: str) -> tuple[str, ...]:
    return _SUBRESOURCE_VERBS.get(subresource, _READ_WRITE)


def _gvk(group: str, version: str, kind: str) -> dict[str, str]:
    return {"group": group, "version": version, "kind": kind}


def _aggregated_resource(resource: Resource) -> Manifest:
    entry: Manifest = {
        "resource": resource.plural,
        "responseKind": _gvk(*resource.gvk),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if resource.subresources:
        entry["subresources"] = [
            {
                "subresource": name,
                "responseKind": _gvk(*subresource_kind(resource, name)),
                "verbs": list(_subresource_verbs(name)),
            }
            for name in resource.subresources
        ]
    return entry


def _grouped(resources: Iterable[Resource]) -> dict[str, dict[str, list[Resource]]]:
    groups: dict[str, dict[str, list[Resource]]] = {}
    for resource in resources:
        groups.setdefault(resource.group, {}).setdefault(resource.version, []).append(resource)
    return groups


@lru_cache(maxsize=16)
def aggregated(registry: Registry, core: bool, version: str, stale: tuple[str, ...] = ()) -> Manifest:
    """The ``APIGroupDiscoveryList`` of ``/api`` (core group) or ``/apis`` (all others).

    What is served in the group versions ``stale`` is not known: nobody answers for them.
    """
    items = [
        {
            "metadata": {"name": group, "creationTimestamp": None},
            "versions": [
                {
                    "version": name,
                    "resources": [_aggregated_resource(r) for r in resources],
                    "freshness": "Current",
                }
                if f"{group}/{name}" not in stale
                else {"version": name, "freshness": "Stale"}
                for name, resources in versions.items()
            ],
        }
        for group, versions in _grouped(registry.resources).items()
        if (group == "") == core
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": items,
    }


def core_versions(address: str) -> Manifest:
    """The plain document at ``/api``."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def _group(name: str, versions: Iterable[str]) -> Manifest:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


@lru_cache(maxsize=8)
def groups(registry: Registry) -> Manifest:
    """The plain ``APIGroupList`` at ``/apis``."""
    found = [_group(name, versions) for name, versions in _grouped(registry.resources).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


@lru_cache(maxsize=64)
def group(registry: Registry, name: str) -> Manifest | None:
    """The ``APIGroup`` at ``/apis/NAME``, None where it is not served."""
    versions = _grouped(registry.resources).get(name)
    if not name or versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


@lru_cache(maxsize=64)
def resources(registry: Registry, group_version: str) -> Manifest | None:
    """The ``APIResourceList`` of one API version, None where it is not served."""
    found = [r for r in registry.resources if r.api_version == group_version]
    if not found:
        return None
    entries = [entry for resource in found for entry in _plain(resource)]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": entries,
    }


def _plain(resource: Resource) -> list[Manifest]:
    entry: Manifest = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    entries = [entry]
    for name in resource.subresources:
        group_, version, kind = subresource_kind(resource, name)
        below: Manifest = {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": kind,
            "verbs": list(_subresource_verbs(name)),
        }
        if (group_, version, kind) != resource.gvk and (group_, version) != (
            resource.group,
            resource.version,
        ):
            below = {**below, "group": group_, "version": version}
        entries.append(below)
    return entries
