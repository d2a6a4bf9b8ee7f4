"""System catalogues and views: what the server says of itself in tables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sregym_env.runtime.clock import seconds
from sregym_env.runtime.streams import keyed_bits, keyed_unit
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import totals
from sregym_env.sim.programs.postgres.catalog import TABLE_PRIVILEGES, Cluster, Database, Schema, Table
from sregym_env.sim.programs.postgres.expressions import moment
from sregym_env.sim.programs.postgres.sessions import BACKGROUND, PgSession
from sregym_env.sim.programs.postgres.storage import (
    PAGE,
    SETTINGS,
    count_rows,
    index_bytes,
    relation_bytes,
    server_version,
    setting,
    started_at,
    table_bytes,
)

FIRST_OID = 16_384
"""The first object identifier that is not the system's own."""

Columns = tuple[tuple[str, str], ...]
Rows = list[tuple[Any, ...]]


class Looking:
    """What a view can see: the server, its data as the session sees it, and everybody who is connected."""

    __slots__ = ("ctx", "data", "database", "sessions", "user")

    def __init__(
        self, ctx: ProcessContext, data: Cluster, database: str, user: str, sessions: tuple[PgSession, ...]
    ) -> None:
        self.ctx = ctx
        self.data = data
        self.database = database
        self.user = user
        self.sessions = sessions

    def tables(self) -> Iterator[tuple[Schema, Table]]:
        """All tables of the database, by schema."""
        found = self.data.databases[self.database]
        for schema in found.schemas.values():
            for table in schema.tables.values():
                yield schema, table

    def oid(self, kind: str, name: str) -> int:
        """The object identifier of something: a place in the order of its kind."""
        if kind == "database":
            return FIRST_OID + list(self.data.databases).index(name) if name in self.data.databases else 0
        if kind == "role":
            return 10 + list(self.data.roles).index(name) if name in self.data.roles else 0
        if kind == "schema":
            names = list(self.data.databases[self.database].schemas)
            return 2200 + names.index(name) if name in names else 0
        names = [f"{schema.name}.{table.name}" for schema, table in self.tables()]
        return FIRST_OID + 1000 + 5 * names.index(name) if name in names else 0

    def relation(self, oid: int) -> str:
        """The name of a table by its identifier; the number itself where there is none."""
        for schema, table in self.tables():
            if self.oid("table", f"{schema.name}.{table.name}") == oid:
                return table.name if schema.name == "public" else f"{schema.name}.{quoted(table.name)}"
        return str(oid)


def quoted(name: str) -> str:
    """A name as it has to be written: in quotes where it would mean something else without."""
    plain = name.replace("_", "a").isalnum() and name == name.lower() and not name[:1].isdigit()
    return name if plain and name not in ("order", "user", "table", "group", "select") else f'"{name}"'


def client_port(session: PgSession) -> int:
    """The port from which a client has connected; -1 for one through the socket."""
    return 40000 + session.pid % 20000 if session.address else -1


def _activity(look: Looking) -> Rows:
    start = moment(started_at(look.ctx))
    rows: Rows = []
    for pid, kind, wait, _ in BACKGROUND:
        user = "" if kind != "logical replication launcher" else next(iter(look.data.roles))
        rows.append((None, None, pid, None, None if not user else 10, user or None, "", None, None, None, start, None, None, None,
                     "Activity", wait, None, None, None, "", kind))  # fmt: skip
    for each in look.sessions:
        idle = each.state == "idle"
        begun = moment(_latest(look, each) if idle else each.changed or each.since)
        waits = (
            ("Lock", "relation")
            if each.wait
            else ("Timeout", "PgSleep")
            if each.state == "active" and _SLEEPS.match(each.query)
            else (("Client", "ClientRead") if each.state != "active" else (None, None))
        )
        rows.append(
            (look.oid("database", each.database), each.database, each.pid, None, look.oid("role", each.user), each.user,
             each.application, each.address or None, None, client_port(each),
             moment(each.since), None if idle else begun, begun, begun, *waits, each.state, None,
             None if idle else 750 + each.pid % 50, each.query, "client backend")
        )  # fmt: skip
    return rows


_SLEEPS = re.compile(r"\s*select\s+pg_sleep\b", re.IGNORECASE)


