"""Time, requests and the users' health; deploying; edits and their undo; what a backend cannot do."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from sregym_env.cluster import apply as edits
from sregym_env.cluster import deploy
from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import DiskReadErrors, Disturbance
from sregym_env.cluster.edits import (
    REMOVED,
    AwaitRollout,
    Create,
    Delete,
    Edit,
    Exec,
    JsonPatch,
    MergePatch,
    ObjectRef,
    RecreatePods,
    Redeploy,
    Substitute,
)
from sregym_env.cluster.forkable import demanded, forkable
from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.errors import AppError, ClusterError, UsageError
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards.baseline import protected_objects
from sregym_env.rollouts.validate import desired
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.cluster import SimCluster
from tests.world.worlds import APP, NAMESPACE

GEO = ObjectRef("deployments.apps", "geo", NAMESPACE)
SERVICE = ObjectRef("services", "frontend", NAMESPACE)
MAIN = "/spec/template/spec/containers/0"


def journeys(world: World, window: float) -> dict[str, float]:
    """The share of the requests that succeed, by journey."""
    return {journey.journey: journey.success_ratio for journey in world.traffic.health(window)}


def get(world: World, url: str, **options: float) -> HttpExchange:
    return world.request(HttpCall(f"http://{url}", **options))  # type: ignore[arg-type]


# --- time ---------------------------------------------------------------------------------------------


def test_time_passes_by_what_it_is_told(world: World) -> None:
    begin = world.now()
    world.advance(12.5)
    assert world.now() - begin == round(12.5 * SECOND)
    world.cluster.advance(1.0)
    assert world.cluster.now() == world.now() == begin + round(13.5 * SECOND)


# --- deploying ----------------------------------------------------------------------------------------


def test_an_application_is_deployed_through_the_api(bare: World) -> None:
    deploy.deploy(bare)
    assert deploy.unavailable(bare.cluster, NAMESPACE) == []
    present = {obj["metadata"]["name"] for obj in bare.cluster.list("deployments.apps", NAMESPACE)}
    assert {c.name for c in APP.components if c.workload == "deployments.apps"} <= present
    bare.advance(120.0)
    assert set(journeys(bare, 30.0).values()) == {1.0}


def test_what_does_not_come_up_is_told(world: World) -> None:
    edits.apply(world, Redeploy(GEO, {f"{MAIN}/image": "no-such-image:1"}))
    with pytest.raises(AppError, match=r"not available after \d+ s: geo; correct"):
        deploy.await_available(world, limit=20.0)


# --- the users ----------------------------------------------------------------------------------------


def test_users_are_served_until_something_breaks(world: World) -> None:
    world.advance(60.0)
    before = world.traffic.health(60.0)
    assert [journey.journey for journey in before] == [journey.name for journey in APP.journeys]
    for journey in before:
        assert (journey.requests > 0, journey.success_ratio, dict(journey.errors)) == (True, 1.0, {})
        assert journey.latency_seconds < APP.slo.latency_seconds
    undo = edits.apply(world, JsonPatch(SERVICE, "/spec/selector", {"no": "pod"}))
    world.advance(30.0)
    assert set(journeys(world, 10.0).values()) == {0.0}
    assert all(journey.errors for journey in world.traffic.health(10.0))
    edits.undo(world, undo)
    world.advance(30.0)
    assert set(journeys(world, 10.0).values()) == {1.0}


def test_only_those_suffer_who_need_what_is_broken(world: World) -> None:
    edits.apply(
        world, JsonPatch(ObjectRef("deployments.apps", "recommendation", NAMESPACE), "/spec/replicas", 0)
    )
    world.advance(60.0)
    health = journeys(world, 10.0)
    assert health.pop("recommend") == 0.0
    assert set(health.values()) == {1.0}


def test_the_rate_that_users_offer_is_the_same_in_every_window(world: World) -> None:
    world.advance(120.0)
    long, short = world.traffic.health(60.0), world.traffic.health(10.0)
    for a, b in zip(long, short, strict=True):
        assert a.requests / 60.0 == pytest.approx(b.requests / 10.0)


# --- requests from the workstation --------------------------------------------------------------------


def test_requests(world: World) -> None:
    done = get(world, f"frontend.{NAMESPACE}:5000/")
    assert (done.outcome, done.phase, done.status, done.port) == ("ok", "done", 200, 5000)
    assert "Hotel Reservation" in done.body
    service = world.cluster.get("services", "frontend", NAMESPACE)
    assert done.address == service["spec"]["clusterIP"]
    full = get(world, f"frontend.{NAMESPACE}.svc.cluster.local:5000/hotels?lat=38.0&lon=-122.1")
    assert full.status == get(world, f"{done.address}:5000/hotels?lat=38.0&lon=-122.1").status
    assert get(world, f"frontend.{NAMESPACE}:5000/nope").status == 404


def test_requests_to_a_pod(world: World) -> None:
    (pod,) = world.cluster.list("pods", NAMESPACE, label_selector="io.kompose.service=frontend")
    assert get(world, f"{pod['status']['podIP']}:5000/").status == 200
    assert get(world, f"{pod['status']['podIP']}:5001/").outcome == "refused"


def test_requests_that_reach_nobody(world: World) -> None:
    assert get(world, f"nope.{NAMESPACE}:80/").outcome == "no_such_host"
    assert get(world, "frontend:5000/").outcome == "no_such_host"
    assert get(world, f"frontend.{NAMESPACE}:5001/", timeout=2.0).outcome == "timeout"
    edits.apply(world, JsonPatch(SERVICE, "/spec/ports/0/targetPort", 9999))
    world.advance(5.0)
    wrong_port = get(world, f"frontend.{NAMESPACE}:5000/")
    assert (wrong_port.outcome, wrong_port.phase) == ("refused", "connect")
    edits.apply(world, JsonPatch(SERVICE, "/spec/selector", {"no": "pod"}))
    world.advance(5.0)
    assert get(world, f"frontend.{NAMESPACE}:5000/").outcome == "refused"


def test_a_request_does_not_leave_the_application(world: World) -> None:
    """A path that walks up must not come out at something else that answers."""
    for path in ("/../../../../configmaps", "/..%2f..%2f", "/%2e%2e/%2E%2e/pods", "/a/../../../pods"):
        done = get(world, f"frontend.{NAMESPACE}:5000{path}")
        assert done.outcome == "ok"
        assert "List" not in done.body, path


# --- edits --------------------------------------------------------------------------------------------

MADE = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "small", "namespace": NAMESPACE},
    "spec": {"hard": {"pods": "40"}},
}

EDITS: dict[str, Edit] = {
    "set a field": JsonPatch(GEO, f"{MAIN}/command", ["/bin/nothing"]),
    "remove a field": JsonPatch(GEO, f"{MAIN}/env", REMOVED),
    "merge": MergePatch(
        SERVICE, {"metadata": {"labels": {"extra": "1"}}, "spec": {"sessionAffinity": "ClientIP"}}
    ),
    "create": Create(MADE),
    "delete": Delete(SERVICE),
    "delete a configmap": Delete(ObjectRef("configmaps", "mongo-geo-script", NAMESPACE)),
    "redeploy": Redeploy(GEO, {"/spec/template/spec/dnsPolicy": "Default"}),
    "substitute": Substitute(
        ObjectRef("configmaps", "coredns", "kube-system"),
        "/data/Corefile",
        "kubernetes cluster.local",
        "kubernetes x",
    ),
    "taint": JsonPatch(ObjectRef("nodes", "sre-worker"), "/spec/unschedulable", True),
}


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_is_undone_exactly(world: World, case: str) -> None:
    before = {key: desired(obj) for key, obj in protected_objects(world)}
    undo = edits.apply(world, EDITS[case])
    world.advance(5.0)
    changed = {key: desired(obj) for key, obj in protected_objects(world)}
    assert changed != before
    edits.undo(world, undo)
    world.advance(60.0)
    assert {key: desired(obj) for key, obj in protected_objects(world)} == before
    edits.undo(world, undo)  # once more does nothing
    assert {key: desired(obj) for key, obj in protected_objects(world)} == before


def test_a_deleted_service_comes_back_under_its_address(world: World) -> None:
    address = world.cluster.get("services", "frontend", NAMESPACE)["spec"]["clusterIP"]
    undo = edits.apply(world, Delete(SERVICE))
    with pytest.raises(StatusError, match="not found"):
        world.cluster.get("services", "frontend", NAMESPACE)
    edits.undo(world, undo)
    assert world.cluster.get("services", "frontend", NAMESPACE)["spec"]["clusterIP"] == address


def test_edits_that_act_on_pods(world: World) -> None:
    def pods() -> set[str]:
        found = world.cluster.list("pods", NAMESPACE, label_selector="io.kompose.service=geo")
        return {pod["metadata"]["name"] for pod in found}

    before = pods()
    edits.apply(world, RecreatePods("geo"))
    world.advance(60.0)
    assert pods().isdisjoint(before)
    edits.apply(world, JsonPatch(GEO, "/spec/template/metadata/labels/extra", "1"))
    edits.apply(world, AwaitRollout(GEO))
    assert world.cluster.get(*_of(GEO))["status"]["updatedReplicas"] == 1
    touch = Exec("geo", ("sh", "-c", "echo x > /tmp/x"), ("rm", "/tmp/x"))
    undo = edits.apply(world, touch)
    assert edits.execute(world, "geo", ("cat", "/tmp/x")) == "x\n"
    edits.undo(world, undo)
    with pytest.raises(ClusterError, match="exit code 1"):
        edits.execute(world, "geo", ("cat", "/tmp/x"))


def _of(target: ObjectRef) -> tuple[str, str, str | None]:
    return target.resource, target.name, target.namespace


# --- what only some can -------------------------------------------------------------------------------


def test_a_backend_says_which_disturbances_it_can_make(world: World) -> None:
    kinds = world.nodes.kinds
    assert kinds <= set(get_args(Disturbance))
    failing = DiskReadErrors("sre-worker")
    world.nodes.heal(failing)
    if DiskReadErrors in kinds:
        world.nodes.apply(failing)
        world.nodes.heal(failing)
    else:
        with pytest.raises(ClusterError, match=r"cannot make disturbances yet \(docs/limits\.md\)"):
            world.nodes.apply(failing)


def test_a_world_is_a_value_or_says_that_it_is_none(world: World) -> None:
    value = forkable(world)
    if value is None:
        with pytest.raises(UsageError, match="cannot be copied"):
            demanded(world)
        return
    copy = value.fork()
    assert copy.digest() == value.digest()
    copy.advance(1.0)
    assert copy.digest() != value.digest()


def test_alerts_are_told_where_there_are_any(world: World) -> None:
    assert [alert for alert in world.alerts() if alert.state == "firing"] == []


def test_components_are_told_where_they_can_be_seen(world: World) -> None:
    seen = {component.component for component in world.traffic.components(30.0)}
    assert seen <= {component.name for component in APP.components}


def test_undoing_while_others_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller of a cluster that runs by itself may write between looking and putting back."""
    world = deployed_world(APP, 0)
    undo = edits.apply(world, JsonPatch(GEO, "/spec/replicas", 3))
    put = SimCluster.replace
    tried = []

    def disturbed(cluster: SimCluster, manifest: Manifest, **options: Any) -> Manifest:
        tried.append(manifest["metadata"]["resourceVersion"])
        if len(tried) == 1:
            world.cluster.patch(
                GEO.resource, GEO.name, {"metadata": {"annotations": {"x": "y"}}}, namespace=NAMESPACE
            )
        return put(cluster, manifest, **options)

    monkeypatch.setattr(SimCluster, "replace", disturbed)
    edits.undo(world, undo)
    assert len(set(tried)) == 2
    assert world.cluster.get(*_of(GEO))["spec"]["replicas"] == 1
