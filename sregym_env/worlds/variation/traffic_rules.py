"""Network policies that leave every real path open: what the application's parts ask each other, the way in for the
users and for whoever looks from a machine, names, the API server.
"""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

STYLES = {"none": 0.43, "outward": 0.19, "closed": 0.19, "single": 0.19}
"""Habits of teams: no policies; what may leave the namespace; nothing in or out by default; one for each of some
components."""

VERSION = "networking.k8s.io/v1"
NAMESPACE_NAME = "kubernetes.io/metadata.name"

DNS: Manifest = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
API: Manifest = {"ports": [{"protocol": "TCP", "port": 443}, {"protocol": "TCP", "port": 6443}]}


def draw(draft: Draft, chance: Chance) -> None:
    """The policies of every namespace."""
    for namespace in draft.namespaces:
        own = chance.at("policies", namespace)
        style = own.weighted("style", STYLES)
        if style == "outward":
            _outward(draft, own, namespace)
        elif style == "closed":
            _closed(draft, own, namespace)
        elif style == "single":
            _single(draft, own, namespace)


def _policy(name: str, namespace: str, **spec: object) -> Manifest:
    return words.named("NetworkPolicy", name, namespace, VERSION, spec=spec)


def _inside(draft: Draft, namespace: str) -> Manifest:
    """A rule that lets pods reach the application, wherever it is."""
    peers: list[Manifest] = [{"podSelector": {}}]
    peers += [
        {"namespaceSelector": {"matchLabels": {NAMESPACE_NAME: other}}}
        for other in draft.app.namespaces
        if other != namespace
    ]
    return {"to": peers}


def _outward(draft: Draft, chance: Chance, namespace: str) -> None:
    """Pods may look names up, ask the API server, and reach the application; in one policy or in several."""
    rules = {"dns": DNS, "application": _inside(draft, namespace), "api": API}
    everything: Manifest = {"podSelector": {}, "policyTypes": ["Egress"]}
    if chance.yes("one", 0.4):
        name = chance.choice("name", ("restrict-egress", "namespace-egress", "egress-baseline"))
        draft.start_with(_policy(name, namespace, **everything, egress=list(rules.values())))
        return
    draft.start_with(
        _policy(chance.choice("default", ("default-deny-egress", "deny-egress")), namespace, **everything)
    )
    prefix = chance.choice("prefix", ("allow-", "egress-"))
    for what, rule in rules.items():
        draft.start_with(_policy(f"{prefix}{what}", namespace, **everything, egress=[rule]))


def _closed(draft: Draft, chance: Chance, namespace: str) -> None:
    """Everything is denied, and allowed again where it is needed."""
    name = chance.choice("closed", ("default-deny", "default-deny-all", "deny-by-default"))
    draft.start_with(_policy(name, namespace, podSelector={}, policyTypes=["Ingress", "Egress"]))
    inside = _inside(draft, namespace)
    allowed: dict[str, Manifest] = {
        "dns": {"policyTypes": ["Egress"], "egress": [DNS]},
        "api-server": {"policyTypes": ["Egress"], "egress": [API]},
        "internal": {
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": inside["to"]}],
            "egress": [inside],
        },
    }
    for what, rules in allowed.items():
        draft.start_with(_policy(f"allow-{what}", namespace, podSelector={}, **rules))
    for work in draft.inside(namespace):
        # Users come from anywhere, and so do those who look whether a Service answers.
        if work.component.service and work.component.port and work.component.stateless:
            draft.start_with(_let_in(work, f"allow-to-{work.name}"))


def _let_in(work: Work, name: str) -> Manifest:
    """Anybody may connect to the ports that are there."""
    ports = [{"protocol": "TCP", "port": port} for port in sorted(_listened(work))]
    selected = {"podSelector": {"matchLabels": dict(work.labels)}}
    return _policy(name, work.namespace, **selected, policyTypes=["Ingress"], ingress=[{"ports": ports}])


def _single(draft: Draft, chance: Chance, namespace: str) -> None:
    for work in draft.inside(namespace):
        if not chance.yes(work.name, 0.4):
            continue
        name = chance.choice("prefix", ("", "np-", f"{draft.app.name}-")) + work.name
        if work.component.port and chance.yes(f"callers of {work.name}", 0.5):
            draft.start_with(_let_in(work, name))
        else:
            selected = {"podSelector": {"matchLabels": dict(work.labels)}}
            rules = [DNS, *_callees(draft, work), API]
            draft.start_with(_policy(name, namespace, **selected, policyTypes=["Egress"], egress=rules))


def _listened(work: Work) -> Iterable[int]:
    listed = {
        port["containerPort"]
        for container in work.pod["containers"]
        for port in container.get("ports") or ()
        if port.get("protocol", "TCP") == "TCP"
    }
    return listed | {work.component.port}


def _callees(draft: Draft, work: Work) -> list[Manifest]:
    """One rule for each that the component needs or talks to; the whole application where one is not declared."""
    by_name = {other.name: other for other in draft.works}
    rules: list[Manifest] = []
    for dependency in work.component.dependencies:
        other = by_name.get(dependency.on)
        if other is None:
            return [_inside(draft, work.namespace)]
        peer: Manifest = {"podSelector": {"matchLabels": dict(other.labels)}}
        if other.namespace != work.namespace:
            peer["namespaceSelector"] = {"matchLabels": {NAMESPACE_NAME: other.namespace}}
        rules.append({"to": [peer]})
    return rules
