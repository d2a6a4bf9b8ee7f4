"""A Service that keeps traffic on the caller's node."""

from __future__ import annotations

from sregym_env.cluster.edits import JsonPatch, Part
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.commands import put
from sregym_env.faults.fault import Fault, fault

PATH = "/spec/internalTrafficPolicy"


def _one_place(target: ServiceTarget) -> bool:
    """Whether its pod stands on one node, so that callers on others have none: what keeps state is not multiplied.

    Who is asked by the pod's own address is not asked through the policy.
    """
    return (
        not target.headless
        and not target.component.stateless
        and target.component.workload != "daemonsets.apps"
        and bool(target.callers)
    )


@fault(layer="network", mechanism="local_traffic_only", targets=services(where=_one_place), level="hard")
def internal_traffic_policy_local(target: ServiceTarget) -> Fault:
    """The Service passes traffic only to pods on the caller's own node, and callers stand on nodes that have none.

    Their connections are dropped, so they time out; the endpoints are ready, and a caller that happens to stand beside
    one is served, until an eviction or a drain moves it.
    """
    return Fault(
        resource=target.service,
        cause=f"Service {target.name} has internalTrafficPolicy Local, so pods reach {target.components[0]} only on their own "
        f"node; callers on nodes without a pod of {target.components[0]} get no connection, although the endpoints are ready.",
        edits=[JsonPatch(target.service, PATH, "Local")],
        trigger=[Part(caller, off=target.component.name) for caller in target.callers],
        details={"field": "internalTrafficPolicy", "wrong": "Local", "right": "Cluster"},
        remedies=[[put(target.service, PATH, "Cluster")]],
        look=[
            f"kubectl get service {target.name} -n {target.namespace} -o yaml",
            f"kubectl get pods -n {target.namespace} -o wide",
        ],
    )
