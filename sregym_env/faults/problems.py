"""Problems: what an episode plays, the curated ones, and every (fault, target) pair there is.

The curated problems carry the ids under which the SREGym benchmark knows them. Pairs are computed from the
inventory of a healthy world, never listed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)

from sregym_env import apps
from sregym_env.cluster.composed import JOINED
from sregym_env.cluster.inventory import Inventory
from sregym_env.errors import AppError, ProblemError
from sregym_env.faults.registry import declaration, declarations
from sregym_env.runtime.ordered import in_order

NO_FAULT = "noop"
"""Stands in an id where a fault's name would: nothing is wrong, and to see that is the problem."""

HOTEL = "hotel-reservation"
SOCIAL = "social-network"
ASTRONOMY = "astronomy-shop"
TOGETHER = JOINED.join((SOCIAL, HOTEL, ASTRONOMY))


class FaultChoice(BaseModel):
    """One fault of a problem: what, on which target, with which parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: str
    target: str = ""
    """Name of the target; empty for the first one that the fault finds. Of several applications in one cluster it begins
    with the name of the one that is struck (:func:`struck`)."""
    parameters: dict[str, Any] = Field(default_factory=dict)

    @field_validator("parameters")
    @classmethod
    def _ordered(cls, value: Any) -> Any:
        return in_order(value)


class Problem(BaseModel):
    """Everything that is needed to play: an application, its faults, noise and load."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    app: str
    """The application; several in one cluster are joined by ``+``."""
    faults: tuple[FaultChoice, ...] = ()
    """Injected in this order; none for a healthy system."""
    noise: bool | dict[str, Any] = False
    """Whether transient disturbances come and go; a mapping changes settings of
    :class:`~sregym_env.noise.NoiseConfig`."""
    variation: bool = True
    """Whether the world is one of its own, with a past; else the application as it is published."""
    silent_alerts: bool = False
    """Whether alerts read labels that an earlier upgrade has renamed, so that they stay silent whatever happens
    (:mod:`~sregym_env.worlds.silence`): no part of the cause, and nobody has to repair it."""

    @field_validator("noise")
    @classmethod
    def _ordered(cls, value: Any) -> Any:
        return in_order(value)

    @model_serializer(mode="wrap")
    def _told(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what is off, so that other problems are written, and their worlds drawn, as ever."""
        told: dict[str, Any] = handler(self)
        if not self.silent_alerts:
            told.pop("silent_alerts", None)
        return told

    @property
    def noise_on(self) -> bool:
        """Whether there is noise."""
        return self.noise is not False


def struck(app: str, target: str) -> tuple[str, str]:
    """Which application a problem's target is of, and the target's own name in it.

    Of several in one cluster the target names its own first: ``astronomy-shop/frontend``. Raises ProblemError.
    """
    if JOINED not in app:
        return app, target
    part, _, name = target.partition("/")
    if part not in app.split(JOINED):
        raise ProblemError(
            f"target {target!r} must say which application it is of, as in {app.split(JOINED)[0]}/TARGET; there are: "
            f"{', '.join(app.split(JOINED))}"
        )
    return part, name


def pair(app: str, fault: str, target: str = "", parameters: Mapping[str, Any] | None = None) -> Problem:
    """The problem of one fault on one target, or of none (:data:`NO_FAULT`). Raises ProblemError for an unknown app or fault."""
    apps.app(app)
    if fault == NO_FAULT:
        if target or parameters:
            raise ProblemError(f"{NO_FAULT} is no fault: it has no target and no parameters")
        return Problem(id=f"{app}/{fault}", app=app)
    declaration(fault)
    choice = FaultChoice(fault=fault, target=target, parameters=dict(parameters or {}))
    return Problem(id=f"{app}/{fault}/{target}" if target else f"{app}/{fault}", app=app, faults=(choice,))


def pairs(
    inventory_of: Callable[[str], Inventory | AppError],
    app: str | None = None,
    fault: str | None = None,
    target: str | None = None,
) -> tuple[Problem, ...]:
    """Every (fault, target) pair of every application, or those that match.

    ``inventory_of`` knows what a healthy world of an application holds, on whatever backend it runs, or why that
    cannot be told.
    An application whose pairs cannot be listed is left out with a warning, unless it is the one that was asked
    for. Raises ProblemError where the app, the fault or the target does not exist, AppError for an app that was
    asked for and cannot be listed.
    """
    found = []
    targets: dict[str, None] = {}
    for name in apps.names() if app is None else (app,):
        for part in name.split(JOINED):
            inventory = inventory_of(part)
            if isinstance(inventory, AppError):
                if app is not None:
                    raise inventory
                warnings.warn(f"left out: {inventory}", RuntimeWarning, stacklevel=2)
                continue
            for each in declarations() if fault is None else (declaration(fault),):
                for hit in each.targets.find(inventory):
                    called = hit.name if part == name else f"{part}/{hit.name}"
                    targets[called] = None
                    if target is None or called == target:
                        found.append(pair(name, each.name, called))
    if target is not None and not found:
        near = get_close_matches(target, targets, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(targets) or 'none'}"
        raise ProblemError(f"no target {target!r}{f' of {fault}' if fault else ''}; {hint}")
    return tuple(found)


@cache
def curated() -> tuple[Problem, ...]:
    """The curated problems, in the order of the benchmark's own list."""
    return tuple(
        Problem(
            id=name,
            app=app,
            faults=tuple(FaultChoice(fault=fault, target=target) for fault, target in faults),
        )
        for name, app, faults in _CURATED
    )


def problem(id: str) -> Problem:
    """The curated problem with this id, or the pair ``app/fault/target``; ``app/noop`` is the problem without a fault.

    Raises ProblemError with near names if there is none.
    """
    known = {each.id: each for each in curated()}
    if id in known:
        return known[id]
    if id.count("/") in (1, 2) or JOINED in id.partition("/")[0]:
        app, fault, *target = id.split("/", 2)
        return pair(app, fault, "".join(target))
    near = get_close_matches(id, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`sregym list` shows them all"
    raise ProblemError(f"no problem {id!r}; {hint}")


def parsed(mapping: Mapping[str, Any]) -> Problem:
    """A problem from its JSON form. Raises ProblemError that names the fields that are wrong."""
    try:
        return Problem.model_validate(mapping)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ProblemError(f"problem: {wrong}") from error


_DATABASES = ("geo", "profile", "rate", "recommendation", "reservation", "user")


def _hotel(id: str, *faults: tuple[str, str]) -> tuple[str, str, Iterable[tuple[str, str]]]:
    return (id, HOTEL, faults)


def _social(id: str, fault: str, target: str = "user-service") -> tuple[str, str, Iterable[tuple[str, str]]]:
    return (id, SOCIAL, ((fault, target),))


def _astronomy(id: str, fault: str, target: str = "frontend") -> tuple[str, str, Iterable[tuple[str, str]]]:
    return (id, ASTRONOMY, ((fault, target),))


_GO = ("frontend", "geo", "profile", "rate", "recommendation", "reservation", "user", "search")

_CURATED = (
    _hotel("faulty_image_correlated", *(("faulty_image", name) for name in _GO)),
    _hotel(
        "update_incompatible_correlated", *(("incompatible_image", f"mongodb-{name}") for name in _DATABASES)
    ),
    _hotel("misconfig_app_hotel_res", ("faulty_image", "geo")),
    _hotel("revoke_auth_mongodb-1", ("revoke_auth_mongodb", "mongodb-geo")),
    _hotel("revoke_auth_mongodb-2", ("revoke_auth_mongodb", "mongodb-rate")),
    _hotel("storage_user_unregistered-1", ("storage_user_unregistered", "mongodb-geo")),
    _hotel("storage_user_unregistered-2", ("storage_user_unregistered", "mongodb-rate")),
    _hotel("capacity_decrease_rpc_retry_storm", ("capacity_decrease_retry_storm", "frontend")),
    _hotel("gc_capacity_degradation", ("garbage_collector_overworked", "frontend")),
    _hotel("load_spike_rpc_retry_storm", ("load_spike_retry_storm", "frontend")),
    _hotel("ephemeral_port_range_hotel_reservation", ("ephemeral_port_range_too_narrow", "frontend")),
    _hotel("file_descriptor_exhaustion", ("file_descriptor_limit_too_low", "frontend")),
    _hotel("node_conntrack_exhaustion_hotel_reservation", ("connection_table_full", "geo")),
    _hotel("search_rate_retry_collapse_hotel_reservation", ("retry_collapse", "rate")),
    _hotel("configmap_drift_hotel_reservation", ("configmap_drift", "geo")),
    _hotel("cfs_cpu_throttling_hotel_reservation", ("cpu_limit_too_low", "geo")),
    _hotel("feature_flag_latent_bug_hotel_reservation", ("feature_flag_latent_bug", "frontend")),
    _hotel(
        "liveness_probe_misconfiguration_hotel_reservation",
        ("liveness_probe_misconfiguration", "recommendation"),
    ),
    _hotel(
        "init_container_dependency_hang_hotel_reservation", ("init_container_dependency_hang", "frontend")
    ),
    _hotel("node_clock_drift_hotel_reservation", ("node_clock_drift", "frontend")),
    _hotel("priority_preemption_cascade_hotel_reservation", ("priority_preempts_production", "reservation")),
    _hotel("missing_configmap_hotel_reservation", ("missing_configmap", "mongo-geo-script")),
    _hotel("missing_service_hotel_reservation", ("missing_service", "mongodb-rate")),
    _hotel("namespace_memory_limit", ("namespace_memory_limit", "search")),
    _hotel("pvc_claim_mismatch", *(("pvc_claim_mismatch", f"{name}-pvc") for name in _DATABASES)),
    _hotel(
        "readiness_probe_misconfiguration_hotel_reservation", ("readiness_probe_misconfiguration", "frontend")
    ),
    _hotel("resource_request_too_large", ("resource_request_too_large", "mongodb-rate")),
    _hotel("resource_request_too_small", ("resource_request_too_small", "mongodb-rate")),
    _hotel("sidecar_port_conflict_hotel_reservation", ("sidecar_port_conflict", "frontend")),
    _hotel("wrong_bin_usage", ("wrong_binary", "profile")),
    _hotel("wrong_dns_policy_hotel_reservation", ("wrong_dns_policy", "profile")),
    _hotel("service_wrong_pod_selection_hotel_reservation", ("service_wrong_pod_selection", "frontend")),
    _hotel("wrong_service_selector_hotel_reservation", ("service_selector_mismatch", "frontend")),
    _hotel("nightly_rebalance_oom_hotel_reservation", ("recurring_memory_cut", "recommendation")),
    _hotel(
        "cronjob_sidecar_blocks_completion_hotel_reservation", ("cron_jobs_never_finish", "recommendation")
    ),
    _hotel(
        "rolling_update_misconfigured_hotel_reservation", ("rolling_update_misconfigured", "recommendation")
    ),
    _hotel("service_port_conflict_hotel_reservation", ("host_port_conflict", "recommendation")),
    _hotel("silent_data_corruption", ("silent_data_corruption", "node-of-mongodb-geo")),
    _hotel("latent_sector_error", ("latent_sector_error", "")),
    _hotel("admission_webhook_outage_hotel_reservation", ("webhook_without_backend", "recommendation")),
    _hotel("admission_webhook_tls_mismatch_hotel_reservation", ("webhook_ca_mismatch", "recommendation")),
    _hotel(
        "cumulative_admission_webhook_timeout_hotel_reservation",
        ("webhooks_time_out_together", "recommendation"),
    ),
    _hotel(
        "psa_restricted_blocks_recreation_hotel_reservation", ("pod_security_restricted", "recommendation")
    ),
    _hotel("network_policy_block", ("network_policy_block", "recommendation")),
    _hotel(
        "hotel_res_concurrent_fault",
        ("faulty_image", "geo"),
        ("revoke_auth_mongodb", "mongodb-geo"),
        ("storage_user_unregistered", "mongodb-rate"),
    ),
    _social("assign_to_non_existent_node", "non_existent_node"),
    _social("k8s_target_port-misconfig", "service_target_port_mismatch"),
    _social("liveness_probe_misconfiguration_social_network", "liveness_probe_misconfiguration"),
    _social(
        "liveness_probe_too_aggressive_social_network",
        "liveness_probe_too_aggressive",
        "user-timeline-mongodb",
    ),
    _social("init_container_dependency_hang_social_network", "init_container_dependency_hang"),
    _social("missing_service_social_network", "missing_service"),
    _social("mutating_webhook_resource_limits_social_network", "webhook_shrinks_limits", "nginx-thrift"),
    _social("pod_anti_affinity_deadlock", "pod_anti_affinity_deadlock"),
    _social("readiness_probe_misconfiguration_social_network", "readiness_probe_misconfiguration"),
    _social("rolling_update_misconfigured_social_network", "rolling_update_misconfigured"),
    _social("scale_pod_zero_social_net", "scale_to_zero"),
    _social("service_dns_resolution_failure_social_network", "service_dns_resolution_failure"),
    _social("stale_coredns_config_social_network", "stale_coredns_config", SOCIAL),
    _social("sidecar_port_conflict_social_network", "sidecar_port_conflict"),
    _social("service_port_conflict_social_network", "host_port_conflict", "media-service"),
    _social("taint_no_toleration_social_network", "taint_no_toleration"),
    _social("wrong_dns_policy_social_network", "wrong_dns_policy"),
    _social("wrong_service_selector_social_network", "service_selector_mismatch"),
    _astronomy(
        "internal_traffic_policy_local_astronomy_shop", "internal_traffic_policy_local", "recommendation"
    ),
    _astronomy("incorrect_image", "incorrect_image", "product-catalog"),
    _astronomy("valkey_auth_disruption", "valkey_auth_disruption", "valkey-cart"),
    _astronomy("valkey_memory_disruption", "valkey_memory_disruption", "valkey-cart"),
    _astronomy(
        "secret_rotation_stale_env_credentials_astronomy_shop",
        "secret_rotation_stale_credentials",
        "postgresql",
    ),
    _astronomy("incorrect_port_assignment", "incorrect_port_assignment", "checkout"),
    (
        "unschedulable_incorrect_port_assignment",
        ASTRONOMY,
        (("incorrect_port_assignment", "checkout"), ("non_existent_node", "checkout")),
    ),
    (
        "valkey_memory_disruption_missing_env_var_incorrect_port",
        ASTRONOMY,
        (
            ("valkey_memory_disruption", "valkey-cart"),
            ("missing_env_variable", "frontend"),
            ("incorrect_port_assignment", "checkout"),
        ),
    ),
    _astronomy("missing_env_variable_astronomy_shop", "missing_env_variable"),
    _astronomy("env_variable_shadowing_astronomy_shop", "env_variable_shadowing", "frontend-proxy"),
    _astronomy("liveness_probe_misconfiguration_astronomy_shop", "liveness_probe_misconfiguration"),
    _astronomy("liveness_probe_too_aggressive_astronomy_shop", "liveness_probe_too_aggressive", "ad"),
    _astronomy("init_container_dependency_hang_astronomy_shop", "init_container_dependency_hang"),
    _astronomy("missing_service_astronomy_shop", "missing_service", "ad"),
    _astronomy("postgres_lock_contention_product_catalog", "postgres_lock_contention", "postgresql"),
    _astronomy("edge_request_filter_cpu_saturation", "edge_request_filter_cpu_saturation", "frontend-proxy"),
    _astronomy("kafka_producer_leak", "kafka_producer_leak", "kafka"),
    _astronomy("readiness_probe_misconfiguration_astronomy_shop", "readiness_probe_misconfiguration"),
    _astronomy("service_dns_resolution_failure_astronomy_shop", "service_dns_resolution_failure"),
    _astronomy("stale_coredns_config_astronomy_shop", "stale_coredns_config", ASTRONOMY),
    _astronomy("sidecar_port_conflict_astronomy_shop", "sidecar_port_conflict"),
    _astronomy("service_port_conflict_astronomy_shop", "host_port_conflict", "ad"),
    _astronomy("wrong_dns_policy_astronomy_shop", "wrong_dns_policy"),
    _astronomy("kubelet_crash", "kubelet_does_not_run", "workers"),
    _astronomy("kubelet_eviction_threshold_misconfig", "kubelet_eviction_threshold", "currency"),
    _astronomy("rbac_misconfiguration", "rbac_misconfiguration"),
    _astronomy("wrong_service_selector_astronomy_shop", "service_selector_mismatch"),
    _astronomy("astronomy_shop_ad_service_failure", "served_feature_flag", "adFailure"),
    _astronomy("astronomy_shop_failed_readiness_probe", "served_feature_flag", "failedReadinessProbe"),
    _astronomy("astronomy_shop_payment_service_failure", "served_feature_flag", "paymentFailure"),
    _astronomy("astronomy_shop_payment_service_unreachable", "served_feature_flag", "paymentUnreachable"),
    _astronomy(
        "astronomy_shop_product_catalog_service_failure", "served_feature_flag", "productCatalogFailure"
    ),
    (
        "port_misconfig_revoke_auth_wrong_svc_selector",
        TOGETHER,
        (
            ("service_target_port_mismatch", f"{SOCIAL}/user-service"),
            ("revoke_auth_mongodb", f"{HOTEL}/mongodb-geo"),
            ("service_selector_mismatch", f"{ASTRONOMY}/frontend"),
        ),
    ),
    (
        "port_misconfig_misconfig_hotelres_missing_env_var",
        TOGETHER,
        (
            ("service_target_port_mismatch", f"{SOCIAL}/user-service"),
            ("faulty_image", f"{HOTEL}/geo"),
            ("missing_env_variable", f"{ASTRONOMY}/frontend"),
        ),
    ),
    ("noop_detection_hotel_reservation", HOTEL, ()),
    ("noop_detection_social_network", SOCIAL, ()),
    ("noop_detection_astronomy_shop", ASTRONOMY, ()),
)
"""(id, app, ((fault, target), ...)): by application, in the order in which the benchmark registers them; at the end those in
which nothing is wrong, which the benchmark had in earlier versions."""
