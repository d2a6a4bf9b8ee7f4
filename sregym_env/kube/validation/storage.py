"""Validation of volumes, claims and storage classes."""

from __future__ import annotations

from sregym_env.kube import names, quantity
from sregym_env.kube.status import (
    GoValue,
    duplicate,
    forbidden_field,
    invalid_value,
    required,
    too_long,
    unsupported,
)
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation.metadata import (
    IMMUTABLE,
    NOT_NEGATIVE,
    Errors,
    immutable,
    needed,
    one_of,
    spec_diff,
    validate_selector,
)

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Block", "Filesystem")
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_SETTINGS = frozenset(
    (
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    )
)


def _spec(obj: Manifest) -> Manifest:
    spec: Manifest = obj.get("spec") or {}
    return spec


def _access_modes(spec: Manifest, where: str, out: Errors, text: str) -> None:
    modes = spec.get("accessModes") or []
    if not modes:
        out.append(required(f"{where}.accessModes", text))
    for mode in modes:
        if mode not in _ACCESS_MODES:
            out.append(unsupported(f"{where}.accessModes", mode, _ACCESS_MODES))
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        text = "may not use ReadWriteOncePod with other access modes"
        out.append(forbidden_field(f"{where}.accessModes", text))


def validate_claim(obj: Manifest, out: Errors) -> None:
    """A PersistentVolumeClaim."""
    validate_claim_spec(_spec(obj), "spec", out)


def validate_claim_spec(spec: Manifest, where: str, out: Errors) -> None:
    """The spec of a claim, alone or in a template."""
    _access_modes(spec, where, out, "at least 1 access mode is required")
    validate_selector(spec.get("selector"), f"{where}.selector", out)
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        out.append(required(f"{where}.resources[storage]"))
    elif quantity.nano(size) <= 0:
        at = f"{where}.resources[storage]"
        out.append(invalid_value(at, size, "must be greater than zero"))
    name = spec.get("storageClassName")
    if name:
        complaints = names.dns1123_subdomain(name)
        out += [invalid_value(f"{where}.storageClassName", name, text) for text in complaints]
    one_of(spec, "volumeMode", where, _VOLUME_MODES, out)


