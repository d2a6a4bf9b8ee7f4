"""A machine's process numbers that a program takes: what is left behind counts, nothing else starts, and some must be left for good."""

from __future__ import annotations

from functools import cache

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.edits import ObjectRef, OnMachine
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.cluster.targets import MachinesTarget
from sregym_env.faults.node_pids_taken_by_neighbour import (
    BOUNDS,
    CONFIG,
    SLIPS,
    WATCHES,
    _asker,
    _fills,
    _Left,
    _limited,
    _Load,
    _script,
    _Spared,
    _wanted,
    _watching,
)
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.containers import pids
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.tools.workstation import Workstation

HOTEL, PLACE = "hotel-reservation", "netops-lab"
GREEDY, MODEST = (ObjectRef("deployments.apps", name, PLACE) for name in ("ups-readout", "link-check"))
GOOD = ["-quiet", "/etc/jobs/crontab"]
MOST = 6000


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL, HOTEL).run(line).text


def _node(world: World) -> str:
    """Where a database of the hotel's lies."""
    pods = world.cluster.list("pods", HOTEL)
    return next(str(p["spec"]["nodeName"]) for p in pods if p["metadata"]["name"].startswith("mongodb-geo"))


def _with(slip: str, watch: str = "") -> EmbeddedWorld:
    """A world whose machines take few processes, with both job runners, of which one has slipped."""
    world = deployed_world(apps.app(HOTEL)).fork()
    node = _node(world)
    _typed(world, f"ssh {node} sysctl -w kernel.pid_max={MOST}")
    if watch:
        command = next(
            each.command
            for each in _watching(_target(node), watch)
            if isinstance(each, OnMachine) and each.node == node
        )
        world.nodes.run(node, command)
        world.advance(10.0)
    world.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}})
    kind = slip or SLIPS[0]
    bad = ["-quiet", slip, "/etc/jobs/crontab"] if slip else GOOD
    for made in (
        *_asker(GREEDY, bad, node, _script(kind, 60, "10.66.0"), 5),
        *_asker(MODEST, GOOD, node, _script(kind, 12, "10.66.0"), 5),
    ):
        world.cluster.create(made)
    world.advance(30.0)
    return world


@cache
def hotel_inventory() -> Inventory:
    return Inventory.of(deployed_world(apps.app(HOTEL)))


def _target(node: str) -> MachinesTarget:
    return MachinesTarget(hotel_inventory(), (node,), (), "")


@cache
def _ran_out() -> EmbeddedWorld:
    world = _with("-no-reap")
    world.advance(600.0)
    return world


@cache
def _pressed() -> EmbeddedWorld:
    world = _with("-no-reap", "20%")
    world.advance(600.0)
    return world


def _condition(world: World) -> str:
    node = world.cluster.get("nodes", _node_of(world))
    return next(str(c["status"]) for c in node["status"]["conditions"] if c["type"] == "PIDPressure")


def _node_of(world: World) -> str:
    return str(world.cluster.list("pods", PLACE)[0]["spec"]["nodeName"])


def _used(world: World) -> int:
    return int(_typed(world, f"ssh {_node_of(world)} cat /proc/loadavg").split()[3].partition("/")[2])


@pytest.mark.parametrize(("slip", "pace"), [("-no-reap", 12.0), ("-overlapping", 121 / 5), ("", 0.0)])
def test_what_is_left_behind_counts_on_the_machine(slip: str, pace: float) -> None:
    world = _with(slip)
    before, at = _used(world), world.now()
    world.advance(120.0)
    grown, seconds = _used(world) - before, (world.now() - at) / 1e6
    assert grown == pytest.approx(seconds * pace, abs=3)
    listed = _typed(world, f"ssh {_node_of(world)} ps aux")
    assert listed.count("[curl] <defunct>") == (
        pytest.approx(grown + before, abs=1500) if slip == "-no-reap" else 0
    )
    assert _Left()(world.fork()).passed is (not slip)


