"""``mongod``: the database server of the ``mongo`` images, with its accounts and data on a volume."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.kube import quantity
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext, WrongBytes
from sregym_env.sim.programs import mongo_shell
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.mongo_data import Account, MongoData, allows
from sregym_env.sim.programs.mongo_server import (
    DATA,
    DataFilesError,
    authorisation,
    line,
    log_denied,
    refusal,
    server_version,
    storage,
    store,
    stored,
    stored_or_empty,
)
from sregym_env.sim.programs.toolbox import container_shell
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.program import Call, Command, Failure, Flow, HttpRequest, HttpResponse, Usage

INIT = "/docker-entrypoint-initdb.d"
START_READS = 40
"""Blocks that recovery reads before it accepts connections: two or more of each of WiredTiger's own files
(turtle, metadata, history store, sizes), the catalogue, and every collection and index."""
START_SECONDS = 0.9
"""From its start until it listens, on data that it has."""
INIT_SECONDS = 3.0
"""The same on an empty directory, with what the image's entrypoint does there."""
BACKGROUND_READ = 45.0
"""Mean seconds between reads that checkpoints and statistics make on an idle server."""
EXIT_FASSERT = 14
"""Exit code after a fatal assertion (MongoDB's EXIT_ABRUPT)."""
EXIT_BAD_OPTIONS = 2
"""Exit code where options or their file cannot be read."""
EXIT_NET_ERROR = 48
"""Exit code when the server cannot listen on its port."""
EXIT_UNCAUGHT = 100
"""Exit code after an exception that ends the start, such as a directory that is locked."""
EXIT_NEED_DOWNGRADE = 62
"""Exit code when the data files belong to an incompatible version."""
AUTH_SECONDS = 0.006
"""A SCRAM-SHA-1 conversation: 10,000 iterations of the hash and three round trips."""
QUERY_SECONDS = 0.0007
"""Assumed time of a query by an indexed field in a small collection."""

AUTHENTICATION_FAILED = "server returned error on SASL authentication step: Authentication failed."

_PREDECESSOR = {"4.4": "4.2", "5.0": "4.4", "6.0": "5.0", "7.0": "6.0", "8.0": "7.0"}


