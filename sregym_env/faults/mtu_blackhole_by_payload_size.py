"""Pods whose network interfaces send larger packets than the network between the machines carries."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import MachinePathLimit
from sregym_env.cluster.edits import Elapse, JsonPatch, ObjectRef, Part, ReplaceAgents, Restart
from sregym_env.cluster.targets import ROLLED, ServiceTarget, services
from sregym_env.faults.commands import await_rollout, named, scope
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.kube.status import StatusError
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.numbers import whole

CONFIG = ObjectRef("configmaps", "calico-config", "kube-system")
AGENT = ObjectRef("daemonsets.apps", "calico-node", "kube-system")
LABEL = "k8s-app=calico-node"
KEY, RIGHT = "veth_mtu", "1440"
VARIABLE = "FELIX_IPINIPMTU"
OVERHEAD = 20
"""Bytes of the tunnel's header."""
CARRIED = (1460, 1462, 1468, 1472, 1476, 1480, 1492)
"""What such networks carry: of GCE (1460), through GRE (1476), IP in IP (1480), PPPoE (1492), and others."""
LEAST = 1280
"""The smallest MTU with which anybody would leave it: that of IPv6."""
STARTED = 60.0
"""Seconds in which agents that are replaced are at work."""
RELEASED = 120.0
"""Seconds that its rollout takes."""
TOO_LARGE = ("0", "1480", "1500")
"""What Calico's own manifest says (it looks at the machine's interface), and what somebody reckons from 1500."""


@dataclass(frozen=True, slots=True)
class _Fits:
    """Whether the agent on every machine gives new pods an MTU that the network carries, as its environment says."""

    largest: int

    def __call__(self, world: World) -> Finding:
        expected = f"{VARIABLE} of every calico-node from {LEAST} to {self.largest}"
        found: dict[str, str] = {}
        for pod in world.cluster.list("pods", AGENT.namespace, label_selector=LABEL):
            name = pod["metadata"]["name"]
            states = (pod.get("status") or {}).get("containerStatuses") or ()
            if "deletionTimestamp" in pod["metadata"] or not any(
                "running" in each.get("state", {}) for each in states
            ):
                continue
            try:
                lines = world.cluster.exec("kube-system", name, ["env"]).stdout.splitlines()
            except StatusError as error:
                return Finding("mtu", False, f"{name}: {error}", expected)
            found[name] = next(
                (each.partition("=")[2] for each in lines if each.startswith(f"{VARIABLE}=")), ""
            )
        wrong = [
            f"{name}: {value or 'none'}" for name, value in sorted(found.items()) if not self._fits(value)
        ]
        return Finding("mtu", bool(found) and not wrong, ", ".join(wrong) or "it fits", expected)

    def _fits(self, value: str) -> bool:
        return LEAST <= whole(value, 0) <= self.largest


def _answers_at_length(target: ServiceTarget) -> bool:
    """Whether it is asked by pods that can be made anew, and answers in more than one packet."""
    return bool(target.component.answers and target.callers) and target.component.workload in ROLLED


def _open(target: ServiceTarget) -> list[str]:
    """Machines that take any pod: what has been closed may be out of order, so that no agent would come up there."""
    return [
        each["metadata"]["name"]
        for each in target.inventory.machines
        if not each["spec"].get("unschedulable")
        and not any(taint["effect"] != "PreferNoSchedule" for taint in each["spec"].get("taints") or ())
    ]


def _carried(target: ServiceTarget, chance: Chance) -> int:
    return int(chance.choice("path", CARRIED))


def _set(target: ServiceTarget, chance: Chance) -> str:
    return str(chance.choice("mtu", TOO_LARGE))


@fault(
    layer="network",
    mechanism="interface_mtu_too_large",
    targets=services(at_request=True, where=_answers_at_length),
    level="hard",
)
def mtu_blackhole_by_payload_size(
    target: ServiceTarget,
    mtu: str = drawn(_set, published="1480"),
    path: int = drawn(_carried, published=1460),
) -> Fault:
    """The CNI gives new pods a larger MTU than the network between the machines carries, and nobody tells a sender of it.

    Connections stand, probes, small answers and ``ping`` pass, and so does whatever stays on one machine or concerns a pod
    from before the change; an answer of several packets between two newer pods never arrives, until its caller gives up.
    """
    callers, nodes = target.callers, _open(target)
    workloads = [target.workload_of(name) for name in (target.components[0], *callers)]
    said = "auto-detection" if mtu == "0" else mtu
    return Fault(
        resource=CONFIG,
        cause=f"{KEY} in ConfigMap calico-config was changed from {RIGHT} to {mtu} ({said}), so pods created since get an interface "
        f"MTU larger than the path between nodes carries ({path} bytes with the tunnel header, and ICMP fragmentation needed does "
        f"not come back): large answers of {target.components[0]} to {', '.join(callers)} on other nodes are black-holed and time "
        "out, small ones pass.",
        earlier=[JsonPatch(CONFIG, f"/data/{KEY}", mtu), ReplaceAgents(AGENT, tuple(nodes)), Elapse(STARTED)],
        # A release of the one, and a maintenance that sends the others elsewhere.
        edits=[
            Restart(target.workload),
            Elapse(RELEASED),
            *(Part(caller, target.components[0]) for caller in callers),
        ],
        disturbances=[
            MachinePathLimit(machine["metadata"]["name"], path) for machine in target.inventory.machines
        ],
        details={"field": KEY, "wrong": mtu, "right": RIGHT},
        facts={"path": path},
        remedies=[
            [
                f'kubectl patch configmap {CONFIG.name} -n kube-system --type merge -p \'{{"data":{{"{KEY}":"{RIGHT}"}}}}\'',
                *(
                    f"kubectl delete pod -n kube-system -l {LABEL} --field-selector spec.nodeName={node} --wait=false"
                    for node in nodes
                ),
                "sleep 60",
                *(f"kubectl rollout restart {named(each)}{scope(each)}" for each in workloads),
                *map(await_rollout, workloads),
            ]
        ],
        look=[
            f"kubectl get pods -n {target.namespace} -o wide",
            f"kubectl get configmap {CONFIG.name} -n kube-system -o yaml --show-managed-fields",
            f"kubectl get pods -n kube-system -l {LABEL} -o wide",
        ],
        accepts=[AGENT, *workloads],
        aliases=[AGENT.name, "calico", KEY, VARIABLE],
        cured=[_Fits(path - OVERHEAD)],
    )
