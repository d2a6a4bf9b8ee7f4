"""A trial of a world tells what a fork tells of objects, machines, users and chance, and leaves out the rest."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.disturbances import LinkLoss
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld

APP = apps.app("hotel-reservation")
NAMESPACE = APP.namespace

COUNTED = ("resourceVersion", "endpoints.kubernetes.io/last-change-trigger-time")
"""What says how many writes there were, and when one of them came."""


def plain(value: Any) -> Any:
    """An object without what counts writes."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if key not in COUNTED}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def told(world: EmbeddedWorld) -> dict[str, Any]:
    """What the oracle may ask a world for, and what decides how it goes on."""
    resources = [each for each in world.store.resources() if each not in ("endpoints", "events")]
    return {
        "objects": {resource: plain(world.store.list(resource)) for resource in resources},
        "warnings": [
            (event["involvedObject"]["name"], event["reason"], event["message"], event["count"])
            for event in world.store.list("events")
            if event["type"] == "Warning"
        ],
        "health": world.traffic.health(60.0),
        "components": world.traffic.components(60.0),
        "chance": world.streams.state(),
        "processes": world.processes,
        "volumes": world.volumes,
    }


def said(world: EmbeddedWorld) -> list[str]:
    """The messages of Normal events."""
    return [event["message"] for event in world.store.list("events") if event["type"] == "Normal"]


def shaken(world: EmbeddedWorld, lossy: bool) -> EmbeddedWorld:
    """The world after a while in which every pod was recreated, a configuration broken and a database closed."""
    cluster = world.cluster
    if lossy:
        pods = cluster.list("pods", NAMESPACE)
        world.nodes.apply(LinkLoss(NAMESPACE, pods[0]["metadata"]["name"], fraction=0.2))
    for pod in cluster.list("pods", NAMESPACE):
        cluster.delete("pods", pod["metadata"]["name"], NAMESPACE)
    cluster.delete("configmaps", cluster.list("configmaps", NAMESPACE)[-1]["metadata"]["name"], NAMESPACE)
    cluster.patch("services", "mongodb-geo", {"spec": {"selector": {"a": "b"}}}, namespace=NAMESPACE)
    world.advance(90.0)
    return world


@pytest.mark.parametrize("lossy", [False, True])
def test_a_trial_goes_as_a_fork_goes(lossy: bool) -> None:
    world = deployed_world(APP, 5)
    fork, trial = shaken(world.fork(), lossy), shaken(world.trial(), lossy)
    assert told(trial) == told(fork)


def test_nobody_reads_a_trial_or_what_is_forked_from_it() -> None:
    world = deployed_world(APP, 5)
    written = sum(len(log._entries) for log in world.logs.values())
    trial = world.trial().fork()
    before, normal = trial.store.list("endpoints"), said(trial)
    shaken(trial, False)
    assert said(trial) == normal
    assert sum(len(log._entries) for log in trial.logs.values()) <= written
    assert trial.store.list("endpoints") == before
    fork = shaken(world.fork(), False)
    assert said(fork) != normal
    assert fork.store.list("endpoints") != before, "what a fork is for is not left out"
    assert sum(len(log._entries) for log in fork.logs.values()) > written / 2
