"""``redis-server``: an in-memory store with a configuration file, a password, a limit, and its command line client.

What clients of the application keep in it is known by key spaces (:func:`~sregym_env.sim.programs.servers.filled`); what
somebody sets by hand is kept key by key. Both die with the process, unless it writes them to a volume.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.sim.containers import view
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import redis_memory
from sregym_env.sim.programs.defaults import Quiet
from sregym_env.sim.programs.redis_clients import alive, seen
from sregym_env.sim.programs.redis_session import NOAUTH, WRONGPASS, Session, bigkeys, carts, shown
from sregym_env.sim.programs.redis_settings import PORT, TITLES, option, options, version
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import Call, Command, Failure, Flow, HttpRequest, HttpResponse, Usage

SPACED = frozenset(("set", "hset", "hmset", "lpush", "zadd", "sadd", "append"))
"""Commands of clients that need memory."""


class Redis(Quiet):
    """The server; ``settings`` of its binary hold its version."""

    name = "redis"
    account = "redis"
    """The user to whom the image's entrypoint steps down."""
    marks = ("#", "#")
    """How the log marks the lines of the start, and what the server says of itself."""
    ready = "Ready to accept connections"

    def start(self, ctx: ProcessContext) -> None:
        """Read the file that is named first, then the options behind it; listen."""
        ctx.set_memory(redis_memory.RESIDENT)
        if ctx.over_limit:
            return
        given = options(ctx)
        if given is None:
            return
        port = given.get("port", str(PORT))
        title = TITLES[self.name]
        warned = (
            ""
            if len(ctx.process.argv) > 1 and not ctx.process.argv[-1].endswith("-server")
            else (
                "Warning: no config file specified, using the default config. In order to specify a config file use "
                f"{self.name}-server /path/to/{self.name}.conf"
            )
        )
        first, second = self.marks
        _log(ctx, "C", first, f"oO0OoO0OoO0Oo {title} is starting oO0OoO0OoO0Oo")
        about = f"{title} version={version(ctx)}, bits=64, commit=00000000, modified=0, pid=1, just started"
        _log(ctx, "C", first, about)
        _log(ctx, "C", "#", warned or "Configuration loaded")
        try:
            ctx.listen(whole(port, PORT))
        except OSError:
            taken = f"Could not create server TCP listening socket *:{port}: bind: Address already in use"
            _log(ctx, "M", "#", taken)
            _log(ctx, "M", "#", "Failed listening on port " + port + " (TCP), aborting.")
            ctx.exit(1)
            return
        ctx.update(options=given, **_loaded(ctx))
        _log(ctx, "M", "*", f"Running mode=standalone, port={port}.")
        _log(ctx, "M", second, "Server initialized")
        _log(ctx, "M", "*", self.ready)

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Check the password, unless the client's connection is older than it; then look up in memory."""
        wanted = option(ctx, "requirepass")
        given, identity = call.attribute("password"), call.attribute("client")
        clients: Mapping[str, int] = ctx.process.state.get("clients", {})
        if wanted and given != wanted and identity not in clients:
            return Flow(0.0, 0.0002, ((Failure("auth", WRONGPASS if given else NOAUTH), 1.0),))
        if identity and identity not in clients:
            most = option(ctx, "maxclients")
            if sum(alive(ctx, each) for each in clients) >= whole(most, inf):
                return Flow(0.0, 0.0002, ((Failure("error", "ERR max number of clients reached"), 1.0),))
            ctx.settle_entry("clients", identity, ctx.now())
        if call.operation.lower() in SPACED and redis_memory.full(ctx):
            return Flow(0.0, 0.0002, ((Failure("error", redis_memory.FULL), 1.0),))
        return Flow(1.0, 0.0003)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """It takes HTTP for an attack, says so in its log, and hangs up."""
        return None

    def typed(self, ctx: ProcessContext, text: str, port: int) -> str:
        """To ``PING``, as it is typed by hand."""
        if not text.upper().startswith("PING"):
            return ""
        return f"-{NOAUTH}\r\n" if option(ctx, "requirepass") else "+PONG\r\n"

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Save what is to be saved, and exit."""
        _log(ctx, "signal-handler", "", "")
        _log(ctx, "M", self.marks[1] if self.name == "redis" else "*", "User requested shutdown...")
        _save(ctx)
        _log(ctx, "M", "#", f"{TITLES[self.name]} is now ready to exit, bye bye...")
        return 0.1, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Its own clock ticks ten times a second; thirty microseconds per command."""
        return Usage(0.002 + 0.00003 * sum(rates.values()), ctx.process.memory)

    def following(
        self, ctx: ProcessContext, argv: Sequence[str]
    ) -> Callable[[ProcessContext, int, int], str] | None:
        """What ``redis-cli MONITOR`` goes on to print, in the time between two instants."""
        return monitored(ctx, argv)

    @property
    def commands(self) -> Mapping[str, Command]:
        """``redis-cli``."""
        return {"redis-cli": partial(client, program="Redis")}


_KEPT = ("keys", "filled", "bulk", "bulk_keys")
"""What stands in a dump, by its names in the state of the process."""
DUMP = "dump.rdb"


def _dump(ctx: ProcessContext) -> Mapping[str, Any] | None:
    """The volume in which a dump is kept; None where the server's directory dies with its container."""
    if view.mount_of(ctx.process, "/data") is None:
        return None
    try:
        return ctx.volume("/data") or {}
    except OSError:
        return {}


