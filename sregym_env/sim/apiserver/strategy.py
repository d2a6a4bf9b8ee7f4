"""What a resource lets a client set: the create and update strategies of the API server.

Status belongs to the status subresource, generation to the server, and some metadata to nobody but it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.registry import Resource
from sregym_env.kube.schema import struct_of
from sregym_env.kube.types import Manifest

_WITHOUT_GENERATION = frozenset(
    {
        "pods", "services", "configmaps", "secrets", "events", "nodes", "namespaces", "endpoints",
        "persistentvolumeclaims", "persistentvolumes", "serviceaccounts", "limitranges", "resourcequotas",
        "leases.coordination.k8s.io", "roles.rbac.authorization.k8s.io",
        "rolebindings.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io",
        "clusterrolebindings.rbac.authorization.k8s.io", "storageclasses.storage.k8s.io",
        "csinodes.storage.k8s.io", "csidrivers.storage.k8s.io", "volumeattachments.storage.k8s.io",
        "controllerrevisions.apps", "horizontalpodautoscalers.autoscaling", "podtemplates",
    }
)  # fmt: skip
"""Resources whose strategy never sets ``metadata.generation`` (v1.32 registry packages)."""

_INITIAL_STATUS: dict[str, dict[str, Any]] = {
    "pods": {"phase": "Pending"},
    "namespaces": {"phase": "Active"},
    "persistentvolumeclaims": {"phase": "Pending"},
    "persistentvolumes": {"phase": "Pending"},
    "services": {"loadBalancer": {}},
    "ingresses.networking.k8s.io": {"loadBalancer": {}},
    "replicationcontrollers": {"replicas": 0},
    "replicasets.apps": {"replicas": 0},
    "statefulsets.apps": {"replicas": 0, "availableReplicas": 0},
    "daemonsets.apps": {
        "currentNumberScheduled": 0,
        "desiredNumberScheduled": 0,
        "numberMisscheduled": 0,
        "numberReady": 0,
    },
    "horizontalpodautoscalers.autoscaling": {"currentMetrics": None, "desiredReplicas": 0},
    "poddisruptionbudgets.policy": {
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "disruptionsAllowed": 0,
        "expectedPods": 0,
    },
    "volumeattachments.storage.k8s.io": {"attached": False},
}
"""What a status says before any controller has written it: phases the strategies set, and the fields without
``omitempty`` in the Go types, which clients' models require."""

_SERVER_METADATA = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
)

EMPTY_STATUS: dict[str, Any] = {}


def has_status(resource: Resource) -> bool:
    """Whether status is written only through its subresource."""
    return "status" in resource.subresources


def has_generation(resource: Resource) -> bool:
    """Whether the server counts changes of desired state in ``metadata.generation``."""
    return resource.key not in _WITHOUT_GENERATION


