"""Methods of ``db``: accounts and roles, databases and collections, commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import md5
from typing import Any, cast

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.programs import mongo_server
from sregym_env.sim.programs.mongo_data import BUILTIN_ROLES, Account, MongoData, Role
from sregym_env.sim.programs.mongo_shell import activity
from sregym_env.sim.programs.mongo_shell.collection import CollectionMethods
from sregym_env.sim.programs.mongo_shell.documents import (
    OK,
    databases,
    error_code,
    replica_set_status,
    user_document,
)
from sregym_env.sim.programs.mongo_shell.queries import matches
from sregym_env.sim.programs.mongo_shell.session import ERROR_AT, NOTHING, Session, ShellError
from sregym_env.sim.programs.mongo_shell.values import Collection, Database, Raw, tojson
from sregym_env.sim.world.derived import DerivedFrom


def _summed(documents: list[Manifest]) -> str:
    """A hash of the documents of a collection, in whatever order they came. Identifiers are left out: those that the
    server made are kept with none of them."""
    texts = sorted(
        tojson({key: value for key, value in document.items() if key != "_id"}, one_line=True)
        for document in documents
    )
    return md5("\n".join(texts).encode(), usedforsecurity=False).hexdigest()


_digest = DerivedFrom(_summed)


class DatabaseMethods:
    """Methods of ``db``."""

    def __init__(self, session: Session, database: str) -> None:
        self.session = session
        self.database = database

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Call a method by name."""
        method = getattr(self, f"do_{name}", None)
        if method is None:
            raise ShellError(f"TypeError: db.{name} is not a function :")
        try:
            return method(*arguments)
        except TypeError:
            raise ShellError(f"Error: db.{name}: wrong number or type of arguments :") from None

    # --- accounts ---------------------------------------------------------------------------------

    def _change(self, data: MongoData) -> None:
        mongo_server.store(self.session.server, data)

    def _roles(self, given: Any) -> tuple[Role, ...]:
        roles: list[Role] = []
        for item in given if isinstance(given, (list, tuple)) else [given]:
            document = {"role": item, "db": self.database} if isinstance(item, str) else item
            for key in ("role", "db"):
                if not isinstance(document, Mapping) or not isinstance(document.get(key), str):
                    raise ShellError(
                        f'Error: couldn\'t add user: Missing expected field "{key}" :\n{ERROR_AT}'
                    )
            role, on = document["role"], document["db"]
            if role not in BUILTIN_ROLES:
                raise ShellError(f"Error: couldn't add user: No role named {role}@{on} :\n{ERROR_AT}")
            roles.append((role, on))
        return tuple(roles)

    def _account(self, user: str, doing: str) -> Account:
        found = self.session.data.account(user, self.database)
        if found is None:
            if doing == "update":
                raise ShellError(
                    f"Error: Updating user failed: User {user}@{self.database} not found :\n{ERROR_AT}"
                )
            raise ShellError(f'Error: Could not find user "{user}" for db "{self.database}" :\n{ERROR_AT}')
        return found

    def do_createUser(self, document: Mapping[str, Any], concern: Any = None) -> Any:
        """``db.createUser({user, pwd, roles})``."""
        session = self.session
        if not isinstance(document, Mapping):
            raise ShellError("Error: createUser() takes a user document :")
        user = str(document.get("user", ""))
        session.require("createUser", self.database, f'createUser: "{user}", pwd: "xxx", roles: {{...}}')
        if "roles" not in document:
            raise ShellError('Error: couldn\'t add user: "createUser" command requires a "roles" array :')
        if session.data.account(user, self.database) is not None:
            raise ShellError(
                f'Error: couldn\'t add user: User "{user}@{self.database}" already exists :\n{ERROR_AT}'
            )
        roles = self._roles(document["roles"])
        account = Account(user, self.database, str(document.get("pwd", "")), roles)
        self._change(session.data.with_account(account))
        shown = {k: v for k, v in document.items() if k != "pwd"}
        session.out.append("Successfully added user: " + tojson(shown) + "\n")
        return NOTHING

    def do_updateUser(self, user: str, document: Mapping[str, Any], concern: Any = None) -> Any:
        """``db.updateUser(name, {pwd, roles})``."""
        self.session.require("updateUser", self.database, f'updateUser: "{user}", pwd: "xxx"')
        account = self._account(user, "update")
        if "pwd" in document:
            account = replace(account, password=str(document["pwd"]))
        if "roles" in document:
            account = replace(account, roles=self._roles(document["roles"]))
        self._change(self.session.data.with_account(account))
        return NOTHING

    def do_changeUserPassword(self, user: str, password: str, concern: Any = None) -> Any:
        """``db.changeUserPassword(name, password)``."""
        return self.do_updateUser(user, {"pwd": password})

    def do_dropUser(self, user: str, concern: Any = None) -> Any:
        """``db.dropUser(name)``."""
        self.session.require("dropUser", self.database, f'dropUser: "{user}"')
        if self.session.data.account(user, self.database) is None:
            return False
        self._change(self.session.data.without_account(user, self.database))
        return True

    do_removeUser = do_dropUser

    def do_grantRolesToUser(self, user: str, roles: Any, concern: Any = None) -> Any:
        """``db.grantRolesToUser(name, roles)``."""
        shown = f'grantRolesToUser: "{user}", roles: {tojson(roles, one_line=True)}'
        self.session.require("grantRolesToUser", self.database, shown)
        account = self._account(user, "grant")
        added = tuple(role for role in self._roles(roles) if role not in account.roles)
        self._change(self.session.data.with_account(replace(account, roles=(*account.roles, *added))))
        return NOTHING

    def do_revokeRolesFromUser(self, user: str, roles: Any, concern: Any = None) -> Any:
        """``db.revokeRolesFromUser(name, roles)``."""
        shown = f'revokeRolesFromUser: "{user}", roles: {tojson(roles, one_line=True)}'
        self.session.require("revokeRolesFromUser", self.database, shown)
        account = self._account(user, "revoke")
        gone = self._roles(roles)
        left = tuple(role for role in account.roles if role not in gone)
        self._change(self.session.data.with_account(replace(account, roles=left)))
        return NOTHING

    def do_getUser(self, user: str, options: Any = None) -> Any:
        """``db.getUser(name)``: null where there is none."""
        self.session.require(
            "usersInfo", self.database, f'usersInfo: {{ user: "{user}", db: "{self.database}" }}'
        )
        found = self.session.data.account(user, self.database)
        return None if found is None else user_document(found)

    def do_getUsers(self, options: Any = None) -> Any:
        """``db.getUsers()``."""
        self.session.require("usersInfo", self.database, "usersInfo: 1.0")
        return [user_document(a) for a in self.session.data.accounts if a.database == self.database]

    def do_getRole(self, role: str, options: Any = None) -> Any:
        """``db.getRole(name)``."""
        if role not in BUILTIN_ROLES:
            return None
        return {"role": role, "db": self.database, "isBuiltin": True, "roles": [], "inheritedRoles": []}

    def do_auth(self, user: Any, password: str = "") -> Any:
        """``db.auth(name, password)``: 1, or 0 after an error message."""
        if isinstance(user, Mapping):
            user, password = str(user.get("user", "")), str(user.get("pwd", ""))
        if self.session.login(user, password, self.database):
            return 1
        self.session.out.append("Error: Authentication failed.\n")
        return 0

    def do_logout(self) -> Any:
        """``db.logout()``."""
        self.session.account = None
        return OK

    # --- databases and collections ------------------------------------------------------------------

    def do_getSiblingDB(self, name: str) -> Any:
        """``db.getSiblingDB(name)``."""
        return Database(name)

    do_getSisterDB = do_getSiblingDB

    def do_getCollection(self, name: str) -> Any:
        """``db.getCollection(name)``."""
        return Collection(self.database, name)

    def do_getName(self) -> Any:
        """``db.getName()``."""
        return self.database

    def do_getMongo(self) -> Any:
        """``db.getMongo()``."""
        return Raw("connection to 127.0.0.1:27017")

    def do_getCollectionNames(self) -> Any:
        """``db.getCollectionNames()``."""
        shown = "listCollections: 1.0, filter: {}, nameOnly: true, authorizedCollections: true"
        self.session.require("listCollections", self.database, shown)
        return sorted(self.session.data.collections.get(self.database, {}))

    def do_createCollection(self, name: str, options: Any = None) -> Any:
        """``db.createCollection(name)``."""
        self.session.require("create", self.database, f'create: "{name}"')
        data = self.session.data
        if name in data.collections.get(self.database, {}):
            text = f"Collection already exists. NS: {self.database}.{name}"
            return {"ok": 0, "errmsg": text, "code": 48, "codeName": "NamespaceExists"}
        self._change(data.with_documents(self.database, name, ()))
        return OK

    def do_dropDatabase(self, concern: Any = None) -> Any:
        """``db.dropDatabase()``."""
        self.session.require("dropDatabase", self.database, "dropDatabase: 1.0")
        known = self.database in self.session.data.collections
        self._change(self.session.data.without_database(self.database))
        return {"dropped": self.database, "ok": 1} if known else OK

    def do_stats(self, scale: Any = 1) -> Any:
        """``db.stats()``."""
        self.session.require("dbStats", self.database, "dbStats: 1.0, scale: undefined")
        collections = self.session.data.collections.get(self.database, {})
        objects = sum(len(documents) for documents in collections.values())
        size = objects * 120
        return {
            "db": self.database,
            "collections": len(collections),
            "views": 0,
            "objects": objects,
            "avgObjSize": 120 if objects else 0,
            "dataSize": size,
            "storageSize": 20480 * len(collections),
            "indexes": len(collections),
            "indexSize": 20480 * len(collections),
            "totalSize": 40960 * len(collections),
            "scaleFactor": 1,
            "fsUsedSize": 31_457_280_000,
            "fsTotalSize": 101_203_873_792,
            "ok": 1,
        }

    def do_serverStatus(self, options: Any = None) -> Any:
        """``db.serverStatus()``, its most read parts."""
        session = self.session
        session.require("serverStatus", self.database, "serverStatus: 1.0")
        process = session.server.process
        uptime = (session.server.now() - process.started_at) / SECOND
        return {
            "host": process.hostname,
            "version": mongo_server.server_version(session.server),
            "process": "mongod",
            "pid": 1,
            "uptime": int(uptime),
            "uptimeMillis": int(uptime * 1000),
            "localTime": Raw(f'ISODate("{rfc3339(session.server.wall())}")'),
            "asserts": {"regular": 0, "warning": 0, "msg": 0, "user": 0, "rollovers": 0},
            **activity.status(session.server),
            "mem": {"bits": 64, "resident": process.memory >> 20, "virtual": 1488, "supported": True},
            "storageEngine": {"name": "wiredTiger", "supportsCommittedReads": True, "persistent": True},
            "ok": 1,
        }

    def do_version(self) -> Any:
        """``db.version()``."""
        return mongo_server.server_version(self.session.server)

    def do_hello(self) -> Any:
        """``db.hello()`` / ``db.isMaster()``."""
        return {"ismaster": True, "maxWireVersion": 9, "minWireVersion": 0, "readOnly": False, "ok": 1}

    do_isMaster = do_hello

    def do_currentOp(self, options: Any = None) -> Any:
        """``db.currentOp()``."""
        self.session.require("currentOp", "admin", "currentOp: 1.0")
        wanted = dict(options) if isinstance(options, Mapping) else {}
        everything = options is True or bool(wanted.pop("$all", False))
        for name in ("currentOp", "$ownOps"):
            wanted.pop(name, None)
        found = activity.operations(self.session, everything=everything)
        return {"inprog": [each for each in found if matches(each, wanted)], "ok": 1}

    def do_hostInfo(self) -> Any:
        """``db.hostInfo()``."""
        self.session.require("hostInfo", "admin", "hostInfo: 1.0")
        return {"system": {"hostname": self.session.server.process.hostname, "cpuAddrSize": 64}, "ok": 1}

    def do_help(self) -> Any:
        """``db.help()``."""
        self.session.out.append(
            "DB methods:\n\tdb.adminCommand(nameOrDocument)\n\tdb.auth(username, password)\n"
        )
        return NOTHING

    def do_shutdownServer(self, options: Any = None) -> Any:
        """``db.shutdownServer()``."""
        self.session.require("shutdown", "admin", "shutdown: 1.0")
        self.session.server.exit(0, delay=0.3)
        self.session.out.append("server should be down...\n")
        return NOTHING

    def do_adminCommand(self, command: Any, options: Any = None) -> Any:
        """``db.adminCommand(command)``."""
        return DatabaseMethods(self.session, "admin").do_runCommand(command)

    def do_runCommand(self, command: Any, options: Any = None) -> Any:
        """``db.runCommand(command)``: the answer document, also for errors."""
        document = {command: 1} if isinstance(command, str) else dict(command)
        name = next(iter(document), "")
        argument = document.get(name)
        try:
            return self._command(name, argument, document)
        except ShellError as error:
            text = str(error).removeprefix("Error: ").split(" :\n")[0].removesuffix(" :")
            text = text.removeprefix("couldn't add user: ")
            return {"ok": 0, "errmsg": text, **error_code(text)}

    def _command(self, name: str, argument: Any, document: Mapping[str, Any]) -> Any:
        session, out = self.session, len(self.session.out)
        collection = Collection(self.database, str(argument))
        methods = CollectionMethods(session, collection)
        match name:
            case "ping":
                return OK
            case "connectionStatus":
                users = (
                    []
                    if session.account is None
                    else [{"user": session.account[0], "db": session.account[1]}]
                )
                roles = [{"role": r, "db": d} for r, d in session.roles()]
                return {"authInfo": {"authenticatedUsers": users, "authenticatedUserRoles": roles}, "ok": 1}
            case "hello" | "isMaster" | "ismaster":
                return self.do_hello()
            case "serverStatus":
                return self.do_serverStatus()
            case "currentOp":
                return self.do_currentOp(document)
            case "dbStats" | "dbstats":
                return self.do_stats()
            case "buildInfo" | "buildinfo":
                return {
                    "version": self.do_version(),
                    "gitVersion": "72e66213c2c3eab37d9358d5e78ad7f5c1d0d0d7",
                    "ok": 1,
                }
            case "dbHash":
                session.require(name, self.database, "dbHash: 1.0")
                sums = {
                    each: _digest(cast(list[Manifest], session.data.documents(self.database, each)))
                    for each in self.do_getCollectionNames()
                }
                whole = md5("".join(sums.values()).encode(), usedforsecurity=False).hexdigest()
                host = f"{session.server.process.hostname}:27017"
                return {"host": host, "collections": sums, "md5": whole, "timeMillis": 1, "ok": 1}
            case "listDatabases":
                session.require(name, "admin", "listDatabases: 1.0")
                rows = [{"name": n, "sizeOnDisk": s, "empty": False} for n, s in databases(session.data)]
                return {"databases": rows, "totalSize": sum(s for _, s in databases(session.data)), "ok": 1}
            case "listCollections":
                names = self.do_getCollectionNames()
                batch = [{"name": n, "type": "collection", "options": {}} for n in names]
                return {
                    "cursor": {"id": 0, "ns": f"{self.database}.$cmd.listCollections", "firstBatch": batch},
                    "ok": 1,
                }
            case "usersInfo":
                users = self.do_getUsers()
                wanted = argument.get("user") if isinstance(argument, Mapping) else argument
                if isinstance(wanted, str):
                    users = [u for u in users if u["user"] == wanted]
                return {"users": users, "ok": 1}
            case "createUser":
                self.do_createUser({**document, "user": argument})
            case "updateUser":
                self.do_updateUser(str(argument), document)
            case "dropUser":
                if not self.do_dropUser(str(argument)):
                    raise ShellError(f"Error: User '{argument}@{self.database}' not found :")
            case "grantRolesToUser":
                self.do_grantRolesToUser(str(argument), document.get("roles", []))
            case "revokeRolesFromUser":
                self.do_revokeRolesFromUser(str(argument), document.get("roles", []))
            case "find":
                found = methods.do_find(document.get("filter", {}))
                first_batch = list(found.documents[: document.get("limit", 101) or 101])
                return {
                    "cursor": {"firstBatch": first_batch, "id": 0, "ns": f"{self.database}.{argument}"},
                    "ok": 1,
                }
            case "count":
                return {"n": methods.do_count(document.get("query", {})), "ok": 1}
            case "replSetGetStatus":
                return replica_set_status(session)
            case "getParameter" if "featureCompatibilityVersion" in document:
                session.require(name, "admin", "getParameter: 1.0")
                return {"featureCompatibilityVersion": {"version": session.data.version}, "ok": 1}
            case "setFeatureCompatibilityVersion":
                session.require(name, "admin", f'setFeatureCompatibilityVersion: "{argument}"')
                self._change(replace(session.data, version=str(argument)))
            case "shutdown":
                return self.do_shutdownServer()
            case _:
                text = f"no such command: '{name}'"
                return {"ok": 0, "errmsg": text, "code": 59, "codeName": "CommandNotFound"}
        del session.out[out:]
        return OK
