"""What an engineer also saw: remarks that are true, and are no part of the cause, void nothing; the same words as a cause do."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.rewards.judge import SpecJudge

VOLUME = ("hotel-reservation", "volume_node_conflict", "geo-pvc")
RULES = ("social-network", "stale_backend_on_some_nodes", "url-shorten-mongodb")
EVICTION = ("astronomy-shop", "kubelet_eviction_threshold", "product-reviews")
PORT = ("astronomy-shop", "incorrect_port_assignment", "checkout")
NAMES = ("astronomy-shop", "stale_coredns_config", "astronomy-shop")
CERTIFICATE = ("hotel-reservation", "webhook_ca_mismatch", "reservation")
EXTRA = ("social-network", "service_wrong_pod_selection", "post-storage-mongodb")
COLLECTOR = ("hotel-reservation", "garbage_collector_overworked", "recommendation")
RETRIES = ("hotel-reservation", "load_spike_retry_storm", "frontend")
LOCAL = ("astronomy-shop", "internal_traffic_policy_local", "postgresql")

RIGHT = (
    (VOLUME, "{c} is pinned by its nodeSelector to another node than the one on which its local volume lies. That node also has an arm64 "
             "taint, which this pod tolerates."),
    (VOLUME, "{c} has a nodeSelector for {w}, its volume is local to another node. The taint of that machine is tolerated."),
    (RULES, "kube-proxy on one node is stuck, so clients there still get sent to dead pods of {c}. From other nodes it works."),
    (RULES, "kube-proxy there hasn't synced its rules for hours, so its clients get old pods of {c}. Elsewhere it works."),
    (EVICTION, "{c} keeps getting evicted: 'The node was low on resource: ephemeral-storage'. The kubelet of {r} has evictionHard "
               "nodefs.available: {w}. The pod's nodeSelector ties it to {r}, which is legit."),
    (PORT, "{field} in {c} names port {port}, and nobody listens on that. Placing orders fails with connection refused."),
    (NAMES, "The Corefile has a template that answers NXDOMAIN for everything below {w}; no service in the shop can resolve another."),
    (CERTIFICATE, "The webhook's serving cert is valid and issued by {right}; its caBundle contains {w}. Therefore the pods of {c} are refused."),
    (EXTRA, "Half of the connections to {c} fail. The Service selector asks for a label that redis pods carry as well by mistake. mongod itself is okay."),
    (COLLECTOR, "{c} is always in garbage collection: {field}={w} has been put in its env (default 100). Other Go services run without that variable."),
    (RETRIES, "{c} tries each failed RPC {w} more times after 50ms, so its retries keep reservation overloaded though the surge is over. "
              "We had looked into mongodb-reservation because of slow queries, those are a result."),
    (LOCAL, "The Service {c} has internalTrafficPolicy: Local, so kube-proxy on the other nodes has no local endpoint and drops."),
)  # fmt: skip

WRONG = (
    (VOLUME, "{c} is Pending because that node has an arm64 taint, which this pod does not tolerate."),
    (VOLUME, "The node has a taint that no pod tolerates, so {c} cannot be scheduled."),
    (RULES, "kube-proxy works. From other nodes it works too, so the pods of {c} are at fault."),
    (EVICTION, "{c} is evicted because its ephemeral-storage limit is too low."),
    (EVICTION, "The kubelet of {r} has evictionHard nodefs.available: {w}, which is legit; the disk is full."),
    (PORT, "The Service product-catalog has a wrong targetPort. Placing orders fails with connection refused."),
    (NAMES, "The Service product-catalog has been deleted; no service in the shop can resolve it."),
    (CERTIFICATE, "The webhook's serving cert has expired, therefore the pods of {c} are refused."),
    (EXTRA, "The pods of home-timeline-redis fail their readiness probe, as the redis pods do."),
    (COLLECTOR, "The environment variable GOGC of {c} is missing."),
    (RETRIES, "mongodb-reservation has slow queries, and the retries are a result."),
    (LOCAL, "kube-proxy on the other nodes is stuck and has stale rules for {c}."),
)  # fmt: skip


def _passes(pair: tuple[str, str, str], text: str) -> bool:
    name, fault, target = pair
    inventory = inventory_of(name)
    assert not isinstance(inventory, AppError)
    truth = declaration(fault).bind(inventory, target).spec
    told = text.format(
        c=truth.components[0],
        r=truth.resource_name,
        w=truth.wrong,
        right=truth.right,
        field=truth.field,
        port=truth.wrong.rpartition(":")[2],
    )
    return SpecJudge().grade(told, [truth], apps.app(name)).passed


@pytest.mark.parametrize(("pair", "text"), RIGHT)
def test_a_remark_beside_the_cause_voids_nothing(pair: tuple[str, str, str], text: str) -> None:
    assert _passes(pair, text)


@pytest.mark.parametrize(("pair", "text"), WRONG)
def test_the_same_words_as_a_cause_fail(pair: tuple[str, str, str], text: str) -> None:
    assert not _passes(pair, text)