class Mongod(Quiet):
    """The server; ``settings`` of its binary hold its version."""

    name = "mongod"
    account = "mongodb"
    """The user to whom the image's entrypoint steps down."""

    def start(self, ctx: ProcessContext) -> None:
        """Check the data files, run the init scripts on an empty directory, then listen."""
        ctx.set_memory(96 * MIB)
        if ctx.over_limit:
            return
        version = server_version(ctx)
        if not _configured(ctx) or not _sized(ctx):
            return
        _announce(ctx, version)
        if _is_locked(ctx):
            _refuse_directory(ctx)
            return
        config = {
            "config": f"create,cache_size={_cache(ctx)}M,session_max=33000,eviction=(threads_min=4,threads_max=4)"
        }
        line(ctx, "I", "STORAGE", 22315, "initandlisten", "Opening WiredTiger", config, 0.1)
        try:
            # A disk that is well answers every time alike.
            for _ in range(START_READS if ctx.disk_failing(DATA) or ctx.disk_corrupt(DATA) else 1):
                ctx.volume(DATA)
            data = stored(ctx)
        except WrongBytes:
            _checksum_error(ctx, 0.35)
            return
        except OSError:
            _read_error(ctx, 0.35)
            return
        except DataFilesError as error:
            _open_error(ctx, str(error), 0.35)
            return
        if data is None:
            _initialise(ctx, version)
            ctx.wake_in(INIT_SECONDS, "ready")
            return
        series = version.rpartition(".")[0]
        # A server opens data of its own series and of the one before.
        if data.version not in (series, _PREDECESSOR.get(series)):
            _refuse_data(ctx, version, data.version)
            return
        ctx.wake_in(START_SECONDS, "ready")

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Become ready, or meet a failing disk in the background."""
        if reason == "ready":
            try:
                ctx.listen(27017)
            except OSError:
                _port_taken(ctx)
                return
            for path in ("/tmp/mongodb-27017.sock", "0.0.0.0"):
                line(ctx, "I", "NETWORK", 23015, "listener", "Listening on", {"address": path})
            attr = {"port": 27017, "ssl": "off"}
            line(ctx, "I", "NETWORK", 23016, "listener", "Waiting for connections", attr)
            # A disk that failed before there was a server has woken nobody.
            reason = "disk"
        fraction = ctx.disk_failing(DATA) or ctx.disk_corrupt(DATA)
        if not fraction:
            return
        if reason == "disk":
            stream = f"process/{ctx.process.namespace}/{ctx.process.container}/background"
            ctx.wake_in(ctx.world.streams.exponential(stream, BACKGROUND_READ / fraction), "background-read")
        elif reason == "background-read":
            fatal = _read_error if ctx.disk_failing(DATA) else _checksum_error
            fatal(ctx, 0.0)

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Authenticate, authorise, answer. Reads are served from the cache once it holds the collection."""
        data = stored_or_empty(ctx)
        user = call.attribute("user")
        roles: tuple[tuple[str, str], ...] = ()
        latency = 0.0003
        if user:
            account = data.account(user, call.attribute("source", "admin"))
            # Credentials are checked where they are given, even by a server that asks for none.
            if account is None or account.password != call.attribute("password"):
                log_denied(ctx, call, account is None)
                failure = Failure("auth", AUTHENTICATION_FAILED)
                return Flow(0.0, AUTH_SECONDS, ((failure, 1.0),))
            roles = account.roles
        # Neither needs a privilege.
        if call.operation in ("ping", "connect"):
            return Flow(1.0, AUTH_SECONDS if user else latency)
        database = call.attribute("database")
        if authorisation(ctx) and not allows(roles, database, call.operation):
            return Flow(0.0, latency, ((Failure("denied", refusal(call, database)), 1.0),))
        return Flow(1.0, latency + QUERY_SECONDS)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """What the native port says to a browser."""
        text = "It looks like you are trying to access MongoDB over HTTP on the native driver port.\n"
        return HttpResponse(200, text, {"Content-Type": "text/plain", "Connection": "close"})

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Shut down cleanly: write a checkpoint, close the files."""
        attr = {"signal": 15, "error": "Terminated"}
        line(ctx, "I", "CONTROL", 23377, "SignalHandler", "Received signal", attr)
        line(ctx, "I", "CONTROL", 23378, "SignalHandler", "Signal was sent by kill(2)", {"pid": 0, "uid": 0})
        line(ctx, "I", "CONTROL", 20565, "SignalHandler", "Now exiting", {}, 0.3)
        line(ctx, "I", "CONTROL", 23138, "SignalHandler", "Shutting down", {"exitCode": 0}, 0.3)
        return 0.35, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Statistics and checkpoints keep an idle server at a few milli-cores."""
        return Usage(0.004 + 0.0004 * sum(rates.values()), ctx.process.memory)

    @property
    def commands(self) -> Mapping[str, Command]:
        """The shell and the tools of the image."""
        return mongo_shell.COMMANDS


def _configured(ctx: ProcessContext) -> bool:
    """Whether the configuration file that the command line names is there; without one it does not start."""
    argv = ctx.process.argv
    for index, word in enumerate(argv):
        name, equals, given = word.partition("=")
        if name in ("--config", "-f"):
            path = given if equals else "".join(argv[index + 1 : index + 2])
            try:
                ctx.read(path)
            except OSError:
                ctx.log(
                    "Error opening config file: No such file or directory\ntry 'mongod --help' for more information"
                )
                ctx.exit(EXIT_BAD_OPTIONS)
                return False
    return True


