"""A server's data directory and settings: what the server, its clients and its drivers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import view
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.postgres.catalog import DATA_KEY, Cluster, Row, Table
from sregym_env.sim.programs.postgres.expressions import NUMERIC
from sregym_env.sim.programs.totals import served
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.process import Process

PGDATA = "/var/lib/postgresql/data"
MOST_GENERATED = 2_500
"""Rows of clients that a query looks at: the latest. The others are counted, and are there for whoever changes the table."""

SETTINGS: Mapping[str, tuple[str, str, str]] = {
    # name: (default, unit, when a change takes effect)
    "archive_mode": ("off", "", "postmaster"),
    "autovacuum": ("on", "", "sighup"),
    "client_encoding": ("UTF8", "", "user"),
    "client_min_messages": ("notice", "", "user"),
    "config_file": (f"{PGDATA}/postgresql.conf", "", "postmaster"),
    "data_directory": (PGDATA, "", "postmaster"),
    "datestyle": ("ISO, MDY", "", "user"),
    "deadlock_timeout": ("1s", "ms", "superuser"),
    "default_transaction_read_only": ("off", "", "user"),
    "effective_cache_size": ("4GB", "", "user"),
    "hba_file": (f"{PGDATA}/pg_hba.conf", "", "postmaster"),
    "hot_standby": ("on", "", "postmaster"),
    "idle_in_transaction_session_timeout": ("0", "ms", "user"),
    "listen_addresses": ("*", "", "postmaster"),
    "lock_timeout": ("0", "ms", "user"),
    "log_connections": ("off", "", "superuser-backend"),
    "log_lock_waits": ("off", "", "superuser"),
    "log_min_duration_statement": ("-1", "ms", "superuser"),
    "log_statement": ("none", "", "superuser"),
    "maintenance_work_mem": ("64MB", "", "user"),
    "max_connections": ("100", "", "postmaster"),
    "max_locks_per_transaction": ("64", "", "postmaster"),
    "max_wal_size": ("1GB", "", "sighup"),
    "password_encryption": ("scram-sha-256", "", "user"),
    "port": ("5432", "", "postmaster"),
    "reserved_connections": ("0", "", "postmaster"),
    "search_path": ('"$user", public', "", "user"),
    "server_encoding": ("UTF8", "", "internal"),
    "server_version": ("", "", "internal"),
    "shared_buffers": ("128MB", "", "postmaster"),
    "shared_preload_libraries": ("", "", "postmaster"),
    "ssl": ("off", "", "sighup"),
    "statement_timeout": ("0", "ms", "user"),
    "superuser_reserved_connections": ("3", "", "postmaster"),
    "synchronous_commit": ("on", "", "user"),
    "temp_buffers": ("8MB", "", "user"),
    "timezone": ("Etc/UTC", "", "user"),
    "transaction_isolation": ("read committed", "", "user"),
    "wal_level": ("replica", "", "postmaster"),
    "work_mem": ("4MB", "", "user"),
}
"""Parameters as far as somebody looks at them, with the defaults of PostgreSQL 17 in its image."""


def server_version(ctx: ProcessContext) -> str:
    """The version of the binary, ``17.6``."""
    image = ctx.image
    binary = image.binaries.get(ctx.process.binary) or image.binaries.get("postgres")
    return str(binary.settings if binary is not None else "17.6")


def data_directory(process: Process) -> str:
    """Where the server keeps its files."""
    return process.env.get("PGDATA") or PGDATA


def place(process: Process) -> str:
    """Where the data lies in the world's volumes."""
    path = data_directory(process)
    mount = view.mount_of(process, path)
    return f"{view.overlay_key(process)}{path}" if mount is None else view.storage_key(process, mount)


def lasts(process: Process) -> bool:
    """Whether the data outlives the container."""
    return view.mount_of(process, data_directory(process)) is not None


def _key(process: Process) -> str:
    mount = view.mount_of(process, data_directory(process))
    inside = "" if mount is None else view.relative(mount, data_directory(process))
    return f"{inside}/{DATA_KEY}" if inside else DATA_KEY


def read(ctx: ProcessContext) -> Cluster | None:
    """The data, read from the disk; None if there is none. Raises OSError(EIO)."""
    ctx.volume(data_directory(ctx.process))
    return stored(ctx)


def stored(ctx: ProcessContext) -> Cluster | None:
    """The data as the running server knows it, without touching the disk."""
    content = ctx.stored(place(ctx.process))
    found = None if content is None else content.get(_key(ctx.process))
    return found if isinstance(found, Cluster) else None


def write(ctx: ProcessContext, data: Cluster) -> None:
    """Write the data files, beside what else lies there."""
    process = ctx.process
    where, key = place(process), _key(process)
    data = replace(data, checkpoint=f"{where}@{ctx.now()}")
    prefix = key.removesuffix(DATA_KEY)
    files = {prefix + name: text for name, text in data.files().items()}
    ctx.write_volume(data_directory(process), {**(ctx.stored(where) or {}), **files, key: data})


# --- settings -----------------------------------------------------------------------------------------------


def setting(ctx: ProcessContext, name: str) -> str:
    """A parameter of the running server: what its command line, else ``ALTER SYSTEM``, has set; else the default."""
    given: Mapping[str, str] = ctx.process.state.get("settings", {})
    return given.get(name, SETTINGS[name][0])


