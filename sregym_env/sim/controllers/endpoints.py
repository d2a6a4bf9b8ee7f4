"""The Endpoints controller: the older view of what stands behind a Service (``pkg/controller/endpoint``)."""

from __future__ import annotations

from typing import Any

from sregym_env.kube.durations import rfc3339_nano
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.endpointslice import (
    HEADLESS_LABEL,
    LATENCY,
    TRIGGER_TIME,
    has_selected,
    is_headless,
    pod_reference,
    ports_of,
    selected_pods,
    services_of,
)
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Key
from sregym_env.sim.world.wakes import own_key

RESOURCE = "endpoints"


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring the Endpoints object of one Service up to date; remove that of a Service that is gone."""
    service = world.store.get("services", *key)
    if service is None:
        if world.store.get(RESOURCE, *key) is not None:
            apiserver.delete(world, RESOURCE, *key)
        return None
    if "deletionTimestamp" in service["metadata"] or not has_selected(service):
        return None
    if world.unread and world.store.get(RESOURCE, *key) is not None:
        return None
    subsets = _subsets(world, service)
    labels = dict(service["metadata"].get("labels") or {})
    if is_headless(service):
        labels[HEADLESS_LABEL] = ""
    current = world.store.get(RESOURCE, *key)
    if current is not None:
        known = current["metadata"]
        if (current.get("subsets") or []) == subsets and (known.get("labels") or {}) == labels:
            return None
        metadata = dict(known)
    else:
        metadata = {"name": key[1], "namespace": key[0]}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), TRIGGER_TIME: rfc3339_nano(world.now())}
    if labels and metadata.get("labels") != labels:
        metadata["labels"] = labels
    elif not labels:
        metadata.pop("labels", None)
    made: Manifest = {"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata}
    if subsets:
        made["subsets"] = subsets
    (apiserver.create if current is None else apiserver.update)(world, RESOURCE, made)
    return None


def _subsets(world: SimWorld, service: Manifest) -> list[dict[str, Any]]:
    """Addresses grouped by the ports they offer, ready ones apart from the rest."""
    published = bool(service["spec"].get("publishNotReadyAddresses"))
    groups: dict[str, dict[str, Any]] = {}
    for pod in selected_pods(world, service):
        address = (pod.get("status") or {}).get("podIP")
        if not address or pods.is_finished(pod) or (pods.is_terminating(pod) and not published):
            continue
        ports = [{k: v for k, v in port.items() if v != ""} for port in ports_of(service, pod)]
        if not ports and service["spec"].get("ports"):
            # No port of the Service exists in this pod: it is no endpoint at all.
            continue
        group = groups.setdefault(repr(ports), {"ready": [], "unready": [], "ports": ports})
        ready = published or pods.is_ready(pod)
        group["ready" if ready else "unready"].append(_address(service, pod, address))
    subsets = []
    for name in sorted(groups):
        group = groups[name]
        subset: dict[str, Any] = {}
        for field, found in (("addresses", group["ready"]), ("notReadyAddresses", group["unready"])):
            if found:
                subset[field] = sorted(found, key=lambda made: _numeric(made["ip"]))
        if group["ports"]:
            subset["ports"] = group["ports"]
        subsets.append(subset)
    return subsets


def _numeric(address: str) -> tuple[int, ...]:
    return tuple(int(part) for part in address.split(".")) if address.count(".") == 3 else ()


def _address(service: Manifest, pod: Manifest, address: str) -> dict[str, Any]:
    spec = pod["spec"]
    made: dict[str, Any] = {"ip": address}
    if spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]:
        made["hostname"] = spec["hostname"]
    if spec.get("nodeName"):
        made["nodeName"] = spec["nodeName"]
    made["targetRef"] = pod_reference(pod["metadata"])
    return made


CONTROLLER = Controller(
    "endpoint", {"services": own_key, "pods": services_of}, retried("endpoint", reconcile), latency=LATENCY
)
