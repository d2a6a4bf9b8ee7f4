"""A container whose environment comes from a Secret nobody made."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import drop, mend, named
from sregym_env.faults.fault import Fault, fault


@fault(layer="configuration", mechanism="missing_secret", targets=components(), level="easy")
def missing_secret(target: ComponentTarget, variable: str = "API_TOKEN") -> Fault:
    """The container takes an environment variable from a Secret that does not exist, so it is never created."""
    secret, declared = f"{target.name}-credentials", target.container.get("env", [])
    path = target.container_path("env")
    added = {"name": variable, "valueFrom": {"secretKeyRef": {"name": secret, "key": "token"}}}
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} takes the environment variable {variable} from the Secret {secret}, which "
        "does not exist; its container hangs in CreateContainerConfigError.",
        edits=[Redeploy(target.workload, {path: [*declared, added]})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": f"env {variable}", "wrong": f"secretKeyRef {secret}"},
        facts={"secret": secret},
        remedies=[
            mend(target, drop(target.workload, f"{path}/{len(declared)}")),
            mend(
                target,
                f"kubectl create secret generic {secret} --from-literal=token=none -n {target.namespace}",
                f"kubectl rollout restart {named(target.workload)} -n {target.namespace}",
            ),
        ],
        look=[f"kubectl get secrets -n {target.namespace}"],
        aliases=[secret],
    )
