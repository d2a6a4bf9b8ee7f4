"""The images of Hotel Reservation: what each of their programs does when a container starts it.

The Go application is one image with eight binaries; what each does per request is the call graph of the real
application. CPU times per step are orders of magnitude of small Go handlers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from sregym_env.apps.hotel_reservation import data
from sregym_env.cluster.app import Binary, Image
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
    Work,
)

CONFIG_PATH = "/go/src/github.com/harlow/go-micro-services/config.json"
"""The configuration file baked into the application's image."""

CONFIG: Mapping[str, str] = {
    "consulAddress": "consul:8500",
    "jaegerAddress": "jaeger:6831",
    "FrontendPort": "5000",
    "GeoPort": "8083",
    "GeoMongoAddress": "mongodb-geo:27017",
    "ProfilePort": "8081",
    "ProfileMongoAddress": "mongodb-profile:27017",
    "ProfileMemcAddress": "memcached-profile:11211",
    "RatePort": "8084",
    "RateMongoAddress": "mongodb-rate:27017",
    "RateMemcAddress": "memcached-rate:11211",
    "RecommendPort": "8085",
    "RecommendMongoAddress": "mongodb-recommendation:27017",
    "ReservePort": "8087",
    "ReserveMongoAddress": "mongodb-reservation:27017",
    "ReserveMemcAddress": "memcached-reserve:11211",
    "SearchPort": "8082",
    "UserPort": "8086",
    "UserMongoAddress": "mongodb-user:27017",
    "KnativeDomainName": "",
}
"""What the services read: where everything is."""

CONFIG_TEXT = orjson.dumps(dict(CONFIG), option=orjson.OPT_INDENT_2).decode() + "\n"

_ADMIN: dict[str, Any] = {"user": "admin", "password": "admin"}


def _service(name: str, memory: int, **more: object) -> GoSettings:
    return GoSettings(name, CONFIG_PATH, memory=memory * MIB, **more)  # type: ignore[arg-type]


GEO = _service(
    "geo",
    22,
    port_key="GeoPort",
    handlers=(Handler("/geo.Geo/Nearby", (Work(0.0006),)),),
    load=Load("GeoMongoAddress", "geo-db", (("geo", "hotelId", data.geo()),), **_ADMIN),
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
                        **_ADMIN,
                        where="services/rate/server.go:162",
                    ),
                    where="services/rate/server.go:138",
                    failure="Memmcached error while trying to get hotel [id: 9]= {error}",
                ),
            ),
        ),
    ),
    load=Load("RateMongoAddress", "rate-db", (("inventory", "hotelId", data.rates()),), **_ADMIN),
    registry_name="srv-rate",
    caches=("RateMemcAddress",),
    extra_ports=(9091,),
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
    extra_ports=(9092,),
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

DEFECTIVE_GEO = _service(
    "geo",
    22,
    port_key="GeoPort",
    handlers=GEO.handlers,
    load=GEO.load,
    registry_name="srv-geo",
    constant={"GeoMongoAddress": "mongodb-geo:27777"},
)
"""A build of geo with a wrong database port compiled in."""


def _application(reference: str, services: tuple[GoSettings, ...]) -> Image:
    return Image(
        reference,
        390_000_000,
        {settings.name: Binary("go_service", settings) for settings in services},
        command=("frontend",),
        workdir="/go/src/github.com/harlow/go-micro-services",
        files={
            CONFIG_PATH: CONFIG_TEXT,
            "/etc/os-release": 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.16.4\n',
        },
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
_CONSUL = {"consul": Binary("consul"), "docker-entrypoint.sh": Binary("consul")}
_WRK = {name: Binary("wrk2") for name in ("wrk", "bash", "sh")}

IMAGES: tuple[Image, ...] = (
    _application("ghcr.io/sregym/hotel-reservation:latest", _SERVICES),
    _application("yinfangchen/hotelreservation:latest", _SERVICES),
    _application("yinfangchen/geo:app3", (DEFECTIVE_GEO, *(s for s in _SERVICES if s is not GEO))),
    _mongo("mongo:4.4.6", "4.4.6", 165_000_000, "mongo"),
    _mongo("mongo:8.0.14-rc0", "8.0.14", 280_000_000, "mongosh"),
    Image(
        "memcached:latest",
        32_000_000,
        _MEMCACHED,
        ("docker-entrypoint.sh",),
        ("memcached",),
        toolbox="debian",
    ),
    Image(
        "hashicorp/consul:1.22.3",
        62_000_000,
        _CONSUL,
        ("docker-entrypoint.sh",),
        ("agent", "-dev", "-client", "0.0.0.0"),
    ),
    Image(
        "jaegertracing/all-in-one:1.57",
        29_000_000,
        {"/go/bin/all-in-one-linux": Binary("jaeger")},
        ("/go/bin/all-in-one-linux",),
        ("--sampling.strategies-file=/etc/jaeger/sampling_strategies.json",),
        toolbox="busybox",
    ),
    Image("deathstarbench/wrk2-client:latest", 95_000_000, _WRK, (), ("/bin/bash",), toolbox="debian"),
)
"""Everything the application's manifests refer to, and the published builds that are known not to work."""
