"""The EndpointSlice controller: which pods stand behind each Service.

Follows ``k8s.io/endpointslice`` of v1.32. Services without a selector are left alone.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable
from typing import Any

from sregym_env.kube.durations import rfc3339_nano
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MILLISECOND
from sregym_env.sim import apiserver
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.ownership import reference
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.derived import KEPT_OBJECTS, DerivedFrom
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

NAME = "endpointslice"
RESOURCE = "endpointslices.discovery.k8s.io"
SERVICE_LABEL = "kubernetes.io/service-name"
MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by"
MANAGED_BY = "endpointslice-controller.k8s.io"
HEADLESS_LABEL = "service.kubernetes.io/headless"
TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
MAX_PER_SLICE = 100
"""Endpoints in one slice at most (``--max-endpoints-per-slice``)."""
LATENCY = 100 * MILLISECOND

_NO_LABELS: dict[str, str] = {}

Ports = tuple[tuple[tuple[str, Any], ...], ...]
"""The ports of a slice as a hashable value."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring the slices of one Service up to date."""
    service = world.store.get("services", *key)
    if service is None or "deletionTimestamp" in service["metadata"] or not has_selected(service):
        return None
    groups: dict[Ports, list[dict[str, Any]]] = {}
    for pod in selected_pods(world, service):
        address = (pod.get("status") or {}).get("podIP")
        if address and not pods.is_finished(pod):
            # A slice has one set of ports, and a named port may be another number in each pod.
            groups.setdefault(_hashable(ports_of(service, pod)), []).append(_endpoint(service, pod, address))
    wanted: list[tuple[Ports, list[dict[str, Any]]]] = []
    for ports, endpoints in groups.items():
        for start in range(0, len(endpoints), MAX_PER_SLICE):
            wanted.append((ports, endpoints[start : start + MAX_PER_SLICE]))
    # A Service that selects nobody keeps one empty slice, as upstream.
    _store(world, service, wanted or [((), [])])
    return None


def has_selected(service: Manifest) -> bool:
    """Whether the control plane chooses this Service's endpoints: it has a selector."""
    return bool(service["spec"].get("selector")) and service["spec"].get("type") != "ExternalName"


def is_headless(service: Manifest) -> bool:
    """Whether it has no address of its own."""
    return bool(service["spec"].get("clusterIP") == "None")


def selected_pods(world: SimWorld, service: Manifest) -> list[Manifest]:
    """Pods that the Service's selector chooses, in name order."""
    wanted = service["spec"]["selector"].items()
    labelled = _labelled(world.store.list("pods", service["metadata"]["namespace"]))
    return [
        pod for pod in labelled.get(next(iter(wanted)), ()) if wanted <= pod["metadata"]["labels"].items()
    ]


def _labelled_of(pods: list[Manifest]) -> dict[tuple[str, str], list[Manifest]]:
    """The pods of a list that have a label, by label, in the order of the list."""
    found: dict[tuple[str, str], list[Manifest]] = {}
    for pod in pods:
        for item in (pod["metadata"].get("labels") or _NO_LABELS).items():
            found.setdefault(item, []).append(pod)
    return found


_labelled = DerivedFrom(_labelled_of)


def ports_of(service: Manifest, pod: Manifest) -> list[dict[str, Any]]:
    """The Service's ports as this pod offers them. A named port that no container has is left out."""
    found = []
    for port in service["spec"].get("ports") or ():
        protocol = port.get("protocol", "TCP")
        number = target_port(port, protocol, pod)
        if number is None:
            continue
        made = {"name": port.get("name", ""), "port": number, "protocol": protocol}
        if port.get("appProtocol"):
            made["appProtocol"] = port["appProtocol"]
        found.append(made)
    return found


def target_port(port: Manifest, protocol: str, pod: Manifest) -> int | None:
    """The container port a Service port leads to in this pod, or None (``podutil.FindPort``)."""
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target or int(port["port"])
    spec = pod["spec"]
    sidecars = [c for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"]
    for container in [*spec["containers"], *sidecars]:
        for candidate in container.get("ports") or ():
            if candidate.get("name") == target and candidate.get("protocol", "TCP") == protocol:
                return int(candidate["containerPort"])
    return None


def _hashable(ports: list[dict[str, Any]]) -> Ports:
    return tuple(tuple(port.items()) for port in ports)


def _endpoint(service: Manifest, pod: Manifest, address: str) -> dict[str, Any]:
    metadata, spec = pod["metadata"], pod["spec"]
    serving, terminating = pods.is_ready(pod), pods.is_terminating(pod)
    published = bool(service["spec"].get("publishNotReadyAddresses"))
    made: dict[str, Any] = {
        "addresses": [address],
        "conditions": {
            "ready": published or (serving and not terminating),
            "serving": serving,
            "terminating": terminating,
        },
    }
    if spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]:
        made["hostname"] = spec["hostname"]
    if spec.get("nodeName"):
        made["nodeName"] = spec["nodeName"]
    made["targetRef"] = pod_reference(metadata)
    return made


def pod_reference(metadata: Manifest) -> dict[str, str]:
    """The ``targetRef`` to a pod."""
    return {
        "kind": "Pod",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }


