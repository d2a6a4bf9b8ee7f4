"""``postgres``: the server of the ``postgres`` images, as their entrypoint sets it up and starts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.postgres import admission, client, sessions, storage, views
from sregym_env.sim.programs.postgres.catalog import Cluster, Table, initial
from sregym_env.sim.programs.postgres.sessions import MODES, PgSession
from sregym_env.sim.programs.process_list import Row
from sregym_env.sim.world.program import Call, Command, Failure, Flow, HttpRequest, HttpResponse, Usage

INIT = "/docker-entrypoint-initdb.d"
AUTH_SECONDS = 0.009
"""A SCRAM-SHA-256 conversation: 4,096 iterations of the hash, and a process that is forked."""
QUERY_SECONDS = 0.0008
"""Assumed time of a statement by key on a small table."""
BLOCKED = 86_400.0
"""Seconds that a statement waits for a lock: longer than any client's patience."""
AT_REST = 42 * MIB
"""Assumed resident memory of the server and its background processes, shared buffers that were touched included."""

INIT_SECONDS = 1.6
"""From its start until it listens, where the entrypoint makes its directory first."""

_PRIVILEGES = {
    "select": "SELECT",
    "insert": "INSERT",
    "update": "UPDATE",
    "delete": "DELETE",
    "upsert": "INSERT",
}


