"""One connection to a server, and what the statements that it is sent do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from dataclasses import fields as parts_of
from types import MappingProxyType
from typing import Any

from sregym_env.runtime import effort
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.postgres import sessions, storage, views
from sregym_env.sim.programs.postgres.catalog import (
    TABLE_PRIVILEGES,
    Cluster,
    Database,
    Grants,
    Role,
    Row,
    Schema,
    Table,
    fresh,
)
from sregym_env.sim.programs.postgres.errors import PgError, Refused, refuse
from sregym_env.sim.programs.postgres.expressions import (
    Evaluator,
    Field,
    Scope,
    aggregated,
    converted,
    located,
    moment,
    shown,
)
from sregym_env.sim.programs.postgres.parse import parsed
from sregym_env.sim.programs.postgres.queries import MOST_ROWS, answer
from sregym_env.sim.programs.postgres.sessions import PgSession
from sregym_env.sim.programs.postgres.tree import (
    AlterDatabase,
    AlterRole,
    AlterTable,
    Apply,
    ColumnDef,
    ColumnRef,
    Create,
    CreateIndex,
    CreateTable,
    Delete,
    Drop,
    Explain,
    Expression,
    Grant,
    Insert,
    KeyDef,
    Literal_,
    Lock,
    Maintain,
    Name,
    Select,
    SetParameter,
    Show,
    Source,
    Statement,
    Transaction,
    Update,
)

MOST_LOOKED_AT = 120_000
"""Rows that a statement may look at, those of its inner queries every time: a real server would need minutes."""
ROW_EFFORT = 10.0
"""What a row costs (units of ``runtime/effort.py``)."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a statement has brought about."""

    tag: str
    """``SELECT 3``, ``CREATE TABLE``."""
    fields: tuple[Field, ...] | None = None
    rows: tuple[Row, ...] = ()
    notices: tuple[str, ...] = ()
    """``WARNING:  ...``, ``NOTICE:  ...``."""


class Waits(Exception):
    """A statement that waits for a lock that somebody else holds."""

    def __init__(self, table: str, mode: str, holder: PgSession) -> None:
        super().__init__(table)
        self.table = table
        self.mode = mode
        self.holder = holder


class Sleeps(Exception):
    """A statement that sleeps, and then has this result."""

    def __init__(self, seconds: float, result: Result) -> None:
        super().__init__(seconds)
        self.seconds = seconds
        self.result = result


