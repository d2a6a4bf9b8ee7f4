"""A served cluster whose revision counter runs by itself: lists, watches and preconditions mean what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.runtime.clock import DAY, EPOCH
from sregym_env.serve.access import Identities
from sregym_env.serve.app import Application
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.pace import Pace
from sregym_env.sim.bringup.plan import PUBLISHED, cluster_of
from sregym_env.sim.bringup.plan import Pace as CounterPace
from tests.serve.test_api import ask, collect, configmap, json

BORN = EPOCH - 30 * DAY
PLAN = replace(
    PUBLISHED, key="served", born=BORN, addons=4, pace=CounterPace(((BORN, 0), (BORN + DAY, 500_000)), 21_000)
)
MAPS = "/api/v1/namespaces/default/configmaps"
NODE = "/api/v1/nodes/sre-worker"


@pytest.fixture
def application() -> Application:
    world = cluster_of(PLAN)
    world.run_until(PLAN.present)
    return Application(Hosted(Pace(world, "step"), Identities({"admin": ADMIN})))


def revision(document: Any) -> int:
    return int(document["metadata"]["resourceVersion"])


def test_a_list_is_at_the_head_and_no_item_is_newer(application: Application) -> None:
    for target in ("/api/v1/nodes", "/apis/coordination.k8s.io/v1/leases", "/api/v1/pods", MAPS):
        listed = json(ask(application, target))
        assert revision(listed) > 15_000_000
        assert max(map(revision, listed["items"])) <= revision(listed)


def test_the_head_moves_with_time_alone(application: Application) -> None:
    before = revision(json(ask(application, MAPS)))
    application.hosted.world.advance(60)
    assert revision(json(ask(application, MAPS))) - before == pytest.approx(350, abs=30)


def test_a_watch_from_a_list_sees_exactly_what_comes_after(application: Application) -> None:
    ask(application, MAPS, "POST", configmap("before"))
    application.hosted.world.advance(5)
    start = revision(json(ask(application, MAPS)))
    application.hosted.world.advance(5)

    def change() -> None:
        ask(application, MAPS, "POST", configmap("a", x="1"))
        application.hosted.world.advance(3)
        ask(application, f"{MAPS}/a", "PUT", configmap("a", x="2"))
        ask(application, f"{MAPS}/a", "DELETE")

    target = f"{MAPS}?watch=true&resourceVersion={start}&timeoutSeconds=20&allowWatchBookmarks=true"
    events = collect(application, target, change)
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    numbers = [revision(event["object"]) for event in events]
    assert numbers == sorted(numbers)
    assert len(set(numbers[:3])) == 3
    assert numbers[0] > start


def test_a_watch_goes_on_from_where_another_ended(application: Application) -> None:
    start = revision(json(ask(application, MAPS)))
    for name in ("a", "b", "c"):
        ask(application, MAPS, "POST", configmap(name))
        application.hosted.world.advance(1)
    first = collect(application, f"{MAPS}?watch=true&resourceVersion={start}&timeoutSeconds=1")
    assert [event["object"]["metadata"]["name"] for event in first] == ["a", "b", "c"]
    known = revision(first[1]["object"])
    # Another event loop serves another connection.
    again = Application(Hosted(Pace(application.hosted.world, "step"), Identities({"admin": ADMIN})))
    rest = collect(again, f"{MAPS}?watch=true&resourceVersion={known}&timeoutSeconds=1")
    assert [event["object"]["metadata"]["name"] for event in rest] == ["c"]


def test_what_is_forgotten_is_gone(application: Application) -> None:
    start = revision(json(ask(application, MAPS)))
    store = application.hosted.world.store
    body = configmap("busy")
    body["metadata"]["namespace"] = "default"
    for number in range(9000):
        store.put("configmaps", {**body, "data": {"n": str(number)}})
    events = collect(application, f"{MAPS}?watch=true&resourceVersion={start}&timeoutSeconds=1")
    assert events[0]["type"] == "ERROR"
    assert events[0]["object"]["code"] == 410
    assert events[0]["object"]["message"].startswith(f"too old resource version: {start} (")


@pytest.mark.parametrize(("ahead", "status"), [(0, 200), (100_000, 504)])
def test_a_list_not_older_than_the_future_is_refused(
    application: Application, ahead: int, status: int
) -> None:
    head = revision(json(ask(application, MAPS)))
    target = f"{MAPS}?resourceVersion={head + ahead}&resourceVersionMatch=NotOlderThan"
    assert ask(application, target).status == status


def test_a_nodes_heartbeat_is_no_conflict_but_a_write_is(application: Application) -> None:
    node = json(ask(application, NODE))
    application.hosted.world.advance(900)
    moved = json(ask(application, NODE))
    assert revision(moved) > revision(node)
    node["metadata"]["labels"]["a"] = "1"
    made = json(ask(application, NODE, "PUT", node))
    assert revision(made) > revision(moved)
    assert revision(json(ask(application, NODE))) == revision(made)
    reply = ask(application, NODE, "PUT", moved)
    assert reply.status == 409
    assert "the object has been modified" in json(reply)["message"]


def test_a_deletion_may_ask_for_the_version_that_was_read(application: Application) -> None:
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/sre-worker"
    read = json(ask(application, lease))
    application.hosted.world.advance(30)
    stale = {"preconditions": {"resourceVersion": "5"}}
    assert ask(application, lease, "DELETE", stale).status == 409
    fresh = {"preconditions": {"resourceVersion": read["metadata"]["resourceVersion"]}}
    assert ask(application, lease, "DELETE", fresh).status == 200
