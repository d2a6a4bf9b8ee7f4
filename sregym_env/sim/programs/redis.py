"""``redis-server``: an in-memory store with a configuration file, a password, a limit, and its command line client.

What clients of the application keep in it is known by key spaces (:func:`~sregym_env.sim.programs.servers.filled`); what
somebody sets by hand is kept key by key. Both die with the process, unless it writes them to a volume.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.quantity import bytes_
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import Call, Command, Failure, Flow, HttpRequest, HttpResponse, Usage

PORT = 6379
VERSION = "6.2.4"
"""The release that an image runs unless its binary says otherwise."""

NOAUTH = "NOAUTH Authentication required."
WRONGPASS = "WRONGPASS invalid username-password pair or user is disabled."


class Redis(Quiet):
    """The server; ``settings`` of its binary hold its version."""

    name = "redis"

    def start(self, ctx: ProcessContext) -> None:
        """Read the file that is named first, then the options behind it; listen."""
        ctx.set_memory(6 * MIB)
        if ctx.over_limit:
            return
        options = _options(ctx)
        if options is None:
            return
        port = options.get("port", str(PORT))
        warned = (
            ""
            if len(ctx.process.argv) > 1
            else (
                "Warning: no config file specified, using the default config. In order to specify a config file use "
                "redis-server /path/to/redis.conf"
            )
        )
        _log(ctx, "C", "#", "oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo")
        _log(
            ctx,
            "C",
            "#",
            f"Redis version={version(ctx)}, bits=64, commit=00000000, modified=0, pid=1, just started",
        )
        _log(ctx, "C", "#", warned or "Configuration loaded")
        try:
            ctx.listen(int(port) if port.isdecimal() else PORT)
        except OSError:
            _log(
                ctx,
                "M",
                "#",
                f"Could not create server TCP listening socket *:{port}: bind: Address already in use",
            )
            _log(ctx, "M", "#", "Failed listening on port " + port + " (TCP), aborting.")
            ctx.exit(1)
            return
        ctx.update(options=options)
        _log(ctx, "M", "*", f"Running mode=standalone, port={port}.")
        _log(ctx, "M", "#", "Server initialized")
        _log(ctx, "M", "*", "Ready to accept connections")

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Check the password, then look up in memory."""
        wanted = _option(ctx, "requirepass")
        given = call.attribute("password")
        if wanted and given != wanted:
            return Flow(0.0, 0.0002, ((Failure("auth", WRONGPASS if given else NOAUTH), 1.0),))
        return Flow(1.0, 0.0003)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """It takes HTTP for an attack, says so in its log, and hangs up."""
        return None

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Save what is to be saved, and exit."""
        _log(ctx, "signal-handler", "", "")
        _log(ctx, "M", "#", "User requested shutdown...")
        _log(ctx, "M", "#", "Redis is now ready to exit, bye bye...")
        return 0.1, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Its own clock ticks ten times a second; thirty microseconds per command."""
        return Usage(0.002 + 0.00003 * sum(rates.values()), ctx.process.memory)

    @property
    def commands(self) -> Mapping[str, Command]:
        """``redis-cli``."""
        return {"redis-cli": _client}


def version(ctx: ProcessContext) -> str:
    """The release of the binary that runs."""
    binary = ctx.image.binaries.get(ctx.process.binary) or ctx.image.binaries["redis-server"]
    return str(binary.settings or VERSION)


def _options(ctx: ProcessContext) -> dict[str, str] | None:
    """What the file and the command line set; None where the server has ended because of them."""
    words = list(ctx.process.argv[1:])
    if words and words[0] in ("redis-server", "valkey-server"):  # named to the image's entrypoint
        del words[0]
    found: dict[str, str] = {}
    if words and not words[0].startswith("-"):
        path = words.pop(0)
        try:
            text = ctx.read(path)
        except OSError:
            ctx.log(f"Fatal error, can't open config file '{path}': No such file or directory")
            ctx.exit(1)
            return None
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            name, _, rest = line.strip().partition(" ")
            if name.lower() not in _KNOWN:
                ctx.log(
                    f"\n*** FATAL CONFIG FILE ERROR (Redis {version(ctx)}) ***\nReading the configuration file, at line "
                    f"{number}\n>>> '{line.strip()}'\nBad directive or wrong number of arguments"
                )
                ctx.exit(1)
                return None
            found[name.lower()] = rest.strip().strip('"')
    while words:
        name = words.pop(0).removeprefix("--").lower()
        values = []
        while words and not words[0].startswith("--"):
            values.append(words.pop(0))
        found[name] = " ".join(values)
    return found


