"""A Service that is gone."""

from __future__ import annotations

from sregym_env.cluster.edits import Delete, RecreatePods
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.commands import apply, restart
from sregym_env.faults.fault import Fault, fault


@fault(layer="network", mechanism="missing_service", targets=services(), level="easy")
def missing_service(target: ServiceTarget) -> Fault:
    """The Service does not exist, so its name does not resolve.

    The pods behind it run; clients that look the name up get "no such host".
    """
    return Fault(
        resource=target.service,
        cause=f"Service {target.name} has been deleted; its name no longer resolves, so nothing reaches the "
        f"running {target.components[0]} pods.",
        edits=[Delete(target.service)],
        trigger=[RecreatePods(caller) for caller in target.callers],
        remedies=[[apply(target.manifest), *restart(target, target.callers)]],
        look=[f"kubectl get services -n {target.namespace}"],
    )
