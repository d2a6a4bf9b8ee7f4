"""Argo CD's Applications: what they say of what was delivered, whoever changes it, and what they do when they are asked to."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import pytest

from sregym_env.cluster.apply import changed
from sregym_env.cluster.edits import REMOVED
from sregym_env.cluster.oncall import ONCALL
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, HOUR
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation
from sregym_env.worlds.lastapplied import ARGO, reapplied, sent
from sregym_env.worlds.marks import TRACKED
from sregym_env.worlds.tenants import addons, gitops
from sregym_env.worlds.tenants.deeds import live_through
from sregym_env.worlds.tenants.gitops import Delivered
from sregym_env.worlds.tenants.workloads import Span

IMAGE = "/spec/template/spec/containers/0/image"
MARK = f"/metadata/annotations/{TRACKED.replace('/', '~1')}"


def marked(kind: str, version: str, name: str, **more: Any) -> Manifest:
    group = version.rpartition("/")[0]
    notes = {TRACKED: f"shop:{group}/{kind}:shop/{name}"}
    metadata = {"name": name, "namespace": "shop", "labels": {"tier": "web"}, "annotations": notes}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def manifests() -> list[Manifest]:
    container = {"name": "web", "image": "busybox:1.36", "command": ["sleep", "infinity"]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    ports = [{"port": 80, "targetPort": 8080}]
    return [
        marked("ConfigMap", "v1", "settings", data={"level": "info"}),
        marked("Deployment", "apps/v1", "web", spec=spec),
        marked("Service", "v1", "web", spec={"selector": {"app": "web"}, "ports": ports}),
    ]


@lru_cache(maxsize=1)
def ground() -> EmbeddedWorld:
    """A cluster in which Argo CD has delivered a small application an hour ago."""
    world = bare_cluster()
    start = world.now()
    span = Span(start, start + DAY)
    story = addons.installed(addons.DELIVERERS[ARGO], Chance(("argocd",)), span, ARGO, "argocd")
    world.images = {**world.images, **story.images}
    for name in ("argocd", "shop"):
        world.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    live_through(world, story.deeds, start + HOUR)
    known = [Delivered(start + HOUR, each) for each in (*gitops.ARGO_KINDS, *manifests())]
    live_through(world, gitops.registered(known, (), Chance(("registered",))), start + HOUR + HOUR)
    for manifest in manifests():
        world.cluster.create(sent(manifest, ARGO), field_manager=ARGO)
        world.advance(2.0)
    world.advance(3600.0)
    return world


def application(world: EmbeddedWorld) -> Manifest:
    return world.cluster.get("applications.argoproj.io", "shop", "argocd")


def states(world: EmbeddedWorld) -> dict[str, tuple[str, str]]:
    """Sync and health of each object, by kind."""
    return {
        each["kind"]: (each["status"], each.get("health", {}).get("status", ""))
        for each in application(world)["status"]["resources"]
    }


WELL = {
    "ConfigMap": ("Synced", ""),
    "Deployment": ("Synced", "Healthy"),
    "Service": ("Synced", "Healthy"),
}


def write(world: EmbeddedWorld, resource: str, name: str, by: str, fields: dict[str, Any]) -> None:
    """Somebody changes an object."""
    live = world.cluster.get(resource, name, "shop")
    world.cluster.replace(reapplied(live, by, partial(changed, changes=fields)), field_manager=by)


def delete(world: EmbeddedWorld, resource: str, name: str) -> None:
    world.cluster.delete(resource, name, "shop")


def prune(world: EmbeddedWorld, resource: str, name: str) -> None:
    """Argo CD delivers an object no longer, and it is deleted."""
    write(world, resource, name, ARGO, {MARK: REMOVED})
    world.advance(3.0)
    delete(world, resource, name)


def test_what_was_delivered_is_synced_and_healthy() -> None:
    found = application(ground())
    status = found["status"]
    assert states(ground()) == WELL
    assert (status["sync"]["status"], status["health"]["status"]) == ("Synced", "Healthy")
    assert status["summary"] == {"images": ["busybox:1.36"]}
    (only,) = status["history"]
    assert only["id"] == 0
    assert len(only["revision"]) == 40
    assert (
        status["sync"]["revision"] == status["operationState"]["syncResult"]["revision"] == only["revision"]
    )
    assert [each["name"] for each in status["operationState"]["syncResult"]["resources"]] == [
        "settings",
        "web",
        "web",
    ]


Deed = Callable[[EmbeddedWorld], None]


def written(resource: str, name: str, by: str, fields: dict[str, Any]) -> Deed:
    return partial(write, resource=resource, name=name, by=by, fields=fields)


@pytest.mark.parametrize(
    ("deed", "kind", "expected", "revisions"),
    [
        (written("deployments.apps", "web", "kubectl-edit", {IMAGE: "busybox:1.35"}), "Deployment", ("OutOfSync", "Healthy"), 1),
        (written("deployments.apps", "web", ARGO, {IMAGE: "busybox:1.35"}), "Deployment", ("Synced", "Healthy"), 2),
        (written("deployments.apps", "web", ARGO, {IMAGE: "busybox:none"}), "Deployment", ("Synced", "Progressing"), 2),
        (written("deployments.apps", "web", "kubectl", {"/spec/replicas": 2}), "Deployment", ("Synced", "Healthy"), 1),
        (written("deployments.apps", "web", "kubectl", {"/spec/paused": True}), "Deployment", ("Synced", "Suspended"), 1),
        (written("services", "web", "kubectl-patch", {"/spec/ports/0/targetPort": 9999}), "Service", ("OutOfSync", "Healthy"), 1),
        (written("services", "web", ARGO, {"/spec/ports/0/targetPort": 9999}), "Service", ("Synced", "Healthy"), 2),
        (written("services", "web", "kubectl-label", {"/metadata/labels/team": "core"}), "Service", ("Synced", "Healthy"), 1),
        (written("services", "web", "kubectl-label", {"/metadata/labels/tier": "core"}), "Service", ("OutOfSync", "Healthy"), 1),
        (written("configmaps", "settings", "kubectl-edit", {"/data/level": "debug"}), "ConfigMap", ("OutOfSync", ""), 1),
        (written("configmaps", "settings", "kubectl-edit", {"/data/more": "1"}), "ConfigMap", ("Synced", ""), 1),
        (written("configmaps", "settings", "kubectl-edit", {MARK: REMOVED}), "ConfigMap", ("OutOfSync", ""), 1),
        (partial(delete, resource="services", name="web"), "Service", ("OutOfSync", "Missing"), 1),
        (partial(prune, resource="services", name="web"), "Service", None, 2),
    ],
    ids=[
        "edited", "delivered", "delivered, and not there", "scaled", "paused", "patched", "delivered wrong", "another label",
        "a label of its own", "edited settings", "more settings", "mark removed", "deleted", "pruned",
    ],
)  # fmt: skip
def test_what_becomes_of_an_object_shows(
    deed: Deed, kind: str, expected: tuple[str, str] | None, revisions: int
) -> None:
    world = ground().fork()
    deed(world)
    world.advance(90.0)
    found = states(world)
    assert found.get(kind) == expected
    assert {other: state for other, state in found.items() if other != kind} == {
        other: state for other, state in WELL.items() if other != kind
    }
    status = application(world)["status"]
    away = expected is not None and expected[0] == "OutOfSync"
    assert status["sync"]["status"] == ("OutOfSync" if away else "Synced")
    assert status["health"]["status"] == ((expected and expected[1]) or "Healthy")
    assert [each["id"] for each in status["history"]] == [*range(revisions)]


def test_an_application_is_compared_again_and_again() -> None:
    world = ground().fork()
    first = application(world)
    world.advance(600.0)
    later = application(world)
    assert later["status"]["reconciledAt"] > first["status"]["reconciledAt"]
    assert later["metadata"]["generation"] - first["metadata"]["generation"] in (3, 4)
    assert later["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert {**later["status"], "reconciledAt": ""} == {**first["status"], "reconciledAt": ""}


EDITED = written("deployments.apps", "web", "kubectl-edit", {IMAGE: "busybox:1.35"})
ASKED: Manifest = {"operation": {"sync": {"revision": "HEAD"}, "initiatedBy": {"username": "admin"}}}
HEALING: Manifest = {"spec": {"syncPolicy": {"automated": {"selfHeal": True}}}}


@pytest.mark.parametrize("patch", [ASKED, HEALING], ids=["asked", "healing"])
@pytest.mark.parametrize(
    "deed",
    [EDITED, partial(delete, resource="services", name="web"),
     written("configmaps", "settings", "kubectl-edit", {"/data/level": "debug"})],
    ids=["edited", "deleted", "settings"],
)  # fmt: skip
def test_a_sync_brings_back_what_was_delivered(deed: Deed, patch: Manifest) -> None:
    world = ground().fork()
    deed(world)
    world.advance(10.0)
    assert states(world) != WELL
    world.cluster.patch("applications.argoproj.io", "shop", patch, namespace="argocd", type="merge")
    world.advance(60.0)
    assert states(world) == WELL
    assert "operation" not in application(world)
    assert len(application(world)["status"]["history"]) == 1


def test_nothing_is_compared_while_its_controller_is_away() -> None:
    world = ground().fork()

    def scaled(replicas: int) -> None:
        patch = {"spec": {"replicas": replicas}}
        world.cluster.patch("statefulsets.apps", "argocd-application-controller", patch, namespace="argocd")
        world.advance(60.0)

    scaled(0)
    EDITED(world)
    delete(world, "services", "web")
    world.advance(600.0)
    assert states(world) == WELL
    scaled(1)
    assert states(world) == {
        **WELL,
        "Deployment": ("OutOfSync", "Healthy"),
        "Service": ("OutOfSync", "Missing"),
    }


def test_who_is_on_call_sees_it_and_may_ask_for_a_sync() -> None:
    world = ground().fork()
    EDITED(world)
    world.advance(60.0)
    station = Workstation(world, ONCALL)
    revision = application(world)["status"]["sync"]["revision"]
    for line, shown in (
        ("kubectl get applications -n argocd", "NAME   SYNC STATUS   HEALTH STATUS\nshop   OutOfSync     Healthy\n"),
        ("kubectl get app -n argocd -o wide",
         f"NAME   SYNC STATUS   HEALTH STATUS   REVISION                                   PROJECT\n"
         f"shop   OutOfSync     Healthy         {revision}   default\n"),
        ("kubectl get crd -o name",
         "".join(f"customresourcedefinition.apiextensions.k8s.io/{name}.argoproj.io\n"
                 for name in ("applications", "applicationsets", "appprojects"))),
        ("kubectl api-resources --api-group=argoproj.io --no-headers",
         "applications      app,apps           argoproj.io/v1alpha1   true   Application\n"
         "applicationsets   appset,appsets     argoproj.io/v1alpha1   true   ApplicationSet\n"
         "appprojects       appproj,appprojs   argoproj.io/v1alpha1   true   AppProject\n"),
        ("kubectl get appproj -n argocd -o name", "appproject.argoproj.io/default\n"),
        ("kubectl patch app shop -n argocd --type merge -p '{\"operation\":{\"sync\":{}}}'", "application.argoproj.io/shop patched\n"),
        ("sleep 20; kubectl get app -n argocd --no-headers", "shop   Synced   Healthy\n"),
    ):  # fmt: skip
        assert station.run(line).text == shown


def test_the_same_deeds_leave_the_same_world() -> None:
    one, two = ground().fork(), ground().fork()
    for world in (one, two):
        EDITED(world)
        world.advance(200.0)
    assert one.digest() == two.digest()
