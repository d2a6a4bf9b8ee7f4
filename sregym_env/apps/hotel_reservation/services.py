"""The eight Go services of Hotel Reservation: what each does when it starts and with each request.

The steps are the call graph of the real application; positions and texts are those of its sources. CPU times are
orders of magnitude of small Go handlers.
"""

from __future__ import annotations

import re
from functools import cache

from sregym_env.apps.hotel_reservation import data
from sregym_env.apps.hotel_reservation.edition import STORED_BY, Edition
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.services.peers import Account, At, Data, Peer, Policy, Registered, Retries
from sregym_env.sim.programs.services.protocols import Grpc, Http
from sregym_env.sim.programs.services.runtimes.go import Go
from sregym_env.sim.programs.services.settings import Limiter, Route, ServiceSettings
from sregym_env.sim.programs.services.steps import (
    Ask,
    Compute,
    End,
    Fill,
    Handler,
    LookAside,
    Lost,
    Open,
    Pass,
    Print,
    Reach,
    ReadConfig,
    Refuse,
    Register,
    Say,
    Start,
    When,
)
from sregym_env.sim.programs.services.values import Setting, Variable

ROOT = "/go/src/github.com/harlow/go-micro-services"
"""Where the sources lie in the image."""
CONFIG_PATH = f"{ROOT}/config.json"
"""The configuration file baked into the application's image."""

_GO = Go(ROOT, percent="GC")
_CONSUL = At(Setting("consulAddress"), otherwise=("127.0.0.1", 8500))
_KEYS = {
    "frontend": "Frontend",
    "geo": "Geo",
    "profile": "Profile",
    "rate": "Rate",
    "recommendation": "Recommend",
    "reservation": "Reserve",
    "search": "Search",
    "user": "User",
}
"""How the configuration calls the services."""
_MEMORY = {
    "frontend": 24,
    "geo": 22,
    "profile": 21,
    "rate": 20,
    "recommendation": 19,
    "reservation": 21,
    "search": 20,
    "user": 20,
}
"""Resident memory at rest, MiB."""
_DATA = {
    "geo": (Data("geo", "hotelId", data.geo()),),
    "profile": (Data("hotels", "id", data.profiles()),),
    "rate": (Data("inventory", "hotelId", data.rates()),),
    "recommendation": (Data("recommendation", "hotelId", data.recommendations()),),
    "reservation": (
        Data("reservation", "customerName", data.reservations()),
        Data("number", "hotelId", data.numbers()),
    ),
    "user": (Data("user", "username", data.users()),),
}
"""What the services put into their databases."""
_CACHES = {"profile": "ProfileMemcAddress", "rate": "RateMemcAddress", "reservation": "ReserveMemcAddress"}
_CLIENTS = {
    "frontend": ("search", "profile", "recommendation", "user", "reservation"),
    "search": ("geo", "rate"),
}
"""Whom they dial, in this order."""
_POLICY = Policy("GRPC_CLIENT_TIMEOUT", "GRPC_CLIENT_RETRIES_ON_ERROR")
"""How long and how often every RPC is tried that has no policy of its own: none is set as the application is published."""
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


# --- with a request ---------------------------------------------------------------------------------------


def _looked_up(collection: str, space: str, where: str, missed: str, failure: str) -> LookAside:
    """A multi-get, on a miss a query. Neither client library survives a failure: the handler panics."""
    return LookAside(
        Ask("memcached", "get_multi", space, Lost("panic", text=failure, where=where)),
        (Ask("mongodb", "find", collection, Lost("panic", where=missed)),),
    )


_RATES = _looked_up(
    "inventory",
    "rate",
    "services/rate/server.go:138",
    "services/rate/server.go:162",
    "Memmcached error while trying to get hotel [id: 9]= {error}",
)
_HOTELS = _looked_up(
    "hotels",
    "profile",
    "services/profile/server.go:129",
    "services/profile/server.go:151",
    "Tried to get hotelIds [9], but got memmcached error = {error}",
)
_RESERVED = _looked_up(
    "reservation",
    "reserve",
    "services/reservation/server.go:173",
    "services/reservation/server.go:189",
    "Tried to get memc_key [9_2015-04-09_2015-04-10], but got memmcached error = {error}",
)
_CAPACITY = _looked_up(
    "number",
    "reserve_cap",
    "services/reservation/server.go:218",
    "services/reservation/server.go:231",
    "Tried to get memc_key [9_cap], but got memmcached error = {error}",
)
_BOOKED = Ask("mongodb", "insert", "reservation", Lost("panic", where="services/reservation/server.go:262"))


