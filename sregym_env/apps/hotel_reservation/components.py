"""Hotel Reservation's components: who needs whom, when, and how the address is found.

The Go services find each other in Consul, where each registers its pod's address when it starts; their
Kubernetes Services carry no user traffic. Databases, caches, Consul and the front end are found by Service.
"""

from __future__ import annotations

from typing import Literal

from sregym_env.apps.hotel_reservation.edition import CACHES, DATABASES, STORED_BY, Edition
from sregym_env.cluster.app import Component, ConfigKey, Dependency
from sregym_env.sim.programs import mongod

MI = 1024 * 1024

CONFIG = "/go/src/github.com/harlow/go-micro-services/config.json"
"""Where the Go services' configuration file lies in their image."""

_Moments = frozenset[Literal["start", "request"]]
_START: _Moments = frozenset({"start"})
_REQUEST: _Moments = frozenset({"request"})
_BOTH: _Moments = frozenset({"start", "request"})

_MEMORY = {
    "frontend": 24,
    "search": 20,
    "geo": 22,
    "profile": 21,
    "rate": 20,
    "recommendation": 19,
    "reservation": 21,
    "user": 20,
}
"""Resident memory of the Go services at rest, MiB (orders of magnitude of small Go servers)."""

_CALLS = {
    "search": ("geo", "rate"),
    "frontend": ("search", "reservation", "profile", "recommendation", "user"),
}
_CACHED_BY = {"profile": "memcached-profile", "rate": "memcached-rate", "reservation": "memcached-reserve"}


def components(edition: Edition) -> tuple[Component, ...]:
    """All components, leaves first."""
    inner = ("geo", "profile", "rate", "recommendation", "reservation", "user")
    return (
        Component(
            "jaeger",
            "tracing",
            "deployments.apps",
            "hotel-reserv-jaeger",
            16686,
            "jaeger",
            memory=30 * MI,
            releases=edition.jaeger.works,
        ),
        Component(
            "consul",
            "registry",
            "deployments.apps",
            "consul",
            edition.port("consul"),
            "consul",
            memory=35 * MI,
            releases=edition.consul.works,
            service_port=_behind(edition, "consul"),
        ),
        *(_memcached(edition, name) for name in CACHES),
        *(_mongodb(edition, name) for name in DATABASES),
        *(_go_service(edition, name) for name in (*inner, "search", "frontend")),
        Component(
            name="wrk2-job",
            kind="load",
            workload="jobs.batch",
            container="wrk2",
            memory=40 * MI,
            dependencies=(Dependency("frontend", _REQUEST, "service", edition.offer("frontend")),),
        ),
    )


def _behind(edition: Edition, name: str) -> int:
    """The Service's port, where it is another than the component's; else 0."""
    return 0 if edition.offer(name) == edition.port(name) else edition.offer(name)


def _memcached(edition: Edition, name: str) -> Component:
    full = f"memcached-{name}"
    return Component(
        full,
        "memcached",
        "deployments.apps",
        f"hotel-reserv-{CACHES[name]}-mmc",
        edition.port(full),
        full,
        memory=4 * MI,
        releases=edition.memcached.works,
        service_port=_behind(edition, full),
    )


def _mongodb(edition: Edition, name: str) -> Component:
    full = f"mongodb-{name}"
    return Component(
        name=full,
        kind="mongodb",
        workload="deployments.apps",
        container=f"hotel-reserv-{name}-mongo",
        port=edition.port(full),
        service=full,
        volume=f"{name}-pvc",
        memory=92 * MI,
        database=edition.database(name),
        accounts=edition.accounts.get(name, ()),
        releases=edition.mongodb.works,
        builds={"incompatible": edition.mongodb.fails},
        starts=mongod.START_SECONDS,
        service_port=_behind(edition, full),
        written=name == "reservation",
    )


def _go_service(edition: Edition, name: str) -> Component:
    key = f"{STORED_BY[name]}MongoAddress" if name in DATABASES else ""
    return Component(
        name=name,
        kind="web" if name == "frontend" else "grpc_service",
        workload="deployments.apps",
        container=f"hotel-reserv-{name}",
        port=edition.port(name),
        service=name,
        memory=_MEMORY[name] * MI,
        stateless=True,
        dependencies=tuple(_needs(edition, name)),
        config=ConfigKey(CONFIG, key) if key else None,
        flag="SEARCH_BACKEND_VERSION" if name == "frontend" else "",
        releases=edition.application.works,
        builds={"defective": edition.application.fails} if name == "geo" else {},
        service_port=_behind(edition, name),
    )


def _needs(edition: Edition, name: str) -> list[Dependency]:
    def offered(
        on: str, at: _Moments, *, essential: bool = True, persistent: bool = False, cached: bool = False
    ) -> Dependency:
        host = "" if edition.host == "short" else edition.address(on)
        port = 6831 if on == "jaeger" else edition.offer(on)
        return Dependency(on, at, "service", port, host, essential, persistent, cached)

    needs = [
        offered("consul", _START, persistent=True),
        offered("jaeger", _REQUEST, essential=False),
    ]
    cache = _CACHED_BY.get(name, "")
    if name in DATABASES:
        when = _BOTH if cache else _START
        needs.append(offered(f"mongodb-{name}", when, persistent=True, cached=bool(cache)))
    if cache:
        needs.append(offered(cache, _REQUEST))
    needs += [Dependency(on, _REQUEST, "registry", edition.port(on)) for on in _CALLS.get(name, ())]
    return needs
