"""Lived worlds: healthy, declared, different, and as old in their parts as real ones."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.app import App
from sregym_env.cluster.apply import cleaned, ref
from sregym_env.cluster.deploy import unavailable
from sregym_env.kube.conditions import is_true
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, EPOCH, HOUR, MINUTE, SECOND
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.bringup.plan import cluster_of
from sregym_env.sim.containers import node_files
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.tools.kubectl import Kubectl
from sregym_env.worlds.clusters import drawn_cluster
from sregym_env.worlds.lastapplied import LAST_APPLIED
from sregym_env.worlds.past import RollOutSettings, in_office, live
from sregym_env.worlds.tenants.workloads import Span
from sregym_env.worlds.variation import vary
from tests.worlds.richer import richer

WORLDS = 24
HOSTNAME = "kubernetes.io/hostname"
REVISION = "deployment.kubernetes.io/revision"
ROLLED = ("deployments.apps", "statefulsets.apps", "daemonsets.apps")


@dataclass(frozen=True)
class Lived:
    """A world after its past."""

    world: EmbeddedWorld
    born: int
    drawn: App


@lru_cache(maxsize=1)
def lived() -> tuple[Lived, ...]:
    """Worlds that have lived: two thirds drawn as a whole, the others the published cluster and a plain application."""
    return tuple(_lived(number) for number in range(WORLDS))


def _lived(number: int) -> Lived:
    chance = Chance(("lived", number))
    if number % 3:
        plan, app = drawn_cluster(chance.at("cluster")), vary(APP, chance.at("app"))
        world = cluster_of(plan)
        live(world, app, chance.at("past"))
        return Lived(world, plan.born, app)
    world, app = bare_cluster(number % 2), richer()
    born = world.now() - 41 * DAY
    live(world, app, chance.at("past"), EPOCH + round(chance.uniform("age", 2.0, 300.0) * DAY))
    return Lived(world, born, app)


@pytest.mark.parametrize("number", range(WORLDS))
def test_it_is_healthy(number: int) -> None:
    world = lived()[number].world
    fares = world.traffic.health(300.0)
    assert {fare.journey for fare in fares} == {journey.name for journey in APP.journeys}
    for fare in fares:
        assert fare.requests > 0
        assert fare.success_ratio >= world.app.slo.success_ratio
        assert fare.latency_seconds <= world.app.slo.latency_seconds
    assert unavailable(world.cluster, APP.namespace) == []
    assert world.alerts() == []


@pytest.mark.parametrize("number", range(WORLDS))
def test_it_stays_healthy_and_costs_little(number: int) -> None:
    world = lived()[number].world.fork()
    world.advance(600.0)
    assert all(fare.success_ratio >= 0.99 for fare in world.traffic.health(300.0))
    # What is left in the queue are tasks and lives of workers, not a loop of retries.
    world.advance(3 * 3600.0)
    assert unavailable(world.cluster, APP.namespace) == []


@pytest.mark.parametrize("number", range(WORLDS))
def test_the_application_declares_what_is_live(number: int) -> None:
    world = lived()[number].world
    for manifest in world.app.manifests:
        target = ref(manifest, world.cluster.registry)
        live_object = world.cluster.get(target.resource, target.name, target.namespace)
        if target.resource in ("jobs.batch", "persistentvolumeclaims", "namespaces"):
            continue
        put = world.cluster.replace(manifest, dry_run=True)
        assert contents(put) == contents(live_object), target


def contents(manifest: Manifest) -> Manifest:
    """What people have written, without what tools remember of it."""
    kept = cleaned(manifest)
    notes = dict(kept["metadata"].get("annotations") or {})
    notes.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    for key in [key for key in notes if key.startswith("deployment.kubernetes.io/")]:
        del notes[key]
    metadata = {"labels": kept["metadata"].get("labels") or {}, "annotations": notes}
    spec = kept.get("spec")
    if kept["kind"] == "Deployment" and spec is not None:
        autoscaled = {key: value for key, value in spec.items() if key != "replicas"}
        kept = {**kept, "spec": autoscaled}
    return {**kept, "metadata": metadata}


def test_what_was_applied_is_known_so_that_a_field_can_be_taken_out_of_a_manifest() -> None:
    """Where ``kubectl apply`` has delivered the application, applying a manifest without a field removes the field."""
    delivered = 0
    for item in lived():
        world = item.world.fork()
        found = world.cluster.get("deployments.apps", "geo", APP.namespace)
        applied = (found["metadata"].get("annotations") or {}).get(LAST_APPLIED)
        if applied is None:
            continue
        delivered += 1
        manifest = json.loads(applied)
        gone = sorted(manifest["metadata"]["labels"])[0]
        del manifest["metadata"]["labels"][gone]
        done = Kubectl(world.cluster, APP.namespace).run(["apply", "-f", "-"], json.dumps(manifest))
        assert done.stdout == "deployment.apps/geo configured\n"
        # Some namespaces warn of a standard that the application has never met.
        assert all(
            line.startswith("Warning: would violate PodSecurity ") for line in done.stderr.splitlines()
        )
        left = world.cluster.get("deployments.apps", "geo", APP.namespace)["metadata"].get("labels", {})
        # What others have written since is put back by the way.
        wanted = {**found["metadata"]["labels"], **manifest["metadata"]["labels"]}
        assert left == {key: value for key, value in wanted.items() if key != gone}
    assert delivered >= 4


def _deployments(item: Lived) -> list[Manifest]:
    own = {c.name for c in item.world.app.components if c.workload == "deployments.apps"}
    found = item.world.cluster.list("deployments.apps", APP.namespace)
    return [deployment for deployment in found if deployment["metadata"]["name"] in own]


def _revision(deployment: Manifest) -> int:
    return int(deployment["metadata"]["annotations"][REVISION])


def test_a_third_of_the_workloads_has_a_history() -> None:
    revisions = [_revision(d) for item in lived() for d in _deployments(item)]
    changed = sum(revision > 1 for revision in revisions) / len(revisions)
    assert 0.25 <= changed <= 0.45
    assert max(revisions) >= 4
    shares = {
        round(sum(_revision(d) > 1 for d in _deployments(item)) / len(_deployments(item)), 2)
        for item in lived()
    }
    assert len(shares) >= 5


def test_replica_sets_of_the_past_are_kept_up_to_the_limit() -> None:
    for item in lived():
        sets = item.world.cluster.list("replicasets.apps", APP.namespace)
        for deployment in _deployments(item):
            uid = deployment["metadata"]["uid"]
            own = [s for s in sets if s["metadata"]["ownerReferences"][0]["uid"] == uid]
            numbers = [int(s["metadata"]["annotations"][REVISION]) for s in own]
            assert len(set(numbers)) == len(numbers)
            assert max(numbers) == _revision(deployment)
            assert sum(s["spec"]["replicas"] == 0 for s in own) <= deployment["spec"]["revisionHistoryLimit"]


def test_knobs_take_several_values() -> None:
    """What gives a cluster away if it never changes: tools, causes, managers, ages, neighbours."""
    managers: Counter[str] = Counter()
    causes, ages, pods, spaces = set(), set(), set(), set()
    for item in lived():
        cluster = item.world.cluster
        for deployment in _deployments(item):
            metadata = deployment["metadata"]
            managers.update({entry["manager"] for entry in metadata.get("managedFields") or ()})
            causes.add(metadata["annotations"].get("kubernetes.io/change-cause", ""))
            ages.add(metadata["creationTimestamp"])
        pods.add(len(cluster.list("pods")))
        spaces |= {space["metadata"]["name"] for space in cluster.list("namespaces")}
    assert len(managers) >= 6
    assert len(causes) >= 4
    assert len(ages) > 2 * WORLDS
    assert len(pods) >= 10
    assert len(spaces) > 2 * WORLDS


def test_ages_form_a_hierarchy() -> None:
    for item in lived():
        cluster = item.world.cluster
        spaces = {
            s["metadata"]["name"]: s["metadata"]["creationTimestamp"] for s in cluster.list("namespaces")
        }
        made = {}
        for resource in (*ROLLED, "replicasets.apps", "jobs.batch", "cronjobs.batch"):
            for obj in cluster.list(resource):
                made[obj["metadata"]["uid"]] = obj["metadata"]["creationTimestamp"]
        for resource in ("pods", "replicasets.apps", *ROLLED):
            for obj in cluster.list(resource):
                metadata = obj["metadata"]
                time = metadata["creationTimestamp"]
                assert item.born <= parse_rfc3339(time) + SECOND
                assert parse_rfc3339(time) <= item.world.now()
                assert spaces[metadata["namespace"]] <= time
                for owner in metadata.get("ownerReferences") or ():
                    assert made.get(owner["uid"], "") <= time


def test_revisions_follow_the_order_of_writes() -> None:
    for item in lived():
        versions = []
        for resource in (*ROLLED, "pods", "replicasets.apps", "services", "configmaps", "events", "nodes"):
            for obj in item.world.cluster.list(resource):
                versions.append(int(obj["metadata"]["resourceVersion"]))
        assert len(set(versions)) == len(versions)
        objects = item.world.cluster.list("replicasets.apps")
        made = sorted(objects, key=lambda obj: obj["metadata"]["creationTimestamp"])
        # Versions are of the last write, which is never before the creation of what came earlier still untouched.
        assert int(made[0]["metadata"]["resourceVersion"]) < max(versions)


def test_statuses_are_complete() -> None:
    for item in lived():
        for resource in ROLLED:
            for obj in item.world.cluster.list(resource, APP.namespace):
                assert obj["status"]["observedGeneration"] == obj["metadata"]["generation"]
        for deployment in _deployments(item):
            status = deployment["status"]
            kinds = {c["type"]: c for c in status["conditions"]}
            assert kinds["Available"]["status"] == kinds["Progressing"]["status"] == "True"
            assert kinds["Progressing"]["reason"] == "NewReplicaSetAvailable"
            assert status["updatedReplicas"] == status["replicas"] == deployment["spec"]["replicas"]


def test_no_restart_is_without_a_reason() -> None:
    for item in lived():
        for pod in item.world.cluster.list("pods"):
            for container in pod["status"].get("containerStatuses") or ():
                if container["restartCount"]:
                    last = container["lastState"].get("terminated")
                    assert last is None or (last["reason"] and "exitCode" in last)


def test_nothing_of_a_neighbour_concerns_the_application() -> None:
    for item in lived():
        cluster = item.world.cluster
        own = [pod["metadata"].get("labels") or {} for pod in cluster.list("pods", APP.namespace)]
        declared = {(m["kind"], m["metadata"]["name"]) for m in item.world.app.manifests}
        for resource in ("services", "poddisruptionbudgets.policy", "networkpolicies.networking.k8s.io"):
            for obj in cluster.list(resource, APP.namespace):
                if (obj["kind"], obj["metadata"]["name"]) in declared:
                    continue
                selector = obj["spec"].get("selector") or {"nobody": "else"}
                assert not any(selector.items() <= labels.items() for labels in own)


def test_data_lie_where_pods_may_go() -> None:
    """A machine that is closed holds no volume of the application: its database could never start again."""
    for item in lived():
        nodes = {
            n["metadata"]["labels"]["kubernetes.io/hostname"]: n for n in item.world.cluster.list("nodes")
        }
        for volume in item.world.cluster.list("persistentvolumes"):
            if volume["spec"].get("claimRef", {}).get("namespace") != APP.namespace:
                continue
            terms = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
            host = terms[0]["matchExpressions"][0]["values"][0]
            assert not nodes[host]["spec"].get("unschedulable")


def _hosts(pod: Manifest) -> list[tuple[str, list[str]]]:
    """What a pod template asks of the names of machines: (operator, names)."""
    selected = (pod.get("nodeSelector") or {}).get(HOSTNAME)
    found = [("In", [selected])] if selected else []
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for each in term.get("matchExpressions") or ():
            if each["key"] == HOSTNAME:
                found.append((each["operator"], each["values"]))
    return found


def test_some_workloads_are_bound_to_machines_on_which_they_are() -> None:
    bound, count, forms = 0, 0, set()
    for item in lived():
        pods = item.world.cluster.list("pods", APP.namespace)
        for component in item.world.app.components:
            if component.kind == "load" or component.workload not in ROLLED:
                continue
            workload = item.world.cluster.get(component.workload, component.name, APP.namespace)
            count += 1
            hosts = _hosts(workload["spec"]["template"]["spec"])
            bound += bool(hosts)
            labels = workload["spec"]["selector"]["matchLabels"].items()
            places = {p["spec"].get("nodeName") for p in pods if labels <= p["metadata"]["labels"].items()}
            for operator, names in hosts:
                forms.add((operator, len(names) > 1))
                # A pool of one would be gone with its machine; who keeps data is where they are.
                assert len(names) > 1 or operator == "NotIn" or component.volume
                assert places <= {*names} if operator == "In" else not places & {*names}
    assert 0.02 < bound / count < 0.15
    assert len(forms) > 2


def test_a_past_is_a_value() -> None:
    """The same chance gives the same world to the bit, another one another world."""
    digests = []
    for key in (1, 1, 2):
        world = bare_cluster(0)
        live(world, APP, Chance(("value", key)), EPOCH + 60 * DAY)
        digests.append(world.digest())
    assert digests[0] == digests[1] != digests[2]


def test_people_deploy_when_they_work() -> None:
    span = Span(EPOCH - 300 * DAY, EPOCH)
    inside = 0
    for number in range(400):
        chance = Chance(("office", number))
        time = in_office(span.ago(chance.uniform("ago", 2.0, 200.0) * DAY), chance, span.born, span)
        weekday, hour = (time // DAY + 3) % 7, time % DAY // HOUR
        inside += weekday < 5 and 8 <= hour < 17
    assert inside >= 380


def test_some_kubelets_were_given_their_settings_anew_and_restarted() -> None:
    """Nothing else is said to them, and all of them run."""
    world = lived()[0].world.fork()
    names = [node["metadata"]["name"] for node in world.cluster.list("nodes")]
    before = {name: node_files.text_of(world, name, node_files.CONFIG) for name in names}
    RollOutSettings(Chance(("one", 1))).do(world)
    world.advance(60.0)
    known = [name for name in names if node_files.CONFIG in node_files.times(world, name)]
    assert known
    for name in names:
        assert kubelet_unit.runs(world, name)
        assert node_files.text_of(world, name, node_files.CONFIG) == before[name]
    for name in known:
        written, started = (
            node_files.times(world, name)[node_files.CONFIG],
            kubelet_unit.of(world, name).turns[-1].time,
        )
        assert 0 < started - written < 2 * MINUTE
    assert all(is_true(node["status"], "Ready") for node in world.cluster.list("nodes"))
