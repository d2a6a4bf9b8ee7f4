"""Draws members of Hotel Reservation's family: what another team that runs it has chosen for itself.

Each draw has a name of its own, so that adding one moves no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.apps import builds
from sregym_env.apps.builds import Builds
from sregym_env.apps.hotel_reservation.application import application
from sregym_env.apps.hotel_reservation.edition import (
    CACHES,
    DATABASES,
    GO_PORTS,
    GUARDED,
    PUBLISHED,
    Edition,
    Host,
    Login,
)
from sregym_env.cluster.app import Account, App
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

LEAST_OFFERED = 33.0
"""Requests per second that searches and recommendations have each at least: enough that a lack of CPU is felt."""

QPS_MARGIN = 3.0
"""Times the searches that the limiter of one pod lets through at least: all may have to go through one for a while."""
_QPS_LIMITS = (
    100,
    120,
    150,
    180,
    200,
    240,
    250,
    300,
    350,
    400,
    450,
    500,
    600,
    700,
    800,
    1000,
    1200,
    1500,
    2000,
)
RATES = (80, 280)
"""Least and most requests per second: at the most, the busiest service uses little more than a third of a core."""

_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_HEX = "0123456789abcdef"

_MONGODB = ("4.4.4", "4.4.6", "4.4.8", "4.4.10", "4.4.13", "4.4.15", "4.4.18", "4.4.21", "4.4.24", "4.4.29")
_NEWER = {"6.0.14": "6.0.14", "7.0.5": "7.0.5", "7.0.14": "7.0.14", "8.0.4": "8.0.4", "8.0.14-rc0": "8.0.14"}
_MEMCACHED = ("1.6.12", "1.6.17", "1.6.21", "1.6.22", "1.6.27", "1.6.31", "1.6.38")
_CONSUL = ("1.15.4", "1.16.1", "1.17.3", "1.18.2", "1.19.1", "1.20.4", "1.21.3", "1.22.3")
_JAEGER = ("1.50", "1.52", "1.53", "1.54", "1.55", "1.57", "1.60", "1.62.0")


def family(app: App, chance: Chance) -> App:
    """Another member of the family, equally healthy; what does not vary is as it was."""
    made = application(edition(chance))
    return App(
        name=app.name,
        title=app.title,
        namespace=app.namespace,
        description=made.description,
        components=made.components,
        manifests=made.manifests,
        images=made.images,
        journeys=made.journeys,
        entry=app.entry,
        slo=app.slo,
        rate=made.rate,
        programs=app.programs,
        tracing=made.tracing,
        activities=app.activities,
        family=app.family,
    )


def edition(chance: Chance) -> Edition:
    """What a team has chosen."""
    ports = _ports(chance.at("ports"))
    health = chance.yes("health", 0.45)
    named = tuple(name for group in _NAMED for name in group if chance.yes(f"named-{group[0]}", 0.3))
    mix = _mix(chance.at("mix"))
    rate = _rate(chance, mix)
    cache_port = ports["memcached-rate"]
    return Edition(
        ports=ports,
        metrics=_metrics(chance, ports),
        offered=_offered(chance.at("offered"), ports),
        named=named,
        host=chance.weighted("host", _HOSTS),
        label=chance.weighted("label", _LABELS),
        converted=chance.yes("converted", 0.35),
        **_images(chance.at("images")),
        wrong_port=chance.choice("wrong-port", (27777, 27071, 27018, 28017, 37017, 27107)),
        accounts={name: _accounts(chance.at("accounts", name), name) for name in GUARDED},
        settings_map=chance.choice("settings-map", _SETTINGS_MAPS) if chance.yes("mounted", 0.3) else "",
        login=chance.weighted("login", _LOGINS),
        expanded=chance.yes("expanded", 0.35),
        databases=_databases(chance),
        settings=_settings(chance.at("settings"), rate * mix[0]),
        sample_ratio=chance.weighted("sample-ratio", {"1": 0.5, "0.5": 0.15, "0.1": 0.2, "0.01": 0.15}),
        cache_settings=_cache_settings(chance.at("cache")),
        cache_arguments=_cache_arguments(chance.at("cache"), cache_port),
        mongo_arguments=_mongo_arguments(chance.at("mongo")),
        cpu=_cpu(chance.at("cpu")),
        health=health,
        probes=_probes(chance.at("probes"), ports, health),
        rate=rate,
        mix=mix,
        connections=chance.choice("connections", (100, 100, 100, 120, 150, 200, 250, 300)),
        round_seconds=chance.choice("round", (30, 30, 45, 60)),
        user=chance.between("user", 1, 499),
        day=chance.between("day", 9, 22),
    )


_HOSTS: Mapping[Host, float] = {"short": 0.6, "namespaced": 0.15, "full": 0.25}
_SETTINGS_MAPS = ("hotel-config", "services-config", "app-config", "go-services", "backend-config")
_LABELS = {"io.kompose.service": 0.4, "app": 0.3, "app.kubernetes.io/name": 0.2, "service": 0.1}
_LOGINS: Mapping[Login, float] = {"compiled": 0.1, "config": 0.3, "environment": 0.2, "secret": 0.4}

_NAMED = (
    tuple(f"mongodb-{name}" for name in DATABASES),
    ("consul",),
    tuple(name for name in GO_PORTS if name != "frontend"),
)
"""Components whose Service may forward to a port by its name, a group at a time. Not those whose clients open
connections all the time: what is said of another pod's port of that name would be true of none."""


