"""The on-call engineer: under which identity an agent works, and what it may do in a cluster."""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.cluster.identity import User
from sregym_env.kube.types import Manifest

ONCALL = User("sre-agent")
"""The identity of the agent."""

READ = ("get", "list", "watch")
WRITE = ("create", "delete", "deletecollection", "patch", "update")
ALL = (*READ, *WRITE)

Rule = dict[str, list[str]]


def rule(group: str, resources: str, verbs: Iterable[str]) -> Rule:
    """One rule over space-separated resources of one API group."""
    return {"apiGroups": [group], "resources": resources.split(), "verbs": list(verbs)}


_WORKLOAD = "pods pods/log pods/exec pods/portforward pods/attach pods/ephemeralcontainers pods/status"
_NAMESPACED = (
    "services services/status endpoints configmaps secrets persistentvolumeclaims events resourcequotas limitranges "
    "serviceaccounts replicationcontrollers replicationcontrollers/scale"
)

RULES: tuple[Rule, ...] = (
    rule("", _WORKLOAD, ALL),
    rule("", "pods/eviction", ("create",)),
    rule("", _NAMESPACED, ALL),
    rule("", "nodes", (*READ, "patch", "update")),
    rule("", "namespaces", (*READ, "patch", "update")),
    rule("", "persistentvolumes componentstatuses", READ),
    rule("apps", "*", ALL),
    rule("batch", "*", ALL),
    rule("autoscaling", "*", ALL),
    rule("networking.k8s.io", "ingresses ingresses/status networkpolicies", ALL),
    rule("networking.k8s.io", "ingressclasses", READ),
    rule("policy", "poddisruptionbudgets poddisruptionbudgets/status", ALL),
    rule("discovery.k8s.io", "endpointslices", ALL),
    rule("events.k8s.io", "events", ALL),
    rule("admissionregistration.k8s.io", "*", (*READ, "delete", "patch", "update")),
    rule("rbac.authorization.k8s.io", "roles rolebindings clusterroles clusterrolebindings", READ),
    rule("rbac.authorization.k8s.io", "clusterroles", ("patch",)),
    rule("storage.k8s.io", "*", READ),
    rule("scheduling.k8s.io", "priorityclasses", READ),
    rule("coordination.k8s.io", "leases", READ),
    rule("apiextensions.k8s.io", "customresourcedefinitions", READ),
    rule("apiregistration.k8s.io", "apiservices", READ),
    rule("node.k8s.io", "runtimeclasses", READ),
    rule("metrics.k8s.io", "pods nodes", READ),
    rule("argoproj.io", "applications", (*READ, "patch", "update")),
    rule("argoproj.io", "applicationsets appprojects", READ),
    rule("source.toolkit.fluxcd.io", "*", READ),
    rule("kustomize.toolkit.fluxcd.io", "*", READ),
)
"""What the on-call engineer may do: everything in namespaces, their labels included, little to the cluster itself."""

_GROUP = "rbac.authorization.k8s.io"
_NAME = "sre-oncall"

ROLE: Manifest = {
    "apiVersion": f"{_GROUP}/v1",
    "kind": "ClusterRole",
    "metadata": {"name": _NAME},
    "rules": list(RULES),
}
BINDING: Manifest = {
    "apiVersion": f"{_GROUP}/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": _NAME},
    "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": _NAME},
    "subjects": [{"apiGroup": _GROUP, "kind": "User", "name": ONCALL.name}],
}
