"""Services, endpoints, ingresses and network policies in a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sregym_env.kube.tables.cells import NO_FIELDS, age, cut_off, format_labels, format_selector
from sregym_env.kube.tables.layout import Printer, Row
from sregym_env.kube.types import Manifest


def external_ips(service: Manifest) -> str:
    """The EXTERNAL-IP cell of a service."""
    spec = service["spec"]
    ips = spec.get("externalIPs") or []
    kind = spec.get("type", "ClusterIP")
    if kind == "ExternalName":
        return str(spec.get("externalName", ""))
    if kind == "LoadBalancer":
        ingress = load_balancer(service)
        both = [*([ingress] if ingress else []), *ips]
        return ",".join(both) or "<pending>"
    return ",".join(ips) or "<none>"


def load_balancer(obj: Manifest) -> str:
    """Addresses of ``status.loadBalancer``, joined by commas."""
    ingress = ((obj.get("status") or NO_FIELDS).get("loadBalancer") or NO_FIELDS).get("ingress") or ()
    return ",".join(i.get("ip") or i.get("hostname") or "" for i in ingress)


def _service_ports(ports: Iterable[Mapping[str, Any]]) -> str:
    texts = []
    for port in ports:
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        texts.append(f"{port['port']}{node}/{port.get('protocol', 'TCP')}")
    return ",".join(texts) or "<none>"


def _service(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    kind = spec.get("type", "ClusterIP")
    return (
        obj["metadata"]["name"],
        kind,
        spec.get("clusterIP") or "<none>",
        external_ips(obj),
        _service_ports(spec.get("ports") or ()),
        age(obj, now),
        format_labels(spec.get("selector")),
    )


def join_host_port(host: str, port: int) -> str:
    """``10.0.0.1:80``; IPv6 hosts in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def format_endpoints(endpoints: Manifest, port_names: frozenset[str] | None = None) -> str:
    """The first three addresses of an Endpoints object, ``<none>`` when it has no subsets."""
    subsets = endpoints.get("subsets") or ()
    if not subsets:
        return "<none>"
    found: list[str] = []
    for subset in subsets:
        addresses = [a["ip"] for a in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        if not ports:
            found.extend(addresses)
        for port in ports:
            if port_names is None or port.get("name", "") in port_names:
                found.extend(join_host_port(ip, port["port"]) for ip in addresses)
    return cut_off(found, 3)


def _endpoints(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], format_endpoints(obj), age(obj, now))


def _endpoint_slice(obj: Manifest, now: int) -> Row:
    ports = ["*" if p.get("port") is None else str(p["port"]) for p in obj.get("ports") or ()]
    addresses = [ip for e in obj.get("endpoints") or () for ip in e.get("addresses") or ()]
    return (
        obj["metadata"]["name"],
        obj["addressType"],
        cut_off(ports, 3) if ports else "<unset>",
        cut_off(addresses, 3) if addresses else "<unset>",
        age(obj, now),
    )


def _network_policy(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], format_selector(obj["spec"].get("podSelector") or {}), age(obj, now))


def _ingress(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    hosts = [rule["host"] for rule in spec.get("rules") or () if rule.get("host")]
    return (
        obj["metadata"]["name"],
        spec.get("ingressClassName") or "<none>",
        cut_off(hosts, 3) if hosts else "*",
        load_balancer(obj),
        "80, 443" if spec.get("tls") else "80",
        age(obj, now),
    )


def _ingress_class(obj: Manifest, now: int) -> Row:
    parameters = obj["spec"].get("parameters")
    text = "<none>"
    if parameters:
        group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
        text = f"{parameters['kind']}{group}/{parameters['name']}"
    return (obj["metadata"]["name"], obj["spec"].get("controller", ""), text, age(obj, now))


PRINTERS: Mapping[str, Printer] = {
    "services": Printer.of("Name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector*", _service),
    "endpoints": Printer.of("Name|Endpoints|Age", _endpoints),
    "endpointslices.discovery.k8s.io": Printer.of("Name|AddressType|Ports|Endpoints|Age", _endpoint_slice),
    "networkpolicies.networking.k8s.io": Printer.of("Name|Pod-Selector|Age", _network_policy),
    "ingresses.networking.k8s.io": Printer.of("Name|Class|Hosts|Address|Ports|Age", _ingress),
    "ingressclasses.networking.k8s.io": Printer.of("Name|Controller|Parameters|Age", _ingress_class),
}
"""Printers by resource key."""
