"""A NetworkPolicy that cuts pods off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sregym_env.cluster.edits import Create, JsonPatch, ObjectRef, RecreatePods
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import absent_label, elsewhere, fresh, templates, wrong_port
from sregym_env.faults.commands import delete, put, registrants, restart
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.kube.selectors import from_dict
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

POLICIES = "networkpolicies.networking.k8s.io"
NAMESPACES = ("ingress-nginx", "monitoring", "istio-system", "gateway", "frontend", "edge", "observability", "traefik",
              "kube-public", "default", "platform", "web", "apps", "production", "prometheus", "linkerd")  # fmt: skip
"""Namespaces from which people let traffic in, where none of the application's pods live."""


def _rules(target: ComponentTarget, chance: Chance) -> dict[str, Any]:
    """The types and rules of a policy that lets in, or out, other traffic than the component has."""
    needs = any(d.essential for d in target.component.dependencies)
    # What a policy for everybody allows, one more for these pods cannot forbid.
    inward = all(alone for *_, alone in _covering(target, {"policyTypes": ["Ingress"]}))
    outward = needs and all(alone for *_, alone in _covering(target, {"policyTypes": ["Egress"]}))
    sealed = not any(_covering(target, {"policyTypes": ["Ingress", "Egress"]}))
    kinds = {"pods": 0.3, "namespace": 0.2, "port": 0.2, "none": 0.1} if inward or not outward else {}
    kinds |= {"sealed": 0.1 * sealed, "out": 0.25 * outward}
    match chance.weighted("kind", kinds):
        case "pods":
            return _ingress(_from("podSelector", absent_label(target, chance.at("label"))), target, chance)
        case "namespace":
            name = {"kubernetes.io/metadata.name": _OTHERS(target, chance)}
            return _ingress(_from("namespaceSelector", name), target, chance)
        case "port":
            rule: Manifest = {"ports": [{"protocol": "TCP", "port": wrong_port(target, chance.at("port"))}]}
            if chance.yes("anybody", 0.5):
                rule["from"] = [{"podSelector": {}}]
            return {"policyTypes": ["Ingress"], "ingress": [rule]}
        case "none":
            return {"policyTypes": ["Ingress"]}
        case "out":
            return {"policyTypes": ["Egress"], "egress": [_way_out(target, chance)]}
        case _:
            return {"policyTypes": ["Ingress", "Egress"]}


def _from(kind: str, labels: dict[str, str]) -> Manifest:
    return {"from": [{kind: {"matchLabels": labels}}]}


def _ingress(rule: Manifest, target: ComponentTarget, chance: Chance) -> dict[str, Any]:
    if chance.yes("port", 0.5) and target.component.port:
        rule["ports"] = [{"protocol": "TCP", "port": target.component.port}]
    return {"policyTypes": ["Ingress"], "ingress": [rule]}


