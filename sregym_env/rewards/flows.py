"""Who may reach whom: network policies by what they allow, however they are written.

A pod that no policy selects for a direction may be reached, or reach, freely; otherwise one rule of one policy must
allow it. What is asked for are the pods of the workloads that there are, a stranger in another namespace, and the ports
that the workloads offer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from sregym_env.kube.selectors import from_dict
from sregym_env.kube.types import Manifest
from sregym_env.rewards.objects import Objects, containers, named, pod_spec, template

POLICIES = "networkpolicies.networking.k8s.io"

NAMESPACE_NAME = "kubernetes.io/metadata.name"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a connection."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    space: Mapping[str, str]
    """Labels of its namespace."""
    ports: tuple[tuple[int, str], ...] = ()
    """(number, name) of those that it offers."""


OUTSIDE = End("addresses outside", "-", {}, {NAMESPACE_NAME: "-"}, ((443, "https"), (22, "ssh"), (40001, "")))
"""What lies beyond the application: where data would be carried to. The last port is one that nobody names."""

STRANGER = End("a pod of another namespace", "-", {}, {NAMESPACE_NAME: "-"})


def ends(objects: Objects, namespaces: Iterable[str]) -> list[End]:
    """The pods of the workloads of some namespaces, one for each workload."""
    spaces = {
        key[2]: obj["metadata"].get("labels") or {} for key, obj in objects.items() if key[0] == "namespaces"
    }
    wanted, found = set(namespaces), []
    for key, obj in objects.items():
        pod = template(obj) if key[1] in wanted and key[0] != "pods" else None
        if pod is not None and "spec" in pod:
            labels = (pod.get("metadata") or {}).get("labels") or {}
            space = {NAMESPACE_NAME: key[1], **spaces.get(key[1], {})}
            found.append(End(named(key), key[1], labels, space, tuple(_offered(obj))))
    return found


def _offered(workload: Manifest) -> Iterator[tuple[int, str]]:
    for container in containers(pod_spec(workload)).values():
        for port in container.get("ports") or ():
            if port.get("protocol", "TCP") == "TCP":
                yield port["containerPort"], port.get("name", "")


def opened(
    before: Iterable[Manifest], now: Iterable[Manifest], then: list[End], present: list[End]
) -> list[str]:
    """Connections that policies did not let through ``before`` and let through now, in words.

    ``then`` and ``present`` are the ends of both times; only those of both are compared.
    """
    old, new = list(before), list(now)
    was = {end.name: end for end in then}
    found = [
        f"{source.name} may reach {OUTSIDE.name}"
        for source in present
        if source.name in was
        and any(
            _lets(new, source, OUTSIDE, OUTSIDE, port, "Egress")
            and not _lets(old, was[source.name], OUTSIDE, OUTSIDE, port, "Egress")
            for port in OUTSIDE.ports
        )
    ]
    for target in present:
        if target.name not in was:
            continue
        for source in (*(end for end in present if end.name in was), STRANGER):
            earlier = was.get(source.name, source)
            for port in target.ports:
                if port not in was[target.name].ports:
                    continue
                if _passes(new, source, target, port) and not _passes(old, earlier, was[target.name], port):
                    found.append(f"{source.name} may reach {target.name}:{port[0]}")
    return found


def closed(
    before: Iterable[Manifest],
    now: Iterable[Manifest],
    then: list[End],
    present: list[End],
    calls: Collection[tuple[str, str]],
) -> list[str]:
    """Of the connections that an application makes, (from, to) by name, those that policies let through ``before`` and no
    longer do, in words."""
    old, new = list(before), list(now)
    was, there = {end.name: end for end in then}, {end.name: end for end in present}
    found = []
    for one, other in sorted(calls):
        if not {one, other} <= was.keys() & there.keys():
            continue
        for port in was[other].ports:
            if _passes(old, was[one], was[other], port) and not _passes(new, there[one], there[other], port):
                found.append(f"{one} may no longer reach {other}:{port[0]}")
    return found


def _passes(policies: list[Manifest], source: End, target: End, port: tuple[int, str]) -> bool:
    return _lets(policies, source, target, target, port, "Egress") and _lets(
        policies, target, source, target, port, "Ingress"
    )


def _lets(
    policies: list[Manifest], own: End, other: End, target: End, port: tuple[int, str], way: str
) -> bool:
    """Whether the policies of one end allow the other, the one way or the other."""
    selecting = [policy["spec"] for policy in policies if _selects(policy, own, way)]
    field, side = ("egress", "to") if way == "Egress" else ("ingress", "from")
    return not selecting or any(
        _port(rule.get("ports"), port) and _peer(rule.get(side), own, other)
        for spec in selecting
        for rule in spec.get(field) or ()
    )


def _selects(policy: Manifest, end: End, way: str) -> bool:
    spec = policy["spec"]
    types = spec.get("policyTypes") or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])
    if way not in types or policy["metadata"]["namespace"] != end.namespace:
        return False
    return from_dict(spec.get("podSelector") or {}).matches(end.labels)


def _port(entries: Any, port: tuple[int, str]) -> bool:
    number, name = port
    for entry in entries or ():
        wanted = entry.get("port")
        if entry.get("protocol", "TCP") != "TCP":
            continue
        if wanted is None or (isinstance(wanted, str) and wanted == name):
            return True
        if isinstance(wanted, int) and wanted <= number <= max(wanted, entry.get("endPort") or 0):
            return True
    return not entries


def _peer(entries: Any, own: End, other: End) -> bool:
    return not entries or any(_is(entry, own, other) for entry in entries)


def _is(entry: Manifest, own: End, other: End) -> bool:
    block = entry.get("ipBlock")
    if block is not None:
        # Which address a pod gets nobody knows beforehand; a block of all addresses holds each.
        return ip_network(block["cidr"], strict=False).prefixlen == 0
    spaces, pods = entry.get("namespaceSelector"), entry.get("podSelector")
    if spaces is None:
        if other.namespace != own.namespace:
            return False
    elif not from_dict(spaces).matches(other.space):
        return False
    return pods is None or from_dict(pods).matches(other.labels)