def command_line(argv: tuple[str, ...]) -> dict[str, str]:
    """Parameters of ``-c name=value``, ``--name=value`` and ``-p``."""
    found: dict[str, str] = {}
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word = words.pop(0)
        elif word == "-p" and words:
            word = f"port={words.pop(0)}"
        elif word == "-N" and words:
            word = f"max_connections={words.pop(0)}"
        elif word.startswith(("-c", "--")):
            word = word[2:]
        else:
            continue
        name, equals, value = word.partition("=")
        if equals:
            found[name.strip().lower().replace("-", "_")] = value.strip().strip("'")
    return found


def milliseconds(text: str) -> int:
    """A time-out: ``3s``, ``500ms``, ``2min``, or plain milliseconds; 0 for what is none."""
    for unit, scale in (("ms", 1), ("min", 60_000), ("s", 1000), ("h", 3_600_000)):
        if text.endswith(unit) and text[: -len(unit)].strip().isdecimal():
            return int(text[: -len(unit)]) * scale
    return whole(text, 0)


# --- rows that clients have inserted ------------------------------------------------------------------------


def inserted(ctx: ProcessContext, schema: str, table: Table) -> int:
    """How many rows clients have inserted that do not stand among the table's own yet."""
    return max(int(served(ctx, f"insert {schema}.{table.name}")) - table.counted, 0)


def count_rows(ctx: ProcessContext, schema: str, table: Table) -> int:
    """How many rows a table has."""
    return len(table.rows) + inserted(ctx, schema, table)


PAGE = 8192
_WIDTHS = {"smallint": 2, "integer": 4, "boolean": 1, "bigint": 8, "date": 4, "uuid": 16}
_ROW, _TEXT, _OTHER = 28, 37, 8
"""Assumed bytes of a row beside its columns (its header and line pointer), of a text (a UUID with its length), of anything else."""
_ENTRIES = 140
"""Assumed entries of a page of an index."""


def relation_bytes(ctx: ProcessContext, schema: str, table: Table) -> int:
    """Size of a table's rows alone (``pg_relation_size``)."""
    width = _ROW + sum(
        _WIDTHS.get(kind, _TEXT if kind.startswith(("text", "character")) else _OTHER)
        for kind in (column.type.partition("(")[0] for column in table.columns)
    )
    return PAGE * -(-count_rows(ctx, schema, table) // max(PAGE // width, 1))


def table_bytes(ctx: ProcessContext, schema: str, table: Table) -> int:
    """The same with its maps and the place for long values (``pg_table_size``)."""
    heap = relation_bytes(ctx, schema, table)
    toast = PAGE if any(column.type.startswith(("text", "character")) for column in table.columns) else 0
    return heap + toast + (4 * PAGE if heap > 4 * PAGE else 0)


def index_bytes(ctx: ProcessContext, schema: str, table: Table) -> int:
    """Size of one of a table's indexes."""
    rows = count_rows(ctx, schema, table)
    return PAGE * (1 + (1 + rows // _ENTRIES if rows else 0))


def live_rows(ctx: ProcessContext, schema: str, table: Table, most: int | None = None) -> tuple[Row, ...]:
    """The rows of a table: its own, and the latest that clients have inserted since; the first ones, where ``most`` is given."""
    count = inserted(ctx, schema, table)
    if most is not None:
        count = min(count, max(most - len(table.rows), 0))
    return _with_inserted(ctx, table, max(count - MOST_GENERATED, 0), count)


def all_rows(ctx: ProcessContext, schema: str, table: Table) -> tuple[Row, ...]:
    """Every row of a table, for whoever is about to change it."""
    return _with_inserted(ctx, table, 0, inserted(ctx, schema, table))


def _with_inserted(ctx: ProcessContext, table: Table, first: int, end: int) -> tuple[Row, ...]:
    return table.rows + tuple(_row(ctx, table, table.counted + index) for index in range(first, end))


def _row(ctx: ProcessContext, table: Table, index: int) -> Row:
    """What a client has inserted as its ``index``-th row: plausible, and the same whenever somebody looks."""
    return tuple(_cell(ctx, column.name, column.type, index) for column in table.columns)


def _cell(ctx: ProcessContext, name: str, kind: str, index: int) -> Any:
    bits = keyed_bits(ctx.process.key[0], name, index)
    if kind in NUMERIC:
        return bits % 10 + 1 if "quantity" in name else bits % 900
    if name.endswith("_id"):
        text = f"{bits:016x}{keyed_bits(name, index, 1):016x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:32]}"
    if "currency" in name:
        return "USD"
    return {
        "street_address": "1600 Amphitheatre Parkway", "city": "Mountain View", "state": "CA", "country": "United States",
        "zip_code": "94043",
    }.get(name, f"{name} {index}")  # fmt: skip


# --- the log ------------------------------------------------------------------------------------------------


def line(pid: int | str, level: str, text: str) -> str:
    """One line of the log, with a placeholder for its time."""
    return f"{{time|%Y-%m-%d %H:%M:%S.%L}} UTC [{pid}] {level}:  {text}"


def log(ctx: ProcessContext, pid: int, level: str, text: str, delay: float = 0.0) -> None:
    """Write a line to the server's log, ``delay`` seconds from now."""
    if not ctx.world.unread:
        ctx.log(stamped(line(pid, level, text), ctx.wall() + seconds(delay)), delay=delay)


def started_at(ctx: ProcessContext) -> int:
    """When the server began, microseconds since the Unix epoch, in whole seconds."""
    return ctx.process.started_at // SECOND * SECOND
