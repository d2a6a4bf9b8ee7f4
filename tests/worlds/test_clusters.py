"""Drawn clusters: they come up, they have lived, and nothing in them contradicts their counter or their clock."""

from __future__ import annotations

import itertools
import pickle
from functools import lru_cache
from typing import Any

import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.quantity import bytes_, cpu_cores
from sregym_env.kube.status import StatusError
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, HOUR, MINUTE, SECOND
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.bringup.plan import PUBLISHED, ClusterPlan, cluster_of
from sregym_env.sim.cluster import release
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.network import pki, tls
from sregym_env.tools.workstation import Workstation
from sregym_env.worlds.clusters import MOST_MACHINES, OLDEST, drawn_cluster
from tests.sim.kubelet_world import condition

MANY = 300
LIVED = 30
FEW = range(6)
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


def plan_of(number: int) -> ClusterPlan:
    return drawn_cluster(Chance(("tests", "clusters", number)))


@lru_cache(maxsize=LIVED)
def kept(number: int) -> EmbeddedWorld:
    plan = plan_of(number)
    world = cluster_of(plan)
    world.run_until(plan.present)
    return world.fork()


def lived(number: int) -> EmbeddedWorld:
    """A drawn cluster at its present."""
    return kept(number).fork()


def shown(world: EmbeddedWorld) -> list[tuple[str, dict[str, Any]]]:
    """Every object as a client sees it, with its resource."""
    cluster = world.cluster
    return [(resource, obj) for resource in world.store.resources() for obj in cluster.list(resource)]


def revision(obj: dict[str, Any]) -> int:
    return int(obj["metadata"]["resourceVersion"])


# --- plans ------------------------------------------------------------------------------------------------------


def test_a_plan_follows_from_its_chance() -> None:
    assert plan_of(3) == plan_of(3)
    assert len({plan_of(number).key for number in range(MANY)}) == MANY
    # Machines have names of their own but for kind's, who calls them all alike.
    names = [
        m.name
        for number in range(MANY)
        for m in plan_of(number).machines
        if plan_of(number).provider != "kind"
    ]
    assert len(set(names)) > 0.8 * len(names)


@pytest.mark.parametrize("start", range(0, MANY, 50))
def test_plans_hold_together(start: int) -> None:
    for number in range(start, start + 50):
        plan = plan_of(number)
        age = plan.present - plan.born
        assert HOUR <= age <= OLDEST
        names, addresses = [m.name for m in plan.machines], [m.address for m in plan.machines]
        assert len(set(names)) == len(names)
        assert len(set(addresses)) == len(addresses)
        assert len({m.pod_cidr for m in plan.machines}) == len(names)
        assert all(len(name) <= 63 for name in names)
        leaving = [upkeep.subject for upkeep in plan.upkeep if upkeep.kind == "leave"]
        assert 3 <= len(names) - len(leaving) <= MOST_MACHINES
        assert all(0 <= m.joins < age for m in plan.machines)
        assert all(0 < upkeep.at < age for upkeep in plan.upkeep)
        assert list(plan.upkeep) == sorted(plan.upkeep, key=lambda upkeep: upkeep.at)
        assert 0 < plan.installed < 15 * MINUTE
        assert plan.api_address not in addresses


@pytest.mark.parametrize("start", range(0, MANY, 50))
def test_there_is_room_for_an_application_from_the_start(start: int) -> None:
    for number in range(start, start + 50):
        plan = plan_of(number)
        closed = {upkeep.subject for upkeep in plan.upkeep if upkeep.kind in ("cordon", "leave", "retire")}
        stable = [
            m for m in plan.machines
            if not m.control_plane and not m.taints and m.joins < 15 * MINUTE and m.name not in closed
        ]  # fmt: skip
        assert len(stable) >= 2
        assert sum(cpu_cores(dict(m.allocatable)["cpu"]) for m in stable) >= 16
        assert sum(bytes_(dict(m.allocatable)["memory"]) for m in stable) >= 32 * 2**30


@pytest.mark.parametrize("start", range(0, MANY, 50))
def test_no_kubelet_is_newer_than_its_control_plane(start: int) -> None:
    for number in range(start, start + 50):
        plan = plan_of(number)
        assert all(m.kubelet == plan.version for m in plan.control_planes)
        newest = _version(plan.version)
        released = parse_rfc3339(release(plan.version)["buildDate"])
        assert released < plan.born
        assert all(
            newest[1] - 2 <= _version(m.kubelet)[1] and _version(m.kubelet) <= newest for m in plan.machines
        )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.removeprefix("v").split("."))


