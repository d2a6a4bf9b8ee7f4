"""psql's own commands: ``\\dt`` and its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

from sregym_env.sim.programs.postgres import views
from sregym_env.sim.programs.postgres.catalog import Grants, Schema, Table
from sregym_env.sim.programs.postgres.errors import PgError, Refused
from sregym_env.sim.programs.postgres.execute import Backend, Result
from sregym_env.sim.programs.postgres.expressions import Field, pretty, shown
from sregym_env.sim.programs.postgres.printing import Format, table
from sregym_env.sim.programs.postgres.storage import index_bytes, live_rows, server_version, table_bytes
from sregym_env.sim.programs.postgres.tree import KeyDef, Name

_LETTERS = {"INSERT": "a", "SELECT": "r", "UPDATE": "w", "DELETE": "d", "TRUNCATE": "D", "REFERENCES": "x", "TRIGGER": "t",
            "MAINTAIN": "m", "USAGE": "U", "CREATE": "C", "CONNECT": "c", "TEMPORARY": "T"}  # fmt: skip

Describe = Callable[[Backend, str, Format], str]


def described(backend: Backend, command: str, pattern: str, format: Format) -> str | None:
    """What ``\\d...`` prints; None where there is no such command. Raises Refused."""
    name = command.rstrip("+").removesuffix("S")
    more = _MORE.get(name) if command.endswith("+") else None
    known = more or _COMMANDS.get(name)
    return None if known is None else known(backend, pattern, format)


def _matching(backend: Backend, pattern: str) -> list[tuple[Schema, Table]]:
    schemas = backend.data.databases[backend.database].schemas
    schema_part, dot, table_part = pattern.rpartition(".")
    schema_part, table_part = schema_part.strip('"'), table_part.strip('"') or "*"
    path = backend._path()
    found = []
    for schema in sorted(schemas.values(), key=lambda each: each.name):
        if dot and not fnmatchcase(schema.name, schema_part or "*"):
            continue
        if not dot and schema.name not in path:
            continue
        found += [(schema, t) for t in sorted(schema.tables.values(), key=lambda each: each.name) if fnmatchcase(t.name, table_part)]  # fmt: skip
    return found


def _listed(
    rows: Sequence[tuple[str, ...]],
    names: tuple[str, ...],
    title: str,
    format: Format,
    *,
    footer: bool = True,
) -> str:
    fields = tuple(Field("", each) for each in names)
    shape = (
        format if footer else Format(**{**{s: getattr(format, s) for s in Format.__slots__}, "footer": False})
    )
    return table(Result("SELECT", fields, tuple(rows)), shape, title)


def _relations(backend: Backend, pattern: str, format: Format) -> str:
    rows = [(s.name, t.name, "table", t.owner) for s, t in _matching(backend, pattern)]
    if not rows:
        raise _nothing("relation", pattern)
    return _listed(rows, ("Schema", "Name", "Type", "Owner"), "List of relations", format)


def _relations_more(backend: Backend, pattern: str, format: Format) -> str:
    rows = [
        (
            s.name,
            t.name,
            "table",
            t.owner,
            "permanent",
            "heap",
            pretty(table_bytes(backend.server, s.name, t)),
            "",
        )
        for s, t in _matching(backend, pattern)
    ]
    if not rows:
        raise _nothing("relation", pattern)
    names = ("Schema", "Name", "Type", "Owner", "Persistence", "Access method", "Size", "Description")
    return _listed(rows, names, "List of relations", format)


def _nothing(what: str, pattern: str) -> Refused:
    text = f'Did not find any {what} named "{pattern}".' if pattern else f"Did not find any {what}s."
    return Refused(PgError("", "", text))


def _indexes(backend: Backend, pattern: str, format: Format) -> str:
    rows = [
        (s.name, name, "index", t.owner, t.name)
        for s, t in _matching(backend, pattern.rpartition(".")[0] + ".*" if "." in pattern else "")
        for name, _, _ in views.indexes(t)
    ]
    if not rows:
        raise _nothing("relation", pattern)
    rows.sort()
    return _listed(rows, ("Schema", "Name", "Type", "Owner", "Table"), "List of relations", format)


def _indexes_more(backend: Backend, pattern: str, format: Format) -> str:
    rows = [
        (
            s.name,
            name,
            "index",
            t.owner,
            t.name,
            "permanent",
            "btree",
            pretty(index_bytes(backend.server, s.name, t)),
            "",
        )
        for s, t in _matching(backend, pattern.rpartition(".")[0] + ".*" if "." in pattern else "")
        for name, _, _ in views.indexes(t)
    ]
    if not rows:
        raise _nothing("relation", pattern)
    rows.sort()
    names = (
        "Schema",
        "Name",
        "Type",
        "Owner",
        "Table",
        "Persistence",
        "Access method",
        "Size",
        "Description",
    )
    return _listed(rows, names, "List of relations", format)


def _privileges(owner: str, grants: Grants, own: str) -> str:
    """``Access privileges``: empty where nobody was granted anything beyond the defaults."""
    if not grants:
        return ""
    lines = [f"{owner}={own}/{owner}"]
    for role, given in grants.items():
        letters = "".join(_LETTERS[each] for each in given if each in _LETTERS)
        lines.append(f"{'' if role == 'public' else role}={letters}/{owner}")
    return "\n".join(lines)


def _access(backend: Backend, pattern: str, format: Format) -> str:
    rows = [
        (s.name, t.name, "table", _privileges(t.owner, t.grants, "arwdDxtm"), "", "")
        for s, t in _matching(backend, pattern)
    ]
    names = ("Schema", "Name", "Type", "Access privileges", "Column privileges", "Policies")
    return _listed(rows, names, "Access privileges", format)


def _databases(backend: Backend, pattern: str, format: Format, *, more: bool = False) -> str:
    rows = []
    for each in sorted(backend.data.databases.values(), key=lambda d: d.name):
        if pattern and not fnmatchcase(each.name, pattern):
            continue
        shared = f"=c/{each.owner}\n{each.owner}=CTc/{each.owner}" if each.name.startswith("template") else ""
        default = {"public": ("CONNECT", "TEMPORARY")}
        if not shared and dict(each.grants) != default:
            shared = _privileges(each.owner, each.grants, "CTc")
        about = _ABOUT.get(each.name, "")
        size = pretty(views.database_bytes(backend.server, each))
        rows.append(
            (each.name, each.owner, "UTF8", "libc", "en_US.utf8", "en_US.utf8", "", "", shared)
            + ((size, "pg_default", about) if more else ())
        )
    names: tuple[str, ...] = (
        "Name",
        "Owner",
        "Encoding",
        "Locale Provider",
        "Collate",
        "Ctype",
        "Locale",
        "ICU Rules",
        "Access privileges",
    )
    names += ("Size", "Tablespace", "Description") if more else ()
    return _listed(rows, names, "List of databases", format)


_ABOUT = {
    "postgres": "default administrative connection database", "template0": "unmodifiable empty database",
    "template1": "default template for new databases",
}  # fmt: skip


def _schemas(backend: Backend, pattern: str, format: Format) -> str:
    found = sorted(backend.data.databases[backend.database].schemas.values(), key=lambda each: each.name)
    rows = [(each.name, each.owner) for each in found if not pattern or fnmatchcase(each.name, pattern)]
    return _listed(rows, ("Name", "Owner"), "List of schemas", format)


def _roles(backend: Backend, pattern: str, format: Format) -> str:
    rows = []
    for role in sorted(backend.data.roles.values(), key=lambda each: each.name):
        if role.name.startswith("pg_") or (pattern and not fnmatchcase(role.name, pattern)):
            continue
        words = [
            text
            for given, text in (
                (role.superuser, "Superuser"), (role.createrole, "Create role"), (role.createdb, "Create DB"),
                (not role.login, "Cannot login"), (role.replication, "Replication"), (role.bypassrls, "Bypass RLS"),
            )
            if given
        ]  # fmt: skip
        lines = [", ".join(words)] if words else []
        if role.limit == 0:
            lines.append("No connections")
        elif role.limit > 0:
            lines.append(f"{role.limit} connection{'' if role.limit == 1 else 's'}")
        if role.until:
            lines.append(f"Password valid until {role.until}")
        rows.append((role.name, "\n".join(lines)))
    return _listed(rows, ("Role name", "Attributes"), "List of roles", format, footer=False)


def _extensions(backend: Backend, pattern: str, format: Format) -> str:
    about = {"plpgsql": ("1.0", "pg_catalog", "PL/pgSQL procedural language")}
    rows = [
        (name, *about.get(name, ("1.11", "public", "")))
        for name in sorted(backend.data.databases[backend.database].extensions)
    ]
    return _listed(rows, ("Name", "Version", "Schema", "Description"), "List of installed extensions", format)


def _one(backend: Backend, pattern: str, format: Format) -> str:
    if not pattern:
        return _relations(backend, "", format)
    found = _matching(backend, pattern)
    if not found:
        raise _nothing("relation", pattern)
    return "".join(_table(backend, schema, each, format) for schema, each in found)


def _table(backend: Backend, schema: Schema, each: Table, format: Format) -> str:
    rows = []
    for column in each.columns:
        default = "generated always as identity" if column.identity else ""
        if column.generated is not None:
            default = f"generated always as {column.text} stored"
        required = column.not_null or column.name in each.primary
        rows.append((column.name, column.type, "", "not null" if required else "", default))
    footers: list[str] = []
    known = views.indexes(each)
    if known:
        footers.append("Indexes:")
        for name, columns, unique in known:
            kind = (
                " PRIMARY KEY,"
                if columns == each.primary and unique
                else (" UNIQUE CONSTRAINT," if unique else "")
            )
            footers.append(f'    "{name}"{kind} btree ({", ".join(columns)})')
    foreign = [key for key in each.keys if key.kind == "foreign"]
    if foreign:
        footers.append("Foreign-key constraints:")
        footers += [f'    "{_constraint(each, key.columns, key.name)}" {_reference(key)}' for key in foreign]
    referring = [
        (s, t, key)
        for s in backend.data.databases[backend.database].schemas.values()
        for t in s.tables.values()
        for key in t.keys
        if key.references is not None and key.references.name == each.name
    ]
    if referring:
        footers.append("Referenced by:")
        for s, t, key in referring:
            name = _constraint(t, key.columns, key.name)
            footers.append(f'    TABLE "{s.name}.{t.name}" CONSTRAINT "{name}" {_reference(key)}')
    fields = tuple(Field("", name) for name in ("Column", "Type", "Collation", "Nullable", "Default"))
    title = f'Table "{schema.name}.{each.name}"'
    shape = Format(**{**{s: getattr(format, s) for s in Format.__slots__}, "footer": False})
    return table(Result("SELECT", fields, tuple(rows)), shape, title, footers)


def _constraint(of: Table, columns: tuple[str, ...], name: str) -> str:
    return name or f"{of.name}_{'_'.join(columns)}_fkey"


def _reference(key: KeyDef) -> str:
    target = key.references or Name("")
    schema = f"{target.schema}." if target.schema else ""
    foreign = key.foreign or key.columns
    cascade = " ON DELETE CASCADE" if key.cascade else ""
    to = f"{schema}{views.quoted(target.name)}({', '.join(foreign)})"
    return f"FOREIGN KEY ({', '.join(key.columns)}) REFERENCES {to}{cascade}"


_COMMANDS: Mapping[str, Describe] = {
    "d": _one,
    "dt": _relations,
    "di": _indexes,
    "dp": _access,
    "z": _access,
    "l": _databases,
    "list": _databases,
    "dn": _schemas,
    "du": _roles,
    "dg": _roles,
    "dx": _extensions,
}


_MORE: Mapping[str, Describe] = {
    "dt": _relations_more,
    "di": _indexes_more,
    "l": partial(_databases, more=True),
    "list": partial(_databases, more=True),
}
"""What shows more with a plus behind it."""


def connection_info(backend: Backend, host: str, port: int, where: str) -> str:
    """``\\conninfo`` of psql 17."""
    head = f'You are connected to database "{backend.database}" as user "{backend.user}" '
    if not host:
        return f'{head}via socket in "/var/run/postgresql" at port "{port}".\n'
    if where == host:
        return f'{head}on host "{host}" at port "{port}".\n'
    return f'{head}on host "{host}" (address "{where}") at port "{port}".\n'


def dumped(backend: Backend, only: str, *, data: bool, schema: bool) -> str:
    """What ``pg_dump`` writes of a database's tables, or of one of them."""
    version = server_version(backend.server)
    out = [
        "--\n-- PostgreSQL database dump\n--\n",
        f"-- Dumped from database version {version} (Debian {version}-1.pgdg13+1)",
        f"-- Dumped by pg_dump version {version} (Debian {version}-1.pgdg13+1)\n",
        "SET statement_timeout = 0;\nSET lock_timeout = 0;\nSET client_encoding = 'UTF8';\n",
    ]
    keys: list[str] = []
    for inside in backend.data.databases[backend.database].schemas.values():
        tables = [t for t in inside.tables.values() if only in ("", t.name, f"{inside.name}.{t.name}")]
        if schema and tables and inside.name != "public" and not only:
            out.append(f"CREATE SCHEMA {inside.name};\n")
        for each in tables:
            name = f"{inside.name}.{views.quoted(each.name)}"
            if schema:
                columns = ",\n".join(
                    f"    {c.name} {c.type}{' NOT NULL' if c.not_null or c.name in each.primary else ''}"
                    for c in each.columns
                )
                out.append(f"CREATE TABLE {name} (\n{columns}\n);\n")
            if data:
                rows = "".join(
                    "\t".join("\\N" if v is None else shown(v).replace("\n", "\\n") for v in row) + "\n"
                    for row in live_rows(backend.server, inside.name, each)
                )
                out.append(
                    f"COPY {name} ({', '.join(c.name for c in each.columns)}) FROM stdin;\n{rows}\\.\n"
                )
            if schema and each.primary:
                key = views.indexes(each)[0][0]
                keys.append(
                    f"ALTER TABLE ONLY {name}\n    ADD CONSTRAINT {key} PRIMARY KEY ({', '.join(each.primary)});\n"
                )
    return "\n".join([*out, *keys, "--\n-- PostgreSQL database dump complete\n--\n"])
