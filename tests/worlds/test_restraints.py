"""What is closed, odd or left over for a reason: who sweeps it away has what cannot run, or what nobody released."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, EPOCH
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.bringup.plan import ClusterPlan, Machine, cluster_of
from sregym_env.sim.bringup.populate import COREFILE
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import power
from sregym_env.sim.network import corefile
from sregym_env.sim.world.plan import Upkeep
from sregym_env.worlds import nameserver
from sregym_env.worlds.clusters import drawn_cluster
from sregym_env.worlds.past import served_workloads
from sregym_env.worlds.tenants.deeds import Install
from sregym_env.worlds.tenants.delivery import APPLY
from sregym_env.worlds.tenants.oddities import ODDITIES, Place
from sregym_env.worlds.tenants.workloads import Span
from sregym_env.worlds.variation import vary

PLANS = 120


def plans() -> list[ClusterPlan]:
    return [drawn_cluster(Chance(("restraints", number))) for number in range(PLANS)]


def pod(name: str, node: str, image: str = "busybox:1.36", **more: Any) -> Manifest:
    """A pod that sleeps on one machine, whatever that refuses."""
    container = {"name": "main", "image": image, "command": ["sh", "-c", "sleep infinity"], **more}
    spec = {
        "containers": [container],
        "nodeSelector": {"kubernetes.io/hostname": node},
        "tolerations": [{"operator": "Exists"}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def state(world: EmbeddedWorld, name: str) -> Manifest:
    found: Manifest = world.cluster.get("pods", name, "default")["status"]
    return found


def said(world: EmbeddedWorld, name: str) -> set[str]:
    events = world.cluster.list("events", "default")
    return {event["message"] for event in events if event["involvedObject"]["name"] == name}


# --- machines -------------------------------------------------------------------------------------


def test_most_clusters_have_a_machine_that_must_stay_closed() -> None:
    """So that opening everything repairs a few of the pairs in which all nodes are closed, and no more."""
    bad = [
        plan
        for plan in plans()
        if any(upkeep.kind == "retire" for upkeep in plan.upkeep)
        or any(machine.architecture == "arm64" for machine in plan.machines)
    ]
    assert 0.5 < len(bad) / PLANS < 0.75


def test_a_retired_machine_is_closed_by_a_cordon_or_a_taint_and_says_why() -> None:
    retired = [upkeep for plan in plans() for upkeep in plan.upkeep if upkeep.kind == "retire"]
    assert {upkeep.tainted for upkeep in retired} == {True, False}
    assert all(upkeep.taint for upkeep in retired)
    assert all(upkeep.notes for upkeep in retired)
    plain = [
        m for plan in plans() for m in plan.machines if plan.upkeep and not m.taints and not m.control_plane
    ]
    assert {upkeep.subject for upkeep in retired} <= {machine.name for machine in plain}


def cluster(*upkeep: Upkeep, **second: Any) -> EmbeddedWorld:
    """A cluster of three machines, of which one differs or has met something."""
    machines = (
        Machine("control", "10.0.0.2", "10.244.0.0/24", True),
        Machine("good", "10.0.0.3", "10.244.1.0/24"),
        Machine("other", "10.0.0.4", "10.244.2.0/24", **second),
    )
    plan = ClusterPlan(machines=machines, born=EPOCH - 3 * DAY, present=EPOCH, upkeep=upkeep)
    world = cluster_of(plan)
    world.run_until(plan.present)
    return world


@pytest.mark.parametrize("taint", [None, ("quarantine", "true", "NoSchedule")])
def test_nothing_starts_on_a_machine_whose_disk_is_read_only(taint: tuple[str, str, str] | None) -> None:
    world = cluster(
        Upkeep(2 * DAY, "retire", "other", taint=taint, tainted=True, notes=(("reason", "bad disk"),))
    )
    node = world.cluster.get("nodes", "other")
    assert node["metadata"]["annotations"]["reason"] == "bad disk"
    assert node["spec"].get("unschedulable", False) is (taint is None)
    keys = {each["key"] for each in node["spec"]["taints"]}
    assert keys == {"quarantine" if taint else "node.kubernetes.io/unschedulable"}
    # What is there already goes on.
    there = world.cluster.list("pods", field_selector="spec.nodeName=other")
    assert there
    assert all(each["status"]["phase"] == "Running" for each in there)
    for name in ("good", "other"):
        world.cluster.create(pod(name, name))
    world.advance(120.0)
    assert state(world, "good")["phase"] == "Running"
    assert state(world, "other")["phase"] == "Pending"
    uid = world.cluster.get("pods", "other", "default")["metadata"]["uid"]
    text = f"error making pod data directories: mkdir /var/lib/kubelet/pods/{uid}: read-only file system"
    assert text in said(world, "other")


def test_a_machine_on_which_data_lie_is_not_retired() -> None:
    world = cluster()
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["other"]}]}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "local": {"path": "/mnt/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }
    world.cluster.create(volume)
    before = world.cluster.get("nodes", "other")["spec"]
    power.retire(world, Upkeep(0, "retire", "other"))
    assert world.cluster.get("nodes", "other")["spec"] == before


def test_a_build_for_another_processor_is_started_and_cannot_be_executed() -> None:
    world = cluster(architecture="arm64")
    world.images = {**world.images, **{image.reference: image for image in APP.images}}
    build = next(
        m["spec"]["template"]["spec"]["containers"][0]["image"]
        for m in APP.manifests
        if m["kind"] == "Deployment" and m["metadata"]["name"] == "geo"
    )
    for name, image in (("shell", "busybox:1.36"), ("build", build)):
        world.cluster.create(pod(name, "other", image))
    world.advance(90.0)
    assert state(world, "shell")["phase"] == "Running"
    (container,) = state(world, "build")["containerStatuses"]
    assert container["restartCount"] > 0
    assert container["lastState"]["terminated"]["exitCode"] == 255
    assert world.cluster.logs("default", "build", previous=True) == "exec /bin/sh: exec format error\n"


# --- names ----------------------------------------------------------------------------------------


def zones() -> list[nameserver.Zone]:
    found = [nameserver.drawn_zone(Chance(("zones", number))) for number in range(60)]
    return [zone for zone in found if zone is not None]


def test_a_zone_answers_for_its_names_alone() -> None:
    assert 0.4 < len(zones()) / 60 < 0.8
    for zone in zones():
        read = corefile.parse(zone.written_into(COREFILE))
        own, rest = read.block(zone.names[0]), read.block("geo.hotel-reservation.svc.cluster.local")
        assert own is not None
        assert rest is not None
        assert own is not rest
        assert corefile.parse(COREFILE).block("x.y") == rest


def test_pods_that_wait_for_a_name_start_where_it_is_known() -> None:
    zone = zones()[0]
    world = bare_cluster(0)
    nameserver.Serve(zone).do(world)
    world.advance(180.0)
    node = world.plan.machines[1].name
    for name, host in (("known", zone.names[0]), ("unknown", f"nobody.{zone.name}")):
        waiting = pod(name, node)
        script = f"until nslookup {host}; do sleep 2; done"
        waiting["spec"]["initContainers"] = [
            {"name": "wait", "image": "busybox:1.36", "command": ["sh", "-c", script]}
        ]
        world.cluster.create(waiting)
    world.advance(60.0)
    assert state(world, "known")["phase"] == "Running"
    assert state(world, "unknown")["phase"] == "Pending"


def waits(app: App) -> list[str]:
    return [
        container["command"][-1]
        for manifest in app.manifests
        if manifest["kind"] in ("Deployment", "StatefulSet")
        for container in manifest["spec"]["template"]["spec"].get("initContainers") or ()
        if "nslookup" in str(container.get("command"))
    ]


def test_some_pods_need_the_names_of_the_zone() -> None:
    for number in range(8):
        chance = Chance(("awaits", number))
        names = ("ldap.corp.internal", "erp.corp.internal")
        waiting = [script for script in waits(vary(APP, chance, names)) if any(n in script for n in names)]
        assert 2 <= len(waiting) <= 4
        assert not any(name in script for name in names for script in waits(vary(APP, chance)))


# --- what was before ------------------------------------------------------------------------------


def test_who_gives_a_former_self_a_replica_sends_users_there() -> None:
    served = tuple(served_workloads(APP))
    assert {m["metadata"]["name"] for m in served} >= {"frontend", "geo"}
    span = Span(EPOCH - 120 * DAY, EPOCH)
    place = Place({}, APP.namespace, EPOCH - 90 * DAY, span, APPLY, (), served)
    selectors = [m["spec"]["selector"] for m in APP.manifests if m["kind"] == "Service"]
    _, former_self = ODDITIES["former self"]
    for number in range(12):
        (deed,) = former_self(place, Chance(("former", number))).deeds
        assert isinstance(deed.act, Install)
        (made,) = deed.act.manifests
        labels = made["spec"]["template"]["metadata"]["labels"]
        assert made["spec"]["replicas"] == 0
        assert made["metadata"]["name"] not in APP.by_name
        assert any(selector.items() <= labels.items() for selector in selectors)
        pods = [m["spec"]["template"]["metadata"]["labels"] for m in served]
        assert not any(made["spec"]["selector"]["matchLabels"].items() <= each.items() for each in pods)
