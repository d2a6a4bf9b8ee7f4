"""What is told of a machine that loses packets, and of one whose kubelet takes its disk for full: accounts that name it and that pass,
those that name another cause do not."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.judge import SpecJudge

APP = apps.app("social-network")

LOSSY = ("one_slow_node_gray_failure", "machine-of-compose-post-service")
PRESSED = ("kubelet_eviction_threshold", "text-service")

RIGHT = (
    (LOSSY, "Everything that is slow has one thing in common: node {r}. Its network link loses packets, so requests to {c} and the "
            "others there wait for retransmissions."),
    (LOSSY, "{r} is Ready, yet its TCP retransmits a third of what it sends. Packet loss on that machine's link makes {c} slow; {c} itself "
            "is fine."),
    (LOSSY, "A gray failure of machine {r}: its NIC drops packets. Whatever crosses it is late, {c} first of all."),
    (LOSSY, "node {r} has packet loss, that slows {c}"),
    (PRESSED, "The kubelet of {r} evicts by nodefs.available {w}, more than is free of the disk, so the node is under DiskPressure and {c}, "
              "bound to it, is Pending."),
    (PRESSED, "{c} is Pending: {r}, to which it is bound, has an eviction threshold that is too high, nodefs.available is {w}."),
    (PRESSED, "evictionHard in the kubelet configuration of {r} demands {w} of nodefs.available; {c} cannot be scheduled there."),
)  # fmt: skip

WRONG = (
    (LOSSY, "Node {r} is down and its kubelet is silent."),
    (LOSSY, "The CPU limit of {c} is too low, so it is throttled."),
    (LOSSY, "Node {r} has been cordoned, so {c} stays Pending."),
    (LOSSY, "A NetworkPolicy blocks traffic to {c}."),
    (LOSSY, "kube-proxy on node {r} is stuck, so clients there are sent to old pods of {c}."),
    (LOSSY, "{c} is slow."),
    (PRESSED, "The disk of node {r} returns read errors."),
    (PRESSED, "The kubelet of {r} is not running."),
    (PRESSED, "{c} has a nodeSelector that no node satisfies."),
    (PRESSED, "{c} is Pending on {r}."),
)  # fmt: skip


def _told(pair: tuple[str, str], text: str) -> tuple[str, FaultSpec]:
    inventory = inventory_of(APP.name)
    assert not isinstance(inventory, AppError)
    truth = declaration(pair[0]).bind(inventory, pair[1]).spec
    return text.format(r=truth.resource_name, c=truth.components[0], w=truth.wrong), truth


@pytest.mark.parametrize(("pair", "text"), RIGHT)
def test_who_names_the_machine_and_what_is_wrong_with_it_passes(pair: tuple[str, str], text: str) -> None:
    told, truth = _told(pair, text)
    assert SpecJudge().grade(told, [truth], APP).passed


@pytest.mark.parametrize(("pair", "text"), WRONG)
def test_who_names_something_else_does_not(pair: tuple[str, str], text: str) -> None:
    told, truth = _told(pair, text)
    assert not SpecJudge().grade(told, [truth], APP).passed


CRASHED = (
    ("The kubelets of nodes {r} and {o} do not start: /var/lib/kubelet/kubeadm-flags.env contains the unknown flag --network-plugin=cni.", True),
    ("On nodes {r} and {o} the kubelet exits at start: unknown flag --network-plugin", True),
    ("kubelet.service is failing on {r}, {o} (exit 1, failed to parse kubelet flag: unknown flag: --network-plugin).", True),
    ("The kubelet on {r} and {o} fails to start due to an obsolete option --network-plugin=cni in kubeadm-flags.env.", True),
    ("Nodes {r} and {o}: the kubelet is in a restart loop: --network-plugin is an option that it no longer accepts.", True),
    ("The kubelets of {r} and {o} do not start.", True),
    ("The feature flag --network-plugin of {c} is switched on.", False),
    ("{r} and {o} have an unknown flag.", False),
)  # fmt: skip


@pytest.mark.parametrize(
    "names",
    [("sre-worker2", "sre-worker3"), ("heronkubw010.internal", "heronkubw011.internal")],
    ids=" ".join,
)
@pytest.mark.parametrize(("text", "right"), CRASHED)
def test_kubelets_are_heard_of_whatever_their_machines_are_called(
    names: tuple[str, str], text: str, right: bool
) -> None:
    inventory = inventory_of(APP.name)
    assert not isinstance(inventory, AppError)
    bound = declaration("kubelet_does_not_run").bind(inventory, "workers").spec
    machines = ", ".join(names)
    changes = {
        "aliases": (*names, "kubelet"),
        "resource_name": names[0],
        "cause": bound.cause.replace("sre-worker, sre-worker2, sre-worker3", machines),
    }
    truth = bound.model_copy(update=changes)
    told = text.format(r=names[0], o=names[1], c=truth.components[0])
    assert SpecJudge().grade(told, [truth], APP).passed is right
