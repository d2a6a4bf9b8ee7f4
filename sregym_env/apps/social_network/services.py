"""The thirteen programs of Social Network's own: eleven C++ services and two front ends in Lua.

Who calls whom with which method is the call graph of the real application. CPU times are orders of magnitude of small
handlers.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.apps.social_network import data
from sregym_env.apps.social_network.edition import PUBLISHED, SERVICES, Edition
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.services.peers import At, KeySpace, Peer
from sregym_env.sim.programs.services.protocols import Thrift, Web
from sregym_env.sim.programs.services.runtimes.cpp import Cpp
from sregym_env.sim.programs.services.runtimes.openresty import OpenResty
from sregym_env.sim.programs.services.settings import Route, ServiceSettings
from sregym_env.sim.programs.services.steps import (
    Ask,
    Compute,
    End,
    Handler,
    LookAside,
    Lost,
    Open,
    Pass,
    Reach,
    ReadConfig,
    ReadText,
    Say,
    Start,
    Step,
    Together,
)
from sregym_env.sim.programs.services.values import Joined, Setting, Variable

ROOT = "/social-network-microservices"
CONFIG_PATH = f"{ROOT}/config/service-config.json"
JAEGER_PATH = f"{ROOT}/config/jaeger-config.yml"
NGINX = "/usr/local/openresty/nginx"
CALLS: dict[str, tuple[str, ...]] = {
    "user-service": ("social-graph-service",),
    "social-graph-service": ("user-service",),
    "text-service": ("url-shorten-service", "user-mention-service"),
    "home-timeline-service": ("post-storage-service", "social-graph-service"),
    "user-timeline-service": ("post-storage-service",),
    "compose-post-service": (
        "post-storage-service",
        "user-timeline-service",
        "user-service",
        "unique-id-service",
        "media-service",
        "text-service",
        "home-timeline-service",
    ),
}
"""Services that a service has clients for."""
STORES: dict[str, tuple[str, ...]] = {
    "user-service": ("user-mongodb", "user-memcached"),
    "social-graph-service": ("social-graph-mongodb", "social-graph-redis"),
    "url-shorten-service": ("url-shorten-mongodb", "url-shorten-memcached"),
    "user-mention-service": ("user-mongodb", "user-memcached"),
    "post-storage-service": ("post-storage-mongodb", "post-storage-memcached"),
    "user-timeline-service": ("user-timeline-mongodb", "user-timeline-redis"),
    "home-timeline-service": ("home-timeline-redis",),
}
"""Stores that a service uses."""
DATABASE: dict[str, str] = {
    "post-storage-mongodb": "post",
    "social-graph-mongodb": "social-graph",
    "url-shorten-mongodb": "url-shorten",
    "user-mongodb": "user",
    "user-timeline-mongodb": "user-timeline",
    "media-mongodb": "media",
}
"""What the database in each MongoDB is called; its one collection has the same name."""
INDEXED = (
    "post-storage-service",
    "social-graph-service",
    "url-shorten-service",
    "user-service",
    "user-timeline-service",
)
"""Services that do not listen before they have made an index."""
BINARY = {name: "".join(part.capitalize() for part in name.split("-")) for name in SERVICES}
"""What the services' binaries are called."""
_MEMORY = dict.fromkeys(SERVICES, 14) | {"compose-post-service": 20, "user-timeline-service": 18}
"""Resident memory at rest, MiB."""


# --- with a request ---------------------------------------------------------------------------------------


def _handler_of(service: str) -> str:
    return f"{BINARY[service].removesuffix('Service')}Handler.h"


def _call(service: str, callee: str, method: str, line: int, what: str) -> Ask:
    """A call whose failure the handler logs and throws on."""
    log = Say("error", f"{_handler_of(service)}:{line}", what)
    return Ask(callee, method, lost=Lost(log=log))


