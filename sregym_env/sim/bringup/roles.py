"""Roles and bindings that every cluster has, and the one of the on-call engineer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.cluster import oncall
from sregym_env.cluster.oncall import ALL, READ, WRITE, Rule, rule
from sregym_env.kube.types import Manifest

_GROUP = "rbac.authorization.k8s.io"
_API = f"{_GROUP}/v1"
_EDIT: tuple[Rule, ...] = (
    rule("", "pods pods/attach pods/exec pods/portforward pods/proxy services services/proxy", WRITE),
    rule("", "pods/eviction", ("create",)),
    rule(
        "",
        "configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale",
        WRITE,
    ),
    rule("", "secrets serviceaccounts", ALL),
    rule("apps", "daemonsets deployments deployments/scale replicasets replicasets/scale", WRITE),
    rule("apps", "statefulsets statefulsets/scale", WRITE),
    rule("autoscaling", "horizontalpodautoscalers", WRITE),
    rule("batch", "cronjobs jobs", WRITE),
    rule("networking.k8s.io", "ingresses networkpolicies", WRITE),
    rule("policy", "poddisruptionbudgets", WRITE),
)
_VIEW: tuple[Rule, ...] = (
    rule("", "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods", READ),
    rule(
        "",
        "replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
        READ,
    ),
    rule("", "bindings events limitranges namespaces/status pods/log pods/status", READ),
    rule("", "resourcequotas resourcequotas/status namespaces", READ),
    rule("discovery.k8s.io", "endpointslices", READ),
    rule("apps", "controllerrevisions daemonsets daemonsets/status deployments deployments/scale", READ),
    rule("apps", "deployments/status replicasets replicasets/scale replicasets/status", READ),
    rule("apps", "statefulsets statefulsets/scale statefulsets/status", READ),
    rule("autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", READ),
    rule("batch", "cronjobs cronjobs/status jobs jobs/status", READ),
    rule("networking.k8s.io", "ingresses ingresses/status networkpolicies", READ),
    rule("policy", "poddisruptionbudgets poddisruptionbudgets/status", READ),
    rule("metrics.k8s.io", "pods nodes", READ),
)
_ADMIN: tuple[Rule, ...] = (
    rule(_GROUP, "rolebindings roles", ALL),
    rule("authorization.k8s.io", "localsubjectaccessreviews", ("create",)),
)
_EVERYTHING: tuple[dict[str, Any], ...] = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
_REVIEWS = "selfsubjectaccessreviews selfsubjectrulesreviews"
_DISCOVERY_URLS = ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*"]
_PUBLIC_URLS = ["/healthz", "/livez", "/readyz", "/version", "/version/"]


def _url_rule(urls: list[str]) -> dict[str, Any]:
    return {"nonResourceURLs": urls, "verbs": ["get"]}


_SYSTEM_ROLES: tuple[tuple[str, tuple[dict[str, Any], ...]], ...] = (
    (
        "system:basic-user",
        (
            rule("authorization.k8s.io", _REVIEWS, ("create",)),
            rule("authentication.k8s.io", "selfsubjectreviews", ("create",)),
        ),
    ),
    ("system:discovery", (_url_rule([*_DISCOVERY_URLS, "/readyz", "/version", "/version/"]),)),
    ("system:public-info-viewer", (_url_rule(_PUBLIC_URLS),)),
    (
        "system:coredns",
        (
            rule("", "endpoints services pods namespaces", ("list", "watch")),
            rule("discovery.k8s.io", "endpointslices", ("list", "watch")),
        ),
    ),
    (
        "system:node-proxier",
        (
            rule("", "services endpoints nodes", ("list", "watch")),
            rule("discovery.k8s.io", "endpointslices", ("list", "watch")),
            rule("events.k8s.io", "events", ("create", "patch", "update")),
        ),
    ),
    (
        "system:kube-scheduler",
        (
            rule("", "nodes pods persistentvolumeclaims persistentvolumes services", READ),
            rule("", "pods/binding", ("create",)),
            rule("", "pods/status", ("patch", "update")),
            rule("events.k8s.io", "events", ("create", "patch", "update")),
        ),
    ),
    (
        "system:kube-controller-manager",
        (
            rule("", "events", ("create", "patch", "update")),
            rule("coordination.k8s.io", "leases", ("create", "get", "update")),
            rule("*", "*", READ),
        ),
    ),
    (
        "system:node",
        (
            rule("", "nodes pods", READ),
            rule("", "nodes/status pods/status", ("patch", "update")),
            rule("", "configmaps secrets persistentvolumeclaims persistentvolumes", READ),
        ),
    ),
    (
        "system:metrics-server",
        (
            rule("", "nodes/metrics", ("get",)),
            rule("", "pods nodes", READ),
        ),
    ),
    ("system:aggregated-metrics-reader", (rule("metrics.k8s.io", "pods nodes", READ),)),
    (
        "calico-node",
        (
            rule("", "endpoints services pods namespaces nodes serviceaccounts", READ),
            rule("networking.k8s.io", "networkpolicies", ("list", "watch")),
        ),
    ),
    ("calico-kube-controllers", (rule("", "nodes pods", READ),)),
    (
        "openebs-maya-operator",
        (
            rule("", "nodes namespaces services pods endpoints events configmaps secrets", ("*",)),
            rule("", "persistentvolumes persistentvolumeclaims", ("*",)),
            rule("storage.k8s.io", "storageclasses", ("*",)),
        ),
    ),
)


def manifests() -> list[Manifest]:
    """Every ClusterRole and ClusterRoleBinding of the base cluster."""
    edit = (*_EDIT, *_VIEW)
    roles: list[Manifest] = [
        _role("cluster-admin", _EVERYTHING),
        _aggregating("admin", (*edit, *_ADMIN)),
        _aggregating("edit", edit, part_of="admin"),
        _aggregating("view", _VIEW, part_of="edit"),
        *(_role(name, rules) for name, rules in _SYSTEM_ROLES),
        oncall.ROLE,
    ]
    authenticated, unauthenticated = _group("system:authenticated"), _group("system:unauthenticated")
    bindings = [
        _binding("cluster-admin", "cluster-admin", _group("system:masters")),
        _binding("system:basic-user", "system:basic-user", authenticated),
        _binding("system:discovery", "system:discovery", authenticated),
        _binding("system:public-info-viewer", "system:public-info-viewer", authenticated, unauthenticated),
        _binding("system:coredns", "system:coredns", _account("kube-system", "coredns")),
        _binding("system:kube-scheduler", "system:kube-scheduler", _user("system:kube-scheduler")),
        _binding(
            "system:kube-controller-manager",
            "system:kube-controller-manager",
            _user("system:kube-controller-manager"),
        ),
        _binding("kubeadm:node-proxier", "system:node-proxier", _account("kube-system", "kube-proxy")),
        _binding("system:node", "system:node", _group("system:nodes")),
        _binding("system:metrics-server", "system:metrics-server", _account("kube-system", "metrics-server")),
        _binding("calico-node", "calico-node", _account("kube-system", "calico-node")),
        _binding(
            "calico-kube-controllers",
            "calico-kube-controllers",
            _account("kube-system", "calico-kube-controllers"),
        ),
        _binding(
            "openebs-maya-operator", "openebs-maya-operator", _account("openebs", "openebs-maya-operator")
        ),
        oncall.BINDING,
    ]
    return [*roles, *bindings]


AGGREGATE_TO = "rbac.authorization.k8s.io/aggregate-to-"
"""Labels of the roles whose rules ``admin``, ``edit`` and ``view`` take in, with the name behind it."""


def parts() -> list[Manifest]:
    """The roles that ``admin``, ``edit`` and ``view`` are made of."""
    made = (("admin", _ADMIN), ("edit", _EDIT), ("view", _VIEW))
    return [_labelled(_role(f"system:aggregate-to-{name}", rules), name) for name, rules in made]


def _aggregating(name: str, rules: Iterable[dict[str, Any]], part_of: str = "") -> Manifest:
    """A role that the control plane keeps equal to the sum of those labelled for it."""
    role = _role(name, rules)
    if part_of:
        role = _labelled(role, part_of)
    selector = {"matchLabels": {AGGREGATE_TO + name: "true"}}
    return {**role, "aggregationRule": {"clusterRoleSelectors": [selector]}}


def _labelled(role: Manifest, part_of: str) -> Manifest:
    metadata = role["metadata"]
    labels = {**metadata["labels"], AGGREGATE_TO + part_of: "true"}
    return {**role, "metadata": {**metadata, "labels": labels}}


def _role(name: str, rules: Iterable[dict[str, Any]]) -> Manifest:
    metadata: dict[str, Any] = {
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    }
    return {"apiVersion": _API, "kind": "ClusterRole", "metadata": metadata, "rules": list(rules)}


def _binding(name: str, role: str, *subjects: dict[str, str]) -> Manifest:
    return {
        "apiVersion": _API,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": role},
        "subjects": list(subjects),
    }


def _group(name: str) -> dict[str, str]:
    return {"apiGroup": _GROUP, "kind": "Group", "name": name}


def _user(name: str) -> dict[str, str]:
    return {"apiGroup": _GROUP, "kind": "User", "name": name}


def _account(namespace: str, name: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}
