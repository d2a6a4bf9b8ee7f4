"""What is special about Social Network: its size, who suffers when a component is gone, and what its programs say."""

from __future__ import annotations

from collections import Counter

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.sim.bringup.deploy import deployed_world

APP = apps.app("social-network")
HOME, USER, COMPOSE = "home-timeline", "user-timeline", "compose"
ALL = {HOME, USER, COMPOSE}

SUFFER: dict[str, set[str]] = {
    "home-timeline-redis": {HOME, COMPOSE},
    "social-graph-redis": {COMPOSE},
    "user-timeline-redis": {USER, COMPOSE},
    "post-storage-mongodb": {COMPOSE},
    "url-shorten-mongodb": {COMPOSE},
    "user-timeline-mongodb": {COMPOSE},
    "unique-id-service": {COMPOSE},
    "media-service": {COMPOSE},
    "user-service": {COMPOSE},
    "social-graph-service": {COMPOSE},
    "url-shorten-service": {COMPOSE},
    "user-mention-service": {COMPOSE},
    "text-service": {COMPOSE},
    "post-storage-service": ALL,
    "user-timeline-service": {USER, COMPOSE},
    "home-timeline-service": {HOME, COMPOSE},
    "compose-post-service": {COMPOSE},
    "nginx-thrift": ALL,
}
"""Journeys that fail without a component; without the others (caches in front of a database, databases behind a warm
cache, pictures, tracing) nobody notices."""


def logs(world: World, namespace: str, component: str) -> str:
    """What the pods of a component have written."""
    pods = world.cluster.list("pods", namespace)
    names = [pod["metadata"]["name"] for pod in pods if pod["metadata"]["labels"].get("app") == component]
    return "\n".join(world.cluster.logs(namespace, name) for name in names)


def without(*names: str) -> World:
    world = deployed_world(APP, 1).fork()
    for name in names:
        patch = {"spec": {"replicas": 0}}
        world.cluster.patch("deployments.apps", name, patch, namespace=APP.namespace, type="merge")
    world.cluster.advance(60.0)
    return world


def test_the_counts_are_those_of_the_chart() -> None:
    kinds = Counter(manifest["kind"] for manifest in APP.manifests)
    # One ConfigMap more than components: the load generator's.
    assert kinds == {"Namespace": 1, "Deployment": 27, "Service": 27, "ConfigMap": 28, "Job": 1}


@pytest.mark.parametrize("name", [c.name for c in APP.components if c.kind != "load"])
def test_who_suffers_without_a_component(name: str) -> None:
    health = without(name).traffic.health(20.0)
    assert {each.journey for each in health if each.success_ratio < 0.5} == SUFFER.get(name, set())
    assert all(each.success_ratio in (0.0, 1.0) for each in health)


def test_who_is_critical_is_who_makes_somebody_suffer() -> None:
    serving = {name for name in SUFFER if name in APP.serving}
    assert serving == set(SUFFER)
    assert not APP.critical & {"jaeger", "media-frontend", "media-mongodb", "media-memcached", "wrk2-job"}


def test_a_warm_cache_hides_its_database_and_a_cold_one_does_not() -> None:
    hidden = without("user-mongodb").traffic.health(20.0)
    assert all(each.success_ratio == 1.0 for each in hidden)
    shown = without("user-mongodb", "user-memcached").traffic.health(20.0)
    assert {each.journey for each in shown if each.success_ratio == 0.0} == {COMPOSE}


def test_a_failed_post_is_told_by_everybody_on_its_way() -> None:
    world = without("url-shorten-mongodb")
    said = logs(world, APP.namespace, "url-shorten-service")
    assert (
        "<error>: (UrlShortenHandler.h:176) Failed to insert urls to MongoDB: No suitable servers found "
        "(`serverSelectionTryOnce` set): [connection refused calling ismaster on 'url-shorten-mongodb:27017']"
        in said
    )
    assert "<error>: (TextHandler.h:106) Failed to upload urls to url-shorten-service" in logs(
        world, APP.namespace, "text-service"
    )
    assert "Failed to send compose-text to text-service" in logs(world, APP.namespace, "compose-post-service")
    assert "[error] 7#7: *1 [lua] compose.lua:62: compost_post failure: No suitable servers found" in logs(
        world, APP.namespace, "nginx-thrift"
    )


def test_a_service_whose_database_is_away_waits_for_it_and_does_not_listen() -> None:
    world = without("post-storage-mongodb", "post-storage-service")
    world.cluster.patch(
        "deployments.apps",
        "post-storage-service",
        {"spec": {"replicas": 1}},
        namespace=APP.namespace,
        type="merge",
    )
    world.cluster.advance(30.0)
    said = logs(world, APP.namespace, "post-storage-service")
    assert said.count("(PostStorageService.cpp:48:main) Failed to create mongodb index, try again") > 20
    assert "Starting the post-storage-service server" not in said
    assert {each.journey for each in world.traffic.health(10.0) if each.success_ratio == 0.0} == ALL
    world.cluster.patch(
        "deployments.apps",
        "post-storage-mongodb",
        {"spec": {"replicas": 1}},
        namespace=APP.namespace,
        type="merge",
    )
    world.cluster.advance(60.0)
    assert "Starting the post-storage-service server" in logs(world, APP.namespace, "post-storage-service")
    assert all(each.success_ratio == 1.0 for each in world.traffic.health(10.0))
