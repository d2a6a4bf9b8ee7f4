"""``pgbouncer``: a pool of connections in front of a PostgreSQL server, kept open whether anybody uses them or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sregym_env.runtime.clock import seconds
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.postgres import admission, sessions, storage
from sregym_env.sim.programs.postgres.client import PORT as SERVER_PORT
from sregym_env.sim.programs.postgres.client import Refusal, Target, server_of
from sregym_env.sim.programs.postgres.sessions import PgSession
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import Call, Failure, Flow

PORT = 6432
CONFIG = "/etc/pgbouncer/pgbouncer.ini"

LOGIN_RETRY = 15.0
"""``server_login_retry``: seconds until it tries again behind a login that has failed."""
CHECKED = 120.0
"""Assumed seconds within which it sees that a server which it does not use has gone."""
AT_REST = 4 * MIB
PER_CONNECTION = 16 * 1024
"""Assumed memory of a connection: two buffers and their accounts."""


@dataclass(frozen=True, slots=True)
class Pool:
    """One database of the configuration."""

    name: str
    target: Target
    kept: int
    """Connections that it keeps open: ``min_pool_size``, as far as the pool is as large."""


def sections(text: str) -> dict[str, dict[str, str]]:
    """An ini file: values by section and key. A comment begins with a semicolon or a hash."""
    found: dict[str, dict[str, str]] = {}
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in ";#":
            continue
        if line[0] == "[" and line[-1] == "]":
            section = line[1:-1].strip().lower()
            found.setdefault(section, {})
            continue
        key, equals, value = line.partition("=")
        if equals:
            found.setdefault(section, {})[key.strip()] = value.strip()
    return found


def pools(config: Mapping[str, Mapping[str, str]]) -> Iterator[Pool]:
    """The pools that a configuration asks for, of databases with a user of their own: only those are filled before
    anybody comes."""
    own = config.get("pgbouncer", {})
    size = _whole(own.get("default_pool_size"), 20)
    least = _whole(own.get("min_pool_size"), 0)
    for name, text in config.get("databases", {}).items():
        given = dict(word.partition("=")[::2] for word in text.split() if "=" in word)
        if "host" not in given or "user" not in given:
            continue
        most = _whole(given.get("pool_size"), size)
        target = Target(
            given["host"],
            _whole(given.get("port"), SERVER_PORT),
            given["user"],
            given.get("dbname", name),
            given.get("password", ""),
        )
        yield Pool(name, target, min(_whole(given.get("min_pool_size"), least), most))


def _whole(text: str | None, default: int) -> int:
    return whole(text or "", default, 6)


class PgBouncer(Quiet):
    """The pooler; ``settings`` of its binary are its version."""

    name = "pgbouncer"

    def start(self, ctx: ProcessContext) -> None:
        """Read the configuration, open the port, and fill the pools."""
        ctx.set_memory(AT_REST)
        if ctx.over_limit:
            return
        argv = [word for word in ctx.process.argv[1:] if not word.startswith("-")]
        path = argv[-1] if argv else CONFIG
        try:
            config = sections(ctx.read(path))
        except OSError:
            _log(ctx, "ERROR", f"could not open config file {path}: No such file or directory")
            _log(ctx, "FATAL", "cannot load config file")
            ctx.exit(1)
            return
        own = config.get("pgbouncer", {})
        port = _whole(own.get("listen_port"), PORT)
        most = _whole(own.get("max_client_conn"), 100)
        _log(ctx, "LOG", f"kernel file descriptor limit: 1048576 (hard: 1048576); max_client_conn: {most}, max expected fd use: {most + 52}")  # fmt: skip
        try:
            ctx.listen(port)
        except OSError:
            _log(ctx, "WARNING", f"could not listen on 0.0.0.0:{port}: Address in use")
            _log(ctx, "FATAL", "cannot listen on any address")
            ctx.exit(1)
            return
        _log(ctx, "LOG", f"listening on 0.0.0.0:{port}")
        version = ctx.image.binaries.get(ctx.process.binary)
        named = version.settings if version is not None else "1.24.1"
        _log(ctx, "LOG", f"process up: PgBouncer {named}, libevent 2.1.12-stable (epoll), adns: c-ares 1.34.5, tls: OpenSSL 3.5.0 8 Apr 2025")  # fmt: skip
        ctx.update(config=config)
        ctx.wake_in(0.4, "maintain")

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Fill the pools as far as the servers let it, and look again later."""
        if reason == sessions.LOST:
            # The maintenance that is due anyway goes on beside it.
            self._filled(ctx)
            return
        if reason == "maintain":
            ctx.wake_in(CHECKED if self._filled(ctx) else LOGIN_RETRY, "maintain")

    def _filled(self, ctx: ProcessContext) -> bool:
        """Open what connections are missing; whether the pools are as full as they are to be."""
        short = [
            pool.name for pool in pools(ctx.process.state.get("config", {})) if not self._fill(ctx, pool)
        ]
        return not short

    def _fill(self, ctx: ProcessContext, pool: Pool) -> bool:
        target = pool.target
        found = server_of(ctx, target)
        if isinstance(found, Refusal):
            reason = found.text.strip().partition("\n")[0]
            _log(ctx, "WARNING", f"{pool.name}/{target.user}@{target.host}:{target.port} connect failed: {reason}")  # fmt: skip
            return False
        server, address = found
        identity = _identity(ctx, pool.name)
        known = sessions.sessions(server).get(identity)
        missing = pool.kept - (known.count if known is not None else 0)
        if missing <= 0:
            return True
        data = storage.stored(server)
        if data is None:
            return False
        where = f"{pool.name}/{target.user}@{address}:{target.port}"
        login = target.user, target.password, target.database
        error = admission.refused(server, data, *login, local=False)
        opened = (
            min(missing, admission.room(server, data, target.user, target.database)) if error is None else 0
        )
        if opened:
            now = server.now()
            sessions.put(server, identity, _more(ctx, server, identity, target, known, opened, now))
            for number in range(opened):
                # Three in a second, as its maintenance comes.
                _log(ctx, "LOG", f"S-{where} new connection to server (from {ctx.process.ip}:{40000 + (7 * number) % 20000})", number / 3)  # fmt: skip
        if opened < missing:
            error = error or admission.refused(server, data, *login, local=False)
            text = "server conn crashed?" if error is None else f"{error.severity} {error.message}"
            if error is not None:
                storage.log(server, server.number(100), "FATAL", error.message)
            _log(ctx, "WARNING", f"S-{where} server login failed: {text}", opened / 3)
            _log(ctx, "LOG", f"S-{where} closing because: login failed (age=0s)", opened / 3)
            return False
        return True

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Hand a statement to the server, over a connection of the pool with the name of the client's database."""
        wanted = call.attribute("database")
        pool = next((p for p in pools(ctx.process.state.get("config", {})) if p.name == wanted), None)
        if pool is None:
            failure = Failure("error", f"FATAL 08P01 no such database: {wanted}")
            return Flow(0.0, 0.0005, ((failure, 1.0),))
        target = pool.target
        login = (("user", target.user), ("password", target.password), ("database", target.database))
        passed = Call(call.operation, (*login, ("client", _identity(ctx, pool.name))))
        flow = ctx.call(target.host, target.port, passed, share=1.0)
        return Flow(flow.ok, flow.latency + 0.0002, flow.failures)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """It ends at once, and its connections with it."""
        _log(ctx, "LOG", "got SIGTERM, fast exit")
        return 0.05, 0


def _identity(ctx: ProcessContext, pool: str) -> str:
    process = ctx.process
    return f"{process.key[0]}/{process.container}/{process.restart}#{pool}"


def _more(
    ctx: ProcessContext, server: ProcessContext, identity: str, target: Target, known: PgSession | None, opened: int, now: int
) -> PgSession:  # fmt: skip
    # The server's children are numbered in the order in which they are forked.
    first = max(
        (sessions.backend_pid(server, identity, now), *(pid + 1 for pid in (known.pids if known else ())))
    )
    pids = tuple(range(first, first + opened))
    if known is not None:
        return evolve(known, more=(*known.more, *pids))
    return PgSession(first, target.user, target.database, ctx.process.ip, now, changed=now, more=pids[1:])


def _log(ctx: ProcessContext, level: str, text: str, delay: float = 0.0) -> None:
    line = f"{{time|%Y-%m-%d %H:%M:%S.%L}} UTC [1] {level} {text}"
    if not ctx.world.unread:
        ctx.log(stamped(line, ctx.wall() + seconds(delay)), delay=delay)
