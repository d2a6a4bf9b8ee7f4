"""Documents with which the server answers, whoever asks."""

from __future__ import annotations

from typing import Any

from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.programs.mongo_data import Account, MongoData
from sregym_env.sim.programs.mongo_shell.session import Session
from sregym_env.sim.programs.mongo_shell.values import Raw

OK = {"ok": 1}
"""The answer of a command that has nothing to say."""


def databases(data: MongoData) -> list[tuple[str, int]]:
    """Databases by name with their size on disk, bytes: two empty files each and what the documents take."""
    names = sorted({"admin", "config", "local", *data.collections})
    return [
        (
            n,
            36864
            + 36864 * (n in data.collections)
            + 300 * sum(map(len, data.collections.get(n, {}).values())),
        )
        for n in names
    ]


def user_document(account: Account) -> dict[str, Any]:
    """An account as ``admin.system.users`` and ``usersInfo`` show it."""
    return {
        "_id": f"{account.database}.{account.name}",
        "userId": Raw(f'UUID("{_user_id(account)}")'),
        "user": account.name,
        "db": account.database,
        "roles": [{"role": role, "db": database} for role, database in account.roles],
        "mechanisms": ["SCRAM-SHA-1", "SCRAM-SHA-256"],
    }


def _user_id(account: Account) -> str:
    text = f"{keyed_bits('user', account.database, account.name):016x}" * 2
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-9{text[17:20]}-{text[20:32]}"


def replica_set_status(session: Session) -> dict[str, Any]:
    """What ``rs.status()`` of a server that stands alone says. Raises ShellError."""
    session.require("replSetGetStatus", "admin", "replSetGetStatus: 1.0")
    return {
        "ok": 0,
        "errmsg": "not running with --replSet",
        "code": 76,
        "codeName": "NoReplicationEnabled",
    }


def error_code(text: str) -> dict[str, Any]:
    """The server's ``code`` and ``codeName`` for the text of an error (``src/mongo/base/error_codes.yml``)."""
    if "requires authentication" in text or text.startswith("not authorized"):
        return {"code": 13, "codeName": "Unauthorized"}
    if "already exists" in text:
        return {"code": 51003, "codeName": "Location51003"}
    if "not found" in text or "Could not find user" in text:
        return {"code": 11, "codeName": "UserNotFound"}
    if "No role named" in text:
        return {"code": 31, "codeName": "RoleNotFound"}
    return {"code": 2, "codeName": "BadValue"}
