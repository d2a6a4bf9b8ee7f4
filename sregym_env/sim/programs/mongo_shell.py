"""``mongo``, the legacy shell of MongoDB 4.4, and the other client tools of the image."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson

from sregym_env.cluster.api import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.programs import javascript as js
from sregym_env.sim.programs import mongod
from sregym_env.sim.programs.context import ProcessContext
from sregym_env.sim.programs.mongo_data import ACCOUNTS, BUILTIN_ROLES, Account, MongoData, Role, allows
from sregym_env.sim.programs.program import Call, Command

ERROR_AT = "_getErrorWithCode@src/mongo/shell/utils.js:25:13"


class ShellError(Exception):
    """An uncaught exception of the script."""


class Quit(Exception):
    """``quit()`` or ``exit``."""


class Printed:
    """A value whose echo was already printed."""


NOTHING = Printed()


@dataclass(slots=True)
class Session:
    """One run of the shell against one server."""

    server: ProcessContext
    """The mongod that answers."""
    local: bool
    setup: bool = False
    """During the image's initialisation no authorisation is enforced."""
    database: str = "test"
    account: tuple[str, str] | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    out: list[str] = field(default_factory=list)

    @property
    def data(self) -> MongoData:
        """The server's data now."""
        return mongod.stored_or_empty(self.server)

    def roles(self) -> tuple[Role, ...]:
        """Roles of the authenticated user."""
        found = None if self.account is None else self.data.account(*self.account)
        return () if found is None else found.roles

    def require(self, command: str, database: str, shown: str = "") -> None:
        """Check authentication and authorisation as the server does. Raises ShellError."""
        if self.setup or not mongod.authorisation(self.server):
            return
        if self.account is None:
            if self.local and not self.data.accounts and command == "createUser":
                return
            text = f"command {command} requires authentication"
            raise ShellError(f"Error: {text} :\n{ERROR_AT}")
        if allows(self.roles(), database, command):
            return
        text = (
            f"not authorized on {database} to execute command {{ {shown or command + ': 1.0'}, lsid: {{ id: "
        )
        text += f'{self.uuid("lsid")} }}, $db: "{database}" }}'
        mongod.log_unauthorised(self.server, database, text)
        raise ShellError(f"Error: {text} :\n{ERROR_AT}")

    def uuid(self, name: str) -> str:
        """A session identifier."""
        bits = f"{keyed_bits(self.server.now(), name):016x}{keyed_bits(name, self.server.process.pod):016x}"
        text = f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-a{bits[17:20]}-{bits[20:32]}"
        return f'UUID("{text}")'

    def login(self, user: str, password: str, source: str) -> bool:
        """Authenticate; a refusal is written to the server's log."""
        account = self.data.account(user, source)
        if account is not None and account.password == password:
            self.account = (user, source)
            return True
        call = Call("connect", (("user", user), ("source", source), ("shell", "1")))
        mongod.log_refused_login(self.server, call, account is None)
        return False


# --- the command line ------------------------------------------------------------------------------------


