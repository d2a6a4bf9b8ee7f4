"""A machine on which everything runs but its kubelet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import Disturbance, KubeletSetting, KubeletStopped
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.targets import MachinesTarget, machines_needed
from sregym_env.errors import ClusterError
from sregym_env.faults.commands import await_rollout
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.runtime.chance import Chance

CONFIG, FLAGS = "/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env"

WRONG: tuple[tuple[str, str | int | bool, str], ...] = (
    ("--container-runtime", "remote", f"sed -i 's/ --container-runtime=remote//' {FLAGS}"),
    ("--network-plugin", "cni", f"sed -i 's/ --network-plugin=cni//' {FLAGS}"),
    ("featureGates/DynamicKubeletConfig", True, f"sed -i '/DynamicKubeletConfig:/d' {CONFIG}"),
    ("featureGates/CSIMigrationAWS", True, f"sed -i '/CSIMigrationAWS:/d' {CONFIG}"),
    ("containerRuntimeEndpoint", "unix:///var/run/dockershim.sock",
     f"sed -i 's|/var/run/dockershim.sock|/run/containerd/containerd.sock|' {CONFIG}"),
    ("imageGCLowThresholdPercent", 90, f"sed -i 's/^imageGCLowThresholdPercent: 90/imageGCLowThresholdPercent: 60/' {CONFIG}"),
    ("evictionHard/nodefs.available", 10, f"sed -i 's/nodefs.available: 10$/nodefs.available: 10%/' {CONFIG}"),
)  # fmt: skip
"""Settings by which a kubelet of v1.32 does not start, such as outlive an upgrade, and what makes each right."""
STOPPED = 8
"""One in so many is no more than stopped."""


@dataclass(frozen=True, slots=True)
class _Runs:
    """Whether a kubelet runs where it was stopped, and says so to the cluster."""

    node: str

    def __call__(self, world: World) -> Finding:
        try:
            said = world.nodes.run(self.node, "systemctl is-active kubelet").stdout.strip()
        except ClusterError as error:
            said = str(error)
        expected = f"the kubelet of {self.node} is active"
        return Finding("kubelet", said == "active", said or "no answer", expected)


def _setting(target: MachinesTarget, chance: Chance) -> int:
    """Which setting is wrong; -1: none, it has been stopped."""
    return -1 if chance.below("stopped", STOPPED) == 0 else chance.below("setting", len(WRONG))


def _repairs(target: MachinesTarget, setting: int) -> Iterator[str]:
    for node in target.nodes:
        if setting >= 0:
            yield f'ssh {node} "{WRONG[setting][2]} && systemctl restart kubelet"'
        else:
            yield f"ssh {node} sudo systemctl start kubelet"
    yield f"kubectl wait --for=condition=Ready {' '.join(f'node/{node}' for node in target.nodes)} --timeout=180s"
    yield from map(await_rollout, map(target.workload_of, target.components))


@fault(layer="hardware", mechanism="kubelet_not_running", targets=machines_needed(), level="hard")
def kubelet_does_not_run(
    target: MachinesTarget, setting: int = drawn(_setting, published=lambda target: -1)
) -> Fault:
    """The kubelet of a machine has ended, and does not come up: its node is NotReady, and nobody is sent to its pods any more.

    The machine is on, and its containers go on. They have been taken out of their Services, nothing new starts there, and what
    is bound to it cannot start elsewhere. Mostly a setting has been left in its files that this version does not know.
    """
    nodes = ", ".join(target.nodes)
    many = len(target.nodes) > 1
    whose = f"The kubelet{'s' if many else ''} of node{'s' if many else ''} {nodes}"
    state = "are" if many else "is"
    if setting < 0:
        disturbances: list[Disturbance] = [KubeletStopped(node) for node in target.nodes]
        cause = f"{whose} {state} not running: the systemd unit has been stopped (inactive), so the node is NotReady; the machine itself is up."
        details, path = {"field": "kubelet", "wrong": "stopped"}, ""
    else:
        key, value, _ = WRONG[setting]
        disturbances = [KubeletSetting(node, key, value) for node in target.nodes]
        name = key.rpartition("/")[2]
        flag = key.startswith("--")
        path = FLAGS if flag else CONFIG
        said = f"{name}={value}" if flag else f"{name}: {str(value).lower() if value is True else value}"
        cause = (
            f"{whose} {'do' if many else 'does'} not start: {path} holds {said}, which this version of the kubelet "
            "refuses, so it exits at once and crash-loops; the machine itself is up and the node is NotReady."
        )
        details = {"field": name, "wrong": name if value is True else str(value)}
    return Fault(
        resource=ObjectRef("nodes", target.nodes[0]),
        cause=cause,
        disturbances=disturbances,
        details=details,
        facts={"node": target.nodes[0]},
        remedies=[list(_repairs(target, setting))],
        look=[
            "kubectl get nodes",
            f"kubectl describe node {target.nodes[0]}",
            f"ssh {target.nodes[0]} systemctl status kubelet --no-pager",
            f"ssh {target.nodes[0]} journalctl -u kubelet -n 20 --no-pager",
            *([f"ssh {target.nodes[0]} cat {path}"] if path else []),
        ],
        aliases=[*target.nodes, "kubelet"],
        cured=[_Runs(node) for node in target.nodes],
    )
