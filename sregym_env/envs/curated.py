"""Ids of the curated problems, in the order in which they are listed.

Kept apart from their definitions so that ``import sregym_env`` registers environments without importing the
fault library; a test holds the two lists equal.
"""

from __future__ import annotations

CURATED: tuple[str, ...] = (
    "update_incompatible_correlated",
    "misconfig_app_hotel_res",
    "revoke_auth_mongodb-1",
    "revoke_auth_mongodb-2",
    "storage_user_unregistered-1",
    "storage_user_unregistered-2",
    "configmap_drift_hotel_reservation",
    "cfs_cpu_throttling_hotel_reservation",
    "feature_flag_latent_bug_hotel_reservation",
    "liveness_probe_misconfiguration_hotel_reservation",
    "init_container_dependency_hang_hotel_reservation",
    "missing_configmap_hotel_reservation",
    "missing_service_hotel_reservation",
    "namespace_memory_limit",
    "pvc_claim_mismatch",
    "readiness_probe_misconfiguration_hotel_reservation",
    "resource_request_too_large",
    "resource_request_too_small",
    "sidecar_port_conflict_hotel_reservation",
    "wrong_bin_usage",
    "wrong_dns_policy_hotel_reservation",
    "service_wrong_pod_selection_hotel_reservation",
    "wrong_service_selector_hotel_reservation",
    "latent_sector_error",
    "network_policy_block",
    "hotel_res_concurrent_fault",
    "assign_to_non_existent_node",
    "k8s_target_port-misconfig",
    "liveness_probe_misconfiguration_social_network",
    "init_container_dependency_hang_social_network",
    "missing_service_social_network",
    "readiness_probe_misconfiguration_social_network",
    "scale_pod_zero_social_net",
    "service_dns_resolution_failure_social_network",
    "sidecar_port_conflict_social_network",
    "taint_no_toleration_social_network",
    "wrong_dns_policy_social_network",
    "wrong_service_selector_social_network",
)
