"""``mongodump`` and ``mongostat``, the other client tools of the image."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.mongo_shell import activity
from sregym_env.sim.programs.mongo_shell.client import connect_options, serving_process, unusable_port
from sregym_env.sim.programs.mongo_shell.session import Session, ShellError

_NO_LOGIN = (
    "Failed: can't create session: could not connect to server: connection() error occurred during connection "
    "handshake: auth error: sasl conversation error: unable to authenticate using mechanism "
    '"SCRAM-SHA-1": (AuthenticationFailed) Authentication failed.\n'
)


def mongodump(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    """``mongodump``: reads everything and tells what it read; the files are not kept."""
    session = _session(ctx, argv, "listDatabases")
    if isinstance(session, ExecResult):
        return session
    lines = []
    for database, collections in sorted(session.data.collections.items()):
        for collection, documents in sorted(collections.items()):
            lines.append(f"done dumping {database}.{collection} ({len(documents)} documents)\n")
    return ExecResult(stderr="".join(lines))


def mongostat(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    """``mongostat``: one line of statistics."""
    session = _session(ctx, argv, "serverStatus")
    if isinstance(session, ExecResult):
        return session
    return ExecResult(
        "insert query update delete getmore command dirty used flushes vsize   res qrw arw net_in net_out conn\n"
        f"{activity.statistics(session.server)}"
    )


def _session(ctx: ProcessContext, argv: Sequence[str], command: str) -> Session | ExecResult:
    """A session that may run the command, or what the tool says where there is none."""
    name = argv[0].rpartition("/")[2]
    options, _ = connect_options(argv[1:])
    if "version" in options:
        return ExecResult(f"{name} version: 100.3.1\n")
    if bad := unusable_port(options):
        return ExecResult(stderr=f"{name}: {bad}\n", exit_code=1)
    server = serving_process(ctx, options.get("host", "127.0.0.1"), int(options.get("port", "27017")), False)
    if isinstance(server, str):
        text = f"Failed: error connecting to db server: server returned error: {server}"
        return ExecResult(stderr=f"{name}: {text}\n", exit_code=1)
    session = Session(server, True)
    if "username" in options:
        source = options.get("authenticationDatabase", "admin")
        if not session.login(options["username"], options.get("password", ""), source):
            return ExecResult(stderr=_NO_LOGIN, exit_code=1)
    try:
        session.require(command, "admin")
    except ShellError as error:
        text = str(error).removeprefix("Error: ").split(" :\n")[0]
        return ExecResult(stderr=f"Failed: (Unauthorized) {text}\n", exit_code=1)
    return session
