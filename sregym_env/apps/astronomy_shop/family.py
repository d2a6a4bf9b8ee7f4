"""Draws members of Astronomy Shop's family: what another team that runs it has chosen for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sregym_env.apps import builds
from sregym_env.apps.astronomy_shop.application import application
from sregym_env.apps.astronomy_shop.catalogue import IDS
from sregym_env.apps.astronomy_shop.edition import OTHERS, OWN, PORTS, Edition
from sregym_env.apps.astronomy_shop.flags import HARMLESS
from sregym_env.apps.builds import Builds
from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

_VERSIONS: Mapping[str, tuple[str, ...]] = {
    "flagd": ("v0.11.8", "v0.12.1", "v0.12.4", "v0.12.6", "v0.12.9"),
    "postgresql": ("17.1", "17.2", "17.3", "17.4", "17.5", "17.6", "17.7"),
    "valkey-cart": ("8.1.3-alpine3.22", "8.1.4-alpine3.22", "9.0.0-alpine3.22", "9.0.1-alpine3.23"),
    "busybox": ("1.35", "1.36", "1.36.1", "1.37", "latest"),
    "locust-exporter": ("v0.3.0", "v0.3.1", "v0.4.0", "v0.4.1", "v0.5.0"),
    "grafana": ("12.0.2", "12.1.1", "12.2.0", "12.3.0", "12.3.1"),
    "k8s-sidecar": ("1.30.5", "1.30.10", "2.1.2", "2.2.1"),
    "jaeger": ("2.10.0", "2.11.0", "2.12.0", "2.13.0", "2.14.1"),
    "opensearch": ("3.0.0", "3.1.0", "3.2.0", "3.3.2", "3.4.0"),
    "otel-collector": ("0.135.0", "0.137.0", "0.138.0", "0.140.1", "0.142.0"),
}
"""Releases that work here."""
_OFFICIAL = frozenset(("postgresql", "busybox"))
_FOLDERS = ("astronomy-shop", "shop", "otel-demo", "storefront", "telescope-shop", "webshop")
_CHOSEN = (
    "ad", "cart", "checkout", "currency", "email", "frontend", "payment", "product-catalog", "quote", "recommendation",
    "shipping", "product-reviews", "image-provider",
)  # fmt: skip
"""Services that are told their port."""
_HEALTHY = (
    "ad",
    "cart",
    "checkout",
    "currency",
    "payment",
    "product-catalog",
    "product-reviews",
    "recommendation",
)
"""Services that answer gRPC's health check."""
_LETTERS = "abcdefghijkmnopqrstuvwxyz23456789"


def family(app: App, chance: Chance) -> App:
    """Another member of the family, equally healthy; what does not vary is as it was."""
    return replace(application(edition(chance)), family=app.family)


def edition(chance: Chance) -> Edition:
    """What a team has chosen."""
    ports = _ports(chance.at("ports"))
    return Edition(
        _builds(chance.at("images")),
        ports=ports,
        user=chance.choice("user", ("otelu", "otelu", "shop", "astronomy", "app", "demo_rw")),
        password=builds.text(
            chance.at("password"), "letters", chance.choice("length", (12, 16, 20)), _LETTERS
        ),
        root_password=builds.text(chance.at("root"), "letters", 16, _LETTERS),
        grafana_password=builds.text(chance.at("grafana"), "letters", 12, _LETTERS),
        users=chance.choice("users", (10, 10, 15, 20, 25, 30, 40, 50, 60)),
        spawn_rate=chance.choice("spawn", (1, 1, 2, 5)),
        probes={**_probes(chance.at("probes"), ports), "cart": {"grpc": {"port": ports["cart"]}}},
        flags=_flags(chance.at("flags")),
        label=chance.weighted("label", _LABELS),
        qualified=chance.yes("qualified", 0.3),
        product=chance.choice("product", IDS),
    )


_LABELS = {"opentelemetry.io/name": 0.6, "app.kubernetes.io/component": 0.2, "app.kubernetes.io/name": 0.2}


def _ports(chance: Chance) -> dict[str, int]:
    """Where everything listens: as published, the services all alike, or each on one of its own."""
    ports = dict(PORTS)
    style = chance.weighted("style", {"published": 0.35, "alike": 0.25, "rows": 0.4})
    if style == "alike":
        ports |= dict.fromkeys(_CHOSEN, chance.choice("alike", (8081, 9000, 7070, 50051, 8090, 3550)))
    if style == "rows":
        first = chance.choice("first", (9001, 9101, 7001, 50051, 20010, 8101))
        step = chance.choice("step", (1, 1, 2, 10))
        order = chance.shuffled("order", _CHOSEN)
        ports |= {name: first + index * step for index, name in enumerate(order)}
    ports["frontend-proxy"] = chance.choice("entry", (8080, 8080, 8000, 8888))
    return ports


def _builds(chance: Chance) -> dict[str, Builds]:
    registry = builds.registry(chance)
    folder = f"{registry.own}/{chance.choice('folder', _FOLDERS)}"
    tags = builds.tags(chance.at("tags"))
    runs = -1 if chance.yes("newest", 0.75) else -2
    joint = "/" if chance.yes("nested", 0.7) else "-"
    made = {
        name: Builds(
            f"{folder}{joint}{name}{tags[runs]}", tuple(f"{folder}{joint}{name}{tag}" for tag in tags)
        )
        for name in OWN
    }
    for name, versions in _VERSIONS.items():
        repository = OTHERS[name].rpartition(":")[0].removeprefix("docker.io/")
        if name in _OFFICIAL:
            repository = f"{registry.others}{repository}"
        elif repository.count("/") == 1:
            repository = builds.beside(registry, repository)
        made[name] = builds.released(chance.at(name), repository, versions)
    return made


def _flags(chance: Chance) -> dict[str, bool]:
    """Flags of the team's own, some of which are on."""
    chosen = chance.sample("chosen", HARMLESS, chance.between("count", 1, 7))
    return {name: chance.yes(name, 0.5) for name in chosen}


def _probes(chance: Chance, ports: Mapping[str, int]) -> dict[str, Manifest]:
    """The chart has none; most teams add some: gRPC's own check, a page, or an open port."""
    found: dict[str, Manifest] = {}
    if chance.yes("services", 0.65):
        grpc = chance.yes("grpc", 0.6)
        for name in _HEALTHY:
            found[name] = {"grpc": {"port": ports[name]}} if grpc else {"tcpSocket": {"port": ports[name]}}
        found |= {name: {"tcpSocket": {"port": ports[name]}} for name in ("email", "quote", "shipping")}
    if chance.yes("front", 0.6):
        found["frontend"] = {"httpGet": {"path": "/", "port": ports["frontend"]}}
        found["frontend-proxy"] = {"tcpSocket": {"port": ports["frontend-proxy"]}}
    if chance.yes("stores", 0.5):
        found |= {
            name: {"tcpSocket": {"port": ports[name]}} for name in ("postgresql", "valkey-cart", "kafka")
        }
    return found
