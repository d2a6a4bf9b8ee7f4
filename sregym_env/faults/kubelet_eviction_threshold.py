"""A kubelet that takes a disk for full which is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import KubeletSetting
from sregym_env.cluster.edits import ObjectRef, Rollout
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import await_rollout
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.machines import HOST, machines, movable
from sregym_env.kube import conditions
from sregym_env.kube.status import StatusError
from sregym_env.runtime.chance import Chance

SIGNALS = ("nodefs.available", "imagefs.available")
SHARES = ("75%", "78%", "80%", "82%", "85%", "88%", "90%", "92%", "95%")
"""What people write who mean the share that may be in use."""


@dataclass(frozen=True, slots=True)
class _Room:
    """Whether a machine's disk does not count as short. That a workload has left it is not enough: to undo its rollout is no
    understanding, and the machine takes nobody."""

    node: str

    def __call__(self, world: World) -> Finding:
        expected = f"no disk pressure on {self.node}"
        try:
            node = world.cluster.get("nodes", self.node)
        except StatusError as error:
            return Finding("disk", False, str(error), expected)
        pressed = conditions.is_true(node.get("status"), "DiskPressure")
        return Finding("disk", not pressed, "it is short" if pressed else "it has room", expected)


def _machine(target: ComponentTarget, chance: Chance) -> str:
    return str(chance.choice("node", machines(target)))


def _signal(target: ComponentTarget, chance: Chance) -> str:
    return chance.choice("signal", SIGNALS)


def _share(target: ComponentTarget, chance: Chance) -> str:
    return chance.choice("share", SHARES)


def _repair(target: ComponentTarget, node: str, signal: str) -> Iterator[str]:
    right = "15%" if signal == "imagefs.available" else "10%"
    yield f"ssh {node} \"sed -i 's/{signal}: .*/{signal}: {right}/' /var/lib/kubelet/config.yaml && systemctl restart kubelet\""
    yield "sleep 30"
    yield await_rollout(target.workload)


@fault(
    layer="hardware",
    mechanism="eviction_threshold_too_high",
    targets=components(at_request=True, where=movable),
    level="hard",
)
def kubelet_eviction_threshold(
    target: ComponentTarget,
    node: str = drawn(_machine, published=lambda target: machines(target)[0]),
    signal: str = drawn(_signal, published=SIGNALS[0]),
    share: str = drawn(_share, published="80%"),
) -> Fault:
    """The kubelet of a machine wants more of its disk free than is: it evicts all pods there, and who is bound to it has nowhere to run.

    The disk is a third full. The node says DiskPressure and takes no pods; those that can have gone elsewhere.
    """
    path = target.template_path("nodeSelector")
    return Fault(
        resource=ObjectRef("nodes", node),
        cause=f"The kubelet of node {node} has an eviction threshold (evictionHard {signal}: {share} in /var/lib/kubelet/config.yaml) above what "
        f"is free of its disk, so the node reports DiskPressure and evicts its pods although the disk is far from full; {target.name}, "
        "which a nodeSelector binds to it, stays Pending.",
        earlier=[Rollout(target.workload, {path: {HOST: node}})],
        disturbances=[KubeletSetting(node, f"evictionHard/{signal}", share)],
        details={"field": signal, "wrong": share},
        facts={"node": node},
        remedies=[list(_repair(target, node, signal))],
        look=[
            f"kubectl describe node {node}",
            f"ssh {node} df -h /",
            f"ssh {node} cat /var/lib/kubelet/config.yaml",
        ],
        accepts=[target.workload],
        empties=[node],
        aliases=[node, "kubelet"],
        cured=[_Room(node)],
    )
