"""NetworkPolicy: whether one address may open a connection to another, as a CNI that enforces it decides.

A pod that no policy selects for a direction accepts everything in that direction; otherwise at least one rule
of one selecting policy must allow the connection. Host-network pods and machines are never selected, and a
machine may always reach its own pods (so probes keep working).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from sregym_env.kube.selectors import LabelSelector, from_dict
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.derived import DerivedFrom

POLICIES = "networkpolicies.networking.k8s.io"

_Network = IPv4Network | IPv6Network


class Peer(NamedTuple):
    """One end of a connection as a policy sees it. ``pod`` is None for machines and addresses outside."""

    ip: str
    node: str = ""
    pod: Manifest | None = None

    @property
    def namespace(self) -> str:
        """The pod's namespace, or an empty string."""
        return "" if self.pod is None else self.pod["metadata"].get("namespace", "")

    @property
    def labels(self) -> Mapping[str, str]:
        """The pod's labels."""
        return {} if self.pod is None else self.pod["metadata"].get("labels") or {}


@dataclass(frozen=True, slots=True)
class _Port:
    protocol: str
    port: int | str | None
    end: int

    def matches(self, destination: Peer, port: int, protocol: str) -> bool:
        if self.protocol != protocol:
            return False
        if self.port is None:
            return True
        if isinstance(self.port, str):
            return port in _named_ports(destination.pod, self.port, protocol)
        return self.port <= port <= max(self.end, self.port)


@dataclass(frozen=True, slots=True)
class _From:
    """One ``from``/``to`` entry."""

    pods: LabelSelector | None = None
    namespaces: LabelSelector | None = None
    block: _Network | None = None
    excepted: tuple[_Network, ...] = ()

    def matches(self, world: SimWorld, peer: Peer, own_namespace: str) -> bool:
        if self.block is not None:
            address = ip_address(peer.ip) if peer.ip else None
            return (
                address is not None and address in self.block and not any(address in e for e in self.excepted)
            )
        if peer.pod is None:
            return False
        if self.namespaces is None:
            if peer.namespace != own_namespace:
                return False
        elif not self.namespaces.matches(_namespace_labels(world, peer.namespace)):
            return False
        return self.pods is None or self.pods.matches(peer.labels)


@dataclass(frozen=True, slots=True)
class _Rule:
    peers: tuple[_From, ...]
    """Empty for everybody."""
    ports: tuple[_Port, ...]
    """Empty for every port."""

    def allows(
        self, world: SimWorld, other: Peer, own_namespace: str, destination: Peer, port: int, protocol: str
    ) -> bool:
        if self.ports and not any(entry.matches(destination, port, protocol) for entry in self.ports):
            return False
        return not self.peers or any(entry.matches(world, other, own_namespace) for entry in self.peers)


@dataclass(frozen=True, slots=True)
class _Policy:
    selector: LabelSelector
    ingress: tuple[_Rule, ...] | None
    """None where the policy does not restrict the direction."""
    egress: tuple[_Rule, ...] | None


def allowed(world: SimWorld, source: Peer, destination: Peer, port: int, protocol: str = "TCP") -> bool:
    """Whether policies let ``source`` connect to ``port`` of ``destination`` (after Service translation)."""
    policies = _compiled(world.store.list(POLICIES))
    if not policies:
        return True
    # A pod cannot be kept from reaching itself.
    if source.pod is not None and destination.pod is not None and _uid(source.pod) == _uid(destination.pod):
        return True
    if source.pod is not None:
        selecting = [
            policy.egress
            for policy in policies.get(source.namespace, ())
            if policy.egress is not None and policy.selector.matches(source.labels)
        ]
        if selecting and not _any(
            world, selecting, destination, source.namespace, destination, port, protocol
        ):
            return False
    if destination.pod is None or (source.pod is None and source.node and source.node == destination.node):
        return True
    selecting = [
        policy.ingress
        for policy in policies.get(destination.namespace, ())
        if policy.ingress is not None and policy.selector.matches(destination.labels)
    ]
    return not selecting or _any(world, selecting, source, destination.namespace, destination, port, protocol)


def _any(
    world: SimWorld,
    selecting: list[tuple[_Rule, ...]],
    other: Peer,
    own_namespace: str,
    destination: Peer,
    port: int,
    protocol: str,
) -> bool:
    return any(
        rule.allows(world, other, own_namespace, destination, port, protocol)
        for rules in selecting
        for rule in rules
    )


def _compile(policies: list[Manifest]) -> dict[str, list[_Policy]]:
    found: dict[str, list[_Policy]] = {}
    for policy in policies:
        spec = policy["spec"]
        types = spec.get("policyTypes") or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])
        ingress = tuple(_rule(rule, "from") for rule in spec.get("ingress") or ())
        egress = tuple(_rule(rule, "to") for rule in spec.get("egress") or ())
        compiled = _Policy(
            selector=from_dict(spec.get("podSelector") or {}),
            ingress=ingress if "Ingress" in types else None,
            egress=egress if "Egress" in types else None,
        )
        found.setdefault(policy["metadata"]["namespace"], []).append(compiled)
    return found


_compiled = DerivedFrom(_compile)


def _rule(rule: Manifest, side: str) -> _Rule:
    ports = tuple(
        _Port(entry.get("protocol", "TCP"), entry.get("port"), entry.get("endPort", 0))
        for entry in rule.get("ports") or ()
    )
    return _Rule(tuple(_entry(entry) for entry in rule.get(side) or ()), ports)


def _entry(entry: Manifest) -> _From:
    block = entry.get("ipBlock")
    if block is not None:
        excepted = tuple(ip_network(cidr, strict=False) for cidr in block.get("except") or ())
        return _From(block=ip_network(block["cidr"], strict=False), excepted=excepted)
    pods, namespaces = entry.get("podSelector"), entry.get("namespaceSelector")
    return _From(
        pods=None if pods is None else from_dict(pods),
        namespaces=None if namespaces is None else from_dict(namespaces),
    )


def _namespace_labels(world: SimWorld, name: str) -> Mapping[str, str]:
    namespace = world.store.get("namespaces", "", name)
    return {} if namespace is None else namespace["metadata"].get("labels") or {}


def _named_ports(pod: Manifest | None, name: str, protocol: str) -> list[int]:
    if pod is None:
        return []
    return [
        port["containerPort"]
        for container in pod["spec"].get("containers", ())
        for port in container.get("ports") or ()
        if port.get("name") == name and port.get("protocol", "TCP") == protocol
    ]


def _uid(pod: Manifest) -> str:
    return str(pod["metadata"].get("uid", ""))
