"""The images of Hotel Reservation: what each of their programs does when a container starts it.

The Go application is one image with eight binaries; what each does per request is the call graph of the real
application. CPU times per step are orders of magnitude of small Go handlers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import orjson

from sregym_env.apps.hotel_reservation import data
from sregym_env.apps.hotel_reservation.edition import GUARDED, PUBLISHED, STORED_BY, Edition
from sregym_env.cluster.app import Binary, Image
from sregym_env.runtime.frozen import evolve
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.go_steps import (
    Cached,
    FailIf,
    GoSettings,
    Handler,
    Load,
    Query,
    Retries,
    Route,
    Rpc,
    Step,
    Work,
)

CONFIG_PATH = "/go/src/github.com/harlow/go-micro-services/config.json"
"""The configuration file baked into the application's image."""


def configuration(edition: Edition) -> dict[str, str]:
    """What the services read: where everything is."""

    def at(component: str) -> str:
        return f"{edition.address(component)}:{edition.offer(component)}"

    config = {
        "consulAddress": at("consul"),
        "jaegerAddress": f"{edition.address('jaeger')}:6831",
        "FrontendPort": str(edition.port("frontend")),
        "GeoPort": str(edition.port("geo")),
        "GeoMongoAddress": at("mongodb-geo"),
        "ProfilePort": str(edition.port("profile")),
        "ProfileMongoAddress": at("mongodb-profile"),
        "ProfileMemcAddress": at("memcached-profile"),
        "RatePort": str(edition.port("rate")),
        "RateMongoAddress": at("mongodb-rate"),
        "RateMemcAddress": at("memcached-rate"),
        "RecommendPort": str(edition.port("recommendation")),
        "RecommendMongoAddress": at("mongodb-recommendation"),
        "ReservePort": str(edition.port("reservation")),
        "ReserveMongoAddress": at("mongodb-reservation"),
        "ReserveMemcAddress": at("memcached-reserve"),
        "SearchPort": str(edition.port("search")),
        "UserPort": str(edition.port("user")),
        "UserMongoAddress": at("mongodb-user"),
        "KnativeDomainName": "",
    }
    if edition.login == "config":
        for name in GUARDED:
            client = edition.accounts[name][0]
            config[f"{STORED_BY[name]}MongoUser"] = client.user
            config[f"{STORED_BY[name]}MongoPassword"] = client.password
    return config


def configuration_text(edition: Edition) -> str:
    """The configuration file."""
    return orjson.dumps(configuration(edition), option=orjson.OPT_INDENT_2).decode() + "\n"


_DEVELOPMENT_TEXT = configuration_text(replace(PUBLISHED, host="local"))
"""What lies in images whose services are given their configuration: that of a developer's machine."""


def _service(name: str, memory: int, **more: object) -> GoSettings:
    return GoSettings(name, CONFIG_PATH, memory=memory * MIB, **more)  # type: ignore[arg-type]


GEO = _service(
    "geo",
    22,
    port_key="GeoPort",
    handlers=(Handler("/geo.Geo/Nearby", (Work(0.0006),)),),
    load=Load("GeoMongoAddress", "geo-db", (("geo", "hotelId", data.geo()),)),
    registry_name="srv-geo",
)

RATE = _service(
    "rate",
    20,
    port_key="RatePort",
    handlers=(
        Handler(
            "/rate.Rate/GetRates",
            (
                Work(0.0006),
                Cached(
                    "RateMemcAddress",
                    "rate",
                    Query(
                        "RateMongoAddress",
                        "find",
                        "rate-db",
                        "inventory",
                        where="services/rate/server.go:162",
                    ),
                    where="services/rate/server.go:138",
                    failure="Memmcached error while trying to get hotel [id: 9]= {error}",
                ),
            ),
        ),
    ),
    load=Load("RateMongoAddress", "rate-db", (("inventory", "hotelId", data.rates()),)),
    registry_name="srv-rate",
    caches=("RateMemcAddress",),
)

PROFILE = _service(
    "profile",
    21,
    port_key="ProfilePort",
    handlers=(
        Handler(
            "/profile.Profile/GetProfiles",
            (
                Work(0.0007),
                Cached(
                    "ProfileMemcAddress",
                    "profile",
                    Query(
                        "ProfileMongoAddress",
                        "find",
                        "profile-db",
                        "hotels",
                        where="services/profile/server.go:151",
                    ),
                    where="services/profile/server.go:129",
                    failure="Tried to get hotelIds [9], but got memmcached error = {error}",
                ),
            ),
        ),
    ),
    load=Load("ProfileMongoAddress", "profile-db", (("hotels", "id", data.profiles()),)),
    registry_name="srv-profile",
    caches=("ProfileMemcAddress",),
)

RECOMMENDATION = _service(
    "recommendation",
    19,
    port_key="RecommendPort",
    handlers=(Handler("/recommendation.Recommendation/GetRecommendations", (Work(0.0008),)),),
    load=Load(
        "RecommendMongoAddress",
        "recommendation-db",
        (("recommendation", "hotelId", data.recommendations()),),
    ),
    registry_name="srv-recommendation",
)

