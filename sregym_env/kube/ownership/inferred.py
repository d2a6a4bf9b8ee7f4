"""The owners of objects that nobody has recorded.

What the simulated world writes by itself leaves no records: it would cost time, and records of what a fault
changed would tell it. Objects are shown with the entries they would have on a real cluster: one of the tool
or component that creates such objects, when they were created, and one of the component that reports their
status. Both follow from the object as it is now and from nothing else, so they tell nothing that the object
does not tell.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from sregym_env.kube import conversion
from sregym_env.kube.ownership import shape as shapes
from sregym_env.kube.ownership.compare import compare
from sregym_env.kube.ownership.entries import Entry, encode, stored
from sregym_env.kube.ownership.fields import LEAF, Fields, difference, from_paths, union
from sregym_env.kube.ownership.writes import UNOWNED
from sregym_env.kube.registry import BUILTIN, Resource
from sregym_env.kube.schema import VERSION
from sregym_env.kube.types import Manifest

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CONTROLLERS = "kube-controller-manager"
CLIENT_SIDE = "kubectl-client-side-apply"

_REVISION = "deployment.kubernetes.io/revision"
_TOKEN_VOLUME = "kube-api-access-"
_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"

_REPORTERS: Mapping[str, str] = {
    "pods": "kubelet",
    "nodes": "kubelet",
    "customresourcedefinitions.apiextensions.k8s.io": "kube-apiserver",
    "apiservices.apiregistration.k8s.io": "kube-apiserver",
}
"""Who reports the status of a resource, where it is not a controller of the controller manager."""

_MAKERS: Mapping[str, str] = {
    "nodes": "kubelet",
    "csinodes.storage.k8s.io": "kubelet",
    "endpoints": CONTROLLERS,
    "endpointslices.discovery.k8s.io": CONTROLLERS,
    "apiservices.apiregistration.k8s.io": "kube-apiserver",
    "flowschemas.flowcontrol.apiserver.k8s.io": "api-priority-and-fairness-config-producer-v1",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": "api-priority-and-fairness-config-producer-v1",
}
"""Who creates all objects of a resource."""

_SET_BY_SERVER: Mapping[str, Fields] = {
    "pods": from_paths(
        ("spec", "nodeName"), ("spec", "priority"), ("spec", "preemptionPolicy"), ("spec", "tolerations"),
        ("spec", "serviceAccount"),
    ),
    "services": from_paths(
        ("spec", "clusterIP"), ("spec", "clusterIPs"), ("spec", "ipFamilies"), ("spec", "ipFamilyPolicy"),
    ),
    "jobs.batch": from_paths(("spec", "selector")),
    "nodes": from_paths(("spec", "podCIDR"), ("spec", "podCIDRs"), ("spec", "taints")),
}  # fmt: skip
"""What admission and allocation fill in after ownership has been recorded, or other components later."""


@lru_cache(maxsize=1)
def _zeros() -> dict[str, Manifest]:
    data = (files("sregym_env.kube") / "data" / f"zero-{VERSION}.json.gz").read_bytes()
    tree: dict[str, Manifest] = orjson.loads(gzip.decompress(data))
    return tree


def empty(api_version: str, kind: str) -> Manifest:
    """The object from which a creation starts: what Go has in a new one."""
    return _zeros().get(f"{api_version} {kind}", LEAF)


# --- what is shown --------------------------------------------------------------------------------

_shown: dict[int, tuple[Manifest, list[Manifest]]] = {}
_presented: dict[int, tuple[Manifest, Manifest]] = {}
_MOST_KEPT = 2048
"""More than a cluster has objects; most of the rest are states of objects that nobody will ask for again."""


def shown(resource: Resource, obj: Manifest) -> list[Manifest]:
    """The ``managedFields`` of a stored object as clients see them.

    Kept by the identity of the object's metadata, which every write replaces.
    """
    metadata = obj["metadata"]
    known = _shown.get(id(metadata))
    if known is not None and known[0] is metadata:
        return known[1]
    found = encode(entries(resource, obj))
    if len(_shown) >= _MOST_KEPT:
        _shown.clear()
    _shown[id(metadata)] = (metadata, found)
    return found


def with_managed_fields(resource: Resource, obj: Manifest) -> Manifest:
    """The object as clients see it, its owners in ``metadata.managedFields``; the same one for the same one."""
    known = _presented.get(id(obj))
    if known is not None and known[0] is obj:
        return known[1]
    made = _with_managed_fields(resource, obj)
    if made is not obj:
        if len(_presented) >= _MOST_KEPT:
            _presented.clear()
        _presented[id(obj)] = (obj, made)
    return made


def _with_managed_fields(resource: Resource, obj: Manifest) -> Manifest:
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "uid" not in metadata or obj.get("kind") != resource.kind:
        return obj
    found = shown(resource, obj)
    if found:
        return {**obj, "metadata": {**metadata, "managedFields": found}}
    if "managedFields" not in metadata:
        return obj
    return {**obj, "metadata": {k: v for k, v in metadata.items() if k != "managedFields"}}


def entries(resource: Resource, obj: Manifest) -> tuple[Entry, ...]:
    """All owners of a stored object: the recorded ones, else the inferred maker, and the reporter."""
    metadata = obj["metadata"]
    recorded = metadata.get("managedFields")
    if recorded is not None and not recorded:
        return ()  # somebody has emptied the list; nothing is tracked until the next apply
    if recorded:
        known = stored(obj)
    else:
        obj = conversion.to_storage(resource, obj)
        known = made_by(resource, obj)
    reported = reported_by(resource, conversion.to_storage(resource, obj))
    if reported is None:
        return known
    owned: Fields = LEAF
    for entry in known:
        owned = union(owned, entry.fields)
    return (*known, reported.having(difference(reported.fields, owned)))


def records(resource: Resource, obj: Manifest) -> tuple[Entry, ...]:
    """The owners that a write starts from and that are then kept: all but the reporter."""
    if obj["metadata"].get("managedFields") is not None:
        return stored(obj)
    return made_by(resource, conversion.to_storage(resource, obj))


def is_reporter(resource: Resource, entry: Entry) -> bool:
    """Whether an entry is the one that is always inferred."""
    return entry.subresource == "status" and entry.manager == _REPORTERS.get(resource.key, CONTROLLERS)


# --- the maker ------------------------------------------------------------------------------------


def made_by(resource: Resource, obj: Manifest) -> tuple[Entry, ...]:
    """The entry of whoever creates such an object."""
    reduced = _as_sent(resource, {key: value for key, value in obj.items() if key != "status"})
    fields = compare(_shape(resource, obj), _without_status(_empty_of(resource, obj)), reduced).changed
    fields = difference(fields, UNOWNED)
    if not fields:
        return ()
    return (Entry(_maker(resource, obj), "Update", obj["apiVersion"], fields, _written(resource, obj)),)


def _written(resource: Resource, obj: Manifest) -> str:
    """When its maker wrote an object last: Leases are renewed, others are made once."""
    if resource.key == "leases.coordination.k8s.io":
        renewed = (obj.get("spec") or {}).get("renewTime")
        if renewed:
            return str(renewed)[:19] + "Z"
    return str(obj["metadata"].get("creationTimestamp", ""))


def _shape(resource: Resource, obj: Manifest) -> shapes.Shape:
    """The shape in the version of the object, which is the stored one and not always that of the request."""
    if obj["apiVersion"] != resource.api_version:
        resource = BUILTIN.by_kind(obj["apiVersion"], resource.kind) or resource
    return shapes.of_resource(resource)


def _empty_of(resource: Resource, obj: Manifest) -> Manifest:
    return empty(str(obj.get("apiVersion", "")), resource.kind)


def _without_status(obj: Manifest) -> Manifest:
    return {key: value for key, value in obj.items() if key != "status"}


def _as_sent(resource: Resource, obj: Manifest) -> Manifest:
    """The object without what others than its maker have filled in."""
    metadata = obj["metadata"]
    annotations = metadata.get("annotations")
    if annotations and _REVISION in annotations and resource.key == "deployments.apps":
        left = {key: value for key, value in annotations.items() if key != _REVISION}
        metadata = {key: value for key, value in metadata.items() if key != "annotations"}
        obj = {**obj, "metadata": {**metadata, "annotations": left} if left else metadata}
    given = _SET_BY_SERVER.get(resource.key)
    if given is None:
        return obj
    names = {element[2:] for element in given["f:spec"]}
    spec = {key: value for key, value in (obj.get("spec") or {}).items() if key not in names}
    return {**obj, "spec": _pod_as_sent(spec) if resource.key == "pods" else spec}


def without_allocated(resource: Resource, obj: Manifest, sent: Manifest) -> Manifest:
    """A new object without what the server fills in where its maker has not said it."""
    given = _SET_BY_SERVER.get(resource.key)
    if given is None:
        return obj
    said = sent.get("spec") or {}
    names = {element[2:] for element in given["f:spec"]}
    spec = obj.get("spec") or {}
    return {**obj, "spec": {name: spec[name] for name in spec if name in said or name not in names}}


def _pod_as_sent(spec: Manifest) -> Manifest:
    """A pod's spec without its token and the name of the default account."""
    out = {key: value for key, value in spec.items() if key not in ("volumes", "serviceAccountName")}
    if spec.get("serviceAccountName", "default") != "default":
        out["serviceAccountName"] = spec["serviceAccountName"]
    volumes = [v for v in spec.get("volumes") or () if not v["name"].startswith(_TOKEN_VOLUME)]
    if volumes:
        out["volumes"] = volumes
    for field in ("containers", "initContainers"):
        if field in out:
            out[field] = [_without_token(container) for container in out[field]]
    return out