def mongo(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    """``mongo [options] [db address] [file ...]``."""
    return run(ctx, argv, stdin, setup=False)


def run(ctx: ProcessContext, argv: Sequence[str], stdin: str, *, setup: bool) -> ExecResult:
    """The shell as the image's entrypoint (``setup``) or a person runs it."""
    options, positional = _options(argv[1:])
    if "version" in options:
        return ExecResult("MongoDB shell version v4.4.6\n")
    if "help" in options:
        return ExecResult(_HELP)
    quiet = "quiet" in options
    host, port, database, files = _address(options, positional)
    head = "" if quiet else "MongoDB shell version v4.4.6\n"
    uri = f"mongodb://{host}:{port}/{database}?"
    source = options.get("authenticationDatabase", "")
    if source:
        uri += f"authSource={source}&"
    head += "" if quiet else f"connecting to: {uri}compressors=disabled&gssapiServiceName=mongodb\n"
    server = _server(ctx, host, port, setup)
    if isinstance(server, str):
        return ExecResult(
            head + f"Error: couldn't connect to server {host}:{port}, connection attempt failed: {server} :\n"
            "connect@src/mongo/shell/mongo.js:374:17\n@(connect):2:6\nexception: connect failed\n"
            "exiting with code 1\n",
            exit_code=1,
        )
    session = Session(server, host in ("127.0.0.1", "localhost"), setup, database or "test")
    user = options.get("username", "")
    if user and not session.login(user, options.get("password", ""), source or database or "admin"):
        return ExecResult(
            head
            + "Error: Authentication failed. :\nconnect@src/mongo/shell/mongo.js:374:17\n@(connect):2:6\n"
            "exception: connect failed\nexiting with code 1\n",
            exit_code=1,
        )
    if not quiet:
        head += f'Implicit session: session {{ "id" : {session.uuid("session")} }}\nMongoDB server version: 4.4.6\n'
    code = 0
    if "eval" in options:
        code = _evaluate(session, options["eval"], stop=True)
    for name in files:
        try:
            code = code or _evaluate(session, ctx.read(name), stop=True)
        except OSError:
            session.out.append(f"file [{name}] doesn't exist\nfailed to load: {name}\n")
            code = 253
    if not files and "eval" not in options:
        code = _evaluate(session, stdin, stop=False)
        session.out.append("" if quiet else "bye\n")
    if code == 252:
        session.out.append("exiting with code -4\n")
    return ExecResult(head + "".join(session.out), exit_code=code)


_FLAGS = frozenset(
    "quiet nodb norc help h version shell ipv6 tls ssl tlsAllowInvalidCertificates verbose".split()
)
_SHORT = {"u": "username", "p": "password", "h": "host"}


def _options(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    positional: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name in _FLAGS:
                options[name] = ""
            elif equals:
                options[name] = value
            else:
                options[name] = rest.pop(0) if rest else ""
        elif word.startswith("-") and len(word) > 1:
            name = _SHORT.get(word[1], word[1])
            options[name] = word[2:] or (rest.pop(0) if rest else "")
        else:
            positional.append(word)
    return options, positional


_URI = re.compile(r"mongodb://(?:([^:@/]+)(?::([^@]*))?@)?([^/:?]+)(?::(\d+))?(?:/([^?]*))?(?:\?(.*))?$")


def _address(options: dict[str, str], positional: list[str]) -> tuple[str, int, str, list[str]]:
    host, port, database = options.get("host", "127.0.0.1"), int(options.get("port", "0") or 0), ""
    files = [word for word in positional if word.endswith(".js")]
    names = [word for word in positional if not word.endswith(".js")]
    if names:
        match = _URI.match(names[0])
        if match is not None:
            user, password, host, number, database, query = match.groups(default="")
            port = port or int(number or 0)
            if user:
                options.setdefault("username", user)
                options.setdefault("password", password)
            for pair in query.split("&"):
                if pair.startswith("authSource="):
                    options.setdefault("authenticationDatabase", pair[11:])
        elif "/" in names[0]:
            host, _, database = names[0].partition("/")
        else:
            database = names[0]
    if ":" in host:
        host, _, number = host.partition(":")
        port = port or int(number) if number.isdecimal() else 27017
    return host, port or 27017, database, files


def _server(ctx: ProcessContext, host: str, port: int, setup: bool) -> ProcessContext | str:
    if setup:
        return ctx
    connection = ctx.connect(host, port)
    leg = connection.legs[0]
    if leg.outcome == "no_such_host" or leg.outcome == "dns_timeout":
        return f"HostUnreachable: Could not find address for {host}:{port}: SocketException: Host not found"
    if leg.outcome != "ok" or leg.process is None:
        reason = "Connection refused" if leg.outcome == "refused" else "Connection timed out"
        where = f"{leg.address}:{port}"
        return f"SocketException: Error connecting to {host}:{port} ({where}) :: caused by :: {reason}"
    process = ctx.world.processes.get(leg.process)
    if process is None or process.program != "mongod":
        return "HostUnreachable: Connection closed by peer"
    return ProcessContext(ctx.world, process)


def _evaluate(session: Session, script: str, *, stop: bool) -> int:
    """Run a script, echoing values as the interactive shell does; the exit code so far."""
    for text in js.statements(script):
        try:
            value = _statement(session, text)
        except Quit:
            return 0
        except js.SyntaxProblem as problem:
            session.out.append(f"uncaught exception: {problem} :\n@(shell):1:1\n")
        except ShellError as error:
            session.out.append(f"uncaught exception: {error}\n@(shell):1:1\n")
        else:
            if value is not NOTHING and not text.startswith(("var ", "let ", "const ")):
                session.out.append(echo(value) + "\n")
            continue
        if stop:
            return 252
    return 0


def _statement(session: Session, text: str) -> Any:
    words = text.split()
    if words[0] in ("use", "show", "exit", "quit", "help", "it") and "(" not in text.split("\n")[0]:
        return _HELPERS[words[0]](session, words[1:])
    return Evaluator(session).value(js.parse(text))


# --- helpers of the interactive shell ------------------------------------------------------------------


def _use(session: Session, words: list[str]) -> Any:
    session.database = words[0] if words else session.database
    session.out.append(f"switched to db {session.database}\n")
    return NOTHING


def _exit(session: Session, words: list[str]) -> Any:
    raise Quit


def _show(session: Session, words: list[str]) -> Any:
    what = words[0] if words else ""
    if what in ("dbs", "databases"):
        session.require("listDatabases", "admin", "listDatabases: 1.0, nameOnly: false")
        for name, size in _databases(session.data):
            session.out.append(f"{name:<{max(6, len(name) + 2)}} {size / 1e9:.3f}GB\n")
    elif what in ("collections", "tables"):
        shown = "listCollections: 1.0, filter: {}, nameOnly: true, authorizedCollections: true"
        session.require("listCollections", session.database, shown)
        for name in sorted(session.data.collections.get(session.database, {})):
            session.out.append(name + "\n")
    elif what == "users":
        session.require("usersInfo", session.database, "usersInfo: 1.0")
        for account in session.data.accounts:
            if account.database == session.database:
                session.out.append(echo(_user_document(account)) + "\n")
    elif what == "roles":
        for name in sorted(BUILTIN_ROLES):
            session.out.append(echo({"role": name, "db": session.database, "isBuiltin": True}) + "\n")
    elif what in ("log", "logs", "profile"):
        session.out.append("global\nstartupWarnings\n")
    else:
        session.out.append(f"Error: don't know how to show [{what}]\n")
    return NOTHING


def _nothing(session: Session, words: list[str]) -> Any:
    session.out.append("no cursor\n")
    return NOTHING


def _help(session: Session, words: list[str]) -> Any:
    session.out.append(
        "\tdb.help()                    help on db methods\n\tshow dbs                     show database names\n"
        "\tshow collections             show collections in current database\n"
        "\tshow users                   show users in current database\n"
        "\tuse <db_name>                set current database\n"
    )
    return NOTHING


_HELPERS: Mapping[str, Callable[[Session, list[str]], Any]] = {
    "use": _use,
    "show": _show,
    "exit": _exit,
    "quit": _exit,
    "it": _nothing,
    "help": _help,
}


def _databases(data: MongoData) -> list[tuple[str, int]]:
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


def _user_document(account: Account) -> dict[str, Any]:
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


# --- printing -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Raw:
    """A value printed as it is, e.g. ``ObjectId("...")``."""

    text: str


def echo(value: Any, *, one_line: bool = False) -> str:
    """A value as the shell echoes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Cursor):
        return value.render()
    return tojson(value, one_line=one_line)


def tojson(value: Any, indent: str = "", *, one_line: bool = False) -> str:
    """The legacy shell's ``tojson``: tabs, a blank before and after the colon, numbers in plain notation."""
    match value:
        case Raw():
            return value.text
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return (
                str(value) if abs(value) < 2**31 else f"NumberLong({value})" if value < 2**53 else str(value)
            )
        case float():
            return str(int(value)) if value.is_integer() else repr(value)
        case str():
            return orjson.dumps(value).decode()
        case Mapping():
            return _object(value, indent, one_line)
        case list() | tuple():
            return _array(value, indent, one_line)
    return f"[{type(value).__name__.lower()}]"


def _object(value: Mapping[str, Any], indent: str, one_line: bool) -> str:
    if not value:
        return "{ }" if one_line else "{\n" + indent + "\t\n" + indent + "}" if indent else "{ }"
    if one_line:
        return "{ " + ", ".join(f'"{k}" : {tojson(v, one_line=True)}' for k, v in value.items()) + " }"
    inner = indent + "\t"
    lines = [f'{inner}"{k}" : {tojson(v, inner)}' for k, v in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}"


def _array(value: Sequence[Any], indent: str, one_line: bool) -> str:
    if not value:
        return "[ ]"
    if one_line:
        return "[ " + ", ".join(tojson(v, one_line=True) for v in value) + " ]"
    inner = indent + "\t"
    return "[\n" + ",\n".join(inner + tojson(v, inner) for v in value) + "\n" + indent + "]"


# --- objects of the shell --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Database:
    """``db``."""

    name: str


@dataclass(frozen=True, slots=True)
class Collection:
    """``db.name``."""

    database: str
    name: str


@dataclass(frozen=True, slots=True)
class Admin:
    """``rs``, ``sh`` and other singletons by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """The result of a query."""

    documents: tuple[Mapping[str, Any], ...]
    is_pretty: bool = False

    def render(self) -> str:
        """The first batch of twenty, as the shell prints it."""
        shown = self.documents[:20]
        lines = [tojson(d, one_line=not self.is_pretty) for d in shown]
        if len(self.documents) > len(shown):
            lines.append('Type "it" for more')
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Method:
    """A method not yet called."""

    target: Any
    name: str


class Evaluator:
    """Gives statements their meaning."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def value(self, node: Any) -> Any:
        """The value of a syntax tree."""
        match node:
            case js.Assign():
                result = self.value(node.value)
                if node.name == "db" and isinstance(result, Database):
                    self.session.database = result.name
                else:
                    self.session.variables[node.name] = result
                return result
            case js.Name():
                return self.name(node.name)
            case js.Member():
                key = node.name if isinstance(node.name, str) else self.value(node.name)
                return self.member(self.value(node.target), key)
            case js.Invoke():
                return self.invoke(node)
            case js.Sum():
                left, right = self.value(node.left), self.value(node.right)
                if isinstance(left, str) or isinstance(right, str):
                    return _concatenated(left) + _concatenated(right)
                return left + right if isinstance(left, (int, float)) else Raw("NaN")
            case dict():
                return {key: self.value(item) for key, item in node.items()}
            case list():
                return [self.value(item) for item in node]
        return node

    def name(self, name: str) -> Any:
        """A global or variable. Raises ShellError where there is none."""
        if name == "db":
            return Database(self.session.database)
        if name in self.session.variables:
            return self.session.variables[name]
        if name in ("rs", "sh", "JSON", "Object"):
            return Admin(name)
        if name in _FUNCTIONS:
            return Method(None, name)
        raise ShellError(f"ReferenceError: {name} is not defined :")

    def member(self, target: Any, name: Any) -> Any:
        """A property or method of a value."""
        if isinstance(target, Database):
            return Method(target, str(name))
        if isinstance(target, Collection):
            return Method(target, str(name))
        if isinstance(target, Mapping) and name in target:
            return target[name]
        if isinstance(target, (list, tuple)) and isinstance(name, int):
            return target[name] if 0 <= name < len(target) else None
        if isinstance(target, (list, tuple, str)) and name == "length":
            return len(target)
        if target is None:
            raise ShellError("TypeError: can't access property of undefined :")
        if isinstance(target, Method):
            return Method(_collection(target), str(name))
        return Method(target, str(name)) if not isinstance(target, Mapping) else None

    def invoke(self, node: js.Invoke) -> Any:
        """A call."""
        target = self.value(node.target)
        arguments = [a if isinstance(a, js.Function) else self.value(a) for a in node.arguments]
        arguments = [
            _collection(a) if isinstance(a, Method) and a.target is not None else a for a in arguments
        ]
        if not isinstance(target, Method):
            raise ShellError("TypeError: value is not a function :")
        owner = target.target
        if owner is None:
            return self.function(target.name, arguments)
        if isinstance(owner, Database):
            return DatabaseMethods(self, owner.name).call(target.name, arguments)
        if isinstance(owner, Collection):
            return CollectionMethods(self, owner).call(target.name, arguments)
        if isinstance(owner, Cursor):
            return self.cursor(owner, target.name, arguments)
        if isinstance(owner, Admin):
            return self.admin(owner.name, target.name, arguments)
        if isinstance(owner, (list, tuple)):
            return self.cursor(Cursor(tuple(owner)), target.name, arguments)
        raise ShellError(f"TypeError: {target.name} is not a function :")

    def function(self, name: str, arguments: list[Any]) -> Any:
        """A global function."""
        first = arguments[0] if arguments else None
        if name in ("print", "printjson", "printjsononeline"):
            one_line = name != "printjson"
            text = " ".join(a if isinstance(a, str) else echo(a, one_line=one_line) for a in arguments)
            self.session.out.append(text + "\n")
            return NOTHING
        if name in ("quit", "exit"):
            raise Quit
        if name == "sleep":
            return None
        if name in ("tojson", "tojsononeline"):
            return tojson(first, one_line=name == "tojsononeline")
        if name in ("ObjectId", "UUID"):
            return Raw(f'{name}("{first or f"{keyed_bits(self.session.server.now(), name):024x}"[:24]}")')
        if name in ("NumberInt", "NumberLong", "NumberDecimal", "Number"):
            text = str(first)
            return int(float(text)) if re.fullmatch(r"-?\d{1,18}(\.\d*)?", text) else 0
        if name in ("Date", "ISODate"):
            from sregym_env.kube.durations import rfc3339

            return Raw(f'ISODate("{first or rfc3339(self.session.server.now())}")')
        if name == "connect":
            return Database(str(first).rpartition("/")[2])
        raise ShellError(f"ReferenceError: {name} is not defined :")

    def admin(self, owner: str, name: str, arguments: list[Any]) -> Any:
        """Methods of ``rs``, ``JSON`` and ``Object``."""
        if owner == "JSON" and name == "stringify":
            return orjson.dumps(_plain(arguments[0] if arguments else None)).decode()
        if owner == "Object" and name == "keys":
            return list(arguments[0]) if arguments and isinstance(arguments[0], Mapping) else []
        if owner == "rs":
            self.session.require("replSetGetStatus", "admin", "replSetGetStatus: 1.0")
            return {
                "ok": 0,
                "errmsg": "not running with --replSet",
                "code": 76,
                "codeName": "NoReplicationEnabled",
            }
        raise ShellError(f"TypeError: {owner}.{name} is not a function :")

    def cursor(self, cursor: Cursor, name: str, arguments: list[Any]) -> Any:
        """Methods of cursors and arrays."""
        documents = cursor.documents
        first = arguments[0] if arguments else None
        match name:
            case "limit":
                return replace(cursor, documents=documents[: abs(int(first or 0))] if first else documents)
            case "skip":
                return replace(cursor, documents=documents[int(first or 0) :])
            case "sort":
                ordered = list(documents)
                for key, direction in reversed(list((first or {}).items())):
                    ordered.sort(key=partial(_ranked, key), reverse=direction == -1)
                return replace(cursor, documents=tuple(ordered))
            case "pretty":
                return replace(cursor, is_pretty=True)
            case "count" | "itcount" | "size":
                return len(documents)
            case "toArray":
                return list(documents)
            case "hasNext":
                return bool(documents)
            case "next":
                return documents[0] if documents else None
            case "explain":
                return {
                    "queryPlanner": {"winningPlan": {"stage": "COLLSCAN", "direction": "forward"}},
                    "ok": 1,
                }
            case "forEach" | "map":
                results = [self.apply(first, document) for document in documents]
                return NOTHING if name == "forEach" else results
        raise ShellError(f"TypeError: {name} is not a function :")

    def apply(self, function: Any, argument: Any) -> Any:
        """Call a function value with one argument."""
        if isinstance(function, js.Function):
            self.session.variables[function.parameter] = argument
            return self.value(function.body)
        if isinstance(function, Method) and function.target is None:
            return self.function(function.name, [argument])
        raise ShellError("TypeError: argument is not a function :")


def _concatenated(value: Any) -> str:
    return value if isinstance(value, str) else tojson(value, one_line=True)


def _ranked(key: str, document: Mapping[str, Any]) -> tuple[int, Any]:
    return _rank(document.get(key))


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool) or value is None:
        return (0, int(bool(value)))
    if isinstance(value, (int, float)):
        return (1, value)
    return (2, str(value))


def _collection(method: Method) -> Any:
    """A method of a database that was not called is a collection's name."""
    if isinstance(method.target, Database):
        return Collection(method.target.name, method.name)
    if isinstance(method.target, Collection):
        return Collection(method.target.database, f"{method.target.name}.{method.name}")
    return method


def _plain(value: Any) -> Any:
    match value:
        case Raw():
            return value.text
        case Mapping():
            return {k: _plain(v) for k, v in value.items()}
        case list() | tuple():
            return [_plain(v) for v in value]
        case Cursor():
            return [_plain(v) for v in value.documents]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


_FUNCTIONS = frozenset(
    "print printjson printjsononeline quit exit sleep tojson tojsononeline ObjectId UUID NumberInt NumberLong "
    "NumberDecimal Number Date ISODate connect".split()
)

OK = {"ok": 1}


class DatabaseMethods:
    """Methods of ``db``."""

    def __init__(self, evaluator: Evaluator, database: str) -> None:
        self.evaluator = evaluator
        self.session = evaluator.session
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
        mongod.store(self.session.server, data)

    def _roles(self, given: Any) -> tuple[Role, ...]:
        roles: list[Role] = []
        for item in given if isinstance(given, (list, tuple)) else [given]:
            role, on = (item, self.database) if isinstance(item, str) else (item["role"], item["db"])
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
        return None if found is None else _user_document(found)

    def do_getUsers(self, options: Any = None) -> Any:
        """``db.getUsers()``."""
        self.session.require("usersInfo", self.database, "usersInfo: 1.0")
        return [_user_document(a) for a in self.session.data.accounts if a.database == self.database]

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
            "version": mongod.server_version(session.server),
            "process": "mongod",
            "pid": 1,
            "uptime": int(uptime),
            "uptimeMillis": int(uptime * 1000),
            "connections": {"current": 4, "available": 838856, "totalCreated": 12, "active": 1},
            "mem": {"bits": 64, "resident": process.memory >> 20, "virtual": 1488, "supported": True},
            "storageEngine": {"name": "wiredTiger", "supportsCommittedReads": True, "persistent": True},
            "ok": 1,
        }

    def do_version(self) -> Any:
        """``db.version()``."""
        return mongod.server_version(self.session.server)

    def do_hello(self) -> Any:
        """``db.hello()`` / ``db.isMaster()``."""
        return {"ismaster": True, "maxWireVersion": 9, "minWireVersion": 0, "readOnly": False, "ok": 1}

    do_isMaster = do_hello

    def do_currentOp(self, options: Any = None) -> Any:
        """``db.currentOp()``."""
        self.session.require("currentOp", "admin", "currentOp: 1.0")
        return {"inprog": [], "ok": 1}

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
        return DatabaseMethods(self.evaluator, "admin").do_runCommand(command)

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
            return {"ok": 0, "errmsg": text, **_error_code(text)}

    def _command(self, name: str, argument: Any, document: Mapping[str, Any]) -> Any:
        session, out = self.session, len(self.session.out)
        collection = Collection(self.database, str(argument))
        methods = CollectionMethods(self.evaluator, collection)
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
            case "dbStats" | "dbstats":
                return self.do_stats()
            case "buildInfo" | "buildinfo":
                return {
                    "version": self.do_version(),
                    "gitVersion": "72e66213c2c3eab37d9358d5e78ad7f5c1d0d0d7",
                    "ok": 1,
                }
            case "listDatabases":
                session.require(name, "admin", "listDatabases: 1.0")
                rows = [{"name": n, "sizeOnDisk": s, "empty": False} for n, s in _databases(session.data)]
                return {"databases": rows, "totalSize": sum(s for _, s in _databases(session.data)), "ok": 1}
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
                return self.evaluator.admin("rs", "status", [])
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


