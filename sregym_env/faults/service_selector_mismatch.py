"""A Service whose selector no pod satisfies."""

from __future__ import annotations

from sregym_env.cluster.edits import MergePatch, RecreatePods
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.commands import drop, restart
from sregym_env.faults.fault import Fault, fault


@fault(layer="network", mechanism="wrong_selector", targets=services(), level="easy")
def service_selector_mismatch(target: ServiceTarget, label: str = "current_service_name") -> Fault:
    """The Service's selector asks for a label that no pod has, so it has no endpoints.

    Pods are healthy; connections to the Service are rejected.
    """
    wrong = {**target.selector, label: target.name}
    return Fault(
        resource=target.service,
        cause=f"The selector of Service {target.name} asks for the label {label}={target.name}, which no pod "
        "carries; the Service has no endpoints.",
        edits=[MergePatch(target.service, {"spec": {"selector": {label: target.name}}})],
        trigger=[RecreatePods(caller) for caller in target.callers],
        facts={"extra": f"{label}={target.name}"},
        details={"field": "selector", "wrong": wrong, "right": dict(target.selector)},
        remedies=[[drop(target.service, f"/spec/selector/{label}"), *restart(target, target.callers)]],
        look=[f"kubectl describe service {target.name} -n {target.namespace}"],
    )
