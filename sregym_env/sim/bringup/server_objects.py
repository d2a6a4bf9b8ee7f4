"""What an API server makes for itself when it starts: the APIs it serves, its flow control, its leases.

Their UIDs follow from their names and the cluster's key: they draw nothing from the world's chance.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from sregym_env.kube.defaults import apply_defaults
from sregym_env.kube.durations import rfc3339, rfc3339_micro
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver.published import (
    API_SERVICES,
    FLOW_SCHEMAS,
    PRIORITY_LEVELS,
    dangling,
    local_api_service,
)
from sregym_env.sim.apiserver.strategy import has_generation
from sregym_env.sim.bringup import control_plane_roles, roles
from sregym_env.sim.machines.nodes import LEADERS
from sregym_env.sim.machines.renewals import LEASES
from sregym_env.sim.network import pki
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.plan import ClusterPlan, Machine

CLUSTER_ROLES = "clusterroles.rbac.authorization.k8s.io"


def publish(world: SimWorld) -> None:
    """Store all of it, at the world's present."""
    for group, version, minimum, priority in _SERVED:
        _put(world, API_SERVICES, local_api_service(world, group, version, minimum, priority, "onstart"))
    _put(world, API_SERVICES, _metrics_service())
    for name, limited in _LEVELS.items():
        _put(world, PRIORITY_LEVELS, _level(name, limited))
    for name, level, precedence, method, rule in _SCHEMAS:
        _put(world, FLOW_SCHEMAS, _schema(world, name, level, precedence, method, rule))
    for manifest in _leases(world):
        _put(world, LEASES, manifest)
    for manifest in roles.parts():
        _put(world, CLUSTER_ROLES, manifest)
    for resource, manifest in control_plane_roles.manifests():
        _put(world, resource, manifest)
    for manifest in _configuration(world):
        _put(world, "configmaps", manifest)


def _put(world: SimWorld, resource: str, manifest: Manifest) -> None:
    kind = apiserver.resource_of(world, resource)
    namespace, name = manifest["metadata"].get("namespace"), manifest["metadata"]["name"]
    name = f"{namespace}/{name}" if namespace else name
    metadata = {
        **manifest["metadata"],
        "uid": world.plan.identity("uid", resource, name),
        "creationTimestamp": rfc3339(world.now()),
    }
    if has_generation(kind):
        metadata["generation"] = 1
    whole = {"apiVersion": kind.api_version, "kind": kind.kind, **manifest, "metadata": metadata}
    world.store.put(resource, apply_defaults(kind, whole))


# --- the APIs -----------------------------------------------------------------------------------------------

_SERVED = (
    ("", "v1", 18000, 1),
    ("apps", "v1", 17800, 15),
    ("events.k8s.io", "v1", 17750, 15),
    ("authentication.k8s.io", "v1", 17700, 15),
    ("authorization.k8s.io", "v1", 17600, 15),
    ("autoscaling", "v1", 17500, 15),
    ("autoscaling", "v2", 17500, 30),
    ("batch", "v1", 17400, 15),
    ("certificates.k8s.io", "v1", 17300, 15),
    ("networking.k8s.io", "v1", 17200, 15),
    ("policy", "v1", 17100, 15),
    ("rbac.authorization.k8s.io", "v1", 17000, 15),
    ("storage.k8s.io", "v1", 16800, 15),
    ("apiextensions.k8s.io", "v1", 16700, 15),
    ("admissionregistration.k8s.io", "v1", 16700, 15),
    ("scheduling.k8s.io", "v1", 16600, 15),
    ("coordination.k8s.io", "v1", 16500, 15),
    ("node.k8s.io", "v1", 16300, 15),
    ("discovery.k8s.io", "v1", 16200, 15),
    ("flowcontrol.apiserver.k8s.io", "v1", 16100, 21),
)
"""(group, version, groupPriorityMinimum, versionPriority) of the aggregation layer of v1.32."""


def _metrics_service() -> Manifest:
    spec = {
        "group": "metrics.k8s.io",
        "groupPriorityMinimum": 100,
        "insecureSkipTLSVerify": True,
        "service": {"name": "metrics-server", "namespace": "kube-system"},
        "version": "v1beta1",
        "versionPriority": 100,
    }
    metadata = {"name": "v1beta1.metrics.k8s.io", "labels": {"k8s-app": "metrics-server"}}
    return {"metadata": metadata, "spec": spec, "status": {}}


# --- API Priority and Fairness --------------------------------------------------------------------------------

