"""``kubectl describe``: an object and what surrounds it, told for people.

``describe(resource, obj, reader)`` picks the describer of the resource; what has none gets the generic one.
"""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.kube.describe import access, certificates, cluster, network, pods, storage, workloads
from sregym_env.kube.describe.generic import describe_generic
from sregym_env.kube.describe.text import Reader
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest

Describer = Callable[[Manifest, Reader], str]

DESCRIBERS: dict[str, Describer] = {
    "pods": pods.describe_pod,
    "deployments.apps": workloads.describe_deployment,
    "replicasets.apps": workloads.describe_replicaset,
    "replicationcontrollers": workloads.describe_replicaset,
    "statefulsets.apps": workloads.describe_statefulset,
    "daemonsets.apps": workloads.describe_daemonset,
    "jobs.batch": workloads.describe_job,
    "cronjobs.batch": workloads.describe_cronjob,
    "horizontalpodautoscalers.autoscaling": workloads.describe_hpa,
    "poddisruptionbudgets.policy": workloads.describe_pdb,
    "services": network.describe_service,
    "endpoints": network.describe_endpoints,
    "endpointslices.discovery.k8s.io": network.describe_endpoint_slice,
    "ingresses.networking.k8s.io": network.describe_ingress,
    "ingressclasses.networking.k8s.io": network.describe_ingress_class,
    "networkpolicies.networking.k8s.io": network.describe_network_policy,
    "nodes": cluster.describe_node,
    "namespaces": cluster.describe_namespace,
    "resourcequotas": cluster.describe_resource_quota,
    "limitranges": cluster.describe_limit_range,
    "priorityclasses.scheduling.k8s.io": cluster.describe_priority_class,
    "configmaps": storage.describe_config_map,
    "secrets": storage.describe_secret,
    "persistentvolumeclaims": storage.describe_claim,
    "persistentvolumes": storage.describe_volume,
    "storageclasses.storage.k8s.io": storage.describe_storage_class,
    "csinodes.storage.k8s.io": storage.describe_csi_node,
    "certificatesigningrequests.certificates.k8s.io": certificates.describe_request,
    "serviceaccounts": access.describe_service_account,
    "roles.rbac.authorization.k8s.io": access.describe_role,
    "clusterroles.rbac.authorization.k8s.io": access.describe_role,
    "rolebindings.rbac.authorization.k8s.io": access.describe_binding,
    "clusterrolebindings.rbac.authorization.k8s.io": access.describe_binding,
}


def describe(resource: Resource, obj: Manifest, reader: Reader) -> str:
    """The description of one object."""
    return DESCRIBERS.get(resource.key, describe_generic)(obj, reader)


__all__ = ["DESCRIBERS", "Reader", "describe"]
