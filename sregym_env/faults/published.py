"""The published benchmark's problems, by id: what each is here, or why it is not.

Ids that can be played are those of :func:`~sregym_env.faults.problems.curated`; the others stand here, with the reason
why there is no problem of that name.
"""

from __future__ import annotations

from collections.abc import Mapping

_TICKET = "its application, Train Ticket, is not here"
_FLEET = "its application, FleetCast on TiDB with its operator, is not here"

_FLAGS: Mapping[str, str] = {
    "astronomy_shop_ad_service_high_cpu": "beside threads that burn its limit ad answers in tenths of a second, which no user notices",
    "astronomy_shop_ad_service_image_slow_load": "the delay is added in browsers, and the load generator plays none",
    "astronomy_shop_ad_service_manual_gc": "one request in ten seconds waits for a collection, which the mean latency does not tell",
    "astronomy_shop_cart_service_failure": "orders go through with a cart that is not emptied, so no user notices",
    "kafka_queue_problems": "orders are answered before they are consumed, so no user notices",
    "loadgenerator_flood_homepage": "the load generator here asks for no flags; the flood would take a core of the front end at most",
}
"""Feature flags of the Astronomy Shop that hurt nobody here; `served_feature_flag` has those that do."""

_REASONS: Mapping[str, str] = {
    "cache_flush_capacity_degradation": "switched off in the benchmark itself, and its application, the Blueprint edition of Hotel Reservation, is not here",
    "auth_miss_mongodb": "mongod's TLS is not modelled",
    "social_net_concurrent_fault": "three at once, of which one, mongod's TLS, is not modelled; `hotel_res_concurrent_fault` is here",
    "finalizer_deadlock_controller_hotel_reservation": "no user of the application notices",
    "duplicate_pvc_mounts_astronomy_shop": "the first pod serves on, and what the shop's users ask takes some thousandths of a core, so none notices that the second one is missing",
    "kafka_poison_pill_hol_block": "orders are answered before they are consumed, so no user notices that a consumer stands still",
    "workload_imbalance": "what the shop's users ask takes some thousandths of a core of the front end, so none notices which of its pods has more to do",
    "duplicate_pvc_mounts_hotel_reservation": "the first pod serves on, so no user notices",
    "duplicate_pvc_mounts_social_network": "the first pod serves on, so no user notices",
    "liveness_probe_too_aggressive_hotel_reservation": "the fault is here, `liveness_probe_too_aggressive`, on what takes a second to start: nothing does that every request needs",
    "missing_configmap_social_network": "no database of Social Network mounts a ConfigMap",
    "persistent_volume_affinity_violation": "the fault is here, `volume_node_conflict`, on volumes that exist: Social Network has none",
    "hpa_missing_effective_cpu_request_hotel_reservation": "no user notices as long as the load stays",
    "top_of_rack_router_failure_hotel_reservation": "links between nodes are not modelled",
    "expired_tls_hotel_reservation": "no controller serves Ingresses here; a certificate that expires is `webhook_certificate_expired`",
    "ingress_misroute": "no controller serves Ingresses here",
    "dev_shm_exhaustion_hotel_reservation": "strikes a workload of its own, which serves nobody",
    "pod_cidr_exhaustion_hotel_reservation": "Calico's pools of addresses are not modelled",
    "calico_route_reflector_label_drift_hotel_reservation": "BGP is not modelled",
}

_HARDWARE = (
    "nic_packet_corruption", "storage_controller_read_failure", "storage_write_failure", "dram_module_failure", "cpu_clocksource_failure",
    "mmu_page_protection_failure", "network_interface_link_down", "dns_resolver_hardware_failure",
)  # fmt: skip
"""Hardware faults that the benchmark has switched off itself."""

_OPERATORS = (
    "operator_overload_replicas", "operator_non_existent_storage", "operator_invalid_affinity_toleration", "operator_security_context_fault",
    "operator_wrong_update_strategy_fault", "operator_wrong_operator_image",
)  # fmt: skip

ABSENT: Mapping[str, str] = {
    **_REASONS,
    **_FLAGS,
    **dict.fromkeys(
        ("trainticket_f17_nested_sql_select_clause_error", "trainticket_f22_sql_column_name_mismatch_error"),
        _TICKET,
    ),
    **dict.fromkeys(_OPERATORS, _FLEET),
    **dict.fromkeys(_HARDWARE, "switched off in the benchmark; of disks `latent_sector_error` is here"),
}
"""Published ids that cannot be played, and why."""