def _without_token(container: Manifest) -> Manifest:
    mounts = container.get("volumeMounts")
    if not mounts:
        return container
    left = [mount for mount in mounts if mount.get("mountPath") != _TOKEN_PATH]
    out = {key: value for key, value in container.items() if key != "volumeMounts"}
    return {**out, "volumeMounts": left} if left else out


def _maker(resource: Resource, obj: Manifest) -> str:
    metadata = obj["metadata"]
    known = _MAKERS.get(resource.key)
    if known is not None:
        return known
    if LAST_APPLIED in (metadata.get("annotations") or {}):
        return CLIENT_SIDE
    if (metadata.get("labels") or {}).get("app.kubernetes.io/managed-by") == "Helm":
        return "helm"
    for owner in metadata.get("ownerReferences") or ():
        return "kubelet" if owner.get("kind") == "Node" else CONTROLLERS
    if resource.kind == "Event":
        source = (obj.get("source") or {}).get("component") or obj.get("reportingComponent")
        return str(source or "kubelet")
    return _maker_by_name(resource, metadata)


def _maker_by_name(resource: Resource, metadata: Manifest) -> str:
    name, namespace = metadata["name"], metadata.get("namespace", "")
    if resource.key == "leases.coordination.k8s.io":
        return "kubelet" if namespace == "kube-node-lease" else str(name)
    if (resource.key, name) in (("serviceaccounts", "default"), ("configmaps", "kube-root-ca.crt")):
        return CONTROLLERS
    if (resource.key, namespace, name) == ("services", "default", "kubernetes"):
        return "kube-apiserver"
    if resource.key == "namespaces" and (name == "default" or name.startswith("kube-")):
        return "kube-apiserver"
    if name.startswith(("system:", "system-")) or name in ("cluster-admin", "admin", "edit", "view"):
        return (
            "kube-apiserver" if not namespace or resource.group == "rbac.authorization.k8s.io" else "kubeadm"
        )
    return "kubeadm" if namespace == "kube-system" else "kubectl-create"