def _initialise(ctx: ProcessContext, version: str) -> None:
    """What the image's entrypoint does with an empty data directory: accounts and init scripts."""
    data = MongoData(version.rpartition(".")[0], collections={"admin": {"system.version": ()}})
    env = ctx.process.env
    user, password = env.get("MONGO_INITDB_ROOT_USERNAME"), env.get("MONGO_INITDB_ROOT_PASSWORD")
    if user and password:
        data = data.with_account(Account(user, "admin", password, (("root", "admin"),)))
    store(ctx, data)
    try:
        names = [name for name in ctx.list_dir(INIT) if name.endswith((".sh", ".js"))]
    except OSError:
        return
    for name in names:
        path = f"{INIT}/{name}"
        ctx.log(f"\n/usr/local/bin/docker-entrypoint.sh: running {path}", delay=1.2)
        shell = container_shell(ctx, setup=True)
        argv = ["bash", path] if name.endswith(".sh") else ["mongo", "--quiet", path]
        if not shell.has(argv[0]):
            ctx.log(f"/usr/local/bin/docker-entrypoint.sh: line 360: {argv[0]}: command not found", delay=1.3)
            ctx.exit(127, delay=1.4)
            return
        result = shell.call(argv)
        if result.text:
            ctx.log(result.text, delay=1.4)
        if result.exit_code:
            ctx.exit(result.exit_code, delay=1.5)
            return
    ctx.log("\nMongoDB init process complete; ready for start up.\n", delay=2.0)


def _announce(ctx: ProcessContext, version: str) -> None:
    process = ctx.process
    line(ctx, "I", "CONTROL", 23285, "main", "Automatically disabling TLS 1.0, to force-enable TLS 1.0 specify "
          "--sslDisabledProtocols 'none'", {})  # fmt: skip
    attr: dict[str, Any] = {"pid": 1, "port": 27017, "dbPath": DATA, "architecture": "64-bit"}
    line(
        ctx,
        "I",
        "STORAGE",
        4615611,
        "initandlisten",
        "MongoDB starting",
        {**attr, "host": process.hostname},
        0.05,
    )
    build = {
        "version": version,
        "modules": [],
        "allocator": "tcmalloc",
        "environment": {"distmod": "ubuntu1804"},
    }
    line(ctx, "I", "CONTROL", 23403, "initandlisten", "Build Info", {"buildInfo": build}, 0.05)
    options: dict[str, Any] = {"net": {"bindIp": "*"}}
    if "--auth" in process.argv:
        options["security"] = {"authorization": "enabled"}
    size = _cache_wanted(process)
    if size is not None:
        options["storage"] = {"wiredTiger": {"engineConfig": {"cacheSizeGB": size}}}
    line(
        ctx, "I", "CONTROL", 21951, "initandlisten", "Options set by command line", {"options": options}, 0.05
    )


CACHE_OPTION = "--wiredTigerCacheSizeGB"
_SIZE = re.compile(r"\d{1,9}(\.\d{0,9})?|\.\d{1,9}", re.ASCII)


def _sized(ctx: ProcessContext) -> bool:
    """Whether the size of the cache that is asked for is a number; with another it does not start."""
    given = _size_given(ctx.process)
    if given is None or _SIZE.fullmatch(given):
        return True
    ctx.log(
        f"Error parsing command line: the argument ('{given}') for option '{CACHE_OPTION}' is invalid\n"
        "try 'mongod --help' for more information"
    )
    ctx.exit(EXIT_BAD_OPTIONS)
    return False


def _size_given(process: Process) -> str | None:
    """What is given as the cache's size; None where nobody says."""
    for index, word in enumerate(process.argv):
        name, equals, given = word.partition("=")
        if name == CACHE_OPTION and (equals or index + 1 < len(process.argv)):
            return given if equals else process.argv[index + 1]
    return None


def _cache_wanted(process: Process) -> float | None:
    """Gigabytes that an option gives to WiredTiger's cache, 10,000 at the most; None where nobody says."""
    given = _size_given(process)
    return None if given is None or not _SIZE.fullmatch(given) else min(float(given), 10_000.0)


