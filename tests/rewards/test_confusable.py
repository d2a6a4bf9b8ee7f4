"""Mechanisms that are easily taken for each other, told apart both ways; and what makes an account none, whatever it tells."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.rewards.details import _among
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rewards.labelled.specs import specs
from sregym_env.rewards.reading.clauses import others_say, undoes

APP = apps.app("hotel-reservation")

PAIRS = [
    (
        ("service_target_port_mismatch", "consul", "Service consul forwards to port 9999 of its pods, where nothing listens."),
        ("service_port_mismatch", "consul", "Service consul is offered on 8510 now, and everybody dials 8500."),
    ),
    (
        ("readiness_probe_misconfiguration", "frontend", "frontend's readiness probe asks /healthz on 8080, so it is never Ready."),
        ("liveness_probe_misconfiguration", "frontend", "frontend's liveness probe asks /healthz on 8080, so it is killed again and again."),
    ),
    (
        ("resource_request_too_large", "geo", "geo requests 32200Mi of memory, more than any node has; it stays Pending."),
        ("resource_request_too_small", "geo", "geo has a memory limit of 10Mi, far too little, and is OOMKilled."),
    ),
    (
        ("service_selector_mismatch", "consul", "The selector of Service consul wants current_service_name=consul, which no pod carries."),
        ("missing_service", "consul", "The Service consul was deleted; its name does not resolve."),
    ),
    (
        ("cordoned_nodes", "rate", "All workers are cordoned, so rate cannot be scheduled."),
        ("taint_no_toleration", "rate", "All workers carry the taint dedicated=batch:NoSchedule, which rate does not tolerate."),
    ),
    (
        ("wrong_dns_policy", "user", "user has dnsPolicy None with the nameserver 8.8.8.8, which does not know the cluster's names."),
        ("stale_host_alias", "user", "user has a hostAliases entry that sends mongodb-user to the dead address 10.96.255.250."),
    ),
    (
        ("incorrect_image", "rate", "rate's image app-image:latest cannot be pulled, it is in no registry."),
        ("faulty_image", "rate", "rate runs the build 1.6.0, which is broken and crashes at once."),
    ),
    (
        ("missing_secret", "geo", "geo takes API_TOKEN from the Secret geo-credentials, which does not exist."),
        ("missing_service_account", "geo", "geo is to run under the service account geo-runner, which does not exist."),
    ),
    (
        ("webhook_certificate_expired", "geo", "The certificate of the webhook pod-policy has expired, so geo's pods cannot be created."),
        ("webhook_without_backend", "geo", "The webhook image-policy has no Service behind it and fails closed, so geo's pods cannot be created."),
    ),
    (
        ("revoke_auth_mongodb", "mongodb-geo", "The user admin of mongodb-geo lost the role readWrite on geo-db."),
        ("storage_user_unregistered", "mongodb-geo", "The user admin was dropped from mongodb-geo, so geo cannot log in."),
    ),
    (
        ("pvc_claim_mismatch", "geo-pvc", "mongodb-geo refers to the claim geo-pvc-broken, which does not exist."),
        ("volume_node_conflict", "geo-pvc", "mongodb-geo is pinned by its nodeSelector to another node than the one its volume is on."),
    ),
    (
        ("recurring_memory_cut", "geo", "The CronJob vpa-updater sets geo's memory limit to 10Mi again and again."),
        ("webhook_shrinks_limits", "geo", "The mutating webhook pod-profiles rewrites the memory limit of geo's pods to 10Mi."),
    ),
]  # fmt: skip
"""(fault, target, account) for two faults of one component."""


def passes(fault: str, target: str, text: str) -> bool:
    return SpecJudge().grade(text, [specs()[fault, target]], APP).passed


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{a[0]}-{b[0]}" for a, b in PAIRS])
def test_either_is_told_from_the_other(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    for own, rival in ((one, other), (other, one)):
        assert passes(*own)
        assert not passes(*rival[:2], own[2])


@pytest.mark.parametrize(
    ("fault", "target", "text"),
    [
        ("service_port_mismatch", "consul", "The Service consul still offers 8500, but passes traffic on to port 8510, where consul isn't listening."),
        ("service_target_port_mismatch", "consul", "The Service consul is offered on port 9999 instead of 8500."),
        ("faulty_image", "search", "search's image, tag 1.6.0, was never pushed: ImagePullBackOff."),
        ("namespace_memory_limit", "geo", "geo has a memory limit of 1Gi, reaches it and is OOMKilled."),
        ("configmap_drift", "geo", "geo-config still defines GeoMongoAddress, but its value is misspelt."),
        ("old_build_still_behind_service", "geo", "Deployment geo was rolled back to the outdated build 0.3.0 as a whole."),
        ("webhook_without_backend", "geo", "The webhook image-policy is up and rejects geo's image as untrusted."),
    ],
)  # fmt: skip
def test_a_value_of_its_own_does_not_make_it_another_mechanism(fault: str, target: str, text: str) -> None:
    assert not passes(fault, target, text)


CAUSE = ("missing_service", "mongodb-rate", "the Service mongodb-rate was deleted")


@pytest.mark.parametrize(
    "frame",
    [
        "Somebody in the channel is convinced that {}. I am not.",
        "It cannot be that {}.",
        "There is a chance that {}.",
        "I am tempted to say that {}.",
        "It was thus: {}. The data does not support it.",
        "It was thus: {}. Then again, it may be something else entirely.",
        "The dashboard says that {}. The dashboard is wrong.",
        "It was thus: {}. Edit: disregard the above, I was in the wrong cluster.",
        "To be checked: {}.",
    ],
)
def test_what_others_say_and_what_is_taken_back_asserts_nothing(frame: str) -> None:
    assert not passes(*CAUSE[:2], frame.format(CAUSE[2]))


@pytest.mark.parametrize(
    "frame",
    [
        "No doubt about it: {}.",
        "I found that {}.",
        "It was thus: {}. I double-checked with an older revision, where this was not the case.",
        "There were two candidates. geo was ruled out since it answers. The second it is: {}.",
        "I can rule out geo: requests to it succeed. So I looked at the object itself: {}.",
    ],
)
def test_who_has_found_it_is_believed(frame: str) -> None:
    assert passes(*CAUSE[:2], frame.format(CAUSE[2]))


@pytest.mark.parametrize(
    "beside",
    [
        "memcached-profile is no better.",
        "A typo in memcached-profile made things worse.",
        "memcached-profile shares the blame.",
        "The identical change was made to memcached-profile.",
        "memcached-profile got the same bad change.",
    ],
)
def test_a_stranger_of_whom_something_bad_is_said_is_blamed(beside: str) -> None:
    assert not passes(*CAUSE[:2], f"It was thus: {CAUSE[2]}. {beside}")
    assert passes(*CAUSE[:2], f"It was thus: {CAUSE[2]}. memcached-profile is healthy.")


def test_what_users_do_in_vain_is_no_stranger_who_bears_the_same_name() -> None:
    fault, target = "service_target_port_mismatch", "mongodb-profile"
    cause = "The targetPort of Service mongodb-profile is wrong: its pods listen on another port."
    assert passes(fault, target, f"{cause} Search and booking fail.")
    assert not passes(fault, target, f"{cause} geo and booking fail.")
    assert not passes(fault, target, f"{cause} The targetPort of Service search is wrong, too.")


def test_only_what_asserts_may_stand_before_that() -> None:
    assert others_say("we feared that it was gone")
    assert not others_say("i found that it was gone")
    assert not others_say("nobody ever made that secret")


def test_what_undoes_points_at_nothing_else() -> None:
    assert undoes("but i have seen nothing that would prove it.")
    assert not undoes("it does not happen on other nodes.")
    assert not undoes("no container until it exists.")


def test_an_image_may_be_named_without_its_tag() -> None:
    known = {"reg.example.io/shop/produt-reviews:main-1d586f7"}
    assert _among("reg.example.io/shop/produt-reviews", known)
    assert not _among("reg.example.io/shop/product-reviews", known)
    assert not _among("produt", known)