def test_nothing_starts_where_none_is_left() -> None:
    world = _ran_out().fork()
    node = _node_of(world)
    assert MOST - pids.KEPT - pids.START <= _used(world) <= MOST
    assert _condition(world) == "False", "a kubelet that is told nothing watches no process numbers"
    assert "resource temporarily unavailable" in _typed(
        world, f"kubectl exec -n {PLACE} deploy/link-check -- ls"
    )
    _typed(world, "kubectl delete pods -l io.kompose.service=mongodb-geo --wait=false")
    world.advance(60.0)
    told = _typed(world, "kubectl get events")
    assert "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to start sandbox" in told
    assert "fork/exec /usr/bin/containerd-shim-runc-v2: resource temporarily unavailable" in told
    assert "error running command: fork/exec /bin/sh: resource temporarily unavailable" in _typed(
        world, f"kubectl logs -n {PLACE} deploy/ups-readout --tail=3"
    )
    assert f"kernel.pid_max = {MOST}" in _typed(world, f"ssh {node} sysctl kernel.pid_max")
    finding = _Left()(world)
    assert not finding.passed and "full" in finding.observed


def test_a_kubelet_that_watches_evicts_others() -> None:
    world = _pressed().fork()
    assert _condition(world) == "True"
    left = [
        p["metadata"]["name"] for p in world.cluster.list("pods", PLACE) if p["status"]["phase"] == "Running"
    ]
    assert len(left) == 2, "a kubelet evicts nobody who is critical"
    told = _typed(world, "kubectl get events")
    assert "The node was low on resource: pids. Threshold quantity: 1200, available: " in told
    assert "node.kubernetes.io/pid-pressure" in told and "mongodb-geo" in told
    described = _typed(world, f"kubectl describe node {_node_of(world)}")
    assert "kubelet has insufficient PID available" in described and "Attempting to reclaim pids" in described
    finding = _Left()(world)
    assert not finding.passed and "PIDPressure" in finding.observed


def test_pressure_is_over_after_five_minutes() -> None:
    world = _pressed().fork()
    _typed(world, f"kubectl delete deploy ups-readout -n {PLACE}")
    world.advance(200.0)
    assert _condition(world) == "True"
    world.advance(150.0)
    assert _condition(world) == "False"
    world.advance(120.0)
    pods = [p for p in world.cluster.list("pods", HOTEL) if p["metadata"]["name"].startswith("mongodb-geo")]
    assert any(p["status"]["phase"] == "Running" for p in pods)
    assert _Left()(world).passed


REPAIRS = {
    "told-to-wait": (
        True,
        'kubectl get deploy ups-readout -n netops-lab -o json | jq \'.spec.template.spec.containers[0].args = ["-quiet", "/etc/jobs/crontab"]\' '
        "| kubectl replace -f -",
    ),
    "scaled-away": (True, "kubectl scale deploy ups-readout -n netops-lab --replicas=0"),
    "somebody-else-waits": (
        True,
        'kubectl patch deploy ups-readout -n netops-lab -p \'{"spec": {"template": {"spec": {"shareProcessNamespace": true}}}}\'',
    ),
    "script-that-waits": (
        True,
        "kubectl get cm ups-readout -n netops-lab -o yaml | sed 's/&)/)/' | kubectl replace -f - && kubectl rollout restart deploy/ups-readout -n netops-lab",
    ),
    "no-more-than-so-many": (
        True,
        "ssh $N 'echo podPidsLimit: 1024 >> /var/lib/kubelet/config.yaml && systemctl restart kubelet' && sleep 20 "
        "&& kubectl rollout restart deploy/ups-readout -n netops-lab",
    ),
    "no-more-without-a-restart": (
        False,
        "ssh $N 'echo podPidsLimit: 1024 >> /var/lib/kubelet/config.yaml' && kubectl rollout restart deploy/ups-readout -n netops-lab",
    ),
    "restarted": (False, "kubectl rollout restart deploy/ups-readout -n netops-lab"),
    "deleted-pod": (False, "kubectl delete pods -n netops-lab -l app=ups-readout"),
    "more-numbers": (False, "ssh $N sysctl -w kernel.pid_max=4194304"),
    "every-second-device": (
        False,
        "kubectl get cm ups-readout -n netops-lab -o yaml | sed 's/seq 1 60/seq 1 30/' | kubectl replace -f - && kubectl rollout restart deploy/ups-readout -n netops-lab",
    ),
    "nothing": (False, "true"),
}
"""Whether it lasts, and what somebody types."""