@pytest.mark.parametrize("start", range(0, MANY, 50))
def test_counters_rise_as_written(start: int) -> None:
    for number in range(start, start + 50):
        plan = plan_of(number)
        pace = plan.pace
        assert pace is not None
        knots = pace.knots
        assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(knots))
        assert knots[0] == (plan.born, 0)
        assert pace.at(knots[-1][0]) == knots[-1][1]
        nodes = len(plan.machines)
        formula = 3600 + 720 * len(plan.control_planes) + 372 * nodes + 1800 * plan.addons
        assert 0.4 * formula < pace.per_hour < 3.0 * formula
        head = pace.at(plan.present)
        hours = (plan.present - plan.born) / HOUR
        assert 0.5 * pace.per_hour * hours < head < 1.5 * pace.per_hour * hours + 1.2e5
        for ahead in (1, 10, 12345):
            assert pace.at(pace.when(head + ahead)) == head + ahead
            assert pace.at(pace.when(head + ahead) - 1) < head + ahead


def test_the_law_of_the_hours() -> None:
    plans = [plan_of(number) for number in range(MANY)]
    days = [plan.present // DAY % 7 for plan in plans]  # 1970-01-01 was a Thursday
    weekend = sum(day in (2, 3) for day in days)
    working = sum(
        8 * HOUR <= plan.present % DAY < 18 * HOUR and day not in (2, 3)
        for plan, day in zip(plans, days, strict=True)
    )
    assert 0.05 < weekend / MANY < 0.16
    assert 0.57 < working / MANY < 0.73
    assert len({plan.present // DAY for plan in plans}) > MANY // 3
    assert 0.3 < sum(any(u.kind == "reboot" for u in plan.upkeep) for plan in plans) / MANY < 0.7
    assert len({plan.provider for plan in plans}) >= 5


# --- worlds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(LIVED))
def test_every_drawn_cluster_lives(number: int) -> None:
    world, plan = lived(number), plan_of(number)
    assert world.now() == plan.present
    for pod in world.store.list("pods"):
        assert pod["status"]["phase"] == "Running", pod["metadata"]["name"]
        assert condition(pod, "Ready")["status"] == "True", pod["metadata"]["name"]
    nodes = {node["metadata"]["name"]: node for node in world.cluster.list("nodes")}
    gone = {upkeep.subject for upkeep in plan.upkeep if upkeep.kind == "leave"}
    assert nodes.keys() == {m.name for m in plan.machines} - gone
    assert all(condition(node, "Ready")["status"] == "True" for node in nodes.values())
    for daemons in world.store.list("daemonsets.apps"):
        assert daemons["status"]["numberReady"] == len(nodes)
    _ages(world, plan, nodes)
    _counter(world, plan)
    _restarts(world, plan)


def _ages(world: EmbeddedWorld, plan: ClusterPlan, nodes: dict[str, Any]) -> None:
    """Nothing is older than what it lives on."""
    made = {name: parse_rfc3339(node["metadata"]["creationTimestamp"]) for name, node in nodes.items()}
    for machine in plan.machines:
        if machine.name in made:
            assert abs(made[machine.name] - plan.born - machine.joins) < 2 * SECOND
    for _, obj in shown(world):
        created = parse_rfc3339(obj["metadata"]["creationTimestamp"])
        assert plan.born - SECOND < created <= world.now()
    for pod in world.store.list("pods"):
        # What is installed before there is a machine for it waits.
        assert parse_rfc3339(pod["status"]["startTime"]) >= made[pod["spec"]["nodeName"]]


def _counter(world: EmbeddedWorld, plan: ClusterPlan) -> None:
    """Revisions are unique, the newest are leases', all lie between an object's birth and the head."""
    objects = shown(world)
    pace = plan.pace
    assert pace is not None
    found = [revision(obj) for _, obj in objects]
    assert len(set(found)) == len(found)
    assert max(found) <= world.store.revision
    newest = [resource for resource, _ in sorted(objects, key=lambda entry: -revision(entry[1]))[:3]]
    assert "leases.coordination.k8s.io" in newest
    assert set(newest) <= {"leases.coordination.k8s.io", "nodes"}
    for _, obj in objects:
        created = parse_rfc3339(obj["metadata"]["creationTimestamp"])
        assert pace.at(created) <= revision(obj)
    leases = world.cluster.list("leases.coordination.k8s.io")
    renewed = [parse_rfc3339(lease["spec"]["renewTime"]) for lease in leases]
    by_time = sorted(zip(renewed, map(revision, leases), strict=True))
    assert [number for _, number in by_time] == sorted(map(revision, leases))
    for lease, time in zip(leases, renewed, strict=True):
        period = (
            2
            if lease["metadata"]["name"].startswith("kube-")
            and lease["metadata"]["namespace"] == "kube-system"
            else 10
        )
        assert 0 <= world.now() - time <= (period + 1) * SECOND, lease["metadata"]["name"]
    for node in world.cluster.list("nodes"):
        beat = parse_rfc3339(condition(node, "Ready")["lastHeartbeatTime"])
        assert 0 <= world.now() - beat <= 5 * MINUTE + 3 * SECOND


def _restarts(world: EmbeddedWorld, plan: ClusterPlan) -> None:
    """Restarts are those of the machines' reboots, and of leaders that lost their lease."""
    lost = sum(upkeep.kind == "failover" for upkeep in plan.upkeep)
    for pod in world.store.list("pods"):
        created = parse_rfc3339(pod["metadata"]["creationTimestamp"])
        boots = [
            upkeep for upkeep in plan.upkeep
            if upkeep.kind == "reboot" and upkeep.subject == pod["spec"]["nodeName"] and plan.born + upkeep.at > created
        ]  # fmt: skip
        count = pod["status"]["containerStatuses"][0]["restartCount"]
        leads = pod["metadata"]["name"].startswith(("kube-controller-manager", "kube-scheduler"))
        assert len(boots) <= count <= len(boots) + (lost if leads else 0)
    for node in world.store.list("nodes"):
        boots = [u for u in plan.upkeep if u.kind == "reboot" and u.subject == node["metadata"]["name"]]
        if boots:
            up = plan.born + boots[-1].at + round(boots[-1].seconds * SECOND)
            assert abs(parse_rfc3339(condition(node, "Ready")["lastTransitionTime"]) - up) < 2 * SECOND


def test_the_counter_runs_while_nobody_does_anything() -> None:
    world, plan = lived(0), plan_of(0)
    pace = plan.pace
    assert pace is not None
    before = {name: revision(obj) for name, obj in _renewed(world).items()}
    head = world.store.revision
    world.advance(3600)
    assert world.store.revision - head == pytest.approx(pace.per_hour, rel=0.02)
    after = {name: revision(obj) for name, obj in _renewed(world).items()}
    assert all(after[name] > before[name] for name in before)


def _renewed(world: EmbeddedWorld) -> dict[tuple[str, str], dict[str, Any]]:
    cluster = world.cluster
    return {
        (resource, obj["metadata"]["name"]): obj
        for resource in ("nodes", "leases.coordination.k8s.io")
        for obj in cluster.list(resource)
    }


def test_renewals_never_go_back_and_never_meet_a_write() -> None:
    world = lived(1)
    seen: dict[int, tuple[str, str, str]] = {}
    last: dict[tuple[str, str], int] = {}
    for step in range(60):
        written = world.cluster.create(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"note-{step}", "namespace": "default"},
            }
        )
        assert (
            seen.setdefault(revision(written), ("configmaps", written["metadata"]["name"], ""))[0]
            == "configmaps"
        )
        world.advance(0.7)
        for name, obj in _renewed(world).items():
            time = obj["spec"]["renewTime"] if name[0].startswith("leases") else ""
            assert revision(obj) >= last.get(name, 0)
            assert seen.setdefault(revision(obj), (*name, time)) == (*name, time)
            assert revision(obj) <= world.store.revision
            last[name] = revision(obj)


def test_a_write_of_what_was_read_is_no_conflict_and_one_of_what_is_old_is() -> None:
    world = lived(2)
    cluster = world.cluster
    name = plan_of(2).first.name
    read = cluster.get("nodes", name)
    world.advance(400)
    labels = {**read["metadata"]["labels"], "seen": "1"}
    made = cluster.replace({**read, "metadata": {**read["metadata"], "labels": labels}})
    assert revision(made) > revision(read)
    with pytest.raises(StatusError, match="the object has been modified"):
        cluster.replace({**read, "metadata": {**read["metadata"], "labels": {**labels, "seen": "2"}}})
    lease = cluster.get("leases.coordination.k8s.io", name, "kube-node-lease")
    world.advance(30)
    assert cluster.replace({**lease, "metadata": {**lease["metadata"], "labels": {"a": "b"}}})


# --- determinism -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", FEW)
def test_the_same_plan_gives_the_same_world(number: int) -> None:
    again = cluster_of(plan_of(number))
    again.run_until(plan_of(number).present)
    assert again.digest() == lived(number).digest()
    assert again.store.revision == lived(number).store.revision


@pytest.mark.parametrize("number", FEW)
def test_forks_and_copies_go_on_alike(number: int) -> None:
    world = lived(number)
    copy = pickle.loads(pickle.dumps(world))
    fork = world.fork()
    for each in (world, copy, fork):
        each.cluster.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "default"}}
        )
        each.advance(1234.5)
    assert world.digest() == copy.digest() == fork.digest()
    assert shown(world) == shown(copy) == shown(fork)
    assert world.store.revision == copy.store.revision == fork.store.revision


