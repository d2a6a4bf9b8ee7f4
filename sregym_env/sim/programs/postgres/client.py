"""The clients of the image: ``psql``, for people and as a container's main process, ``pg_isready`` and ``pg_dump``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any
from urllib.parse import unquote, urlsplit

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.postgres import admission, meta, sessions, storage
from sregym_env.sim.programs.postgres.errors import PgError, Refused
from sregym_env.sim.programs.postgres.execute import Backend, Result, Sleeps, Waits
from sregym_env.sim.programs.postgres.printing import Format, report, table
from sregym_env.sim.programs.postgres.sessions import PgSession
from sregym_env.sim.programs.postgres.tokens import MAX_STATEMENT, pieces
from sregym_env.sim.world.program import Command

PORT = 5432
SOCKET = "/var/run/postgresql"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
RETRY = 2.0
"""Seconds after which a main process that waits for a lock looks again."""
NOTICED = 10.0
"""Seconds after which a main process at the latest sees that its server is gone."""
BAD_CONNECTION = 2
BAD_SCRIPT = 3

_CANCELLED = PgError("ERROR", "57014", "canceling statement due to user request")


@dataclass(frozen=True, slots=True)
class Target:
    """Whom a client is to connect to, and as whom."""

    host: str = ""
    """Empty for the socket."""
    port: int = PORT
    user: str = ""
    database: str = ""
    password: str = ""


@dataclass(slots=True)
class Options:
    """A command line."""

    target: Target
    steps: list[tuple[str, str]] = field(default_factory=list)
    """(``c`` or ``f``, what stands behind it)."""
    format: Format = field(default_factory=Format)
    stop: bool = False
    """``ON_ERROR_STOP``."""
    quiet: bool = False
    echo: bool = False
    single: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    wrong: str = ""
    rest: list[str] = field(default_factory=list)


_VALUED = {"h": "host", "p": "port", "U": "username", "d": "dbname", "c": "command", "f": "file", "F": "field-separator",
           "v": "set", "P": "pset", "o": "output", "R": "record-separator", "L": "log-file", "t": "timeout"}  # fmt: skip
_LONG = {name: letter for letter, name in _VALUED.items()} | {
    "tuples-only": "T", "no-align": "A", "quiet": "q", "no-psqlrc": "X", "no-password": "w", "password": "W",
    "expanded": "x", "csv": "csv", "echo-all": "a", "echo-queries": "e", "single-transaction": "1", "list": "l",
    "variable": "v", "version": "V", "help": "?", "schema-only": "s", "data-only": "D", "table": "t",
}  # fmt: skip


def _parsed(ctx: ProcessContext, argv: Sequence[str], tool: str = "psql") -> Options:
    """The command line of a client."""
    env = ctx.process.env
    given: dict[str, str] = {}
    options = Options(Target())
    words = list(argv[1:])
    positional: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            positional += words
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            letter = _LONG.get(name, "")
            if not letter:
                options.wrong = f"{tool}: unrecognized option '{word}'"
                break
            if letter in _VALUED and not equals and not (letter == "t" and tool == "psql"):
                value = words.pop(0) if words else ""
            _set(options, given, letter, value, tool)
        elif word.startswith("-") and len(word) > 1:
            letters = word[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                if letter in _VALUED and not (letter == "t" and tool == "psql"):
                    if not letters and not words:
                        options.wrong = f"{tool}: option requires an argument -- '{letter}'"
                        break
                    value = letters or words.pop(0)
                    _set(options, given, letter, value, tool)
                    break
                if letter not in "tAqXwWxae1lVbHnSEsD?":
                    options.wrong = f"{tool}: invalid option -- '{letter}'"
                    break
                _set(options, given, "T" if letter == "t" else letter, "", tool)
        else:
            positional.append(word)
    if positional:
        given.setdefault("d", positional[0])
        if len(positional) > 1:
            given.setdefault("U", positional[1])
    options.target = _target(given, env, ctx)
    return options


def _set(options: Options, given: dict[str, str], letter: str, value: str, tool: str) -> None:
    shape = options.format
    match letter:
        case "c" | "f":
            options.steps.append((letter, value))
        case "T":
            options.format = replace(shape, tuples_only=True)
        case "A":
            options.format = replace(shape, aligned=False)
        case "x":
            options.format = replace(shape, expanded=True)
        case "csv":
            options.format = replace(shape, csv=True)
        case "F":
            options.format = replace(shape, separator=value)
        case "R":
            options.format = replace(shape, record=value)
        case "q":
            options.quiet = True
        case "a" | "e":
            options.echo = True
        case "1":
            options.single = True
        case "v":
            name, _, text = value.partition("=")
            options.variables[name] = text
            options.stop = options.stop or (
                name == "ON_ERROR_STOP" and text.lower() not in ("0", "off", "false")
            )
        case "P":
            name, _, text = value.partition("=")
            options.format = _pset(shape, name, text)
        case "V" | "?" | "l" | "s" | "D":
            options.rest.append(letter)
        case _:
            given[letter] = value


def _pset(shape: Format, name: str, value: str) -> Format:
    on = value.lower() not in ("off", "0", "false")
    match name:
        case "format":
            return replace(shape, aligned=value == "aligned", csv=value == "csv")
        case "tuples_only" | "t":
            return replace(shape, tuples_only=on if value else not shape.tuples_only)
        case "expanded" | "x":
            return replace(shape, expanded=on if value else not shape.expanded)
        case "footer":
            return replace(shape, footer=on)
        case "null":
            return replace(shape, null=value.strip("'"))
        case "fieldsep":
            return replace(shape, separator=value.strip("'"))
    return shape


def _target(given: Mapping[str, str], env: Mapping[str, str], ctx: ProcessContext) -> Target:
    database = given.get("d", "")
    more: dict[str, str] = {}
    if database.startswith(("postgres://", "postgresql://")):
        try:
            parts = urlsplit(database)
            port = parts.port
        except ValueError:
            port, parts = None, urlsplit("")
        more = {"host": parts.hostname or "", "port": str(port or ""), "user": unquote(parts.username or ""),
                "password": unquote(parts.password or ""), "dbname": unquote(parts.path.lstrip("/"))}  # fmt: skip
    elif "=" in database:
        more = {name: text.strip("'") for name, _, text in (part.partition("=") for part in database.split())}
    if more:
        database = more.get("dbname", "")
    port_text = given.get("p") or more.get("port") or env.get("PGPORT", "")
    user = given.get("U") or more.get("user") or env.get("PGUSER") or _os_user(ctx)
    return Target(
        given.get("h") or more.get("host") or env.get("PGHOST", ""),
        int(port_text) if whole(port_text, 65536) < 65536 else PORT,
        user,
        database or env.get("PGDATABASE") or user,
        more.get("password") or env.get("PGPASSWORD", ""),
    )


def _os_user(ctx: ProcessContext) -> str:
    """``kubectl exec`` and scripts run as root in this image: its entrypoint alone steps down."""
    return "root"


# --- connecting -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no connection, as libpq words it."""

    text: str
    network: bool
    """Whether no server has answered."""
    prompt: str = ""
    """What is printed before, where there is nobody to answer it."""