def _way_out(target: ComponentTarget, chance: Chance) -> Manifest:
    """An egress rule that leads to nothing that the component needs."""
    dns = {"ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]}
    foreign = {"matchLabels": {"kubernetes.io/metadata.name": _OTHERS(target, chance)}}
    forms: tuple[Manifest, ...] = (
        {"to": [{"namespaceSelector": foreign}]},
        {"to": [{"podSelector": {"matchLabels": absent_label(target, chance.at("label"))}}]},
        {
            "to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}],
            **dns,
        },
        dns,
        {"ports": [{"protocol": "TCP", "port": 443}]},
    )
    return chance.choice("form", forms)


_OTHERS = elsewhere(NAMESPACES, "namespace")


def _covering(target: ComponentTarget, rules: dict[str, Any]) -> Iterator[tuple[ObjectRef, Manifest, bool]]:
    """The app's policies that allow the component something in the directions that ``rules`` restrict; whether they are for it alone."""
    own = _labels(template(target.manifest))
    others = [labels for each in templates(target.inventory) if (labels := _labels(each)) != own]
    for (resource, namespace, name), manifest in target.inventory.declared.items():
        if resource != POLICIES or namespace != target.namespace:
            continue
        spec, chosen = manifest["spec"], from_dict(manifest["spec"].get("podSelector") or {})
        types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
        if chosen.matches(own) and {*types} & {*rules["policyTypes"]}:
            yield ObjectRef(resource, name, namespace), manifest, not any(map(chosen.matches, others))


def _labels(made: Manifest) -> dict[str, str]:
    """Labels of a template's pods, which need none where nothing selects them."""
    found: dict[str, str] = (made.get("metadata") or {}).get("labels") or {}
    return found


@fault(layer="network", mechanism="network_policy_isolation", targets=components())
def network_policy_block(
    target: ComponentTarget,
    name: str = drawn(
        fresh(POLICIES, "{name}", "{name}-policy", "{name}-ingress", "allow-{name}", "{name}-netpol", "np-{name}", "{app}-{name}",
              "{name}-access", "restrict-{name}", "{name}-traffic", "{name}-isolation", "default-{name}", "secure-{name}"),
        published=lambda target: f"deny-all-{target.name}",
    ),
    rules: dict[str, Any] = drawn(_rules, published={"policyTypes": ["Ingress", "Egress"]}),
) -> Fault:  # fmt: skip
    """A NetworkPolicy keeps the component's pods, which look healthy, from the traffic that they need.

    ``rules`` are its types and what it allows. Where the application has a policy for these pods alone, that one has
    been changed; else there is a new one.
    """
    covering = list(_covering(target, rules))
    own = next((each for each in covering if each[2]), None)
    ref = own[0] if own else ObjectRef(POLICIES, name, target.namespace)
    chosen = own[1]["spec"]["podSelector"] if own else {"matchLabels": dict(target.labels)}
    restricted = {kind.lower() for kind in rules["policyTypes"]}
    kept = {k: v for k, v in own[1]["spec"].items() if k not in restricted} if own else {}
    types = [*kept.get("policyTypes", ()), *rules["policyTypes"]]
    spec = {**kept, "podSelector": chosen, **rules, "policyTypes": list(dict.fromkeys(types))}
    key, value = next(iter(target.labels.items()))
    edits: list[Any] = []
    undone: list[str] = []
    for other, manifest, alone in covering:
        if not alone:
            apart = {"key": key, "operator": "NotIn", "values": [value]}
            selector = manifest["spec"].get("podSelector") or {}
            narrowed = {**selector, "matchExpressions": [*selector.get("matchExpressions", ()), apart]}
            edits.append(JsonPatch(other, "/spec/podSelector", narrowed))
            undone.append(put(other, "/spec/podSelector", selector))
    if own:
        edits.append(JsonPatch(ref, "/spec", spec))
        repair = put(ref, "/spec", own[1]["spec"])
    else:
        metadata = {"name": name, "namespace": target.namespace}
        edits.append(
            Create(
                {
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "NetworkPolicy",
                    "metadata": metadata,
                    "spec": spec,
                }
            )
        )
        repair = delete(ref)
    sealed = rules == {"policyTypes": ["Ingress", "Egress"]}
    outward = "egress" in rules
    suffering = f"{'all their' if sealed else 'the'} connections{'' if sealed else f' {_WHOSE[outward]}'}"
    return Fault(
        resource=ref,
        cause=f"NetworkPolicy {ref.name} selects the pods of {target.name} and allows {_allows(rules)}; {suffering} time "
        "out.",
        edits=edits,
        trigger=[RecreatePods(each) for each in (*([target.name] if outward else []), *target.dependents)],
        details={"field": "policyTypes" if len(rules) == 1 else "rules", "wrong": _wrong(rules)},
        facts={"allowed": _allows(rules)},
        remedies=[[*undone, repair, *restart(target, registrants(target))]],
        look=[
            f"kubectl get networkpolicies -n {target.namespace}",
            f"kubectl describe networkpolicies -n {target.namespace}",
        ],
        accepts=[other for other, _, _ in covering],
    )


_WHOSE = {True: "that they need to make", False: "of their clients"}
"""Which connections suffer, by whether it is the way out that is barred."""


def _wrong(rules: dict[str, Any]) -> Any:
    """What stands there: the rules, or the types where there are none."""
    return rules.get("ingress") or rules.get("egress") or rules["policyTypes"]


def _allows(rules: dict[str, Any]) -> str:
    """In words what a policy allows."""
    if len(rules) == 1:
        return "no ingress and no egress" if len(rules["policyTypes"]) == 2 else "no ingress"
    inward = "ingress" in rules
    (rule,) = rules["ingress"] if inward else rules["egress"]
    said = []
    for peer in rule.get("from" if inward else "to") or ():
        for kind, selector in peer.items():
            labels = ",".join(f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items())
            what = "pods" if kind == "podSelector" else "namespaces"
            said.append(
                f"{'from' if inward else 'to'} {what} {f'with {labels}' if labels else 'of the namespace'}"
            )
    ports = [str(port["port"]) for port in rule.get("ports") or ()]
    said += [f"on port {' and '.join(dict.fromkeys(ports))}"] if ports else []
    return f"{'ingress' if inward else 'egress'} only {' '.join(said)}"
