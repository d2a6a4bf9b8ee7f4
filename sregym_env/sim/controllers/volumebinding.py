"""The PersistentVolume controller: claims find volumes, volumes know their claims.

Follows ``pkg/controller/volume/persistentvolume`` of v1.32. Making volumes is :mod:`.provisioner`'s work.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.kube import quantity
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.selectors import from_dict
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

CLAIMS = "persistentvolumeclaims"
VOLUMES = "persistentvolumes"
CLASSES = "storageclasses.storage.k8s.io"
COMPONENT = "persistentvolume-controller"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"

WAITING = (
    "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system "
    "administrator. If volume creation is delayed, please verify that the provisioner is running and "
    "correctly registered."
)


def annotation(obj: Manifest, name: str) -> str:
    """An annotation's value, empty if it is not there."""
    return str((obj["metadata"].get("annotations") or {}).get(name, ""))


def claim_class(claim: Manifest) -> str:
    """The storage class a claim asks for; empty for none."""
    return str(claim["spec"].get("storageClassName") or "")


def is_delayed(world: SimWorld, claim: Manifest) -> bool:
    """Whether binding waits for a pod: WaitForFirstConsumer, and no node selected yet."""
    found = world.store.get(CLASSES, "", claim_class(claim)) if claim_class(claim) else None
    if found is None or found.get("volumeBindingMode", "Immediate") != "WaitForFirstConsumer":
        return False
    return not annotation(claim, SELECTED_NODE)


# --- claims -------------------------------------------------------------------------------------------


def reconcile_claim(world: SimWorld, key: Key) -> int | None:
    """Bind one claim, or say why it stays Pending."""
    claim = world.store.get(CLAIMS, *key)
    if claim is None:
        return None
    if annotation(claim, BIND_COMPLETED):
        _check_bound(world, claim)
        return None
    if "deletionTimestamp" in claim["metadata"]:
        return None
    wanted = claim["spec"].get("volumeName")
    if wanted:
        volume = world.store.get(VOLUMES, "", wanted)
        if volume is not None and (volume["spec"].get("claimRef") is None or is_for(volume, claim)):
            _bind(world, volume, claim)
        return None
    volume = _best_match(world, claim)
    if volume is not None:
        _bind(world, volume, claim)
    else:
        _explain(world, claim)
    return None


def is_for(volume: Manifest, claim: Manifest) -> bool:
    """Whether a volume is reserved for, or bound to, this claim."""
    ref, metadata = volume["spec"].get("claimRef") or {}, claim["metadata"]
    if ref.get("name") != metadata["name"] or ref.get("namespace") != metadata["namespace"]:
        return False
    return not ref.get("uid") or bool(ref["uid"] == metadata["uid"])


def _best_match(world: SimWorld, claim: Manifest) -> Manifest | None:
    """The volume reserved for the claim, or the smallest that fits."""
    fitting = []
    delayed = is_delayed(world, claim)
    for volume in world.store.list(VOLUMES):
        if "deletionTimestamp" in volume["metadata"]:
            continue
        if is_for(volume, claim):
            return volume
        if not delayed and volume["spec"].get("claimRef") is None and fits(volume, claim):
            fitting.append(volume)

    def size(volume: Manifest) -> int:
        return quantity.bytes_((volume["spec"].get("capacity") or {}).get("storage", "0"))

    return min(fitting, key=size, default=None)


def fits(volume: Manifest, claim: Manifest) -> bool:
    """Whether a free volume satisfies a claim: class, modes, labels and size."""
    offered, asked = volume["spec"], claim["spec"]
    if (offered.get("storageClassName") or "") != claim_class(claim):
        return False
    if offered.get("volumeMode", "Filesystem") != asked.get("volumeMode", "Filesystem"):
        return False
    if (volume.get("status") or {}).get("phase", "Available") not in ("Available", "Pending"):
        return False
    modes = offered.get("accessModes") or ()
    if any(mode not in modes for mode in asked.get("accessModes") or ()):
        return False
    selector = asked.get("selector")
    if selector is not None and not from_dict(selector).matches(volume["metadata"].get("labels")):
        return False
    return quantity.compare((offered.get("capacity") or {}).get("storage", "0"), requested(claim)) >= 0