_KNOWN = frozenset(
    "appendonly appendfilename appendfsync bind client-output-buffer-limit daemonize databases dbfilename dir "
    "hash-max-ziplist-entries hash-max-ziplist-value io-threads io-threads-do-reads list-max-ziplist-size loglevel "
    "logfile maxclients maxmemory maxmemory-policy pidfile port protected-mode rdbcompression requirepass save "
    "slowlog-log-slower-than slowlog-max-len stop-writes-on-bgsave-error supervised tcp-backlog tcp-keepalive timeout "
    "unixsocket".split()
)
"""Directives that it reads."""

_DEFAULTS = {
    "appendonly": "no",
    "bind": "",
    "databases": "16",
    "dir": "/data",
    "io-threads": "1",
    "loglevel": "notice",
    "maxclients": "10000",
    "maxmemory": "0",
    "maxmemory-policy": "noeviction",
    "port": str(PORT),
    "protected-mode": "no",
    "requirepass": "",
    "save": "3600 1 300 100 60 10000",
    "tcp-keepalive": "300",
    "timeout": "0",
}
"""What holds where nothing is set."""


def _option(ctx: ProcessContext, name: str) -> str:
    options: Mapping[str, str] = ctx.process.state.get("options", {})
    return options.get(name, _DEFAULTS.get(name, ""))


def _log(ctx: ProcessContext, role: str, mark: str, text: str) -> None:
    """``1:M 06 Aug 2026 12:00:00.123 * Ready to accept connections``."""
    form = "{time|%d %b %Y %H:%M:%S}" + f".{ctx.now() % SECOND // 1000:03d}"
    if role == "signal-handler":
        line = f"1:signal-handler ({ctx.now() // SECOND}) Received SIGTERM scheduling shutdown..."
    else:
        line = f"1:{role} {form} {mark} {text}"
    ctx.log(stamped(line, ctx.now()))


# --- the client ---------------------------------------------------------------------------------------------

Keys = Mapping[str, str]


