"""A ConfigMap that pods mount and that is gone."""

from __future__ import annotations

from sregym_env.cluster.edits import Create, Delete, RecreatePods
from sregym_env.cluster.targets import ConfigTarget, configmaps
from sregym_env.faults.choices import renamed, under
from sregym_env.faults.commands import apply, mend, selector
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault


@fault(layer="configuration", mechanism="missing_configmap", targets=configmaps(), level="easy")
def missing_configmap(
    target: ConfigTarget, successor: str = drawn(renamed("configmaps"), published="")
) -> Fault:
    """A ConfigMap that the component's pods mount does not exist, so new pods never start.

    It has been deleted, or bears another name now: the ``successor``'s.
    """
    component = target.component.name
    return Fault(
        resource=target.config,
        cause=f"ConfigMap {target.name} has been deleted{f' (its data are in {successor})' if successor else ''}; the pods of {component} mount it and hang in "
        "ContainerCreating.",
        edits=[
            *([Create(under(target.config_manifest, successor))] if successor else []),
            Delete(target.config),
        ],
        trigger=[RecreatePods(name) for name in (component, *target.dependents)],
        details={"field": "configMap", "right": target.name},
        remedies=[[apply(target.config_manifest), *mend(target)]],
        look=[
            f"kubectl describe pods {selector(target)} -n {target.namespace}",
            f"kubectl get configmaps -n {target.namespace}",
        ],
        accepts=[target.workload],
    )