# --- the reporter ---------------------------------------------------------------------------------


def reported_by(resource: Resource, obj: Manifest) -> Entry | None:
    """The entry of whoever reports the object's status; None where nobody does."""
    status = obj.get("status")
    if not status or "status" not in resource.subresources:
        return None
    before: dict[str, Any] = _initial(resource, status)
    after: dict[str, Any] = {"status": status}
    annotations = obj["metadata"].get("annotations") or {}
    if _REVISION in annotations and resource.key == "deployments.apps":
        others = {key: value for key, value in annotations.items() if key != _REVISION}
        before["metadata"] = {"annotations": others} if others else {}
        after["metadata"] = {"annotations": annotations}
    fields = compare(_shape(resource, obj), before, after).changed
    if not fields:
        return None
    reporter = _REPORTERS.get(resource.key, CONTROLLERS)
    time = max(_times(status), default="") or obj["metadata"].get("creationTimestamp", "")
    return Entry(reporter, "Update", obj["apiVersion"], fields, time, "status")


def _initial(resource: Resource, status: Manifest) -> dict[str, Any]:
    """The status with which the server starts an object."""
    if resource.key == "pods":
        conditions = [c for c in status.get("conditions") or () if c.get("type") == "PodScheduled"]
        kept = {"qosClass": status["qosClass"]} if "qosClass" in status else {}
        return {"status": {"phase": "Pending", **kept, **({"conditions": conditions} if conditions else {})}}
    if resource.key in ("namespaces", "persistentvolumeclaims", "persistentvolumes"):
        return {"status": {"phase": "Pending" if resource.key != "namespaces" else "Active"}}
    return {"status": empty(resource.api_version, resource.kind).get("status", {})}


def _times(status: Manifest) -> list[str]:
    """When the parts of a status last changed, as far as it says so itself."""
    found = []
    for condition in status.get("conditions") or ():
        for name in ("lastUpdateTime", "lastTransitionTime", "lastHeartbeatTime"):
            if condition.get(name):
                found.append(str(condition[name]))
    for container in status.get("containerStatuses") or ():
        for state in (container.get("state") or {}).values():
            found += [str(state[name]) for name in ("startedAt", "finishedAt") if state.get(name)]
    return found
