"""What a MongoDB data directory holds, as frozen values: accounts, collections and the version that wrote it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

CATALOG = "_mdb_catalog.wt"
"""The file in which everything that the others are about is told."""
DATA_KEY = f"\0{CATALOG}"
"""Key of the structured data in the volume's content: what stands in the catalogue."""

_FILES = {
    "WiredTiger": "WiredTiger\nWiredTiger 10.0.0: (May 20, 2020)\n",
    "WiredTiger.lock": "WiredTiger lock file\n",
    "WiredTiger.wt": "",
    "WiredTigerHS.wt": "",
    CATALOG: "",
    "sizeStorer.wt": "",
    "storage.bson": "",
    "mongod.lock": "1\n",
    "journal/WiredTigerLog.0000000001": "",
    "diagnostic.data/metrics.interim": "",
}
_SPARE = frozenset(("WiredTiger.lock", "sizeStorer.wt", "mongod.lock"))
"""Files that a server makes anew where they are not."""

Role = tuple[str, str]
"""(role, database)."""

Document = Mapping[str, Any]

READ = frozenset(
    "find count aggregate distinct listCollections listIndexes dbStats collStats dbHash explain getMore".split()
)
WRITE = frozenset(
    "insert update delete findAndModify create createIndexes drop dropIndexes collMod renameCollection".split()
)
ACCOUNTS = frozenset(
    "usersInfo createUser updateUser dropUser dropAllUsersFromDatabase grantRolesToUser revokeRolesFromUser rolesInfo "
    "createRole dropRole changeUserPassword".split()
)
CLUSTER = frozenset(
    "serverStatus replSetGetStatus currentOp getLog getCmdLineOpts hostInfo top listDatabases getParameter "
    "connPoolStats".split()
)
ADMINISTER = frozenset("shutdown setParameter fsync killOp setFeatureCompatibilityVersion".split())
DATABASE_ADMIN = frozenset("dropDatabase create createIndexes drop collMod validate profile compact".split())


@dataclass(frozen=True, slots=True)
class Account:
    """A database user."""

    name: str
    database: str
    """The database it authenticates against."""
    password: str
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True)
class MongoData:
    """One data directory."""

    version: str
    """Feature compatibility version, e.g. ``4.4``."""
    accounts: tuple[Account, ...] = ()
    collections: Mapping[str, Mapping[str, tuple[Document, ...]]] = field(default_factory=dict)
    """Documents by database and collection."""
    born: Mapping[str, int] = field(default_factory=dict)
    """When each collection was made, microseconds since the Unix epoch, by ``database.collection``."""
    checkpoint: str = ""
    """Where and when this was written; copies of the files keep it."""

    def written(self, now: int, place: str) -> MongoData:
        """The same, as it is written at an instant: collections that are new are made then."""
        names = [f"{database}.{name}" for database, inner in self.collections.items() for name in inner]
        born = self.born if names == list(self.born) else {name: self.born.get(name, now) for name in names}
        return replace(self, born=born, checkpoint=f"{place}@{now}")

    def files(self) -> dict[str, str]:
        """The files of the directory, with what a shell sees in them."""
        names = dict(_FILES)
        for database in sorted(self.collections):
            for collection in sorted(self.collections[database]):
                names[f"collection-{len(names)}--{database}.{collection}.wt"] = ""
        return names

    def lacking(self, names: Collection[str]) -> str | None:
        """A file without which the data cannot be opened, if one is not among these names."""
        wanted = (name for name in self.files() if "/" not in name and name not in _SPARE)
        return next((name for name in wanted if name not in names), None)

    def account(self, name: str, database: str) -> Account | None:
        """A user by name and authentication database."""
        for account in self.accounts:
            if account.name == name and account.database == database:
                return account
        return None

    def with_account(self, account: Account) -> MongoData:
        """Add or replace a user."""
        others = tuple(a for a in self.accounts if (a.name, a.database) != (account.name, account.database))
        return replace(self, accounts=(*others, account))

    def without_account(self, name: str, database: str) -> MongoData:
        """Remove a user."""
        kept = tuple(a for a in self.accounts if (a.name, a.database) != (name, database))
        return replace(self, accounts=kept)

    def documents(self, database: str, collection: str) -> tuple[Document, ...]:
        """The documents of a collection; none where there is no such collection."""
        return self.collections.get(database, {}).get(collection, ())

    def with_documents(self, database: str, collection: str, documents: tuple[Document, ...]) -> MongoData:
        """Replace the documents of a collection."""
        known = self.collections.get(database, {})
        return replace(self, collections={**self.collections, database: {**known, collection: documents}})

    def without_collection(self, database: str, collection: str) -> MongoData:
        """Drop a collection."""
        kept = {n: d for n, d in self.collections.get(database, {}).items() if n != collection}
        others = {n: c for n, c in self.collections.items() if n != database}
        return replace(self, collections={**others, database: kept} if kept else others)

    def without_database(self, database: str) -> MongoData:
        """Drop a database."""
        return replace(self, collections={n: c for n, c in self.collections.items() if n != database})


def allows(roles: tuple[Role, ...], database: str, command: str) -> bool:
    """Whether any of the roles grants a command on a database (the built-in roles of MongoDB 4.4)."""
    return any(_grants(role, on, database, command) for role, on in roles)


def _grants(role: str, on: str, database: str, command: str) -> bool:
    anywhere = role.endswith("AnyDatabase") and on == "admin"
    if anywhere:
        role = role[: -len("AnyDatabase")]
    if role == "root" and on == "admin":
        return True
    if role in ("dbOwner", "__system"):
        return on == database or role == "__system"
    if on == "admin" and role in ("clusterMonitor", "clusterManager", "clusterAdmin", "hostManager"):
        return command in CLUSTER or (command in ADMINISTER and role != "clusterMonitor")
    if command == "listDatabases" and anywhere:
        return True
    if not anywhere and on != database:
        return False
    match role:
        case "read":
            return command in READ
        case "readWrite":
            return command in READ or command in WRITE
        case "dbAdmin":
            return command in DATABASE_ADMIN or command in READ - {"find", "aggregate", "distinct", "count"}
        case "userAdmin":
            return command in ACCOUNTS
    return False


BUILTIN_ROLES = frozenset(
    "read readWrite dbAdmin dbOwner userAdmin clusterAdmin clusterManager clusterMonitor hostManager backup restore "
    "readAnyDatabase readWriteAnyDatabase userAdminAnyDatabase dbAdminAnyDatabase root __system".split()
)
"""Roles that exist without being created."""
