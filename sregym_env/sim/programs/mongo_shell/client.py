"""``mongo [options] [db address] [file ...]``: its command line and its connection."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.mongo_shell.script import evaluate
from sregym_env.sim.programs.mongo_shell.session import Session


def mongo(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    """``mongo [options] [db address] [file ...]``."""
    return run(ctx, argv, stdin, setup=False)


def run(ctx: ProcessContext, argv: Sequence[str], stdin: str, *, setup: bool) -> ExecResult:
    """The shell as the image's entrypoint (``setup``) or a person runs it."""
    options, positional = connect_options(argv[1:])
    if "version" in options:
        return ExecResult("MongoDB shell version v4.4.6\n")
    if "help" in options:
        return ExecResult(_HELP)
    if bad := unusable_port(options):
        return ExecResult(bad + "\n", exit_code=1)
    head, session, files = _connect(ctx, options, positional, setup)
    if session is None:
        return ExecResult(head, exit_code=1)
    code = 0
    if "eval" in options:
        code = evaluate(session, options["eval"], stop=True)
    for name in files:
        try:
            code = code or evaluate(session, ctx.read(name), stop=True)
        except OSError:
            session.out.append(f"file [{name}] doesn't exist\nfailed to load: {name}\n")
            code = 253
    if not files and "eval" not in options:
        code = evaluate(session, stdin, stop=False)
        session.out.append("" if "quiet" in options else "bye\n")
    if code == 252:
        session.out.append("exiting with code -4\n")
    said = "".join(session.out)
    if not setup and len(said) > carries(ctx, *_address(options, positional)[:2]):
        return ExecResult(seconds=inf)
    return ExecResult(head + said, exit_code=code)


def carries(ctx: ProcessContext, host: str, port: int) -> float:
    """Bytes of the largest answer that arrives from a server; what a person reads is about as long as what was sent."""
    return next((leg.carries for leg in ctx.connect(host, port).legs), inf)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What an interactive shell remembers between two lines. Never changed once made."""

    database: str
    account: tuple[str, str] | None
    variables: Mapping[str, Any]


def greeting(ctx: ProcessContext, argv: Sequence[str]) -> tuple[str, Conversation | None, int]:
    """What the shell says when it starts for a person; None where it ends at once, and its exit code."""
    options, positional = connect_options(argv[1:])
    if "version" in options or "help" in options or unusable_port(options):
        done = run(ctx, argv, "", setup=False)
        return done.stdout, None, done.exit_code
    head, session, _ = _connect(ctx, options, positional, False)
    if session is None:
        return head, None, 1
    return head, Conversation(session.database, session.account, dict(session.variables)), 0


def reply(
    ctx: ProcessContext, argv: Sequence[str], kept: Conversation, lines: str
) -> tuple[str, Conversation | None]:
    """What the shell answers to lines of a person, and what it remembers then; None once it has ended."""
    options, positional = connect_options(argv[1:])
    # Connected anew for every line: the server may be gone or another one by now.
    head, session, _ = _connect(ctx, {**options, "quiet": ""}, positional, False)
    if session is None:
        return head, None
    session.database, session.account, session.variables = kept.database, kept.account, dict(kept.variables)
    evaluate(session, lines, stop=False)
    if session.ended:
        return "".join(session.out) + ("" if "quiet" in options else "bye\n"), None
    return "".join(session.out), Conversation(session.database, session.account, dict(session.variables))


def _connect(
    ctx: ProcessContext, options: dict[str, str], positional: list[str], setup: bool
) -> tuple[str, Session | None, list[str]]:
    """What is printed while connecting, the session (None where that failed), and the script files."""
    quiet = "quiet" in options
    host, port, database, files = _address(options, positional)
    head = "" if quiet else "MongoDB shell version v4.4.6\n"
    uri = f"mongodb://{host}:{port}/{database}?"
    source = options.get("authenticationDatabase", "")
    if source:
        uri += f"authSource={source}&"
    head += "" if quiet else f"connecting to: {uri}compressors=disabled&gssapiServiceName=mongodb\n"
    server = serving_process(ctx, host, port, setup)
    if isinstance(server, str):
        return (
            head + f"Error: couldn't connect to server {host}:{port}, connection attempt failed: {server} :\n"
            "connect@src/mongo/shell/mongo.js:374:17\n@(connect):2:6\nexception: connect failed\n"
            "exiting with code 1\n",
            None,
            files,
        )
    session = Session(server, host in ("127.0.0.1", "localhost"), setup, database or "test")
    user = options.get("username", "")
    if user and not session.login(user, options.get("password", ""), source or database or "admin"):
        return (
            head
            + "Error: Authentication failed. :\nconnect@src/mongo/shell/mongo.js:374:17\n@(connect):2:6\n"
            "exception: connect failed\nexiting with code 1\n",
            None,
            files,
        )
    if not quiet:
        head += f'Implicit session: session {{ "id" : {session.uuid("session")} }}\nMongoDB server version: 4.4.6\n'
    return head, session, files


_FLAGS = frozenset(
    "quiet nodb norc help h version shell ipv6 tls ssl tlsAllowInvalidCertificates verbose".split()
)
_SHORT = {"u": "username", "p": "password", "h": "host"}


def connect_options(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Options by their long name (flags with an empty value), and the other words."""
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


def unusable_port(options: Mapping[str, str]) -> str:
    """What is wrong with ``--port``, in the words of ``mongo::HostAndPort``; empty when it can be used."""
    text = options.get("port", "0")
    if whole(text, 65536) < 65536:
        return ""
    return (
        f'FailedToParse: Bad digit "{text[:1]}" while parsing {text}'
        if not text.isdecimal()
        else (f"BadValue: Port number {text} out of range parsing HostAndPort")
    )


_URI = re.compile(r"mongodb://(?:([^:@/]+)(?::([^@]*))?@)?([^/:?]+)(?::(\d+))?(?:/([^?]*))?(?:\?(.*))?$")


def _address(options: dict[str, str], positional: list[str]) -> tuple[str, int, str, list[str]]:
    host, port, database = options.get("host", "127.0.0.1"), int(options.get("port", "0")), ""
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
        port = port or whole(number, 27017)
    return host, port or 27017, database, files


def serving_process(ctx: ProcessContext, host: str, port: int, setup: bool) -> ProcessContext | str:
    """The mongod that answers there, or why none does, in the words of the driver."""
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


_HELP = """MongoDB shell version v4.4.6
usage: mongo [options] [db address] [file names (ending in .js)]
db address can be:
  foo                   foo database on local machine
  192.168.0.5/foo       foo database on 192.168.0.5 machine
  192.168.0.5:9999/foo  foo database on 192.168.0.5 machine on port 9999
  mongodb://192.168.0.5:9999/foo  connection string URI can also be used
"""
