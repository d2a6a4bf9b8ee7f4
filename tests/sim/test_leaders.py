"""Leaders: who holds a Lease, who takes it when the holder is gone, and how a pod's own Lease comes about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.runtime.clock import DAY, EPOCH, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.bringup.plan import PUBLISHED, ClusterPlan, Machine, Pace, Upkeep, cluster_of
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import leaders, power

LEASES = "leases.coordination.k8s.io"
MANAGER = "kube-controller-manager"
BORN = EPOCH - 90 * DAY
PLAN = replace(
    PUBLISHED,
    key="leaders",
    born=BORN,
    pace=Pace(((BORN, 0), (BORN + DAY, 400_000)), 21_000),
    addons=3,
)
HIGHLY_AVAILABLE = replace(
    PLAN,
    machines=(
        *(Machine(f"cp-{n}", f"172.18.0.{10 + n}", f"10.244.{n}.0/24", True) for n in range(3)),
        Machine("wk-0", "172.18.0.20", "10.244.3.0/24"),
        Machine("wk-1", "172.18.0.21", "10.244.4.0/24"),
    ),
)


def world_of(plan: ClusterPlan) -> EmbeddedWorld:
    world = cluster_of(plan)
    world.run_until(plan.born + 2 * DAY)
    return world


def lease(world: EmbeddedWorld, name: str = MANAGER, namespace: str = "kube-system") -> dict[str, Any]:
    return world.cluster.get(LEASES, name, namespace)


def machine_of(found: dict[str, Any]) -> str:
    return str(found["spec"]["holderIdentity"]).rpartition("_")[0]


def test_a_leader_that_loses_its_lease_restarts_and_wins_it_again() -> None:
    world = world_of(PLAN)
    before = lease(world)
    leaders.lose(world, "kube-system", MANAGER)
    world.advance(10)
    gone = lease(world)
    assert gone["spec"]["holderIdentity"] == before["spec"]["holderIdentity"]
    renewed = parse_rfc3339(gone["spec"]["renewTime"])
    assert parse_rfc3339(before["spec"]["renewTime"]) <= renewed <= world.now() - 8 * SECOND
    world.advance(20)
    after = lease(world)
    assert after["spec"]["holderIdentity"] != before["spec"]["holderIdentity"]
    assert after["spec"]["leaseTransitions"] == before["spec"]["leaseTransitions"] + 1
    assert world.now() - parse_rfc3339(after["spec"]["renewTime"]) <= 2.5 * SECOND
    pod = world.cluster.get("pods", f"{MANAGER}-{PLAN.first.name}", "kube-system")
    status = pod["status"]["containerStatuses"][0]
    assert status["restartCount"] == 1
    assert status["lastState"]["terminated"]["exitCode"] == 1


def test_another_control_plane_takes_over_when_the_leaders_machine_is_down() -> None:
    world = world_of(HIGHLY_AVAILABLE)
    before = machine_of(lease(world))
    power.reboot(world, before, 120.0)
    world.advance(40)
    after = lease(world)
    assert machine_of(after) in {"cp-0", "cp-1", "cp-2"} - {before}
    assert after["spec"]["leaseTransitions"] == 1
    world.advance(300)
    assert machine_of(lease(world)) == machine_of(after)


def test_a_lease_that_somebody_deletes_comes_back() -> None:
    world = world_of(PLAN)
    holder = lease(world)["spec"]["holderIdentity"]
    world.cluster.delete(LEASES, MANAGER, "kube-system")
    world.advance(5)
    assert lease(world)["spec"]["holderIdentity"] == holder


def test_pods_of_an_addon_elect_one_of_them() -> None:
    world = world_of(PLAN)
    leaders.contest(world, "default", "addon-leader", {"app": "addon"})
    labels = {"app": "addon"}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10"}
    apiserver.create(
        world,
        "deployments.apps",
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "addon", "namespace": "default"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        },
    )
    world.advance(60)
    first = machine_of(lease(world, "addon-leader", "default"))
    pods = {pod["metadata"]["name"] for pod in world.cluster.list("pods", "default")}
    assert first in pods
    world.advance(3600)
    assert (
        world.now() - parse_rfc3339(lease(world, "addon-leader", "default")["spec"]["renewTime"])
        <= 2.5 * SECOND
    )
    world.cluster.delete("pods", first, "default")
    world.advance(90)
    found = lease(world, "addon-leader", "default")
    assert machine_of(found) != first
    assert found["spec"]["leaseTransitions"] == 1


def test_a_lease_that_nobody_contests_stays_as_it_was_written() -> None:
    world = world_of(PLAN)
    spec = {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2026-06-01T00:00:00.000000Z"}
    metadata = {"name": "mine", "namespace": "default"}
    made = world.cluster.create(
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
    )
    world.advance(100)
    assert lease(world, "mine", "default") == made


@pytest.mark.parametrize("kind", ["leave", "cordon", "reboot", "failover"])
def test_what_a_plan_says_happens_in_its_time(kind: str) -> None:
    subject = MANAGER if kind == "failover" else "sre-worker3"
    at = 10 * DAY
    world = cluster_of(replace(PLAN, upkeep=(Upkeep(at, kind, subject, 40.0),)))  # type: ignore[arg-type]
    world.run_until(PLAN.born + at - SECOND)
    quiet = world.fork()
    world.run_until(PLAN.born + at + 600 * SECOND)
    names = [node["metadata"]["name"] for node in world.store.list("nodes")]
    restarts = {
        pod["metadata"]["name"]: pod["status"]["containerStatuses"][0]["restartCount"]
        for pod in world.store.list("pods")
    }
    assert sum(pod["status"]["containerStatuses"][0]["restartCount"] for pod in quiet.store.list("pods")) == 0
    if kind == "leave":
        assert subject not in names
        assert all(pod["spec"]["nodeName"] != subject for pod in world.store.list("pods"))
        assert subject not in [found["metadata"]["name"] for found in world.store.list(LEASES)]
        assert subject not in [
            found["metadata"]["name"] for found in world.store.list("csinodes.storage.k8s.io")
        ]
    elif kind == "cordon":
        node = world.cluster.get("nodes", subject)
        assert node["spec"]["unschedulable"]
        assert node["spec"]["taints"][0]["key"] == "node.kubernetes.io/unschedulable"
    else:
        assert sum(restarts.values()) > 0