def _where(target: Target, address: str) -> str:
    if not target.host:
        return f'connection to server on socket "{SOCKET}/.s.PGSQL.{target.port}" failed: '
    shown = "" if address == target.host else f" ({address})"
    return f'connection to server at "{target.host}"{shown}, port {target.port} failed: '


def server_of(ctx: ProcessContext, target: Target) -> tuple[ProcessContext, str] | Refusal:
    """The server at the far end and its address; or why there is none."""
    if not target.host or target.host in LOOPBACK or target.host.startswith("/"):
        mine = ctx.process.program == "postgres" and target.port in ctx.process.listening
        if mine:
            return ctx, "127.0.0.1" if target.host else ""
        if not target.host or target.host.startswith("/"):
            why = "No such file or directory\n\tIs the server running locally and accepting connections on that socket?"
            return Refusal(_where(Target("", target.port), "") + why, True)
    made = ctx.connect(target.host, target.port)
    leg = next(iter(made.legs), None)
    running = "\n\tIs the server running on that host and accepting TCP/IP connections?"
    if leg is None or leg.outcome in ("no_such_host", "dns_timeout"):
        temporary = leg is not None and leg.outcome == "dns_timeout"
        why = "Temporary failure in name resolution" if temporary else "Name or service not known"
        return Refusal(f'could not translate host name "{target.host}" to address: {why}', True)
    address = next(iter(made.resolution.addresses), leg.address or target.host)
    if leg.outcome == "refused":
        return Refusal(f"{_where(target, address)}Connection refused{running}", True)
    if leg.outcome != "ok":
        return Refusal(f"{_where(target, address)}Connection timed out{running}", True)
    found = ctx.peer(target.host, target.port)
    if found is None or found.process.program != "postgres":
        why = "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n\tbefore or while processing the request."  # fmt: skip
        return Refusal(_where(target, address) + why, False)
    return found, address