def _dependency(name: str, method: str) -> Ask:
    text = f"downstream request failed dependency={name} grpc_code={{code}}"
    log = Say("warning", "services/search/server.go:141", text)
    return Ask(name, method, lost=Lost(answer="search dependency unavailable", log=log))


def _shown(what: str, line: int) -> Say:
    return Say("error", f"services/frontend/server.go:{line}", what)


_PROFILES = "/profile.Profile/GetProfiles"

_HANDLERS: dict[str, tuple[Handler, ...]] = {
    "geo": (Handler("/geo.Geo/Nearby", (Compute(0.0006),)),),
    "rate": (Handler("/rate.Rate/GetRates", (Compute(0.0006), _RATES)),),
    "profile": (Handler(_PROFILES, (Compute(0.0007), _HOTELS)),),
    "recommendation": (Handler("/recommendation.Recommendation/GetRecommendations", (Compute(0.0008),)),),
    "user": (Handler("/user.User/CheckUser", (Compute(0.0004),)),),
    "reservation": (
        Handler("/reservation.Reservation/CheckAvailability", (Compute(0.0008), _CAPACITY, _RESERVED)),
        Handler("/reservation.Reservation/MakeReservation", (Compute(0.0006), _RESERVED, _CAPACITY, _BOOKED)),
    ),
    "search": (
        Handler(
            "/search.Search/Nearby",
            (
                Compute(0.0005),
                _dependency("geo", "/geo.Geo/Nearby"),
                _dependency("rate", "/rate.Rate/GetRates"),
            ),
        ),
    ),
    "frontend": (
        Handler(
            "GET /hotels",
            (
                Compute(0.0009),
                When(
                    "SEARCH_BACKEND_VERSION",
                    "true",
                    (Refuse("internal server error", _shown("hotel search failed", 214)),),
                ),
                Ask("search", "/search.Search/Nearby"),
                Ask(
                    "reservation",
                    "/reservation.Reservation/CheckAvailability",
                    lost=Lost(log=_shown("SearchHandler CheckAvailability failed", 251)),
                ),
                Ask("profile", _PROFILES, lost=Lost(log=_shown("SearchHandler GetProfiles failed", 268))),
            ),
        ),
        Handler(
            "GET /recommendations",
            (
                Compute(0.0006),
                Ask("recommendation", "/recommendation.Recommendation/GetRecommendations"),
                Ask("profile", _PROFILES),
            ),
        ),
        Handler("POST /user", (Compute(0.0004), Ask("user", "/user.User/CheckUser"))),
        Handler(
            "POST /reservation",
            (
                Compute(0.0006),
                Ask("user", "/user.User/CheckUser"),
                Ask("reservation", "/reservation.Reservation/MakeReservation"),
            ),
        ),
        Handler("GET /", (Compute(0.0002),)),
    ),
}

_ROUTES = (
    Route("/hotels", data.check_search, data.answer_search, {"GET": "GET /hotels"}),
    Route("/recommendations", data.check_recommend, data.answer_recommend, {"GET": "GET /recommendations"}),
    Route("/user", data.check_user, data.answer_user, {"POST": "POST /user"}),
    Route("/reservation", data.check_reserve, data.answer_reserve, {"POST": "POST /reservation"}),
    Route("/", data.check_nothing, data.answer_index, {"GET": "GET /"}),
)


# --- whom they ask ----------------------------------------------------------------------------------------


def _database(edition: Edition, name: str) -> Peer:
    """The account is the environment's, the configuration's, or compiled in: GEO_MONGO_USER, GeoMongoUser."""
    stem = f"{STORED_BY[name]}Mongo"
    variable = _WORD.sub("_", stem).upper()
    user = password = ""
    if name in edition.accounts and edition.login == "compiled":
        client = edition.accounts[name][0]
        user, password = client.user, client.password
    return Peer(
        "mongodb",
        "mgo",
        At(Setting(f"{stem}Address")),
        database=edition.database(name),
        account=Account(
            (Variable(f"{variable}_USER"), Setting(f"{stem}User"), user),
            (Variable(f"{variable}_PASSWORD"), Setting(f"{stem}Password"), password),
        ),
        data=_DATA[name],
    )


def _peers(edition: Edition, name: str) -> tuple[Peer, ...]:
    found: list[Peer] = []
    if name in _DATA:
        found.append(_database(edition, name))
    if name in _CACHES:
        found.append(Peer("memcached", "gomemcache", At(Setting(_CACHES[name])), timeout=2.0))
    for other in _CLIENTS.get(name, ()):
        rated = (name, other) == ("search", "rate")
        retries = Retries("RATE_RPC", 0.75, 3, 0.05) if rated else _POLICY
        found.append(Peer(other, "grpc-go", Registered(f"srv-{other}", _CONSUL), retries=retries))
    return tuple(found)


