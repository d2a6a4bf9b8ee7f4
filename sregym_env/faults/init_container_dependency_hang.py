"""An init container that waits for ever."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, named, restore
from sregym_env.faults.fault import Fault, fault


@fault(layer="configuration", mechanism="blocked_init_container", targets=components())
def init_container_dependency_hang(target: ComponentTarget, service: str = "legacy-config-service") -> Fault:
    """An init container waits for a Service that does not exist, so the pod never gets past it."""
    host = f"{service}.{target.namespace}.svc.cluster.local"
    script = f"until nslookup {host}; do echo 'still waiting on {service}'; sleep 5; done"
    path, declared = target.template_path("initContainers"), target.template_declares("initContainers")
    init = {"name": "wait-for-legacy-config", "image": "busybox:1.28", "command": ["sh", "-c", script]}
    return Fault(
        resource=target.workload,
        cause=f"The init container wait-for-legacy-config of {target.kind} {target.name} waits for the Service "
        f"{service}, which does not exist; the pods hang in Init:0/1.",
        edits=[Redeploy(target.workload, {path: [init, *(declared or ())]})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "initContainers", "wrong": f"wait-for-legacy-config waits for {service}"},
        facts={"init": "wait-for-legacy-config"},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=[
            f"kubectl logs {named(target.workload)} -c wait-for-legacy-config -n {target.namespace} --tail=10"
        ],
        aliases=["wait-for-legacy-config", service],
    )