_LEVELS: dict[str, tuple[int, int, tuple[int, int, int] | None] | None] = {
    "catch-all": (5, 0, None),
    "exempt": None,
    "global-default": (20, 50, (128, 6, 50)),
    "leader-election": (10, 0, (16, 4, 50)),
    "node-high": (40, 25, (64, 6, 50)),
    "system": (30, 33, (64, 6, 50)),
    "workload-high": (40, 50, (128, 6, 50)),
    "workload-low": (100, 90, (128, 6, 50)),
}
"""(shares, lendable percent, (queues, hand size, queue length)); None for the exempt level."""

_AUTOUPDATE = {"apf.kubernetes.io/autoupdate-spec": "true"}


def _level(name: str, limited: tuple[int, int, tuple[int, int, int] | None] | None) -> Manifest:
    spec: Manifest
    if limited is None:
        spec = {"exempt": {"lendablePercent": 0, "nominalConcurrencyShares": 0}, "type": "Exempt"}
    else:
        shares, lendable, queuing = limited
        response: Manifest = {"type": "Reject"}
        if queuing is not None:
            queues, hand, length = queuing
            response = {
                "queuing": {"handSize": hand, "queueLengthLimit": length, "queues": queues},
                "type": "Queue",
            }
        spec = {
            "limited": {
                "lendablePercent": lendable,
                "limitResponse": response,
                "nominalConcurrencyShares": shares,
            },
            "type": "Limited",
        }
    return {"metadata": {"name": name, "annotations": _AUTOUPDATE}, "spec": spec, "status": {}}


def _users(*names: str) -> list[Manifest]:
    return [{"kind": "User", "user": {"name": name}} for name in names]


def _groups(*names: str) -> list[Manifest]:
    return [{"group": {"name": name}, "kind": "Group"} for name in names]


def _accounts(*names: str) -> list[Manifest]:
    return [
        {"kind": "ServiceAccount", "serviceAccount": {"name": name, "namespace": "kube-system"}}
        for name in names
    ]


def _resources(
    verbs: Sequence[str], group: str, *resources: str, cluster: bool = False, namespaces: bool = True
) -> Manifest:
    rule: Manifest = {"apiGroups": [group]}
    if cluster:
        rule["clusterScope"] = True
    if namespaces:
        rule["namespaces"] = ["*"]
    return {**rule, "resources": list(resources), "verbs": list(verbs)}


_ANY_RESOURCE = _resources("*", "*", "*", cluster=True)
_ANY_URL: Manifest = {"nonResourceURLs": ["*"], "verbs": ["*"]}
_LEASE_WORK = _resources(("get", "create", "update"), "coordination.k8s.io", "leases")
_EVERYONE = _groups("system:unauthenticated", "system:authenticated")


def _rule(subjects: list[Manifest], resources: Sequence[Manifest], urls: Sequence[Manifest] = ()) -> Manifest:
    rule: Manifest = {"subjects": subjects}
    if resources:
        rule["resourceRules"] = list(resources)
    if urls:
        rule["nonResourceRules"] = list(urls)
    return rule


def _whole(subjects: list[Manifest]) -> Manifest:
    return _rule(subjects, (_ANY_RESOURCE,), (_ANY_URL,))


_PROBES: Manifest = {"nonResourceURLs": ["/healthz", "/readyz", "/livez"], "verbs": ["get"]}
_MANAGERS = _users("system:kube-controller-manager", "system:kube-scheduler")
_ENDPOINTS = _rule(
    [
        *_users("system:kube-controller-manager"),
        *_accounts("endpoint-controller", "endpointslicemirroring-controller"),
    ],
    (_resources(("get", "create", "update"), "", "endpoints"),),
)
_NODE_HIGH = _rule(
    _groups("system:nodes"),
    (
        _resources("*", "", "nodes", "nodes/status", cluster=True, namespaces=False),
        _resources("*", "coordination.k8s.io", "leases"),
    ),
)
_SCHEMAS: tuple[tuple[str, str, int, str, Manifest], ...] = (
    ("catch-all", "catch-all", 10000, "ByUser", _whole(_EVERYONE)),
    ("endpoint-controller", "workload-high", 150, "ByUser", _ENDPOINTS),
    ("exempt", "exempt", 1, "", _whole(_groups("system:masters"))),
    ("global-default", "global-default", 9900, "ByUser", _whole(_EVERYONE)),
    (
        "kube-controller-manager",
        "workload-high",
        800,
        "ByNamespace",
        _whole(_users("system:kube-controller-manager")),
    ),
    ("kube-scheduler", "workload-high", 800, "ByNamespace", _whole(_users("system:kube-scheduler"))),
    ("kube-system-service-accounts", "workload-high", 900, "ByNamespace", _whole(_accounts("*"))),
    ("probes", "exempt", 2, "", _rule(_EVERYONE, (), (_PROBES,))),
    ("service-accounts", "workload-low", 9000, "ByUser", _whole(_groups("system:serviceaccounts"))),
    (
        "system-leader-election",
        "leader-election",
        100,
        "ByUser",
        _rule([*_MANAGERS, *_accounts("*")], (_LEASE_WORK,)),
    ),
    ("system-node-high", "node-high", 400, "ByUser", _NODE_HIGH),
    ("system-nodes", "system", 500, "ByUser", _whole(_groups("system:nodes"))),
    ("workload-leader-election", "leader-election", 200, "ByUser", _rule(_accounts("*"), (_LEASE_WORK,))),
)
"""(name, priority level, precedence, distinguisher, rule): the mandatory and the suggested ones."""


