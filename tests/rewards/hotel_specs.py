"""A small picture of the hotel application and a few fault specs, for tests of the judge and the oracle."""

from __future__ import annotations

from sregym_env.cluster.app import App, Component, Dependency, Journey
from sregym_env.faults.spec import FaultSpec

NAMESPACE = "hotel-reservation"
REQUEST = frozenset({"request"})
SERVICES = {
    "profile": ("mongodb-profile", "memcached-profile"),
    "search": ("geo", "rate"),
    "geo": ("mongodb-geo",),
    "rate": ("mongodb-rate", "memcached-rate"),
    "recommendation": ("mongodb-recommendation",),
    "reservation": ("mongodb-reservation", "memcached-reserve"),
    "user": ("mongodb-user",),
    "frontend": ("search", "profile", "recommendation", "reservation", "user"),
}
STORES = sorted({name for needs in SERVICES.values() for name in needs if "-" in name})


def _component(name: str, kind: str, needs: tuple[str, ...] = ()) -> Component:
    volume = f"{name.removeprefix('mongodb-')}-pvc" if kind == "mongodb" else ""
    container = f"hotel-reserv-{name}"
    dependencies = tuple(Dependency(need, REQUEST) for need in needs)
    return Component(name, kind, "deployments.apps", container, 80, name, volume, 0, dependencies)


APP = App(
    name="hotel-reservation",
    title="Hotel Reservation",
    namespace=NAMESPACE,
    description="A hotel search and reservation site.",
    components=(
        _component("consul", "registry"),
        *(_component(name, name.split("-")[0]) for name in STORES),
        *(_component(name, "grpc_service", needs) for name, needs in SERVICES.items()),
    ),
    manifests=(),
    images=(),
    journeys=(Journey("search", "GET", "/hotels", 0.6), Journey("recommend", "GET", "/recommendations", 0.4)),
    entry="frontend",
)


def spec(mechanism: str, component: str, kind: str, name: str, cause: str, **extra: object) -> FaultSpec:
    """A fault spec with the fields that do not matter to the judge filled in."""
    return FaultSpec(
        fault="tested",
        layer="kubernetes",
        mechanism=mechanism,
        namespace=NAMESPACE,
        components=(component,),
        aliases=tuple(extra.pop("aliases", ())),  # type: ignore[arg-type]
        resource_kind=kind,
        resource_name=name,
        cause=cause,
        **extra,  # type: ignore[arg-type]
    )


TARGET_PORT = spec(
    "wrong_target_port",
    "recommendation",
    "Service",
    "recommendation",
    "The Service recommendation has targetPort 9999 but the container listens on 8085.",
    field="targetPort",
    wrong="9999",
    right="8085",
    affected=("frontend",),
)
REVOKED = spec(
    "database_permission_revoked",
    "mongodb-geo",
    "MongoDB user",
    "admin",
    "The MongoDB user admin of mongodb-geo lost its readWrite role on geo-db; geo cannot read its data.",
    field="roles",
    wrong="",
    right="readWrite",
    affected=("geo", "search", "frontend"),
    aliases=("geo-pvc", "hotel-reserv-geo-mongo", "geo-db"),
)
ZERO = spec(
    "scaled_to_zero",
    "profile",
    "Deployment",
    "profile",
    "The Deployment profile has been scaled to 0 replicas.",
    field="replicas",
    wrong="0",
    right="1",
    affected=("frontend",),
)
MISSING_SERVICE = spec(
    "missing_service",
    "mongodb-rate",
    "Service",
    "mongodb-rate",
    "The Service mongodb-rate does not exist, so rate cannot resolve the name of its database.",
    right="mongodb-rate",
    affected=("rate", "search", "frontend"),
)
CONFIG_KEY = spec(
    "missing_config_key",
    "geo",
    "ConfigMap",
    "geo-config",
    "The ConfigMap geo-config mounted by geo lacks the key GeoMongoAddress in config.json.",
    field="config.json",
    wrong="",
    right="GeoMongoAddress",
    affected=("search", "frontend"),
    aliases=("geo-config",),
)
DISK = FaultSpec(
    fault="tested",
    layer="hardware",
    mechanism="disk_read_errors",
    namespace=NAMESPACE,
    components=("mongodb-geo", "mongodb-rate"),
    aliases=("kind-worker2",),
    resource_kind="Node",
    resource_name="kind-worker2",
    cause="The data disk of node kind-worker2 returns read errors, so mongodb-geo and mongodb-rate crash.",
    field="disk",
    wrong="Input/output error",
    affected=("geo", "rate", "search", "frontend"),
)
PROBE = spec(
    "failing_readiness_probe",
    "frontend",
    "Deployment",
    "frontend",
    "The readiness probe of frontend asks for /healthz on port 8080, which it does not serve.",
    field="readinessProbe",
    wrong="/healthz:8080",
    right="",
)
