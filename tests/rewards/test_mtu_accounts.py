"""What is told of an MTU that the way between machines does not carry: accounts that name it pass, others do not."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.judge import SpecJudge

APP = apps.app("social-network")

RIGHT = (
    "veth_mtu in ConfigMap calico-config was raised to {w}. Pods of {c} created since then have an MTU above what the path between "
    "the nodes carries, so large answers are dropped.",
    "MTU black hole: Calico gives new pods a larger MTU than the underlay. Big responses of {c} never reach callers on other nodes.",
    "The CNI MTU is too large ({w} instead of 1440). Only small messages of {c} get through, as oversized packets are silently lost.",
    "Path MTU mismatch. calico-config says {w}; {c}'s new pods send packets larger than the network between nodes takes.",
)

WRONG = (
    "The MongoDB behind {c} is slow for big queries.",
    "A NetworkPolicy blocks traffic to {c}.",
    "kube-proxy on one node is stuck, so its clients are sent to old pods of {c}.",
    "The CPU limit of {c} is too low, so it is throttled.",
    "{c} times out.",
    "The memory limit of {c} is too low and it is OOM-killed.",
)


def _truth() -> FaultSpec:
    inventory = inventory_of(APP.name)
    assert not isinstance(inventory, AppError)
    return declaration("mtu_blackhole_by_payload_size").bind(inventory, "post-storage-service").spec


@pytest.mark.parametrize("text", RIGHT)
def test_who_names_the_mtu_and_whom_it_hits_passes(text: str) -> None:
    truth = _truth()
    told = text.format(w=truth.wrong, c=truth.components[0])
    grade = SpecJudge().grade(told, [truth], APP)
    assert grade.passed, grade


@pytest.mark.parametrize("text", WRONG)
def test_who_names_something_else_does_not(text: str) -> None:
    truth = _truth()
    assert not SpecJudge().grade(text.format(w=truth.wrong, c=truth.components[0]), [truth], APP).passed