def _latest(look: Looking, session: PgSession) -> int:
    """When a session has last done something: those of the application's clients take turns with what is asked of the server."""
    ctx, since = look.ctx, session.changed or session.since
    rate = totals.present(ctx)
    if not session.address or not session.query or session.application or rate <= 0.0:
        return since
    serving = sum(bool(each.address and each.query and not each.application) for each in look.sessions)
    draw = keyed_unit("statement", ctx.process.key[0], session.pid, ctx.now())
    return max(since, ctx.now() - seconds(-math.log(1.0 - draw) * serving / rate))


def _locks(look: Looking) -> Rows:
    rows: Rows = []
    for each in look.sessions:
        for database, relation, mode in each.locks:
            rows.append(_lock(look, each, database, relation, mode, True))
        if each.wait:
            database, _, relation = each.wait.partition("/")
            rows.append(_lock(look, each, database, relation, each.asks, False))
        if each.state == "active" or each.locks:
            rows.append(("virtualxid", None, None, f"{each.pid % 90 + 3}/{each.pid % 800 + 2}", None,
                         f"{each.pid % 90 + 3}/{each.pid % 800 + 2}", each.pid, "ExclusiveLock", True, True, None))  # fmt: skip
    return rows


def _lock(
    look: Looking, each: PgSession, database: str, relation: str, mode: str, granted: bool
) -> tuple[Any, ...]:
    oid = look.oid("table", relation) if database == look.database else 0
    since = None if granted else moment(each.changed)
    virtual = f"{each.pid % 90 + 3}/{each.pid % 800 + 2}"
    return (
        "relation",
        look.oid("database", database),
        oid,
        None,
        None,
        virtual,
        each.pid,
        mode,
        granted,
        False,
        since,
    )


def _roles(look: Looking) -> Rows:
    return [
        (look.oid("role", r.name), r.name, r.superuser, True, r.createrole, r.createdb, r.login, r.replication, r.limit,
         "********", r.until or None, r.bypassrls)
        for r in look.data.roles.values()
    ]  # fmt: skip


def _users(look: Looking) -> Rows:
    return [
        (
            r.name,
            look.oid("role", r.name),
            r.createdb,
            r.superuser,
            r.replication,
            r.bypassrls,
            "********",
            r.until or None,
        )
        for r in look.data.roles.values()
        if r.login
    ]


def _shadow(look: Looking) -> Rows:
    return [
        (r.name, look.oid("role", r.name), r.createdb, r.superuser, r.replication, r.bypassrls,
         None if r.password is None else f"SCRAM-SHA-256$4096:{_salt(r.name, r.password)}", r.until or None)
        for r in look.data.roles.values()
        if r.login
    ]  # fmt: skip


def _salt(name: str, password: str) -> str:
    """What stands for a hashed password: it tells whether two are the same, and nothing else."""
    return f"{keyed_bits('scram', name, password):016x}${keyed_bits('key', name, password):016x}"


def _databases(look: Looking) -> Rows:
    return [
        (
            look.oid("database", d.name),
            d.name,
            look.oid("role", d.owner),
            6,
            d.name.startswith("template"),
            d.accepts,
            d.limit,
        )
        for d in look.data.databases.values()
    ]


def _tables(look: Looking) -> Rows:
    return [
        (s.name, t.name, t.owner, None, bool(t.keys or t.indexes), False, False, False)
        for s, t in look.tables()
    ]