class Postgres(Quiet):
    """The server; ``settings`` of its binary hold its version."""

    name = "postgres"
    account = "postgres"
    """The user to whom the image's entrypoint steps down."""

    def start(self, ctx: ProcessContext) -> None:
        """Initialise an empty data directory, run its init scripts, and open the port."""
        ctx.set_memory(AT_REST)
        if ctx.over_limit:
            return
        try:
            data = storage.read(ctx)
        except OSError:
            ctx.log(
                f'postgres: could not access directory "{storage.data_directory(ctx.process)}": Input/output error'
            )
            ctx.exit(2)
            return
        settings = storage.command_line(ctx.process.argv)
        for name in settings:
            if name not in storage.SETTINGS and "." not in name:
                storage.log(ctx, 1, "FATAL", f'unrecognized configuration parameter "{name}"')
                ctx.exit(1, delay=0.05)
                return
        ready = 0.4
        if data is None:
            ready = self._initialise(ctx)
            if not ready:
                return
            data = storage.stored(ctx)
        else:
            ctx.log(
                "\nPostgreSQL Database directory appears to contain a database; Skipping initialization\n"
            )
            major = storage.server_version(ctx).partition(".")[0]
            if data.version != major:
                storage.log(ctx, 1, "FATAL", "database files are incompatible with server")
                text = f"The data directory was initialized by PostgreSQL version {data.version}, which is not compatible with this version {storage.server_version(ctx)}."  # fmt: skip
                storage.log(ctx, 1, "DETAIL", text)
                ctx.exit(1, delay=0.05)
                return
            data = _counted_anew(ctx, data)
        known = {
            name: value for name, value in (data.settings if data else {}).items() if name in storage.SETTINGS
        }
        ctx.update(settings={**known, **settings})
        wrong = _invalid(ctx)
        if wrong:
            storage.log(ctx, 1, "FATAL", wrong, ready)
            ctx.exit(1, delay=ready + 0.05)
            return
        ctx.wake_in(ready, "ready")

    def _initialise(self, ctx: ProcessContext) -> float:
        """What the entrypoint does with an empty directory; seconds until the server starts, 0 where it ended."""
        env = ctx.process.env
        user, password = env.get("POSTGRES_USER") or "postgres", env.get("POSTGRES_PASSWORD", "")
        if not password and env.get("POSTGRES_HOST_AUTH_METHOD") != "trust":
            ctx.log(_NO_PASSWORD)
            ctx.exit(1, delay=0.05)
            return 0.0
        ctx.log(_INITDB.replace("%directory", storage.data_directory(ctx.process)))
        data = initial(storage.server_version(ctx).partition(".")[0], user, password or None)
        storage.write(ctx, data)
        database = env.get("POSTGRES_DB") or user
        ctx.log("waiting for server to start....", delay=0.9)
        version = storage.server_version(ctx)
        storage.log(ctx, 48, "LOG", _banner(version), 0.95)
        storage.log(ctx, 48, "LOG", "database system is ready to accept connections", 1.0)
        ctx.log(" done\nserver started", delay=1.0)
        if database not in data.databases:
            done = client.scripted(ctx, user, "postgres", f'CREATE DATABASE "{database}"')
            ctx.log(done.output, delay=1.1)
        if not self._scripts(ctx, user, database):
            return 0.0
        storage.log(ctx, 48, "LOG", "received fast shutdown request", 1.4)
        storage.log(ctx, 48, "LOG", "database system is shut down", 1.5)
        ctx.log(" done\nserver stopped\n\nPostgreSQL init process complete; ready for start up.\n", delay=1.5)
        return INIT_SECONDS

    @staticmethod
    def _scripts(ctx: ProcessContext, user: str, database: str) -> bool:
        """Run what lies in the directory of init scripts; False where one has failed, and ended the container."""
        try:
            names = [name for name in ctx.list_dir(INIT) if not name.startswith(".")]
        except OSError:
            names = []
        for name in names:
            path = f"{INIT}/{name}"
            if not name.endswith(".sql"):
                ctx.log(f"/usr/local/bin/docker-entrypoint.sh: ignoring {path}\n", delay=1.2)
                continue
            ctx.log(f"/usr/local/bin/docker-entrypoint.sh: running {path}", delay=1.2)
            try:
                script = ctx.read(path)
            except OSError:
                ctx.log(f"psql: error: {path}: Input/output error", delay=1.2)
                ctx.exit(1, delay=1.3)
                return False
            done = client.scripted(ctx, user, database, script, path)
            if done.output.strip():
                ctx.log(done.output.rstrip("\n") + "\n", delay=1.3)
            if done.failed:
                ctx.exit(3, delay=1.4)
                return False
        return True

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Open the port."""
        if reason != "ready":
            return
        text = storage.setting(ctx, "port")
        port = int(text) if 0 < whole(text, 0) < 65536 else 5432
        try:
            ctx.listen(port)
        except OSError:
            storage.log(ctx, 1, "LOG", 'could not bind IPv4 address "0.0.0.0": Address already in use')
            storage.log(ctx, 1, "HINT", f"Is another postmaster already running on port {port}? If not, wait a few seconds and retry.")  # fmt: skip
            storage.log(ctx, 1, "FATAL", "could not create any TCP/IP sockets")
            ctx.exit(1)
            return
        storage.log(ctx, 1, "LOG", _banner(storage.server_version(ctx)))
        storage.log(ctx, 1, "LOG", f'listening on IPv4 address "0.0.0.0", port {port}')
        storage.log(ctx, 1, "LOG", f'listening on IPv6 address "::", port {port}')
        storage.log(ctx, 1, "LOG", f'listening on Unix socket "/var/run/postgresql/.s.PGSQL.{port}"')
        storage.log(ctx, 1, "LOG", "database system is ready to accept connections", 0.05)

    # --- serving ----------------------------------------------------------------------------------------

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Let a client in unless it is in already, check its privileges, and wait for locks."""
        data = storage.stored(ctx)
        if data is None:
            failure = Failure("error", "FATAL 57P03 the database system is starting up")
            return Flow(0.0, 0.001, ((failure, 1.0),))
        user, database = call.attribute("user"), call.attribute("database")
        identity = call.attribute("client")
        known: PgSession | None = ctx.process.state.get("sessions", {}).get(identity) if identity else None
        latency = 0.0003
        if known is None or known.user != user or known.database != database:
            error = admission.refused(ctx, data, user, call.attribute("password"), database, local=False)
            if error is not None:
                _refused_in_traffic(ctx, error.message, admission.detail(error), error.code == "28P01")
                return Flow(0.0, AUTH_SECONDS, ((error.failure(), 1.0),))
            latency += AUTH_SECONDS
            known = PgSession(
                sessions.backend_pid(ctx, identity, ctx.now()), user, database, _address(ctx, identity), ctx.now(),
                changed=ctx.now(),
            ) if identity else None  # fmt: skip
            if known is not None:
                ctx.settle_entry("sessions", identity, known)
        kind, _, name = call.operation.partition(" ")
        if kind not in MODES or not name:
            return Flow(1.0, latency)
        return self._statement(ctx, data, call, known, latency)

    def _statement(
        self, ctx: ProcessContext, data: Cluster, call: Call, session: PgSession | None, latency: float
    ) -> Flow:
        kind, _, relation = call.operation.partition(" ")
        user, database = call.attribute("user"), call.attribute("database")
        schema_name, dot, name = relation.rpartition(".")
        found = data.databases[database].schemas.get(schema_name if dot else "public")
        table = found.tables.get(name) if found else None
        named = tuple(filter(None, call.attribute("columns").split(",")))
        missing = next((each for each in named if table is not None and table.place(each) is None), "")
        refusal = at = ""
        if found is None or table is None:
            refusal = f'ERROR 42P01 relation "{relation}" does not exist'
        elif not data.may(user, found.owner, found.grants, "USAGE"):
            refusal = f"ERROR 42501 permission denied for schema {found.name}"
        elif missing:
            # A statement is understood before anybody asks whether it is allowed.
            refusal = f'ERROR 42703 column "{missing}" does not exist'
            at = f" at character {_sql(kind, relation, table, named).index(missing) + 1}"
        elif not data.may(user, table.owner, table.grants, _PRIVILEGES[kind]):
            refusal = f"ERROR 42501 permission denied for table {table.name}"
        if refusal or table is None:
            sql = _sql(kind, relation, table, named)
            severity, _, text = refusal[6:].partition(" ")
            pid = "{ordinal}" if session is None else session.pid
            lines = f"{storage.line(pid, 'ERROR', text + at)}\n{storage.line(pid, 'STATEMENT', sql)}"
            ctx.log_per_request(lines, share=1.0)
            kind_ = "denied" if severity == "42501" else "error"
            return Flow(0.0, latency, ((Failure(kind_, refusal), 1.0),))  # type: ignore[arg-type]
        identity = call.attribute("client")
        waits = f"{database}/{relation}"
        holder = sessions.holder(ctx, identity, database, relation, MODES[kind])
        address = "" if identity else call.attribute("ip")
        if address:
            place = f"{address} {kind} {relation}"
            waiting = None
            if holder is not None:
                # Nobody asks for the time where nobody waits: what is found out with it cannot be kept.
                now = ctx.now()
                waiting = PgSession(
                    sessions.backend_pid(ctx, place, now), user, database, address, now, "", "active",
                    _sql(kind, relation, table, named), now, waits, MODES[kind],
                )  # fmt: skip
            sessions.queue(ctx, place, waiting)
        if holder is not None:
            if session is not None and session.wait != waits:
                query = _sql(kind, relation, table, named)
                blocked = evolve(
                    session, state="active", query=query, wait=waits, asks=MODES[kind], changed=ctx.now()
                )
                ctx.settle_entry("sessions", identity, blocked)
            return Flow(1.0, BLOCKED)
        if session is not None and (session.wait or not session.query):
            query = _sql(kind, relation, table, named)
            free = evolve(session, state="idle", query=query, wait="", asks="", changed=ctx.now())
            ctx.settle_entry("sessions", identity, free)
        return Flow(1.0, latency + QUERY_SECONDS)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """It takes HTTP for a start-up packet of impossible length, and hangs up."""
        return None

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """The image has it stopped by SIGINT: a fast shutdown, with a checkpoint. What clients have inserted stays."""
        data = storage.stored(ctx)
        # What lies in the container alone goes with it.
        if data is not None and storage.lasts(ctx.process):
            storage.write(ctx, _gathered(ctx, data))
        storage.log(ctx, 1, "LOG", "received fast shutdown request")
        storage.log(ctx, 1, "LOG", "aborting any active transactions")
        storage.log(
            ctx,
            1,
            "LOG",
            f'background worker "logical replication launcher" (PID {sessions.LAUNCHER}) exited with exit code 1',
            0.02,
        )
        storage.log(ctx, sessions.CHECKPOINTER, "LOG", "shutting down", 0.03)
        storage.log(ctx, sessions.CHECKPOINTER, "LOG", "checkpoint starting: shutdown immediate", 0.03)
        storage.log(ctx, 1, "LOG", "database system is shut down", 0.2)
        return 0.25, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Background processes at rest; a third of a millisecond per statement, some memory per connection."""
        open_ = sessions.connections(ctx)
        return Usage(0.003 + 0.0003 * sum(rates.values()), ctx.process.memory + sessions.PER_SESSION * open_)

    def kin(self, ctx: ProcessContext) -> list[Row]:
        """Its children: those that work in the background, and one per connection. None before the server is up."""
        process = ctx.process
        if not process.listening:
            return []
        since = process.started_at
        rows = [
            Row(pid, 1, since, f"postgres: {kind} ", "postgres", size << 20, 0.0, "Ss")
            for pid, kind, _, size in sessions.BACKGROUND
        ]
        served = [each for _, each in sorted({**sessions.sessions(ctx), **sessions.queued(ctx)}.items())]
        for each in (one for session in served for one in session.each):
            client = f"{each.address}({views.client_port(each)})" if each.address else "[local]"
            doing = each.query.split(" ")[0] if each.state == "active" else each.state
            text = f"postgres: {each.user} {each.database} {client} {doing}{' waiting' if each.wait else ''}"
            rows.append(Row(each.pid, 1, each.since, text, "postgres", 17 * MIB, 0.0, "Ss"))
        return rows

    @property
    def commands(self) -> Mapping[str, Command]:
        """The clients of the image."""
        return client.COMMANDS


def _banner(version: str) -> str:
    return (
        f"starting PostgreSQL {version} (Debian {version}-1.pgdg13+1) on x86_64-pc-linux-gnu, compiled by gcc (Debian "
        "14.2.0-19) 14.2.0, 64-bit"
    )


def _invalid(ctx: ProcessContext) -> str:
    """What is wrong with the settings, if they keep the server from starting."""
    for name, least, most in (("max_connections", 1, 262143), ("port", 1, 65535)):
        text = storage.setting(ctx, name)
        if not (text.isascii() and text.isdecimal()):
            return f'invalid value for parameter "{name}": "{text}"'
        if not least <= int(text[:12]) <= most:
            return f'{text} is outside the valid range for parameter "{name}" ({least} .. {most})'
    reserved = storage.setting(ctx, "superuser_reserved_connections")
    most_connections = int(storage.setting(ctx, "max_connections"))
    if whole(reserved, 0) >= most_connections:
        return (
            f'"superuser_reserved_connections" ({reserved}) plus "reserved_connections" (0) must be less than '
            f'"max_connections" ({most_connections})'
        )
    return ""


def _address(ctx: ProcessContext, identity: str) -> str:
    uid, container, _ = identity.rsplit("/", 2)
    process = ctx.world.processes.get((uid, container))
    return "" if process is None else process.ip


def _refused_in_traffic(ctx: ProcessContext, text: str, detail: str, password: bool) -> None:
    """Every refused connection leaves its lines; under traffic as many as refusals."""
    lines = storage.line("{ordinal}", "FATAL", text)
    if password:
        lines += f"\n{storage.line('{ordinal}', 'DETAIL', detail)}"
    ctx.log_per_request(lines, share=1.0)


def _sql(kind: str, relation: str, table: Table | None, named: tuple[str, ...] = ()) -> str:
    """A statement of that kind, as a client's library writes it; ``named`` are the columns of which it speaks, where it says."""
    columns = named or (tuple(each.name for each in table.columns) if table is not None else ("*",))
    schema, dot, bare = relation.rpartition(".")
    relation = f"{schema}{dot}{views.quoted(bare)}"
    key = next(iter(table.primary), columns[0]) if table is not None else "id"
    match kind:
        case "select":
            return f"SELECT {', '.join(columns)} FROM {relation} WHERE {key} = $1"
        case "update":
            return f"UPDATE {relation} SET {columns[-1]} = $2 WHERE {key} = $1"
        case "delete":
            return f"DELETE FROM {relation} WHERE {key} = $1"
    values = ", ".join(f"${index}" for index in range(1, len(columns) + 1))
    return f"INSERT INTO {relation} ({', '.join(columns)}) VALUES ({values})"


