"""Hotel Reservation's components: who needs whom, when, and how the address is found.

The Go services find each other in Consul, where each registers its pod's address when it starts; their
Kubernetes Services carry no user traffic. Databases, caches, Consul and the front end are found by Service.
"""

from __future__ import annotations

from typing import Literal

from sregym_env.apps.hotel_reservation.manifests import CACHES, DATABASES, GO_SERVICES, GUARDED
from sregym_env.cluster.app import Account, Component, ConfigKey, Dependency

MI = 1024 * 1024

CONFIG = "/go/src/github.com/harlow/go-micro-services/config.json"
"""Where the Go services' configuration file lies in their image."""

DEFECTIVE_GEO = "yinfangchen/geo:app3"
"""A published build of geo that dials a wrong database port."""

NEWER_MONGO = "mongo:8.0.14-rc0"
"""A MongoDB release that refuses data files written by 4.4."""

_Moments = frozenset[Literal["start", "request"]]
_START: _Moments = frozenset({"start"})
_REQUEST: _Moments = frozenset({"request"})
_BOTH: _Moments = frozenset({"start", "request"})

_CONFIG_NAMES = {"recommendation": "Recommend", "reservation": "Reserve"}
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


def components() -> tuple[Component, ...]:
    """All components, leaves first."""
    inner = ("geo", "profile", "rate", "recommendation", "reservation", "user")
    return (
        _plain("jaeger", "tracing", "hotel-reserv-jaeger", 16686, 30),
        _plain("consul", "registry", "consul", 8500, 35),
        *(
            _plain(f"memcached-{name}", "memcached", f"hotel-reserv-{middle}-mmc", 11211, 4)
            for name, middle in CACHES.items()
        ),
        *(_mongodb(name) for name in DATABASES),
        *(_go_service(name) for name in (*inner, "search", "frontend")),
        Component(
            name="wrk2-job",
            kind="load",
            workload="jobs.batch",
            container="wrk2",
            memory=40 * MI,
            dependencies=(Dependency("frontend", _REQUEST, "service", 5000),),
        ),
    )


def _plain(name: str, kind: str, container: str, port: int, megabytes: int) -> Component:
    return Component(name, kind, "deployments.apps", container, port, name, memory=megabytes * MI)


def _mongodb(name: str) -> Component:
    accounts = (Account("admin", "admin", ("readWrite",)), Account("root", "root", ("readWrite",)))
    return Component(
        name=f"mongodb-{name}",
        kind="mongodb",
        workload="deployments.apps",
        container=f"hotel-reserv-{name}-mongo",
        port=27017,
        service=f"mongodb-{name}",
        volume=f"{name}-pvc",
        memory=92 * MI,
        database=f"{name}-db",
        accounts=accounts if name in GUARDED else (),
        builds={"incompatible": NEWER_MONGO},
    )


def _go_service(name: str) -> Component:
    key = f"{_CONFIG_NAMES.get(name, name.capitalize())}MongoAddress" if name in DATABASES else ""
    return Component(
        name=name,
        kind="web" if name == "frontend" else "grpc_service",
        workload="deployments.apps",
        container=f"hotel-reserv-{name}",
        port=GO_SERVICES[name][0],
        service=name,
        memory=_MEMORY[name] * MI,
        stateless=True,
        dependencies=tuple(_needs(name)),
        config=ConfigKey(CONFIG, key) if key else None,
        flag="SEARCH_BACKEND_VERSION" if name == "frontend" else "",
        builds={"defective": DEFECTIVE_GEO} if name == "geo" else {},
    )


def _needs(name: str) -> list[Dependency]:
    needs = [
        Dependency("consul", _START, "service", 8500, persistent=True),
        Dependency("jaeger", _REQUEST, "service", 6831, essential=False),
    ]
    cache = _CACHED_BY.get(name, "")
    if name in DATABASES:
        when = _BOTH if cache else _START
        needs.append(
            Dependency(f"mongodb-{name}", when, "service", 27017, persistent=True, cached=bool(cache))
        )
    if cache:
        needs.append(Dependency(cache, _REQUEST, "service", 11211))
    needs += [Dependency(on, _REQUEST, "registry", GO_SERVICES[on][0]) for on in _CALLS.get(name, ())]
    return needs
