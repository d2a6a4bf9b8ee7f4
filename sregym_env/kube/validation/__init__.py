"""Validation of objects as the API server does it, with the texts of the real field errors.

:func:`validate_create` and :func:`validate_update` expect decoded and defaulted objects and return the
complaints; wrap them with :func:`sregym_env.kube.status.invalid`. The common kinds are checked field by
field; every other kind has its metadata and the required fields of its schema checked.
"""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.kube.registry import Resource
from sregym_env.kube.schema import missing_required
from sregym_env.kube.status import required
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation import (
    cluster,
    custom_resources,
    definitions,
    flowcontrol,
    pods,
    policies,
    services,
    storage,
    webhooks,
    workloads,
)
from sregym_env.kube.validation.metadata import (
    Errors,
    validate_metadata,
    validate_metadata_update,
)

_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_Rule = Callable[[Manifest, Errors], None]
_UpdateRule = Callable[[Manifest, Manifest, Errors], None]

_RULES: dict[str, _Rule] = {
    "pods": pods.validate_pod,
    "podtemplates": workloads.validate_pod_template,
    "events": cluster.validate_event,
    "replicationcontrollers": workloads.validate_replication_controller,
    "services": services.validate_service,
    "endpoints": services.validate_endpoints,
    "configmaps": services.validate_config_map,
    "secrets": services.validate_secret,
    "persistentvolumeclaims": storage.validate_claim,
    "persistentvolumes": storage.validate_volume,
    "resourcequotas": policies.validate_quota,
    "limitranges": policies.validate_limit_range,
    "nodes": policies.validate_node,
    "deployments.apps": workloads.validate_deployment,
    "replicasets.apps": workloads.validate_replica_set,
    "statefulsets.apps": workloads.validate_stateful_set,
    "daemonsets.apps": workloads.validate_daemon_set,
    "jobs.batch": workloads.validate_job,
    "cronjobs.batch": workloads.validate_cron_job,
    "horizontalpodautoscalers.autoscaling": policies.validate_autoscaler,
    "poddisruptionbudgets.policy": policies.validate_disruption_budget,
    "ingresses.networking.k8s.io": services.validate_ingress,
    "networkpolicies.networking.k8s.io": services.validate_network_policy,
    "endpointslices.discovery.k8s.io": services.validate_endpoint_slice,
    "storageclasses.storage.k8s.io": storage.validate_storage_class,
    "csidrivers.storage.k8s.io": storage.validate_driver,
    "csinodes.storage.k8s.io": storage.validate_csi_node,
    "csistoragecapacities.storage.k8s.io": storage.validate_capacity,
    "volumeattachments.storage.k8s.io": storage.validate_attachment,
    "ingressclasses.networking.k8s.io": cluster.validate_ingress_class,
    "apiservices.apiregistration.k8s.io": cluster.validate_api_service,
    "leases.coordination.k8s.io": cluster.validate_lease,
    "controllerrevisions.apps": cluster.validate_revision,
    "runtimeclasses.node.k8s.io": cluster.validate_runtime_class,
    "certificatesigningrequests.certificates.k8s.io": cluster.validate_certificate_request,
    "flowschemas.flowcontrol.apiserver.k8s.io": flowcontrol.validate_flow_schema,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": flowcontrol.validate_priority_level,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": webhooks.validate_mutating,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": webhooks.validate_validating,
    "validatingadmissionpolicies.admissionregistration.k8s.io": webhooks.validate_policy,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": webhooks.validate_policy_binding,
    "priorityclasses.scheduling.k8s.io": policies.validate_priority_class,
    "roles.rbac.authorization.k8s.io": policies.validate_role,
    "clusterroles.rbac.authorization.k8s.io": policies.validate_cluster_role,
    "rolebindings.rbac.authorization.k8s.io": policies.validate_role_binding,
    "clusterrolebindings.rbac.authorization.k8s.io": policies.validate_cluster_role_binding,
    _DEFINITIONS: definitions.validate_definition,
}

_UPDATE_RULES: dict[str, _UpdateRule] = {
    "pods": pods.validate_pod_update,
    "services": services.update_service,
    "configmaps": services.update_config_map,
    "secrets": services.update_secret,
    "persistentvolumeclaims": storage.update_claim,
    "persistentvolumes": storage.update_volume,
    "deployments.apps": workloads.update_deployment,
    "replicasets.apps": workloads.update_deployment,
    "statefulsets.apps": workloads.update_stateful_set,
    "daemonsets.apps": workloads.update_deployment,
    "jobs.batch": workloads.update_job,
    "storageclasses.storage.k8s.io": storage.update_storage_class,
    "csidrivers.storage.k8s.io": storage.update_driver,
    "csistoragecapacities.storage.k8s.io": storage.update_capacity,
    "volumeattachments.storage.k8s.io": storage.update_attachment,
    "ingressclasses.networking.k8s.io": cluster.update_ingress_class,
    "controllerrevisions.apps": cluster.update_revision,
    "runtimeclasses.node.k8s.io": cluster.update_runtime_class,
    "priorityclasses.scheduling.k8s.io": policies.update_priority_class,
    _DEFINITIONS: definitions.update_definition,
    "rolebindings.rbac.authorization.k8s.io": policies.update_binding,
    "clusterrolebindings.rbac.authorization.k8s.io": policies.update_binding,
}


def validate_create(resource: Resource, obj: Manifest) -> Errors:
    """Complaints about a new object; empty when it may be stored."""
    out = validate_metadata(resource, obj)
    _validate(resource, obj, out)
    return out


def validate_update(resource: Resource, new: Manifest, old: Manifest) -> Errors:
    """Complaints about a changed object; empty when it may be stored.

    Parts that are the very same objects in ``old`` and ``new`` were valid before and are not checked again.
    """
    out: Errors = []
    if new.get("metadata") is not old.get("metadata"):
        out += validate_metadata(resource, new, old)
        out += validate_metadata_update(new, old)
    if resource.custom or not _same_body(new, old):
        _validate(resource, new, out, old)
        update = _UPDATE_RULES.get(resource.key)
        if update is not None:
            update(new, old, out)
    return out


_NOT_BODY = frozenset(("apiVersion", "kind", "metadata", "status"))


def _same_body(new: Manifest, old: Manifest) -> bool:
    """Whether all but metadata and status is shared."""
    for key, value in new.items():
        if key not in _NOT_BODY and old.get(key) is not value:
            return False
    return all(key in new or key in _NOT_BODY for key in old)


def _validate(resource: Resource, obj: Manifest, out: Errors, old: Manifest | None = None) -> None:
    if resource.custom_type is not None:
        custom_resources.validate_object(resource.custom_type, obj, old, out)
        return
    rule = _RULES.get(resource.key)
    if rule is not None:
        rule(obj, out)
        if not out:
            out += [required(path) for path in missing_required(resource, obj) if _is_deep(path)]
    else:
        out += [required(path) for path in missing_required(resource, obj)]


def _is_deep(path: str) -> bool:
    """Whether a field lies inside a list or far down: what is missing there, no rule has been written for.

    Further up the API server is more patient than its schema: it takes a StatefulSet without ``serviceName``.
    """
    return "[" in path or path.count(".") >= 2


__all__ = ["validate_create", "validate_update"]