def connect(
    ctx: ProcessContext, target: Target, *, identity: str = "", application: str = "psql"
) -> Backend | Refusal:
    """Open a connection, and log in."""
    found = server_of(ctx, target)
    if isinstance(found, Refusal):
        return found
    server, address = found
    data = storage.stored(server)
    if data is None:
        return Refusal(f"{_where(target, address)}FATAL:  the database system is starting up", False)
    local = not target.host or target.host in LOOPBACK
    error = admission.refused(server, data, target.user, target.password, target.database, local=local)
    if error is not None:
        pid = server.number(100)
        if error.code == "28P01" and not target.password:
            text = f"{_where(target, address)}fe_sendauth: no password supplied"
            return Refusal(text, False, f"Password for user {target.user}: \n")
        storage.log(server, pid, "FATAL", error.message)
        if error.code == "28P01":
            storage.log(server, pid, "DETAIL", admission.detail(error))
        detail = f"\nDETAIL:  {error.detail}" if error.detail and error.code != "28P01" else ""
        return Refusal(f"{_where(target, address)}FATAL:  {error.message}{detail}", False)
    return Backend(
        server,
        target.user,
        target.database,
        identity=identity,
        address="" if local else ctx.process.ip,
        application=application,
    )


# --- running a script -------------------------------------------------------------------------------------------