def requested(claim: Manifest) -> str:
    """The size a claim asks for."""
    return str(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage", "0"))


def claim_reference(claim: Manifest) -> dict[str, str]:
    """The ``claimRef`` that binds a volume to a claim."""
    metadata = claim["metadata"]
    return {
        "kind": "PersistentVolumeClaim",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "apiVersion": "v1",
        "resourceVersion": metadata["resourceVersion"],
    }


def _annotated(obj: Manifest, **more: str) -> Manifest:
    names = {"completed": BIND_COMPLETED, "by_controller": BOUND_BY_CONTROLLER}
    added = {names[name]: value for name, value in more.items()}
    return {**obj["metadata"], "annotations": {**(obj["metadata"].get("annotations") or {}), **added}}


def _bind(world: SimWorld, volume: Manifest, claim: Manifest) -> None:
    """Bind both ways, volume first, as the binder does."""
    name = volume["metadata"]["name"]
    ref = volume["spec"].get("claimRef") or {}
    if ref.get("uid") != claim["metadata"]["uid"]:
        metadata = volume["metadata"] if ref else _annotated(volume, by_controller="yes")
        spec = {**volume["spec"], "claimRef": {**ref, **claim_reference(claim)}}
        volume = apiserver.update(world, VOLUMES, {**volume, "metadata": metadata, "spec": spec})
    _set_phase(world, volume, "Bound")
    if claim["spec"].get("volumeName"):
        metadata = _annotated(claim, completed="yes")
    else:
        metadata = _annotated(claim, completed="yes", by_controller="yes")
    bound = {**claim, "metadata": metadata, "spec": {**claim["spec"], "volumeName": name}}
    apiserver.update(world, CLAIMS, bound)
    status = {
        **(claim.get("status") or {}),
        "phase": "Bound",
        "accessModes": list(volume["spec"].get("accessModes") or ()),
        "capacity": dict(volume["spec"].get("capacity") or {}),
    }
    apiserver.update_status(world, CLAIMS, metadata["namespace"], metadata["name"], status)


def _check_bound(world: SimWorld, claim: Manifest) -> None:
    """A bound claim whose volume is gone, or serves another, is Lost."""
    volume = world.store.get(VOLUMES, "", claim["spec"].get("volumeName", ""))
    if volume is not None and is_for(volume, claim):
        status = claim.get("status") or {}
        if status.get("phase") != "Bound":
            _bind(world, volume, claim)
        return
    if (claim.get("status") or {}).get("phase") == "Lost":
        return
    metadata = claim["metadata"]
    lost = {"phase": "Lost"}
    apiserver.update_status(world, CLAIMS, metadata["namespace"], metadata["name"], lost)
    if volume is None:
        reason = "ClaimLost"
        text = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
    else:
        reason = "ClaimMisbound"
        text = "Two claims are bound to the same volume, this one is bound incorrectly"
    events.record(world, claim, "Warning", reason, text, component=COMPONENT)


def _explain(world: SimWorld, claim: Manifest) -> None:
    """Say what the claim waits for, and ask its provisioner for a volume."""
    name = claim_class(claim)
    if is_delayed(world, claim):
        waiting = _unscheduled_consumer(world, claim)
        if waiting is None:
            text = "waiting for first consumer to be created before binding"
            events.record(world, claim, "Normal", "WaitForFirstConsumer", text, component=COMPONENT)
        else:
            text = f"waiting for pod {waiting} to be scheduled"
            events.record(world, claim, "Normal", "WaitForPodScheduled", text, component=COMPONENT)
        return
    if not name:
        text = "no persistent volumes available for this claim and no storage class is set"
        events.record(world, claim, "Normal", "FailedBinding", text, component=COMPONENT)
        return
    storage_class = world.store.get(CLASSES, "", name)
    if storage_class is None:
        text = f'storageclass.storage.k8s.io "{name}" not found'
        events.record(world, claim, "Warning", "ProvisioningFailed", text, component=COMPONENT)
        return
    provisioner = storage_class["provisioner"]
    if provisioner == "kubernetes.io/no-provisioner":
        text = f"no volume plugin matched name: {provisioner}"
        events.record(world, claim, "Warning", "ProvisioningFailed", text, component=COMPONENT)
        return
    metadata = claim["metadata"]
    asked = {STORAGE_PROVISIONER: provisioner, BETA_STORAGE_PROVISIONER: provisioner}
    apiserver.patch_metadata(world, CLAIMS, metadata["namespace"], metadata["name"], annotations=asked)
    text = WAITING.format(provisioner)
    events.record(world, claim, "Normal", "ExternalProvisioning", text, component=COMPONENT)


def consumers(world: SimWorld, claim: Manifest) -> list[Manifest]:
    """Pods that mount the claim and are not finished."""
    namespace, name = claim["metadata"]["namespace"], claim["metadata"]["name"]
    return [
        pod
        for pod in world.store.list("pods", namespace)
        if name in claims_of(pod) and not pods.is_finished(pod)
    ]


def claims_of(pod: Manifest) -> list[str]:
    """Names of the claims a pod mounts, those made for its ephemeral volumes included."""
    found = []
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            found.append(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            found.append(f"{pod['metadata']['name']}-{volume['name']}")
    return found


def _unscheduled_consumer(world: SimWorld, claim: Manifest) -> str | None:
    for pod in consumers(world, claim):
        if not pod["spec"].get("nodeName"):
            return str(pod["metadata"]["name"])
    return None


# --- volumes ------------------------------------------------------------------------------------------


def reconcile_volume(world: SimWorld, key: Key) -> int | None:
    """Keep one volume's phase true to what became of its claim."""
    volume = world.store.get(VOLUMES, *key)
    if volume is None:
        world.volumes.pop(key[1], None)
        return None
    ref = volume["spec"].get("claimRef")
    if ref is None or not ref.get("uid"):
        _set_phase(world, volume, "Available")
        return None
    claim = world.store.get(CLAIMS, ref["namespace"], ref["name"])
    if claim is None or claim["metadata"]["uid"] != ref["uid"]:
        _set_phase(world, volume, "Released")
    elif claim["spec"].get("volumeName") == key[1]:
        _set_phase(world, volume, "Bound")
    return None


def _set_phase(world: SimWorld, volume: Manifest, phase: str) -> None:
    status: dict[str, Any] = {**(volume.get("status") or {})}
    if status.get("phase") == phase:
        return
    status["phase"] = phase
    status["lastPhaseTransitionTime"] = rfc3339(world.now())
    apiserver.update_status(world, VOLUMES, "", volume["metadata"]["name"], status)


def claim_of_volume(_: SimWorld, change: Change) -> Iterable[Key]:
    """Wake the claim that a volume is for."""
    for obj in (change.old, change.new):
        ref = None if obj is None else obj["spec"].get("claimRef")
        if ref:
            yield (ref["namespace"], ref["name"])


def _pending_claims(world: SimWorld, change: Change) -> Iterable[Key]:
    """A volume for the taking concerns every unbound claim of its class."""
    yield from claim_of_volume(world, change)
    if change.new is None or change.new["spec"].get("claimRef") is not None:
        return
    name = change.new["spec"].get("storageClassName") or ""
    for claim in world.store.list(CLAIMS):
        if not claim["spec"].get("volumeName") and claim_class(claim) == name:
            yield (claim["metadata"]["namespace"], claim["metadata"]["name"])


def _claims_of_class(world: SimWorld, change: Change) -> Iterable[Key]:
    if change.type == "DELETED":
        return
    for claim in world.store.list(CLAIMS):
        if not claim["spec"].get("volumeName") and claim_class(claim) == change.key[1]:
            yield (claim["metadata"]["namespace"], claim["metadata"]["name"])


def _claims_if_created(world: SimWorld, change: Change) -> Iterable[Key]:
    """A new consumer changes what a delayed claim says it waits for."""
    if change.type != "ADDED" or change.new is None:
        return
    for name in claims_of(change.new):
        claim = world.store.get(CLAIMS, change.key[0], name)
        if claim is not None and not claim["spec"].get("volumeName"):
            yield (change.key[0], name)


def _unsettled(_: SimWorld, change: Change) -> Iterable[Key]:
    """A claim is looked at when what binding depends on has changed."""
    old, new = change.old, change.new
    if new is None:
        return ()
    if old is not None and old["spec"] == new["spec"]:
        names = (SELECTED_NODE, BIND_COMPLETED)
        same_phase = (old.get("status") or {}).get("phase") == (new.get("status") or {}).get("phase")
        if same_phase and all(annotation(old, name) == annotation(new, name) for name in names):
            return ()
    return (change.key,)


def _volume_of_claim(_: SimWorld, change: Change) -> Iterable[Key]:
    name = change.object["spec"].get("volumeName")
    return (("", name),) if name else ()


CONTROLLERS = (
    Controller(
        "persistentvolume-claims",
        {
            CLAIMS: _unsettled,
            VOLUMES: _pending_claims,
            CLASSES: _claims_of_class,
            "pods": _claims_if_created,
        },
        retried("persistentvolume-claims", reconcile_claim),
    ),
    Controller(
        "persistentvolume-volumes",
        {VOLUMES: own_key, CLAIMS: _volume_of_claim},
        retried("persistentvolume-volumes", reconcile_volume),
    ),
)
