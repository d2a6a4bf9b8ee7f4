"""A name that a pod's own hosts file gets wrong."""

from __future__ import annotations

from sregym_env.cluster.app import Dependency
from sregym_env.cluster.edits import Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import execute, mend, restore, show
from sregym_env.faults.fault import Fault, fault


def _looked_up(target: ComponentTarget) -> list[Dependency]:
    """What the component finds by Service name, what only it needs first."""
    found = [d for d in target.component.dependencies if d.essential and d.via == "service"]
    return sorted(found, key=lambda d: len(target.app.dependents(d.on, "start")))


@fault(
    layer="network",
    mechanism="stale_host_alias",
    targets=components(where=lambda target: bool(_looked_up(target))),
    level="hard",
)
def stale_host_alias(target: ComponentTarget, address: str = "10.96.255.250") -> Fault:
    """The pods' hosts file sends the name of a dependency to an address where nothing is.

    DNS is healthy and knows the name; only these pods never ask it.
    """
    dependency, path = _looked_up(target)[0], target.template_path("hostAliases")
    host, declared = dependency.host or dependency.on, target.template_declares("hostAliases")
    return Fault(
        resource=target.workload,
        cause=f"The pod template of {target.kind} {target.name} has a hostAliases entry that maps {host} to {address}, "
        f"where nothing listens; {target.name} cannot reach {host}.",
        edits=[Redeploy(target.workload, {path: [{"ip": address, "hostnames": [host]}, *(declared or ())]})],
        details={"field": "hostAliases", "wrong": f"{address} {host}"},
        facts={"host": host},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=[
            show(target),
            execute(target, "cat /etc/hosts"),
        ],
    )