def _classes(look: Looking) -> Rows:
    return [
        (look.oid("table", f"{s.name}.{t.name}"), t.name, look.oid("schema", s.name), look.oid("role", t.owner), "r",
         count_rows(look.ctx, s.name, t), max(relation_bytes(look.ctx, s.name, t) // PAGE, 1))
        for s, t in look.tables()
    ]  # fmt: skip


def _namespaces(look: Looking) -> Rows:
    found = look.data.databases[look.database].schemas.values()
    return [(look.oid("schema", s.name), s.name, look.oid("role", s.owner)) for s in found]


def _settings(look: Looking) -> Rows:
    return [(name, value, unit or None, when) for name, value, unit, when in settings(look.ctx)]


def settings(ctx: ProcessContext) -> list[tuple[str, str, str, str]]:
    """(name, value, unit, when a change takes effect) of every parameter, sorted."""
    found = []
    for name, (_, unit, when) in sorted(SETTINGS.items()):
        value = server_version(ctx) if name == "server_version" else setting(ctx, name)
        found.append((name, value, unit, when))
    return found


class _Asked:
    """What clients have asked of a server since it started, by kind of statement and table."""

    def __init__(self, look: Looking) -> None:
        self._counts = totals.answered(look.ctx)

    def of(self, schema: str, table: str) -> dict[str, float]:
        """Statements that were carried out on a table."""
        return {
            kind: sum(self._counts.get(f"{kind} {name}", (0.0, 0.0))[0] for name in _names_of(schema, table))
            for kind in ("select", "insert", "update", "delete", "upsert")
        }

    def refused(self, schema: str, table: str) -> float:
        """Statements that were not."""
        return sum(
            self._counts.get(f"{kind} {name}", (0.0, 0.0))[1]
            for kind in ("select", "insert", "update", "delete", "upsert")
            for name in _names_of(schema, table)
        )


def _names_of(schema: str, table: str) -> tuple[str, ...]:
    return (f"{schema}.{table}", table) if schema == "public" else (f"{schema}.{table}",)


def _statistics(look: Looking) -> Rows:
    asked = _Asked(look)
    rows: Rows = []
    for s, t in look.tables():
        made, count = asked.of(s.name, t.name), count_rows(look.ctx, s.name, t)
        # Who looks for a row by a key has an index for that, if the table has any.
        found, by_index = int(made["select"]), bool(indexes(t))
        updated, deleted = int(made["update"]), int(made["delete"])
        rows.append(
            (look.oid("table", f"{s.name}.{t.name}"), s.name, t.name, 0 if by_index else found, None,
             0 if by_index else found * count, found if by_index else 0, None, found if by_index else 0, count, updated, deleted, 0, 0,
             count, updated + deleted, count, count, None, None, None, None, 0, 0, 0, 0)
        )  # fmt: skip
    return rows


def _indexes(look: Looking) -> Rows:
    rows: Rows = []
    for s, t in look.tables():
        for name, columns, unique in indexes(t):
            kind = "UNIQUE INDEX" if unique else "INDEX"
            text = f"CREATE {kind} {name} ON {s.name}.{quoted(t.name)} USING btree ({', '.join(columns)})"
            rows.append((s.name, t.name, name, None, text))
    return rows


def indexes(table: Table) -> list[tuple[str, tuple[str, ...], bool]]:
    """(name, columns, unique) of every index of a table, those of its keys first."""
    found = []
    for key in table.keys:
        if key.kind == "primary":
            found.append((key.name or f"{table.name}_pkey", key.columns, True))
        elif key.kind == "unique":
            found.append((key.name or f"{table.name}_{'_'.join(key.columns)}_key", key.columns, True))
    return [*found, *table.indexes]


EMPTY_DATABASE = 7_700_000
"""Bytes of a database in which there is nothing but the system's own."""
_CHECKS = 60
"""Seconds between two visits of the autovacuum launcher to a database (``autovacuum_naptime``): a transaction each."""


def database_bytes(ctx: ProcessContext, found: Database) -> int:
    """Size of a database."""
    return EMPTY_DATABASE + sum(
        table_bytes(ctx, schema.name, table) + index_bytes(ctx, schema.name, table) * len(indexes(table))
        for schema in found.schemas.values()
        for table in schema.tables.values()
    )


def _stat_database(look: Looking) -> Rows:
    ctx, asked = look.ctx, _Asked(look)
    up = (ctx.now() - ctx.process.started_at) // 1_000_000
    visits = up // _CHECKS
    # What all databases share has a row of its own.
    rows: Rows = [
        (
            0,
            None,
            0,
            0,
            0,
            12,
            visits * 2,
            visits,
            visits,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            None,
            None,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            None,
        )
    ]
    for d in look.data.databases.values():
        made = dict.fromkeys(("select", "insert", "update", "delete", "upsert"), 0.0)
        refused, held = 0.0, 0
        for schema in d.schemas.values():
            for table in schema.tables.values():
                held += len(table.rows)
                refused += asked.refused(schema.name, table.name)
                for kind, count in asked.of(schema.name, table.name).items():
                    made[kind] += count
        statements = int(sum(made.values()))
        committed = (visits if d.accepts else 0) + statements
        fetched = int(made["select"] + made["update"] + made["delete"])
        open_ = [each for each in look.sessions if each.database == d.name]
        spent = sum(ctx.now() - each.since for each in open_) / 1000.0
        rows.append(
            (look.oid("database", d.name), d.name, len(open_), committed, int(refused), database_bytes(ctx, d) // 65_536,
             14 * committed + 3 * statements, 46 * (visits if d.accepts else 0) + fetched, fetched,
             held + int(made["insert"] + made["upsert"]), int(made["update"]), int(made["delete"]), 0, 0, 0, 0, None, None, 0, 0,
             round(spent, 3), round(statements * 0.3, 3), 0, len(open_), 0, 0, 0, None)
        )  # fmt: skip
    return rows


def _information_tables(look: Looking) -> Rows:
    return [(look.database, s.name, t.name, "BASE TABLE") for s, t in look.tables()]


def _information_columns(look: Looking) -> Rows:
    return [
        (
            look.database,
            s.name,
            t.name,
            c.name,
            index,
            None,
            "NO" if c.not_null else "YES",
            c.type.partition("(")[0],
        )
        for s, t in look.tables()
        for index, c in enumerate(t.columns, 1)
    ]


def _schemata(look: Looking) -> Rows:
    return [(look.database, s.name, s.owner) for s in look.data.databases[look.database].schemas.values()]


def _privileges(look: Looking) -> Rows:
    rows: Rows = []
    for s, t in look.tables():
        rows += [
            (t.owner, t.owner, look.database, s.name, t.name, each, "YES") for each in TABLE_PRIVILEGES[:-1]
        ]
        for role, privileges in t.grants.items():
            rows += [(t.owner, role, look.database, s.name, t.name, each, "NO") for each in privileges]
    return rows


def _extensions(look: Looking) -> Rows:
    found = look.data.databases[look.database].extensions
    return [(FIRST_OID + index, name, 10, "1.0") for index, name in enumerate(found)]


_USER_COLUMNS: Columns = (
    ("usename", "name"), ("usesysid", "oid"), ("usecreatedb", "boolean"), ("usesuper", "boolean"), ("userepl", "boolean"),
    ("usebypassrls", "boolean"), ("passwd", "text"), ("valuntil", "text"),
)  # fmt: skip
_ROLE_COLUMNS: Columns = (
    ("oid", "oid"), ("rolname", "name"), ("rolsuper", "boolean"), ("rolinherit", "boolean"), ("rolcreaterole", "boolean"),
    ("rolcreatedb", "boolean"), ("rolcanlogin", "boolean"), ("rolreplication", "boolean"), ("rolconnlimit", "integer"),
    ("rolpassword", "text"), ("rolvaliduntil", "text"), ("rolbypassrls", "boolean"),
)  # fmt: skip

VIEWS: Mapping[str, tuple[Columns, Callable[[Looking], Rows]]] = {
    "pg_stat_activity": (
        (("datid", "oid"), ("datname", "name"), ("pid", "integer"), ("leader_pid", "integer"), ("usesysid", "oid"),
         ("usename", "name"), ("application_name", "text"), ("client_addr", "inet"), ("client_hostname", "text"),
         ("client_port", "integer"), ("backend_start", "timestamp with time zone"),
         ("xact_start", "timestamp with time zone"), ("query_start", "timestamp with time zone"),
         ("state_change", "timestamp with time zone"), ("wait_event_type", "text"), ("wait_event", "text"),
         ("state", "text"), ("backend_xid", "text"), ("backend_xmin", "text"), ("query", "text"), ("backend_type", "text")),
        _activity,
    ),
    "pg_locks": (
        (("locktype", "text"), ("database", "oid"), ("relation", "oid"), ("virtualxid", "text"), ("transactionid", "text"),
         ("virtualtransaction", "text"), ("pid", "integer"), ("mode", "text"), ("granted", "boolean"),
         ("fastpath", "boolean"), ("waitstart", "timestamp with time zone")),
        _locks,
    ),
    "pg_roles": (_ROLE_COLUMNS, _roles),
    "pg_authid": (_ROLE_COLUMNS, _roles),
    "pg_user": (_USER_COLUMNS, _users),
    "pg_shadow": (_USER_COLUMNS, _shadow),
    "pg_database": (
        (("oid", "oid"), ("datname", "name"), ("datdba", "oid"), ("encoding", "integer"), ("datistemplate", "boolean"),
         ("datallowconn", "boolean"), ("datconnlimit", "integer")),
        _databases,
    ),
    "pg_tables": (
        (("schemaname", "name"), ("tablename", "name"), ("tableowner", "name"), ("tablespace", "name"),
         ("hasindexes", "boolean"), ("hasrules", "boolean"), ("hastriggers", "boolean"), ("rowsecurity", "boolean")),
        _tables,
    ),
    "pg_class": (
        (("oid", "oid"), ("relname", "name"), ("relnamespace", "oid"), ("relowner", "oid"), ("relkind", "text"),
         ("reltuples", "bigint"), ("relpages", "integer")),
        _classes,
    ),
    "pg_namespace": ((("oid", "oid"), ("nspname", "name"), ("nspowner", "oid")), _namespaces),
    "pg_settings": ((("name", "text"), ("setting", "text"), ("unit", "text"), ("context", "text")), _settings),
    "pg_stat_user_tables": (
        (("relid", "oid"), ("schemaname", "name"), ("relname", "name"), ("seq_scan", "bigint"),
         ("last_seq_scan", "timestamp with time zone"), ("seq_tup_read", "bigint"), ("idx_scan", "bigint"),
         ("last_idx_scan", "timestamp with time zone"), ("idx_tup_fetch", "bigint"), ("n_tup_ins", "bigint"), ("n_tup_upd", "bigint"),
         ("n_tup_del", "bigint"), ("n_tup_hot_upd", "bigint"), ("n_tup_newpage_upd", "bigint"), ("n_live_tup", "bigint"),
         ("n_dead_tup", "bigint"), ("n_mod_since_analyze", "bigint"), ("n_ins_since_vacuum", "bigint"),
         ("last_vacuum", "timestamp with time zone"), ("last_autovacuum", "timestamp with time zone"),
         ("last_analyze", "timestamp with time zone"), ("last_autoanalyze", "timestamp with time zone"), ("vacuum_count", "bigint"),
         ("autovacuum_count", "bigint"), ("analyze_count", "bigint"), ("autoanalyze_count", "bigint")),
        _statistics,
    ),
    "pg_indexes": (
        (("schemaname", "name"), ("tablename", "name"), ("indexname", "name"), ("tablespace", "name"), ("indexdef", "text")),
        _indexes,
    ),
    "pg_stat_database": (
        (("datid", "oid"), ("datname", "name"), ("numbackends", "integer"), ("xact_commit", "bigint"), ("xact_rollback", "bigint"),
         ("blks_read", "bigint"), ("blks_hit", "bigint"), ("tup_returned", "bigint"), ("tup_fetched", "bigint"),
         ("tup_inserted", "bigint"), ("tup_updated", "bigint"), ("tup_deleted", "bigint"), ("conflicts", "bigint"),
         ("temp_files", "bigint"), ("temp_bytes", "bigint"), ("deadlocks", "bigint"), ("checksum_failures", "bigint"),
         ("checksum_last_failure", "timestamp with time zone"), ("blk_read_time", "double precision"),
         ("blk_write_time", "double precision"), ("session_time", "double precision"), ("active_time", "double precision"),
         ("idle_in_transaction_time", "double precision"), ("sessions", "bigint"), ("sessions_abandoned", "bigint"),
         ("sessions_fatal", "bigint"), ("sessions_killed", "bigint"), ("stats_reset", "timestamp with time zone")),
        _stat_database,
    ),
    "pg_extension": ((("oid", "oid"), ("extname", "name"), ("extowner", "oid"), ("extversion", "text")), _extensions),
    "information_schema.tables": (
        (("table_catalog", "name"), ("table_schema", "name"), ("table_name", "name"), ("table_type", "text")),
        _information_tables,
    ),
    "information_schema.columns": (
        (("table_catalog", "name"), ("table_schema", "name"), ("table_name", "name"), ("column_name", "name"),
         ("ordinal_position", "integer"), ("column_default", "text"), ("is_nullable", "text"), ("data_type", "text")),
        _information_columns,
    ),
    "information_schema.schemata": (
        (("catalog_name", "name"), ("schema_name", "name"), ("schema_owner", "name")), _schemata,
    ),
    "information_schema.role_table_grants": (
        (("grantor", "name"), ("grantee", "name"), ("table_catalog", "name"), ("table_schema", "name"),
         ("table_name", "name"), ("privilege_type", "text"), ("is_grantable", "text")),
        _privileges,
    ),
}  # fmt: skip
"""Columns and rows by name: those of ``pg_catalog`` without their schema."""