def _error_code(text: str) -> dict[str, Any]:
    if "requires authentication" in text or text.startswith("not authorized"):
        return {"code": 13, "codeName": "Unauthorized"}
    if "already exists" in text:
        return {"code": 51003, "codeName": "Location51003"}
    if "not found" in text or "Could not find user" in text:
        return {"code": 11, "codeName": "UserNotFound"}
    if "No role named" in text:
        return {"code": 31, "codeName": "RoleNotFound"}
    return {"code": 2, "codeName": "BadValue"}


class CollectionMethods:
    """Methods of a collection."""

    def __init__(self, evaluator: Evaluator, collection: Collection) -> None:
        self.evaluator = evaluator
        self.session = evaluator.session
        self.collection = collection

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Call a method by name."""
        method = getattr(self, f"do_{name}", None)
        full = f"{self.collection.database}.{self.collection.name}"
        if method is None:
            raise ShellError(f"TypeError: {full}.{name} is not a function :")
        try:
            return method(*arguments)
        except TypeError:
            raise ShellError(f"Error: {full}.{name}: wrong number or type of arguments :") from None

    def _documents(self, command: str, extra: str = "") -> tuple[Mapping[str, Any], ...]:
        database, name = self.collection.database, self.collection.name
        self.session.require(command, database, f'{command}: "{name}"{extra}')
        if database == "admin" and name == "system.users":
            return tuple(_user_document(account) for account in self.session.data.accounts)
        return self.session.data.documents(database, name)

    def _store(self, documents: Sequence[Mapping[str, Any]]) -> None:
        database, name = self.collection.database, self.collection.name
        mongod.store(self.session.server, self.session.data.with_documents(database, name, tuple(documents)))

    def do_find(self, query: Any = None, projection: Any = None) -> Cursor:
        """``find(query, projection)``."""
        documents = self._documents("find", f", filter: {tojson(query or {}, one_line=True)}")
        found = [with_id(d, i) for i, d in enumerate(documents) if matches(d, query or {})]
        return Cursor(tuple(_projected(d, projection or {}) for d in found))

    def do_findOne(self, query: Any = None, projection: Any = None) -> Any:
        """``findOne(query, projection)``."""
        found = self.do_find(query, projection).documents
        return found[0] if found else None

    def do_count(self, query: Any = None, options: Any = None) -> int:
        """``count(query)``."""
        return sum(1 for d in self._documents("count") if matches(d, query or {}))

    do_countDocuments = do_count
    do_estimatedDocumentCount = do_count

    def do_distinct(self, key: str, query: Any = None) -> Any:
        """``distinct(key, query)``."""
        seen: list[Any] = []
        for document in self._documents("distinct"):
            if matches(document, query or {}) and document.get(key) not in seen:
                seen.append(document.get(key))
        return seen

    def do_insertOne(self, document: Mapping[str, Any], options: Any = None) -> Any:
        """``insertOne(document)``."""
        self._store((*self._documents("insert", ", ordered: true"), document))
        return {"acknowledged": True, "insertedId": with_id(document, self.session.server.now())["_id"]}

    def do_insertMany(self, documents: Sequence[Mapping[str, Any]], options: Any = None) -> Any:
        """``insertMany(documents)``."""
        known = self._documents("insert", ", ordered: true")
        self._store((*known, *documents))
        return {
            "acknowledged": True,
            "insertedIds": [with_id(d, len(known) + i)["_id"] for i, d in enumerate(documents)],
        }

    def do_insert(self, given: Any, options: Any = None) -> Any:
        """``insert(document or documents)``."""
        many = given if isinstance(given, (list, tuple)) else [given]
        self._store((*self._documents("insert", ", ordered: true"), *many))
        return Raw(f'WriteResult({{ "nInserted" : {len(many)} }})')

    def _delete(self, query: Any, limit: int) -> int:
        kept, gone = [], 0
        for document in self._documents("delete", ", ordered: true"):
            if matches(document, query or {}) and (not limit or gone < limit):
                gone += 1
            else:
                kept.append(document)
        self._store(kept)
        return gone

    def do_deleteOne(self, query: Any) -> Any:
        """``deleteOne(query)``."""
        return {"acknowledged": True, "deletedCount": self._delete(query, 1)}

    def do_deleteMany(self, query: Any) -> Any:
        """``deleteMany(query)``."""
        return {"acknowledged": True, "deletedCount": self._delete(query, 0)}

    def do_remove(self, query: Any, options: Any = None) -> Any:
        """``remove(query)``."""
        return Raw(f'WriteResult({{ "nRemoved" : {self._delete(query, 0)} }})')

    def _update(self, query: Any, change: Mapping[str, Any], limit: int) -> int:
        changed, updated = 0, []
        for document in self._documents("update", ", ordered: true"):
            if matches(document, query or {}) and (not limit or changed < limit):
                changed += 1
                fresh = {**document, **change.get("$set", {})}
                updated.append({k: v for k, v in fresh.items() if k not in change.get("$unset", {})})
            else:
                updated.append(dict(document))
        self._store(updated)
        return changed

    def do_updateOne(self, query: Any, change: Mapping[str, Any], options: Any = None) -> Any:
        """``updateOne(query, change)``."""
        count = self._update(query, change, 1)
        return {"acknowledged": True, "matchedCount": count, "modifiedCount": count}

    def do_updateMany(self, query: Any, change: Mapping[str, Any], options: Any = None) -> Any:
        """``updateMany(query, change)``."""
        count = self._update(query, change, 0)
        return {"acknowledged": True, "matchedCount": count, "modifiedCount": count}

    def do_drop(self) -> Any:
        """``drop()``."""
        known = self.collection.name in self.session.data.collections.get(self.collection.database, {})
        self._documents("drop")
        data = self.session.data.without_collection(self.collection.database, self.collection.name)
        mongod.store(self.session.server, data)
        return known

    def do_getIndexes(self) -> Any:
        """``getIndexes()``."""
        self._documents("listIndexes")
        return [{"v": 2, "key": {"_id": 1}, "name": "_id_"}]

    def do_createIndex(self, keys: Any, options: Any = None) -> Any:
        """``createIndex(keys)``."""
        self._documents("createIndexes")
        return {"createdCollectionAutomatically": False, "numIndexesBefore": 1, "numIndexesAfter": 2, "ok": 1}

    def do_stats(self, scale: Any = 1) -> Any:
        """``stats()``."""
        documents = self._documents("collStats")
        full = f"{self.collection.database}.{self.collection.name}"
        return {"ns": full, "size": 120 * len(documents), "count": len(documents), "nindexes": 1, "ok": 1}

    def do_validate(self, options: Any = None) -> Any:
        """``validate()``: reads the collection's file."""
        documents = self._documents("find")
        full = f"{self.collection.database}.{self.collection.name}"
        try:
            mongod.stored(self.session.server)
        except OSError:
            raise ShellError(
                f"Error: validate failed: {full}: -31802: WT_ERROR: non-specific WiredTiger error :"
            ) from None
        return {
            "ns": full,
            "nrecords": len(documents),
            "nInvalidDocuments": 0,
            "valid": True,
            "errors": [],
            "ok": 1,
        }

    def do_aggregate(self, stages: Any = None, options: Any = None) -> Any:
        """``aggregate(stages)`` with ``$match``, ``$limit``, ``$count`` and ``$sample``."""
        documents: tuple[Mapping[str, Any], ...] = self._documents("aggregate")
        for stage in stages if isinstance(stages, (list, tuple)) else [stages or {}]:
            if "$match" in stage:
                documents = tuple(d for d in documents if matches(d, stage["$match"]))
            elif "$limit" in stage:
                documents = documents[: stage["$limit"]]
            elif "$count" in stage:
                documents = ({str(stage["$count"]): len(documents)},)
            elif "$sample" in stage:
                documents = documents[: stage["$sample"].get("size", 1)]
        return Cursor(documents)


