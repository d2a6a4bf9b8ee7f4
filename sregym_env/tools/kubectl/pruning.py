"""``--prune`` of ``apply`` and ``diff``: what was applied once and is no longer in the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sregym_env.cluster.api import Propagation
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.manifests import need_paths
from sregym_env.tools.kubectl.output import print_value, shown, split_format
from sregym_env.tools.kubectl.resolve import Info
from sregym_env.tools.kubectl.writing import LAST_APPLIED, dry_run_of, report

_NAMESPACED = (
    "configmaps", "endpoints", "persistentvolumeclaims", "pods", "replicationcontrollers", "secrets", "services",
    "jobs.batch", "cronjobs.batch", "ingresses.networking.k8s.io", "daemonsets.apps", "deployments.apps",
    "replicasets.apps", "statefulsets.apps",
)  # fmt: skip
_CLUSTER_WIDE = ("namespaces", "persistentvolumes")
"""Types that are pruned unless an allowlist names others (``prune.GetRESTMappings``)."""

_DEPRECATED = (
    "W0806 prune.go:71] Deprecated: kubectl apply will no longer prune non-namespaced resources by default when "
    "used with the --namespace flag in a future release. To preserve the current behaviour, list the resources you "
    "want to target explicitly in the --prune-allowlist flag."
)


@dataclass(slots=True)
class Visited:
    """What the files named: everything else of its kind may go."""

    uids: set[str] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)

    def add(self, resource: Resource, obj: Manifest) -> None:
        """Note an object that is wanted."""
        metadata = obj["metadata"]
        if resource.namespaced:
            self.namespaces.add(metadata.get("namespace", ""))
        if metadata.get("uid"):
            self.uids.add(metadata["uid"])


def allowed(call: Call) -> tuple[Resource, ...]:
    """The types of ``--prune-allowlist``; none where there is no such list. Raises kubectl's complaints."""
    found = []
    if call.command == "diff" and not call.flags.get("prune-allowlist"):
        need_paths(call, call.flags["filename"] or ())
        call.warn(_DEPRECATED)
    for text in call.flags.get("prune-allowlist") or ():
        parts = str(text).split("/")
        if len(parts) != 3:
            raise failure(f"invalid GroupVersionKind format: {text}, please follow <group/version/kind>")
        group, version, kind = parts
        api_version = version if group == "core" else f"{group}/{version}"
        resource = call.resource_of_kind(api_version, kind)
        if resource is None:
            raise failure(f'no matches for kind "{kind}" in version "{api_version}"')
        found.append(resource)
    return tuple(found)


def unwanted(call: Call, visited: Visited, chosen: Sequence[Resource]) -> Iterator[Info]:
    """The objects that were applied by a client once and have not been visited."""
    if not chosen:
        if call.command != "diff":  # which has said so before it read any file
            call.warn(_DEPRECATED)
        chosen = [call.find(token) for token in (*_NAMESPACED, *_CLUSTER_WIDE)]
    for namespace in sorted(visited.namespaces):
        for resource in chosen:
            if resource.namespaced:
                yield from _of(call, resource, namespace, visited)
    for resource in chosen:
        if not resource.namespaced:
            yield from _of(call, resource, None, visited)


def _of(call: Call, resource: Resource, namespace: str | None, visited: Visited) -> Iterator[Info]:
    selector = str(call.flags.get("selector") or "")
    for obj in call.cluster.list(resource.address, namespace, label_selector=selector):
        metadata = obj["metadata"]
        if LAST_APPLIED in (metadata.get("annotations") or {}) and metadata["uid"] not in visited.uids:
            yield Info(resource, obj)


def prune(call: Call, visited: Visited, chosen: Sequence[Resource]) -> None:
    """Delete what is no longer wanted and say so."""
    dry_run = dry_run_of(call)
    grace = int(call.flags["grace-period"])
    name, argument = split_format(call)
    for info in unwanted(call, visited, chosen):
        if dry_run != "client":
            call.cluster.delete(
                info.resource.address,
                info.name,
                info.namespace,
                grace_period_seconds=grace if grace >= 0 else None,
                propagation=_PROPAGATION.get(str(call.flags["cascade"]), "Background"),
                dry_run=dry_run == "server",
            )
        if name in ("", "name"):
            report(call, info.resource, info.object, "pruned", dry_run)
        else:
            print_value(call, name, argument, shown(call, info, name, argument))


_PROPAGATION: dict[str, Propagation] = {"orphan": "Orphan", "false": "Orphan", "foreground": "Foreground"}