class Run:
    """One run of psql over one connection."""

    def __init__(self, ctx: ProcessContext, backend: Backend, options: Options) -> None:
        self.ctx = ctx
        self.backend = backend
        self.options = options
        self.out: list[tuple[int, str]] = []
        self.code = 0
        self.ended = False
        self.whole = ("", 0)
        """The request of which the present statement is a part, and where it begins in it."""

    @property
    def format(self) -> Format:
        return self.options.format

    def print(self, text: str, stream: int = 1) -> None:
        """Write to a stream."""
        if text:
            self.out.append((stream, text))

    def sql(self, sql: str, prefix: str = "") -> bool:
        """Send one statement; whether it went well. Raises Waits and Sleeps."""
        if self.options.echo:
            self.print(sql + "\n")
        for name, value in self.options.variables.items():
            for form, text in ((f":'{name}'", "'" + value.replace("'", "''") + "'"), (f":{name}", value)):
                if len(sql) + sql.count(form) * len(text) <= MAX_STATEMENT:
                    sql = sql.replace(form, text)
        try:
            result = self.backend.run(sql)
        except Refused as error:
            self.failed(error.error, sql, prefix)
            return False
        self.result(result, prefix)
        return True

    def failed(self, error: PgError, sql: str, prefix: str = "") -> None:
        """Print an error, and note it in the server's log."""
        if self.whole[0]:
            sql, offset = self.whole
            error = error._replace(position=error.position + offset if error.position >= 0 else -1)
        self.print(report(error, sql, prefix), 2)
        shown = sql.rstrip(";")
        pid = self.backend.pid
        at = f" at character {error.position + 1}" if error.position >= 0 else ""
        storage.log(self.backend.server, pid, error.severity, error.message + at)
        if error.detail:
            storage.log(self.backend.server, pid, "DETAIL", error.detail)
        if error.severity == "FATAL":
            self.print("server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n"
                       "\tbefore or while processing the request.\n", 2)  # fmt: skip
            self.ended, self.code = True, BAD_CONNECTION
            return
        storage.log(self.backend.server, pid, "STATEMENT", shown.replace("\n", "\n\t"))

    def result(self, result: Result, prefix: str = "") -> None:
        """Print what a statement has brought about."""
        for notice in result.notices:
            self.print(f"{prefix}{notice}\n", 2)
        if result.fields is not None:
            self.print(table(result, self.format))
        if (
            result.fields is None or not result.tag.startswith(("SELECT", "SHOW", "EXPLAIN"))
        ) and not self.options.quiet:
            if not (result.fields is not None and self.format.tuples_only):
                self.print(f"{result.tag}\n")

    def command(self, text: str, prefix: str = "") -> bool:
        """Carry one of psql's own commands out; whether it went well."""
        words = text[1:].split(None, 1)
        name, rest = (words[0], words[1].strip().rstrip(";") if len(words) > 1 else "") if words else ("", "")
        match name:
            case "q" | "quit":
                self.ended = True
            case "c" | "connect":
                return self._reconnect(rest)
            case "conninfo":
                target = self.options.target
                found = server_of(self.ctx, target)
                where = "" if isinstance(found, Refusal) else found[1]
                self.print(meta.connection_info(self.backend, target.host, target.port, where))
            case "x" | "t":
                shape = self.options.format = _pset(self.format, name, rest)
                about = (
                    ("Expanded display", shape.expanded)
                    if name == "x"
                    else ("Tuples only", shape.tuples_only)
                )
                self.print(f"{about[0]} is {'on' if about[1] else 'off'}.\n")
            case "a":
                self.options.format = replace(self.format, aligned=not self.format.aligned)
                self.print(f"Output format is {'aligned' if self.format.aligned else 'unaligned'}.\n")
            case "pset":
                key, _, value = rest.partition(" ")
                self.options.format = _pset(self.format, key, value.strip())
            case "set":
                key, _, value = rest.partition(" ")
                self.options.variables[key] = value.strip().strip("'")
                if key == "ON_ERROR_STOP":
                    self.options.stop = value.strip().lower() not in ("0", "off", "false")
            case "echo" | "qecho":
                self.print(rest.strip("'\"") + "\n")
            case "timing" | "encoding" | "unset" | "o" | "g" | "watch" | "p" | "r" | "pager":
                pass
            case "!":
                self.print("", 2)
            case "i" | "include":
                return self.file(rest)
            case _:
                return self._describe(name, rest, prefix)
        return True

    def _describe(self, name: str, rest: str, prefix: str) -> bool:
        try:
            shown = meta.described(self.backend, name, rest, self.format)
        except Refused as error:
            self.print(f"{prefix}{error.error.message}\n", 2)
            return name[:2] != "d" and len(name) > 1
        if shown is None:
            self.print(f"{prefix}invalid command \\{name}\n", 2)
            return False
        self.print(shown)
        return True

    def _reconnect(self, rest: str) -> bool:
        words = [word.strip('"') for word in rest.split()]
        target = self.options.target
        target = replace(
            target,
            database=words[0] if words and words[0] != "-" else target.database,
            user=words[1] if len(words) > 1 and words[1] != "-" else target.user,
            host=words[2] if len(words) > 2 and words[2] != "-" else target.host,
        )
        made = self._again(target)
        if isinstance(made, Refusal):
            self.print(f"\\connect: {made.text}\n", 2)
            self.ended, self.code = True, BAD_CONNECTION
            return False
        self.backend.end(commit=False)
        self.backend, self.options.target = made, target
        if not self.options.quiet:
            self.print(f'You are now connected to database "{made.database}" as user "{made.user}".\n')
        return True

    def _again(self, target: Target) -> Backend | Refusal:
        return connect(self.ctx, target, identity=self.backend.identity)

    def file(self, path: str) -> bool:
        """Run a file."""
        try:
            script = self.ctx.read(path)
        except OSError:
            self.print(f"psql: error: {path}: No such file or directory\n", 2)
            self.code = 1
            return False
        return self.script(script, path)

    def script(self, script: str, path: str = "") -> bool:
        """Run a script as it comes from a file or from standard input; False where it was given up."""
        for piece in pieces(script):
            prefix = f"psql:{path}:{piece.line}: " if path else ""
            try:
                well = self.command(piece.text, prefix) if piece.meta else self.sql(piece.text, prefix)
            except Waits as wait:
                well = self.waited(wait, piece.text, prefix)
            except Sleeps as sleep:
                self.result(sleep.result, prefix)
                well = True
            if self.ended:
                return False
            if not well and self.options.stop:
                self.code = BAD_SCRIPT
                return False
        return True

    def waited(self, wait: Waits, sql: str, prefix: str = "") -> bool:
        """A statement that would wait for as long as somebody else holds a lock: until a time-out, or the person's."""
        backend = self.backend
        relation = wait.table.rpartition(".")[2]
        error = _CANCELLED
        if storage.milliseconds(backend.setting("lock_timeout")):
            error = PgError("ERROR", "55P03", "canceling statement due to lock timeout")
            place = sql.lower().find(relation.lower())
            error = error._replace(position=place if place >= 0 and sql[:6].lower() == "select" else -1)
            if error.position >= 0:
                error = error._replace(
                    position=max(sql.lower().rfind(wait.table.lower(), 0, place + len(relation)), 0) or place
                )
        elif storage.milliseconds(backend.setting("statement_timeout")):
            error = PgError("ERROR", "57014", "canceling statement due to statement timeout")
        else:
            self.print(f"{prefix}Cancel request sent\n", 2)
        backend.failed = backend.work is not None
        self.failed(error, sql, prefix)
        return False

    def single(self, text: str) -> bool:
        """``-c``: everything in one request, and so in one transaction; or one of psql's own commands."""
        if text.lstrip().startswith("\\"):
            return self.command(text.strip())
        parts = [piece.text for piece in pieces(text) if not piece.meta]
        implicit = len(parts) > 1
        if implicit:
            self.backend.begin()
            self.backend.implicit = True
        well = True
        place = 0
        for part in parts:
            place = text.find(part, place)
            self.whole = (text, place)
            place += len(part)
            try:
                well = self.sql(part)
            except Waits as wait:
                well = self.waited(wait, part)
            except Sleeps as sleep:
                self.result(sleep.result)
            if not well or self.ended:
                break
        self.whole = ("", 0)
        if self.backend.implicit:
            self.backend.end(commit=well)
        return well

    def finished(self) -> ExecResult:
        """Close the connection."""
        self.backend.end(commit=False)
        chunks = tuple(self.out)
        return ExecResult(
            "".join(text for stream, text in chunks if stream == 1),
            "".join(text for stream, text in chunks if stream == 2),
            self.code,
            chunks if {stream for stream, _ in chunks} == {1, 2} else (),
        )


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a script that the image's entrypoint has run."""

    output: str
    failed: bool