def _query(service: str, store: str, operation: str, line: int, what: str) -> Ask:
    log = Say("error", f"{_handler_of(service)}:{line}", f"{what}: {{error}}")
    return Ask(store, operation, DATABASE.get(store, store), Lost(log=log))


def _cached(service: str, store: str, space: str, line: int, what: str, miss: Ask) -> LookAside:
    """A look into memcached: what fails there is a warning, and the database is asked."""
    log = Say("warning", f"{_handler_of(service)}:{line}", f"{what}: {{error}}")
    return LookAside(Ask(store, "get_multi", space, Lost("ignore", log=log)), (miss,))


def _sorted(service: str, store: str, operation: str, line: int, what: str) -> Ask:
    log = Say("error", f"{_handler_of(service)}:{line}", f"{what}: {{error}}")
    return Ask(store, operation, store.removesuffix("-redis"), Lost(log=log))


_GRAPH, _POSTS, _USERS = "social-graph-service", "post-storage-service", "user-service"
_TIMELINE, _HOME, _TEXT, _COMPOSE = (
    "user-timeline-service",
    "home-timeline-service",
    "text-service",
    "compose-post-service",
)

_HANDLERS: dict[str, tuple[Handler, ...]] = {
    "unique-id-service": (Handler("ComposeUniqueId", (Compute(0.00012),)),),
    "media-service": (Handler("ComposeMedia", (Compute(0.00012),)),),
    _USERS: (
        Handler("ComposeCreatorWithUserId", (Compute(0.0001),)),
        Handler(
            "GetUserId",
            (
                Compute(0.0002),
                _cached(
                    _USERS,
                    "user-memcached",
                    "user-id",
                    572,
                    "Failed to get user_id from Memcached",
                    _query(_USERS, "user-mongodb", "find", 596, "Failed to find user in MongoDB"),
                ),
            ),
        ),
        Handler(
            "RegisterUserWithId",
            (
                Compute(0.0004),
                _query(_USERS, "user-mongodb", "insert", 214, "Failed to insert user to MongoDB"),
                _call(_USERS, _GRAPH, "InsertUser", 248, "Failed to insert user to social-graph-client"),
            ),
        ),
    ),
    _GRAPH: (
        Handler(
            "GetFollowers",
            (
                Compute(0.0002),
                LookAside(
                    _sorted(
                        _GRAPH, "social-graph-redis", "ZRANGE", 424, "Failed to get followers from Redis"
                    ),
                    (
                        _query(
                            _GRAPH, "social-graph-mongodb", "find", 460, "Failed to find followers in MongoDB"
                        ),
                    ),
                ),
            ),
        ),
        Handler(
            "InsertUser",
            (
                Compute(0.0002),
                _query(
                    _GRAPH, "social-graph-mongodb", "insert", 620, "Failed to insert social graph for user"
                ),
            ),
        ),
    ),
    "url-shorten-service": (
        Handler(
            "ComposeUrls",
            (
                Compute(0.0003),
                _query(
                    "url-shorten-service",
                    "url-shorten-mongodb",
                    "insert",
                    176,
                    "Failed to insert urls to MongoDB",
                ),
            ),
        ),
    ),
    "user-mention-service": (
        Handler(
            "ComposeUserMentions",
            (
                Compute(0.0003),
                _cached(
                    "user-mention-service",
                    "user-memcached",
                    "user-mention",
                    120,
                    "Cannot get usernames of request from Memcached",
                    _query(
                        "user-mention-service", "user-mongodb", "find", 196, "Failed to find users in MongoDB"
                    ),
                ),
            ),
        ),
    ),
    _TEXT: (
        Handler(
            "ComposeText",
            (
                Compute(0.0003),
                Together(
                    (
                        (
                            _call(
                                _TEXT,
                                "url-shorten-service",
                                "ComposeUrls",
                                106,
                                "Failed to upload urls to url-shorten-service",
                            ),
                        ),
                        (
                            _call(
                                _TEXT,
                                "user-mention-service",
                                "ComposeUserMentions",
                                139,
                                "Failed to upload user_mentions to user-mention-service",
                            ),
                        ),
                    )
                ),
            ),
        ),
    ),
    _POSTS: (
        Handler(
            "StorePost",
            (
                Compute(0.0003),
                _query(_POSTS, "post-storage-mongodb", "insert", 158, "Failed to insert post to MongoDB"),
            ),
        ),
        Handler(
            "ReadPosts",
            (
                Compute(0.0004),
                _cached(
                    _POSTS,
                    "post-storage-memcached",
                    "posts",
                    411,
                    "Cannot get post_ids of request from Memcached",
                    _query(_POSTS, "post-storage-mongodb", "find", 486, "Failed to find posts in MongoDB"),
                ),
            ),
        ),
    ),
    _TIMELINE: (
        Handler(
            "WriteUserTimeline",
            (
                Compute(0.0003),
                _query(
                    _TIMELINE,
                    "user-timeline-mongodb",
                    "update",
                    133,
                    "Failed to update user-timeline for user to MongoDB",
                ),
                _sorted(
                    _TIMELINE, "user-timeline-redis", "ZADD", 162, "Failed to update user timeline in Redis"
                ),
            ),
        ),
        Handler(
            "ReadUserTimeline",
            (
                Compute(0.0003),
                LookAside(
                    _sorted(
                        _TIMELINE,
                        "user-timeline-redis",
                        "ZREVRANGE",
                        219,
                        "Failed to read user timeline from Redis",
                    ),
                    (
                        _query(
                            _TIMELINE,
                            "user-timeline-mongodb",
                            "find",
                            260,
                            "Failed to find user timeline in MongoDB",
                        ),
                    ),
                ),
                _call(_TIMELINE, _POSTS, "ReadPosts", 338, "Failed to get posts from post-storage-service"),
            ),
        ),
    ),
    _HOME: (
        Handler(
            "WriteHomeTimeline",
            (
                Compute(0.0003),
                _call(
                    _HOME, _GRAPH, "GetFollowers", 98, "Failed to get followers from social-network-service"
                ),
                _sorted(_HOME, "home-timeline-redis", "ZADD", 131, "Failed to update home timeline in Redis"),
            ),
        ),
        Handler(
            "ReadHomeTimeline",
            (
                Compute(0.0003),
                _sorted(
                    _HOME, "home-timeline-redis", "ZREVRANGE", 195, "Failed to read home timeline from Redis"
                ),
                _call(_HOME, _POSTS, "ReadPosts", 228, "Failed to read post from post-storage-service"),
            ),
        ),
    ),
    _COMPOSE: (
        Handler(
            "ComposePost",
            (
                Compute(0.0004),
                Together(
                    (
                        (
                            _call(
                                _COMPOSE,
                                _TEXT,
                                "ComposeText",
                                152,
                                "Failed to send compose-text to text-service",
                            ),
                        ),
                        (
                            _call(
                                _COMPOSE,
                                _USERS,
                                "ComposeCreatorWithUserId",
                                116,
                                "Failed to send compose-creator to user-service",
                            ),
                        ),
                        (
                            _call(
                                _COMPOSE,
                                "media-service",
                                "ComposeMedia",
                                188,
                                "Failed to send compose-media to media-service",
                            ),
                        ),
                        (
                            _call(
                                _COMPOSE,
                                "unique-id-service",
                                "ComposeUniqueId",
                                224,
                                "Failed to send compose-unique_id to unique_id-service",
                            ),
                        ),
                    )
                ),
                Together(
                    (
                        (
                            _call(
                                _COMPOSE,
                                _POSTS,
                                "StorePost",
                                258,
                                "Failed to store post to post-storage-service",
                            ),
                        ),
                        (
                            _call(
                                _COMPOSE,
                                _TIMELINE,
                                "WriteUserTimeline",
                                290,
                                "Failed to write user-timeline to user-timeline-service",
                            ),
                        ),
                        (
                            _call(
                                _COMPOSE,
                                _HOME,
                                "WriteHomeTimeline",
                                324,
                                "Failed to write home timeline to home-timeline-service",
                            ),
                        ),
                    )
                ),
            ),
        ),
    ),
}


