"""Pods that do not ask the cluster's name server."""

from __future__ import annotations

from sregym_env.cluster.edits import Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, patch, show
from sregym_env.faults.fault import Fault, fault


def _looks_names_up(target: ComponentTarget) -> bool:
    return any(d.essential and d.via == "service" for d in target.component.dependencies)


@fault(layer="network", mechanism="bypassed_cluster_dns", targets=components(where=_looks_names_up))
def wrong_dns_policy(target: ComponentTarget, nameserver: str = "8.8.8.8") -> Fault:
    """The pods ask a public name server, which knows none of the cluster's names."""
    policy, config = target.template_path("dnsPolicy"), target.template_path("dnsConfig")
    right = target.template_declares("dnsPolicy") or "ClusterFirst"
    kept = target.template_declares("dnsConfig")
    back = {"op": "remove", "path": config} if kept is None else {"op": "add", "path": config, "value": kept}
    return Fault(
        resource=target.workload,
        cause=f"The pods of {target.kind} {target.name} have dnsPolicy None with the nameserver {nameserver}, which "
        "does not know cluster names; looking up other services fails with no such host.",
        edits=[
            Redeploy(target.workload, {policy: "None", config: {"nameservers": [nameserver], "searches": []}})
        ],
        details={"field": "dnsPolicy", "wrong": "None", "right": right},
        remedies=[
            mend(
                target,
                patch(target.workload, [{"op": "replace", "path": policy, "value": right}, back]),
            )
        ],
        look=[show(target)],
    )
