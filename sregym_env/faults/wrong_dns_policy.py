"""Pods that do not ask the cluster's name server."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.resolvers import PUBLIC_RESOLVERS
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import mend, patch, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

SEARCHES = (
    (),
    (),
    (),
    ("corp.example.com",),
    ("example.com",),
    ("internal.example.com", "example.com"),
    ("svc.example.net",),
)


def _servers(target: ComponentTarget, chance: Chance) -> tuple[str, ...]:
    return tuple(chance.sample("servers", PUBLIC_RESOLVERS, chance.between("count", 1, 2)))


def _looks_names_up(target: ComponentTarget) -> bool:
    return any(d.essential and d.via == "service" for d in target.component.dependencies)


@fault(layer="network", mechanism="bypassed_cluster_dns", targets=components(where=_looks_names_up))
def wrong_dns_policy(
    target: ComponentTarget,
    nameservers: tuple[str, ...] = drawn(_servers, published=("8.8.8.8",)),
    searches: tuple[str, ...] = drawn(one_of(*SEARCHES), published=()),
    policy: str = drawn(one_of("None", "None", "None", "Default"), published="None"),
) -> Fault:
    """The pods ask a public name server, which knows none of the cluster's names.

    With the policy ``None`` it is one that they name, with ``Default`` their node's.
    """
    path, config = target.template_path("dnsPolicy"), target.template_path("dnsConfig")
    right = target.template_declares("dnsPolicy") or "ClusterFirst"
    kept = target.template_declares("dnsConfig")
    back = {"op": "remove", "path": config} if kept is None else {"op": "add", "path": config, "value": kept}
    changes: dict[str, Any] = {path: policy}
    operations: list[dict[str, Any]] = [{"op": "replace", "path": path, "value": right}]
    what, facts = "", {}
    if policy == "None":
        changes[config] = {"nameservers": list(nameservers), "searches": list(searches)}
        operations.append(back)
        what, facts = f" with the nameserver {' and '.join(nameservers)}", {"nameserver": nameservers[0]}
    return Fault(
        resource=target.workload,
        cause=f"The pods of {target.kind} {target.name} have dnsPolicy {policy}{what}: what they ask "
        "does not know cluster names; looking up other services fails with no such host.",
        **revision(target, changes),
        details={"field": "dnsPolicy", "wrong": policy, "right": right},
        facts=facts,
        remedies=[mend(target, patch(target.workload, operations))],
        look=[show(target)],
    )
