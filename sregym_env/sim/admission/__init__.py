"""Admission control: what stands between a request that may be made and the object that is stored.

The plugins that a v1.32 API server enables by default, in its order (``AllOrderedPlugins``): a mutating phase,
in which plugins and then mutating webhooks change the object, and a validating one, in which plugins, policies,
webhooks and at last quotas may refuse it.
"""

from __future__ import annotations

from collections.abc import Callable

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
from sregym_env.sim.admission.attributes import Attributes, Operation, attributes_of
from sregym_env.sim.world import SimWorld

Mutate = Callable[[SimWorld, Attributes, Manifest, Manifest | None], Manifest]
Validate = Callable[[SimWorld, Attributes, Manifest, Manifest | None], None]

_MUTATING: dict[str, tuple[Mutate, ...]] = {
    "pods": (
        limit_ranger.mutate,
        service_account.mutate,
        priority.mutate,
        tolerations.mutate,
    ),
    "persistentvolumeclaims": (storage.mutate_claim,),
    "persistentvolumes": (storage.mutate_volume,),
}
"""Plugins by ``resource`` or ``resource/subresource``."""

_VALIDATING: dict[str, tuple[Validate, ...]] = {
    "pods": (limit_ranger.validate_pod, pod_security.validate),
    "persistentvolumeclaims": (limit_ranger.validate_claim,),
}

CONFIGURATIONS = (
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
)
"""Resources whose objects make the API server ask somebody, or evaluate something, at every request."""


def is_guarded(world: SimWorld) -> bool:
    """Whether any webhook or policy is configured."""
    store = world.store
    return any(store.holds(resource) for resource in CONFIGURATIONS)


def mutate(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> Manifest:
    """The object as the mutating phase leaves it. Raises Forbidden, NotFound (namespace), webhooks' refusals."""
    namespace_lifecycle.validate(world, request, new)
    return _plugins(world, request, new, old)


def _plugins(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> Manifest:
    for plugin in _MUTATING.get(request.path, ()):
        new = plugin(world, request, new, old)
    return new


def validate(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> None:
    """Raise Forbidden if a validating plugin, a policy, a webhook or a quota refuses the object."""
    for plugin in _VALIDATING.get(request.path, ()):
        plugin(world, request, new, old)
    if not request.subresource:
        quota.validate(world, request, new, old)


__all__ = ["Attributes", "Operation", "attributes_of", "is_guarded", "mutate", "validate"]
