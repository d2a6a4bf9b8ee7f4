"""The mirroring controller: Endpoints that somebody wrote by hand, as EndpointSlices.

Follows ``pkg/controller/endpointslicemirroring`` of v1.32. Only Endpoints of Services without a selector are
mirrored; those that carry the skip label or a leader election record are not.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.controllers.endpointslice import (
    LATENCY,
    MANAGED_BY_LABEL,
    RESOURCE,
    SERVICE_LABEL,
    TRIGGER_TIME,
)
from sregym_env.sim.controllers.ownership import reference
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

MANAGED_BY = "endpointslicemirroring-controller.k8s.io"
SKIP_LABEL = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MAX_PER_SUBSET = 1000
"""Addresses of one subset that are mirrored at most."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring the mirrored slices of one Endpoints object up to date."""
    endpoints = world.store.get("endpoints", *key)
    if endpoints is None:
        return None
    mine = [
        found
        for found in world.store.owned_by(RESOURCE, endpoints["metadata"]["uid"])
        if (found["metadata"].get("labels") or {}).get(MANAGED_BY_LABEL) == MANAGED_BY
    ]
    wanted = _slices(endpoints) if _is_mirrored(world, endpoints) else []
    metadata = _metadata(endpoints)
    for found, body in zip(mine, wanted, strict=False):
        known = found["metadata"]
        changed = {**found, **body, "metadata": {**known, **metadata}}
        if changed != found and found["addressType"] == body["addressType"]:
            apiserver.update(world, RESOURCE, changed)
    for found in mine[len(wanted) :]:
        apiserver.delete(world, RESOURCE, key[0], found["metadata"]["name"])
    for body in wanted[len(mine) :]:
        owner = reference(endpoints, "v1", "Endpoints")
        made = {"generateName": f"{key[1]}-", "namespace": key[0], **metadata, "ownerReferences": [owner]}
        apiserver.create(
            world,
            RESOURCE,
            {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": made, **body},
        )
    return None


def _is_mirrored(world: SimWorld, endpoints: Manifest) -> bool:
    metadata = endpoints["metadata"]
    if (metadata.get("labels") or {}).get(SKIP_LABEL) == "true":
        return False
    if LEADER in (metadata.get("annotations") or {}) or "deletionTimestamp" in metadata:
        return False
    service = world.store.get("services", metadata["namespace"], metadata["name"])
    return service is not None and not service["spec"].get("selector")


def _metadata(endpoints: Manifest) -> Manifest:
    metadata = endpoints["metadata"]
    labels = {
        **(metadata.get("labels") or {}),
        SERVICE_LABEL: metadata["name"],
        MANAGED_BY_LABEL: MANAGED_BY,
    }
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key not in (LAST_APPLIED, TRIGGER_TIME)
    }
    return {"labels": labels, **({"annotations": annotations} if annotations else {})}


def _slices(endpoints: Manifest) -> list[Manifest]:
    """A slice for every subset and address family, in order."""
    found: dict[str, Manifest] = {}
    for subset in endpoints.get("subsets") or ():
        ports = [
            {"name": port.get("name", ""), "port": port["port"], "protocol": port.get("protocol", "TCP")}
            | ({"appProtocol": port["appProtocol"]} if port.get("appProtocol") else {})
            for port in subset.get("ports") or ()
        ]
        listed = [(address, True) for address in subset.get("addresses") or ()]
        listed += [(address, False) for address in subset.get("notReadyAddresses") or ()]
        for address, ready in listed[:MAX_PER_SUBSET]:
            family = f"IPv{ipaddress.ip_address(address['ip']).version}"
            slot = f"{family} {ports!r}"
            piece = found.setdefault(slot, {"addressType": family, "endpoints": [], "ports": ports})
            piece["endpoints"].append(_endpoint(address, ready))
    return list(found.values())


def _endpoint(address: Manifest, ready: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"addresses": [address["ip"]], "conditions": {"ready": ready}}
    for field in ("hostname", "nodeName", "targetRef"):
        if address.get(field):
            made[field] = address[field]
    return made


def _of_service(world: SimWorld, change: Change) -> Iterable[Key]:
    """A Service that comes, goes, or gets a selector."""
    old, new = change.old, change.new
    if old is not None and new is not None and old["spec"].get("selector") == new["spec"].get("selector"):
        return ()
    if not change.object["spec"].get("selector") or change.type == "MODIFIED":
        return (change.key,)
    return ()


def _of_slice(_: SimWorld, change: Change) -> Iterable[Key]:
    labels = change.object["metadata"].get("labels") or {}
    if labels.get(MANAGED_BY_LABEL) == MANAGED_BY and change.type != "ADDED":
        yield (change.key[0], labels.get(SERVICE_LABEL, ""))


def _of_endpoints(world: SimWorld, change: Change) -> Iterable[Key]:
    """Endpoints that follow a selector are another controller's and need no look."""
    service = world.store.get("services", *change.key)
    if service is None or not service["spec"].get("selector"):
        return own_key(world, change)
    return ()


CONTROLLER = Controller(
    "endpointslicemirroring",
    {"endpoints": _of_endpoints, "services": _of_service, RESOURCE: _of_slice},
    retried("endpointslicemirroring", reconcile),
    latency=LATENCY,
)