class Backend:
    """A connection. Its transaction lives here until it is committed; its locks stand in the server's list of sessions
    where it has an ``identity`` there, and otherwise nobody has the time to meet them."""

    def __init__(
        self,
        server: ProcessContext,
        user: str,
        database: str,
        *,
        identity: str = "",
        address: str = "",
        application: str = "psql",
    ) -> None:
        self.server = server
        self.user = user
        self.database = database
        self.identity = identity
        self.address = address
        self.application = application
        self.settings: dict[str, str] = {}
        self.work: Cluster | None = None
        """The data as the open transaction has changed it; None where none is open."""
        self.implicit = False
        """Whether the open transaction is only that of a request with several statements."""
        self.failed = False
        self.locks: tuple[sessions.LockHeld, ...] = ()
        self.notices: list[str] = []
        self.query = ""
        self.since = server.now()
        self.pid = sessions.backend_pid(server, identity or f"{address}/psql/0", self.since)
        self._slept: float | None = None
        self._looked_at = 0

    # --- the data -------------------------------------------------------------------------------------

    @property
    def data(self) -> Cluster:
        """What this connection sees."""
        if self.work is not None:
            return self.work
        found = storage.stored(self.server)
        if found is None:
            raise Refused(PgError("FATAL", "57P01", "terminating connection due to administrator command"))
        return found

    def _write(self, data: Cluster) -> None:
        if self.work is not None:
            self.work = data
        else:
            storage.write(self.server, data)

    @property
    def _here(self) -> Database:
        return self.data.databases[self.database]

    def setting(self, name: str) -> str:
        """A parameter as this session has it."""
        known = self.settings.get(name)
        if known is not None:
            return known
        role = self.data.roles.get(self.user)
        given = dict(role.settings) if role else {}
        if name in given:
            return given[name]
        if name == "server_version":
            return f"{storage.server_version(self.server)} (Debian {storage.server_version(self.server)}-1.pgdg13+1)"
        return storage.setting(self.server, name)

    # --- statements -----------------------------------------------------------------------------------

    def run(self, sql: str) -> Result:
        """Carry one statement out. Raises Refused, Waits, Sleeps."""
        self.query = sql
        self.notices = []
        self._slept = None
        self._looked_at = 0
        statement = self._parsed(sql)
        if self.failed and not (
            isinstance(statement, Transaction) and statement.kind in ("commit", "rollback")
        ):
            text = "current transaction is aborted, commands ignored until end of transaction block"
            raise refuse("25P02", text)
        try:
            result = self._statement(statement)
        except Refused:
            self.failed = self.work is not None
            raise
        if self.notices:
            result = replace(result, notices=(*self.notices, *result.notices))
        if self._slept is not None:
            raise Sleeps(self._slept, result)
        return result

    def _parsed(self, sql: str) -> Statement:
        try:
            return parsed(sql)
        except Refused:
            self.failed = self.work is not None
            raise
        except RecursionError:
            raise refuse("54001", "stack depth limit exceeded") from None

    def begin(self) -> None:
        """Open a transaction, if none is open."""
        if self.work is None:
            self.work = self.data

    def end(self, *, commit: bool) -> None:
        """Close the transaction, if one is open, and let its locks go."""
        if self.work is not None and commit and not self.failed:
            storage.write(self.server, self.work)
        self.work = None
        self.implicit = self.failed = False
        self.locks = ()

    def _statement(self, statement: Statement) -> Result:
        match statement:
            case Select():
                return self._select(statement)
            case Insert():
                return self._insert(statement)
            case Update():
                return self._update(statement)
            case Delete():
                return self._delete(statement)
            case Transaction():
                return self._transaction(statement)
            case Lock():
                return self._lock(statement)
            case SetParameter():
                return self._set(statement)
            case Show():
                return self._show(statement.name)
            case Explain():
                return self._explain(statement)
            case Maintain():
                return self._maintain(statement)
            case Create():
                return self._create(statement)
            case CreateTable():
                return self._create_table(statement)
            case CreateIndex():
                return self._create_index(statement)
            case Drop():
                return self._drop(statement)
            case AlterRole():
                return self._alter_role(statement)
            case AlterTable():
                return self._alter_table(statement)
            case AlterDatabase():
                return self._alter_database(statement)
            case Grant():
                return self._grant(statement)

    def _transaction(self, statement: Transaction) -> Result:
        match statement.kind:
            case "begin":
                if self.work is not None and not self.implicit:
                    self.notices.append("WARNING:  there is already a transaction in progress")
                self.begin()
                self.implicit = False
                return Result("BEGIN")
            case "savepoint":
                return Result("SAVEPOINT")
        if self.work is None:
            self.notices.append("WARNING:  there is no transaction in progress")
        rolled = self.failed or statement.kind == "rollback"
        self.end(commit=not rolled)
        return Result("ROLLBACK" if rolled else "COMMIT")

    # --- tables and locks -----------------------------------------------------------------------------

    def _found(self, name: Name) -> tuple[Schema, Table]:
        """A table by its name. Raises Refused."""
        here = self._here
        if name.schema and name.schema not in here.schemas:
            raise refuse("42P01", f'relation "{name}" does not exist', position=name.position)
        for schema in (name.schema,) if name.schema else self._path():
            inside = here.schemas.get(schema)
            if inside is not None and name.name in inside.tables:
                self._may(inside.owner, inside.grants, "USAGE", "schema", inside.name, name.position)
                return inside, inside.tables[name.name]
        raise refuse("42P01", f'relation "{name}" does not exist', position=name.position)

    def _path(self) -> tuple[str, ...]:
        path = [each.strip().strip("\"'") for each in self.setting("search_path").split(",")]
        return tuple(self.user if each == "$user" else each for each in path)

    def _may(
        self, owner: str, grants: Grants, privilege: str, kind: str, name: str, position: int = -1
    ) -> None:
        if not self.data.may(self.user, owner, grants, privilege):
            raise refuse(
                "42501", f"permission denied for {kind} {name}", position=position if kind == "schema" else -1
            )

    def _table(self, name: Name, privilege: str, mode: str) -> tuple[Schema, Table]:
        """A table that a statement uses: allowed, and locked."""
        schema, table = self._found(name)
        self._may(table.owner, table.grants, privilege, "table", table.name)
        self._take(f"{schema.name}.{table.name}", mode)
        return schema, table

    def _take(self, relation: str, mode: str) -> None:
        """Take a lock for as long as the transaction lasts. Raises Waits."""
        holder = sessions.holder(self.server, self.identity, self.database, relation, mode)
        if holder is not None:
            raise Waits(relation, mode, holder)
        held = (self.database, relation, mode)
        if self.work is not None and held not in self.locks:
            self.locks = (*self.locks, held)

    def _lock(self, lock: Lock) -> Result:
        if self.work is None:
            raise refuse("25P01", "LOCK TABLE can only be used in transaction blocks")
        for name in lock.tables:
            if name.schema and name.schema not in self._here.schemas:
                raise refuse("3F000", f'schema "{name.schema}" does not exist')
            schema, table = self._found(name)
            wanted = (
                ("SELECT",)
                if lock.mode == "AccessShareLock"
                else ("UPDATE", "DELETE", "TRUNCATE", "MAINTAIN")
            )
            if lock.mode == "RowExclusiveLock":
                wanted = ("INSERT", *wanted)
            if not any(self.data.may(self.user, table.owner, table.grants, each) for each in wanted):
                raise refuse("42501", f"permission denied for table {table.name}")
            try:
                self._take(f"{schema.name}.{table.name}", lock.mode)
            except Waits:
                if lock.nowait:
                    raise refuse("55P03", f'could not obtain lock on relation "{table.name}"') from None
                raise
        return Result("LOCK TABLE")

    # --- queries --------------------------------------------------------------------------------------

    def _select(self, select: Select) -> Result:
        shortened = self._shortened(select)
        if shortened is not None:
            return shortened
        fields, rows = answer(select, self._read, self)
        return Result(f"SELECT {len(rows)}", fields, tuple(rows))

    def _shortened(self, select: Select) -> Result | None:
        """``SELECT count(*) FROM table``, and the first rows of a table: without looking at the others."""
        source = select.source
        plain = select.where is None and not (
            select.group or select.having or select.order or select.distinct
        )
        if not plain or select.union or not (isinstance(source, Source) and isinstance(source.of, Name)):
            return None
        if source.of.name in views.VIEWS or str(source.of) in views.VIEWS:
            return None
        one = select.items[0][0] if len(select.items) == 1 else None
        counts = isinstance(one, Apply) and one.name == "count" and one.star
        if counts and not (select.limit or select.offset):
            schema, table = self._table(source.of, "SELECT", "AccessShareLock")
            count = len(table.rows) + storage.inserted(self.server, schema.name, table)
            return Result("SELECT 1", (Field("", select.items[0][1] or "count", "bigint"),), ((count,),))
        most, first = select.limit, select.offset
        numbers = [each.value for each in (most, first) if isinstance(each, Literal_)]
        if not isinstance(most, Literal_) or len(numbers) != 1 + (first is not None):
            return None
        if any(aggregated(each) for each, _ in select.items) or not all(
            isinstance(n, int) and n >= 0 for n in numbers
        ):
            return None
        fields, rows = answer(select, lambda of, outer, row: self._read(of, outer, row, sum(numbers)), self)
        return Result(f"SELECT {len(rows)}", fields, tuple(rows))

    def rows(self, select: Select, outer: Scope | None, row: Sequence[Any]) -> list[Row]:
        """The rows of a query inside another."""
        return answer(select, self._read, self, outer, row)[1]

    def _read(
        self, source: Source, outer: Scope | None, row: Sequence[Any], most: int | None = None
    ) -> tuple[tuple[Field, ...], list[Row]]:
        of = source.of
        if isinstance(of, Select):
            fields, rows = answer(of, self._read, self, outer, row)
            return tuple(Field(source.alias, each.name, each.type) for each in fields), rows
        if isinstance(of, Apply):
            return self._series(of, source.alias)
        alias = source.alias or of.name
        view = views.VIEWS.get(of.name if of.schema in ("", "pg_catalog") else str(of))
        if view is not None and (of.schema or not self._shadowed(of)):
            if of.name in ("pg_shadow", "pg_authid") and not self.data.is_superuser(self.user):
                raise refuse(
                    "42501",
                    f"permission denied for {'view' if of.name == 'pg_shadow' else 'table'} {of.name}",
                )
            columns, rows_of = view
            return tuple(Field(alias, name, kind) for name, kind in columns), rows_of(self._looking())
        schema, table = self._table(of, "SELECT", "AccessShareLock")
        live = storage.live_rows(self.server, schema.name, table, most)
        if len(live) > MOST_ROWS:
            raise refuse("53200", "out of memory")
        return tuple(Field(alias, each.name, each.type) for each in table.columns), list(live)

    def _shadowed(self, name: Name) -> bool:
        return any(
            name.name in self._here.schemas[each].tables
            for each in self._path()
            if each in self._here.schemas
        )

    def _series(self, call: Apply, alias: str) -> tuple[tuple[Field, ...], list[Row]]:
        evaluator = Evaluator(Scope(()), self)
        values = [evaluator.value(each, ()) for each in call.arguments]
        name = alias or call.name
        if (
            call.name == "generate_series"
            and len(values) in (2, 3)
            and all(isinstance(v, int) for v in values)
        ):
            step = values[2] if len(values) == 3 else 1
            if not step:
                raise refuse("22023", "step size cannot equal zero")
            numbers = range(values[0], values[1] + (1 if step > 0 else -1), step)
            if len(numbers) > MOST_ROWS:
                raise refuse("53200", "out of memory")
            return (Field(name, name, "integer"),), [(each,) for each in numbers]
        found = evaluator.value(call, ())
        rows = [(each,) for each in found] if isinstance(found, tuple) else [(found,)]
        return (Field(name, name, evaluator.type(call)),), rows

    def _looking(self) -> views.Looking:
        known = tuple(
            one
            for key, each in sessions.sessions(self.server).items()
            if key != self.identity
            for one in each.each
        )
        known += tuple(one for each in sessions.queued(self.server).values() for one in each.each)
        now = self.server.now()
        mine = PgSession(
            self.pid, self.user, self.database, self.address, self.since, self.application, "active", self.query, now,
            locks=self.locks,
        )  # fmt: skip
        return views.Looking(self.server, self.data, self.database, self.user, (*known, mine))

    def _explain(self, explain: Explain) -> Result:
        inner = explain.statement
        lines = ["Result  (cost=0.00..0.01 rows=1 width=4)"]
        if (
            isinstance(inner, Select)
            and isinstance(inner.source, Source)
            and isinstance(inner.source.of, Name)
        ):
            schema, table = self._table(inner.source.of, "SELECT", "AccessShareLock")
            count = len(storage.live_rows(self.server, schema.name, table))
            cost = 1 + count / 100
            scan = f"Seq Scan on {views.quoted(table.name)}  (cost=0.00..{cost:.2f} rows={count} width={32 * len(table.columns)})"
            lines = [scan + (f" (actual time=0.011..0.014 rows={count} loops=1)" if explain.analyze else "")]
        if explain.analyze:
            lines += ["Planning Time: 0.086 ms", "Execution Time: 0.034 ms"]
        return Result("EXPLAIN", (Field("", "QUERY PLAN"),), tuple((each,) for each in lines))

    # --- functions of the server ------------------------------------------------------------------------

    def function(self, name: str, arguments: Sequence[Any]) -> Any:
        """A function of the server. Raises KeyError for one that it does not have, Refused."""
        return _FUNCTIONS[name](self, *arguments)

    def cast(self, kind: str, value: Any) -> Any:
        """``regclass``: the name of an object by its identifier, and back."""
        if kind != "regclass":
            return shown(value)
        if isinstance(value, int):
            return self._looking().relation(value)
        schema, dot, table = str(value).rpartition(".")
        self._found(Name(table.strip('"'), schema if dot else ""))
        return str(value)

    def spend(self, rows: int) -> None:
        """Note that so many rows are looked at. Raises Refused, EffortExceeded."""
        self._looked_at += rows
        effort.spend(rows * ROW_EFFORT)
        if self._looked_at > MOST_LOOKED_AT:
            raise refuse("57014", "canceling statement due to statement timeout")

    def sleep(self, seconds: float) -> None:
        """Have the statement take that long."""
        self._slept = (self._slept or 0.0) + max(seconds, 0.0)

    def terminate(self, pid: Any, *, only_cancel: bool = False) -> bool:
        """End another session, or what it does. Raises Refused."""
        others = (*sessions.sessions(self.server).values(), *sessions.queued(self.server).values())
        found = next((each for each in others if pid in each.pids), None)
        if found is None:
            if pid != self.pid:
                self.notices.append(f"WARNING:  PID {shown(pid)} is not a PostgreSQL backend process")
                return False
            raise Refused(PgError("FATAL", "57P01", "terminating connection due to administrator command"))
        allowed = self.data.is_superuser(self.user) or found.user in self.data.roles_of(self.user)
        if not allowed and "pg_signal_backend" not in self.data.roles_of(self.user):
            what = "cancel query" if only_cancel else "terminate process"
            raise refuse("42501", f"permission denied to {what}")
        if only_cancel:
            return sessions.cancelled(self.server, pid)
        storage.log(self.server, pid, "FATAL", "terminating connection due to administrator command")
        if found.state == "active" and found.query:
            storage.log(self.server, pid, "STATEMENT", found.query)
        return bool(sessions.ended(self.server, pid))

    # --- rows ---------------------------------------------------------------------------------------------

    def _settled(self, schema: Schema, table: Table) -> Table:
        """The table with the rows that clients have inserted so far among its own."""
        count = storage.inserted(self.server, schema.name, table)
        if not count:
            return table
        rows = storage.all_rows(self.server, schema.name, table)
        return replace(table, rows=rows, counted=table.counted + count)

    def _insert(self, insert: Insert) -> Result:
        schema, table = self._table(insert.table, "INSERT", "RowExclusiveLock")
        table = self._settled(schema, table)
        names = insert.columns or tuple(each.name for each in table.columns)
        for index, name in enumerate(names):
            if table.place(name) is None:
                place = insert.positions[index] if insert.positions else -1
                text = f'column "{name}" of relation "{table.name}" does not exist'
                raise refuse("42703", text, position=place)
        evaluator = Evaluator(Scope(()), self)
        given: list[tuple[Any, ...]] = []
        if isinstance(insert.rows, Select):
            given = [tuple(each) for each in answer(insert.rows, self._read, self)[1]]
        else:
            for row in insert.rows:
                given.append(tuple(_DEFAULT if each is None else evaluator.value(each, ()) for each in row))
        made: list[Row] = []
        for number, values in enumerate(given):
            if len(values) > len(names):
                extra = insert.rows[0][len(names)] if isinstance(insert.rows, tuple) else None
                place = extra.position if isinstance(extra, Literal_) else -1
                raise refuse("42601", "INSERT has more expressions than target columns", position=place)
            if insert.columns and len(values) < len(names):
                place = insert.positions[len(values)] if insert.positions else -1
                raise refuse("42601", "INSERT has more target columns than expressions", position=place)
            written = (
                dict(zip(names, insert.rows[number], strict=False)) if isinstance(insert.rows, tuple) else {}
            )
            table, row = self._completed(table, dict(zip(names, values, strict=False)), written)
            clash = self._clash(table, row, made)
            if clash is not None:
                if insert.skip_conflicts:
                    continue
                raise clash
            self._referenced(table, row)
            made.append(row)
        self._write(
            self.data.with_table(self.database, schema.name, replace(table, rows=(*table.rows, *made)))
        )
        return self._returned(f"INSERT 0 {len(made)}", insert.returning, table, made)

    def _completed(
        self, table: Table, given: Mapping[str, Any], places: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[Table, Row]:
        """A whole row: defaults put in, values converted, nulls refused."""
        evaluator = Evaluator(Scope(()), self)
        row: list[Any] = []
        for column in table.columns:
            value = given.get(column.name, _DEFAULT)
            if column.generated is not None and value is not _DEFAULT:
                text = f'cannot insert a non-DEFAULT value into column "{column.name}"'
                raise refuse("428C9", text, detail=_GENERATED.format(column.name))
            if value is _DEFAULT:
                if column.identity:
                    table = replace(table, last=table.last + 1)
                    value = table.last
                else:
                    value = None if column.default is None else evaluator.value(column.default, ())
            with located(places.get(column.name)):
                row.append(converted(value, column.type, self.cast))
        for place, column in enumerate(table.columns):
            if column.generated is not None:
                row[place] = self._added(table, column, row)
        for column, value in zip(table.columns, row, strict=True):
            if value is None and (column.not_null or column.name in table.primary):
                raise refuse(
                    "23502",
                    f'null value in column "{column.name}" of relation "{table.name}" violates not-null constraint',
                    detail=f"Failing row contains ({', '.join('null' if v is None else shown(v) for v in row)}).",
                )
        return table, tuple(row)

    def _added(self, table: Table, column: ColumnDef, row: Sequence[Any]) -> Any:
        """What a column holds in a row that nobody has given it a value for."""
        if column.generated is not None:
            return converted(self._over(table).value(column.generated, row), column.type, self.cast)
        return None if column.default is None else Evaluator(Scope(()), self).value(column.default, ())

    @staticmethod
    def _clash(table: Table, row: Row, made: Sequence[Row]) -> Refused | None:
        for name, columns, unique in views.indexes(table):
            places = [table.place(each) for each in columns]
            key = tuple(row[place] for place in places if place is not None)
            if not unique or None in key:
                continue
            if any(tuple(each[p] for p in places if p is not None) == key for each in (*table.rows, *made)):
                return refuse(
                    "23505",
                    f'duplicate key value violates unique constraint "{name}"',
                    detail=f"Key ({', '.join(columns)})=({', '.join(map(shown, key))}) already exists.",
                )
        return None

    def _referenced(self, table: Table, row: Row) -> None:
        """Whether what a row refers to is there. Raises Refused."""
        for key in table.keys:
            if key.kind != "foreign" or key.references is None:
                continue
            values = tuple(row[place] for place in map(table.place, key.columns) if place is not None)
            if None in values:
                continue
            schema, other = self._target(key.references)
            places = [place for place in map(other.place, key.foreign or other.primary) if place is not None]
            live = storage.live_rows(self.server, schema.name, other)
            if not any(tuple(each[place] for place in places) == values for each in live):
                name = key.name or f"{table.name}_{'_'.join(key.columns)}_fkey"
                raise refuse(
                    "23503",
                    f'insert or update on table "{table.name}" violates foreign key constraint "{name}"',
                    detail=f"Key ({', '.join(key.columns)})=({', '.join(map(shown, values))}) is not present in table "
                    f'"{other.name}".',
                )

    def _target(self, name: Name) -> tuple[Schema, Table]:
        """The table of a foreign key, whoever asks."""
        for schema in (name.schema,) if name.schema else self._path():
            inside = self._here.schemas.get(schema)
            if inside is not None and name.name in inside.tables:
                return inside, inside.tables[name.name]
        raise refuse("42P01", f'relation "{name}" does not exist', position=name.position)

    def _returned(
        self, tag: str, returning: tuple[tuple[Expression, str], ...], table: Table, rows: Sequence[Row]
    ) -> Result:
        if not returning:
            return Result(tag)
        fields = tuple(Field(table.name, each.name, each.type) for each in table.columns)
        source = Source(Select(), table.name)
        found, out = answer(Select(returning, source), lambda *_: (fields, list(rows)), self)
        return Result(tag, found, tuple(out))

    def _update(self, update: Update) -> Result:
        schema, table = self._table(update.table, "UPDATE", "RowExclusiveLock")
        table = self._settled(schema, table)
        evaluator = self._over(table)
        computed = {each.name for each in table.columns if each.generated is not None}
        for name, _, position in update.sets:
            if table.place(name) is None:
                text = f'column "{name}" of relation "{table.name}" does not exist'
                raise refuse("42703", text, position=position)
            if name in computed:
                raise refuse(
                    "428C9", f'column "{name}" can only be updated to DEFAULT', detail=_GENERATED.format(name)
                )
        rows: list[Row] = []
        changed: list[Row] = []
        for row in table.rows:
            if update.where is not None and evaluator.value(update.where, row) is not True:
                rows.append(row)
                continue
            kept = zip(table.columns, row, strict=True)
            given = {each.name: value for each, value in kept if each.name not in computed}
            given |= {name: evaluator.value(value, row) for name, value, _ in update.sets}
            table, fresh_row = self._completed(table, given)
            self._referenced(table, fresh_row)
            rows.append(fresh_row)
            changed.append(fresh_row)
        self._write(self.data.with_table(self.database, schema.name, replace(table, rows=tuple(rows))))
        return self._returned(f"UPDATE {len(changed)}", update.returning, table, changed)

    def _over(self, table: Table) -> Evaluator:
        fields = tuple(Field(table.name, each.name, each.type) for each in table.columns)
        return Evaluator(Scope(fields), self)

    def _delete(self, delete: Delete) -> Result:
        privilege = "TRUNCATE" if delete.truncate else "DELETE"
        mode = "AccessExclusiveLock" if delete.truncate else "RowExclusiveLock"
        schema, table = self._table(delete.table, privilege, mode)
        table = self._settled(schema, table)
        evaluator = self._over(table)
        gone = [
            row for row in table.rows if delete.where is None or evaluator.value(delete.where, row) is True
        ]
        data = self.data.with_table(
            self.database,
            schema.name,
            replace(table, rows=tuple(row for row in table.rows if row not in gone) if delete.where else ()),
        )
        data = self._cascaded(data, schema, table, gone)
        self._write(data)
        tag = "TRUNCATE TABLE" if delete.truncate else f"DELETE {len(gone)}"
        return self._returned(tag, delete.returning, table, gone)

    def _cascaded(self, data: Cluster, schema: Schema, table: Table, gone: Sequence[Row]) -> Cluster:
        """Delete what refers to rows that are gone, or refuse."""
        for inside in self._here.schemas.values():
            for other in inside.tables.values():
                for key in other.keys:
                    if (
                        key.kind != "foreign"
                        or key.references is None
                        or self._target(key.references)[1].name != table.name
                    ):
                        continue
                    data = self._released(data, inside, other, key, table, gone)
        return data

    def _released(
        self, data: Cluster, inside: Schema, other: Table, key: KeyDef, table: Table, gone: Sequence[Row]
    ) -> Cluster:
        places = [place for place in map(table.place, key.foreign or table.primary) if place is not None]
        lost = {tuple(row[place] for place in places) for row in gone}
        mine = [place for place in map(other.place, key.columns) if place is not None]
        full = self._settled(inside, other)
        referring = [row for row in full.rows if tuple(row[place] for place in mine) in lost]
        if not referring:
            return data
        if not key.cascade:
            name = key.name or f"{other.name}_{'_'.join(key.columns)}_fkey"
            value = ", ".join(map(shown, (referring[0][place] for place in mine)))
            raise refuse(
                "23503",
                f'update or delete on table "{table.name}" violates foreign key constraint "{name}" on table "{other.name}"',
                detail=f"Key ({', '.join(key.foreign or table.primary)})=({value}) is still referenced from table "
                f'"{other.name}".',
            )
        kept = tuple(row for row in full.rows if row not in referring)
        return data.with_table(self.database, inside.name, replace(full, rows=kept))

    # --- settings ---------------------------------------------------------------------------------------

    def _set(self, statement: SetParameter) -> Result:
        name = statement.name.lower()
        if statement.system:
            return self._set_system(name, statement.value)
        if name == "all" or name == "role":
            return Result("RESET" if name == "all" else "SET")
        known = storage.SETTINGS.get(name)
        if known is None and "." not in name:
            raise refuse("42704", f'unrecognized configuration parameter "{name}"')
        if known is not None and known[2] in ("postmaster", "internal"):
            raise refuse("55P02", f'parameter "{name}" cannot be changed without restarting the server')
        if known is not None and known[2] == "sighup":
            raise refuse("55P02", f'parameter "{name}" cannot be changed now')
        if statement.value is None:
            self.settings.pop(name, None)
            return Result("RESET")
        self.settings[name] = statement.value
        return Result("SET")

    def _set_system(self, name: str, value: str | None) -> Result:
        if not self.data.is_superuser(self.user):
            raise refuse("42501", f'permission denied to set parameter "{name}"')
        if self.work is not None:
            raise refuse("25001", "ALTER SYSTEM cannot run inside a transaction block")
        if name != "all" and name not in storage.SETTINGS:
            raise refuse("42704", f'unrecognized configuration parameter "{name}"')
        data = self.data
        kept = {} if name == "all" else {key: text for key, text in data.settings.items() if key != name}
        self._write(replace(data, settings=kept if value is None else {**kept, name: value}))
        return Result("ALTER SYSTEM")

    def _show(self, name: str) -> Result:
        if name == "all":
            rows = tuple((each[0], each[1], "") for each in views.settings(self.server))
            return Result("SHOW", (Field("", "name"), Field("", "setting"), Field("", "description")), rows)
        known = name.lower()
        if known not in storage.SETTINGS and known not in self.settings:
            raise refuse("42704", f'unrecognized configuration parameter "{name}"')
        label = "TimeZone" if known == "timezone" else "DateStyle" if known == "datestyle" else known
        return Result("SHOW", (Field("", label),), ((self.setting(known),),))

    def reload(self) -> bool:
        """``pg_reload_conf()``: take what ``ALTER SYSTEM`` has written, as far as that needs no restart."""
        if not self.data.is_superuser(self.user):
            raise refuse("42501", "permission denied for function pg_reload_conf")
        running: Mapping[str, str] = self.server.process.state.get("settings", {})
        fixed = storage.command_line(self.server.process.argv)
        kept = {
            k: v
            for k, v in running.items()
            if storage.SETTINGS[k][2] in ("postmaster", "internal") or k in fixed
        }
        loaded = {
            k: v
            for k, v in self.data.settings.items()
            if storage.SETTINGS[k][2] not in ("postmaster", "internal")
        }
        self.server.update(settings={**loaded, **kept})
        storage.log(self.server, 1, "LOG", "received SIGHUP, reloading configuration files")
        for name, value in self.data.settings.items():
            if storage.SETTINGS[name][2] == "postmaster" and running.get(name) != value:
                text = f'parameter "{name}" cannot be changed without restarting the server'
                storage.log(self.server, 1, "LOG", text)
        return True

    def _maintain(self, statement: Maintain) -> Result:
        if statement.table is not None:
            schema, table = self._found(statement.table)
            mode = "ShareUpdateExclusiveLock"
            self._take(f"{schema.name}.{table.name}", mode)
        if statement.tag == "VACUUM" and self.work is not None:
            raise refuse("25001", "VACUUM cannot run inside a transaction block")
        return Result(statement.tag)

    # --- definitions ------------------------------------------------------------------------------------

    def _create(self, create: Create) -> Result:
        match create.kind:
            case "role":
                return self._create_role(create)
            case "database":
                return self._create_database(create)
            case "extension":
                if create.name in self._here.extensions:
                    if not create.if_not_exists:
                        raise refuse("42710", f'extension "{create.name}" already exists')
                    self.notices.append(f'NOTICE:  extension "{create.name}" already exists, skipping')
                    return Result(create.tag)
                if create.name not in _EXTENSIONS:
                    raise refuse(
                        "0A000",
                        f'extension "{create.name}" is not available',
                        hint="The extension must first be installed on the system where PostgreSQL is running.",
                    )
                here = self._here
                self._write(
                    self.data.with_database(replace(here, extensions=(*here.extensions, create.name)))
                )
                return Result(create.tag)
        here = self._here
        if create.name in here.schemas:
            if not create.if_not_exists:
                raise refuse("42P06", f'schema "{create.name}" already exists')
            self.notices.append(f'NOTICE:  schema "{create.name}" already exists, skipping')
            return Result(create.tag)
        if not self.data.may(self.user, here.owner, here.grants, "CREATE"):
            raise refuse("42501", f"permission denied for database {self.database}")
        owner = dict(create.options).get("owner", self.user)
        self._write(self.data.with_schema(self.database, Schema(create.name, owner)))
        return Result(create.tag)

    def _create_role(self, create: Create) -> Result:
        mine = self.data.roles.get(self.user)
        if mine is None or not (mine.superuser or mine.createrole):
            raise refuse(
                "42501",
                "permission denied to create role",
                detail="Only roles with the CREATEROLE attribute may create roles.",
            )
        if create.name in self.data.roles:
            raise refuse("42710", f'role "{create.name}" already exists')
        role = self._with_options(Role(create.name, None, False), create.options)
        self._write(self.data.with_role(role))
        return Result(create.tag)

    def _with_options(self, role: Role, options: Sequence[tuple[str, Any]]) -> Role:
        changes: dict[str, Any] = {}
        for name, value in options:
            if name in (
                "login",
                "superuser",
                "createdb",
                "createrole",
                "replication",
                "bypassrls",
                "password",
                "limit",
                "until",
            ):
                changes[name] = value
            elif name == "member":
                self._known_roles(value)
                changes["member_of"] = (*role.member_of, *value)
        return replace(role, **changes)

    def _known_roles(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.data.roles and name != "public":
                raise refuse("42704", f'role "{name}" does not exist')

    def _create_database(self, create: Create) -> Result:
        if self.work is not None:
            raise refuse("25001", "CREATE DATABASE cannot run inside a transaction block")
        role = self.data.roles.get(self.user)
        if role is None or not (role.superuser or role.createdb):
            raise refuse("42501", "permission denied to create database")
        if create.name in self.data.databases:
            raise refuse("42P04", f'database "{create.name}" already exists')
        options = dict(create.options)
        owner = options.get("owner", self.user)
        self._known_roles((owner,))
        self._write(self.data.with_database(fresh(create.name, owner)))
        return Result(create.tag)

    def _create_table(self, create: CreateTable) -> Result:
        schema_name = create.table.schema or next(
            (each for each in self._path() if each in self._here.schemas), ""
        )
        schema = self._here.schemas.get(schema_name)
        if schema is None:
            if not create.table.schema:
                raise refuse(
                    "3F000", "no schema has been selected to create in", position=create.table.position
                )
            raise refuse("3F000", f'schema "{schema_name}" does not exist', position=create.table.position)
        owner = self._here.owner if schema.owner == "pg_database_owner" else schema.owner
        self._may(owner, schema.grants, "CREATE", "schema", schema.name, create.table.position)
        if create.table.name in schema.tables:
            text = f'relation "{create.table.name}" already exists'
            if not create.if_not_exists:
                raise refuse("42P07", text)
            self.notices.append(f"NOTICE:  {text}, skipping")
            return Result("CREATE TABLE")
        for column in create.columns:
            if column.type.partition("(")[0].removesuffix("[]") not in _TYPES:
                raise refuse("42704", f'type "{column.type}" does not exist')
        for key in create.keys:
            if key.references is not None:
                self._target(key.references)
        table = Table(create.table.name, self.user, create.columns, create.keys)
        for key in create.keys:
            for name in key.columns:
                if table.place(name) is None:
                    raise refuse("42703", f'column "{name}" named in key does not exist')
        self._write(self.data.with_table(self.database, schema.name, table))
        return Result("CREATE TABLE")

    def _create_index(self, create: CreateIndex) -> Result:
        schema, table = self._found(create.table)
        self._owned(table.owner, "table", table.name)
        self._take(f"{schema.name}.{table.name}", "ShareLock")
        if any(create.name == name for each in schema.tables.values() for name, _, _ in views.indexes(each)):
            text = f'relation "{create.name}" already exists'
            if not create.if_not_exists:
                raise refuse("42P07", text)
            self.notices.append(f"NOTICE:  {text}, skipping")
            return Result("CREATE INDEX")
        for name in create.columns:
            if table.place(name) is None:
                raise refuse("42703", f'column "{name}" does not exist')
        table = replace(table, indexes=(*table.indexes, (create.name, create.columns, create.unique)))
        self._write(self.data.with_table(self.database, schema.name, table))
        return Result("CREATE INDEX")

    def _owned(self, owner: str, kind: str, name: str) -> None:
        if not self.data.is_superuser(self.user) and owner not in self.data.roles_of(self.user):
            raise refuse("42501", f"must be owner of {kind} {name}")

    def _drop(self, drop: Drop) -> Result:
        for name in drop.names:
            try:
                self._dropped(drop, name)
            except Refused as error:
                absent = error.error.code in ("42P01", "42704", "3F000", "3D000")
                if not (drop.if_exists and absent):
                    raise
                what = error.error.message.replace(" does not exist", "")
                self.notices.append(f"NOTICE:  {what} does not exist, skipping")
        return Result(drop.tag)

    def _dropped(self, drop: Drop, name: Name) -> None:
        data, here = self.data, self._here
        match drop.kind:
            case "table":
                self._drop_table(drop, name)
            case "index":
                for schema in here.schemas.values():
                    for table in schema.tables.values():
                        if any(each[0] == name.name for each in table.indexes):
                            kept = tuple(each for each in table.indexes if each[0] != name.name)
                            self._write(
                                data.with_table(self.database, schema.name, replace(table, indexes=kept))
                            )
                            return
                raise refuse("42704", f'index "{name}" does not exist')
            case "schema":
                found = here.schemas.get(name.name)
                if found is None:
                    raise refuse("3F000", f'schema "{name.name}" does not exist')
                self._owned(found.owner, "schema", name.name)
                if found.tables and not drop.cascade:
                    raise self._depended(
                        f"schema {name.name}", [f"table {name.name}.{each}" for each in found.tables]
                    )
                kept_schemas = {key: each for key, each in here.schemas.items() if key != name.name}
                self._write(data.with_database(replace(here, schemas=kept_schemas)))
            case "database":
                self._drop_database(name.name)
            case "extension":
                if name.name not in here.extensions:
                    raise refuse("42704", f'extension "{name.name}" does not exist')
                kept_names = tuple(each for each in here.extensions if each != name.name)
                self._write(data.with_database(replace(here, extensions=kept_names)))
            case "role":
                self._drop_role(name.name)

    @staticmethod
    def _depended(what: str, dependents: Sequence[str]) -> Refused:
        return refuse(
            "2BP01",
            f"cannot drop {what} because other objects depend on it",
            detail="\n".join(f"{each} depends on {what}" for each in dependents),
            hint="Use DROP ... CASCADE to drop the dependent objects too.",
        )

    def _drop_table(self, drop: Drop, name: Name) -> None:
        try:
            schema, table = self._found(name)
        except Refused as error:
            if error.error.code == "42P01":
                raise refuse("42P01", f'table "{name.name}" does not exist') from None
            raise
        self._owned(table.owner, "table", table.name)
        self._take(f"{schema.name}.{table.name}", "AccessExclusiveLock")
        dependents = [
            f"constraint {key.name or f'{each.name}_{key.columns[0]}_fkey'} on table {inside.name}.{each.name}"
            for inside in self._here.schemas.values()
            for each in inside.tables.values()
            for key in each.keys
            if key.references is not None and each is not table and self._target(key.references)[1] is table
        ]
        if dependents and not drop.cascade:
            raise self._depended(f"table {schema.name}.{views.quoted(table.name)}", dependents)
        data = self.data
        for inside in self._here.schemas.values():
            for each in inside.tables.values():
                kept = tuple(
                    key
                    for key in each.keys
                    if key.references is None or self._target(key.references)[1] is not table
                )
                if kept != each.keys:
                    data = data.with_table(self.database, inside.name, replace(each, keys=kept))
        self._write(data.without_table(self.database, schema.name, table.name))

    def _drop_database(self, name: str) -> None:
        found = self.data.databases.get(name)
        if found is None:
            raise refuse("3D000", f'database "{name}" does not exist')
        self._owned(found.owner, "database", name)
        if name == self.database:
            raise refuse("55006", "cannot drop the currently open database")
        using = sessions.connections(self.server, database=name)
        if using:
            raise refuse(
                "55006",
                f'database "{name}" is being accessed by other users',
                detail=f"There {'is' if using == 1 else 'are'} {using} other session{'' if using == 1 else 's'} using the database.",
            )
        self._write(replace(self.data, databases={k: d for k, d in self.data.databases.items() if k != name}))

    def _drop_role(self, name: str) -> None:
        if name not in self.data.roles:
            raise refuse("42704", f'role "{name}" does not exist')
        if not self.data.is_superuser(self.user):
            raise refuse("42501", "permission denied to drop role")
        if name == self.user:
            raise refuse("55006", "current user cannot be dropped")
        needs = []
        for database in self.data.databases.values():
            if database.owner == name:
                needs.append(f"owner of database {database.name}")
            for schema in database.schemas.values():
                if name in schema.grants:
                    needs.append(f"privileges for schema {schema.name}")
                for table in schema.tables.values():
                    if table.owner == name:
                        needs.append(f"owner of table {schema.name}.{views.quoted(table.name)}")
                    elif name in table.grants:
                        needs.append(f"privileges for table {schema.name}.{views.quoted(table.name)}")
        if needs:
            text = f'role "{name}" cannot be dropped because some objects depend on it'
            raise refuse("2BP01", text, detail="\n".join(needs))
        self._write(
            replace(self.data, roles={key: each for key, each in self.data.roles.items() if key != name})
        )

    def _alter_role(self, alter: AlterRole) -> Result:
        name = self.user if alter.name in ("current_user", "session_user") else alter.name
        role = self.data.roles.get(name)
        if role is None:
            raise refuse("42704", f'role "{name}" does not exist')
        mine = self.data.roles.get(self.user)
        own_password = name == self.user and all(option == "password" for option, _ in alter.options)
        if not own_password and not (
            mine is not None and (mine.superuser or (mine.createrole and not role.superuser))
        ):
            what = (
                "Only roles with the SUPERUSER attribute may alter roles with the SUPERUSER attribute."
                if role.superuser
                else f'Only roles with the CREATEROLE attribute and the ADMIN option on role "{name}" may alter this role.'
            )
            raise refuse("42501", "permission denied to alter role", detail=what)
        data = self.data
        for option, value in alter.options:
            if option == "setting":
                setting, text = value
                kept = tuple(each for each in role.settings if each[0] != setting)
                role = replace(role, settings=kept if text is None else (*kept, (setting, text)))
            elif option == "rename":
                if value in data.roles:
                    raise refuse("42710", f'role "{value}" already exists')
                data = replace(
                    data, roles={key: each for key, each in data.roles.items() if key != role.name}
                )
                role = replace(role, name=value)
            else:
                role = self._with_options(role, ((option, value),))
        self._write(data.with_role(role))
        return Result("ALTER ROLE")

    def _alter_table(self, alter: AlterTable) -> Result:
        schema, table = self._found(alter.table)
        self._owned(table.owner, "table", table.name)
        self._take(f"{schema.name}.{table.name}", "AccessExclusiveLock")
        data, columns = self.data, table.columns
        table = self._settled(schema, table)
        match alter.action:
            case "owner":
                self._known_roles(alter.arguments)
                table = replace(table, owner=alter.arguments[0])
            case "rename":
                data = data.without_table(self.database, schema.name, table.name)
                table = replace(table, name=alter.arguments[0])
            case "rename_column":
                before, after = alter.arguments
                if table.place(before) is None:
                    raise refuse("42703", f'column "{before}" does not exist')
                table = replace(table, columns=tuple(_renamed(each, before, after) for each in columns))
            case "add":
                column, missing = alter.arguments
                if table.place(column.name) is not None:
                    if not missing:
                        raise refuse(
                            "42701", f'column "{column.name}" of relation "{table.name}" already exists'
                        )
                    return Result("ALTER TABLE")
                rows = tuple((*row, self._added(table, column, row)) for row in table.rows)
                if column.generated is not None and not table.rows:
                    self._added(table, column, (None,) * len(columns))
                table = replace(table, columns=(*columns, column), rows=rows)
            case "drop":
                name, exists, cascade = alter.arguments
                place = table.place(name)
                if place is None:
                    if not exists:
                        raise refuse("42703", f'column "{name}" of relation "{table.name}" does not exist')
                    return Result("ALTER TABLE")
                computed = [each.name for each in columns if name in _needed(each)]
                of = f"table {schema.name}.{table.name}"
                if computed and not cascade:
                    raise self._depended(
                        f"column {name} of {of}", [f"column {each} of {of}" for each in computed]
                    )
                gone = {name, *computed}
                left = [index for index, each in enumerate(columns) if each.name not in gone]
                rows = tuple(tuple(row[index] for index in left) for row in table.rows)
                keys = tuple(key for key in table.keys if not gone & {*key.columns})
                table = replace(table, columns=tuple(columns[index] for index in left), rows=rows, keys=keys)
        self._write(data.with_table(self.database, schema.name, table))
        return Result("ALTER TABLE")

    def _alter_database(self, alter: AlterDatabase) -> Result:
        found = self.data.databases.get(alter.name)
        if found is None:
            raise refuse("3D000", f'database "{alter.name}" does not exist')
        self._owned(found.owner, "database", alter.name)
        for option, value in alter.options:
            if option == "limit":
                found = replace(found, limit=int(converted(value, "integer")))
            elif option == "allow_connections":
                found = replace(found, accepts=str(value).lower() in ("true", "on", "1"))
            elif option == "owner":
                self._known_roles((value,))
                found = replace(found, owner=value)
        self._write(self.data.with_database(found))
        return Result("ALTER DATABASE")

    # --- privileges -------------------------------------------------------------------------------------

    def _grant(self, grant: Grant) -> Result:
        tag = "REVOKE" if grant.revoke else "GRANT"
        roles = tuple(self.user if each == "current_user" else each for each in grant.roles)
        self._known_roles(roles)
        if grant.kind == "role":
            self._known_roles(grant.privileges)
            data = self.data
            for grantee in roles:
                role = data.roles[grantee]
                kept = tuple(each for each in role.member_of if each not in grant.privileges)
                data = data.with_role(
                    replace(role, member_of=kept if grant.revoke else (*kept, *grant.privileges))
                )
            self._write(data)
            return Result(tag + " ROLE")
        change = _changing(grant, roles)
        data = self.data
        for name in grant.objects:
            match grant.kind:
                case "schema":
                    schema = self._schema(name.name)
                    self._owned(schema.owner, "schema", schema.name)
                    data = data.with_schema(self.database, replace(data.databases[self.database].schemas[name.name], grants=change(schema.grants, ("USAGE", "CREATE"))))  # fmt: skip
                case "database":
                    known = data.databases.get(name.name)
                    if known is None:
                        raise refuse("3D000", f'database "{name.name}" does not exist')
                    data = data.with_database(
                        replace(known, grants=change(known.grants, ("CREATE", "CONNECT", "TEMPORARY")))
                    )
                case "all tables":
                    for table in self._schema(name.name).tables.values():
                        data = data.with_table(self.database, name.name, replace(table, grants=change(table.grants, TABLE_PRIVILEGES)))  # fmt: skip
                case "table":
                    inside, table = self._found(replace(name, position=-1))
                    self._owned(table.owner, "table", table.name)
                    data = data.with_table(self.database, inside.name, replace(table, grants=change(table.grants, TABLE_PRIVILEGES)))  # fmt: skip
        self._write(data)
        return Result(tag)

    def _schema(self, name: str) -> Schema:
        found = self._here.schemas.get(name)
        if found is None:
            raise refuse("3F000", f'schema "{name}" does not exist')
        return found


_DEFAULT = object()
_PRIVILEGES = frozenset((*TABLE_PRIVILEGES, "USAGE", "CREATE", "CONNECT", "TEMPORARY", "TEMP", "EXECUTE"))
_EXTENSIONS = frozenset(
    "plpgsql pg_stat_statements pgcrypto uuid-ossp hstore citext pg_trgm btree_gin dblink".split()
)
_TYPES = frozenset(
    ("text", "integer", "bigint", "smallint", "numeric", "boolean", "real", "double precision", "character varying",
     "character", "timestamp with time zone", "timestamp without time zone", "date", "time without time zone", "uuid",
     "json", "jsonb", "bytea", "inet", "interval", "name", "oid")
)  # fmt: skip


_GENERATED = 'Column "{}" is a generated column.'


def _needed(column: ColumnDef) -> set[str]:
    """Columns of which a column is computed."""
    return {each.name for each in _parts(column.generated) if isinstance(each, ColumnRef)}


def _parts(node: Any) -> Iterator[Any]:
    """An expression and everything in it."""
    if isinstance(node, tuple):
        for each in node:
            yield from _parts(each)
    elif is_dataclass(node) and not isinstance(node, type):
        yield node
        for each in parts_of(node):
            yield from _parts(getattr(node, each.name))


def _renamed(column: ColumnDef, before: str, after: str) -> ColumnDef:
    """A column of a table in which one gets another name."""
    name = after if column.name == before else column.name
    if before not in _needed(column):
        return replace(column, name=name)
    text = re.sub(rf"(?<!\w){re.escape(before)}(?!\w)", after, column.text)
    return replace(column, name=name, generated=_with(column.generated, before, after), text=text)


def _with(node: Any, before: str, after: str) -> Any:
    """An expression that speaks of a column under another name."""
    if isinstance(node, tuple):
        return tuple(_with(each, before, after) for each in node)
    if isinstance(node, ColumnRef):
        return replace(node, name=after) if node.name == before else node
    if is_dataclass(node) and not isinstance(node, type):
        return replace(
            node, **{each.name: _with(getattr(node, each.name), before, after) for each in parts_of(node)}
        )
    return node


def _changing(grant: Grant, roles: Sequence[str]) -> Callable[[Grants, Sequence[str]], Grants]:
    """What adds privileges to grants, or takes them away."""

    def change(grants: Grants, all_: Sequence[str]) -> Grants:
        wanted = tuple(all_) if "ALL" in grant.privileges else grant.privileges
        for each in wanted:
            if each not in _PRIVILEGES:
                raise refuse("42601", f'unrecognized privilege type "{each.lower()}"')
            if each not in all_ and each != "TEMP":
                raise refuse(
                    "0LP01",
                    f"invalid privilege type {each} for {grant.kind.removeprefix('all ').removesuffix('s')}",
                )
        found = dict(grants)
        for role in roles:
            kept = tuple(each for each in found.get(role, ()) if each not in wanted)
            merged = kept if grant.revoke else tuple(each for each in all_ if each in kept or each in wanted)
            if merged:
                found[role] = merged
            else:
                found.pop(role, None)
        return found

    return change


def _named(backend: Backend, relation: Any) -> tuple[Schema, Table]:
    schema, dot, name = str(relation).rpartition(".")
    return backend._found(Name(name.strip('"'), schema if dot else ""))


def _heap_size(backend: Backend, relation: Any) -> int:
    inside, table = _named(backend, relation)
    return storage.relation_bytes(backend.server, inside.name, table)


def _table_size(backend: Backend, relation: Any) -> int:
    inside, table = _named(backend, relation)
    return storage.table_bytes(backend.server, inside.name, table)


def _indexes_size(backend: Backend, relation: Any) -> int:
    inside, table = _named(backend, relation)
    return storage.index_bytes(backend.server, inside.name, table) * len(views.indexes(table))


def _total_size(backend: Backend, relation: Any) -> int:
    return _table_size(backend, relation) + _indexes_size(backend, relation)


def _database_size(backend: Backend, name: Any) -> int:
    found = backend.data.databases.get(str(name))
    if found is None:
        raise refuse("3D000", f'database "{name}" does not exist')
    return views.database_bytes(backend.server, found)


def _blocking(backend: Backend, pid: int) -> tuple[int, ...]:
    """Who holds the lock that a session waits for."""
    server = backend.server
    for key, each in (*sessions.sessions(server).items(), *sessions.queued(server).items()):
        if pid in each.pids and each.wait:
            database, _, relation = each.wait.partition("/")
            holder = sessions.holder(server, key, database, relation, each.asks)
            return (holder.pid,) if holder is not None else ()
    return ()


def _slept(backend: Backend, seconds: Any) -> str:
    backend.sleep(float(seconds))
    return ""


def _setting(backend: Backend, name: str, missing: bool = False) -> Any:
    if name.lower() not in storage.SETTINGS:
        if missing:
            return None
        raise refuse("42704", f'unrecognized configuration parameter "{name}"')
    return backend.setting(name.lower())


def _privileged(backend: Backend, *given: Any) -> bool:
    user, table, privilege = given if len(given) == 3 else (backend.user, *given)
    schema, dot, name = str(table).rpartition(".")
    inside = backend._here.schemas.get(schema if dot else "public")
    found = inside.tables.get(name.strip('"')) if inside else None
    if found is None:
        raise refuse("42P01", f'relation "{table}" does not exist')
    return backend.data.may(str(user), found.owner, found.grants, str(privilege).upper())


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "clock_timestamp": lambda b: moment(b.server.now()),
    "current_catalog": lambda b: b.database,
    "current_database": lambda b: b.database,
    "current_date": lambda b: f"{moment(b.server.now()):%Y-%m-%d}",
    "current_role": lambda b: b.user,
    "current_schema": lambda b: next((each for each in b._path() if each in b._here.schemas), None),
    "current_setting": _setting,
    "current_timestamp": lambda b: moment(b.server.now()),
    "current_user": lambda b: b.user,
    "format_type": lambda b, oid, modifier: shown(oid),
    "has_table_privilege": _privileged,
    "inet_server_addr": lambda b: b.server.process.ip if b.address else None,
    "inet_server_port": lambda b: int(storage.setting(b.server, "port")) if b.address else None,
    "localtimestamp": lambda b: moment(b.server.now()),
    "md5": lambda b, text: f"{keyed_bits('md5', text):016x}{keyed_bits('md5', text, 1):016x}",
    "now": lambda b: moment(b.server.now()),
    "pg_backend_pid": lambda b: b.pid,
    "pg_blocking_pids": _blocking,
    "pg_cancel_backend": lambda b, pid: b.terminate(pid, only_cancel=True),
    "pg_conf_load_time": lambda b: moment(storage.started_at(b.server)),
    "pg_database_size": _database_size,
    "pg_get_userbyid": lambda b, oid: next(
        (n for i, n in enumerate(b.data.roles) if 10 + i == oid), f"unknown (OID={oid})"
    ),
    "pg_is_in_recovery": lambda b: False,
    "pg_postmaster_start_time": lambda b: moment(b.server.process.started_at),
    "pg_indexes_size": _indexes_size,
    "pg_relation_size": _heap_size,
    "pg_reload_conf": lambda b: b.reload(),
    "pg_sleep": _slept,
    "pg_table_size": _table_size,
    "pg_terminate_backend": lambda b, pid, wait=0: b.terminate(pid),
    "pg_total_relation_size": _total_size,
    "random": lambda b: keyed_bits(b.pid, b.server.now(), b.query) / 2**64,
    "session_user": lambda b: b.user,
    "user": lambda b: b.user,
    "version": lambda b: (
        f"PostgreSQL {b.setting('server_version')} on x86_64-pc-linux-gnu, compiled by gcc (Debian 14.2.0-19) 14.2.0, 64-bit"
    ),
}
"""Functions that look at the server or change it."""