USER = _service(
    "user",
    20,
    port_key="UserPort",
    handlers=(Handler("/user.User/CheckUser", (Work(0.0004),)),),
    load=Load("UserMongoAddress", "user-db", (("user", "username", data.users()),)),
    registry_name="srv-user",
)

_RESERVED = Cached(
    "ReserveMemcAddress",
    "reserve",
    Query(
        "ReserveMongoAddress",
        "find",
        "reservation-db",
        "reservation",
        where="services/reservation/server.go:189",
    ),
    where="services/reservation/server.go:173",
    failure="Tried to get memc_key [9_2015-04-09_2015-04-10], but got memmcached error = {error}",
)
_CAPACITY = Cached(
    "ReserveMemcAddress",
    "reserve_cap",
    Query(
        "ReserveMongoAddress", "find", "reservation-db", "number", where="services/reservation/server.go:231"
    ),
    where="services/reservation/server.go:218",
    failure="Tried to get memc_key [9_cap], but got memmcached error = {error}",
)

RESERVATION = _service(
    "reservation",
    21,
    port_key="ReservePort",
    handlers=(
        Handler("/reservation.Reservation/CheckAvailability", (Work(0.0008), _CAPACITY, _RESERVED)),
        Handler(
            "/reservation.Reservation/MakeReservation",
            (
                Work(0.0006),
                _RESERVED,
                _CAPACITY,
                Query(
                    "ReserveMongoAddress",
                    "insert",
                    "reservation-db",
                    "reservation",
                    where="services/reservation/server.go:262",
                ),
            ),
        ),
    ),
    load=Load(
        "ReserveMongoAddress",
        "reservation-db",
        (("reservation", "customerName", data.reservations()), ("number", "hotelId", data.numbers())),
    ),
    registry_name="srv-reservation",
    caches=("ReserveMemcAddress",),
)

_UNAVAILABLE = "search dependency unavailable"


def _dependency_failed(name: str) -> str:
    where = "services/search/server.go:141"
    return f"{{time}} WRN {where} > downstream request failed dependency={name} grpc_code={{code}}"


SEARCH = _service(
    "search",
    20,
    port_key="SearchPort",
    handlers=(
        Handler(
            "/search.Search/Nearby",
            (
                Work(0.0005),
                Rpc("srv-geo", "/geo.Geo/Nearby", answer=_UNAVAILABLE, log=_dependency_failed("geo")),
                Rpc(
                    "srv-rate",
                    "/rate.Rate/GetRates",
                    Retries("RATE_RPC", 0.75, 3, 0.05),
                    answer=_UNAVAILABLE,
                    log=_dependency_failed("rate"),
                ),
            ),
        ),
    ),
    clients=("srv-geo", "srv-rate"),
    registry_name="srv-search",
)


def _frontend_failed(what: str, line: int) -> str:
    return f"{{time}} ERR services/frontend/server.go:{line} > {what}"


_PROFILES = Rpc("srv-profile", "/profile.Profile/GetProfiles")

FRONTEND = _service(
    "frontend",
    24,
    port_key="FrontendPort",
    handlers=(
        Handler(
            "GET /hotels",
            (
                Work(0.0009),
                FailIf(
                    "SEARCH_BACKEND_VERSION",
                    "true",
                    "internal server error",
                    _frontend_failed("hotel search failed", 214),
                ),
                Rpc("srv-search", "/search.Search/Nearby"),
                Rpc(
                    "srv-reservation",
                    "/reservation.Reservation/CheckAvailability",
                    log=_frontend_failed("SearchHandler CheckAvailability failed", 251),
                ),
                Rpc(
                    "srv-profile",
                    "/profile.Profile/GetProfiles",
                    log=_frontend_failed("SearchHandler GetProfiles failed", 268),
                ),
            ),
        ),
        Handler(
            "GET /recommendations",
            (
                Work(0.0006),
                Rpc("srv-recommendation", "/recommendation.Recommendation/GetRecommendations"),
                _PROFILES,
            ),
        ),
        Handler("POST /user", (Work(0.0004), Rpc("srv-user", "/user.User/CheckUser"))),
        Handler(
            "POST /reservation",
            (
                Work(0.0006),
                Rpc("srv-user", "/user.User/CheckUser"),
                Rpc("srv-reservation", "/reservation.Reservation/MakeReservation"),
            ),
        ),
        Handler("GET /", (Work(0.0002),)),
    ),
    clients=("srv-search", "srv-profile", "srv-recommendation", "srv-user", "srv-reservation"),
    routes=(
        Route("/hotels", data.check_search, data.answer_search, {"GET": "GET /hotels"}),
        Route(
            "/recommendations", data.check_recommend, data.answer_recommend, {"GET": "GET /recommendations"}
        ),
        Route("/user", data.check_user, data.answer_user, {"POST": "POST /user"}),
        Route("/reservation", data.check_reserve, data.answer_reserve, {"POST": "POST /reservation"}),
        Route("/", data.check_nothing, data.answer_index, {"GET": "GET /"}),
    ),
)

_SERVICES = (FRONTEND, GEO, PROFILE, RATE, RECOMMENDATION, RESERVATION, SEARCH, USER)


