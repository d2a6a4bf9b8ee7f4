"""Volume filters: where a pod's claims are, or could be, and the claims that must be bound first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.quantity import bytes_
from sregym_env.kube.types import Manifest
from sregym_env.sim.containers.volumes import claim_name
from sregym_env.sim.scheduler.filters import Misfit, NodeInfo, matches_terms
from sregym_env.sim.world import SimWorld

SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
AFFINITY_CONFLICT = "node(s) had volume node affinity conflict"
NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a pod: bound ones, and those that are bound once a node has been chosen."""

    bound: tuple[Manifest, ...] = ()
    delayed: tuple[Manifest, ...] = ()
    problem: str = ""
    """Why the pod cannot be scheduled anywhere, or an empty string."""
    waiting: bool = False
    """Whether a node has been chosen for a claim and the binding is under way."""


_NO_CLAIMS = Claims()


def claims_of(world: SimWorld, pod: Manifest) -> Claims:
    """Look at the claims of a pod."""
    volumes = pod["spec"].get("volumes")
    if not volumes:
        return _NO_CLAIMS
    namespace = pod["metadata"]["namespace"]
    bound: list[Manifest] = []
    delayed: list[Manifest] = []
    immediate = waiting = False
    for volume in volumes:
        name = claim_name(pod, volume)
        if not name:
            continue
        claim = world.store.get("persistentvolumeclaims", namespace, name)
        if claim is None:
            if "ephemeral" in volume:
                text = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
                return Claims(problem=text)
            return Claims(problem=f'persistentvolumeclaim "{name}" not found')
        if "deletionTimestamp" in claim["metadata"]:
            return Claims(problem=f'persistentvolumeclaim "{name}" is being deleted')
        if (claim.get("status") or {}).get("phase") == "Lost":
            text = f'bound to non-existent persistentvolume "{claim["spec"].get("volumeName", "")}"'
            return Claims(problem=f'persistentvolumeclaim "{name}" {text}')
        if _is_bound(claim):
            bound.append(claim)
        elif claim["spec"].get("volumeName") or not _waits_for_consumer(world, claim):
            immediate = True
        else:
            delayed.append(claim)
            waiting = waiting or SELECTED_NODE in (claim["metadata"].get("annotations") or {})
    if immediate:
        return Claims(problem="pod has unbound immediate PersistentVolumeClaims")
    return Claims(tuple(bound), tuple(delayed), waiting=waiting)


def _is_bound(claim: Manifest) -> bool:
    return bool(claim["spec"].get("volumeName")) and (claim.get("status") or {}).get("phase") == "Bound"


def _class(world: SimWorld, claim: Manifest) -> Manifest | None:
    name = claim["spec"].get("storageClassName")
    return None if not name else world.store.get("storageclasses.storage.k8s.io", "", name)


def _waits_for_consumer(world: SimWorld, claim: Manifest) -> bool:
    found = _class(world, claim)
    return found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"


def fits(world: SimWorld, claims: Claims, info: NodeInfo) -> Misfit | None:
    """Whether a node can reach the bound claims' volumes and could get volumes for the others."""
    reasons = []
    for claim in claims.bound:
        volume = world.store.get("persistentvolumes", "", claim["spec"]["volumeName"])
        if volume is None:
            return Misfit((GONE,), False)
        if not reachable(volume, info.node):
            reasons.append(AFFINITY_CONFLICT)
    for claim in claims.delayed:
        if not _could_bind(world, claim, info.node):
            reasons.append(NOTHING_TO_BIND)
    return Misfit(tuple(dict.fromkeys(reasons)), False) if reasons else None


def reachable(volume: Manifest, node: Manifest) -> bool:
    """Whether a PersistentVolume's node affinity admits a node."""
    required = ((volume["spec"].get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms")
    return required is None or matches_terms(required, node)


def _could_bind(world: SimWorld, claim: Manifest, node: Manifest) -> bool:
    found = _class(world, claim)
    if found is None:
        return False
    if any(_serves(volume, claim, node) for volume in world.store.list("persistentvolumes")):
        return True
    if found.get("provisioner") == NO_PROVISIONER:
        return False
    return _in_topologies(found.get("allowedTopologies") or (), node)


def _serves(volume: Manifest, claim: Manifest, node: Manifest) -> bool:
    spec, wanted = volume["spec"], claim["spec"]
    if spec.get("claimRef") or (volume.get("status") or {}).get("phase", "Available") != "Available":
        return False
    if spec.get("storageClassName", "") != wanted.get("storageClassName", ""):
        return False
    if not frozenset(wanted.get("accessModes", ())) <= frozenset(spec.get("accessModes", ())):
        return False
    asked = ((wanted.get("resources") or {}).get("requests") or {}).get("storage", "0")
    if bytes_((spec.get("capacity") or {}).get("storage", "0")) < bytes_(asked):
        return False
    return reachable(volume, node)


def _in_topologies(topologies: Sequence[Mapping[str, Any]], node: Manifest) -> bool:
    if not topologies:
        return True
    labels = node["metadata"].get("labels") or {}
    return any(
        all(
            labels.get(expression["key"]) in expression.get("values", ())
            for expression in term.get("matchLabelExpressions", ())
        )
        for term in topologies
    )
