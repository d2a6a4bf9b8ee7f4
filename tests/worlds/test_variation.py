"""Variation: every draw is another application of the family, as healthy as the published one, and as easy to break."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.cluster.deploy import unavailable
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.targets import ROLLED
from sregym_env.faults.registry import declarations
from sregym_env.kube.pulling import CONFIG, HUB, HUB_KEY, PULL_SECRET
from sregym_env.kube.quantity import milli
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.containers.images import find, is_valid
from sregym_env.sim.programs.system_images import SYSTEM_IMAGES
from sregym_env.worlds import changes
from sregym_env.worlds.lastapplied import APPLIERS, LAST_APPLIED
from sregym_env.worlds.variation import vary
from tests.worlds.families import APPS, HOTEL, PARCEL, brought_up, member, pairs, published_pairs

DRAWS = 200
DEPLOYED = [(HOTEL, number) for number in range(8)] + [(PARCEL, number) for number in range(4)]

every_app = pytest.mark.parametrize("app", APPS, ids=lambda app: app.name)


@pytest.fixture(scope="module")
def members() -> dict[str, list[App]]:
    """Many members of every family."""
    return {app.name: [member(app, number) for number in range(DRAWS)] for app in APPS}


def dumped(app: App) -> bytes:
    return orjson.dumps(app.manifests)


# --- values -------------------------------------------------------------------------------------------


@every_app
def test_no_two_members_are_alike(app: App, members: dict[str, list[App]]) -> None:
    assert len({dumped(each) for each in members[app.name]} | {dumped(app)}) == DRAWS + 1


@every_app
def test_the_same_chance_draws_the_same_and_leaves_the_published_application_alone(app: App) -> None:
    before, chance = dumped(app), Chance(("again",))
    first, second = vary(app, chance), vary(app, chance)
    assert dumped(first) == dumped(second)
    assert replace(first, images=()) == replace(second, images=())
    assert [image.reference for image in first.images] == [image.reference for image in second.images]
    assert dumped(app) == before


@every_app
def test_names_that_are_struck_stay(app: App, members: dict[str, list[App]]) -> None:
    def skeleton(app: App) -> set[tuple[Any, ...]]:
        return {(c.name, c.workload, c.container, c.service, c.volume, c.kind) for c in app.components}

    for each in members[app.name]:
        assert skeleton(each) == skeleton(app)
        assert each.namespaces == app.namespaces
        assert [journey.name for journey in each.journeys] == [journey.name for journey in app.journeys]
        assert sum(journey.weight for journey in each.journeys) == pytest.approx(1.0)


@every_app
def test_every_image_is_published(app: App, members: dict[str, list[App]]) -> None:
    for each in members[app.name]:
        known = {image.reference: image for image in (*SYSTEM_IMAGES, *each.images)}
        named = {container["image"] for pod in _pods(each) for container in _containers(pod)}
        for component in each.components:
            named |= {*component.releases, *component.builds.values()}
        for reference in sorted(named):
            assert is_valid(reference)
            assert find(known, reference) is not None, reference


@every_app
def test_a_component_runs_one_of_its_releases(app: App, members: dict[str, list[App]]) -> None:
    for each in members[app.name]:
        images = {
            container["name"]: container["image"] for pod in _pods(each) for container in pod["containers"]
        }
        for component in each.components:
            if component.releases:
                assert images[component.container] in component.releases
                assert len(set(component.releases)) == len(component.releases) > 1
            assert not {*component.releases} & {*component.builds.values()}


SUSPICIOUS = re.compile(
    r"(?<!de)fault|defect|broken|(?<!/)inject|wrong|incompat|culprit|buggy|misconf|sregym|chaos|sabotage|victim",
    re.I,
)


@every_app
def test_nothing_is_called_what_it_is_for(app: App, members: dict[str, list[App]]) -> None:
    published = set(_texts(app.manifests))
    for each in members[app.name]:
        texts = {*_texts(each.manifests), *(b for c in each.components for b in c.builds.values())}
        assert not [text for text in sorted(texts - published) if SUSPICIOUS.search(text)]


# --- knobs --------------------------------------------------------------------------------------------


def _pods(app: App) -> Iterator[Manifest]:
    for manifest in app.manifests:
        spec = manifest.get("spec") or {}
        if "jobTemplate" in spec:
            spec = spec["jobTemplate"]["spec"]
        if "template" in spec:
            yield spec["template"]["spec"]


def _containers(pod: Manifest) -> tuple[Manifest, ...]:
    return (*pod["containers"], *(pod.get("initContainers") or ()))


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list | tuple):
        for item in tree:
            yield from _texts(item)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield key
            yield from _texts(value)


def _kinds(app: App, kind: str) -> list[Manifest]:
    return [manifest for manifest in app.manifests if manifest["kind"] == kind]


def _of_pods(*fields: str) -> Callable[[App], Any]:
    return lambda app: [[pod.get(field) for field in fields] for pod in _pods(app)]


def _of_workloads(*fields: str) -> Callable[[App], Any]:
    return lambda app: [
        [manifest["spec"].get(field) for field in fields]
        for manifest in app.manifests
        if manifest["kind"] in ("Deployment", "StatefulSet", "DaemonSet")
    ]


def _of_containers(*fields: str) -> Callable[[App], Any]:
    return lambda app: [[c.get(field) for field in fields] for pod in _pods(app) for c in pod["containers"]]


KNOBS: dict[str, Callable[[App], Any]] = {
    "requests": _of_containers("resources"),
    "readiness": _of_containers("readinessProbe"),
    "liveness": _of_containers("livenessProbe"),
    "startup": _of_containers("startupProbe"),
    "environment": _of_containers("env"),
    "whole environments": _of_containers("envFrom"),
    "mounts": _of_containers("volumeMounts"),
    "container contexts": _of_containers("securityContext"),
    "containers": lambda app: [[c["name"] for c in pod["containers"]] for pod in _pods(app)],
    "init containers": lambda app: [
        [c["name"] for c in pod.get("initContainers") or ()] for pod in _pods(app)
    ],
    "replicas": _of_workloads("replicas"),
    "strategy": _of_workloads("strategy"),
    "history": _of_workloads("revisionHistoryLimit"),
    "minimum ready": _of_workloads("minReadySeconds"),
    "progress": _of_workloads("progressDeadlineSeconds"),
    "selectors": _of_workloads("selector"),
    "grace": _of_pods("terminationGracePeriodSeconds"),
    "node selectors": _of_pods("nodeSelector"),
    "affinity": _of_pods("affinity"),
    "spread": _of_pods("topologySpreadConstraints"),
    "tolerations": _of_pods("tolerations"),
    "priority": _of_pods("priorityClassName"),
    "resolver": _of_pods("dnsConfig"),
    "host aliases": _of_pods("hostAliases"),
    "pod contexts": _of_pods("securityContext"),
    "accounts": _of_pods("serviceAccountName", "automountServiceAccountToken"),
    "service links": _of_pods("enableServiceLinks"),
    "services": lambda app: [service["spec"]["ports"] for service in _kinds(app, "Service")],
    "labels": lambda app: [manifest["metadata"].get("labels") for manifest in app.manifests],
    "annotations": lambda app: [manifest["metadata"].get("annotations") for manifest in app.manifests],
    **{
        kind: lambda app, kind=kind: [manifest.get("spec") for manifest in _kinds(app, kind)]  # type: ignore[misc]
        for kind in (
            "ResourceQuota",
            "LimitRange",
            "PodDisruptionBudget",
            "HorizontalPodAutoscaler",
            "NetworkPolicy",
            "CronJob",
        )
    },
    "ConfigMaps": lambda app: len(_kinds(app, "ConfigMap")),
    "Secrets": lambda app: len(_kinds(app, "Secret")),
}

HOTEL_KNOBS: dict[str, Callable[[App], Any]] = {
    "pull secrets": _of_pods("imagePullSecrets"),
    "accounts": lambda app: [component.accounts for component in app.components],
    "databases": lambda app: [component.database for component in app.components],
    "ports": lambda app: [component.port for component in app.components],
    "service ports": lambda app: [component.service_port for component in app.components],
    "hosts": lambda app: [d.host for component in app.components for d in component.dependencies],
    "releases": lambda app: [component.releases for component in app.components],
    "builds": lambda app: [component.builds for component in app.components],
    "images": _of_containers("image"),
    "arguments": _of_containers("args"),
    "rate": lambda app: app.rate,
    "mix": lambda app: [journey.weight for journey in app.journeys],
    "requests of users": lambda app: [journey.path for journey in app.journeys],
    "named ports": lambda app: [
        isinstance(port["targetPort"], str)
        for service in _kinds(app, "Service")
        for port in service["spec"]["ports"]
    ],
}


@every_app
def test_every_knob_turns(app: App, members: dict[str, list[App]]) -> None:
    knobs = KNOBS | (HOTEL_KNOBS if app is HOTEL else {})
    stuck = [
        name
        for name, value in knobs.items()
        if len({orjson.dumps(value(each), default=repr) for each in members[app.name]}) < 2
    ]
    assert not stuck


ODDITIES: dict[str, Callable[[Manifest, Manifest], Any]] = {
    "init containers": lambda workload, pod: pod.get("initContainers"),
    "host aliases": lambda workload, pod: pod.get("hostAliases"),
    "node selectors": lambda workload, pod: pod.get("nodeSelector"),
    "resolver options": lambda workload, pod: pod.get("dnsConfig"),
    "sidecars": lambda workload, pod: len(pod["containers"]) > 1,
    "tolerations": lambda workload, pod: pod.get("tolerations"),
    "strategies": lambda workload, pod: workload["spec"].get("strategy"),
    "accounts": lambda workload, pod: pod.get("serviceAccountName"),
    "secrets": lambda workload, pod: b"secretKeyRef" in orjson.dumps(pod),
}


@pytest.mark.parametrize("name", ODDITIES)
def test_what_a_normaliser_would_remove_is_found_on_what_is_struck(
    name: str, members: dict[str, list[App]]
) -> None:
    bearers = {
        manifest["metadata"]["name"]
        for each in members[HOTEL.name]
        for manifest in each.manifests
        if manifest["kind"] == "Deployment" and ODDITIES[name](manifest, manifest["spec"]["template"]["spec"])
    }
    stateless = {c.name for c in HOTEL.components if c.stateless}
    assert bearers & HOTEL.critical >= stateless if name == "sidecars" else len(bearers & HOTEL.critical) > 12


def _powers(app: App) -> dict[str, list[str]]:
    """Capabilities that main containers were given, by component."""
    found = {}
    for pod in _pods(app):
        for container in pod["containers"]:
            added = ((container.get("securityContext") or {}).get("capabilities") or {}).get("add")
            if added:
                found[container["name"]] = added
    return found


def test_in_most_namespaces_something_needs_more_than_the_middle_standard(
    members: dict[str, list[App]],
) -> None:
    found = [_powers(each) for each in members[HOTEL.name]]
    assert 0.55 < sum(map(bool, found)) / DRAWS < 0.8
    assert max(map(len, found)) <= 3
    bearers = {name for each in found for name in each}
    assert len(bearers) > len(HOTEL.components) / 2
    assert len({capability for each in found for added in each.values() for capability in added}) >= 5


@every_app
def test_some_components_have_pull_secrets_of_their_own(app: App, members: dict[str, list[App]]) -> None:
    bearers, pods, asking = 0, 0, 0
    for each in members[app.name]:
        templates = [manifest["spec"]["template"]["spec"] for manifest in _workloads(each)]
        named = Counter(secret["name"] for pod in templates for secret in pod.get("imagePullSecrets") or ())
        known = {(registry.host, login) for registry in each.registries for login in registry.logins}
        for secret in _kinds(each, "Secret"):
            if secret.get("type") == PULL_SECRET:
                assert known & set(_held(secret)), secret["metadata"]["name"]
        for pod in templates:
            pods += 1
            bearers += any(named[secret["name"]] == 1 for secret in pod.get("imagePullSecrets") or ())
            asking += any(container.get("imagePullPolicy") == "Always" for container in pod["containers"])
    assert 0.03 < bearers / pods < 0.35
    assert 0.1 < asking / pods < 0.5


def _workloads(app: App) -> list[Manifest]:
    return [m for kind in ("Deployment", "StatefulSet", "DaemonSet") for m in _kinds(app, kind)]


def _held(secret: Manifest) -> Iterator[tuple[str, str]]:
    """What a pull secret holds: (registry, login)."""
    for key, entry in orjson.loads(b64decode(secret["data"][CONFIG]))["auths"].items():
        yield HUB if key == HUB_KEY else key, b64decode(entry["auth"]).decode()


# --- health -------------------------------------------------------------------------------------------


def _assert_healthy(world: World) -> None:
    app = world.app
    health = world.traffic.health(60.0)
    assert {each.journey for each in health} == {journey.name for journey in app.journeys}
    for each in health:
        assert each.success_ratio >= app.slo.success_ratio, each
        assert each.latency_seconds <= app.slo.latency_seconds / 2, each
    for namespace in app.namespaces:
        assert unavailable(world.cluster, namespace) == []


def _restart(world: World, names: set[str]) -> None:
    stamp = {"kubectl.kubernetes.io/restartedAt": "2026-08-06T10:10:00Z"}
    patch = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
    for resource, namespace, name in sorted(names):
        world.cluster.patch(resource, name, patch, namespace=namespace)


@pytest.mark.parametrize(("app", "number"), DEPLOYED, ids=lambda value: getattr(value, "name", value))
def test_a_member_is_healthy_can_be_struck_and_restarted(app: App, number: int) -> None:
    drawn = member(app, number)
    world = brought_up(drawn, number)
    _assert_healthy(world)
    inventory = Inventory.of(world)
    assert published_pairs(app.name) <= pairs(inventory)
    for declaration in declarations():
        for target in declaration.targets.find(inventory):
            declaration.bind(inventory, target.name, chance=Chance(("struck", number)))

    workloads = {
        (resource, namespace, workload["metadata"]["name"])
        for namespace in drawn.namespaces
        for resource in ROLLED
        for workload in world.cluster.list(resource, namespace)
    }
    # What its clients have told it dies with it: they are told to come again afterwards.
    registries = {
        key for key in workloads if key[2] in {c.name for c in drawn.components if c.kind == "registry"}
    }
    for names in (registries, workloads - registries):
        _restart(world, names)
        world.advance(180.0)
    _assert_healthy(world)
    for namespace in drawn.namespaces:
        for workload in world.cluster.list("deployments.apps", namespace):
            assert workload["status"]["updatedReplicas"] == workload["spec"]["replicas"], workload[
                "metadata"
            ]["name"]
        for budget in world.cluster.list("poddisruptionbudgets.policy", namespace):
            assert budget["status"]["disruptionsAllowed"] >= 1, budget["metadata"]["name"]
        for scaler in world.cluster.list("horizontalpodautoscalers.autoscaling", namespace):
            assert scaler["status"]["desiredReplicas"] == scaler["spec"]["minReplicas"], scaler["metadata"][
                "name"
            ]
        reasons = {event["reason"] for event in world.cluster.list("events", namespace)}
        assert not reasons & {"FailedCreate", "FailedScheduling", "InspectFailed", "FailedRescale"}


@every_app
def test_the_smallest_cluster_has_room(app: App, members: dict[str, list[App]]) -> None:
    for each in members[app.name]:
        asked = 0
        for manifest in each.manifests:
            if manifest["kind"] in ("Deployment", "StatefulSet"):
                pod = manifest["spec"]["template"]["spec"]
                requests = ((c.get("resources") or {}).get("requests") or {} for c in _containers(pod))
                asked += manifest["spec"].get("replicas", 1) * sum(milli(r.get("cpu", "0")) for r in requests)
        assert asked < 6000


def test_only_what_helm_delivers_bears_its_release() -> None:
    """The chart of Astronomy Shop is published as Helm has installed it; what applies it writes no annotations of Helm's."""
    tools = set()
    for number in range(12):
        varied = vary(apps.app("astronomy-shop"), Chance(("release", number)))
        tool = changes.delivery(varied)
        tools.add(tool)
        notes = [manifest["metadata"].get("annotations") or {} for manifest in varied.manifests]
        assert any("meta.helm.sh/release-name" in each for each in notes) == (tool == "helm")
        applied = any(LAST_APPLIED in each for each in notes)
        assert applied == (tool in APPLIERS)
    assert len(tools) > 2