# --- ports -------------------------------------------------------------------------------------------------


def _ports(chance: Chance) -> dict[str, int]:
    """Where everything listens: no two Go services on the same port."""
    go = dict(GO_PORTS)
    style = chance.weighted("style", {"published": 0.3, "rows": 0.7})
    if style == "rows":
        first = chance.choice("first", (3001, 6001, 7001, 7071, 8001, 8101, 9001, 9201, 10001, 50051, 50061))
        step = chance.choice("step", (1, 1, 1, 2, 10))
        inner = [name for name in go if name != "frontend"]
        order = chance.shuffled("order", inner)
        go |= {name: first + index * step for index, name in enumerate(order)}
        go["frontend"] = chance.choice("frontend", (5000, 8080, 3000, 8000, 8888, 5050))
    cache = chance.weighted("cache", {11211: 0.75, 11212: 0.15, 21211: 0.1})
    return {
        **PUBLISHED.ports,
        **go,
        **{f"memcached-{name}": cache for name in CACHES},
    }


def _metrics(chance: Chance, ports: Mapping[str, int]) -> dict[str, int]:
    style = chance.weighted("metrics", {0: 0.4, 2112: 0.2, 9464: 0.15, 9100: 0.15, 8889: 0.1})
    wanted = {name: style or PUBLISHED.metrics[name] for name in PUBLISHED.metrics}
    return {name: port + 10_000 if port == ports[name] else port for name, port in wanted.items()}


def _offered(chance: Chance, ports: Mapping[str, int]) -> dict[str, int]:
    """Services that are offered on another port than the one behind them."""
    found: dict[str, int] = {}
    if chance.yes("frontend", 0.45):
        found["frontend"] = chance.choice("frontend-port", (80, 80, 8080, 5000))
    if chance.yes("mongodb", 0.12):
        port = chance.choice("mongodb-port", (27018, 27000, 37017))
        found |= {f"mongodb-{name}": port for name in DATABASES}
    if chance.yes("memcached", 0.12):
        port = chance.choice("memcached-port", (11211, 11311, 22122))
        found |= {f"memcached-{name}": port for name in CACHES}
    if chance.yes("consul", 0.1):
        found["consul"] = chance.choice("consul-port", (80, 18500))
    if chance.yes("grpc", 0.2):
        port = chance.choice("grpc-port", (50051, 9000, 80))
        found |= {name: port for name in GO_PORTS if name != "frontend"}
    return {name: port for name, port in found.items() if port != ports[name]}


# --- images ------------------------------------------------------------------------------------------------


