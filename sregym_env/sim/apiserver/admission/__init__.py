"""Admission control: what stands between a request that may be made and the object that is stored.

The plugins that a v1.32 API server enables by default, in its order (``AllOrderedPlugins``): a mutating phase,
in which plugins and then mutating webhooks change the object, and a validating one, in which plugins, policies,
webhooks and at last quotas may refuse it.
"""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission import (
    certificates,
    ingress_class,
    limit_ranger,
    namespace_lifecycle,
    node_restriction,
    pod_security,
    policies,
    priority,
    quota,
    runtime_class,
    service_account,
    storage,
    tolerations,
    webhooks,
)
from sregym_env.sim.apiserver.admission.attributes import Attributes, Operation, attributes_of
from sregym_env.sim.apiserver.admission.delays import held
from sregym_env.sim.apiserver.admission.delays import take as take_delay
from sregym_env.sim.apiserver.admission.warnings import take as take_warnings
from sregym_env.sim.world import SimWorld

Mutate = Callable[[SimWorld, Attributes, Manifest, Manifest | None], Manifest]
Validate = Callable[[SimWorld, Attributes, Manifest, Manifest | None], None]

_MUTATING: dict[str, tuple[Mutate, ...]] = {
    "pods": (
        limit_ranger.mutate,
        service_account.mutate,
        priority.mutate,
        tolerations.mutate,
        runtime_class.mutate,
    ),
    "nodes": (node_restriction.taint,),
    "ingresses.networking.k8s.io": (ingress_class.mutate,),
    "persistentvolumeclaims": (storage.mutate_claim,),
    "persistentvolumes": (storage.mutate_volume,),
}
"""Plugins by ``resource`` or ``resource/subresource``."""

_WORKLOADS = (
    "replicationcontrollers", "podtemplates", "replicasets.apps", "deployments.apps", "statefulsets.apps",
    "daemonsets.apps", "jobs.batch", "cronjobs.batch",
)  # fmt: skip
"""Resources whose objects hold a pod template."""

_VALIDATING: dict[str, tuple[Validate, ...]] = {
    "pods": (limit_ranger.validate_pod, pod_security.validate, runtime_class.validate),
    "pods/ephemeralcontainers": (pod_security.validate,),
    "namespaces": (pod_security.validate_namespace,),
    "persistentvolumeclaims": (limit_ranger.validate_claim, storage.validate_resize),
    "priorityclasses.scheduling.k8s.io": (priority.validate_class,),
    "certificatesigningrequests.certificates.k8s.io": (certificates.validate_subject,),
    "certificatesigningrequests.certificates.k8s.io/approval": (certificates.validate_approval,),
    "certificatesigningrequests.certificates.k8s.io/status": (certificates.validate_signing,),
    **dict.fromkeys(_WORKLOADS, (pod_security.validate_workload,)),
}

_POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"


def is_guarded(world: SimWorld) -> bool:
    """Whether any webhook or policy is configured."""
    holds = world.store.holds
    return holds(webhooks.VALIDATING) or holds(webhooks.MUTATING) or holds(_POLICIES)


def mutate(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> Manifest:
    """The object as the mutating phase leaves it. Raises Forbidden, NotFound (namespace), webhooks' refusals."""
    namespace_lifecycle.validate(world, request, new)
    node_restriction.restrict(world, request, new, old)
    new = _plugins(world, request, new, old)
    if world.store.holds(webhooks.MUTATING):
        # Given the plugins, because they run again after a webhook has changed the object.
        new = webhooks.mutate(world, request, new, old, lambda obj: _plugins(world, request, obj, old))
    return new


def _plugins(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> Manifest:
    for plugin in _MUTATING.get(request.path, ()):
        new = plugin(world, request, new, old)
    return new


def validate(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> None:
    """Raise Forbidden if a validating plugin, a policy, a webhook or a quota refuses the object."""
    for plugin in _VALIDATING.get(request.path, ()):
        plugin(world, request, new, old)
    _judge(world, request, new, old)
    if not request.subresource:
        quota.validate(world, request, new, old)


def _judge(world: SimWorld, request: Attributes, new: Manifest | None, old: Manifest | None) -> None:
    """What is configured to judge requests: policies, then webhooks."""
    if world.store.holds(_POLICIES):
        policies.validate(world, request, new, old)
    if world.store.holds(webhooks.VALIDATING):
        webhooks.validate(world, request, new, old)


def consult(
    world: SimWorld, request: Attributes, new: Manifest | None, old: Manifest | None
) -> Manifest | None:
    """Admission of a request that stores no object of its own: a deletion, a connection, an eviction.

    ``new`` is the request's own object (none for a deletion), ``old`` the object to be deleted; the request's
    object as mutating webhooks leave it. Raises what :func:`mutate` and :func:`validate` raise.
    """
    namespace_lifecycle.validate(world, request, new)
    node_restriction.restrict(world, request, new, old)
    guarded = is_guarded(world)
    if guarded:
        new = webhooks.consult(world, request, new, old)
    if new is not None:
        for plugin in _VALIDATING.get(request.path, ()):
            plugin(world, request, new, old)
    if guarded:
        _judge(world, request, new, old)
    return new


__all__ = [
    "Attributes", "Operation", "attributes_of", "consult", "held", "is_guarded", "mutate", "take_delay", "take_warnings",
    "validate",
]  # fmt: skip