def _client(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    """``redis-cli``: one command from the command line, or one per line of its input."""
    host, port, given, words = "127.0.0.1", PORT, ctx.process.env.get("REDISCLI_AUTH", ""), list(argv[1:])
    while words and words[0].startswith("-") and len(words[0]) > 1:
        option = words.pop(0)
        if option in ("-h", "-p", "-a", "-n", "--user", "--pass") and not words:
            text = f"Unrecognized option or bad number of args for: '{option}'\n"
            return ExecResult(stderr=text, exit_code=1)
        match option:
            case "-h":
                host = words.pop(0)
            case "-p":
                text = words.pop(0)
                port = int(text) if text.isdecimal() else 0
            case "-a" | "--pass":
                given = words.pop(0)
            case "-n" | "--user":
                words.pop(0)
            case "--version" | "-v":
                return ExecResult(f"redis-cli {version(ctx)}\n")
            case "--raw" | "--no-raw" | "--no-auth-warning":
                pass
            case _:
                text = f"Unrecognized option or bad number of args for: '{option}'\n"
                return ExecResult(stderr=text, exit_code=1)
    failure = ctx.ask(host, port, Call("ping", (("password", given),) if given else ()), 1.0)
    if failure is not None and failure.kind != "auth":
        reason = {"refused": "Connection refused", "no_such_host": "Name or service not known"}
        text = f"Could not connect to Redis at {host}:{port}: {reason.get(failure.kind, 'Connection timed out')}\n"
        return ExecResult(stderr=text, exit_code=1)
    server = ctx.peer(host, port)
    if server is None or server.process.program != "redis":
        return ExecResult(stderr="Error: Server closed the connection\n", exit_code=1)
    warning = (
        "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
    )
    shown = warning if "-a" in argv and "--no-auth-warning" not in argv else ""
    session = _Session(server, failure is None, given)
    if failure is not None and given:
        shown += f"AUTH failed: {failure.text}\n"
    lines = [words] if words else [_split(line) for line in stdin.splitlines() if line.strip()]
    answers = [session.answer(line) for line in lines if line]
    return ExecResult("".join(f"{answer}\n" for answer in answers), shown)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


class _Session:
    """One connection of the client."""

    def __init__(self, server: ProcessContext, authenticated: bool, given: str) -> None:
        self.server = server
        self.authenticated = authenticated and (bool(given) or not _option(server, "requirepass"))

    @property
    def keys(self) -> Keys:
        """What somebody has set by hand."""
        found: Keys = self.server.process.state.get("keys", {})
        return found

    def answer(self, words: list[str]) -> str:
        """What the server says to one command."""
        name, rest = words[0].lower(), words[1:]
        if name == "auth":
            self.authenticated = bool(rest) and rest[-1] == _option(self.server, "requirepass")
            return "OK" if self.authenticated else f"(error) {WRONGPASS}"
        if not self.authenticated:
            return f"(error) {NOAUTH}"
        known = _COMMANDS.get(name)
        if known is None:
            arguments = " ".join(f"`{word}`," for word in rest)
            return f"(error) ERR unknown command `{words[0]}`, with args beginning with: {arguments}"
        least, run = known
        if len(rest) < least:
            return f"(error) ERR wrong number of arguments for '{name}' command"
        return run(self, rest)

    def write(self, keys: Keys) -> None:
        """Change what is set by hand."""
        self.server.update(keys=dict(keys))

    @property
    def spaces(self) -> tuple[str, ...]:
        """Key spaces that the application has filled."""
        found: tuple[str, ...] = self.server.process.state.get("filled", ())
        return found


def _get(session: _Session, rest: list[str]) -> str:
    found = session.keys.get(rest[0])
    return "(nil)" if found is None else f'"{found}"'


def _set(session: _Session, rest: list[str]) -> str:
    session.write({**session.keys, rest[0]: rest[1]})
    return "OK"


def _del(session: _Session, rest: list[str]) -> str:
    left = {key: text for key, text in session.keys.items() if key not in rest}
    removed = len(session.keys) - len(left)
    session.write(left)
    return f"(integer) {removed}"


def _flush(session: _Session, rest: list[str]) -> str:
    session.write({})
    session.server.update(filled=())
    return "OK"


def _names(session: _Session, rest: list[str]) -> str:
    names = [*session.spaces, *session.keys]
    if rest and rest[0] != "*":
        stem = rest[0].rstrip("*")
        names = [name for name in names if name.startswith(stem)]
    return "\n".join(f'{number}) "{name}"' for number, name in enumerate(names, 1)) or "(empty array)"


def _config(session: _Session, rest: list[str]) -> str:
    if rest[0].lower() == "get" and len(rest) > 1:
        stem = rest[1].lower()
        options: Mapping[str, str] = {**_DEFAULTS, **session.server.process.state.get("options", {})}
        found = [
            (name, options[name])
            for name in sorted(options)
            if name == stem or (stem.endswith("*") and name.startswith(stem[:-1]))
        ]
        shown = [text for pair in found for text in pair]
        return "\n".join(f'{number}) "{text}"' for number, text in enumerate(shown, 1)) or "(empty array)"
    if rest[0].lower() == "set" and len(rest) > 2:
        name = rest[1].lower()
        if name not in _KNOWN:
            return f"(error) ERR Unsupported CONFIG parameter: {rest[1]}"
        options = {**session.server.process.state.get("options", {}), name: rest[2]}
        session.server.update(options=options)
        return "OK"
    return f"(error) ERR Unknown subcommand or wrong number of arguments for '{rest[0]}'. Try CONFIG HELP."


def _info(session: _Session, rest: list[str]) -> str:
    server = session.server
    up = (server.now() - server.process.started_at) // SECOND
    limit = bytes_(_option(server, "maxmemory").lower().replace("mb", "Mi").replace("gb", "Gi") or "0")
    sections: dict[str, dict[str, Any]] = {
        "Server": {"redis_version": version(server), "redis_mode": "standalone", "tcp_port": _option(server, "port"),
                   "uptime_in_seconds": up, "uptime_in_days": up // 86400},
        "Clients": {"connected_clients": 1, "maxclients": _option(server, "maxclients")},
        "Memory": {"used_memory": server.process.memory, "used_memory_human": f"{server.process.memory / MIB:.2f}M",
                   "maxmemory": limit, "maxmemory_policy": _option(server, "maxmemory-policy")},
        "Persistence": {"loading": 0, "rdb_last_bgsave_status": "ok", "aof_enabled": 0},
        "Replication": {"role": "master", "connected_slaves": 0},
        "Keyspace": {},
    }  # fmt: skip
    count = len(session.keys) + len(session.spaces)
    if count:
        sections["Keyspace"] = {"db0": f"keys={count},expires=0,avg_ttl=0"}
    wanted = rest[0].lower() if rest else ""
    shown = {
        name: fields for name, fields in sections.items() if wanted in ("", "all", "default", name.lower())
    }
    return "\n".join(
        "\n".join([f"# {name}", *(f"{key}:{text}" for key, text in fields.items()), ""])
        for name, fields in shown.items()
    )


_COMMANDS: Mapping[str, tuple[int, Callable[[_Session, list[str]], str]]] = {
    "ping": (0, lambda session, rest: f'"{rest[0]}"' if rest else "PONG"),
    "echo": (1, lambda session, rest: f'"{rest[0]}"'),
    "get": (1, _get),
    "set": (2, _set),
    "del": (1, _del),
    "exists": (1, lambda session, rest: f"(integer) {sum(key in session.keys for key in rest)}"),
    "dbsize": (0, lambda session, rest: f"(integer) {len(session.keys) + len(session.spaces)}"),
    "keys": (1, _names),
    "flushall": (0, _flush),
    "flushdb": (0, _flush),
    "config": (1, _config),
    "info": (0, _info),
    "select": (1, lambda session, rest: "OK"),
    "role": (0, lambda session, rest: '1) "master"\n2) (integer) 0\n3) (empty array)'),
}
"""Commands by name: the least number of arguments, and what answers."""
