"""A Service whose selector no pod satisfies."""

from __future__ import annotations

from sregym_env.cluster.edits import JsonPatch, RecreatePods
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.choices import absent_label, templates, until, variant
from sregym_env.faults.commands import put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.runtime.chance import Chance

KEYS = (
    "app",
    "name",
    "service",
    "component",
    "k8s-app",
    "app.kubernetes.io/name",
    "app.kubernetes.io/component",
    "run",
    "svc",
)


def _selects_nothing(target: ServiceTarget, chance: Chance) -> dict[str, str]:
    """A selector that matches no pod: one label more, another value, or another key for the same value."""
    own = dict(target.selector)
    everything = [t["metadata"].get("labels") or {} for t in templates(target.inventory)]

    def draw(by: Chance) -> dict[str, str]:
        key = by.choice("key", sorted(own))
        match by.choice("form", ("more", "more", "value", "value", "key")):
            case "value":
                return {**own, key: variant(own[key], by)}
            case "key":
                return {
                    other if k == key else k: v
                    for k, v in own.items()
                    for other in (by.choice("other", KEYS),)
                }
            case _:
                return {**own, **absent_label(target, by, own)}

    found: dict[str, str] = until(
        chance,
        draw,
        lambda selector: not any(selector.items() <= labels.items() for labels in everything),
        {**own, "revision": "2025-11"},
    )
    return found


@fault(layer="network", mechanism="wrong_selector", targets=services(), level="easy")
def service_selector_mismatch(
    target: ServiceTarget,
    selector: dict[str, str] = drawn(
        _selects_nothing, published=lambda target: {**target.selector, "current_service_name": target.name}
    ),
) -> Fault:
    """The Service's selector asks for a label that no pod has, so it has no endpoints.

    Pods are healthy; connections to the Service are rejected.
    """
    extra = ",".join(f"{key}={value}" for key, value in selector.items() if target.selector.get(key) != value)
    return Fault(
        resource=target.service,
        cause=f"The selector of Service {target.name} asks for the label {extra}, which no pod carries; "
        "the Service has no endpoints.",
        edits=[JsonPatch(target.service, "/spec/selector", selector)],
        trigger=[RecreatePods(caller) for caller in target.callers],
        facts={"extra": extra},
        details={"field": "selector", "wrong": selector, "right": dict(target.selector)},
        remedies=[[put(target.service, "/spec/selector", dict(target.selector))]],
        look=[f"kubectl describe service {target.name} -n {target.namespace}"],
    )
