"""A machine that is slow for everybody who has to do with it, and well by all that is said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import MachineLinkLoss
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.targets import SCALED, MachineTarget, TargetRule
from sregym_env.faults.commands import await_rollout
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

SHARES = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
"""Shares of packets that such links lose, from which the least is taken that users feel."""
FELT = 1.5
"""Times the promised latency that users have to wait on the average."""
FAILED = 0.03
"""The share of requests that fail, where waiting is not too long."""
FIRST, PATIENCE = 0.2, 7
"""TCP's first retransmission time-out, seconds, and how often it doubles until a client has given up."""


@dataclass(frozen=True, slots=True)
class _Rid:
    """Whether nothing that serves users and can go stands on a machine."""

    node: str
    workloads: tuple[ObjectRef, ...]

    def __call__(self, world: World) -> Finding:
        left = sorted(
            pod["metadata"]["name"]
            for space in dict.fromkeys(ref.namespace for ref in self.workloads)
            for pod in world.cluster.list("pods", space)
            if pod["spec"].get("nodeName") == self.node
            and "deletionTimestamp" not in pod["metadata"]
            and any(_is_of(ref, pod) for ref in self.workloads)
        )
        expected = f"no pod of the users' path on {self.node}"
        return Finding("machine", not left, ", ".join(left) or "none", expected)


def _is_of(workload: ObjectRef, pod: Manifest) -> bool:
    """Whether a pod runs, and belongs to a workload."""
    metadata = pod["metadata"]
    owners = [owner["name"] for owner in metadata.get("ownerReferences") or () if owner.get("controller")]
    return (
        metadata["namespace"] == workload.namespace
        and (pod.get("status") or {}).get("phase") == "Running"
        and any(workload.name in (name, name.rpartition("-")[0]) for name in owners)
    )


def machines_on_the_path() -> TargetRule:
    """Machines on which a part of the users' path stands that can go elsewhere, called after its components.

    Not where the users' load is made, which nobody may move, nor where data lie that cannot be moved at all.
    """

    def search(inventory: Inventory) -> Iterable[MachineTarget]:
        stands = _stands(inventory)
        fit = [node for node in _fit(inventory) if any(node in places for places in stands.values())]
        if not fit or len(_open(inventory)) < 2:
            return
        weights = {node: max(_crossings(inventory, stands, node).values(), default=0.0) for node in fit}
        fit.sort(key=lambda node: (-weights[node], node))
        for name, places in stands.items():
            if inventory.app.by_name[name].kind == "load" or not inventory.app.by_name[name].stateless:
                continue
            node = next((node for node in fit if node in places), fit[0])
            own = [name] if node in places else []
            beside = [other for other, its in stands.items() if node in its and other != name]
            yield MachineTarget(inventory, node, (*own, *beside), name)

    return TargetRule("node", search)


def _stands(inventory: Inventory) -> Mapping[str, Mapping[str, float]]:
    """How the pods of every component on the users' path, and of their load, are spread over machines: its share of each."""
    app = inventory.app
    found: dict[str, Mapping[str, float]] = {}
    for component in app.components:
        if component.workload not in SCALED and component.kind != "load":
            continue
        if component.name not in app.serving and component.kind != "load":
            continue
        resource, space, name = app.workload_of(component.name)
        workload = ObjectRef(resource, name, space)
        pods = [pod for pod in inventory.pods if pod["spec"].get("nodeName") and _is_of(workload, pod)]
        if pods:
            nodes = [str(pod["spec"].get("nodeName", "")) for pod in pods]
            found[component.name] = {node: nodes.count(node) / len(nodes) for node in dict.fromkeys(nodes)}
    return found


def _open(inventory: Inventory) -> list[str]:
    """Machines that take any pod."""
    return [
        machine["metadata"]["name"]
        for machine in inventory.machines
        if not machine["spec"].get("unschedulable")
        and not any(taint["effect"] != "PreferNoSchedule" for taint in machine["spec"].get("taints") or ())
    ]