def _images(chance: Chance) -> dict[str, Any]:
    registry = builds.registry(chance)
    tags = builds.tags(chance.at("tags"))
    repository = f"{registry.own}/{chance.choice('repository', _REPOSITORIES)}"
    made = [f"{repository}{tag}" for tag in tags]
    works, following = made[:-1], made[-1]
    # Most teams run the newest build; some wait.
    running = works[-1] if chance.yes("newest", 0.75) else works[-2]
    mongodb = f"{registry.others}mongo"
    newer = chance.choice("newer", tuple(_NEWER))
    return {
        "application": Builds(running, tuple(works), following),
        "mongodb": builds.released(chance.at("mongodb"), mongodb, _MONGODB, fails=f"{mongodb}:{newer}"),
        "newer": _NEWER[newer],
        "memcached": builds.released(chance.at("memcached"), f"{registry.others}memcached", _MEMCACHED),
        "consul": builds.released(chance.at("consul"), builds.beside(registry, "hashicorp/consul"), _CONSUL),
        "jaeger": builds.released(
            chance.at("jaeger"), builds.beside(registry, "jaegertracing/all-in-one"), _JAEGER
        ),
        "load": f"{builds.beside(registry, 'deathstarbench/wrk2-client')}:latest",
    }


_REPOSITORIES = ("hotel-reservation", "hotelreservation", "hotel/backend", "reservation-platform", "hotel-services",
                 "hotels")  # fmt: skip


# --- accounts and data -------------------------------------------------------------------------------------


def _accounts(chance: Chance, name: str) -> tuple[Account, Account]:
    """The client's account and the administrator's."""
    client = chance.choice("client", (f"{name}_app", f"{name}-svc", f"{name}_rw", f"svc_{name}", f"hotel_{name}",
                                      "app", "hotel", "hotelreservation", "backend"))  # fmt: skip
    administrator = chance.choice(
        "administrator", ("root", "admin", "dbadmin", "mongo_admin", "dba", "superuser")
    )
    return (
        Account(client, _password(chance.at("client")), ("readWrite",)),
        Account(administrator, _password(chance.at("administrator")), ("readWrite",)),
    )


def _password(chance: Chance) -> str:
    """Of letters and digits alone: it stands in scripts and on command lines."""
    style = chance.weighted("style", {"random": 0.6, "hex": 0.2, "words": 0.2})
    if style == "words":
        first, second = chance.sample("words", builds.WORDS, 2)
        return f"{first.capitalize()}{second.capitalize()}{chance.between('number', 10, 2025)}"
    length = chance.choice("length", (12, 16, 16, 20, 24, 32))
    return builds.text(chance, "text", length, _HEX if style == "hex" else _LETTERS)


def _databases(chance: Chance) -> dict[str, str]:
    form = chance.weighted(
        "databases",
        {"{}-db": 0.5, "{}db": 0.1, "hotel_{}": 0.15, "{}": 0.1, "{}_prod": 0.1, "{}-service": 0.05},
    )
    return {name: form.format(name) for name in DATABASES}


# --- settings ----------------------------------------------------------------------------------------------


def _settings(chance: Chance, searches: float) -> dict[str, dict[str, str]]:
    """Environment of the Go services at so many searches per second. No value is one that the load could feel."""
    limits = [each for each in _QPS_LIMITS if each >= QPS_MARGIN * searches]
    found: dict[str, dict[str, str]] = {
        "rate": {
            "RATE_BACKEND_QPS_LIMIT": str(chance.choice("qps", limits[:6])),
            "RATE_QUEUE_CAPACITY": chance.choice("queue", ("128", "256", "512", "1024")),
        },
        "search": {
            "RATE_RPC_TIMEOUT_MS": chance.choice("timeout", ("800", "1000", "1200", "1500", "2000")),
            "RATE_RPC_MAX_ATTEMPTS": chance.choice("attempts", ("2", "2", "3")),
            "RATE_RPC_INITIAL_BACKOFF_MS": chance.choice("backoff", ("50", "100", "150", "200")),
            "RATE_RPC_BACKOFF_MULTIPLIER": chance.choice("multiplier", ("1.5", "2.0", "2.0")),
            "RATE_RPC_JITTER": chance.choice("jitter", ("0.1", "0.2", "0.25")),
        },
    }
    everywhere: dict[str, str] = {}
    if chance.yes("log-level", 0.5):
        everywhere["LOG_LEVEL"] = chance.choice("level", ("INFO", "INFO", "DEBUG"))
    if chance.yes("collector", 0.3):
        everywhere["GC"] = chance.choice("gc", ("100", "150", "200"))
    if chance.yes("patience", 0.3):
        everywhere["MEMC_TIMEOUT"] = "2"
    if everywhere:
        found = {name: {**found.get(name, {}), **everywhere} for name in GO_PORTS}
    return found