def _cache(ctx: ProcessContext) -> int:
    """Megabytes of WiredTiger's cache: half of the memory that there is beyond a gigabyte, at least 256 (MongoDB's manual).

    There is as much as the container may have, or else the machine.
    """
    wanted = _cache_wanted(ctx.process)
    if wanted is not None:
        return int(1024 * wanted)
    memory = ctx.process.memory_limit
    if memory is None:
        node = ctx.world.store.get("nodes", "", ctx.process.node)
        memory = quantity.bytes_(node["status"]["capacity"]["memory"]) if node is not None else 0
    return max(256, (memory // MIB - 1024) // 2)


def _is_locked(ctx: ProcessContext) -> bool:
    """Whether another server, in whatever pod, has the directory open."""
    place, mine = storage(ctx.process), ctx.process
    return any(
        other.key != mine.key and other.program == mine.program and storage(other) == place
        for other in ctx.world.processes.values()
    )


def _refuse_directory(ctx: ProcessContext) -> None:
    """What a directory that another server has open does."""
    error = (
        f"DBPathInUse: Unable to lock the lock file: {DATA}/mongod.lock (Resource temporarily unavailable). Another "
        f"mongod instance is already running on the {DATA} directory"
    )
    text = "DBException in initAndListen, terminating"
    # The part of the server that says so moved in 5.0.
    part = "STORAGE" if server_version(ctx).startswith("4.") else "CONTROL"
    line(ctx, "E", part, 20557, "initandlisten", text, {"error": error}, 0.06)
    line(ctx, "I", "CONTROL", 20565, "initandlisten", "Now exiting", {}, 0.07)
    line(ctx, "I", "CONTROL", 23138, "initandlisten", "Shutting down", {"exitCode": EXIT_UNCAUGHT}, 0.07)
    ctx.exit(EXIT_UNCAUGHT, delay=0.1)


def _port_taken(ctx: ProcessContext) -> None:
    """What a port that another container of the pod holds does."""
    error = {"code": 9001, "codeName": "SocketException", "errmsg": "Address already in use"}
    line(ctx, "E", "CONTROL", 20568, "initandlisten", "Error setting up listener", {"error": error})
    line(ctx, "I", "CONTROL", 23138, "initandlisten", "Shutting down", {"exitCode": EXIT_NET_ERROR}, 0.1)
    ctx.exit(EXIT_NET_ERROR, delay=0.15)


def _wired_tiger(ctx: ProcessContext, delay: float) -> str:
    """How WiredTiger begins what it says: when, and in which thread."""
    whole, micro = divmod(ctx.wall() + seconds(delay), SECOND)
    return f"[{whole}:{micro}][1:0x7f5c1e2a9a80]"


def _open_error(ctx: ProcessContext, name: str, delay: float) -> None:
    """What a file that is not there, or not what it should be, does: the server aborts."""
    path = f"{DATA}/{name}"
    there = name in (ctx.volume(DATA) or {})
    said = (
        "__wt_block_read_off, 284: read checksum error for 4096B block at offset 4096"
        if there
        else f"__posix_open_file, 808: {path}: handle-open: open: No such file or directory"
    )
    number = -31802 if there else 2
    attr = {
        "error": number,
        "message": f"{_wired_tiger(ctx, delay)}, file:{name}, WT_SESSION.open_cursor: {said}",
    }
    line(ctx, "E", "STORAGE", 22435, "initandlisten", "WiredTiger error", attr, delay)
    text = "Failed to open a WiredTiger cursor. This may be due to data corruption"
    cause = "UnknownError: -31802: WT_ERROR: non-specific WiredTiger error" if there else "NoSuchKey: 2: No such file or directory"  # fmt: skip
    repair = "Please read the documentation for starting MongoDB with --repair here: http://dochub.mongodb.org/core/repair"
    uri = f"table:{name.removesuffix('.wt')}"
    about = {"uri": uri, "config": "overwrite=false", "error": cause, "message": repair}
    line(ctx, "F", "STORAGE", 50882, "initandlisten", text, about, delay)
    assertion = {
        "msgid": 50882,
        "file": "src/mongo/db/storage/wiredtiger/wiredtiger_session_cache.cpp",
        "line": 142,
    }
    line(ctx, "F", "-", 23091, "initandlisten", "Fatal assertion", assertion, delay)
    line(ctx, "F", "-", 23092, "initandlisten", "\n\n***aborting after fassert() failure\n\n", {}, delay)
    ctx.exit(EXIT_FASSERT, delay=delay + 0.05)


def _read_error(ctx: ProcessContext, delay: float) -> None:
    """What a failed read does: WiredTiger panics and the server aborts."""
    text = (
        f"__posix_file_read, 437: {DATA}/WiredTiger.wt: handle-read: pread: failed to read 4096 bytes at offset 0: "
        "Input/output error"
    )
    _panic(ctx, f"{_wired_tiger(ctx, delay)}, connection", ((5, text),), delay)


def _checksum_error(ctx: ProcessContext, delay: float) -> None:
    """What a block does that is not what was written: its checksum differs, WiredTiger panics and the server aborts."""
    bits = keyed_bits("block", ctx.process.node, ctx.now())
    name, offset = (
        "WiredTigerHS.wt" if server_version(ctx) >= "4.4" else "WiredTigerLAS.wt",
        4096 * (1 + bits % 40),
    )
    found, wanted = (bits >> 8) & 0xFFFFFFFF, (bits >> 30) & 0xFFFFFFFF
    block = f"{name}: read checksum error for 4096B block at offset {offset}"
    errors = (
        (0, f"__wt_block_read_off, 283: {block}: block header checksum of {found:#x} doesn't match expected checksum of {wanted:#x}"),
        (-31802, f"__wt_block_read_off, 292: {name}: fatal read error: WT_ERROR: non-specific WiredTiger error"),
    )  # fmt: skip
    _panic(ctx, f"{_wired_tiger(ctx, delay)}, file:{name}, WT_CURSOR.next", errors, delay)


def _panic(ctx: ProcessContext, thread: str, errors: Sequence[tuple[int, str]], delay: float) -> None:
    for number, text in errors:
        attr: dict[str, Any] = {"error": number, "message": f"{thread}: {text}"}
        line(ctx, "E", "STORAGE", 22435, "initandlisten", "WiredTiger error", attr, delay)
    panic = {
        "error": -31804,
        "message": f"{thread}: __wt_panic, 490: the process must exit and restart: WT_PANIC: WiredTiger library panic",
    }
    line(ctx, "E", "STORAGE", 22435, "initandlisten", "WiredTiger error", panic, delay)
    assertion = {"msgid": 50853, "file": "src/mongo/db/storage/wiredtiger/wiredtiger_util.cpp", "line": 481}
    line(ctx, "F", "-", 23089, "initandlisten", "Fatal assertion", assertion, delay)
    line(ctx, "F", "-", 23090, "initandlisten", "\n\n***aborting after fassert() failure\n\n", {}, delay)
    signal = {"message": "Got signal: 6 (Aborted).\n"}
    line(ctx, "F", "CONTROL", 4757800, "initandlisten", "Writing fatal message", signal, delay)
    ctx.exit(EXIT_FASSERT, delay=delay + 0.05)


def _refuse_data(ctx: ProcessContext, version: str, found: str) -> None:
    newer = version.rpartition(".")[0]
    older = _PREDECESSOR.get(newer, newer)
    error = (
        "UPGRADE PROBLEM: Found an invalid featureCompatibilityVersion document (ERROR: Location4926900: Invalid "
        f'featureCompatibilityVersion document in admin.system.version: {{ _id: "featureCompatibilityVersion", '
        f'version: "{found}" }}. See https://docs.mongodb.com/master/release-notes/{older}-compatibility/'
        "#feature-compatibility. :: caused by :: Invalid feature compatibility version value "
        f"'{found}'; expected '{older}' or '{newer}'.). If the current featureCompatibilityVersion is below {older}, "
        "see the documentation on upgrading at "
        f"https://docs.mongodb.com/master/release-notes/{older}/#upgrade-procedures."
    )
    line(ctx, "F", "CONTROL", 20573, "initandlisten", "Wrong mongod version", {"error": error}, 0.8)
    line(ctx, "I", "CONTROL", 20565, "initandlisten", "Now exiting", {}, 0.9)
    line(ctx, "I", "CONTROL", 23138, "initandlisten", "Shutting down", {"exitCode": EXIT_NEED_DOWNGRADE}, 0.9)
    ctx.exit(EXIT_NEED_DOWNGRADE, delay=1.0)
