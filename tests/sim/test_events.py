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
