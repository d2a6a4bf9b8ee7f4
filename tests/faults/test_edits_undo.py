"""What a fault changes through the API is taken back exactly, on an API server with controllers and no nodes."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster import apply as made
from sregym_env.cluster.apply import CONTROLLER_ANNOTATIONS, SERVER_FIELDS
from sregym_env.cluster.edits import REMOVED, JsonPatch, ObjectRef
from sregym_env.cluster.inventory import Inventory
from sregym_env.faults.fault import Declaration
from sregym_env.faults.onset import strike
from sregym_env.faults.registry import declarations
from sregym_env.runtime.clock import EPOCH
from sregym_env.sim.controllers import (
    customresourcedefinition,
    daemonset,
    deployment,
    garbage,
    replicaset,
    serviceaccount,
    statefulset,
)
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world import Machinery

DESIRED = (
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "services",
    "configmaps",
    "persistentvolumeclaims",
    "resourcequotas",
    "networkpolicies.networking.k8s.io",
    "jobs.batch",
)


@cache
def without_nodes(app: str) -> EmbeddedWorld:
    """An application on an API server with few controllers and no nodes."""
    controllers = (
        customresourcedefinition.CONTROLLER,
        daemonset.CONTROLLER,
        deployment.CONTROLLER,
        replicaset.CONTROLLER,
        statefulset.CONTROLLER,
        garbage.CONTROLLER,
        serviceaccount.CONTROLLER,
    )
    world = EmbeddedWorld(1, start=EPOCH, machinery=Machinery.of(controllers, {}), images={})
    world.memory["traffic.due"] = True  # nobody here evaluates traffic
    world.app = apps.app(app)
    for manifest in world.app.manifests:
        world.cluster.create(manifest)
        world.advance(1.0)
    world.advance(10.0)
    return world


@pytest.fixture
def healthy() -> EmbeddedWorld:
    return without_nodes("hotel-reservation")


def desired_state(world: EmbeddedWorld) -> dict[tuple[str, str], Any]:
    """Everything but what server and controllers own."""
    found = {}
    for namespace, resource in product(world.app.namespaces, DESIRED):
        for obj in world.cluster.list(resource, namespace):
            metadata = {key: value for key, value in obj["metadata"].items() if key not in SERVER_FIELDS}
            annotations = metadata.pop("annotations", {})
            metadata["annotations"] = {
                k: v for k, v in annotations.items() if k not in CONTROLLER_ANNOTATIONS
            }
            body = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
            found[(resource, obj["metadata"]["name"])] = {**body, "metadata": metadata}
    return found


NEED_NODES = (
    "cordoned_nodes",
    "taint_no_toleration",
    "service_dns_resolution_failure",
    "internal_traffic_policy_local",
    "latent_sector_error",
    "revoke_auth_mongodb",
    "secret_rotation_stale_credentials",
    "silent_data_corruption",
    "empty_service_crashes_new_proxy",
    "stale_backend_on_some_nodes",
    "stale_coredns_config",
    "storage_user_unregistered",
    "autoscaler_counts_others",
    "connection_table_full",
    "liveness_kills_under_load",
    "cron_jobs_never_finish",
    "gitops_reverts",
    "host_port_conflict",
    "kubelet_does_not_run",
    "kubelet_eviction_threshold",
    "mtu_blackhole_by_payload_size",
    "node_clock_drift",
    "node_disk_filled_by_neighbour",
    "node_pids_taken_by_neighbour",
    "node_without_power",
    "one_slow_node_gray_failure",
    "edge_request_filter_cpu_saturation",
    "kafka_producer_leak",
    "pool_times_replicas_exceeds_server",
    "postgres_lock_contention",
    "priority_preempts_production",
    "recurring_memory_cut",
    "registry_credentials_expired",
    "schema_contract_before_drain",
    "served_feature_flag",
    "webhook_ca_mismatch",
    "webhook_certificate_expired",
    "webhook_shrinks_limits",
    "webhooks_time_out_together",
)
"""Faults that strike nodes, or need them or the cluster's own namespaces; or pods that start; that these are undone is a line of ``sregym validate``."""


ELSEWHERE = (
    "foreign_endpoint_slice",
    "missing_configmap",
    "pod_security_restricted",
    "webhook_without_backend",
)
"""Faults whose change may not show in the objects of the application's namespaces."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    "declared", [d for d in declarations() if d.name not in NEED_NODES], ids=lambda d: d.name
)
def test_inject_changes_and_heal_restores(declared: Declaration, every_inventory: Inventory) -> None:
    healthy = without_nodes(every_inventory.app.name)
    before = desired_state(healthy)
    for target in declared.targets.find(every_inventory):
        instance = declared.bind(every_inventory, target.name)
        world = healthy.fork()
        changes = strike(world, instance).changes
        world.advance(5.0)
        assert desired_state(world) != before or declared.name in ELSEWHERE
        instance.heal(world, changes)
        world.advance(60.0)
        assert desired_state(world) == before, target.name


def test_a_patch_of_a_missing_field_is_taken_back(healthy: EmbeddedWorld, inventory: Inventory) -> None:
    world = healthy.fork()
    before = desired_state(world)
    geo = ObjectRef("deployments.apps", "geo", world.app.namespace)
    undos = [
        made.apply(world, JsonPatch(geo, "/spec/template/spec/nodeSelector", {"a": "b"})),
        made.apply(world, JsonPatch(geo, "/spec/template/spec/containers/0/env", REMOVED)),
    ]
    (container,) = world.cluster.get("deployments.apps", "geo", world.app.namespace)["spec"]["template"][
        "spec"
    ]["containers"]
    assert "env" not in container
    for undo in reversed(undos):
        made.undo(world, undo)
    assert desired_state(world) == before
