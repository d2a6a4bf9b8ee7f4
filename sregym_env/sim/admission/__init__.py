"""Admission control: the plugins that a v1.32 API server enables by default and that matter to workloads.

Mutating plugins return a changed object, validating plugins raise; both run in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from sregym_env.cluster.api import User
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.sim.admission import (
    limit_ranger,
    namespace_lifecycle,
    pod_security,
    priority,
    quota,
    service_account,
    storage,
    tolerations,
)
from sregym_env.sim.world import SimWorld

Operation = Literal["CREATE", "UPDATE"]
Mutate = Callable[[SimWorld, Operation, Manifest, Manifest | None], Manifest]
Validate = Callable[[SimWorld, Operation, Manifest, Manifest | None], None]

_MUTATING: dict[str, tuple[Mutate, ...]] = {
    "pods": (
        service_account.mutate,
        tolerations.mutate,
        priority.mutate,
        limit_ranger.mutate,
    ),
    "persistentvolumeclaims": (storage.mutate_claim,),
    "persistentvolumes": (storage.mutate_volume,),
}

_VALIDATING: dict[str, tuple[Validate, ...]] = {
    "pods": (limit_ranger.validate_pod, pod_security.validate),
    "persistentvolumeclaims": (limit_ranger.validate_claim,),
}


def mutate(
    world: SimWorld,
    operation: Operation,
    resource: Resource,
    new: Manifest,
    old: Manifest | None,
    _user: User,
) -> Manifest:
    """The object as the mutating plugins leave it. Raises Forbidden or NotFound (namespace)."""
    if operation == "CREATE":
        namespace_lifecycle.validate(world, resource, new)
    for plugin in _MUTATING.get(resource.key, ()):
        new = plugin(world, operation, new, old)
    return new


def validate(
    world: SimWorld,
    operation: Operation,
    resource: Resource,
    new: Manifest,
    old: Manifest | None,
    _user: User,
) -> None:
    """Raise Forbidden if a validating plugin or a quota refuses the object."""
    for plugin in _VALIDATING.get(resource.key, ()):
        plugin(world, operation, new, old)
    quota.validate(world, operation, resource, new, old)