def _store(world: SimWorld, service: Manifest, wanted: list[tuple[Ports, list[dict[str, Any]]]]) -> None:
    metadata = service["metadata"]
    existing = [
        found
        for found in world.store.owned_by(RESOURCE, metadata["uid"])
        if (found["metadata"].get("labels") or {}).get(MANAGED_BY_LABEL) == MANAGED_BY
    ]
    by_ports: dict[Ports, list[Manifest]] = {}
    for found in existing:
        by_ports.setdefault(_hashable(found.get("ports") or []), []).append(found)
    labels = _labels(service)
    unmatched = []
    for ports, endpoints in wanted:
        same = by_ports.get(ports)
        if same:
            _update(world, same.pop(0), ports, endpoints, labels)
        else:
            unmatched.append((ports, endpoints))
    spare = [found for found in existing if any(found in rest for rest in by_ports.values())]
    for ports, endpoints in unmatched:
        # Upstream fills slices that would go before it makes new ones.
        if spare:
            _update(world, spare.pop(0), ports, endpoints, labels)
        else:
            _create(world, service, ports, endpoints, labels)
    for found in spare:
        apiserver.delete(world, RESOURCE, metadata["namespace"], found["metadata"]["name"])


def _labels(service: Manifest) -> dict[str, str]:
    metadata = service["metadata"]
    labels = {
        **(metadata.get("labels") or {}),
        MANAGED_BY_LABEL: MANAGED_BY,
        SERVICE_LABEL: metadata["name"],
    }
    if is_headless(service):
        labels[HEADLESS_LABEL] = ""
    return labels


def _update(
    world: SimWorld, found: Manifest, ports: Ports, endpoints: list[dict[str, Any]], labels: dict[str, str]
) -> None:
    listed = [dict(port) for port in ports]
    metadata = found["metadata"]
    if found.get("ports") == listed:
        listed = found["ports"]
    same = found.get("ports") is listed and found.get("endpoints") == endpoints
    if same and metadata.get("labels") == labels:
        return
    annotations = {**(metadata.get("annotations") or {}), TRIGGER_TIME: rfc3339_nano(world.now())}
    if metadata.get("labels") == labels:
        labels = metadata["labels"]
    apiserver.update(
        world,
        RESOURCE,
        {
            **found,
            "metadata": {**metadata, "labels": labels, "annotations": annotations},
            "endpoints": endpoints,
            "ports": listed,
        },
    )


def _create(
    world: SimWorld, service: Manifest, ports: Ports, endpoints: list[dict[str, Any]], labels: dict[str, str]
) -> None:
    metadata = service["metadata"]
    made: Manifest = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": {TRIGGER_TIME: rfc3339_nano(world.now())},
            "ownerReferences": [reference(service, "v1", "Service")],
        },
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [dict(port) for port in ports],
    }
    apiserver.create(world, RESOURCE, made)


def concerns_endpoints(change: Change) -> bool:
    """Whether a pod's change can alter the endpoints of a Service."""
    old, new = change.old, change.new
    if old is None or new is None:
        status = change.object.get("status") or {}
        return bool(status.get("podIP"))
    return pods.matters_to_owner(change) or _place(old) != _place(new)


def _place(pod: Manifest) -> tuple[Any, Any]:
    return (pod.get("status") or {}).get("podIP"), pod["spec"].get("nodeName")


def services_of(world: SimWorld, change: Change) -> Iterable[Key]:
    """Wake the Services that select a changed pod, before or after the change."""
    if not concerns_endpoints(change):
        return ()
    selecting = _selectors(world.store.list("services", change.key[0])).of
    before, after = _labels_of(change.old), _labels_of(change.new)
    if before is after:
        return selecting(after)
    return sorted({*selecting(before), *selecting(after)})


def _labels_of(pod: Manifest | None) -> dict[str, str]:
    return _NO_LABELS if pod is None else pod["metadata"].get("labels") or _NO_LABELS


class _Selectors:
    """What each Service of a list selects, for those that select anything."""

    __slots__ = ("_asked", "_by_label")

    def __init__(self, services: list[Manifest]) -> None:
        self._by_label: dict[tuple[str, str], list[tuple[Key, ItemsView[str, str]]]] = {}
        """Services by one of the labels that they ask for."""
        self._asked: dict[int, tuple[dict[str, str], tuple[Key, ...]]] = {}
        """Answers by the identity of the labels, which are held so that it stays theirs."""
        for service in services:
            if has_selected(service):
                key = (service["metadata"]["namespace"], service["metadata"]["name"])
                wanted = service["spec"]["selector"].items()
                self._by_label.setdefault(next(iter(wanted)), []).append((key, wanted))

    def of(self, labels: dict[str, str]) -> tuple[Key, ...]:
        """The Services that select a pod with these labels, in order."""
        known = self._asked.get(id(labels))
        if known is not None and known[0] is labels:
            return known[1]
        if len(self._asked) >= KEPT_OBJECTS:
            self._asked.clear()
        found = sorted(
            key
            for item in labels.items()
            for key, wanted in self._by_label.get(item, ())
            if wanted <= labels.items()
        )
        self._asked[id(labels)] = (labels, tuple(found))
        return tuple(found)


_selectors = DerivedFrom(_Selectors)


def _wake_for_slice(world: SimWorld, change: Change) -> Iterable[Key]:
    """A slice that was changed or deleted by someone else is put right."""
    if world.acting == NAME:
        return
    labels = change.object["metadata"].get("labels") or {}
    if labels.get(MANAGED_BY_LABEL) == MANAGED_BY and SERVICE_LABEL in labels and change.type != "ADDED":
        yield (change.key[0], labels[SERVICE_LABEL])


CONTROLLER = Controller(
    NAME,
    {"services": own_key, "pods": services_of, RESOURCE: _wake_for_slice},
    retried(NAME, reconcile),
    latency=LATENCY,
)
