"""Draws members of Social Network's family: what another team that runs it has chosen for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sregym_env.apps import builds
from sregym_env.apps.builds import Builds
from sregym_env.apps.social_network.application import application
from sregym_env.apps.social_network.edition import DATABASES, MEMCACHED, PORTS, REDIS, SERVICES, Edition, Host
from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

_MONGODB = ("4.4.4", "4.4.6", "4.4.8", "4.4.10", "4.4.13", "4.4.15", "4.4.18", "4.4.21", "4.4.24", "4.4.29")
_REDIS = ("6.2.4", "6.2.6", "6.2.7", "6.2.11", "6.2.13", "6.2.14", "7.0.11", "7.0.15", "7.2.4")
_MEMCACHED = ("1.6.7", "1.6.12", "1.6.17", "1.6.21", "1.6.22", "1.6.27", "1.6.31")
_JAEGER = ("1.50", "1.52", "1.53", "1.54", "1.55", "1.57", "1.60", "1.62.0")
_REPOSITORIES = (
    "social-network",
    "social/backend",
    "socialnet-services",
    "feed-platform",
    "social-network-microservices",
)
_HOSTS: Mapping[Host, float] = {"short": 0.6, "namespaced": 0.15, "full": 0.25}


def family(app: App, chance: Chance) -> App:
    """Another member of the family, equally healthy; what does not vary is as it was."""
    return replace(application(edition(chance)), family=app.family)


def edition(chance: Chance) -> Edition:
    """What a team has chosen."""
    ports = _ports(chance.at("ports"))
    return Edition(
        **_images(chance.at("images")),
        ports=ports,
        label=chance.weighted("label", _LABELS),
        host=chance.weighted("host", _HOSTS),
        entry_port=chance.choice("entry-port", (8080, 8080, 80, 8000)),
        redis_threads=chance.choice("threads", (2, 4, 8)),
        connections=chance.choice("connections", (128, 256, 512, 512)),
        sample_ratio=chance.weighted("sample-ratio", {"1": 0.3, "0.1": 0.3, "0.01": 0.4}),
        probes=_probes(chance.at("probes"), ports),
        rate=chance.between("rate", 14, 44) * 5,
        mix=_mix(chance.at("mix")),
        round_seconds=chance.choice("round", (10, 10, 30, 60)),
        user=chance.between("user", 1, 961),
    )


_LABELS = {"service": 0.4, "app": 0.25, "app.kubernetes.io/name": 0.25, "component": 0.1}


def _ports(chance: Chance) -> dict[str, int]:
    """Where everything listens: the services all alike, or each on one of its own."""
    ports = dict(PORTS)
    style = chance.weighted("style", {"published": 0.2, "alike": 0.3, "rows": 0.5})
    if style == "alike":
        ports |= dict.fromkeys(SERVICES, chance.choice("alike", (9091, 9000, 7070, 10000, 9190, 8090)))
    if style == "rows":
        first = chance.choice("first", (9001, 9101, 7001, 10001, 20010, 8101))
        step = chance.choice("step", (1, 1, 2, 10))
        order = chance.shuffled("order", SERVICES)
        ports |= {name: first + index * step for index, name in enumerate(order)}
    return ports


def _images(chance: Chance) -> dict[str, Any]:
    registry = builds.registry(chance)
    repository = f"{registry.own}/{chance.choice('repository', _REPOSITORIES)}"
    works = [f"{repository}{tag}" for tag in builds.tags(chance.at("tags"))]
    own = chance.at("front")
    return {
        "application": Builds(works[-1] if chance.yes("newest", 0.75) else works[-2], tuple(works)),
        "front": Builds(
            f"{registry.own}/{chance.choice('front', ('openresty-thrift', 'social-web', 'edge'))}:xenial"
        ),
        "media": Builds(
            f"{registry.own}/{chance.choice('media', ('media-frontend', 'social-media', 'media'))}:xenial"
        ),
        "assets": f"{registry.own}/{chance.choice('assets', ('social-network-assets', 'web-assets'))}:v{own.between('v', 1, 9)}",
        "mongodb": builds.released(chance.at("mongodb"), f"{registry.others}mongo", _MONGODB),
        "redis": builds.released(chance.at("redis"), f"{registry.others}redis", _REDIS),
        "memcached": builds.released(chance.at("memcached"), f"{registry.others}memcached", _MEMCACHED),
        "jaeger": builds.released(
            chance.at("jaeger"), builds.beside(registry, "jaegertracing/all-in-one"), _JAEGER
        ),
        "load": f"{builds.beside(registry, 'deathstarbench/wrk2-client')}:latest",
    }


def _probes(chance: Chance, ports: Mapping[str, int]) -> dict[str, Manifest]:
    """Most teams have some: by port, and of stores by their own client. What waits for its database does not listen."""
    found: dict[str, Manifest] = {}
    if chance.yes("stores", 0.5):
        for name in (
            *(f"{each}-mongodb" for each in DATABASES),
            *(f"{each}-memcached" for each in MEMCACHED),
        ):
            found[name] = {"tcpSocket": {"port": ports[name]}}
        for each in REDIS:
            name = f"{each}-redis"
            ping: Manifest = {"exec": {"command": ["redis-cli", "ping"]}}
            found[name] = ping if chance.yes("ping", 0.5) else {"tcpSocket": {"port": ports[name]}}
    if chance.yes("services", 0.6):
        found |= {name: {"tcpSocket": {"port": ports[name]}} for name in SERVICES}
    if chance.yes("front", 0.6):
        found["nginx-thrift"] = {"httpGet": {"path": "/", "port": 8080}}
    if chance.yes("media", 0.4):
        found["media-frontend"] = {"tcpSocket": {"port": 8080}}
    return found


def _mix(chance: Chance) -> tuple[float, float, float]:
    home, post = chance.between("home", 45, 65), chance.between("post", 8, 20)
    return home / 100, (100 - home - post) / 100, post / 100
