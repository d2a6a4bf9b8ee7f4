"""A Service that keeps traffic on the caller's node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sregym_env.cluster.edits import AwaitRollout, Edit, JsonPatch, Part, Rollout
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.commands import put
from sregym_env.faults.fault import Fault, fault
from sregym_env.kube.types import Manifest

PATH = "/spec/internalTrafficPolicy"
HOSTNAME = "kubernetes.io/hostname"


def _called(target: ServiceTarget) -> bool:
    """Whether somebody inside asks it through the Service, from nodes on which it does not stand anyway.

    Who is asked by the pod's own address is not asked through the policy.
    """
    if target.headless or target.component.workload == "daemonsets.apps":
        return False
    return bool(_movable(target) if target.component.stateless else target.callers)


def _movable(target: ServiceTarget) -> list[str]:
    """Callers that may stand on any node."""
    known = target.app.by_name
    return [
        name
        for name in target.callers
        if known[name].workload == "deployments.apps" and not known[name].volume
    ]


@fault(layer="network", mechanism="local_traffic_only", targets=services(where=_called), level="hard")
def internal_traffic_policy_local(target: ServiceTarget) -> Fault:
    """The Service passes traffic only to pods on the caller's own node, and callers stand on nodes that have none.

    Their connections are dropped, so they time out; the endpoints are ready, and a caller that happens to stand beside
    one is served, until an eviction or a drain moves it. Those who ask it have long been bound to nodes on which it does not stand
    (of many, the ones beside it would serve everybody), and so has it to its own, unless it holds what a new pod would not.
    """
    earlier = list(_apart(target))
    return Fault(
        resource=target.service,
        cause=f"Service {target.name} has internalTrafficPolicy Local, so pods reach {target.components[0]} only on their own "
        f"node; callers on nodes without a pod of {target.components[0]} get no connection, although the endpoints are ready.",
        earlier=earlier,
        edits=[JsonPatch(target.service, PATH, "Local")],
        trigger=[Part(caller, off=target.component.name) for caller in target.callers],
        details={"field": "internalTrafficPolicy", "wrong": "Local", "right": "Cluster"},
        remedies=[[put(target.service, PATH, "Cluster")]],
        accepts=[edit.target for edit in earlier if isinstance(edit, Rollout)],
        look=[
            f"kubectl get service {target.name} -n {target.namespace} -o yaml",
            f"kubectl get pods -n {target.namespace} -o wide",
        ],
    )


def _apart(target: ServiceTarget) -> Iterator[Edit]:
    """The component is bound to nodes on which it stands, if its pods hold no data, and its callers to the others on which
    the application does."""
    own, others = _nodes(target)
    if not others:
        return
    component = target.component
    loose = component.stateless or component.kind == "memcached"
    itself = [(component.name, own)] if loose else []
    for name, nodes in (*itself, *((name, others) for name in _movable(target))):
        spec = template(target.inventory.workload(target.app.by_name[name]))["spec"]
        workload = target.workload_of(name)
        yield Rollout(workload, {"/spec/template/spec/affinity": _bound(spec.get("affinity") or {}, nodes)})
        yield AwaitRollout(workload)


def _nodes(target: ServiceTarget) -> tuple[list[str], list[str]]:
    """Nodes for the component and for its callers: those where pods of the application stand now, of which it keeps its own,
    half of them at most unless its pods must stand apart: where callers have little room, they may not find it again."""
    workload = target.inventory.workload(target.component)
    labels = workload["spec"]["selector"]["matchLabels"].items()
    placed = [
        (pod["spec"].get("nodeName", ""), labels <= (pod["metadata"].get("labels") or {}).items())
        for pod in target.inventory.pods
        if pod["metadata"]["namespace"] == target.namespace
    ]
    opened = {machine["metadata"]["name"] for machine in target.inventory.machines if _open(machine)}
    used = sorted({node for node, _ in placed} & opened)
    own = sorted({node for node, its in placed if its} & {*used})
    half = max(1, len(used) // 2)
    if len(own) == len(used) or not _stand_apart(template(workload)["spec"]):
        own = own[:half]
    return own, [node for node in used if node not in own]


def _stand_apart(spec: Manifest) -> bool:
    """Whether pods of a template refuse nodes that have others of them."""
    apart = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    spread = spec.get("topologySpreadConstraints") or ()
    return bool(apart.get("requiredDuringSchedulingIgnoredDuringExecution")) or any(
        each.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule" for each in spread
    )


def _open(machine: Manifest) -> bool:
    """Whether a node takes any pod."""
    spec = machine.get("spec") or {}
    closed = ("NoSchedule", "NoExecute")
    return not spec.get("unschedulable") and not any(
        taint["effect"] in closed for taint in spec.get("taints") or ()
    )


def _bound(affinity: Manifest, nodes: Sequence[str]) -> Manifest:
    """An affinity by which pods stand on some nodes only, whatever else but nodes' names it asks for."""
    here: Manifest = {"key": HOSTNAME, "operator": "In", "values": list(nodes)}
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    of_nodes: dict[str, Any] = affinity.get("nodeAffinity") or {}
    terms = (of_nodes.get(field) or {}).get("nodeSelectorTerms") or [{}]
    bound = [{**term, "matchExpressions": [*_others(term), here]} for term in terms]
    return {**affinity, "nodeAffinity": {**of_nodes, field: {"nodeSelectorTerms": bound}}}


def _others(term: Manifest) -> list[Manifest]:
    """What a term asks of nodes beside their names."""
    return [each for each in term.get("matchExpressions") or () if each["key"] != HOSTNAME]
