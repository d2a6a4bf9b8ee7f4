"""Configuration, volumes and quotas in a table."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.tables.cells import NO_FIELDS, access_modes, age
from sregym_env.kube.tables.layout import Printer, Row
from sregym_env.kube.types import Manifest


def _config_map(obj: Manifest, now: int) -> Row:
    count = len(obj.get("data") or ()) + len(obj.get("binaryData") or ())
    return (obj["metadata"]["name"], count, age(obj, now))


def _secret(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], obj.get("type", "Opaque"), len(obj.get("data") or ()), age(obj, now))


def _service_account(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], len(obj.get("secrets") or ()), age(obj, now))


def _phase(obj: Manifest) -> str:
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return str((obj.get("status") or NO_FIELDS).get("phase", ""))


def _pvc(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    volume = spec.get("volumeName", "")
    capacity = (status.get("capacity") or NO_FIELDS).get("storage", "0") if volume else ""
    return (
        obj["metadata"]["name"],
        _phase(obj),
        volume,
        capacity,
        access_modes(status.get("accessModes")) if volume else "",
        spec.get("storageClassName")
        or (obj["metadata"].get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class", ""),
        spec.get("volumeAttributesClassName") or "<unset>",
        age(obj, now),
        spec.get("volumeMode") or "<unset>",
    )


def _pv(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    claim = spec.get("claimRef")
    return (
        obj["metadata"]["name"],
        (spec.get("capacity") or NO_FIELDS).get("storage", "0"),
        access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim['name']}" if claim else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>",
        (obj.get("status") or NO_FIELDS).get("reason", ""),
        age(obj, now),
        spec.get("volumeMode") or "<unset>",
    )


def is_default_class(obj: Manifest) -> bool:
    """Whether a StorageClass is annotated as the default one."""
    annotations = obj["metadata"].get("annotations") or {}
    return any(
        annotations.get(f"storageclass{beta}.kubernetes.io/is-default-class") == "true"
        for beta in ("", ".beta")
    )


def _storage_class(obj: Manifest, now: int) -> Row:
    name = obj["metadata"]["name"]
    return (
        f"{name} (default)" if is_default_class(obj) else name,
        obj["provisioner"],
        obj.get("reclaimPolicy", "Delete"),
        obj.get("volumeBindingMode", "Immediate"),
        bool(obj.get("allowVolumeExpansion", False)),
        age(obj, now),
    )


def _resource_quota(obj: Manifest, now: int) -> Row:
    status = obj.get("status") or NO_FIELDS
    hard, used = status.get("hard") or {}, status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for key in sorted(hard):
        text = f"{key}: {used.get(key, '0')}/{hard[key]}"
        (limits if key.startswith("limits") else requests).append(text)
    return (obj["metadata"]["name"], ", ".join(requests), ", ".join(limits), age(obj, now))


def _volume_attachment(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    return (
        obj["metadata"]["name"],
        spec["attacher"],
        (spec.get("source") or NO_FIELDS).get("persistentVolumeName", ""),
        spec["nodeName"],
        bool((obj.get("status") or NO_FIELDS).get("attached")),
        age(obj, now),
    )


def _csi_node(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], len(obj["spec"].get("drivers") or ()), age(obj, now))


def _csi_capacity(obj: Manifest, now: int) -> Row:
    capacity = obj.get("capacity")
    return (
        obj["metadata"]["name"],
        obj.get("storageClassName", ""),
        "<unset>" if capacity is None else capacity,
    )


def _csi_driver(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    tokens = ",".join(t.get("audience", "") for t in spec.get("tokenRequests") or ())
    return (
        obj["metadata"]["name"],
        bool(spec.get("attachRequired", True)),
        bool(spec.get("podInfoOnMount", False)),
        bool(spec.get("storageCapacity", False)),
        tokens or "<unset>",
        bool(spec.get("requiresRepublish", False)),
        ",".join(spec.get("volumeLifecycleModes") or ("Persistent",)),
        age(obj, now),
    )


PRINTERS: Mapping[str, Printer] = {
    "configmaps": Printer.of("Name|Data|Age", _config_map),
    "secrets": Printer.of("Name|Type|Data|Age", _secret),
    "serviceaccounts": Printer.of("Name|Secrets|Age", _service_account),
    "persistentvolumeclaims": Printer.of(
        "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode*", _pvc
    ),
    "persistentvolumes": Printer.of(
        "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age"
        "|VolumeMode*",
        _pv,
    ),
    "storageclasses.storage.k8s.io": Printer.of(
        "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age", _storage_class
    ),
    "volumeattachments.storage.k8s.io": Printer.of("Name|Attacher|PV|Node|Attached|Age", _volume_attachment),
    "csistoragecapacities.storage.k8s.io": Printer.of("Name|StorageClassName|Capacity", _csi_capacity),
    "csinodes.storage.k8s.io": Printer.of("Name|Drivers|Age", _csi_node),
    "csidrivers.storage.k8s.io": Printer.of(
        "Name|AttachRequired|PodInfoOnMount|StorageCapacity|TokenRequests|RequiresRepublish|Modes|Age",
        _csi_driver,
    ),
    "resourcequotas": Printer.of("Name|Request|Limit|Age", _resource_quota),
}
"""Printers by resource key."""
