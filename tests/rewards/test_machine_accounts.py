"""What is told of a machine that loses packets: accounts that name it and that pass, those that name another cause do not."""

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
    "Everything that is slow has one thing in common: node {r}. Its network link loses packets, so requests to {c} and the others "
    "there wait for retransmissions.",
    "{r} is Ready, yet its TCP retransmits a third of what it sends. Packet loss on that machine's link makes {c} slow; {c} itself is fine.",
    "A gray failure of machine {r}: its NIC drops packets. Whatever crosses it is late, {c} first of all.",
    "node {r} has packet loss, that slows {c}",
)

WRONG = (
    "Node {r} is down and its kubelet is silent.",
    "The CPU limit of {c} is too low, so it is throttled.",
    "Node {r} has been cordoned, so {c} stays Pending.",
    "A NetworkPolicy blocks traffic to {c}.",
    "kube-proxy on node {r} is stuck, so clients there are sent to old pods of {c}.",
    "{c} is slow.",
)


def _truth() -> FaultSpec:
    inventory = inventory_of(APP.name)
    assert not isinstance(inventory, AppError)
    declared = declaration("one_slow_node_gray_failure")
    return declared.bind(inventory, "machine-of-compose-post-service").spec


@pytest.mark.parametrize("text", RIGHT)
def test_who_names_the_machine_and_what_is_wrong_with_it_passes(text: str) -> None:
    truth = _truth()
    told = text.format(r=truth.resource_name, c=truth.components[0])
    assert SpecJudge().grade(told, [truth], APP).passed


@pytest.mark.parametrize("text", WRONG)
def test_who_names_something_else_does_not(text: str) -> None:
    truth = _truth()
    told = text.format(r=truth.resource_name, c=truth.components[0])
    assert not SpecJudge().grade(told, [truth], APP).passed
