"""PostgreSQL from Go (``lib/pq`` under ``otelsql``), .NET (``Npgsql``) and Python (``psycopg2``).

A peer's address is the connection string, in the form that its library takes: a URL, ``Host=...;Username=...`` or
``host=... user=...``. An operation is a kind of statement (``select``, ``insert`` ...), and ``of`` its table.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.postgres.errors import PgError, reported
from sregym_env.sim.programs.services.drivers.connecting import address, client
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import At, Peer, credentials, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.programs.services.values import value
from sregym_env.sim.world.program import FRESH, POOLED, Call, Failure, Flow

PORT = 5432


@dataclass(frozen=True, slots=True)
class Dsn:
    """A connection string, taken apart."""

    host: str = ""
    port: int = PORT
    user: str = ""
    password: str = ""
    database: str = ""


_NAMES = {
    "host": "host", "server": "host", "port": "port", "user": "user", "username": "user", "user id": "user",
    "password": "password", "passfile": "", "database": "database", "dbname": "database",
}  # fmt: skip


def dsn(text: str) -> Dsn:
    """Take a connection string of any of the three forms apart; what it does not say is empty."""
    text = text.strip()
    if text.startswith(("postgres://", "postgresql://")):
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            return Dsn()
        more = dict(parse_qsl(parts.query))
        return _made(
            {
                "host": parts.hostname or more.get("host", ""),
                "port": str(port or more.get("port", "")),
                "user": unquote(parts.username or more.get("user", "")),
                "password": unquote(parts.password or more.get("password", "")),
                "database": unquote(parts.path.lstrip("/") or more.get("dbname", "")),
            }
        )
    pieces = text.split(";") if ";" in text else text.split()
    found = {}
    for piece in pieces:
        name, _, given = piece.partition("=")
        known = _NAMES.get(name.strip().lower(), "")
        if known:
            found[known] = given.strip().strip("'\"")
    return _made(found)


def _made(found: dict[str, str]) -> Dsn:
    port = found.get("port", "")
    user = found.get("user", "")
    return Dsn(
        found.get("host", ""),
        whole(port, PORT),
        user,
        found.get("password", ""),
        found.get("database", "") or user,
    )


class _Sql(Plain):
    patience = 0.0
    """Seconds until a statement is given up; 0 for never."""
    pooled = True
    """Whether connections are kept: who was let in once stays in until its session ends."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One statement on a table."""
        found = _found(ctx, peer)
        named = peer.named(ask.of)
        call = Call(
            f"{ask.operation} {ask.of}".strip(),
            (*self._login(ctx, found), *((("columns", ",".join(named)),) if named else ())),
        )
        flow = ctx.call(
            found.host,
            found.port,
            call,
            share=share,
            timeout=peer.timeout or self.patience,
            required=required(ask),
            keeping=POOLED if self.pooled else FRESH,
        )
        if not flow.failures:
            return flow
        where = address(ctx, found.host, found.port)
        lost = tuple((self._told(failure, found, where), part) for failure, part in flow.failures)
        return Flow(flow.ok, flow.latency, lost)

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Open a connection, log in, and keep it."""
        found = _found(ctx, peer)
        call = Call("connect", self._login(ctx, found))
        failure = ctx.ask(found.host, found.port, call, peer.timeout or self.patience)
        if failure is None:
            return None
        return self._told(failure, found, address(ctx, found.host, found.port))

    def _login(self, ctx: ProcessContext, found: Dsn) -> tuple[tuple[str, str], ...]:
        named = (("user", found.user), ("password", found.password), ("database", found.database))
        return (*named, ("client", client(ctx))) if self.pooled else (*named, ("ip", ctx.process.ip))

    def _told(self, failure: Failure, found: Dsn, where: str) -> Failure:
        error = reported(failure)
        text = self._worded(failure, found, where) if error is None else self._reported(error, found, where)
        return Failure(failure.kind, text, failure.status)

    @staticmethod
    def _reported(error: PgError, found: Dsn, where: str) -> str:
        """What the server has refused."""
        return f"pq: {error.message}"

    @staticmethod
    def _worded(failure: Failure, found: Dsn, where: str) -> str:
        """What kept it from the server."""
        return failure.text


def _found(ctx: ProcessContext, peer: Peer) -> Dsn:
    if isinstance(peer.address, At) and not peer.address.port:
        text = value(ctx, peer.address.host)
        if "=" in text or "://" in text:
            return dsn(text)
    host, port = only(ctx, peer)
    named = dict(credentials(ctx, peer.account))
    user = named.get("user", "")
    return Dsn(host, port or PORT, user, named.get("password", ""), peer.database or user)


class LibPq(_Sql):
    """``lib/pq``: errors of the server begin with ``pq:``, those of the network are Go's."""

    @staticmethod
    def _worded(failure: Failure, found: Dsn, where: str) -> str:
        """A connection that ends in the middle is bad for ``database/sql``."""
        if failure.kind == "reset":
            return "driver: bad connection"
        if failure.kind in ("timeout", "overload") and "dial" not in failure.text:
            return "context canceled"
        return failure.text