def update_claim(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a claim cannot change: all but the request, which may only grow once bound."""
    after, before = _spec(new), _spec(old)
    skip = ["volumeAttributesClassName"]
    if not before.get("volumeName"):
        skip.append("volumeName")  # the binder sets it
    if before.get("storageClassName") is None:
        skip.append("storageClassName")  # the default class may arrive later
    bound = (old.get("status") or {}).get("phase") == "Bound"
    if bound:
        skip.append("resources")
    left = {k: v for k, v in after.items() if k not in skip}
    right = {k: v for k, v in before.items() if k not in skip}
    if left != right:
        text = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName "
            "for bound claims\n"
        )
        diff = spec_diff("core.PersistentVolumeClaimSpec", left, right)
        out.append(forbidden_field("spec", text + diff))
    elif bound and "resources" in after:
        _not_smaller(after, before, new, out)


def _not_smaller(after: Manifest, before: Manifest, new: Manifest, out: Errors) -> None:
    size = ((after.get("resources") or {}).get("requests") or {}).get("storage", "0")
    was = ((before.get("resources") or {}).get("requests") or {}).get("storage", "0")
    has = ((new.get("status") or {}).get("capacity") or {}).get("storage", was)
    if quantity.compare(size, was) < 0 and quantity.compare(size, has) <= 0:
        text = "field can not be less than status.capacity"
        out.append(forbidden_field("spec.resources.requests.storage", text))


def validate_volume(obj: Manifest, out: Errors) -> None:
    """A PersistentVolume."""
    spec = _spec(obj)
    _access_modes(spec, "spec", out, "")
    capacity = spec.get("capacity") or {}
    if not capacity:
        out.append(required("spec.capacity"))
    for name, amount in capacity.items():
        if name != "storage":
            out.append(unsupported("spec.capacity", name, ("storage",)))
        elif quantity.nano(amount) <= 0:
            out.append(invalid_value("spec.capacity[storage]", amount, "must be greater than zero"))
    one_of(spec, "persistentVolumeReclaimPolicy", "spec", _RECLAIM_POLICIES, out)
    one_of(spec, "volumeMode", "spec", _VOLUME_MODES, out)
    sources = [k for k in spec if k not in _SETTINGS]
    if not sources:
        out.append(required("spec", "must specify a volume type"))
    for key in sources[1:]:
        out.append(forbidden_field(f"spec.{key}", "may not specify more than 1 volume type"))
    if "hostPath" in sources:
        needed(spec["hostPath"], "path", "spec.hostPath", out)
    if "local" in sources:
        needed(spec["local"], "path", "spec.local", out)
        if spec.get("nodeAffinity") is None:
            out.append(required("spec.nodeAffinity", "Local volume requires node affinity"))


def update_volume(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a PersistentVolume cannot change: what it is."""
    after, before = _spec(new), _spec(old)
    left = {k: v for k, v in after.items() if k not in _SETTINGS}
    right = {k: v for k, v in before.items() if k not in _SETTINGS}
    if left != right:
        diff = spec_diff("core.PersistentVolumeSource", left, right)
        text = "spec.persistentvolumesource is immutable after creation\n" + diff
        out.append(forbidden_field("spec.persistentvolumesource", text))
    if after.get("volumeMode") != before.get("volumeMode"):
        out.append(invalid_value("spec.volumeMode", after.get("volumeMode"), IMMUTABLE))
    if before.get("nodeAffinity") is not None and after.get("nodeAffinity") != before.get("nodeAffinity"):
        out.append(invalid_value("spec.nodeAffinity", after.get("nodeAffinity"), IMMUTABLE))


def validate_storage_class(obj: Manifest, out: Errors) -> None:
    """A StorageClass."""
    if not obj.get("provisioner"):
        out.append(required("provisioner"))
    for key, allowed in (
        ("reclaimPolicy", ("Delete", "Retain")),
        ("volumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
    ):
        value = obj.get(key)
        if value is not None and value not in allowed:
            out.append(unsupported(key, value, allowed))


def update_storage_class(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a StorageClass cannot change."""
    if (new.get("parameters") or {}) != (old.get("parameters") or {}):
        out.append(forbidden_field("parameters", "updates to parameters are forbidden."))
    if new.get("provisioner") != old.get("provisioner"):
        out.append(forbidden_field("provisioner", "updates to provisioner are forbidden."))
    if new.get("reclaimPolicy") != old.get("reclaimPolicy"):
        out.append(forbidden_field("reclaimPolicy", "updates to reclaimPolicy are forbidden."))
    if new.get("volumeBindingMode") != old.get("volumeBindingMode"):
        out.append(invalid_value("volumeBindingMode", new.get("volumeBindingMode"), IMMUTABLE))


# --- drivers, attachments, capacities ---------------------------------------------------------------------

_LONGEST_DRIVER = 63
_FS_GROUP = ("File", "None", "ReadWriteOnceWithFSType")


def _driver_name(name: str, where: str, out: Errors) -> None:
    if not name:
        out.append(required(where))
    if len(name) > _LONGEST_DRIVER:
        out.append(too_long(where, _LONGEST_DRIVER))
    if name:
        out += [invalid_value(where, name, text) for text in names.dns1123_subdomain(name.lower())]


def validate_driver(obj: Manifest, out: Errors) -> None:
    """A CSIDriver."""
    spec = _spec(obj)
    one_of(spec, "fsGroupPolicy", "spec", _FS_GROUP, out)
    for index, mode in enumerate(spec.get("volumeLifecycleModes") or ()):
        if mode not in ("Ephemeral", "Persistent"):
            where = f"spec.volumeLifecycleModes[{index}]"
            out.append(unsupported(where, mode, ("Ephemeral", "Persistent")))
    seen: set[str] = set()
    for index, request in enumerate(spec.get("tokenRequests") or ()):
        audience, seconds = request.get("audience", ""), request.get("expirationSeconds")
        where = f"spec.tokenRequests[{index}]"
        if audience in seen:
            out.append(duplicate(f"{where}.audience", audience))
        seen.add(audience)
        if seconds is not None and seconds < 600:
            text = "may not specify a duration less than 10 minutes"
            out.append(invalid_value(f"{where}.expirationSeconds", seconds, text))


def update_driver(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a CSIDriver cannot change."""
    for key in ("attachRequired", "volumeLifecycleModes"):
        immutable(_spec(new), _spec(old), key, "spec", out)


def validate_csi_node(obj: Manifest, out: Errors) -> None:
    """A CSINode."""
    seen: set[str] = set()
    for index, driver in enumerate(_spec(obj).get("drivers") or ()):
        where = f"spec.drivers[{index}]"
        name = driver.get("name") or ""
        _driver_name(name, f"{where}.name", out)
        if name and name in seen:
            out.append(duplicate(f"{where}.name", name))
        seen.add(name)
        needed(driver, "nodeID", where, out)
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None and count < 0:
            out.append(invalid_value(f"{where}.allocatable.count", count, NOT_NEGATIVE))


def validate_capacity(obj: Manifest, out: Errors) -> None:
    """A CSIStorageCapacity."""
    validate_selector(obj.get("nodeTopology"), "nodeTopology", out)
    name = obj.get("storageClassName") or ""
    out += [invalid_value("storageClassName", name, text) for text in names.dns1123_subdomain(name)]
    for key in ("capacity", "maximumVolumeSize"):
        amount = obj.get(key)
        if amount is not None and quantity.nano(amount) < 0:
            out.append(invalid_value(key, amount, NOT_NEGATIVE))


def update_capacity(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a CSIStorageCapacity cannot change."""
    for key in ("nodeTopology", "storageClassName"):
        if new.get(key) != old.get(key):
            out.append(invalid_value(key, new.get(key), IMMUTABLE))


def validate_attachment(obj: Manifest, out: Errors) -> None:
    """A VolumeAttachment."""
    spec = _spec(obj)
    _driver_name(spec.get("attacher") or "", "spec.attacher", out)
    source = spec.get("source") or {}
    inline, volume = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and volume is None:
        text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        out.append(required("spec.source", text))
    elif inline is None and not volume:
        out.append(
            required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName")
        )
    elif inline is not None and volume is not None:
        text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        out.append(forbidden_field("spec.source", text))
    node = spec.get("nodeName") or ""
    out += [invalid_value("spec.nodeName", node, text) for text in names.dns1123_subdomain(node)]


def update_attachment(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a VolumeAttachment cannot change: all of its spec."""
    if _spec(new) != _spec(old):
        shown = GoValue("storage.VolumeAttachmentSpec{...}")
        out.append(invalid_value("spec", shown, IMMUTABLE))
