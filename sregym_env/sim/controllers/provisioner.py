"""The OpenEBS local provisioner: directories on a node as PersistentVolumes.

It makes volumes for claims of its storage classes and removes those that were released with policy Delete,
as ``openebs/dynamic-localpv-provisioner`` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.containers import nodefit
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.controllers.volumebinding import (
    CLAIMS,
    CLASSES,
    SELECTED_NODE,
    STORAGE_PROVISIONER,
    VOLUMES,
    annotation,
    claim_class,
    claim_reference,
    is_delayed,
    requested,
)
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

NAME = "openebs.io/local"
BASE_PATH = "/var/openebs/local"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
POD_LABEL = ("openebs.io/component-name", "openebs-localpv-provisioner")
"""The label by which the provisioner's own pods are known."""
WORK = 3 * SECOND
"""How long making a volume takes: the provisioner runs a short-lived pod on the node for it."""


def reconcile_claim(world: SimWorld, key: Key) -> int | None:
    """Make the volume that a claim asks this provisioner for."""
    claim = world.store.get(CLAIMS, *key)
    slot = f"provisioning:{key[0]}/{key[1]}"
    if claim is None or not _is_asked(world, claim):
        world.memory.pop(slot, None)
        return None
    worker = running_pod(world)
    if worker is None:
        world.memory.pop(slot, None)
        return None
    uid = claim["metadata"]["uid"]
    since = world.memory.get(slot)
    if since is None or since[0] != uid:
        world.memory[slot] = (uid, world.now())
        text = f'External provisioner is provisioning volume for claim "{key[0]}/{key[1]}"'
        events.record(world, claim, "Normal", "Provisioning", text, component=_component(worker))
        return WORK
    left = int(since[1] + WORK - world.now())
    if left > 0:
        return left
    node = _node_for(world, claim)
    if node is None:
        return None
    del world.memory[slot]
    name = f"pvc-{uid}"
    if world.store.get(VOLUMES, "", name) is None:
        apiserver.create(world, VOLUMES, _volume(world, claim, name, node))
    text = f"Successfully provisioned volume {name}"
    events.record(world, claim, "Normal", "ProvisioningSucceeded", text, component=_component(worker))
    return None


def running_pod(world: SimWorld) -> Manifest | None:
    """The provisioner's own pod, if one is ready: nobody makes volumes without it."""
    label, value = POD_LABEL
    for pod in world.store.list("pods"):
        if (pod["metadata"].get("labels") or {}).get(label) == value and pods.is_ready(pod):
            return pod
    return None


def _component(worker: Manifest) -> str:
    metadata = worker["metadata"]
    return f"{NAME}_{metadata['name']}_{metadata['uid']}"


def _is_asked(world: SimWorld, claim: Manifest) -> bool:
    if claim["spec"].get("volumeName") or "deletionTimestamp" in claim["metadata"]:
        return False
    return annotation(claim, STORAGE_PROVISIONER) == NAME and not is_delayed(world, claim)


def _node_for(world: SimWorld, claim: Manifest) -> Manifest | None:
    """The node that was selected for the claim's pod, or the first that takes pods."""
    selected = annotation(claim, SELECTED_NODE)
    if selected:
        return world.store.get("nodes", "", selected)
    for node in world.store.list("nodes"):
        if nodefit.untolerated((), nodefit.taints_of(node), ("NoSchedule", "NoExecute")) is None:
            return node
    return None


def _volume(world: SimWorld, claim: Manifest, name: str, node: Manifest) -> Manifest:
    storage_class = world.store.get(CLASSES, "", claim_class(claim)) or {}
    labels = node["metadata"].get("labels") or {}
    hostname = labels.get("kubernetes.io/hostname", node["metadata"]["name"])
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [hostname]}
    spec: dict[str, Any] = {
        "accessModes": list(claim["spec"].get("accessModes") or ()),
        "capacity": {"storage": requested(claim)},
        "claimRef": claim_reference(claim),
        "local": {"fsType": "", "path": f"{BASE_PATH}/{name}"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
        "storageClassName": claim_class(claim),
        "volumeMode": claim["spec"].get("volumeMode", "Filesystem"),
    }
    if storage_class.get("mountOptions"):
        spec["mountOptions"] = storage_class["mountOptions"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "labels": {"openebs.io/cas-type": "local-hostpath"},
            "annotations": {PROVISIONED_BY: NAME},
        },
        "spec": spec,
    }


def reconcile_volume(world: SimWorld, key: Key) -> int | None:
    """Remove a volume of this provisioner that was released, directory and all."""
    volume = world.store.get(VOLUMES, *key)
    if volume is None or "deletionTimestamp" in volume["metadata"]:
        return None
    released = (volume.get("status") or {}).get("phase") == "Released"
    policy = volume["spec"].get("persistentVolumeReclaimPolicy", "Retain")
    mine = annotation(volume, PROVISIONED_BY) == NAME
    if released and mine and policy == "Delete" and running_pod(world) is not None:
        apiserver.delete(world, VOLUMES, *key)
        world.volumes.pop(key[1], None)
    return None


def _asking(_: SimWorld, change: Change) -> Iterable[Key]:
    if change.new is not None and annotation(change.new, STORAGE_PROVISIONER) == NAME:
        if not change.new["spec"].get("volumeName"):
            return (change.key,)
    return ()


def _released(_: SimWorld, change: Change) -> Iterable[Key]:
    new = change.new
    if new is not None and (new.get("status") or {}).get("phase") == "Released":
        return (change.key,)
    return ()


def _is_worker(change: Change) -> bool:
    label, value = POD_LABEL
    new = change.new
    return (
        new is not None and (new["metadata"].get("labels") or {}).get(label) == value and pods.is_ready(new)
    )


def _claims_waiting(world: SimWorld, change: Change) -> Iterable[Key]:
    """A provisioner that has come back sees to what was left lying."""
    if _is_worker(change) and pods.matters_to_owner(change):
        for claim in world.store.list(CLAIMS):
            if not claim["spec"].get("volumeName"):
                yield (claim["metadata"]["namespace"], claim["metadata"]["name"])


def _volumes_waiting(world: SimWorld, change: Change) -> Iterable[Key]:
    if _is_worker(change) and pods.matters_to_owner(change):
        for volume in world.store.list(VOLUMES):
            yield ("", volume["metadata"]["name"])


CONTROLLERS = (
    Controller(
        "provisioner-claims",
        {CLAIMS: _asking, "pods": _claims_waiting},
        retried("provisioner-claims", reconcile_claim),
    ),
    Controller(
        "provisioner-volumes",
        {VOLUMES: _released, "pods": _volumes_waiting},
        retried("provisioner-volumes", reconcile_volume),
    ),
)
