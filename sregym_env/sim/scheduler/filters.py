"""Which nodes a pod may run on, and why not on the others: the filter plugins of the default profile.

Reasons are those of ``pkg/scheduler/framework/plugins`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim.containers.resources import Requests, allocatable, host_ports, pod_requests

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a node is out: reasons, and whether evicting other pods could change that."""

    reasons: tuple[str, ...]
    resolvable: bool


class NodeInfo:
    """A node and the pods that are on it (or have been assigned to it)."""

    __slots__ = ("allocatable", "labels", "name", "node", "pods", "scored", "social", "used")

    def __init__(self, node: Manifest, pods: Sequence[Manifest]) -> None:
        self.node = node
        self.name: str = node["metadata"]["name"]
        self.labels: Mapping[str, str] = node["metadata"].get("labels") or {}
        self.pods = pods
        self.social = [pod for pod in pods if pod["spec"].get("affinity")]
        """Those that care where they are, or beside whom."""
        self.allocatable = allocatable(node)
        self.used: dict[str, int] = {}
        scored_cpu = scored_memory = 0
        for pod in pods:
            requests = pod_requests(pod)
            scored_cpu += requests.scored_cpu
            scored_memory += requests.scored_memory
            for name, amount in requests.named():
                self.used[name] = self.used.get(name, 0) + amount
        self.scored = (scored_cpu, scored_memory)

    def without(self, victims: Iterable[Manifest]) -> NodeInfo:
        """The node as it would be without some pods."""
        gone = {pod["metadata"]["uid"] for pod in victims}
        return NodeInfo(self.node, [pod for pod in self.pods if pod["metadata"]["uid"] not in gone])


def node_level(pod: Manifest, info: NodeInfo) -> Misfit | None:
    """Filters that look at one node: cordon, taints, affinity, ports, resources; the first that refuses."""
    spec = pod["spec"]
    tolerations = spec.get("tolerations", ())
    node_spec = info.node.get("spec") or {}
    if node_spec.get("unschedulable"):
        taint = {"key": UNSCHEDULABLE, "effect": "NoSchedule"}
        if not any(tolerates(t, taint) for t in tolerations):
            return Misfit(("node(s) were unschedulable",), False)
    for taint in node_spec.get("taints", ()):
        if taint["effect"] in ("NoSchedule", "NoExecute") and not any(
            tolerates(t, taint) for t in tolerations
        ):
            text = f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
            return Misfit((text,), False)
    if not matches_node(spec, info.node):
        return Misfit(("node(s) didn't match Pod's node affinity/selector",), False)
    wanted = host_ports(pod)
    if wanted and _ports_taken(wanted, info.pods):
        return Misfit(("node(s) didn't have free ports for the requested pod ports",), True)
    lacking = insufficient(pod_requests(pod), info)
    return Misfit(lacking, True) if lacking else None


def insufficient(requests: Requests, info: NodeInfo) -> tuple[str, ...]:
    """``Insufficient x`` for every resource that does not suffice."""
    reasons = []
    if len(info.pods) + 1 > info.allocatable.get("pods", 110):
        reasons.append("Too many pods")
    for name, amount in requests.named():
        if amount and amount > info.allocatable.get(name, 0) - info.used.get(name, 0):
            reasons.append(f"Insufficient {name}")
    return tuple(reasons)


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether a toleration covers a taint (``ToleratesTaint``)."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def _ports_taken(wanted: Iterable[tuple[str, str, int]], pods: Iterable[Manifest]) -> bool:
    taken = [entry for pod in pods for entry in host_ports(pod)]
    for protocol, address, port in wanted:
        for other_protocol, other_address, other_port in taken:
            same = protocol == other_protocol and port == other_port
            if same and (address == other_address or "0.0.0.0" in (address, other_address)):
                return True
    return False


# --- node affinity --------------------------------------------------------------------------------


def matches_node(spec: Mapping[str, Any], node: Manifest) -> bool:
    """Whether a pod's nodeSelector and required node affinity admit a node."""
    labels = node["metadata"].get("labels") or {}
    for key, value in (spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or matches_terms(required.get("nodeSelectorTerms", ()), node)


def matches_terms(terms: Iterable[Mapping[str, Any]], node: Manifest) -> bool:
    """Whether any node selector term admits a node."""
    return any(matches_term(term, node) for term in terms)


def matches_term(term: Mapping[str, Any], node: Manifest) -> bool:
    """Whether all expressions of one (non-empty) node selector term admit a node."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    labels = node["metadata"].get("labels") or {}
    names = {"metadata.name": node["metadata"]["name"]}
    return all(_matches(e, labels) for e in expressions) and all(_matches(f, names) for f in fields)


def _matches(expression: Mapping[str, Any], values: Mapping[str, str]) -> bool:
    value = values.get(expression["key"])
    wanted: Sequence[str] = expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            try:
                left, right = int(value or ""), int(wanted[0])
            except ValueError:
                return False
            return left > right if expression["operator"] == "Gt" else left < right
    return False