def _fit(inventory: Inventory) -> list[str]:
    app = inventory.app
    kept = {volume.node for volume in inventory.volumes}
    kept |= {
        node
        for name, places in _stands(inventory).items()
        if app.by_name[name].kind == "load"
        for node in places
    }
    return [node for node in _open(inventory) if node not in kept]


def _crossings(
    inventory: Inventory, stands: Mapping[str, Mapping[str, float]], node: str
) -> dict[str, float]:
    """How many calls of a request enter or leave a machine on the average, by journey: as far as the declared calls tell."""
    app = inventory.app
    found = {}
    for journey in app.journeys:
        way = {*journey.through, *(each.name for each in app.components if each.kind == "load")}
        total = 0.0
        for caller in way:
            for need in app.by_name[caller].dependencies:
                if need.on in way and need.essential and not need.cached and "request" in need.at:
                    here, there = (stands.get(name, {}).get(node, 0.0) for name in (caller, need.on))
                    total += here * (1.0 - there) + there * (1.0 - here)
        found[journey.name] = total
    return found


def _least(target: MachineTarget) -> float:
    """The least share of lost packets that users of some journey feel."""
    app = target.app
    crossings = _crossings(target.inventory, _stands(target.inventory), target.node)
    for share in SHARES:
        waited = sum(share**k * (1.0 - share) * FIRST * (2**k - 1) for k in range(PATIENCE))
        for journey, count in crossings.items():
            if count * waited >= FELT * app.slo.of(journey).latency_seconds:
                return share
            if count * share**PATIENCE >= FAILED:
                return share
    return SHARES[-1]


def _lost(target: MachineTarget, chance: Chance) -> float:
    return round(_least(target) + chance.uniform("more", 0.0, 0.05), 3)


def _beside(target: MachineTarget) -> str:
    """The address of a pod on another machine."""
    return next(
        (
            str(pod["status"]["podIP"])
            for pod in target.inventory.pods
            if pod["spec"].get("nodeName") not in (None, target.node) and pod.get("status", {}).get("podIP")
        ),
        "",
    )


@fault(layer="hardware", mechanism="lossy_machine", targets=machines_on_the_path(), level="hard")
def one_slow_node_gray_failure(
    target: MachineTarget, fraction: float = drawn(_lost, published=_least)
) -> Fault:
    """The network link of one machine loses packets: whatever comes from its pods, or goes to them, is late or never comes.

    The machine is Ready, its pods are Ready (their kubelet stands beside them) and nothing restarts. It shows by machine only:
    requests that stay on it, or on the others, are as quick as ever, and its TCP has to send again what is lost.
    """
    workloads = tuple(target.workload_of(name) for name in target.components)
    able = [name for name in _stands(target.inventory) if target.app.by_name[name].kind != "load"]
    node = target.node
    return Fault(
        resource=ObjectRef("nodes", node),
        cause=f"Node {node} is degraded although it is Ready: its network link loses about {round(fraction * 100)} % of all packets, "
        f"so every request to or from its pods ({', '.join(target.components)}) is slow or times out; other nodes are fine.",
        disturbances=[MachineLinkLoss(node, fraction)],
        details={"field": "network", "wrong": "packet loss"},
        facts={"node": node},
        remedies=[
            [
                f"kubectl drain {node} --ignore-daemonsets --delete-emptydir-data --force --disable-eviction --timeout=300s",
                *map(await_rollout, workloads),
            ]
        ],
        look=[
            f"kubectl get pods -n {target.namespace} -o wide",
            f"kubectl describe node {node}",
            f"kubectl debug node/{node} -q --profile=sysadmin --image=busybox -it -- ping -c 20 -q {_beside(target)}",
        ],
        accepts=workloads,
        empties=[node],
        answers=["affinity"],
        aliases=[node],
        cured=[_Rid(node, tuple(map(target.workload_of, able)))],
    )