def test_a_cluster_waits_for_years_at_no_cost() -> None:
    world = lived(0)
    left = len(world.queue)
    world.advance(3 * 365 * 86_400)
    assert len(world.queue) <= left + 4


def test_no_two_clusters_share_an_identity() -> None:
    seen: dict[str, int] = {}
    for number in FEW:
        world = lived(number)
        own = {obj["metadata"]["uid"] for _, obj in shown(world) if "uid" in obj["metadata"]}
        for node in world.store.list("nodes"):
            info = node["status"]["nodeInfo"]
            own |= {info["bootID"], info["machineID"], info["systemUUID"]}
        own |= {
            lease["spec"]["holderIdentity"].rpartition("_")[2]
            for lease in world.store.list("leases.coordination.k8s.io")
        }
        own |= {
            pod["metadata"]["name"].rpartition("-")[2]
            for pod in world.store.list("pods")
            if pod["metadata"].get("generateName")
        }
        assert not own & seen.keys()
        seen.update(dict.fromkeys(own, number))


def test_the_published_cluster_is_a_plan_like_any_other() -> None:
    world = cluster_of(PUBLISHED)
    world.run_until(PUBLISHED.present)
    assert world.digest() == bare_cluster(0).digest()
    assert world.plan is PUBLISHED
    assert world.store.revision < 2000


