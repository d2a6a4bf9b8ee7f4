"""Services: what teams say in them beside where they lead."""

from __future__ import annotations

from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation.draft import Draft, Work

_PROTOCOLS = {"grpc_service": "grpc", "web": "http", "mongodb": "mongo"}
_NOTES = (
    ("prometheus.io/scrape", "true"),
    ("service.kubernetes.io/topology-mode", "Auto"),
    ("external-dns.alpha.kubernetes.io/ttl", "60"),
    ("example.com/tier", "backend"),
)


def draw(draft: Draft, chance: Chance) -> None:
    """Named ports, protocols and notes of Services."""
    by_service = {
        (work.namespace, work.component.service): work for work in draft.works if work.component.service
    }
    for service in draft.of("Service"):
        metadata = service["metadata"]
        work = by_service.get((metadata.get("namespace", ""), metadata["name"]))
        if work is None:
            continue
        own = chance.at("services", metadata["name"])
        port = next((p for p in service["spec"]["ports"] if p["port"] == work.component.offered_port), None)
        if port is not None and own.yes("protocol", 0.2) and work.component.kind in _PROTOCOLS:
            port["appProtocol"] = _PROTOCOLS[work.component.kind]
        if port is not None and own.yes("named", 0.2) and not draft.asked_anew(work.component):
            name = _port_name(work)
            if name and service["spec"].get("clusterIP") != "None":
                port["targetPort"] = name
        if own.yes("note", 0.15):
            key, value = own.choice("notes", _NOTES)
            metadata.setdefault("annotations", {})[key] = value


def _port_name(work: Work) -> str:
    """The name of the port on which the component serves, given where it has none."""
    for port in work.container.get("ports") or ():
        if port["containerPort"] == work.component.port and port.get("protocol", "TCP") == "TCP":
            name: str = port.setdefault("name", "serving")
            return name
    return ""
