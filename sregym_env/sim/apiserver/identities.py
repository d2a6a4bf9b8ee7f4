"""The identities under which the cluster's own components talk to the API server."""

from __future__ import annotations

from functools import lru_cache

from sregym_env.cluster.identity import User

SYSTEM = User("system:admin", ("system:masters", "system:authenticated"))
"""The privileged identity of the cluster's own components."""

_ACCOUNT = "system:serviceaccount:kube-system:"


@lru_cache(maxsize=64)
def controller(name: str) -> User:
    """A controller of the controller manager: the service account that kubeadm has it use."""
    groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
    return User(f"{_ACCOUNT}{name}", groups)


@lru_cache(maxsize=64)
def node(name: str) -> User:
    """The kubelet of a machine."""
    return User(f"system:node:{name}", ("system:nodes", "system:authenticated"))


_ACCOUNTS = {
    "replicaset": "replicaset-controller",
    "replicationcontroller": "replication-controller",
    "replication": "replication-controller",
    "deployment": "deployment-controller",
    "statefulset": "statefulset-controller",
    "daemonset": "daemon-set-controller",
    "job": "job-controller",
    "cronjob": "cronjob-controller",
    "endpointslice": "endpointslice-controller",
    "endpointslicemirroring": "endpointslicemirroring-controller",
    "endpoint": "endpoint-controller",
    "persistentvolume-claims": "persistent-volume-binder",
    "persistentvolume-volumes": "persistent-volume-binder",
    "pvc-protection": "pvc-protection-controller",
    "pv-protection": "pv-protection-controller",
    "volume-expand": "expand-controller",
    "namespace": "namespace-controller",
    "serviceaccount": "service-account-controller",
    "serviceaccount-token": "token-controller",
    "clusterrole-aggregation": "clusterrole-aggregation-controller",
    "garbage-collector": "generic-garbage-collector",
    "pod-garbage-collector": "pod-garbage-collector",
    "ttl-after-finished": "ttl-after-finished-controller",
    "resourcequota": "resourcequota-controller",
    "disruption": "disruption-controller",
    "horizontal-pod-autoscaler": "horizontal-pod-autoscaler",
    "nodelifecycle": "node-controller",
    "taint-eviction": "node-controller",
    "csrsigning": "certificate-controller",
}
"""Service accounts of the controller manager's loops, by the names of the loops here."""


def acting(loop: str) -> User:
    """Who talks to the API server while a control loop of that name is at work."""
    if loop.startswith("provisioner-"):
        return _PROVISIONER
    account = _ACCOUNTS.get(loop)
    if account is not None:
        return controller(account)
    return SCHEDULER if loop == "scheduler" else SYSTEM


_PROVISIONER = User(
    "system:serviceaccount:openebs:openebs-maya-operator",
    ("system:serviceaccounts", "system:serviceaccounts:openebs", "system:authenticated"),
)
SCHEDULER = User("system:kube-scheduler", ("system:authenticated",))


def is_component(user: User) -> bool:
    """Whether an identity is that of a component of the cluster rather than of a person or an application."""
    return user.name.startswith(("system:node:", _ACCOUNT)) or user in (SYSTEM, SCHEDULER, _PROVISIONER)