def _lua(file: str, line: int, callee: str, method: str, what: str, answer: str) -> tuple[Step, ...]:
    """A location: one call, whose failure is a line of the error log and the body of a 500."""
    log = Say("error", f"{file}.lua:{line}", f"{what}: {{error}}")
    return (Compute(0.0004), Ask(callee, method, lost=Lost(answer=answer + "{error}", log=log)))


_HOME_READ = _lua(
    "read-home-timeline",
    84,
    _HOME,
    "ReadHomeTimeline",
    "Get home-timeline failure",
    "Get home-timeline failure: ",
)
_USER_READ = _lua(
    "read-user-timeline",
    86,
    _TIMELINE,
    "ReadUserTimeline",
    "Get user-timeline failure",
    "Get user-timeline failure: ",
)
_COMPOSED = _lua("compose", 62, _COMPOSE, "ComposePost", "compost_post failure", "compost_post failure: ")

_FRONT = (
    Handler("GET /wrk2-api/home-timeline/read", _HOME_READ),
    Handler("GET /wrk2-api/user-timeline/read", _USER_READ),
    Handler("POST /wrk2-api/post/compose", _COMPOSED),
    Handler(
        "POST /wrk2-api/user/register",
        _lua(
            "register",
            52,
            _USERS,
            "RegisterUserWithId",
            "User registration failure",
            "User registration failure: ",
        ),
    ),
    Handler("GET /", (Compute(0.0001),)),
)
_MEDIA_FRONT = (
    Handler(
        "GET /get-media",
        (
            Compute(0.0004),
            Ask(
                "media-mongodb",
                "find",
                "media",
                Lost(answer="Failed to get media: {error}", log=Say("error", "get-media.lua:41", "{error}")),
            ),
        ),
    ),
    Handler("GET /", (Compute(0.0001),)),
)
_ROUTES = (
    Route(
        "/wrk2-api/home-timeline/read",
        data.check_timeline,
        data.answer_timeline,
        {"GET": "GET /wrk2-api/home-timeline/read"},
    ),
    Route(
        "/wrk2-api/user-timeline/read",
        data.check_timeline,
        data.answer_timeline,
        {"GET": "GET /wrk2-api/user-timeline/read"},
    ),
    Route(
        "/wrk2-api/post/compose", data.check_post, data.answer_post, {"POST": "POST /wrk2-api/post/compose"}
    ),
    Route(
        "/wrk2-api/user/register", data.check_user, data.answer_user, {"POST": "POST /wrk2-api/user/register"}
    ),
    Route("/", data.check_nothing, data.answer_index, {"GET": "GET /"}),
)
_MEDIA_ROUTES = (
    Route("/get-media", data.check_nothing, data.answer_media, {"GET": "GET /get-media"}),
    Route("/", data.check_nothing, data.answer_index, {"GET": "GET /"}),
)