# --- at the start -----------------------------------------------------------------------------------------


@cache
def _start(name: str, metrics: tuple[int, ...]) -> tuple[Start, ...]:
    def said(line: int, text: str, file: str = f"cmd/{name}/main") -> Say:
        return Say("info", f"{file}.go:{line}", text)

    here = f"cmd/{name}/main.go"
    port = Setting(f"{_KEYS[name]}Port")
    serves_http = name == "frontend"
    return (
        Print('{"level":"info","time":"%{time}","message":"TLS disabled."}'),
        Print('{"level":"info","time":"%{time}","message":"Tune: setGCPercent to %{env GC 100}"}'),
        said(24, "Reading config..."),
        ReadConfig(
            CONFIG_PATH,
            Say(
                "error",
                f"{here}:30",
                "Got error while reading config: open config.json: no such file or directory",
            ),
            strings=True,
        ),
        *(_stored(name) if name in _DATA else (Pass(0.02),)),
        *(
            each
            for key in filter(None, (_CACHES.get(name),))
            for each in (
                said(44, f"Read memcashed address: %{{config {key}}}"),
                said(45, "Initializing Memcashed client..."),
            )
        ),
        said(46, f"Read target port: %{{config {port.key}}}"),
        said(47, "Read consul address: %{config consulAddress}"),
        said(48, "Read jaeger address: %{config jaegerAddress}"),
        said(55, f"Initializing jaeger agent [service name: {name} | host: %{{config jaegerAddress}}]..."),
        said(41, "Jaeger client: adjusted sample ratio %{env JAEGER_SAMPLE_RATIO 0.01}", "tracing/tracer"),
        said(60, "Jaeger agent initialized"),
        said(62, "Initializing consul agent [host: %{config consulAddress}]..."),
        said(67, "Consul agent initialized"),
        said(78, "Starting server..."),
        Open(
            port,
            unset=End("fatal", f"{here}:79"),
            taken=End("fatal", f"{here}:79", "{error}" if serves_http else "failed to listen: {error}"),
            more=metrics,
        ),
        *(_serving_http(name) if serves_http else _registering(name, port)),
    )


def _stored(name: str) -> tuple[Start, ...]:
    address = f"%{{config {STORED_BY[name]}MongoAddress}}"
    here = f"cmd/{name}/db.go"
    return (
        Say("info", f"cmd/{name}/main.go:40", f"Read database URL: {address}"),
        Say("info", f"cmd/{name}/main.go:41", "Initializing DB connection..."),
        Reach("mongodb", again=(0.6, 2.0, 4.5, 7.5), patience=10.0, lost=End("panic", f"{here}:57")),
        Say("info", f"{here}:60", "New session successfull..."),
        Say("info", f"{here}:63", "Generating test data..."),
        Fill("mongodb", End("fatal", f"{here}:74")),
        Pass(0.15),
        Say("info", f"{here}:120", "Successfull"),
        Pass(0.05),
    )


def _serving_http(name: str) -> tuple[Start, ...]:
    said = [(56, "Loading static content..."), (62, "Initializing gRPC clients...")]
    said += [(240, f"get Grpc conn is : srv-{other}") for other in _CLIENTS[name]]
    said += [(87, "Successfull"), (89, f"{name} before mux"), (103, "Serving http")]
    return tuple(Say("info", f"services/{name}/server.go:{line}", text) for line, text in said)


def _registering(name: str, port: Setting) -> tuple[Start, ...]:
    failed = End("fatal", f"cmd/{name}/main.go:79", "failed register: {error}")
    return (
        Register(_CONSUL, f"srv-{name}", port, "registry/registry.go:84", failed),
        Pass(0.01),
        Say("info", "registry/registry.go:92", "Successfully registered in consul"),
    )


# --- put together -----------------------------------------------------------------------------------------


def _service(edition: Edition, name: str) -> ServiceSettings:
    serves_http = name == "frontend"
    metrics = (edition.metrics[name],) if name in edition.metrics else ()
    return ServiceSettings(
        name,
        _GO,
        Http() if serves_http else Grpc(),
        _MEMORY[name] * MIB,
        _start(name, metrics),
        _HANDLERS[name],
        _peers(edition, name),
        routes=_ROUTES if serves_http else (),
        metrics=metrics,
        limiter=Limiter("RATE_BACKEND_QPS_LIMIT", "RATE_QUEUE_CAPACITY") if name == "rate" else None,
        health=edition.health and not serves_http,
    )


def services(edition: Edition) -> tuple[ServiceSettings, ...]:
    """Every binary of the image, as an edition builds it."""
    return tuple(_service(edition, name) for name in _KEYS)
