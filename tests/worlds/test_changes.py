"""Innocent changes: each leaves the application healthy, declares what is live, and can be taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.app import App
from sregym_env.cluster.apply import cleaned, ref
from sregym_env.cluster.deploy import deploy, unavailable
from sregym_env.cluster.edits import ObjectRef
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds import changes, lastapplied, marks
from sregym_env.worlds.changes import WEIGHTS, Change
from tests.worlds.richer import richer

NAMES = tuple(c.name for c in APP.components)
LIMITED = ("resources", "scale", "job", "cronjob", "allowance", "ceiling", "settings")
KINDS = (*WEIGHTS, *changes.ASKED_FOR)
UNLIMITED = tuple(kind for kind in KINDS if kind not in LIMITED)
"""Kinds that are possible where quotas and policies are."""


@pytest.fixture(scope="module")
def worlds() -> dict[str, EmbeddedWorld]:
    """Both applications deployed."""
    made = {}
    for name, app in (("rich", richer()), ("plain", APP)):
        world = bare_cluster(0)
        world.app = app
        deploy(world)
        world.advance(120.0)
        made[name] = world.fork()
    return made


def draws(app: App, kind: str, count: int, *, past: bool = False) -> list[Change]:
    found = (
        changes.drawn(app, Chance(("test", kind, number)), kinds=(kind,), past=past)
        for number in range(count)
    )
    return [change for change in found if change is not None]


def healthy(world: EmbeddedWorld) -> bool:
    fares = world.traffic.health(30.0)
    served = all(h.success_ratio >= world.app.slo.success_ratio and h.requests > 0 for h in fares)
    return len(fares) == len(APP.journeys) and served and not unavailable(world.cluster, APP.namespace)


def test_every_kind_can_be_drawn() -> None:
    for kind in KINDS:
        app = richer() if kind in UNLIMITED else APP
        assert draws(app, kind, 3), kind


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_keeps_the_application_healthy_and_declared(
    kind: str, worlds: dict[str, EmbeddedWorld]
) -> None:
    for change in draws(worlds["rich" if kind in UNLIMITED else "plain"].app, kind, 4):
        world = worlds["rich" if kind in UNLIMITED else "plain"].fork()
        made = changes.happen(world, change)
        world.advance(240.0)
        assert healthy(world), made
        assert_declared(world, made)


def assert_declared(world: EmbeddedWorld, change: Change) -> None:
    """Putting what the application declares in the place of the live object would change nothing."""
    target = change.target
    live = world.cluster.get(target.resource, target.name, target.namespace)
    if target.resource == "jobs.batch":
        # A Job cannot be put again: its selector is its own.
        assert live["status"]["succeeded"] == 1
        return
    declared = next(m for m in world.app.manifests if ref(m) == target)
    put = world.cluster.replace(declared, dry_run=True)
    assert contents(put) == contents(live), change


def contents(manifest: Manifest) -> Manifest:
    """What people have written, without what ``kubectl apply`` remembers of it."""
    kept = cleaned(manifest)
    notes = {
        k: v for k, v in (kept["metadata"].get("annotations") or {}).items() if k != lastapplied.LAST_APPLIED
    }
    metadata = {"labels": kept["metadata"].get("labels"), "annotations": notes}
    return {**{key: value for key, value in kept.items() if key != "metadata"}, "metadata": metadata}


@pytest.mark.parametrize("app", [APP, richer()], ids=["published", "richer"])
def test_taking_back_and_making_again_gives_the_manifests_back(app: App) -> None:
    for past in (False, True):
        for kind in KINDS:
            for change in draws(app, kind, 6, past=past):
                start = changes.before(app, change) if past else app
                change = change.at(0)
                then = changes.applied(start, change)
                if past:
                    assert start != app
                    assert then.manifests == app.manifests, change
                else:
                    assert then.manifests != app.manifests, change
                    assert changes.before(then, change).manifests == app.manifests, change


def test_pods_are_changed_in_many_ways_that_can_be_undone(worlds: dict[str, EmbeddedWorld]) -> None:
    found = draws(APP, "template", 60)
    ways = {change.steps[0].path: change for change in found}
    assert len({path.rpartition("/")[2] for path in ways}) >= 10
    for change in ways.values():
        world = worlds["plain"].fork()
        start = pods_of(world, change)
        made = changes.happen(world, change)
        world.advance(120.0)
        assert healthy(world), made
        assert_declared(world, made)
        changes.happen(world, changes.undo(made))
        world.advance(120.0)
        assert healthy(world), made
        assert pods_of(world, change) == start, made


def pods_of(world: EmbeddedWorld, change: Change) -> Manifest:
    target = change.target
    live: Manifest = world.cluster.get(target.resource, target.name, target.namespace)["spec"]["template"]
    return live


def test_services_are_changed_in_several_ways_by_several_hands() -> None:
    found = draws(APP, "serving", 80)
    assert len({change.steps[0].path.rpartition("/")[2] for change in found}) >= 3
    assert len({change.manager for change in found}) >= 3


def test_draws_depend_on_the_chance_alone() -> None:
    app = richer()
    found = [changes.drawn(app, Chance(("d", n))) for n in range(60)]
    assert found == [changes.drawn(app, Chance(("d", n))) for n in range(60)]
    kinds = {change.kind for change in found if change is not None}
    assert len(kinds) >= 6
    assert len({change.component for change in found if change is not None}) >= 10
    assert len({change.manager for change in found if change is not None}) >= 5


def of_releases(app: App) -> App:
    """Some objects of a chart of their part, some of a numbered release of it, some with a revision of their own."""
    marked = []
    for number, manifest in enumerate(app.manifests):
        metadata = manifest["metadata"]
        label = ({marks.CHART: "geo-1.4.2"}, {marks.NUMBER: "r417"}, {marks.REVISION: "0a1b2c3d"})[number % 3]
        labels = {**(metadata.get("labels") or {}), **label}
        marked.append({**manifest, "metadata": {**metadata, "labels": labels}})
    return replace(app, manifests=tuple(marked))


def test_a_release_marks_whole_parts_and_spares_those_of_which_anything_shall_be() -> None:
    world = bare_cluster(0)
    world.app = app = of_releases(richer())
    deploy(world)
    world.advance(120.0)
    spared = ObjectRef("services", NAMES[0], APP.namespace)
    released = changes.release(app, Chance(("release",)), 0.7, (spared,))
    parts = {ref(m): marks.part_of(app, m) for m in app.manifests if m["kind"] in changes.MARKED}
    done = {parts[change.target] for change in released}
    assert {change.target for change in released} == {target for target in parts if parts[target] in done}
    assert NAMES[0] not in done
    assert 0.5 * len(set(parts.values())) < len(done) < len(set(parts.values()))
    assert {marks.part(app, "mongodb-geo", APP.namespace), marks.part(app, "geo-pvc", APP.namespace)} == {
        "mongodb-geo", "geo",
    }  # fmt: skip
    revisions = _revisions(world)
    changes.happen_at_once(world, released)
    world.advance(120.0)
    assert healthy(world)
    assert _revisions(world) == revisions
    for change in released:
        # A claim that is bound cannot be put again as it was declared.
        if change.target.resource != "persistentvolumeclaims":
            assert_declared(world, change)


def test_an_application_whose_objects_say_nothing_of_releases_is_not_released() -> None:
    assert changes.release(richer(), Chance(("release",)), 1.0) == []


def test_a_surge_leaves_nothing_but_its_traces(worlds: dict[str, EmbeddedWorld]) -> None:
    world = worlds["plain"].fork()
    pods = {pod["metadata"]["uid"] for pod in world.cluster.list("pods", APP.namespace)}
    before = world.cluster.get("deployments.apps", "search", APP.namespace)
    assert changes.surge(world, "search", Chance(("surge",))) == (
        "deployments.apps",
        APP.namespace,
        "search",
    )
    world.advance(60.0)
    after = world.cluster.get("deployments.apps", "search", APP.namespace)
    assert after["spec"] == before["spec"]
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 2
    assert after["status"]["observedGeneration"] == after["metadata"]["generation"]
    assert {pod["metadata"]["uid"] for pod in world.cluster.list("pods", APP.namespace)} == pods


def _revisions(world: EmbeddedWorld) -> dict[str, str]:
    return {
        d["metadata"]["name"]: d["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
        for d in world.cluster.list("deployments.apps", APP.namespace)
    }


def test_what_can_be_scaled_neither_up_nor_down_is_left_alone() -> None:
    labels = APP.by_name["geo"].name
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "geo", "namespace": APP.namespace},
        "spec": {"minAvailable": 4, "selector": {"matchLabels": {"io.kompose.service": labels}}},
    }

    def full(manifest: Manifest) -> Manifest:
        if manifest["kind"] != "Deployment" or manifest["metadata"]["name"] != "geo":
            return manifest
        return {**manifest, "spec": {**manifest["spec"], "replicas": 5}}

    for manifests, possible in (((), True), ((budget,), False)):
        app = replace(APP, manifests=(*map(full, APP.manifests), *manifests))
        change = changes.drawn(app, Chance(("full",)), components=("geo",), kinds=("scale",))
        assert (change is not None) == possible