# --- whom they ask ----------------------------------------------------------------------------------------


def _configured(name: str, driver: str) -> Peer:
    address = At(Setting(f"{name}.addr"), Setting(f"{name}.port"))
    return Peer(name, driver, address, database=DATABASE.get(name, ""), keys=_KEYS.get(name, ()))


USERS = 962
"""Users of the benchmark's social graph (``socfb-Reed98``), among whom the load generator chooses."""
_KEYS: Mapping[str, tuple[KeySpace, ...]] = {
    "user-timeline-redis": (KeySpace("user-timeline", "{}", "ZADD", USERS),),
    "home-timeline-redis": (KeySpace("home-timeline", "{}", "ZADD", USERS),),
    # Nobody follows anybody: there is nothing that would be worth keeping.
    "social-graph-redis": (KeySpace("social-graph", "{}:followers", "", USERS),),
}
_DRIVERS = {"mongodb": "mongo-c-driver", "redis": "redis-plus-plus", "memcached": "libmemcached"}


def _peers(name: str) -> tuple[Peer, ...]:
    stores = (_configured(store, _DRIVERS[store.rpartition("-")[2]]) for store in STORES.get(name, ()))
    return (*stores, *(_configured(other, "thrift-cpp") for other in CALLS.get(name, ())))


def _named(name: str, driver: str, port: int) -> Peer:
    """As the Lua of the front ends has it: a name with the suffix from the environment, and a port of its own."""
    return Peer(
        name, driver, At(Joined((name, Variable("fqdn_suffix"))), str(port)), database=DATABASE.get(name, "")
    )