def prepared_for_create(resource: Resource, obj: Manifest, *, uid: str, now: int) -> Manifest:
    """The object as the server starts to keep it: no foreign status, server-owned metadata set."""
    metadata = {
        key: value
        for key, value in obj["metadata"].items()
        if key not in ("resourceVersion", "selfLink", "managedFields", *_SERVER_METADATA)
    }
    if resource.namespaced and not metadata.get("namespace"):
        metadata["namespace"] = "default"
    if not resource.namespaced:
        metadata.pop("namespace", None)
    metadata["uid"] = uid
    metadata["creationTimestamp"] = rfc3339(now)
    if has_generation(resource):
        metadata["generation"] = 1
    fresh = {**obj, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    if resource.custom:
        if has_status(resource):
            fresh.pop("status", None)
    elif resource.key == _DEFINITIONS:
        fresh["status"] = _with_stored_version(
            fresh, {"acceptedNames": {"kind": "", "plural": ""}, "conditions": []}
        )
    elif has_status(resource):
        fresh["status"] = _INITIAL_STATUS.get(resource.key, EMPTY_STATUS)
        if not fresh["status"]:
            fresh["status"] = EMPTY_STATUS
    return fresh


REQUESTS = "certificatesigningrequests.certificates.k8s.io"


def requested_by(obj: Manifest, user: str, groups: Sequence[str]) -> Manifest:
    """A certificate request with who asks: nobody can say so but the server."""
    spec = {k: v for k, v in (obj.get("spec") or {}).items() if k not in ("uid", "extra")}
    return {**obj, "spec": {**spec, "username": user, "groups": list(groups)}}


def completed(resource: Resource, obj: Manifest) -> Manifest:
    """What the server derives from other fields of a new object: a Job's selector, a Secret's data. A ``spec``
    that is not there is empty, as a Go struct is."""
    if not isinstance(obj.get("spec"), dict) and _has_spec(resource):
        obj = {**obj, "spec": {}}
    if resource.key == "jobs.batch" and not (obj.get("spec") or {}).get("manualSelector"):
        return _with_job_selector(obj)
    if resource.key == "secrets" and obj.get("stringData"):
        encoded = {key: b64encode(text.encode()).decode() for key, text in obj["stringData"].items()}
        rest = {key: value for key, value in obj.items() if key != "stringData"}
        return {**rest, "data": {**obj.get("data", {}), **encoded}}
    return obj


@lru_cache(maxsize=512)
def _has_spec(resource: Resource) -> bool:
    struct = None if resource.custom else struct_of(resource)
    declared = None if struct is None else struct.fields.get("spec")
    return declared is not None and declared.type.struct is not None


def _with_job_selector(job: Manifest) -> Manifest:
    spec, metadata = job.get("spec") or {}, job["metadata"]
    template = spec.get("template")
    if not isinstance(template, dict) or spec.get("selector") or "uid" not in metadata:
        return job
    uid, name = metadata["uid"], metadata["name"]
    added = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    old = template.get("metadata") or {}
    labelled = {**old, "labels": {**(old.get("labels") or {}), **added}}
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    return {**job, "spec": {**spec, "selector": selector, "template": {**template, "metadata": labelled}}}


def prepared_for_update(resource: Resource, new: Manifest, old: Manifest) -> Manifest:
    """The new object with everything that an ordinary update may not change taken from the old one."""
    metadata = dict(new["metadata"])
    metadata.pop("managedFields", None)
    if "managedFields" in old["metadata"]:
        metadata["managedFields"] = old["metadata"]["managedFields"]
    metadata.pop("selfLink", None)
    for field in _SERVER_METADATA:
        if field in old["metadata"]:
            metadata[field] = old["metadata"][field]
        else:
            metadata.pop(field, None)
    for field in ("name", "namespace"):
        if field in old["metadata"]:
            metadata[field] = old["metadata"][field]
    metadata["resourceVersion"] = old["metadata"]["resourceVersion"]
    if resource.key == REQUESTS:
        # What was asked for once is not changed, and no word is said of it.
        new = {**new, "spec": old["spec"]}
    updated = {**new, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    if has_status(resource):
        if "status" in old:
            updated["status"] = old["status"]
        else:
            updated.pop("status", None)
    if resource.key == _DEFINITIONS:
        updated["status"] = _with_stored_version(updated, updated.get("status") or {})
    if has_generation(resource) and desired(resource, updated) != desired(resource, old):
        metadata["generation"] = old["metadata"].get("generation", 1) + 1
    return updated


def desired(resource: Resource, obj: Manifest) -> dict[str, Any]:
    """The part of an object that says what is wanted: all but metadata and status."""
    if resource.custom and not has_status(resource):
        return {key: value for key, value in obj.items() if key != "metadata"}
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def _with_stored_version(crd: Manifest, status: Manifest) -> Manifest:
    """The status of a CustomResourceDefinition with its storage version among ``storedVersions``."""
    known = status.get("storedVersions") or []
    storage = [
        v["name"] for v in (crd.get("spec") or {}).get("versions") or () if v.get("storage") and v.get("name")
    ]
    added = [name for name in storage if name not in known]
    return {**status, "storedVersions": [*known, *added]} if added else status