# --- builds ------------------------------------------------------------------------------------------------


def _built(edition: Edition, settings: GoSettings) -> GoSettings:
    """A service as an edition builds it: its database's name and account, its ports."""
    name, load = settings.name, settings.load
    ports = (edition.metrics[name],) if name in edition.metrics else ()
    if load is None:
        return evolve(settings, extra_ports=ports, health=edition.health and not settings.routes)
    own: dict[str, str] = {"database": edition.database(name)}
    if name in edition.accounts and edition.login == "compiled":
        client = edition.accounts[name][0]
        own |= {"user": client.user, "password": client.password}
    return evolve(
        settings,
        extra_ports=ports,
        health=edition.health,
        load=evolve(load, **own),
        handlers=tuple(
            evolve(handler, steps=tuple(_owned(step, own) for step in handler.steps))
            for handler in settings.handlers
        ),
    )


def _owned(step: Step, own: Mapping[str, str]) -> Step:
    """A step whose queries go to the edition's database."""
    match step:
        case Query():
            return evolve(step, **own)
        case Cached():
            return evolve(step, query=evolve(step.query, **own))
    return step


def _application(reference: str, services: Iterable[GoSettings], config: str) -> Image:
    return Image(
        reference,
        390_000_000,
        {settings.name: Binary("go_service", settings) for settings in services},
        command=("frontend",),
        workdir="/go/src/github.com/harlow/go-micro-services",
        files={
            CONFIG_PATH: config,
            "/etc/os-release": 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.16.4\n',
        },
        architectures=("amd64",),
    )


def _mongo(reference: str, version: str, size: int, shell: str) -> Image:
    binaries = {"mongod": Binary("mongod", version), "docker-entrypoint.sh": Binary("mongod", version)}
    tools = ("mongo", "mongodump", "mongostat") if shell == "mongo" else ()
    binaries |= {name: Binary("applet") for name in tools}
    release = 'PRETTY_NAME="Ubuntu 18.04.5 LTS"\nNAME="Ubuntu"\nID=ubuntu\n'
    return Image(
        reference,
        size,
        binaries,
        ("docker-entrypoint.sh",),
        ("mongod",),
        files={"/etc/os-release": release, "/etc/mongod.conf.orig": "storage:\n  dbPath: /var/lib/mongodb\n"},
        toolbox="debian",
        user=0,
    )


_MEMCACHED = {"memcached": Binary("memcached"), "docker-entrypoint.sh": Binary("memcached")}
_WRK = {name: Binary("wrk2") for name in ("wrk", "bash", "sh")}


def _memcached(reference: str) -> Image:
    return Image(
        reference, 32_000_000, _MEMCACHED, ("docker-entrypoint.sh",), ("memcached",), toolbox="debian"
    )


def _consul(reference: str, version: str) -> Image:
    binaries = {"consul": Binary("consul", version), "docker-entrypoint.sh": Binary("consul", version)}
    arguments = ("agent", "-dev", "-client", "0.0.0.0")
    return Image(reference, 62_000_000, binaries, ("docker-entrypoint.sh",), arguments)


def _jaeger(reference: str) -> Image:
    return Image(
        reference,
        29_000_000,
        {"/go/bin/all-in-one-linux": Binary("jaeger")},
        ("/go/bin/all-in-one-linux",),
        ("--sampling.strategies-file=/etc/jaeger/sampling_strategies.json",),
        toolbox="busybox",
    )


def images(edition: Edition) -> tuple[Image, ...]:
    """Everything the application's manifests refer to, and the published builds that are known not to work."""
    services = [_built(edition, settings) for settings in _SERVICES]
    config = configuration_text(edition) if not edition.settings_map else _DEVELOPMENT_TEXT
    application = edition.application
    return (
        *(_application(each, services, config) for each in (*application.all, *application.copies)),
        _application(application.fails, _with_wrong_port(edition, services), config),
        *(
            _mongo(each, version, 165_000_000, "mongo")
            for each, version in zip(edition.mongodb.all, edition.mongodb.versions, strict=True)
        ),
        _mongo(edition.mongodb.fails, edition.newer, 280_000_000, "mongosh"),
        *(_memcached(_tagged(each)) for each in edition.memcached.all),
        *(
            _consul(each, version)
            for each, version in zip(edition.consul.all, edition.consul.versions, strict=True)
        ),
        *(_jaeger(each) for each in edition.jaeger.all),
        Image(edition.load, 95_000_000, _WRK, (), ("/bin/bash",), toolbox="debian"),
    )


def _with_wrong_port(edition: Edition, services: Sequence[GoSettings]) -> Iterator[GoSettings]:
    """The defective build: geo has a wrong database port compiled in."""
    wrong = f"{edition.address('mongodb-geo')}:{edition.wrong_port}"
    for first in (True, False):
        for settings in services:
            if (settings.name == "geo") == first:
                yield evolve(settings, constant={"GeoMongoAddress": wrong}) if first else settings


def _tagged(reference: str) -> str:
    return reference if ":" in reference.rpartition("/")[2] else f"{reference}:latest"