def _save(ctx: ProcessContext) -> None:
    """Write a dump, as servers with save points do when they are told to end."""
    known = _dump(ctx)
    if known is None or not option(ctx, "save").strip():
        return
    held = {name: ctx.process.state[name] for name in _KEPT if name in ctx.process.state}
    ctx.write_volume("/data", {**known, DUMP: "REDIS0011", view.structured(DUMP): held})
    _log(ctx, "M", "*", "DB saved on disk")


def _loaded(ctx: ProcessContext) -> dict[str, Any]:
    """What a dump holds; nothing where there is none."""
    known = _dump(ctx) or {}
    held = known.get(view.structured(DUMP)) if DUMP in known else None
    return dict(held) if isinstance(held, dict) else {}


def _log(ctx: ProcessContext, role: str, mark: str, text: str) -> None:
    """``1:M 06 Aug 2026 12:00:00.123 * Ready to accept connections``."""
    form = "{time|%d %b %Y %H:%M:%S}" + f".{ctx.wall() % SECOND // 1000:03d}"
    if role == "signal-handler":
        line = f"1:signal-handler ({ctx.wall() // SECOND}) Received SIGTERM scheduling shutdown..."
    else:
        line = f"1:{role} {form} {mark} {text}"
    ctx.log(stamped(line, ctx.wall()))


# --- the client ---------------------------------------------------------------------------------------------


def client(ctx: ProcessContext, argv: Sequence[str], stdin: str, *, program: str = "Redis") -> ExecResult:
    """``redis-cli``: one command from the command line, or one per line of its input; raw where nobody sees it on a terminal."""
    env = ctx.process.env
    raw = not (ctx.on_terminal or ctx.process.tty)
    host, port, words, big = "127.0.0.1", PORT, list(argv[1:]), False
    given = env.get("VALKEYCLI_AUTH" if program == "Valkey" else "REDISCLI_AUTH") or env.get(
        "REDISCLI_AUTH", ""
    )
    while words and words[0].startswith("-") and len(words[0]) > 1:
        word = words.pop(0)
        if word in ("-h", "-p", "-a", "-n", "-u", "-i", "-r", "--user", "--pass") and not words:
            text = f"Unrecognized option or bad number of args for: '{word}'\n"
            return ExecResult(stderr=text, exit_code=1)
        match word:
            case "-h":
                host = words.pop(0)
            case "-p":
                text = words.pop(0)
                port = whole(text, 0)
            case "-a" | "--pass":
                given = words.pop(0)
            case "-n" | "--user" | "-i" | "-r":
                words.pop(0)
            case "--version" | "-v":
                return ExecResult(f"{program.lower()}-cli {version(ctx)}\n")
            case "--raw":
                raw = True
            case "--no-raw":
                raw = False
            case "--no-auth-warning":
                pass
            case "--bigkeys":
                big = True
            case "--scan":
                words = ["keys", "*"]
                raw = True
            case _:
                text = f"Unrecognized option or bad number of args for: '{word}'\n"
                return ExecResult(stderr=text, exit_code=1)
    failure = ctx.ask(host, port, Call("ping", (("password", given),) if given else ()), 1.0)
    if failure is not None and failure.kind != "auth":
        reason = {
            "no_port": "Cannot assign requested address",
            "refused": "Connection refused",
            "no_such_host": "Name or service not known",
        }
        why = reason.get(failure.kind, "Connection timed out")
        text = f"Could not connect to {program} at {host}:{port}: {why}\n"
        return ExecResult(stderr=text, exit_code=1)
    server = ctx.peer(host, port)
    if server is None or server.process.program not in TITLES:
        return ExecResult(stderr="Error: Server closed the connection\n", exit_code=1)
    warning = (
        "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
    )
    told = warning if "-a" in argv and "--no-auth-warning" not in argv else ""
    session = Session(server, failure is None and (bool(given) or not option(server, "requirepass")))
    if failure is not None and given:
        told += f"AUTH failed: {failure.text}\n"
    if big and session.authenticated:
        return ExecResult(bigkeys(session) + "\n", told)
    lines = (
        [["scan", "0"]]
        if big
        else [words]
        if words
        else [_split(line) for line in stdin.splitlines() if line.strip()]
    )
    answers = [shown(session.answer(line), raw=raw) for line in lines if line]
    return ExecResult("".join(f"{answer}\n" for answer in answers), told)


def monitored(ctx: ProcessContext, argv: Sequence[str]) -> Callable[[ProcessContext, int, int], str] | None:
    """What a client prints that has asked for every command of the others; None for one that has not."""
    words = [word.lower() for word in argv]
    if not words or words[-1] != "monitor" or not words[0].rpartition("/")[2].endswith("-cli"):
        return None
    host = argv[words.index("-h") + 1] if "-h" in words[:-2] else "127.0.0.1"
    port = whole(argv[words.index("-p") + 1], 0) if "-p" in words[:-2] else PORT

    def meanwhile(now: ProcessContext, since: int, until: int) -> str:
        server = now.peer(host, port)
        if server is None or server.process.program not in TITLES:
            return ""
        kept = carts(server) if server.process.program == "valkey" else ()
        return "".join(f"{line}\n" for line in seen(server, since, until, kept))

    return meanwhile


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