def _each_table(data: Cluster, change: Mapping[tuple[str, str, str], Table]) -> Cluster:
    for (database, schema, _), table in change.items():
        data = data.with_table(database, schema, table)
    return data


def _tables(data: Cluster) -> list[tuple[str, str, Table]]:
    return [
        (database.name, schema.name, table)
        for database in data.databases.values()
        for schema in database.schemas.values()
        for table in schema.tables.values()
    ]


def _gathered(ctx: ProcessContext, data: Cluster) -> Cluster:
    """The data with all that clients have inserted among the tables' own rows."""
    return _each_table(
        data,
        {
            (database, schema, table.name): replace(
                table,
                # The latest alone: a database of some weeks has more rows than anybody looks at.
                rows=storage.live_rows(ctx, schema, table),
                counted=table.counted + storage.inserted(ctx, schema, table),
            )
            for database, schema, table in _tables(data)
            if storage.inserted(ctx, schema, table)
        },
    )


def _counted_anew(ctx: ProcessContext, data: Cluster) -> Cluster:
    """The data as a server that has just started counts what comes in: from nothing."""
    fresh = {
        (database, schema, table.name): replace(table, counted=0)
        for database, schema, table in _tables(data)
        if table.counted
    }
    if fresh:
        data = _each_table(data, fresh)
        storage.write(ctx, data)
    return data


