"""A Service that also selects another workload's pods."""

from __future__ import annotations

from sregym_env.cluster.app import Component
from sregym_env.cluster.edits import JsonPatch, MergePatch
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.choices import carried, until
from sregym_env.faults.commands import put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.runtime.chance import Chance

LABELS = (
    "tier", "component", "role", "app.kubernetes.io/part-of", "app.kubernetes.io/component", "team", "stack", "layer", "group",
    "exposed", "route", "app.kubernetes.io/instance", "release", "lane", "owner", "domain", "service-group", "mesh", "zone",
)  # fmt: skip
VALUES = (
    "web",
    "public",
    "edge",
    "frontend",
    "booking",
    "hotel",
    "core",
    "api",
    "stable",
    "backend",
    "customer",
    "search",
    "site",
)


def _shared(target: ServiceTarget, chance: Chance) -> tuple[str, str]:
    """A label that no pod has yet, and that could stand for several."""
    have = {key for key, _ in carried(target.inventory)}
    found: tuple[str, str] = until(
        chance,
        lambda by: (by.choice("key", LABELS), by.choice("value", (*VALUES, target.name))),
        lambda pair: pair[0] not in have,
        ("lane", target.name),
    )
    return found


def _strangers(target: ServiceTarget) -> list[Component]:
    """Stateless workloads beside it that do not listen on its port: what its owner calls first, if anything.

    None for a Service that names its target port: the name leads to another port in other pods.
    """
    owner = target.component
    if not isinstance(target.target_port, int):
        return []
    called = [target.app.by_name[d.on] for d in owner.dependencies if d.via == "registry"]
    others = [c for c in target.app.components if c.name in target.app.serving and c.name != owner.name]
    return [
        c
        for c in (*called, *others)
        if c.workload == owner.workload
        and not c.volume
        and c.port != target.port
        and target.app.namespace_of(c.name) == target.namespace
        and target.inventory.declares(c)
    ]


@fault(
    layer="network",
    mechanism="extra_endpoints",
    targets=services(at_request=True, persistent=False, where=lambda target: bool(_strangers(target))),
    level="hard",
)
def service_wrong_pod_selection(
    target: ServiceTarget,
    shared: tuple[str, str] = drawn(_shared, published=lambda target: ("service-route", target.name)),
    stranger: str = drawn(
        lambda target, chance: chance.choice("stranger", [c.name for c in _strangers(target)]),
        published=lambda target: _strangers(target)[0].name,
    ),
) -> Fault:
    """The Service selects a label that pods of an unrelated workload carry as well.

    A part of the connections reaches pods that do not listen on the Service's port.
    """
    label, value = shared
    said = f"{label}={value}"
    workloads = [target.workload, target.workload_of(stranger)]
    tag = {"spec": {"template": {"metadata": {"labels": {label: value}}}}}
    return Fault(
        resource=target.service,
        cause=f"The selector of Service {target.name} is {said}, a label that the pods of "
        f"{stranger} carry too, so it also selects {stranger} pods; a part of the connections goes "
        f"to them, and they do not listen on port {target.port}.",
        edits=[
            *(MergePatch(workload, tag) for workload in workloads),
            JsonPatch(target.service, "/spec/selector", {label: value}),
        ],
        facts={"stranger": stranger, "shared": said, "port": target.port},
        details={"field": "selector", "wrong": {label: value}, "right": dict(target.selector)},
        remedies=[[put(target.service, "/spec/selector", dict(target.selector))]],
        look=[
            f"kubectl describe service {target.name} -n {target.namespace}",
            f"kubectl get pods -n {target.namespace} --show-labels",
        ],
        accepts=workloads,
        aliases=[stranger],
    )