def _schema(world: SimWorld, name: str, level: str, precedence: int, method: str, rule: Manifest) -> Manifest:
    spec: Manifest = {
        "matchingPrecedence": precedence,
        "priorityLevelConfiguration": {"name": level},
        "rules": [rule],
    }
    if method:
        spec["distinguisherMethod"] = {"type": method}
    return {
        "metadata": {"name": name, "annotations": _AUTOUPDATE},
        "spec": spec,
        "status": {"conditions": [dangling(level, True, rfc3339(world.now()))]},
    }


# --- configuration -------------------------------------------------------------------------------------------


def _configuration(world: SimWorld) -> list[Manifest]:
    """What kubeadm and the API server publish for clients and for servers of aggregated APIs."""
    root = pki.authority(world.plan)
    authority = base64.b64encode(root.encode()).decode()
    server = f"https://{world.plan.first.address}:6443"
    kubeconfig = (
        "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: "
        f'{authority}\n    server: {server}\n  name: ""\ncontexts: null\ncurrent-context: ""\n'
        "kind: Config\npreferences: {}\nusers: null\n"
    )
    authentication = {
        "client-ca-file": root,
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-client-ca-file": root,
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-username-headers": '["X-Remote-User"]',
    }
    since = {"since": rfc3339(world.now())[:10]}
    return [
        _config_map("kube-public", "cluster-info", {"kubeconfig": kubeconfig}),
        _config_map("kube-system", "extension-apiserver-authentication", authentication),
        _config_map("kube-system", "kube-apiserver-legacy-service-account-token-tracking", since),
        _config_map(
            "kube-system", "kubelet-config", {"kubelet": _KUBELET.format(dns=world.plan.dns_address)}
        ),
    ]


_KUBELET = """\
apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- {dns}
clusterDomain: cluster.local
healthzBindAddress: 127.0.0.1
healthzPort: 10248
kind: KubeletConfiguration
rotateCertificates: true
staticPodPath: /etc/kubernetes/manifests
"""


def _config_map(namespace: str, name: str, data: dict[str, str]) -> Manifest:
    return {"metadata": {"name": name, "namespace": namespace}, "data": data}


# --- leases ------------------------------------------------------------------------------------------------------


def _leases(world: SimWorld) -> list[Manifest]:
    now = rfc3339_micro(world.now())
    plan = world.plan
    found = []
    for name in () if plan.key else LEADERS:
        holder = f"{plan.first.name}_{plan.identity('holder', name)}"
        spec = {
            "acquireTime": now,
            "holderIdentity": holder,
            "leaseDurationSeconds": 15,
            "leaseTransitions": 0,
            "renewTime": now,
        }
        found.append({"metadata": {"name": name, "namespace": "kube-system"}, "spec": spec})
    for machine in plan.control_planes:
        found.append(_server_lease(plan, machine, now))
    return found


def _server_lease(plan: ClusterPlan, machine: Machine, now: str) -> Manifest:
    """The Lease by which one API server says that it lives."""
    server = f"apiserver-{plan.bits('apiserver', machine.name):016x}"
    labels = {
        "apiserver.kubernetes.io/identity": "kube-apiserver",
        "kubernetes.io/hostname": machine.name,
    }
    spec = {
        "holderIdentity": f"{server}_{plan.identity('holder', server)}",
        "leaseDurationSeconds": 3600,
        "renewTime": now,
    }
    metadata: dict[str, Any] = {"name": server, "namespace": "kube-system", "labels": labels}
    return {"metadata": metadata, "spec": spec}
