"""A Service that is gone."""

from __future__ import annotations

from sregym_env.cluster.edits import Create, Delete, RecreatePods
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.choices import renamed, under
from sregym_env.faults.commands import apply
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault


@fault(layer="network", mechanism="missing_service", targets=services(), level="easy")
def missing_service(
    target: ServiceTarget, successor: str = drawn(renamed("services"), published="")
) -> Fault:
    """The Service does not exist, so its name does not resolve.

    The pods behind it run; clients that look the name up get "no such host". It has been deleted, or bears another name
    now: the ``successor``'s.
    """
    return Fault(
        resource=target.service,
        cause=f"Service {target.name} has been deleted{f' (there is {successor} now)' if successor else ''}; its name no longer resolves, so nothing reaches the "
        f"running {target.components[0]} pods.",
        edits=[*([Create(under(target.manifest, successor))] if successor else []), Delete(target.service)],
        trigger=[RecreatePods(caller) for caller in target.callers],
        remedies=[[apply(target.manifest)]],
        look=[f"kubectl get services -n {target.namespace}"],
    )
