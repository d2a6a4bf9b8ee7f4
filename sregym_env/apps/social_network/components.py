"""Social Network's components: what their steps say of who needs whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sregym_env.apps.social_network.edition import DATABASES, MEMCACHED, REDIS, SERVICES, Edition
from sregym_env.apps.social_network.services import DATABASE, front, media_front, services
from sregym_env.cluster.app import Component, Dependency, Journey
from sregym_env.sim.programs import mongod
from sregym_env.sim.programs.services.graph import Need, needs, reached
from sregym_env.sim.programs.services.settings import ServiceSettings

MI = 1024 * 1024

_PROGRAMS: dict[str, ServiceSettings] = {each.name: each for each in (*services(), media_front(), front())}
_JOURNEYS = {
    "home-timeline": ("GET", "/wrk2-api/home-timeline/read"),
    "user-timeline": ("GET", "/wrk2-api/user-timeline/read"),
    "compose": ("POST", "/wrk2-api/post/compose"),
}
_REACHED = {
    name: reached(_PROGRAMS, "nginx-thrift", f"{method} {path}") for name, (method, path) in _JOURNEYS.items()
}
"""Operations that each journey leads to, by component."""


_POSTS = 10 * 750
"""Bytes of what a timeline shows: the load asks for ten posts at once, each with a text of 256 characters, and what it mentions,
links and shows."""
_ANSWERS: Mapping[str, Mapping[str, int]] = {
    "post-storage-service": {"ReadPosts": _POSTS},
    "home-timeline-service": {"ReadHomeTimeline": _POSTS},
    "user-timeline-service": {"ReadUserTimeline": _POSTS},
    "nginx-thrift": {"GET /wrk2-api/home-timeline/read": _POSTS, "GET /wrk2-api/user-timeline/read": _POSTS},
}
"""Answers of several packets, estimated."""


def journeys(edition: Edition) -> tuple[Journey, ...]:
    """What users do, with the load generator's mix."""
    stretch = f"user_id={edition.user}&start=0&stop=10"
    post = f"username=username_{edition.user}&user_id={edition.user}&text=hello&media_ids=%5B%5D&media_types=%5B%5D&post_type=0"
    return tuple(
        Journey(name, *_JOURNEYS[name][:1], f"{_JOURNEYS[name][1]}?{query}", share, tuple(_REACHED[name]))
        for name, query, share in zip(_JOURNEYS, (stretch, stretch, post), edition.mix, strict=True)
    )


def components(edition: Edition) -> tuple[Component, ...]:
    """All components, leaves first."""
    return (
        Component(
            "jaeger",
            "tracing",
            "deployments.apps",
            "jaeger",
            16686,
            "jaeger",
            memory=30 * MI,
            releases=edition.jaeger.works,
        ),
        *(_store(edition, f"{name}-memcached", "memcached", 4) for name in MEMCACHED),
        *(_store(edition, f"{name}-redis", "redis", 6) for name in REDIS),
        *(_store(edition, f"{name}-mongodb", "mongodb", 92) for name in DATABASES),
        *(_service(edition, name) for name in (*SERVICES, "media-frontend", "nginx-thrift")),
        Component(
            name="wrk2-job",
            kind="load",
            workload="jobs.batch",
            container="wrk2",
            memory=40 * MI,
            dependencies=(
                Dependency("nginx-thrift", frozenset({"request"}), "service", edition.offer("nginx-thrift")),
            ),
        ),
    )


def _store(
    edition: Edition, name: str, kind: Literal["memcached", "redis", "mongodb"], memory: int
) -> Component:
    built = {"memcached": edition.memcached, "redis": edition.redis, "mongodb": edition.mongodb}[kind]
    return Component(
        name,
        kind,
        "deployments.apps",
        name,
        edition.ports[name],
        name,
        memory=memory * MI,
        database=DATABASE.get(name, ""),
        written=name in ("home-timeline-redis", "user-timeline-redis"),
        releases=built.works,
        # Its directory lives as long as its container.
        starts=mongod.INIT_SECONDS if kind == "mongodb" else 0.0,
    )


def _service(edition: Edition, name: str) -> Component:
    settings = _PROGRAMS[name]
    operations = {operation for found in _REACHED.values() for operation in found.get(name, ())}
    if name == "media-frontend":
        operations = {"GET /get-media"}
    web = name in ("nginx-thrift", "media-frontend")
    built = {"nginx-thrift": edition.front, "media-frontend": edition.media}.get(name, edition.application)
    return Component(
        name=name,
        kind="web" if web else "thrift_service",
        workload="deployments.apps",
        container=name,
        port=edition.ports[name],
        service=name,
        memory=settings.memory,
        stateless=bool(operations) and name != "media-frontend",
        dependencies=(
            Dependency(
                "jaeger", frozenset({"request"}), "service", 6831, edition.address("jaeger"), essential=False
            ),
            *(_dependency(edition, need, web) for need in needs(settings, operations)),
        ),
        releases=built.works,
        service_port=edition.offer(name) if edition.offer(name) != edition.ports[name] else 0,
        answers=_ANSWERS.get(name, {}),
    )


def _dependency(edition: Edition, need: Need, web: bool) -> Dependency:
    moments: list[Literal["start", "request"]] = []
    if need.at_start:
        moments.append("start")
    if need.at_request:
        moments.append("request")
    host = f"{need.on}.social-network.svc.cluster.local" if web else edition.address(need.on)
    return Dependency(
        need.on,
        frozenset(moments),
        "service",
        edition.offer(need.on),
        "" if host == need.on else host,
        need.essential,
        cached=need.cached and need.at_request,
    )
