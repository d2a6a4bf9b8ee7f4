"""What a PostgreSQL data directory holds, as frozen values: roles, databases, schemas and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sregym_env.sim.programs.postgres.tree import ColumnDef, KeyDef

DATA_KEY = "\0PG_VERSION"
"""Key of the structured data in the volume's content, beside the file that every data directory has."""

Row = tuple[Any, ...]
Grants = Mapping[str, tuple[str, ...]]
"""Privileges by role; ``public`` is everybody."""

TABLE_PRIVILEGES = ("INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "MAINTAIN")
PREDEFINED = (
    "pg_monitor", "pg_read_all_data", "pg_write_all_data", "pg_read_all_settings", "pg_read_all_stats", "pg_signal_backend",
    "pg_database_owner", "pg_checkpoint", "pg_maintain",
)  # fmt: skip
"""Roles that every cluster has, as far as anybody grants them."""


@dataclass(frozen=True, slots=True)
class Role:
    """A user or a group."""

    name: str
    password: str | None = None
    login: bool = True
    superuser: bool = False
    createdb: bool = False
    createrole: bool = False
    replication: bool = False
    bypassrls: bool = False
    limit: int = -1
    """Connections that it may have at once; -1 for any number."""
    until: str = ""
    member_of: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table and its rows."""

    name: str
    owner: str
    columns: tuple[ColumnDef, ...]
    keys: tuple[KeyDef, ...] = ()
    rows: tuple[Row, ...] = ()
    grants: Grants = field(default_factory=dict)
    indexes: tuple[tuple[str, tuple[str, ...], bool], ...] = ()
    """(name, columns, unique), those of keys aside."""
    counted: int = 0
    """How many of the rows that clients have inserted since the server started are among ``rows`` already."""
    last: int = 0
    """The last number that an identity column was given."""

    def place(self, column: str) -> int | None:
        """Where a column stands in a row; None where there is none."""
        return next((index for index, each in enumerate(self.columns) if each.name == column), None)

    @property
    def primary(self) -> tuple[str, ...]:
        """Columns of the primary key."""
        return next((key.columns for key in self.keys if key.kind == "primary"), ())


@dataclass(frozen=True, slots=True)
class Schema:
    """A name space of tables."""

    name: str
    owner: str
    grants: Grants = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Database:
    """A database."""

    name: str
    owner: str
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    extensions: tuple[str, ...] = ("plpgsql",)
    limit: int = -1
    accepts: bool = True
    """Whether anybody may connect to it."""
    grants: Grants = field(default_factory=lambda: {"public": ("CONNECT", "TEMPORARY")})


@dataclass(frozen=True, slots=True)
class Cluster:
    """One data directory."""

    version: str
    """Major version, ``17``."""
    roles: Mapping[str, Role] = field(default_factory=dict)
    databases: Mapping[str, Database] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    """``postgresql.auto.conf``."""
    checkpoint: str = ""
    """Where and when this was written; copies of the files keep it."""

    def with_role(self, role: Role) -> Cluster:
        """Add or replace a role."""
        return replace(self, roles={**self.roles, role.name: role})

    def with_database(self, database: Database) -> Cluster:
        """Add or replace a database."""
        return replace(self, databases={**self.databases, database.name: database})

    def with_schema(self, database: str, schema: Schema) -> Cluster:
        """Add or replace a schema."""
        known = self.databases[database]
        return self.with_database(replace(known, schemas={**known.schemas, schema.name: schema}))

    def with_table(self, database: str, schema: str, table: Table) -> Cluster:
        """Add or replace a table."""
        known = self.databases[database].schemas[schema]
        return self.with_schema(database, replace(known, tables={**known.tables, table.name: table}))

    def without_table(self, database: str, schema: str, name: str) -> Cluster:
        """Remove a table."""
        known = self.databases[database].schemas[schema]
        return self.with_schema(
            database, replace(known, tables={key: each for key, each in known.tables.items() if key != name})
        )

    def table(self, database: str, schema: str, name: str) -> Table | None:
        """A table by its names; None where there is none."""
        found = self.databases.get(database)
        inside = found.schemas.get(schema) if found else None
        return inside.tables.get(name) if inside else None

    def is_superuser(self, role: str) -> bool:
        """Whether nothing is forbidden to a role."""
        found = self.roles.get(role)
        return found is not None and found.superuser

    def roles_of(self, role: str) -> tuple[str, ...]:
        """A role and every role that it is a member of, and ``public``."""
        found, waiting = [role], [role]
        while waiting:
            known = self.roles.get(waiting.pop())
            for each in known.member_of if known else ():
                if each not in found:
                    found.append(each)
                    waiting.append(each)
        return (*found, "public")

    def may(self, role: str, owner: str, grants: Grants, privilege: str) -> bool:
        """Whether a role has a privilege on something of an owner with such grants."""
        mine = self.roles_of(role)
        return (
            self.is_superuser(role)
            or owner in mine
            or any(privilege in grants.get(each, ()) for each in mine)
        )

    def files(self) -> dict[str, str]:
        """The files of the directory, as far as a shell shows them."""
        auto = "".join(f"{name} = '{text}'\n" for name, text in self.settings.items())
        return {
            "PG_VERSION": f"{self.version}\n",
            "postgresql.conf": "listen_addresses = '*'\nmax_connections = 100\nshared_buffers = 128MB\n",
            "postgresql.auto.conf": (
                "# Do not edit this file manually!\n# It will be overwritten by the ALTER SYSTEM command.\n"
                + auto
            ),
            "pg_hba.conf": "",
            "global/pg_control": "",
            **{
                f"base/{16384 + index}/PG_VERSION": f"{self.version}\n"
                for index in range(len(self.databases))
            },
        }


def initial(version: str, superuser: str, password: str | None) -> Cluster:
    """What ``initdb`` makes."""
    roles = {superuser: Role(superuser, password, True, True, True, True, True, True)}
    roles |= {name: Role(name, None, False) for name in PREDEFINED}
    cluster = Cluster(version, roles)
    for name in ("postgres", "template1", "template0"):
        cluster = cluster.with_database(fresh(name, superuser, accepts=name != "template0"))
    return cluster


def fresh(name: str, owner: str, *, accepts: bool = True) -> Database:
    """A database in which there is nothing yet."""
    public = Schema("public", "pg_database_owner", {"public": ("USAGE",)})
    return Database(name, owner, {"public": public}, accepts=accepts)
