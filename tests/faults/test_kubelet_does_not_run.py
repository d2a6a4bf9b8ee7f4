"""A kubelet that has ended: its machine and what runs there go on, and the cluster counts both as lost until it comes up again."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import KubeletSetting, KubeletStopped, NodeDown
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults import problems
from sregym_env.faults.kubelet_does_not_run import WRONG
from sregym_env.rollouts.validate import Subject
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

NAMESPACE = "hotel-reservation"


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(apps.app(NAMESPACE))


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL, NAMESPACE).run(line).text


def _database(world: World) -> tuple[str, str]:
    """The pod of a database, and its machine."""
    for pod in world.cluster.list("pods", NAMESPACE):
        if pod["metadata"]["name"].startswith("mongodb-reservation"):
            return str(pod["metadata"]["name"]), str(pod["spec"]["nodeName"])
    raise AssertionError


def _ready(world: World, node: str) -> str:
    conditions = world.cluster.get("nodes", node)["status"]["conditions"]
    return next(str(each["status"]) for each in conditions if each["type"] == "Ready")


def test_the_node_is_lost_and_its_containers_run(world: EmbeddedWorld) -> None:
    pod, node = _database(world)
    processes = {key for key, each in world.processes.items() if each.node == node}
    world.nodes.apply(KubeletStopped(node))
    world.advance(120.0)
    assert _ready(world, node) == "Unknown"
    assert {key for key, each in world.processes.items() if each.node == node} == processes
    assert not world.cluster.get("endpoints", "mongodb-reservation", NAMESPACE)["subsets"][0].get("addresses")
    address = f"dial tcp {world.plan.machine(node).address}:10250: connect: connection refused"  # type: ignore[union-attr]
    assert (
        f"/containerLogs/{NAMESPACE}/{pod}/" in (said := _typed(world, f"kubectl logs {pod}"))
        and address in said
    )
    assert (
        _typed(world, f"kubectl exec {pod} -- ls") == f"Error from server: error dialing backend: {address}\n"
    )
    assert node not in _typed(world, "kubectl top nodes")
    # Its other figures go on: the machine is up.
    up = _typed(world, f"promql 'up{{node=\"{node}\"}}'")
    assert "cadvisor" in up and "node-exporter" in up
    for line in up.splitlines():
        value = re.match(r"\s+([\d.]+)\s", line)
        if value:
            assert float(value[1]) == ("cadvisor" not in line), line


def test_its_pods_are_evicted_and_stay_until_it_is_back(world: EmbeddedWorld) -> None:
    pod, node = _database(world)
    world.nodes.apply(KubeletStopped(node))
    world.advance(600.0)
    held = world.cluster.get("pods", pod, NAMESPACE)
    assert held["metadata"]["deletionTimestamp"] and held["status"]["phase"] == "Running"
    waiting = [
        each
        for each in world.cluster.list("pods", NAMESPACE)
        if each["metadata"]["name"].startswith("mongodb-reservation") and not each["spec"].get("nodeName")
    ]
    assert len(waiting) == 1
    assert "inactive (dead)" in _typed(world, f"ssh {node} systemctl status kubelet")
    assert _typed(world, f"ssh {node} sudo systemctl start kubelet") == ""
    world.advance(240.0)
    assert _ready(world, node) == "True"
    names = [each["metadata"]["name"] for each in world.cluster.list("pods", NAMESPACE)]
    assert pod not in names
    assert world.cluster.get("endpoints", "mongodb-reservation", NAMESPACE)["subsets"][0]["addresses"]


@pytest.mark.parametrize("index", range(len(WRONG)))
def test_a_setting_that_it_does_not_know_keeps_it_from_starting(world: EmbeddedWorld, index: int) -> None:
    _, node = _database(world)
    key, value, repair = WRONG[index]
    world.nodes.apply(KubeletSetting(node, key, value))
    world.advance(120.0)
    assert _ready(world, node) == "Unknown"
    journal = _typed(world, f"ssh {node} journalctl -u kubelet --no-pager -n 8")
    assert '"command failed" err=' in journal and "restart counter is at" in journal
    _typed(world, f"ssh {node} systemctl restart kubelet")
    world.advance(60.0)
    assert _ready(world, node) == "Unknown", "it takes more than another start"
    # systemd starts it every ten seconds: nobody has to.
    _typed(world, f'ssh {node} "{repair}"')
    world.advance(30.0)
    assert _ready(world, node) == "True"
    assert _typed(world, f"ssh {node} systemctl is-active kubelet") == "active\n"


def test_taking_it_back_leaves_the_files_as_they_were(world: EmbeddedWorld) -> None:
    _, node = _database(world)
    files = f"ssh {node} cat /var/lib/kubelet/config.yaml /var/lib/kubelet/kubeadm-flags.env"
    before = _typed(world, files)
    for key, value, _ in WRONG:
        world.nodes.apply(KubeletSetting(node, key, value))
        assert _typed(world, files) != before
        world.nodes.heal(KubeletSetting(node, key, value))
        assert _typed(world, files) == before
    world.advance(120.0)
    assert _ready(world, node) == "True"


def test_a_machine_that_boots_starts_it_if_it_is_enabled_and_its_files_are_right(
    world: EmbeddedWorld,
) -> None:
    _, node = _database(world)
    _typed(world, f"ssh {node} systemctl disable --now kubelet")
    _typed(world, f"ssh {node} sudo reboot")
    world.advance(20.0)
    assert "No route to host" in _typed(world, f"ssh {node} uptime")
    world.advance(180.0)
    assert _ready(world, node) == "Unknown"
    assert _typed(world, f"ssh {node} systemctl is-enabled kubelet") == "disabled\n"
    _typed(world, f"ssh {node} systemctl enable kubelet")
    _typed(world, f"ssh {node} sudo reboot")
    world.advance(240.0)
    assert _ready(world, node) == "True"


def test_nobody_can_log_in_where_there_is_no_power(world: EmbeddedWorld) -> None:
    _, node = _database(world)
    world.nodes.apply(NodeDown(node))
    world.advance(60.0)
    done = Workstation(world, ONCALL).run(f"ssh {node} systemctl start kubelet")
    assert done.exit_code == 255 and "No route to host" in done.text
    assert "Name or service not known" in _typed(world, "ssh no-such-node uptime")


def test_files_of_a_machine_stay_as_somebody_leaves_them(world: EmbeddedWorld) -> None:
    _, node = _database(world)
    _typed(world, f"ssh {node} 'echo noted > /root/note; cp /etc/hostname /tmp/name'")
    assert _typed(world, f"ssh {node} cat /root/note /tmp/name") == f"noted\n{node}\n"
    assert _typed(world, f"ssh {node} <<EOF\nhostname\nEOF") == f"{node}\n"
    other = next(
        each["metadata"]["name"] for each in world.cluster.list("nodes") if each["metadata"]["name"] != node
    )
    assert "No such file" in _typed(world, f"ssh {other} cat /root/note")


def test_another_start_does_not_cure_what_is_wrong_with_its_settings() -> None:
    played = problems.pair(NAMESPACE, "kubelet_does_not_run", "workers", {"setting": 2})
    tried = Subject(played.model_copy(update={"variation": False}), seed=5)
    world = tried.world()
    station = Workstation(world, ONCALL, NAMESPACE)
    for node in tried.injected.instances[0].target.nodes:
        station.run(f"ssh {node} systemctl restart kubelet")
    world.advance(120.0)
    assert not tried.judge(world).passed
    for node in tried.injected.instances[0].target.nodes:
        station.run(f"ssh {node} sed -i /DynamicKubeletConfig/d /var/lib/kubelet/config.yaml")
    world.advance(120.0)
    assert tried.judge(world).passed


KIND = "kind: KubeletConfiguration\n"
NESTED = "[" * 100_000 + "]" * 100_000
LAUGHS = "a: &a [x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 8)}]\n" for before, name in pairwise("abcdefghi")
)


@pytest.mark.parametrize(
    "text",
    [
        f"{KIND}x: {NESTED}\n",
        f"{KIND}x: {'9' * 5000}\n",
        f"{KIND}featureGates: {{1: true, a: true}}\n",
        f"{KIND}{LAUGHS}containerRuntimeEndpoint: *i\n",
        f"{KIND}{LAUGHS}featureGates: *i\n",
        f"{KIND}{LAUGHS}evictionHard: {{nodefs.available: *i}}\n",
        "{",
        "",
    ],
    ids=["nested", "digits", "keys", "endpoint", "gates", "threshold", "open", "empty"],
)
def test_files_that_nobody_could_mean_end_the_kubelet_and_nothing_else(
    world: EmbeddedWorld, text: str
) -> None:
    _, node = _database(world)
    done = world.nodes.run(node, "cat > /var/lib/kubelet/config.yaml; systemctl restart kubelet", text)
    assert done.exit_code == 0
    world.advance(120.0)
    assert _ready(world, node) == "Unknown"
    assert "failed" in _typed(world, f"ssh {node} journalctl -u kubelet -n 5 --no-pager")


def test_what_it_does_not_know_it_leaves_alone(world: EmbeddedWorld) -> None:
    _, node = _database(world)
    world.nodes.run(
        node, "cat > /var/lib/kubelet/config.yaml; systemctl restart kubelet", f"{KIND}x: 2001-99-99\n"
    )
    world.advance(120.0)
    assert _ready(world, node) == "True"


def test_a_threshold_above_any_disk_is_pressure(world: EmbeddedWorld) -> None:
    _, node = _database(world)
    wanted = f"evictionHard: {{nodefs.available: '{'9' * 400}'}}\n"
    world.nodes.run(node, "cat > /var/lib/kubelet/config.yaml; systemctl restart kubelet", KIND + wanted)
    world.advance(120.0)
    conditions = world.cluster.get("nodes", node)["status"]["conditions"]
    assert next(each["status"] for each in conditions if each["type"] == "DiskPressure") == "True"
