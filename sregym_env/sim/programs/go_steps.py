"""What a Go microservice does per request, as data: a small language of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sregym_env.sim.programs.mongo_data import Document


@dataclass(frozen=True, slots=True)
class Work:
    """Compute for a while."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Query:
    """One operation on a MongoDB collection."""

    address: str
    """Configuration key of the server's address."""
    operation: str
    database: str
    collection: str
    user: str = ""
    """The account that is compiled in; the configuration and the environment may name another."""
    password: str = ""
    where: str = ""
    """Source position that logs its failure."""


@dataclass(frozen=True, slots=True)
class Cached:
    """A multi-get from memcached; on a miss a query, whose result is put into the cache.

    Neither client library survives a failure: the handler panics.
    """

    address: str
    space: str
    """Key space: what is warm or cold together."""
    query: Query
    where: str = ""
    failure: str = "Memmcached error = {error}"


@dataclass(frozen=True, slots=True)
class Retries:
    """Environment variables of a retry policy, with the program's defaults."""

    prefix: str
    timeout: float
    attempts: int
    backoff: float
    multiplier: float = 2.0


@dataclass(frozen=True, slots=True)
class Rpc:
    """A gRPC call to a service found in the registry."""

    service: str
    method: str
    retries: Retries | None = None
    answer: str = ""
    """What the caller's own callers are told if it fails; empty to pass the error on."""
    log: str = ""
    """Line logged on failure; ``{code}`` is the gRPC code."""


@dataclass(frozen=True, slots=True)
class FailIf:
    """Fail every request while an environment variable has a value."""

    variable: str
    value: str
    answer: str
    log: str


Step = Work | Query | Cached | Rpc | FailIf


@dataclass(frozen=True, slots=True)
class Handler:
    """What one operation does, step by step."""

    operation: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """At start: dial a database, put missing documents in, perhaps read all of them into memory."""

    address: str
    database: str
    collections: tuple[tuple[str, str, tuple[Document, ...]], ...]
    """(collection, unique key, documents)."""
    user: str = ""
    password: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """An HTTP route: checks the query, then is served as an operation."""

    path: str
    check: Callable[[Mapping[str, str]], str]
    """The text of a 400 answer, or an empty string."""
    answer: Callable[[Mapping[str, str]], str]
    """The body of a 200 answer."""
    methods: Mapping[str, str] = field(default_factory=dict)
    """Operation by HTTP method; other methods behave as GET."""


@dataclass(frozen=True, slots=True)
class GoSettings:
    """One binary of a Go application."""

    name: str
    config: str
    """Path of the JSON configuration file."""
    port_key: str
    memory: int
    handlers: tuple[Handler, ...]
    load: Load | None = None
    clients: tuple[str, ...] = ()
    """Registry names it dials."""
    registry_name: str = ""
    """The name under which it registers; empty for none."""
    routes: tuple[Route, ...] = ()
    """HTTP routes; a service without any speaks gRPC."""
    caches: tuple[str, ...] = ()
    """Configuration keys of memcached addresses, for the log."""
    extra_ports: tuple[int, ...] = ()
    constant: Mapping[str, str] = field(default_factory=dict)
    """Configuration values compiled in, which the file cannot change."""
    health: bool = False
    """Whether it registers gRPC's health service."""
