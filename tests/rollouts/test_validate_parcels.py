"""The contract of declared faults on an application that resembles no bundled one."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.faults.problems import Problem
from sregym_env.faults.registry import declarations
from sregym_env.rollouts.validate import validate_pair

APP = apps.app("parcel-tracking")


def sample() -> list[Problem]:
    """Pairs that meet every kind of workload and every kind of object a fault changes."""
    found = pairs(APP.name)

    def first(fault: str, target: str) -> Problem:
        return next(p for p in found if (p.faults[0].fault, p.faults[0].target) == (fault, target))

    return [
        first("incompatible_image", "ledger"),  # a StatefulSet whose pod never gets ready
        first("volume_node_conflict", "data-ledger-0"),
        first("latent_sector_error", "node-of-ledger"),  # a claim that comes from a template
        first("missing_configmap", "ledger-seed"),  # in the second namespace
        first("network_policy_block", "ledger"),
        first("readiness_probe_misconfiguration", "edge"),  # a DaemonSet that answers on 8080
        first("liveness_probe_misconfiguration", "gateway"),  # one with a probe of its own
        first("missing_service", "ledger"),  # headless
        first("service_target_port_mismatch", "gateway"),
        first("service_wrong_pod_selection", "gateway"),
        first("stale_host_alias", "tracker"),  # a name across namespaces
        first("resource_request_too_small", "tracker"),  # declares memory
        first("configmap_drift", "tracker"),
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("problem", sample(), ids=lambda problem: problem.id.partition("/")[2])
def test_a_pair_passes_every_line(problem: Problem) -> None:
    report = validate_pair(problem)
    assert report.passed, [f"{line.name}: {line.detail}" for line in report.lines if not line.passed]


def test_every_fault_that_needs_no_mongodb_has_a_pair() -> None:
    listed = {problem.faults[0].fault for problem in pairs(APP.name)}

    without = {declared.name for declared in declarations()} - listed
    assert without == {
        "autoscaler_counts_others",
        "capacity_decrease_retry_storm",
        "edge_request_filter_cpu_saturation",
        "ephemeral_port_range_too_narrow",
        "file_descriptor_limit_too_low",
        "garbage_collector_overworked",
        "kafka_producer_leak",
        "kubelet_eviction_threshold",
        "load_spike_retry_storm",
        "liveness_kills_under_load",
        "liveness_probe_too_aggressive",
        "memory_leak",
        "node_disk_filled_by_neighbour",
        "node_pids_taken_by_neighbour",
        "mtu_blackhole_by_payload_size",
        "old_build_still_behind_service",
        "pool_times_replicas_exceeds_server",
        "postgres_lock_contention",
        "pvc_claim_mismatch",
        "rate_limit_too_low",
        "retry_collapse",
        "revoke_auth_mongodb",
        "schema_contract_before_drain",
        "secret_rotation_stale_credentials",
        "served_feature_flag",
        "storage_user_unregistered",
        "valkey_auth_disruption",
        "valkey_memory_disruption",
    }