def _cache_settings(chance: Chance) -> tuple[tuple[str, str], ...]:
    if not chance.yes("settings", 0.75):
        return ()
    return (
        ("MEMCACHED_CACHE_SIZE", chance.choice("size", ("64", "128", "256", "512"))),
        ("MEMCACHED_THREADS", chance.choice("threads", ("2", "4"))),
    )


def _cache_arguments(chance: Chance, port: int) -> tuple[str, ...]:
    size = ("-m", chance.choice("memory", ("64", "128", "256"))) if chance.yes("sized", 0.35) else ()
    return (*size, *(() if port == 11211 else ("-p", str(port))))


def _mongo_arguments(chance: Chance) -> tuple[str, ...]:
    bind = ("--bind_ip_all",) if chance.yes("bind", 0.3) else ()
    size = chance.choice("size", ("0.25", "0.5", "1"))
    return (*bind, *(("--wiredTigerCacheSizeGB", size) if chance.yes("cache", 0.3) else ()))


def _cpu(chance: Chance) -> dict[str, str]:
    """CPU limits of the stores and of what stands beside them: they use a few milli-cores."""
    if not chance.yes("smaller", 0.5):
        return {}
    sizes = ("250m", "500m", "750m", "2000m")
    return {
        **dict.fromkeys((f"mongodb-{name}" for name in DATABASES), chance.choice("mongodb", sizes)),
        **dict.fromkeys((f"memcached-{name}" for name in CACHES), chance.choice("memcached", sizes)),
        "consul": chance.choice("consul", sizes),
        "jaeger": chance.choice("jaeger", sizes),
    }


def _probes(chance: Chance, ports: Mapping[str, int], health: bool) -> dict[str, Manifest]:
    """How components are asked whether they are well: by what each of them really answers."""
    found: dict[str, Manifest] = {}
    ping = ["mongo", "--quiet", "--eval", "db.adminCommand('ping').ok"]
    by_ping = chance.sample("pinged", DATABASES, 2) if chance.yes("ping", 0.15) else ()
    by_health = chance.yes("health", 0.75)
    for name, port in ports.items():
        found[name] = {"tcpSocket": {"port": port}}
        # A shell for every look costs a database more than the rest of its day: few do it.
        if name.removeprefix("mongodb-") in by_ping and name.startswith("mongodb-"):
            found[name] = {"exec": {"command": ping}}
        elif name in GO_PORTS and name != "frontend" and health and by_health:
            found[name] = {"grpc": {"port": port}}
    if chance.yes("frontend", 0.6):
        found["frontend"] = {"httpGet": {"path": "/", "port": ports["frontend"]}}
    if chance.yes("consul", 0.7):
        found["consul"] = {"httpGet": {"path": "/v1/status/leader", "port": ports["consul"]}}
    admin = {"httpGet": {"path": "/", "port": 14269}}
    found["jaeger"] = admin if chance.yes("jaeger", 0.7) else {"tcpSocket": {"port": 16686}}
    return found


# --- load --------------------------------------------------------------------------------------------------


def _mix(chance: Chance) -> tuple[float, float, float, float]:
    search = chance.between("search", 50, 68) * 10
    user, reserve = (chance.choice(name, (5, 10, 15, 20)) for name in ("user", "reserve"))
    return search / 1000, (1000 - search - user - reserve) / 1000, user / 1000, reserve / 1000


def _rate(chance: Chance, mix: tuple[float, float, float, float]) -> int:
    least = max(RATES[0], int(LEAST_OFFERED / min(mix[:2])) + 1)
    return min(RATES[1], least + round(chance.lognormal("rate", 60.0, 0.9)) // 5 * 5)
