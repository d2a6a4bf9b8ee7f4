"""A kubelet that wants more of its disk free than is: pressure, evictions, and its end by the settings with which it is started."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import KubeletSetting
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults import problems
from sregym_env.rollouts.validate import Subject
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

NAMESPACE = "astronomy-shop"
TAINT = "node.kubernetes.io/disk-pressure"


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(apps.app(NAMESPACE))


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL, NAMESPACE).run(line).text


def _node(world: World) -> str:
    for pod in world.cluster.list("pods", NAMESPACE):
        if pod["metadata"]["name"].startswith("currency-"):
            return str(pod["spec"]["nodeName"])
    raise AssertionError


def _pressed(world: World, node: str) -> tuple[str, bool]:
    """What the condition says, and whether the node bears the taint."""
    found = world.cluster.get("nodes", node)
    (condition,) = (each for each in found["status"]["conditions"] if each["type"] == "DiskPressure")
    return str(condition["status"]), TAINT in [each["key"] for each in found["spec"].get("taints") or ()]


def test_pods_are_evicted_from_a_disk_that_is_not_full(world: EmbeddedWorld) -> None:
    node = _node(world)
    world.nodes.apply(KubeletSetting(node, "evictionHard/nodefs.available", "90%"))
    world.advance(180.0)
    assert _pressed(world, node) == ("True", True)
    evicted = [
        pod
        for pod in world.cluster.list("pods", NAMESPACE)
        if (pod.get("status") or {}).get("reason") == "Evicted"
    ]
    assert evicted and {pod["spec"]["nodeName"] for pod in evicted} == {node}
    text = evicted[0]["status"]["message"]
    assert text.startswith("The node was low on resource: ephemeral-storage. Threshold quantity: ")
    # What it says is what node-exporter measures, and what df shows is far from full.
    measured = _typed(world, f"promql 'node_filesystem_avail_bytes{{node=\"{node}\"}} / 1024'")
    available = int(text.partition("available: ")[2].partition("Ki")[0])
    numbers = [float(word) for word in measured.split() if word.replace(".", "").replace("e+", "").isdigit()]
    assert any(abs(number - available) < 16 for number in numbers), (measured, available)
    assert int(_typed(world, f"ssh {node} df -h /").rpartition("%")[0].split()[-1]) < 40
    # The others serve: who was not bound there runs elsewhere.
    assert not [
        pod
        for pod in world.cluster.list("pods", NAMESPACE)
        if (pod.get("status") or {}).get("phase") == "Pending"
    ]
    assert "EvictionThresholdMet" in _typed(world, f"kubectl describe node {node}")


def test_a_kubelet_that_is_started_with_less_forgets_the_pressure(world: EmbeddedWorld) -> None:
    node = _node(world)
    world.nodes.apply(KubeletSetting(node, "evictionHard/imagefs.available", "95%"))
    world.advance(60.0)
    _typed(world, f"ssh {node} \"sed -i 's/95%/15%/' /var/lib/kubelet/config.yaml\"")
    world.advance(400.0)
    assert _pressed(world, node) == ("True", True), "it reads its settings when it starts"
    _typed(world, f"ssh {node} systemctl restart kubelet")
    world.advance(30.0)
    assert _pressed(world, node) == ("False", False)


@pytest.mark.parametrize("wanted", ["20%", "10Gi", "60%"])
def test_thresholds_below_what_is_free_evict_nobody(world: EmbeddedWorld, wanted: str) -> None:
    node = _node(world)
    world.nodes.apply(KubeletSetting(node, "evictionHard/nodefs.available", wanted))
    world.advance(120.0)
    assert _pressed(world, node) == ("False", False)


def test_absolute_thresholds_are_compared_with_bytes(world: EmbeddedWorld) -> None:
    node = _node(world)
    world.nodes.apply(KubeletSetting(node, "evictionHard/nodefs.available", "90Gi"))
    world.advance(120.0)
    assert _pressed(world, node) == ("True", True)
    world.nodes.heal(KubeletSetting(node, "evictionHard/nodefs.available", "90Gi"))
    world.advance(60.0)
    assert _pressed(world, node) == ("False", False)


def _played() -> Subject:
    played = problems.pair(NAMESPACE, "kubelet_eviction_threshold", "currency", {})
    return Subject(played.model_copy(update={"variation": False}), seed=5)


@pytest.mark.parametrize(
    ("lines", "passes"),
    [
        # The threshold out of the file altogether: the kubelet's own default is a tenth.
        (["ssh {node} sed -i /nodefs.available/d /var/lib/kubelet/config.yaml", "ssh {node} systemctl restart kubelet"], True),
        # Bound to another machine, where there is room: this one takes nobody still.
        (
            [
                "kubectl patch deploy currency --type=merge -p "
                '\'{{"spec":{{"template":{{"spec":{{"nodeSelector":{{"kubernetes.io/hostname":"{other}"}}}}}}}}}}\''
            ],
            False,
        ),
        (["ssh {node} systemctl restart kubelet"], False),
        (["kubectl delete pods --field-selector status.phase=Failed", "kubectl delete pods --field-selector status.phase=Pending"], False),
        (["kubectl taint node {node} node.kubernetes.io/disk-pressure-"], False),
        (["ssh {node} systemctl stop kubelet"], False),
        (["ssh {node} rm -rf /var/log/pods /var/lib/containerd"], False),
    ],
)  # fmt: skip
def test_what_makes_room_and_what_does_not(lines: list[str], passes: bool) -> None:
    tried = _played()
    world = tried.world()
    node = tried.injected.instances[0].parameters["node"]
    other = next(
        each["metadata"]["name"]
        for each in world.cluster.list("nodes")
        if each["metadata"]["name"] != node and not each["spec"].get("taints")
    )
    station = Workstation(world, ONCALL, NAMESPACE)
    for line in lines:
        station.run(line.format(node=node, other=other))
    station.run("sleep 120")
    verdict = tried.judge(world)
    assert verdict.passed == passes, [check for check in verdict.checks if not check.passed]