GOLDEN = """\
NAME                               STATUS   ROLES           AGE    VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE             KERNEL-VERSION      CONTAINER-RUNTIME
comet-test-4-control-plane-ngpkj   Ready    control-plane   111d   v1.32.5   10.0.0.4      <none>        Ubuntu 22.04.5 LTS   5.15.0-1089-azure   containerd://1.7.26
comet-test-4-md-0-7w92b            Ready    <none>          111d   v1.32.5   10.1.0.9      <none>        Ubuntu 22.04.5 LTS   5.15.0-1089-azure   containerd://1.7.26
comet-test-4-md-0-grk65            Ready    <none>          111d   v1.32.5   10.1.0.7      <none>        Ubuntu 22.04.5 LTS   5.15.0-1089-azure   containerd://1.7.26
comet-test-4-md-0-kzcc8            Ready    <none>          111d   v1.32.5   10.0.0.8      <none>        Ubuntu 22.04.5 LTS   5.15.0-1089-azure   containerd://1.7.26
comet-test-4-md-spot-5phnl         Ready    <none>          41h    v1.32.5   10.1.0.11     <none>        Ubuntu 22.04.5 LTS   5.15.0-1089-azure   containerd://1.7.26
"""


def test_nodes_as_kubectl_shows_them() -> None:
    text = Workstation(lived(1), ADMIN).run("kubectl get nodes -o wide").text
    assert text == GOLDEN


@pytest.mark.parametrize("number", FEW)
def test_every_cluster_has_an_authority_of_its_own(number: int) -> None:
    plan, other = plan_of(number), plan_of(number + 1)
    for now in (plan.born + SECOND, plan.present, plan.present + 30 * DAY):
        server = pki.api_server(plan, now)
        for host in ("kubernetes.default.svc", plan.api_address, plan.first.address):
            assert tls.go_refusal(server, pki.authority(plan), host, now) == ""
        assert "signed by unknown authority" in tls.go_refusal(
            server, pki.authority(other), "kubernetes", now
        )
    bundle = lived(number).cluster.get("configmaps", "kube-root-ca.crt", "default")
    assert bundle["data"]["ca.crt"] == pki.authority(plan)


def test_a_pod_reaches_the_api_by_the_address_it_is_given() -> None:
    world, plan = lived(1), plan_of(1)
    shell = Workstation(world, ADMIN)
    shell.run("kubectl run c --image=curlimages/curl:8.5.0 --command -- sleep 1000; sleep 30")
    bundle = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
    said = shell.run(
        f"kubectl exec c -- sh -c 'curl -s --cacert {bundle} https://$KUBERNETES_SERVICE_HOST/version; cat /proc/uptime'"
    ).text
    assert f'"gitVersion": "{plan.version}"' in said
    assert shell.run("kubectl version").text.endswith(f"Server Version: {plan.version}\n")
