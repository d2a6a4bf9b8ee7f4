"""A Service that also selects another workload's pods."""

from __future__ import annotations

from sregym_env.cluster.app import Component
from sregym_env.cluster.edits import JsonPatch, MergePatch
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.commands import put
from sregym_env.faults.fault import Fault, fault


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
def service_wrong_pod_selection(target: ServiceTarget, label: str = "service-route") -> Fault:
    """The Service selects a label that pods of an unrelated workload carry as well.

    Half of the connections reach pods that do not listen on the Service's port.
    """
    stranger = _strangers(target)[0]
    workloads = [target.workload, target.workload_of(stranger.name)]
    tag = {"spec": {"template": {"metadata": {"labels": {label: target.name}}}}}
    return Fault(
        resource=target.service,
        cause=f"The selector of Service {target.name} is {label}={target.name}, a label that the pods of "
        f"{stranger.name} carry too, so it also selects {stranger.name} pods; about half of the connections go "
        f"to them, and they do not listen on port {target.port}.",
        edits=[
            *(MergePatch(workload, tag) for workload in workloads),
            JsonPatch(target.service, "/spec/selector", {label: target.name}),
        ],
        facts={"stranger": stranger.name, "shared": f"{label}={target.name}", "port": target.port},
        details={"field": "selector", "wrong": {label: target.name}, "right": dict(target.selector)},
        remedies=[[put(target.service, "/spec/selector", dict(target.selector))]],
        look=[
            f"kubectl describe service {target.name} -n {target.namespace}",
            f"kubectl get pods -n {target.namespace} --show-labels",
        ],
        accepts=workloads,
        aliases=[stranger.name],
    )