_NO_PASSWORD = """Error: Database is uninitialized and superuser password is not specified.
       You must specify POSTGRES_PASSWORD to a non-empty value for the
       superuser. For example, "-e POSTGRES_PASSWORD=password" on "docker run".

       You may also use "POSTGRES_HOST_AUTH_METHOD=trust" to allow all
       connections without a password. This is *not* recommended.

       See PostgreSQL documentation about "trust":
       https://www.postgresql.org/docs/current/auth-trust.html"""

_INITDB = """The files belonging to this database system will be owned by user "postgres".
This user must also own the server process.

The database cluster will be initialized with locale "en_US.utf8".
The default database encoding has accordingly been set to "UTF8".
The default text search configuration will be set to "english".

Data page checksums are disabled.

fixing permissions on existing directory %directory ... ok
creating subdirectories ... ok
selecting dynamic shared memory implementation ... posix
selecting default "max_connections" ... 100
selecting default "shared_buffers" ... 128MB
selecting default time zone ... Etc/UTC
creating configuration files ... ok
running bootstrap script ... ok
performing post-bootstrap initialization ... ok
initdb: warning: enabling "trust" authentication for local connections
initdb: hint: You can change this by editing pg_hba.conf or using the option -A, or --auth-local and --auth-host, the next time you run initdb.
syncing data to disk ... ok


Success. You can now start the database server using:

    pg_ctl -D %directory -l logfile start
"""
