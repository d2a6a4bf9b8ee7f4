"""Pods that a policy cuts off."""

from __future__ import annotations

from sregym_env.cluster.edits import Create, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import delete, restart
from sregym_env.faults.fault import Fault, fault


@fault(layer="network", mechanism="network_policy_isolation", targets=components())
def network_policy_block(target: ComponentTarget) -> Fault:
    """A NetworkPolicy denies all traffic to and from the component's pods, which look healthy."""
    policy = ObjectRef("networkpolicies.networking.k8s.io", f"deny-all-{target.name}", target.namespace)
    return Fault(
        resource=policy,
        cause=f"NetworkPolicy {policy.name} selects the pods of {target.name} and allows no ingress and no egress; "
        "all their connections time out.",
        edits=[
            Create(
                {
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "NetworkPolicy",
                    "metadata": {"name": policy.name, "namespace": target.namespace},
                    "spec": {
                        "podSelector": {"matchLabels": dict(target.labels)},
                        "policyTypes": ["Ingress", "Egress"],
                    },
                }
            )
        ],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "policyTypes", "wrong": ["Ingress", "Egress"]},
        remedies=[[delete(policy), *restart(target, target.dependents)]],
        look=[
            f"kubectl get networkpolicies -n {target.namespace}",
            f"kubectl describe networkpolicies -n {target.namespace}",
        ],
    )
