"""Events: their names, their order, and how repetitions are told."""

from __future__ import annotations

from sregym_env.sim.apiserver import events
from tests.sim.control_plane import cluster, create, template


def test_events_of_one_instant_sort_in_the_order_in_which_they_were_recorded() -> None:
    world = cluster("n1")
    pod = create(world, "pods", "web", template()["spec"])
    reasons = ["Pulled", "Created", "Started", "Killing", "BackOff", "Unhealthy"]
    for reason in reasons:
        events.record(world, pod, "Normal", reason, f"{reason} it", component="kubelet")
    found = [
        each for each in world.store.list("events", "default") if each["involvedObject"]["name"] == "web"
    ]
    ordered = sorted(found, key=lambda each: each["metadata"]["name"])
    assert [each["reason"] for each in ordered] == reasons


def test_an_event_is_named_after_its_object_and_time() -> None:
    world = cluster("n1")
    pod = create(world, "pods", "web", template()["spec"])
    for _ in range(3):
        events.record(world, pod, "Warning", "BackOff", "again", component="kubelet")
    (found,) = [each for each in world.store.list("events", "default") if each["reason"] == "BackOff"]
    name, _, nanoseconds = found["metadata"]["name"].rpartition(".")
    assert name == "web"
    assert int(nanoseconds, 16) // 1000 == world.now()
    assert found["count"] == 3


def test_the_scheduler_reports_to_the_newer_api() -> None:
    world = cluster("n1")
    pod = create(world, "pods", "web", template()["spec"])
    for _ in range(2):
        events.record(world, pod, "Warning", "FailedScheduling", "0/1 nodes", component="default-scheduler")
    found = [each for each in world.store.list("events", "default") if each["reason"] == "FailedScheduling"]
    (event,) = [each for each in found if each["message"] == "0/1 nodes"]
    assert event["eventTime"].startswith(event["metadata"]["creationTimestamp"][:19])
    assert len(event["eventTime"]) == len("2026-08-06T10:00:00.000000Z")
    assert (event["firstTimestamp"], event["lastTimestamp"], event["source"]) == (None, None, {})
    assert event["series"] == {"count": 2, "lastObservedTime": event["eventTime"]}
    assert (event["action"], event["reportingComponent"]) == ("Scheduling", "default-scheduler")
    assert "count" not in event
