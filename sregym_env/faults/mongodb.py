"""MongoDB statements about accounts, for faults and their repairs."""

from __future__ import annotations

from sregym_env.cluster.app import Account

ADMINISTRATION = '{role: "userAdminAnyDatabase", db: "admin"}'
"""The role that every account of a guarded database holds beside its own (it may manage accounts)."""


def session(account: Account, *statements: str) -> tuple[str, ...]:
    """The command that runs statements as an account."""
    login = ("-u", account.user, "-p", account.password, "--authenticationDatabase", "admin", "--quiet")
    return ("mongo", "admin", *login, "--eval", "; ".join(statements))


def usable(account: Account, database: str) -> tuple[str, ...]:
    """The command that tells whether an account may write to a database; it writes nothing."""
    login = ("-u", account.user, "-p", account.password, "--authenticationDatabase", "admin", "--quiet")
    return ("mongo", database, *login, "--eval", "db.health.deleteOne({_id: 0})")


def revoke(user: str, role: str, database: str) -> str:
    """Take a role away."""
    return f'db.revokeRolesFromUser("{user}", [{{role: "{role}", db: "{database}"}}])'


def grant(user: str, role: str, database: str) -> str:
    """Give a role."""
    return f'db.grantRolesToUser("{user}", [{{role: "{role}", db: "{database}"}}])'


def remove(user: str, where: str = "") -> str:
    """Remove an account; ``where`` is its database, if it is not ``admin``."""
    return f'{_database(where)}.dropUser("{user}")'


def create(account: Account, database: str, where: str = "") -> str:
    """Make an account with its roles on ``database``; ``where`` as for :func:`remove`."""
    roles = ", ".join([ADMINISTRATION, *(f'{{role: "{role}", db: "{database}"}}' for role in account.roles)])
    return f'{_database(where)}.createUser({{user: "{account.user}", pwd: "{account.password}", roles: [{roles}]}})'


def _database(name: str) -> str:
    return f'db.getSiblingDB("{name}")' if name else "db"
