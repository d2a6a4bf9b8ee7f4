"""Whom a service asks, and where it finds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sregym_env.kube.durations import parse_duration
from sregym_env.runtime.numbers import whole
from sregym_env.sim.network import local_ports
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import consul
from sregym_env.sim.programs.mongo_data import Document
from sregym_env.sim.programs.services.values import Value, number, value

Addresses = tuple[tuple[str, int], ...]
"""(host, port) of everything that answers for a peer."""


@dataclass(frozen=True, slots=True)
class At:
    """``host:port`` in one value, perhaps behind a scheme, or with options after a comma; or the two in a value each."""

    host: Value
    port: Value = ""
    otherwise: tuple[str, int] = ("", 0)
    """What the client library takes where the value is missing."""


@dataclass(frozen=True, slots=True)
class Registered:
    """Under a name in a registry."""

    name: str
    registry: At


@dataclass(frozen=True, slots=True)
class Account:
    """Whom a service logs in as: the environment's, else the configuration's, else the one that is compiled in."""

    users: tuple[Value, ...]
    passwords: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Retries:
    """A policy of retries that the environment can change, ``<prefix>_TIMEOUT_MS`` and so on."""

    prefix: str
    timeout: float
    attempts: int
    backoff: float
    multiplier: float = 2.0

    def of(self, env: Mapping[str, str]) -> tuple[float, int, float, float]:
        """(time-out, attempts, first back-off, its factor) under an environment; seconds."""

        def given(name: str, default: float) -> float:
            try:
                return float(env[f"{self.prefix}_{name}"])
            except (KeyError, ValueError):
                return default

        return (
            given("TIMEOUT_MS", self.timeout * 1000) / 1000,
            max(1, int(given("MAX_ATTEMPTS", self.attempts))),
            given("INITIAL_BACKOFF_MS", self.backoff * 1000) / 1000,
            given("BACKOFF_MULTIPLIER", self.multiplier),
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """What a binary's RPC clients all do, if the environment says so: a patience as Go writes it (``50ms``), and how often an
    error is tried again, at once. Without the variables they wait for as long as their callers do, and ask once."""

    timeout: str
    """Variable of the time that an attempt gets."""
    retries: str
    """Variable of the further attempts."""

    def of(self, env: Mapping[str, str]) -> tuple[float, int, float, float]:
        """(time-out, attempts, first back-off, its factor) under an environment; seconds. A time-out of 0 is none."""
        timeout, retries = env.get(self.timeout, ""), env.get(self.retries, "")
        try:
            patience = parse_duration(timeout) / 1e9 if timeout else 0.0
        except ValueError:
            patience = 0.0
        return patience, 1 + whole(retries, 0, 5), 0.0, 1.0


@dataclass(frozen=True, slots=True)
class Data:
    """What a service puts into its database at the start."""

    collection: str
    key: str
    """What tells its documents apart."""
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class KeySpace:
    """Sorted sets that a service keeps in a store, one for each of its users."""

    name: str
    """As its steps call them."""
    form: str
    """A key, with ``{}`` for the number of the user."""
    command: str
    """With which a member is added; empty where nobody ever adds one."""
    users: int


@dataclass(frozen=True, slots=True)
class Peer:
    """Somebody whom a service asks."""

    name: str
    """As its steps call it."""
    driver: str
    """The client library (:mod:`~sregym_env.sim.programs.services.drivers`)."""
    address: At | Registered
    timeout: float = 0.0
    """Seconds; 0 for the library's own."""
    retries: Retries | Policy | None = None
    database: str = ""
    account: Account | None = None
    data: tuple[Data, ...] = ()
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(``schema.table``, columns that the service's statements on it name), for a relational database; a table that is not
    here is taken as it is."""
    keys: tuple[KeySpace, ...] = ()
    """What it keeps there, for a store of keys."""

    def named(self, table: str) -> tuple[str, ...]:
        """The columns of a table that the service's statements name."""
        return next((columns for known, columns in self.columns if known == table), ())


def fixed(ctx: ProcessContext, address: At) -> tuple[str, int]:
    """What an address that is written somewhere says; an empty host or port 0 where it says nothing."""
    host = value(ctx, address.host).rpartition("://")[2].partition("/")[0]
    if address.port:
        found = host, number(value(ctx, address.port))
    else:
        name, _, port = host.partition(",")[0].partition(":")
        found = name, whole(port, 0)
    return found[0] or address.otherwise[0], found[1] or address.otherwise[1]


def addresses(ctx: ProcessContext, peer: Peer) -> Addresses:
    """Where a peer is; nothing where nobody knows.

    A registry's answers are kept: they hold while it is away, and also when a watch comes back empty, since after a
    restart of the registry its index has gone backwards and the client's blocking query waits for the old one.
    """
    match peer.address:
        case At():
            host, port = fixed(ctx, peer.address)
            return ((host, port),) if host else ()
        case Registered(name, registry):
            known: Mapping[str, Addresses] = ctx.process.state.get("resolved", {})
            if not watched(ctx, peer):
                return known.get(name, ())
            agent = ctx.peer(*fixed(ctx, registry))
            if agent is None or agent.process.program != "consul":
                return known.get(name, ())
            current = consul.instances(agent, name)
            if not current:
                return known.get(name, ())
            if current != known.get(name):
                ctx.settle_entry("resolved", name, current)
            return current


def watches(ctx: ProcessContext, peers: Iterable[Peer]) -> Iterator[tuple[Peer, tuple[str, int]]]:
    """(peer, its registry) of those whom a client of a registry watches there, each by a blocking query over a connection of its
    own; in the order in which it begins."""
    for peer in peers:
        if isinstance(peer.address, Registered):
            yield peer, fixed(ctx, peer.address.registry)


def watched(ctx: ProcessContext, peer: Peer) -> bool:
    """Whether there is a port left for the connection over which a peer is watched: who came first keeps his."""
    number = local_ports.few(ctx.world, ctx.process)
    if not number:
        return True
    service = ctx.image.binaries[ctx.process.binary].settings
    found = [each.name for each, _ in watches(ctx, getattr(service, "peers", ()))]
    return peer.name in found[:number] or peer.name not in found


def only(ctx: ProcessContext, peer: Peer) -> tuple[str, int]:
    """The first address of a peer; an empty host and port 0 where there is none."""
    return next(iter(addresses(ctx, peer)), ("", 0))


def credentials(ctx: ProcessContext, account: Account | None) -> tuple[tuple[str, str], ...]:
    """The attributes of a call that say who asks; none where nobody logs in."""
    if account is None:
        return ()
    user = next(filter(None, (value(ctx, each) for each in account.users)), "")
    if not user:
        return ()
    password = next(filter(None, (value(ctx, each) for each in account.passwords)), "")
    return (("user", user), ("password", password), ("source", "admin"))


def password(ctx: ProcessContext, account: Account | None) -> tuple[tuple[str, str], ...]:
    """The attribute of a call to a store that knows passwords and no users; none where none is given."""
    given = next(filter(None, (value(ctx, each) for each in account.passwords)), "") if account else ""
    return (("password", given),) if given else ()