def with_id(document: Mapping[str, Any], index: int) -> Mapping[str, Any]:
    """A document with the ``_id`` the driver gave it."""
    if "_id" in document:
        return document
    first = next(iter(document.values()), "")
    bits = f"{keyed_bits('_id', index):016x}{keyed_bits('_id', index, repr(first)):016x}"
    return {"_id": Raw(f'ObjectId("66b1f3{bits[:18]}")'), **document}


def matches(document: Mapping[str, Any], query: Mapping[str, Any]) -> bool:
    """Whether a document matches a query of equalities, comparisons, ``$in`` and regular expressions."""
    for key, wanted in query.items():
        value: Any = document
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(wanted, re.Pattern):
            if not (isinstance(value, str) and wanted.search(value)):
                return False
        elif isinstance(wanted, Mapping) and any(k.startswith("$") for k in wanted):
            if not all(_compare(value, operator, bound) for operator, bound in wanted.items()):
                return False
        elif value != wanted:
            return False
    return True


def _compare(value: Any, operator: str, bound: Any) -> bool:
    match operator:
        case "$in":
            return value in bound
        case "$nin":
            return value not in bound
        case "$ne":
            return bool(value != bound)
        case "$eq":
            return bool(value == bound)
        case "$exists":
            return (value is not None) == bool(bound)
        case "$regex":
            pattern = bound.pattern if isinstance(bound, re.Pattern) else js._safe_regex(str(bound))
            return isinstance(value, str) and re.search(pattern, value) is not None
    comparable = isinstance(value, (int, float)) and isinstance(bound, (int, float))
    comparable = comparable or (isinstance(value, str) and isinstance(bound, str))
    if not comparable:
        return False
    return bool(
        {"$gt": value > bound, "$gte": value >= bound, "$lt": value < bound, "$lte": value <= bound}.get(
            operator
        )
    )


