"""Who may connect: authentication as ``pg_hba.conf`` of the image says, roles, databases, and how many at once."""

from __future__ import annotations

from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.postgres import sessions, storage
from sregym_env.sim.programs.postgres.catalog import Cluster
from sregym_env.sim.programs.postgres.errors import PgError

HBA_LINE = 'Connection matched file "/var/lib/postgresql/data/pg_hba.conf" line 128: "host all all all scram-sha-256"'
"""The last line of the image's file, which is for whoever comes over the network."""


def trusted(ctx: ProcessContext) -> bool:
    """Whether nobody is asked for a password."""
    return ctx.process.env.get("POSTGRES_HOST_AUTH_METHOD") == "trust"


def refused(
    ctx: ProcessContext,
    data: Cluster,
    user: str,
    password: str,
    database: str,
    *,
    local: bool,
    count: bool = True,
) -> PgError | None:
    """Why somebody is not let in; None where they are. ``local``: through the socket or the loopback interface."""

    def fatal(code: str, text: str, detail: str = "") -> PgError:
        return PgError("FATAL", code, text, detail)

    role = data.roles.get(user)
    if not local and not trusted(ctx):
        if not password:
            return (
                fatal("28000" if not user else "28P01", "no password supplied")
                if role is None
                else _failed(user, role.password)
            )
        if role is None:
            return PgError(
                "FATAL",
                "28P01",
                f'password authentication failed for user "{user}"',
                f'Role "{user}" does not exist.',
            )
        if role.password is None or role.password != password:
            return _failed(user, role.password)
    if role is None:
        return fatal("28000", f'role "{user}" does not exist')
    if not role.login:
        return fatal("28000", f'role "{user}" is not permitted to log in')
    found = data.databases.get(database)
    if found is None:
        return fatal("3D000", f'database "{database}" does not exist')
    if not found.accepts:
        return fatal("55000", f'database "{database}" is not currently accepting connections')
    if not data.may(user, found.owner, found.grants, "CONNECT"):
        return fatal(
            "42501", f'permission denied for database "{database}"', "User does not have CONNECT privilege."
        )
    return _crowded(ctx, data, user, database) if count else None


def _failed(user: str, known: str | None) -> PgError:
    detail = f'User "{user}" has no password assigned.' if known is None else ""
    return PgError("FATAL", "28P01", f'password authentication failed for user "{user}"', detail)


def _crowded(ctx: ProcessContext, data: Cluster, user: str, database: str) -> PgError | None:
    """Whether there are too many connections already."""
    taken, most = sessions.connections(ctx), _most(ctx)
    superuser = data.is_superuser(user)
    if taken >= most:
        return PgError("FATAL", "53300", "sorry, too many clients already")
    if not superuser and taken >= most - _reserved(ctx):
        text = "remaining connection slots are reserved for roles with the SUPERUSER attribute"
        return PgError("FATAL", "53300", text)
    role = data.roles[user]
    if 0 <= role.limit <= sessions.connections(ctx, user=user) and not superuser:
        return PgError("FATAL", "53300", f'too many connections for role "{user}"')
    limit = data.databases[database].limit
    if 0 <= limit <= sessions.connections(ctx, database=database) and not superuser:
        return PgError("FATAL", "53300", f'too many connections for database "{database}"')
    return None


def room(ctx: ProcessContext, data: Cluster, user: str, database: str) -> int:
    """How many more connections a role that may connect can open to a database."""
    free = _most(ctx) - sessions.connections(ctx)
    if data.is_superuser(user):
        return max(free, 0)
    free -= _reserved(ctx)
    for limit, taken in (
        (data.roles[user].limit, sessions.connections(ctx, user=user)),
        (data.databases[database].limit, sessions.connections(ctx, database=database)),
    ):
        if limit >= 0:
            free = min(free, limit - taken)
    return max(free, 0)


def _most(ctx: ProcessContext) -> int:
    return _whole(storage.setting(ctx, "max_connections"), 100)


def _reserved(ctx: ProcessContext) -> int:
    return _whole(storage.setting(ctx, "superuser_reserved_connections"), 3)


def _whole(text: str, default: int) -> int:
    return whole(text, default, 9)


def detail(error: PgError) -> str:
    """What the server's log says behind a failed authentication, and no client is told."""
    return f"{error.detail}\n\t{HBA_LINE}" if error.detail else HBA_LINE
