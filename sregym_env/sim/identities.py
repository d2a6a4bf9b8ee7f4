"""The identities under which the cluster's own components talk to the API server."""

from __future__ import annotations

from functools import lru_cache

from sregym_env.cluster.api import User

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


SCHEDULER = User("system:kube-scheduler", ("system:authenticated",))


def is_component(user: User) -> bool:
    """Whether an identity is that of a component of the cluster rather than of a person or an application."""
    return user.name.startswith(("system:node:", _ACCOUNT)) or user in (SYSTEM, SCHEDULER)