def _projected(document: Mapping[str, Any], projection: Mapping[str, Any]) -> Mapping[str, Any]:
    if not projection:
        return document
    wanted = {key for key, on in projection.items() if on}
    if wanted:
        keep = wanted | ({"_id"} if projection.get("_id", 1) else set())
        return {k: v for k, v in document.items() if k in keep}
    return {k: v for k, v in document.items() if k not in projection}


# --- other tools ---------------------------------------------------------------------------------------------


def _tool(name: str) -> Command:
    def run_tool(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
        options, _ = _options(argv[1:])
        if "version" in options:
            return ExecResult(f"{name} version: 100.3.1\n")
        server = _server(ctx, options.get("host", "127.0.0.1"), int(options.get("port", "27017")), False)
        if isinstance(server, str):
            text = f"Failed: error connecting to db server: server returned error: {server}"
            return ExecResult(stderr=f"{name}: {text}\n", exit_code=1)
        session = Session(server, True)
        if "username" in options:
            source = options.get("authenticationDatabase", "admin")
            if not session.login(options["username"], options.get("password", ""), source):
                text = "Failed: can't create session: could not connect to server: connection() error occurred during "
                text += (
                    "connection handshake: auth error: sasl conversation error: unable to authenticate using "
                )
                text += 'mechanism "SCRAM-SHA-1": (AuthenticationFailed) Authentication failed.'
                return ExecResult(stderr=f"{text}\n", exit_code=1)
        try:
            session.require("serverStatus" if name == "mongostat" else "listDatabases", "admin")
        except ShellError as error:
            text = str(error).removeprefix("Error: ").split(" :\n")[0]
            return ExecResult(stderr=f"Failed: (Unauthorized) {text}\n", exit_code=1)
        if name == "mongostat":
            return ExecResult(
                "insert query update delete getmore command dirty used flushes vsize   res qrw arw net_in net_out conn\n"
                f"    *0    *0     *0     *0       0     1|0  0.0% 0.0%       0 1.46G {server.process.memory >> 20}.0M "
                "0|0 1|0   112b   39.4k    4\n"
            )
        lines = []
        for database, collections in sorted(session.data.collections.items()):
            for collection, documents in sorted(collections.items()):
                lines.append(f"done dumping {database}.{collection} ({len(documents)} documents)\n")
        return ExecResult(stderr="".join(lines))

    return run_tool


_HELP = """MongoDB shell version v4.4.6
usage: mongo [options] [db address] [file names (ending in .js)]
db address can be:
  foo                   foo database on local machine
  192.168.0.5/foo       foo database on 192.168.0.5 machine
  192.168.0.5:9999/foo  foo database on 192.168.0.5 machine on port 9999
  mongodb://192.168.0.5:9999/foo  connection string URI can also be used
"""

COMMANDS: Mapping[str, Command] = {
    "mongo": mongo,
    "mongodump": _tool("mongodump"),
    "mongostat": _tool("mongostat"),
}

__all__ = ["ACCOUNTS", "COMMANDS", "Session", "mongo", "run", "tojson"]