@pytest.mark.parametrize("name", REPAIRS)
def test_what_lasts(name: str) -> None:
    lasts, line = REPAIRS[name]
    world = _ran_out().fork()
    node = _node_of(world)
    said = _typed(world, line.replace("$N", node))
    world.advance(90.0)
    assert _Left()(world).passed is lasts, said


def test_a_pod_takes_no_more_than_its_kubelet_lets_it() -> None:
    world = _ran_out().fork()
    node = _node_of(world)
    _typed(world, REPAIRS["no-more-than-so-many"][1].replace("$N", node))
    world.advance(900.0)
    assert _used(world) < 2000
    most = _typed(world, f"ssh {node} 'cat /sys/fs/cgroup/kubepods.slice/*/*/pids.max'").split()
    assert "1024" in most
    assert "cgroup: fork rejected by pids controller in /kubepods.slice/" in _typed(
        world, f"ssh {node} dmesg"
    )
    assert "resource temporarily unavailable" in _typed(
        world, f"kubectl logs -n {PLACE} deploy/ups-readout --tail=3"
    )


def test_the_neighbour_must_be_spared() -> None:
    world = _with("")
    assert _Spared(MODEST, tuple(GOOD))(world).passed
    assert not _Spared(MODEST, ("-debug",))(world).passed
    _typed(world, f"kubectl scale deploy {MODEST.name} -n {PLACE} --replicas=0")
    world.advance(30.0)
    assert not _Spared(MODEST, tuple(GOOD))(world).passed
    assert not _Spared(ObjectRef("deployments.apps", "nobody", PLACE), tuple(GOOD))(world).passed


@pytest.mark.parametrize("watch", [each for each in WATCHES if each])
@pytest.mark.parametrize("before", ["", "evictionHard:\n  memory.available: 100Mi\n"])
def test_every_threshold_is_one(watch: str, before: str) -> None:
    world = deployed_world(apps.app(HOTEL)).fork()
    node = _node(world)
    if before:
        text = before.replace("\n", "\\n")
        world.nodes.run(node, f"printf '{text}' >> {CONFIG}")
    edits = [
        each
        for each in (*_limited(_target(node), BOUNDS[0]), *_watching(_target(node), watch))
        if isinstance(each, OnMachine)
    ]
    for edit in edits:
        world.nodes.run(edit.node, edit.command)
    world.advance(10.0)
    assert kubelet_unit.runs(world, node)
    assert f'pid.available: "{watch}"' in kubelet_unit.loaded_text(world, node)
    assert 0 < _wanted(watch, BOUNDS[0]) < BOUNDS[0] // 4
    for edit in edits:
        world.nodes.run(edit.node, edit.undo)
    assert kubelet_unit.runs(world, node)
    assert pids.bound(world, node) == pids.MADE[pids.THREADS_MAX]


def test_slow_growth_is_growth_too() -> None:
    assert _fills(_Load(900, 32_768), _Load(1_200, 32_768))
    assert not _fills(_Load(900, 32_768), _Load(1_000, 32_768))
    assert not _fills(None, _Load(30_000, 32_768))


def test_it_bites_within_hours() -> None:
    declared = declaration("node_pids_taken_by_neighbour")
    instance = declared.bind(hotel_inventory(), "node-of-mongodb-reservation")
    assert 1200.0 < instance.fault.matures < 4 * 3600.0


def test_a_kubelet_that_is_told_nothing_any_more_says_nothing_any_more() -> None:
    world = _pressed().fork()
    node = _node_of(world)
    _typed(world, f"ssh {node} \"sed -i '/pid.available/d' {CONFIG}; systemctl restart kubelet\"")
    world.advance(60.0)
    assert _condition(world) == "False"
    assert not _Left()(world).passed
