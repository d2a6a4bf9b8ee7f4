"""Statements of SQL as values: what :mod:`~.parse` makes and :mod:`~.execute` carries out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

# --- expressions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal_:
    """A constant: None, bool, int, Decimal or text."""

    value: Any
    position: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column, perhaps of a named table; ``*`` for all of them."""

    name: str
    table: str = ""
    position: int = -1


@dataclass(frozen=True, slots=True)
class Apply:
    """A function; ``star`` for ``count(*)``."""

    name: str
    arguments: tuple[Expression, ...] = ()
    star: bool = False
    distinct: bool = False
    position: int = -1


@dataclass(frozen=True, slots=True)
class Operate:
    """An operator on one or two operands, by its lower-case name."""

    operator: str
    operands: tuple[Expression, ...]
    position: int = -1


@dataclass(frozen=True, slots=True)
class Among:
    """``IN (...)`` of a list, or of a query's only column."""

    operand: Expression
    choices: tuple[Expression, ...] | Select
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Cast:
    """``expression::type``."""

    operand: Expression
    type: str


@dataclass(frozen=True, slots=True)
class Case:
    """``CASE WHEN ... THEN ... ELSE ... END``."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A query in parentheses, or behind ``EXISTS``."""

    select: Select
    exists: bool = False


Expression = Literal_ | ColumnRef | Apply | Operate | Among | Cast | Case | Scalar

# --- queries ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A table, perhaps of a named schema."""

    name: str
    schema: str = ""
    position: int = -1

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True)
class Source:
    """A table, a function or a query that a query reads."""

    of: Name | Apply | Select
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Join:
    """Two sources beside each other."""

    left: From
    right: Source
    kind: Literal["inner", "left", "cross"]
    on: Expression | None = None
    using: tuple[str, ...] = ()


From = Source | Join


@dataclass(frozen=True, slots=True)
class Order:
    """One key of ``ORDER BY``; a number is the place of an output column."""

    key: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """A query; ``values`` for ``VALUES`` lists."""

    items: tuple[tuple[Expression, str], ...] = ()
    """(expression, name of the output column, empty for its own)."""
    source: From | None = None
    where: Expression | None = None
    group: tuple[Expression, ...] = ()
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: Expression | None = None
    offset: Expression | None = None
    distinct: bool = False
    values: tuple[tuple[Expression, ...], ...] = ()
    union: Select | None = None
    """What follows behind ``UNION ALL``."""
    locking: bool = False
    """``FOR UPDATE``."""


# --- statements ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Insert:
    """Rows for a table; an expression of None is ``DEFAULT``."""

    table: Name
    columns: tuple[str, ...]
    rows: tuple[tuple[Expression | None, ...], ...] | Select
    skip_conflicts: bool = False
    positions: tuple[int, ...] = ()
    """Where the columns stand in the statement."""
    returning: tuple[tuple[Expression, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """New values for rows."""

    table: Name
    sets: tuple[tuple[str, Expression, int], ...]
    """(column, value, position)."""
    where: Expression | None = None
    returning: tuple[tuple[Expression, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Delete:
    """Rows to be removed; all of them for ``TRUNCATE``."""

    table: Name
    where: Expression | None = None
    truncate: bool = False
    returning: tuple[tuple[Expression, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnDef:
    """A column of a new table."""

    name: str
    type: str
    not_null: bool = False
    default: Expression | None = None
    identity: bool = False
    generated: Expression | None = None
    """What it is computed from, always (``STORED``)."""
    text: str = ""
    """How that is written."""


@dataclass(frozen=True, slots=True)
class KeyDef:
    """A constraint of a new table."""

    kind: Literal["primary", "unique", "foreign", "check"]
    columns: tuple[str, ...] = ()
    references: Name | None = None
    foreign: tuple[str, ...] = ()
    cascade: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class CreateTable:
    """``CREATE TABLE``."""

    table: Name
    columns: tuple[ColumnDef, ...]
    keys: tuple[KeyDef, ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateIndex:
    """``CREATE INDEX``."""

    name: str
    table: Name
    columns: tuple[str, ...]
    unique: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    """``CREATE`` of a database, a schema, a role or an extension."""

    kind: Literal["database", "schema", "role", "extension"]
    name: str
    if_not_exists: bool = False
    options: tuple[tuple[str, Any], ...] = ()
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Drop:
    """``DROP`` of anything."""

    kind: Literal["database", "schema", "role", "table", "index", "extension"]
    names: tuple[Name, ...]
    if_exists: bool = False
    cascade: bool = False
    tag: str = ""


@dataclass(frozen=True, slots=True)
class AlterRole:
    """``ALTER ROLE``: attributes, or a setting."""

    name: str
    options: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class AlterTable:
    """One action of ``ALTER TABLE``: ``add``, ``drop``, ``rename``, ``rename_column``, ``owner``, ``keep``."""

    table: Name
    action: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class AlterDatabase:
    """Options of a database."""

    name: str
    options: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Grant:
    """``GRANT`` and ``REVOKE``, of privileges on objects or of roles."""

    revoke: bool
    privileges: tuple[str, ...]
    """Upper-case privileges; names of roles where ``kind`` is ``role``."""
    kind: Literal["table", "schema", "database", "all tables", "all sequences", "sequence", "role", "default"]
    objects: tuple[Name, ...]
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lock:
    """``LOCK TABLE``."""

    tables: tuple[Name, ...]
    mode: str
    """``AccessExclusiveLock`` ..."""
    nowait: bool = False


@dataclass(frozen=True, slots=True)
class Transaction:
    """``BEGIN``, ``COMMIT``, ``ROLLBACK``."""

    kind: Literal["begin", "commit", "rollback", "savepoint"]


@dataclass(frozen=True, slots=True)
class SetParameter:
    """``SET``, ``RESET``, and ``ALTER SYSTEM SET``; a value of None resets."""

    name: str
    value: str | None
    system: bool = False


@dataclass(frozen=True, slots=True)
class Show:
    """``SHOW``."""

    name: str


@dataclass(frozen=True, slots=True)
class Explain:
    """``EXPLAIN``."""

    statement: Any
    analyze: bool = False


@dataclass(frozen=True, slots=True)
class Maintain:
    """``VACUUM``, ``ANALYZE``, ``CHECKPOINT``, ``COMMENT`` ...: what leaves nothing that anybody sees but its tag."""

    tag: str
    table: Name | None = None


Statement = (
    Select | Insert | Update | Delete | CreateTable | CreateIndex | Create | Drop | AlterRole | AlterTable | AlterDatabase
    | Grant | Lock | Transaction | SetParameter | Show | Explain | Maintain
)  # fmt: skip