# --- at the start -----------------------------------------------------------------------------------------


def _start(name: str) -> tuple[Start, ...]:
    here = f"{BINARY[name]}.cpp"
    unread = f"Cannot open config file: {CONFIG_PATH}"
    read: tuple[Start, ...] = (
        ReadConfig(CONFIG_PATH, Say("error", "utils.h:32:load_config_file", unread)),
        ReadText(JAEGER_PATH, End("panic", here, "bad file: " + JAEGER_PATH)),
        Pass(0.05),
    )
    failed = (
        Say("error", "utils_mongodb.h:63:CreateIndex", "Error: {error}"),
        Say("error", f"{here}:48:main", "Failed to create mongodb index, try again"),
    )
    index = (Reach(STORES[name][0], every=1.0, log=failed),) if name in INDEXED else ()
    end = End("panic", here)
    opened = Open(Setting(f"{name}.port"), unset=end, taken=end)
    return (*read, *index, opened, Say("info", f"{here}:96:main", f"Starting the {name} server ..."))


def _web_start(required: tuple[str, ...]) -> tuple[Start, ...]:
    end = End("panic", "")
    return (
        ReadText(f"{NGINX}/conf/nginx.conf", end, (("listen", r"listen\s+(\d+)"),)),
        *(ReadText(path, end) for path in required),
        Open(Setting("listen"), unset=end, taken=end),
    )


FRONT_FILES = (f"{NGINX}/lua-scripts/wrk2-api/post/compose.lua", f"{NGINX}/jaeger-config.json")
MEDIA_FILES = (f"{NGINX}/lua-scripts/get-media.lua",)
"""What the front ends do not start without."""


def services() -> tuple[ServiceSettings, ...]:
    """The C++ services; each bears its binary's name in the image."""
    return tuple(
        ServiceSettings(
            name, Cpp(), Thrift(), _MEMORY[name] * MIB, _start(name), _HANDLERS[name], _peers(name)
        )
        for name in SERVICES
    )


def front(edition: Edition = PUBLISHED) -> ServiceSettings:
    """``nginx-thrift``: the users' way in."""
    peers = tuple(
        _named(name, "thrift-lua", edition.ports[name])
        for name in (_HOME, _TIMELINE, _COMPOSE, _USERS, _GRAPH)
    )
    return ServiceSettings(
        "nginx-thrift", OpenResty(), Web(), 28 * MIB, _web_start(FRONT_FILES), _FRONT, peers, _ROUTES
    )


def media_front(edition: Edition = PUBLISHED) -> ServiceSettings:
    """``media-frontend``: pictures, straight from their database."""
    peers = (_named("media-mongodb", "mongo-c-driver", edition.ports["media-mongodb"]),)
    return ServiceSettings(
        "media-frontend",
        OpenResty(),
        Web(),
        24 * MIB,
        _web_start(MEDIA_FILES),
        _MEDIA_FRONT,
        peers,
        _MEDIA_ROUTES,
    )
