"""What the members of Hotel Reservation's family differ in, as far as only the application knows.

An :class:`Edition` is everything that a team which runs the application chooses in its own build and configuration;
manifests, images and components follow from it. :data:`PUBLISHED` is the application as it is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sregym_env.apps.builds import Builds
from sregym_env.cluster.app import Account
from sregym_env.kube.types import Manifest

NAMESPACE = "hotel-reservation"

DATABASES = ("geo", "profile", "rate", "recommendation", "reservation", "user")
"""What the six MongoDB instances are named after."""

GUARDED = ("geo", "rate")
"""Databases that ask for credentials."""

CACHES: Mapping[str, str] = {"profile": "profile", "rate": "rate", "reserve": "reservation"}
"""Memcached instances and the middle of their containers' names."""

STORED_BY: Mapping[str, str] = {
    "geo": "Geo",
    "profile": "Profile",
    "rate": "Rate",
    "recommendation": "Recommend",
    "reservation": "Reserve",
    "user": "User",
}
"""How the configuration's keys begin that are about a service's database."""

Login = Literal["compiled", "config", "environment", "secret"]
"""Where the clients of a guarded database have their account from: their program, their configuration file, their
environment, or a Secret in it."""

Host = Literal["short", "namespaced", "full", "local"]
"""How addresses name a Service: alone, with its namespace, fully qualified, or not at all but on one machine."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One member of the family."""

    ports: Mapping[str, int]
    """Where the Go services and the caches listen, by component; the caches all alike."""
    metrics: Mapping[str, int]
    """Where rate and search serve metrics."""
    offered: Mapping[str, int] = field(default_factory=dict)
    """Ports of Services that differ from the port behind them, by component."""
    named: tuple[str, ...] = ()
    """Components whose Service forwards to a port by its name."""
    host: Host = "short"
    label: str = "io.kompose.service"
    """The label by which pods are selected."""
    converted: bool = True
    """Whether the manifests bear the marks of the tool that has converted them."""
    application: Builds = field(default_factory=lambda: Builds(""))
    mongodb: Builds = field(default_factory=lambda: Builds(""))
    memcached: Builds = field(default_factory=lambda: Builds(""))
    consul: Builds = field(default_factory=lambda: Builds(""))
    jaeger: Builds = field(default_factory=lambda: Builds(""))
    load: str = ""
    """Image of the load generator."""
    wrong_port: int = 27777
    """The database port that the defective build of geo dials."""
    newer: str = "8.0.14"
    """The MongoDB release that refuses the data files."""
    accounts: Mapping[str, tuple[Account, Account]] = field(default_factory=dict)
    """The client's and the administrator's account of every guarded database."""
    settings_map: str = ""
    """The ConfigMap with the configuration file that the Go services mount; empty where the one in their image holds."""
    login: Login = "compiled"
    expanded: bool = False
    """Whether the database's init script takes the accounts from its environment, and that from a Secret."""
    databases: Mapping[str, str] = field(default_factory=dict)
    """Names of databases that are not ``<name>-db``."""
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Environment of the Go services beside the tracer's sample ratio, by component."""
    sample_ratio: str = "1"
    cache_settings: tuple[tuple[str, str], ...] = (
        ("MEMCACHED_CACHE_SIZE", "128"),
        ("MEMCACHED_THREADS", "2"),
    )
    cache_arguments: tuple[str, ...] = ()
    mongo_arguments: tuple[str, ...] = ()
    cpu: Mapping[str, str] = field(default_factory=dict)
    """CPU limits that are not a whole core, by component."""
    health: bool = False
    """Whether the Go services answer gRPC's health checks."""
    probes: Mapping[str, Manifest] = field(default_factory=dict)
    """How components are asked whether they are well, by component: the handler of a probe."""
    rate: int = 100
    """Requests per second that users offer."""
    mix: tuple[float, float, float, float] = (0.6, 0.39, 0.005, 0.005)
    """Shares of searches, recommendations, logins and reservations."""
    round_seconds: int = 30
    connections: int = 100
    """Connections that the load generator keeps open."""
    """How long a round of the load generator lasts."""
    user: int = 1
    """Number of the user of the typical request."""
    day: int = 9
    """Day of arrival in the typical request."""

    def port(self, component: str) -> int:
        """Where a component listens."""
        return self.ports[component]

    def offer(self, component: str) -> int:
        """The port of a component's Service."""
        return self.offered.get(component) or self.ports[component]

    def address(self, component: str) -> str:
        """The name under which clients look a component up."""
        if self.host == "short":
            return component
        if self.host == "local":
            return "localhost"
        return f"{component}.{NAMESPACE}" + (".svc.cluster.local" if self.host == "full" else "")

    def database(self, name: str) -> str:
        """What the database of a service is called."""
        return self.databases.get(name) or f"{name}-db"


_SEARCH_SETTINGS = {
    "RATE_RPC_TIMEOUT_MS": "1000",
    "RATE_RPC_MAX_ATTEMPTS": "2",
    "RATE_RPC_INITIAL_BACKOFF_MS": "100",
    "RATE_RPC_BACKOFF_MULTIPLIER": "2.0",
    "RATE_RPC_JITTER": "0.2",
}

GO_PORTS: Mapping[str, int] = {
    "frontend": 5000,
    "geo": 8083,
    "profile": 8081,
    "rate": 8084,
    "recommendation": 8085,
    "reservation": 8087,
    "search": 8082,
    "user": 8086,
}
"""Where the Go services listen in the published configuration."""

_ACCOUNTS = (Account("admin", "admin", ("readWrite",)), Account("root", "root", ("readWrite",)))

PUBLISHED = Edition(
    ports={
        **GO_PORTS,
        **{f"memcached-{name}": 11211 for name in CACHES},
        **{f"mongodb-{name}": 27017 for name in DATABASES},
        "consul": 8500,
    },
    metrics={"rate": 9091, "search": 9092},
    application=Builds(
        "ghcr.io/sregym/hotel-reservation:latest",
        fails="yinfangchen/geo:app3",
        copies=("yinfangchen/hotelreservation:latest",),
    ),
    mongodb=Builds("mongo:4.4.6", fails="mongo:8.0.14-rc0", versions=("4.4.6",)),
    memcached=Builds("memcached"),
    consul=Builds("hashicorp/consul:1.22.3", versions=("1.22.3",)),
    jaeger=Builds("jaegertracing/all-in-one:1.57"),
    load="deathstarbench/wrk2-client:latest",
    accounts=dict.fromkeys(GUARDED, _ACCOUNTS),
    settings={
        "rate": {"RATE_BACKEND_QPS_LIMIT": "500", "RATE_QUEUE_CAPACITY": "256"},
        "search": _SEARCH_SETTINGS,
    },
)
"""The application as DeathStarBench and SREGym publish it."""
