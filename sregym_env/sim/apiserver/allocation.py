"""Service addresses and node ports, as the API server's allocators hand them out."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from sregym_env.kube.status import FieldError, GoValue, internal_error, invalid, invalid_value
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld

NODE_PORTS = range(30000, 32768)
"""The API server's default --service-node-port-range."""


def with_addresses(world: SimWorld, service: Manifest, old: Manifest | None) -> Manifest:
    """The Service with cluster IP and node ports filled in. Raises Invalid where a wanted one is taken."""
    spec = dict(service.get("spec") or {})
    kind = spec.get("type", "ClusterIP")
    before = {} if old is None else old.get("spec") or {}
    if kind == "ExternalName":
        for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            spec.pop(field, None)
    else:
        if not spec.get("clusterIP") and before.get("clusterIP"):
            spec["clusterIP"] = before["clusterIP"]
        if not spec.get("clusterIP"):
            spec["clusterIP"] = _free_address(world)
        elif spec["clusterIP"] != "None" and spec["clusterIP"] != before.get("clusterIP"):
            _check_address(world, service, spec["clusterIP"])
        spec["clusterIPs"] = [spec["clusterIP"]]
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
    if kind in ("NodePort", "LoadBalancer"):
        spec["ports"] = _with_node_ports(world, service, spec.get("ports", []), before.get("ports", []))
        spec.setdefault("externalTrafficPolicy", "Cluster")
    else:
        known = {port.get("nodePort") for port in before.get("ports") or ()}
        spec["ports"] = [_without_old_node_port(port, known) for port in spec.get("ports", [])]
        policy = "externalTrafficPolicy"
        if not spec.get("externalIPs") and spec.get(policy) == before.get(policy):
            spec.pop(policy, None)
    _with_health_check_port(world, kind, spec, before)
    if not spec["ports"]:
        del spec["ports"]
    return {**service, "spec": spec}


def _without_old_node_port(port: Manifest, known: set[int | None]) -> Manifest:
    """A port of a Service that has no node ports any more. One that was asked for anew is left to be refused."""
    if port.get("nodePort") not in known:
        return port
    return {key: value for key, value in port.items() if key != "nodePort"}


def _with_health_check_port(world: SimWorld, kind: str, spec: Manifest, before: Manifest) -> None:
    """Where a load balancer may ask nodes whether they have endpoints of their own: only local traffic needs it."""
    if kind != "LoadBalancer" or spec.get("externalTrafficPolicy") != "Local":
        if spec.get("healthCheckNodePort") == before.get("healthCheckNodePort"):
            spec.pop("healthCheckNodePort", None)
    elif before.get("healthCheckNodePort"):
        spec.setdefault("healthCheckNodePort", before["healthCheckNodePort"])
    elif not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = world.streams.choice("node-port", NODE_PORTS)


@lru_cache(maxsize=256)
def _network(cidr: str) -> ipaddress.IPv4Network:
    return ipaddress.IPv4Network(cidr)


def _taken(world: SimWorld) -> set[str]:
    return {service["spec"].get("clusterIP", "") for service in world.store.list("services")}


def _free_address(world: SimWorld) -> str:
    taken = _taken(world)
    network = _network(world.plan.service_cidr)
    while True:
        # The allocator keeps the lowest addresses of the range, at most 256, for static assignment.
        usable = min(65000, network.num_addresses - 512)
        address = str(network[256 + world.streams.below("cluster-ip", usable)])
        if address not in taken:
            return address


def _check_address(world: SimWorld, service: Manifest, address: str) -> None:
    problem = ""
    network = _network(world.plan.service_cidr)
    try:
        if ipaddress.ip_address(address) not in network:
            problem = (
                f"failed to allocate IP {address}: the provided IP ({address}) is not in the valid range. "
                f"The range of valid IPs is {network}"
            )
        elif address in _taken(world):
            problem = f"failed to allocate IP {address}: provided IP is already allocated"
    except ValueError:
        problem = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    if problem:
        error = invalid_value("spec.clusterIPs", GoValue(f'[]string{{"{address}"}}'), problem)
        raise invalid("Service", service["metadata"]["name"], [error])


def _with_node_ports(
    world: SimWorld, service: Manifest, ports: list[Manifest], before: list[Manifest]
) -> list[Manifest]:
    taken = {
        port["nodePort"]
        for other in world.store.list("services")
        if other["metadata"]["uid"] != service["metadata"].get("uid")
        for port in other["spec"].get("ports", ())
        if "nodePort" in port
    }
    kept = {(port.get("protocol"), port.get("port")): port.get("nodePort") for port in before}
    out: list[Manifest] = []
    errors: list[FieldError] = []
    for index, port in enumerate(ports):
        wanted = port.get("nodePort") or kept.get((port.get("protocol"), port.get("port")))
        field = f"spec.ports[{index}].nodePort"
        if wanted and wanted in taken:
            errors.append(invalid_value(field, wanted, "provided port is already allocated"))
        elif wanted and wanted not in NODE_PORTS:
            text = "provided port is not in the valid range. The range of valid ports is 30000-32767"
            errors.append(invalid_value(field, wanted, text))
        if not wanted and len(taken) >= len(NODE_PORTS) and taken.issuperset(NODE_PORTS):
            raise internal_error("failed to allocate a nodePort: range is full")
        while not wanted or (wanted in taken and not errors):
            wanted = world.streams.choice("node-port", NODE_PORTS)
        taken.add(wanted)
        out.append({**port, "nodePort": wanted})
    if errors:
        raise invalid("Service", service["metadata"]["name"], errors)
    return out
