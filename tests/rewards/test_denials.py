"""Who describes what is well, or denies what is wrong, has no cause; every cause as it is declared is one."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rewards.labelled.specs import APP_NAME, specs
from sregym_env.runtime.chance import Chance


def graded(text: str, fault: str, target: str) -> Grade:
    return SpecJudge().grade(text, [specs()[fault, target]], apps.app(APP_NAME))


@pytest.mark.parametrize(
    ("fault", "target", "text"),
    [
        ("scale_to_zero", "geo", "Deployment geo wants 1 and has 1, so it wasn't scaled to 0."),
        ("scale_to_zero", "geo", "geo is scaled to one replica, and that single pod serves all."),
        ("incorrect_image", "geo", "app-image:latest was pulled by geo within two seconds and is what we ship."),
        ("cpu_limit_too_low", "rate", "rate's 10m CPU limit was lifted before the incident and its throttling counters are flat."),
        ("taint_no_toleration", "rate", "rate tolerates dedicated=batch, so the taint doesn't keep it off the workers."),
        ("service_target_port_mismatch", "mongodb-profile", "mongodb-profile's Service forwards to 27017 as it should, but nothing in the pod listens there; mongod was moved to 9999."),
        ("missing_secret", "rate", "For rate I see a missing Secret rate-credentials; failing that it is the service account."),
        ("missing_secret", "rate", 'rate-5f6b7 0/1 CreateContainerConfigError 0 3m\nError: secret "rate-credentials" not found'),
    ],
)  # fmt: skip
def test_what_denies_or_only_shows_does_not_pass(fault: str, target: str, text: str) -> None:
    assert not graded(text, fault, target).passed


@pytest.mark.parametrize(
    ("fault", "target", "text"),
    [
        ("scale_to_zero", "geo", "geo was scaled to 0."),
        ("sidecar_port_conflict", "memcached-reserve", "Someone injected a second container into memcached-reserve. Both try to bind 11211, and whoever comes second dies with EADDRINUSE."),
        ("network_policy_block", "geo", "Contributing factors we looked at and ruled out:\n1. DNS. The name resolves.\n2. geo being down. It is Ready.\n\nRoot cause: deny-all-geo, a NetworkPolicy without a rule, isolates geo."),
        ("scale_to_zero", "geo", "## What went well\nAlerts fired within a minute.\n## Root cause\nDeployment geo has 0 replicas.\n## Lessons learned\nReview rights."),
    ],
)  # fmt: skip
def test_what_tells_the_cause_passes(fault: str, target: str, text: str) -> None:
    assert graded(text, fault, target).passed


@pytest.mark.parametrize("draw", range(12))
def test_the_declared_cause_passes_whatever_role_is_given_instead(draw: int) -> None:
    inventory = inventory_of(APP_NAME)
    assert not isinstance(inventory, AppError)
    spec = declaration("revoke_auth_mongodb").bind(inventory, "mongodb-geo", {}, Chance(("draw", draw))).spec
    assert SpecJudge().grade(spec.cause, [spec], inventory.app).passed, spec.cause


@pytest.mark.parametrize(
    ("fault", "target", "text"),
    [
        ("liveness_probe_misconfiguration", "rate", "rate got a liveness probe on port 8080 with the path /healthz. It serves gRPC on 8084 and has no such page, so the kubelet restarts it every minute."),
        ("scale_to_zero", "geo", "Deployment geo was scaled to 0 replicas. It has no pod left, so nobody answers search."),
        ("scale_to_zero", "geo", "Somebody set the replicas of Deployment geo to 0. As long as it stays there search has nobody to ask."),
        ("sidecar_port_conflict", "memcached-reserve", "A second container of memcached-reserve wants port 11211, too. One of the two always dies with EADDRINUSE."),
        ("scale_to_zero", "geo", "Deployment geo was scaled to 0 replicas. No idea why anybody would do such a thing."),
    ],
)  # fmt: skip
def test_what_goes_on_about_it_takes_nothing_back(fault: str, target: str, text: str) -> None:
    assert graded(text, fault, target).passed


@pytest.mark.parametrize(
    "rest",
    [
        "That did not turn out to be so.", "It was never confirmed.", "That has not been verified by anybody.", "Scratch that.",
        "Forget it.", "Drop that theory.", "If that is true, users suffer.", "If it is 0, that would be it.", "It turned out wrong.",
        "No idea.", "No idea what it is, then.", "Assuming nobody touched it.", "As long as that is right.", "It must be one of the two.",
    ],
)  # fmt: skip
def test_what_is_taken_back_does_not_pass(rest: str) -> None:
    assert not graded(f"Deployment geo was scaled to 0 replicas. {rest}", "scale_to_zero", "geo").passed
