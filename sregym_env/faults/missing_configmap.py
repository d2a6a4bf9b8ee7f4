"""A ConfigMap that pods mount and that is gone."""

from __future__ import annotations

from sregym_env.cluster.edits import Delete, RecreatePods
from sregym_env.cluster.targets import ConfigTarget, configmaps
from sregym_env.faults.commands import apply, restart, selector
from sregym_env.faults.fault import Fault, fault


@fault(layer="configuration", mechanism="missing_configmap", targets=configmaps(), level="easy")
def missing_configmap(target: ConfigTarget) -> Fault:
    """A ConfigMap that the component's pods mount does not exist, so new pods never start."""
    component = target.component.name
    return Fault(
        resource=target.config,
        cause=f"ConfigMap {target.name} has been deleted; the pods of {component} mount it and hang in "
        "ContainerCreating.",
        edits=[Delete(target.config)],
        trigger=[RecreatePods(name) for name in (component, *target.dependents)],
        details={"field": "configMap", "right": target.name},
        remedies=[[apply(target.config_manifest), *restart(target, (component, *target.dependents))]],
        look=[
            f"kubectl describe pods {selector(target)} -n {target.namespace}",
            f"kubectl get configmaps -n {target.namespace}",
        ],
        accepts=[target.workload],
    )
