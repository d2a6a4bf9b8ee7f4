"""A Service with endpoints that no controller has found."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.edits import Create, ObjectRef
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.choices import fresh, one_of, until
from sregym_env.faults.commands import delete, named, scope
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.runtime.chance import Chance

RESOURCE = "endpointslices.discovery.k8s.io"
SERVICE = "kubernetes.io/service-name"
MANAGER = "endpointslice.kubernetes.io/managed-by"

MANAGERS = (
    "", "", "endpoint-sync", "service-mirror", "mesh-registry", "gateway-sync", "vm-registrar", "cluster-federation",
    "discovery-bridge", "terraform",
)  # fmt: skip
"""Who says that the slice is his: nobody, or a tool that was there once."""


def _number(target: ServiceTarget) -> int:
    """The port of its pods."""
    forwarded = target.target_port
    return forwarded if isinstance(forwarded, int) else target.port


def _held(target: ServiceTarget) -> dict[str, str]:
    """Addresses of the application's pods and whose they are."""
    return {
        str(pod["status"]["podIP"]): str(pod["spec"]["containers"][0]["name"])
        for pod in target.inventory.pods
        if pod.get("status", {}).get("podIP")
    }


def _strangers(target: ServiceTarget) -> list[str]:
    """Addresses of pods that serve something else and do not listen on its port."""
    deaf = {c.container for c in target.app.components if c.port and c.port != _number(target)}
    return sorted(address for address, whose in _held(target).items() if whose in deaf)


def _machines(target: ServiceTarget) -> list[str]:
    """Addresses of the nodes, on whose own network nothing of the application listens."""
    return [
        str(address["address"])
        for machine in target.inventory.machines
        for address in machine.get("status", {}).get("addresses") or ()
        if address["type"] == "InternalIP"
    ]


def _addresses(target: ServiceTarget, chance: Chance) -> tuple[str, ...]:
    """Addresses of one sort at which it is not served, at least one for two of its pods.

    Of pods that are gone, of machines outside of the cluster, of pods that serve something else, of the nodes.
    """
    held = _held(target)
    strangers, machines = _strangers(target), _machines(target)
    weights = {
        "gone": 0.4,
        "outside": 0.25,
        "stranger": 0.2 if strangers else 0.0,
        "machine": 0.15 if machines else 0.0,
    }
    sort = chance.weighted("sort", weights)
    nets = [f"10.{chance.between('ten', 20, 90)}", "192.168", "172.20", "172.31"]
    pods = sorted(held) or ["10.244.1.2"]

    def draw(by: Chance) -> str:
        if sort == "stranger":
            return by.choice("stranger", strangers)
        if sort == "machine":
            return by.choice("machine", machines)
        beside = (
            by.choice("beside", pods)
            if sort == "gone"
            else f"{chance.choice('net', nets)}.{chance.below('low', 255)}.0"
        )
        return f"{beside.rpartition('.')[0]}.{by.between('host', 2, 253)}"

    def free(address: str) -> bool:
        return address not in found and (sort != "gone" or address not in held)

    found: dict[str, None] = {}
    least = (max(1, _pods(target)) + 1) // 2
    for number in range(chance.between("count", least, least + 2)):
        found[until(chance.at(number), draw, free, "10.244.250.17")] = None
    return tuple(found)


def _pods(target: ServiceTarget) -> int:
    labels = target.selector.items()
    return sum(labels <= (pod["metadata"].get("labels") or {}).items() for pod in target.inventory.pods)


def _slice(target: ServiceTarget, name: str, addresses: tuple[str, ...], manager: str) -> dict[str, Any]:
    """The slice as somebody has written it; it belongs to no object, so that it outlives all of them."""
    port = target.manifest["spec"]["ports"][target.port_index]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": name,
            "namespace": target.namespace,
            "labels": {SERVICE: target.name, **({MANAGER: manager} if manager else {})},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}} for address in addresses],
        "ports": [
            {
                "name": port.get("name", ""),
                "port": _number(target),
                "protocol": port.get("protocol", "TCP"),
            }
        ],
    }


@fault(
    layer="network",
    mechanism="foreign_endpoint_slice",
    targets=services(
        at_request=True, persistent=False, where=lambda target: bool(target.manifest["spec"].get("selector"))
    ),
    level="hard",
)
def foreign_endpoint_slice(
    target: ServiceTarget,
    addresses: tuple[str, ...] = drawn(_addresses, published=("10.244.250.17",)),
    name: str = drawn(
        fresh(
            RESOURCE,
            "{name}-vm",
            "{name}-pool",
            "{name}-ext",
            "{name}-backends",
            "{name}-eps",
            "{name}-mirror",
            "{name}-static",
            "{name}",
        ),
        published=lambda target: f"{target.components[0]}-static",
    ),
    manager: str = drawn(one_of(*MANAGERS), published=""),
) -> Fault:
    """An EndpointSlice that no controller keeps adds addresses to the Service at which nobody serves.

    The data plane takes the union of a Service's slices, so a share of the connections goes there. The Service, its
    selector, its Endpoints and its pods are right.
    """
    slice_ = ObjectRef(RESOURCE, name, target.namespace)
    listed = ",".join(addresses)
    return Fault(
        resource=slice_,
        cause=f"The orphaned EndpointSlice {name}, which no controller keeps, belongs to Service {target.name} by its label and lists "
        f"{listed}, where {target.components[0]} is not served; a share of the connections to {target.components[0]} goes there.",
        edits=[Create(_slice(target, name, addresses, manager))],
        details={"field": "endpoints", "wrong": listed},
        facts={"address": addresses[0], "target": target.name},
        remedies=[
            [delete(slice_)],
            [f"kubectl label {named(slice_)}{scope(slice_)} {SERVICE}-"],
        ],
        look=[
            f"kubectl get endpointslices -n {target.namespace} -l {SERVICE}={target.name}",
            f"kubectl get endpointslices -n {target.namespace} -l {SERVICE}={target.name} -o yaml",
        ],
        aliases=[target.name],
    )