def scripted(ctx: ProcessContext, user: str, database: str, script: str, path: str = "") -> Done:
    """Run a script as the entrypoint does, before the server has a port: ``psql -v ON_ERROR_STOP=1 --no-psqlrc``."""
    target = Target("", PORT, user, database)
    backend = Backend(ctx, user, database)
    run = _Setup(ctx, backend, Options(target, stop=True))
    well = run.script(script, path)
    backend.end(commit=False)
    return Done("".join(text for _, text in run.out), not well)


class _Setup(Run):
    """psql over the socket of a server that serves nobody else yet."""

    def _again(self, target: Target) -> Backend | Refusal:
        data = storage.stored(self.ctx)
        assert data is not None
        error = admission.refused(self.ctx, data, target.user, "", target.database, local=True, count=False)
        if error is not None:
            return Refusal(f"{_where(target, '')}FATAL:  {error.message}", False)
        return Backend(self.ctx, target.user, target.database)


# --- the commands -------------------------------------------------------------------------------------------------


def _psql(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    options = _parsed(ctx, argv)
    early = _early(ctx, options, "psql")
    if early is not None:
        return early
    backend = connect(ctx, options.target)
    if isinstance(backend, Refusal):
        return ExecResult(stderr=f"{backend.prompt}psql: error: {backend.text}\n", exit_code=BAD_CONNECTION)
    run = Run(ctx, backend, options)
    if "l" in options.rest:
        run.command("\\l")
    else:
        _play(run, stdin)
    return _arrived(ctx, options.target, run.finished())


def _arrived(ctx: ProcessContext, target: Target, done: ExecResult) -> ExecResult:
    """What a client prints, if it ever gets to."""
    return ExecResult(seconds=inf) if len(done.stdout) > _carried(ctx, target) else done


def _carried(ctx: ProcessContext, target: Target) -> float:
    """Bytes of the largest answer that arrives; what a person reads is about as long as what the server sent."""
    if target.host in ("", *LOOPBACK) or target.host.startswith("/"):
        return inf
    return next((leg.carries for leg in ctx.connect(target.host, target.port).legs), inf)


def _early(ctx: ProcessContext, options: Options, tool: str) -> ExecResult | None:
    """What a client says that connects to nobody."""
    if options.wrong:
        return ExecResult(
            stderr=f'{options.wrong}\n{tool}: hint: Try "{tool} --help" for more information.\n', exit_code=1
        )
    if "V" in options.rest:
        version = storage.server_version(ctx)
        return ExecResult(f"{tool} (PostgreSQL) {version} (Debian {version}-1.pgdg13+1)\n")
    if "?" in options.rest:
        return ExecResult(
            f"{tool} is the PostgreSQL interactive terminal.\n\nUsage:\n  {tool} [OPTION]... [DBNAME [USERNAME]]\n"
        )
    return None


def _play(run: Run, stdin: str) -> None:
    options = run.options
    if not options.steps:
        run.script(stdin)
        return
    for kind, text in options.steps:
        well = run.single(text) if kind == "c" else (run.script(stdin) if text == "-" else run.file(text))
        if run.ended:
            return
        if not well:
            run.code = run.code or 1
            if options.stop:
                run.code = BAD_SCRIPT if kind == "f" else 1
                return
        elif kind == "c":
            run.code = 0


def _pg_isready(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    options = _parsed(ctx, argv, "pg_isready")
    early = _early(ctx, options, "pg_isready")
    if early is not None:
        return early
    target = options.target
    shown = f"{target.host or SOCKET}:{target.port}"
    found = server_of(ctx, target)
    said, code = ("accepting connections", 0) if not isinstance(found, Refusal) else ("no response", 2)
    return ExecResult("" if options.quiet else f"{shown} - {said}\n", exit_code=code)


def _pg_dump(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    only = next((argv[i + 1] for i, word in enumerate(argv[:-1]) if word in ("-t", "--table")), "")
    options = _parsed(ctx, [word for word in argv if word != "-a"], "pg_dump")
    early = _early(ctx, options, "pg_dump")
    if early is not None:
        return early
    backend = connect(ctx, options.target, application="pg_dump")
    if isinstance(backend, Refusal):
        return ExecResult(stderr=f"pg_dump: error: {backend.text}\n", exit_code=1)
    text = meta.dumped(backend, only.strip('"'), data="s" not in options.rest, schema="-a" not in argv)
    return _arrived(ctx, options.target, ExecResult(text))


COMMANDS: Mapping[str, Command] = {"psql": _psql, "pg_isready": _pg_isready, "pg_dump": _pg_dump}


# --- as a main process ----------------------------------------------------------------------------------------------


class Psql(Quiet):
    """``psql`` as a container's main process: it holds its connection, and the locks of its transaction, while it sleeps.

    What it does is a list of statements, of which it remembers the next; a statement that waits for a lock is tried again.
    """

    name = "psql"

    def start(self, ctx: ProcessContext) -> None:
        """Connect, and begin."""
        ctx.set_memory(6 * MIB)
        if ctx.over_limit:
            return
        argv = ctx.process.argv
        if argv[0].rpartition("/")[2] != "psql":
            result = COMMANDS.get(argv[0].rpartition("/")[2], _psql)(ctx, argv, "")
            self._end(ctx, result.text, result.exit_code)
            return
        options = _parsed(ctx, argv)
        early = _early(ctx, options, "psql")
        if early is not None:
            self._end(ctx, early.text, early.exit_code)
            return
        self._go(ctx, options, 0, None, False)

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Go on behind a sleep, try a statement again that waits, or see that the connection has ended."""
        kind, _, index = reason.partition(":")
        state = ctx.process.state
        if reason != sessions.LOST and (kind not in ("next", "watch") or not index.isdecimal()):
            return
        options = _parsed(ctx, ctx.process.argv)
        server = server_of(ctx, options.target)
        identity = _identity(ctx)
        kept = None if isinstance(server, Refusal) else sessions.sessions(server[0]).get(identity)
        if kept is None:
            # Somebody has ended the session, or the server is another one.
            ended = (
                "FATAL:  terminating connection due to administrator command\n"
                if not isinstance(server, Refusal)
                else ""
            )
            text = (
                f"{ended}server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n"
                "\tbefore or while processing the request.\nconnection to server was lost\n"
            )
            self._end(ctx, text, BAD_CONNECTION)
            return
        if kind == "watch":
            if state.get("next") == int(index):
                ctx.wake_in(NOTICED, reason)
            return
        self._go(ctx, options, int(index), kept, bool(state.get("open")))

    def _go(
        self, ctx: ProcessContext, options: Options, first: int, kept: PgSession | None, open_: bool
    ) -> None:
        identity = _identity(ctx)
        backend = connect(ctx, options.target, identity=identity)
        if isinstance(backend, Refusal):
            self._end(ctx, f"psql: error: {backend.text}", BAD_CONNECTION)
            return
        if kept is not None:
            backend.pid, backend.since = kept.pid, kept.since
        run = Run(ctx, backend, options)
        if open_ and kept is not None:
            backend.work = ctx.process.state.get("work") or backend.data
            backend.locks = kept.locks
        steps = _steps(ctx, options)
        for index in range(first, len(steps)):
            sql = steps[index]
            begun = len(steps) > 1 and any(kind == "c" for kind, _ in options.steps)
            if begun:
                backend.begin()
            try:
                well = run.command(sql) if sql.startswith("\\") else run.sql(sql)
            except Sleeps as sleep:
                self._keep(ctx, run, "active", sql)
                ctx.update(next=index + 1)
                ctx.wake_in(sleep.seconds, f"next:{index + 1}")
                ctx.wake_in(NOTICED, f"watch:{index + 1}")
                return
            except Waits as wait:
                self._keep(ctx, run, "active", sql, f"{backend.database}/{wait.table}", wait.mode)
                ctx.wake_in(RETRY, f"next:{index}")
                return
            if run.ended or (not well and (options.stop or begun)):
                run.code = run.code or (BAD_SCRIPT if options.stop and not begun else 1)
                break
        backend.end(commit=not run.code)
        sessions.put(backend.server, identity, None)
        said = "".join(text for _, text in run.out)
        # What never arrives it waits for.
        if len(said) <= _carried(ctx, options.target):
            self._end(ctx, said, run.code)

    @staticmethod
    def _keep(ctx: ProcessContext, run: Run, state: str, sql: str, wait: str = "", mode: str = "") -> None:
        """Leave the session with the server while this process waits."""
        backend = run.backend
        known = sessions.sessions(backend.server).get(backend.identity)
        now = ctx.now() if known is None or known.query != sql or known.wait != wait else known.changed
        session = PgSession(
            backend.pid, backend.user, backend.database, backend.address, backend.since, backend.application, state, sql, now,
            wait, mode, backend.locks,
        )  # fmt: skip
        # A statement that still waits changes nothing, and nobody has to look again.
        if session != known:
            sessions.put(backend.server, backend.identity, session)
        text = "".join(text for _, text in run.out)
        if text.strip():
            ctx.log(text.rstrip("\n"))
        changes: dict[str, Any] = {"open": backend.work is not None, "work": backend.work}
        if any(ctx.process.state.get(name) != value for name, value in changes.items()):
            ctx.update(**changes)

    @staticmethod
    def _end(ctx: ProcessContext, text: str, code: int) -> None:
        if text.strip():
            ctx.log(text.rstrip("\n"))
        ctx.exit(code, delay=0.05)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """It dies of the signal, and the server rolls its transaction back."""
        return 0.05, 143


def _identity(ctx: ProcessContext) -> str:
    process = ctx.process
    return f"{process.key[0]}/{process.container}/{process.restart}"


def _steps(ctx: ProcessContext, options: Options) -> list[str]:
    """All statements of a command line, one after the other."""
    found: list[str] = []
    for kind, text in options.steps:
        if kind == "f":
            try:
                text = ctx.read(text)
            except OSError:
                continue
        found += [piece.text for piece in pieces(text)]
    return found
