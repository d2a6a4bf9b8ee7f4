"""Suites: sets of problems by name."""

from __future__ import annotations

from difflib import get_close_matches

from sregym_env import apps
from sregym_env.envs.curated import CURATED
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.errors import ProblemError
from sregym_env.faults import problems
from sregym_env.faults.problems import Problem

SMOKE: tuple[str, ...] = (
    "wrong_bin_usage",
    "missing_service_hotel_reservation",
    "network_policy_block",
    "resource_request_too_small",
    "revoke_auth_mongodb-1",
)
"""A problem each of five families, for a first look."""

LITE: tuple[str, ...] = (
    "misconfig_app_hotel_res",
    "revoke_auth_mongodb-1",
    "storage_user_unregistered-2",
    "configmap_drift_hotel_reservation",
    "cfs_cpu_throttling_hotel_reservation",
    "feature_flag_latent_bug_hotel_reservation",
    "liveness_probe_misconfiguration_hotel_reservation",
    "missing_configmap_hotel_reservation",
    "namespace_memory_limit",
    "pvc_claim_mismatch",
    "readiness_probe_misconfiguration_hotel_reservation",
    "resource_request_too_small",
    "sidecar_port_conflict_hotel_reservation",
    "wrong_bin_usage",
    "wrong_dns_policy_hotel_reservation",
    "service_wrong_pod_selection_hotel_reservation",
    "latent_sector_error",
    "network_policy_block",
    "hotel-reservation/service_dns_resolution_failure/mongodb-rate",
    "hotel-reservation/taint_no_toleration/search",
    "hotel-reservation/stale_host_alias/reservation",
)
"""Twenty-one problems of every family, at many places of the application: small enough to compare models on."""

NAMED = ("smoke", "lite", "curated", "all")
"""Suites besides those that bear an application's name."""


def names() -> tuple[str, ...]:
    """Every suite. A name of an application stands for its curated problems and all its pairs."""
    return (*NAMED, *apps.names())


def suite(name: str) -> tuple[Problem, ...]:
    """The problems of a suite.

    ``smoke``, ``lite``, ``curated`` (the benchmark's own list), ``all`` (every pair of every application), or an
    application's name, of which the first word will do (``hotel``). Raises ProblemError with the names there are.
    """
    if name in ("smoke", "lite", "curated"):
        listed = {"smoke": SMOKE, "lite": LITE, "curated": CURATED}[name]
        return tuple(problems.problem(each) for each in listed)
    if name == "all":
        return pairs()
    app = _application(name)
    return (*(each for each in problems.curated() if each.app == app), *pairs(app))


def _application(name: str) -> str:
    known = apps.names()
    fitting = [app for app in known if app == name] or [app for app in known if app.split("-")[0] == name]
    if len(fitting) == 1:
        return fitting[0]
    near = get_close_matches(name, names(), 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise ProblemError(f"no suite {name!r}; {hint}there are {', '.join(names())}")