class Npgsql(_Sql):
    """``Npgsql``: exceptions of .NET, with their causes."""

    patience = 30.0
    """Its command time-out."""

    @staticmethod
    def _reported(error: PgError, found: Dsn, where: str) -> str:
        """``28P01: password authentication failed ...``."""
        return f"Npgsql.PostgresException (0x80004005): {error.code}: {error.message}"

    @staticmethod
    def _worded(failure: Failure, found: Dsn, where: str) -> str:
        """As the exception reads, with the one behind it."""
        socket = "\n ---> System.Net.Sockets.SocketException"
        match failure.kind:
            case "no_port":
                cause = (
                    f"Failed to connect to {where}:{found.port}{socket} (99): Cannot assign requested address"
                )
            case "refused":
                cause = f"Failed to connect to {where}:{found.port}{socket} (111): Connection refused"
            case "no_such_host":
                return "System.Net.Sockets.SocketException (0xFFFDFFFF): Name or service not known"
            case "dns_timeout":
                return "System.Net.Sockets.SocketException (0xFFFDFFFE): Temporary failure in name resolution"
            case "reset":
                cause = (
                    "Exception while reading from stream\n ---> System.IO.EndOfStreamException: "
                    "Attempted to read past the end of the stream."
                )
            case _ if "dial" in failure.text:
                cause = f"Failed to connect to {where}:{found.port}\n ---> System.TimeoutException: The operation has timed out."
            case _:
                cause = "Exception while reading from stream\n ---> System.TimeoutException: Timeout during reading attempt"
        return f"Npgsql.NpgsqlException (0x80004005): {cause}"


class Psycopg2(_Sql):
    """``psycopg2``: libpq's own words; the Python services open a connection for every request."""

    pooled = False

    @staticmethod
    def _reported(error: PgError, found: Dsn, where: str) -> str:
        """A refusal at the door names the door; one of a statement does not."""
        if error.severity == "FATAL":
            return (
                f'connection to server at "{found.host}" ({where}), port {found.port} failed: '
                f"{error.severity}:  {error.message}\n"
            )
        return f"{error.message}\n"

    @staticmethod
    def _worded(failure: Failure, found: Dsn, where: str) -> str:
        """As libpq reports it."""
        server = f'connection to server at "{found.host}" ({where}), port {found.port} failed: '
        match failure.kind:
            case "no_port":
                return f"{server}Cannot assign requested address\n\tIs the server running on that host and accepting TCP/IP connections?\n"
            case "refused":
                return f"{server}Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?\n"
            case "no_such_host":
                return f'could not translate host name "{found.host}" to address: Name or service not known\n'
            case "dns_timeout":
                return f'could not translate host name "{found.host}" to address: Temporary failure in name resolution\n'
            case "reset":
                return (
                    "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n"
                    "\tbefore or while processing the request.\n"
                )
            case _ if "dial" not in failure.text:
                # The statement waits on, and its caller has gone: grpcio hears of that when it wants to answer.
                return "Context is not active, request was cancelled\n"
        return f"{server}Connection timed out\n\tIs the server running on that host and accepting TCP/IP connections?\n"
