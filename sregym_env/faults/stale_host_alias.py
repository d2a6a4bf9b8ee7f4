"""A name that a pod's own hosts file gets wrong."""

from __future__ import annotations

from sregym_env.cluster.app import Dependency
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import until
from sregym_env.faults.commands import execute, mend, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance


def _looked_up(target: ComponentTarget) -> list[Dependency]:
    """What the component finds by Service name, what only it needs first.

    Not what it asks only where a cache does not know: as long as others fill that, no user notices.
    """
    found = [
        d
        for d in target.component.dependencies
        if d.essential and d.via == "service" and not (d.cached and d.at == {"request"})
    ]
    return sorted(found, key=lambda d: len(target.app.dependents(d.on, "start")))


def _hosts(target: ComponentTarget) -> list[str]:
    return [dependency.host or dependency.on for dependency in _looked_up(target)]


def _gone(target: ComponentTarget, chance: Chance) -> str:
    """An address where nothing is: of a Service or a pod that is gone, of a machine, of another network."""
    pods = sorted({pod.get("status", {}).get("podIP", "") for pod in target.inventory.pods} - {""})
    near = [*pods, *target.inventory.addresses]

    def draw(by: Chance) -> str:
        low, host = by.between("low", 0, 254), by.between("host", 2, 253)
        if near and by.yes("near", 0.6):
            return f"{'.'.join(by.choice('beside', near).split('.')[:2])}.{low}.{host}"
        nets = ("10.0", "192.168", "172.20", "172.31", f"10.{by.between('ten', 20, 90)}")
        return f"{by.choice('net', nets)}.{low}.{host}"

    return str(until(chance, draw, lambda address: address not in near, "10.96.255.250"))


def _names(target: ComponentTarget, chance: Chance) -> tuple[str, ...]:
    """The name that the component uses, and sometimes longer ones."""
    host = chance.choice("host", _hosts(target))
    longer = (
        f"{host}.{target.namespace}",
        f"{host}.{target.namespace}.svc",
        f"{host}.{target.namespace}.svc.cluster.local",
    )
    count = chance.between("count", 0, 2)
    return (host, *chance.sample("longer", longer, count)) if "." not in host else (host,)


@fault(
    layer="network",
    mechanism="stale_host_alias",
    targets=components(where=lambda target: bool(_looked_up(target))),
    level="hard",
)
def stale_host_alias(
    target: ComponentTarget,
    address: str = drawn(_gone, published="10.96.255.250"),
    names: tuple[str, ...] = drawn(_names, published=lambda target: (_hosts(target)[0],)),
) -> Fault:
    """The pods' hosts file sends the name of a dependency to an address where nothing is.

    DNS is healthy and knows the name; only these pods never ask it.
    """
    path, host = target.template_path("hostAliases"), names[0]
    declared = target.template_declares("hostAliases")
    return Fault(
        resource=target.workload,
        cause=f"The pod template of {target.kind} {target.name} has a hostAliases entry that maps {host} to {address}, "
        f"where nothing listens; {target.name} cannot reach {host}.",
        **revision(target, {path: [{"ip": address, "hostnames": list(names)}, *(declared or ())]}),
        details={"field": "hostAliases", "wrong": f"{address} {host}"},
        facts={"host": host},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=[
            show(target),
            execute(target, "cat /etc/hosts"),
        ],
    )
