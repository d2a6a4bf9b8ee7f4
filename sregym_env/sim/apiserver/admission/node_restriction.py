"""NodeRestriction and TaintNodesByCondition: what kubelets may change, and how new machines begin.

Follows ``plugin/pkg/admission/{noderestriction,nodetaint}`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver import identities
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld

NOT_READY = "node.kubernetes.io/not-ready"
MIRROR = "kubernetes.io/config.mirror"
_PREFIX = "system:node:"
_RESERVED = ("kubernetes.io", "k8s.io")
_OWN_LABELS = frozenset(
    {
        "kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch",
        "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type",
        "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
    }
)  # fmt: skip
"""Reserved labels that a kubelet may set on its own Node."""
_OWN_PREFIXES = ("kubelet.kubernetes.io/", "node.kubernetes.io/")
_EMPTY: Mapping[str, str] = {}


def _node_of(request: Attributes) -> str:
    """The machine whose kubelet asks; empty for anybody else."""
    user = request.user
    is_node = user.name.startswith(_PREFIX) and "system:nodes" in user.groups
    return user.name[len(_PREFIX) :] if is_node else ""


def restrict(_: SimWorld, request: Attributes, new: Manifest | None, old: Manifest | None) -> None:
    """Raise Forbidden for what a kubelet may not do."""
    node = _node_of(request)
    if not node:
        return
    key, sub = request.resource.key, request.subresource
    text = ""
    if key == "pods":
        text = _pod(request, node, sub, new, old)
    elif key == "nodes":
        text = _own_node(request, node, new, old)
    elif key == "persistentvolumeclaims" and sub != "status":
        text = "may only update PVC status"
    elif key == "leases.coordination.k8s.io":
        if request.namespace != "kube-node-lease":
            text = 'can only access leases in the "kube-node-lease" system namespace'
        elif request.name != node:
            text = "can only access node lease with the same name as the requesting node"
    elif key == "csinodes.storage.k8s.io" and request.name != node:
        text = "can only access CSINode with the same name as the requesting node"
    if text:
        raise refused(request, new or old, text)


def _pod(request: Attributes, node: str, subresource: str, new: Manifest | None, old: Manifest | None) -> str:
    if subresource == "status":
        if old is not None and old["spec"].get("nodeName") != node:
            return f'node "{node}" can only update pod status for pods with spec.nodeName set to itself'
        return ""
    if subresource == "eviction":
        return ""
    if subresource:
        return f"unexpected pod subresource \"{subresource}\", only 'status' and 'eviction' are allowed"
    if request.operation == "DELETE":
        if old is not None and old["spec"].get("nodeName") != node:
            return f'node "{node}" can only delete pods with spec.nodeName set to itself'
        return ""
    if request.operation != "CREATE" or new is None:
        return f'unexpected operation "{request.operation}", node "{node}" can only create and delete mirror pods'
    if MIRROR not in (new["metadata"].get("annotations") or {}):
        return f'pod does not have "{MIRROR}" annotation, node "{node}" can only create mirror pods'
    if new["spec"].get("nodeName") != node:
        return f'node "{node}" can only create pods with spec.nodeName set to itself'
    return ""


def _own_node(request: Attributes, node: str, new: Manifest | None, old: Manifest | None) -> str:
    if request.name != node:
        return f'node "{node}" is not allowed to modify node "{request.name}"'
    if new is None or request.subresource:
        return ""
    labels = new["metadata"].get("labels") or _EMPTY
    before = _EMPTY if old is None else old["metadata"].get("labels") or _EMPTY
    changed = sorted(
        key for key in {*labels, *before} if labels.get(key) != before.get(key) and _is_reserved(key)
    )
    if changed:
        verb = "set" if old is None else "modify"
        return f"is not allowed to {verb} the following labels: {', '.join(changed)}"
    if old is not None and (new["spec"].get("taints") or []) != (old["spec"].get("taints") or []):
        return f'node "{node}" is not allowed to modify taints'
    return ""


def _is_reserved(label: str) -> bool:
    domain, slash, _ = label.partition("/")
    if not slash or label in _OWN_LABELS or label.startswith(_OWN_PREFIXES):
        return False
    return any(domain == name or domain.endswith(f".{name}") for name in _RESERVED)


def taint(_: SimWorld, request: Attributes, node: Manifest, old: Manifest | None) -> Manifest:
    """A new Node that others register is tainted until it is ready; those the cluster begins with are ready."""
    if request.operation != "CREATE" or request.user == identities.SYSTEM:
        return node
    spec = node.get("spec") or {}
    taints = spec.get("taints") or []
    if any(known.get("key") == NOT_READY and known.get("effect") == "NoSchedule" for known in taints):
        return node
    return {**node, "spec": {**spec, "taints": [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]}}
