"""``mongod``: the database server of the ``mongo`` images, with its accounts and data on a volume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import MILLISECOND, SECOND, seconds
from sregym_env.sim.programs import view
from sregym_env.sim.programs.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.mongo_data import DATA_KEY, Document, MongoData, allows
from sregym_env.sim.programs.program import Call, Command, Failure, Flow, HttpRequest, HttpResponse, Usage

DATA = "/data/db"
INIT = "/docker-entrypoint-initdb.d"
START_READS = 40
"""Blocks that recovery reads before it accepts connections: two or more of each of WiredTiger's own files
(turtle, metadata, history store, sizes), the catalogue, and every collection and index."""
BACKGROUND_READ = 45.0
"""Mean seconds between reads that checkpoints and statistics make on an idle server."""
EXIT_FASSERT = 14
"""Exit code after a fatal assertion (MongoDB's EXIT_ABRUPT)."""
EXIT_NET_ERROR = 48
"""Exit code when the server cannot listen on its port."""
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

    def start(self, ctx: ProcessContext) -> None:
        """Check the data files, run the init scripts on an empty directory, then listen."""
        ctx.set_memory(96 * MIB)
        if ctx.over_limit:
            return
        version = server_version(ctx)
        _announce(ctx, version)
        try:
            for _ in range(START_READS):
                ctx.volume(DATA)
            data = stored(ctx)
        except OSError:
            _read_error(ctx, 0.35)
            return
        if data is None:
            _initialise(ctx, version)
            ctx.wake_in(3.0, "ready")
            return
        series = version.rpartition(".")[0]
        if data.version not in (series, _PREDECESSOR.get(series)):
            _refuse_data(ctx, version, data.version)
            return
        ctx.wake_in(0.9, "ready")

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Become ready, or meet a failing disk in the background."""
        if reason == "ready":
            try:
                ctx.listen(27017)
            except OSError:
                _port_taken(ctx)
                return
            for path in ("/tmp/mongodb-27017.sock", "0.0.0.0"):
                _line(ctx, "I", "NETWORK", 23015, "listener", "Listening on", {"address": path})
            attr = {"port": 27017, "ssl": "off"}
            _line(ctx, "I", "NETWORK", 23016, "listener", "Waiting for connections", attr)
            reason = "disk"
        fraction = ctx.disk_failing(DATA)
        if not fraction:
            return
        if reason == "disk":
            stream = f"process/{ctx.process.namespace}/{ctx.process.container}/background"
            ctx.wake_in(ctx.world.streams.exponential(stream, BACKGROUND_READ / fraction), "background-read")
        elif reason == "background-read":
            _read_error(ctx, 0.0)

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Authenticate, authorise, answer. Reads are served from the cache once it holds the collection."""
        data = stored_or_empty(ctx)
        user = call.attribute("user")
        roles: tuple[tuple[str, str], ...] = ()
        latency = 0.0003
        if user:
            account = data.account(user, call.attribute("source", "admin"))
            if account is None or account.password != call.attribute("password"):
                _log_denied(ctx, call, account is None)
                failure = Failure("auth", AUTHENTICATION_FAILED)
                return Flow(0.0, AUTH_SECONDS, ((failure, 1.0),))
            roles = account.roles
        if call.operation in ("ping", "connect"):
            return Flow(1.0, AUTH_SECONDS if user else latency)
        database = call.attribute("database")
        if authorisation(ctx) and not allows(roles, database, call.operation):
            return Flow(0.0, latency, ((Failure("denied", _not_authorised(call, database)), 1.0),))
        return Flow(1.0, latency + QUERY_SECONDS)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """What the native port says to a browser."""
        text = "It looks like you are trying to access MongoDB over HTTP on the native driver port.\n"
        return HttpResponse(200, text, {"Content-Type": "text/plain", "Connection": "close"})

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Shut down cleanly: write a checkpoint, close the files."""
        attr = {"signal": 15, "error": "Terminated"}
        _line(ctx, "I", "CONTROL", 23377, "SignalHandler", "Received signal", attr)
        _line(ctx, "I", "CONTROL", 23378, "SignalHandler", "Signal was sent by kill(2)", {"pid": 0, "uid": 0})
        _line(ctx, "I", "CONTROL", 20565, "SignalHandler", "Now exiting", {}, 0.3)
        _line(ctx, "I", "CONTROL", 23138, "SignalHandler", "Shutting down", {"exitCode": 0}, 0.3)
        return 0.35, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Statistics and checkpoints keep an idle server at a few milli-cores."""
        return Usage(0.004 + 0.0004 * sum(rates.values()), ctx.process.memory)

    @property
    def commands(self) -> Mapping[str, Command]:
        """The shell and the tools of the image."""
        from sregym_env.sim.programs import mongo_shell

        return mongo_shell.COMMANDS


# --- data ---------------------------------------------------------------------------------------------


def server_version(ctx: ProcessContext) -> str:
    """The version of the binary, e.g. ``4.4.6``."""
    image = ctx.image
    binary = image.binaries.get(ctx.process.binary) or image.binaries["mongod"]
    return str(binary.settings)


def stored(ctx: ProcessContext) -> MongoData | None:
    """The data files, read from the disk; None if there are none. Raises OSError(EIO)."""
    content = ctx.volume(DATA)
    found = None if content is None else content.get(DATA_KEY)
    return found if isinstance(found, MongoData) else None


def stored_or_empty(ctx: ProcessContext) -> MongoData:
    """The data as the running server knows it, without touching the disk."""
    mount = view.mount_of(ctx.process, DATA)
    if mount is None:
        content = ctx.world.volumes.get(f"{view.overlay_key(ctx.process)}{DATA}")
    else:
        content = ctx.world.volumes.get(view.storage_key(ctx.process, mount))
    found = None if content is None else content.get(DATA_KEY)
    return found if isinstance(found, MongoData) else MongoData(server_version(ctx).rpartition(".")[0])


def store(ctx: ProcessContext, data: MongoData) -> None:
    """Write the data files."""
    names: dict[str, Any] = {
        "WiredTiger": "WiredTiger\nWiredTiger 10.0.0: (May 20, 2020)\n",
        "WiredTiger.lock": "WiredTiger lock file\n",
        "WiredTiger.wt": "",
        "WiredTigerHS.wt": "",
        "_mdb_catalog.wt": "",
        "sizeStorer.wt": "",
        "storage.bson": "",
        "mongod.lock": "1\n",
        "journal/WiredTigerLog.0000000001": "",
        "diagnostic.data/metrics.interim": "",
    }
    for database in sorted(data.collections):
        for collection in sorted(data.collections[database]):
            names[f"collection-{len(names)}--{database}.{collection}.wt"] = ""
    names[DATA_KEY] = data
    ctx.write_volume(DATA, names)


def insert_if_absent(
    ctx: ProcessContext, database: str, collection: str, documents: tuple[Document, ...], key: str
) -> int:
    """Insert the documents whose ``key`` is not there yet; how many were inserted."""
    data = stored_or_empty(ctx)
    known = data.documents(database, collection)
    if known is documents:
        return 0
    present = {doc.get(key) for doc in known}
    fresh = tuple(doc for doc in documents if doc.get(key) not in present)
    if fresh:
        store(ctx, data.with_documents(database, collection, documents if not known else (*known, *fresh)))
    return len(fresh)


def authorisation(ctx: ProcessContext) -> bool:
    """Whether the server runs with ``--auth`` (or the image's root account variables, which imply it)."""
    process = ctx.process
    return "--auth" in process.argv or "MONGO_INITDB_ROOT_USERNAME" in process.env


# --- start and failure ----------------------------------------------------------------------------------


def _initialise(ctx: ProcessContext, version: str) -> None:
    """What the image's entrypoint does with an empty data directory: accounts and init scripts."""
    from sregym_env.sim.programs.mongo_data import Account

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
    from sregym_env.sim.programs.toolbox import container_shell

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
    _line(ctx, "I", "CONTROL", 23285, "main", "Automatically disabling TLS 1.0, to force-enable TLS 1.0 specify "
          "--sslDisabledProtocols 'none'", {})  # fmt: skip
    attr: dict[str, Any] = {"pid": 1, "port": 27017, "dbPath": DATA, "architecture": "64-bit"}
    _line(
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
    _line(ctx, "I", "CONTROL", 23403, "initandlisten", "Build Info", {"buildInfo": build}, 0.05)
    options: dict[str, Any] = {"net": {"bindIp": "*"}}
    if "--auth" in process.argv:
        options["security"] = {"authorization": "enabled"}
    _line(
        ctx, "I", "CONTROL", 21951, "initandlisten", "Options set by command line", {"options": options}, 0.05
    )
    config = {"config": "create,cache_size=7479M,session_max=33000,eviction=(threads_min=4,threads_max=4)"}
    _line(ctx, "I", "STORAGE", 22315, "initandlisten", "Opening WiredTiger", config, 0.1)


def _port_taken(ctx: ProcessContext) -> None:
    """What a port that another container of the pod holds does."""
    error = {"code": 9001, "codeName": "SocketException", "errmsg": "Address already in use"}
    _line(ctx, "E", "CONTROL", 20568, "initandlisten", "Error setting up listener", {"error": error})
    _line(ctx, "I", "CONTROL", 23138, "initandlisten", "Shutting down", {"exitCode": EXIT_NET_ERROR}, 0.1)
    ctx.exit(EXIT_NET_ERROR, delay=0.15)


def _read_error(ctx: ProcessContext, delay: float) -> None:
    """What a failed read does: WiredTiger panics and the server aborts."""
    text = (
        f"__posix_file_read, 437: {DATA}/WiredTiger.wt: handle-read: pread: failed to read 4096 bytes at offset 0: "
        "Input/output error"
    )
    whole, micro = divmod(ctx.now() + seconds(delay), SECOND)
    thread = f"[{whole}:{micro}][1:0x7f5c1e2a9a80], connection"
    attr: dict[str, Any] = {"error": 5, "message": f"{thread}: {text}"}
    _line(ctx, "E", "STORAGE", 22435, "initandlisten", "WiredTiger error", attr, delay)
    panic = {
        "error": -31804,
        "message": f"{thread}: __wt_panic, 490: the process must exit and restart: WT_PANIC: WiredTiger library panic",
    }
    _line(ctx, "E", "STORAGE", 22435, "initandlisten", "WiredTiger error", panic, delay)
    assertion = {"msgid": 50853, "file": "src/mongo/db/storage/wiredtiger/wiredtiger_util.cpp", "line": 481}
    _line(ctx, "F", "-", 23089, "initandlisten", "Fatal assertion", assertion, delay)
    _line(ctx, "F", "-", 23090, "initandlisten", "\n\n***aborting after fassert() failure\n\n", {}, delay)
    signal = {"message": "Got signal: 6 (Aborted).\n"}
    _line(ctx, "F", "CONTROL", 4757800, "initandlisten", "Writing fatal message", signal, delay)
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
    _line(ctx, "F", "CONTROL", 20573, "initandlisten", "Wrong mongod version", {"error": error}, 0.8)
    _line(ctx, "I", "CONTROL", 20565, "initandlisten", "Now exiting", {}, 0.9)
    _line(
        ctx, "I", "CONTROL", 23138, "initandlisten", "Shutting down", {"exitCode": EXIT_NEED_DOWNGRADE}, 0.9
    )
    ctx.exit(EXIT_NEED_DOWNGRADE, delay=1.0)


def _not_authorised(call: Call, database: str) -> str:
    """The refusal of a driver's command, which the server quotes as it came."""
    collection, body = call.attribute("collection"), call.attribute("body")
    command = f'{{ {call.operation}: "{collection}", {body}$db: "{database}" }}'
    return f"not authorized on {database} to execute command {command}"


def _log_denied(ctx: ProcessContext, call: Call, unknown: bool) -> None:
    """Every refused login leaves an ACCESS line; under traffic as many lines as refusals."""
    user, source = call.attribute("user"), call.attribute("source", "admin")
    error = (
        "UserNotFound: Could not find user"
        if unknown
        else "AuthenticationFailed: SCRAM authentication failed"
    )
    if unknown:
        error += f' "{user}" for db "{source}"'
    else:
        error += ", storedKey mismatch"
    attr = {
        "mechanism": "SCRAM-SHA-1",
        "speculative": False,
        "principalName": user,
        "authenticationDatabase": source,
        "remote": call.attribute("remote", "10.244.0.1:48810"),
        "extraInfo": {},
        "error": error,
    }
    ctx.log_per_request(
        _text("{time_ms}", "I", "ACCESS", 20249, "conn12", "Authentication failed", attr), share=1.0
    )


def log_login(ctx: ProcessContext, call: Call) -> None:
    """Write the lines of one client that connects and, where it has credentials, logs in."""
    remote, thread = call.attribute("remote", "127.0.0.1:48810"), _thread(ctx)
    number = int(thread.removeprefix("conn"))
    accepted: dict[str, Any] = {"remote": remote, "connectionId": number, "connectionCount": 1}
    _line(ctx, "I", "NETWORK", 22943, "listener", "Connection accepted", accepted)
    if call.attribute("user") and authorisation(ctx):
        attr: dict[str, Any] = {
            "mechanism": _mechanism(call),
            "speculative": False,
            "principalName": call.attribute("user"),
            "authenticationDatabase": call.attribute("source", "admin"),
            "remote": remote,
            "extraInfo": {},
        }
        _line(ctx, "I", "ACCESS", 20250, thread, "Authentication succeeded", attr)


def log_refused_login(ctx: ProcessContext, call: Call, unknown: bool) -> None:
    """Write the ACCESS line of one refused login, outside of traffic."""
    user, source = call.attribute("user"), call.attribute("source", "admin")
    error = f'UserNotFound: Could not find user "{user}" for db "{source}"'
    if not unknown:
        error = "AuthenticationFailed: SCRAM authentication failed, storedKey mismatch"
    attr: dict[str, Any] = {
        "mechanism": _mechanism(call),
        "speculative": False,
        "principalName": user,
        "authenticationDatabase": source,
        "remote": call.attribute("remote", "127.0.0.1:48810"),
        "extraInfo": {},
        "error": error,
    }
    _line(ctx, "I", "ACCESS", 20249, _thread(ctx), "Authentication failed", attr)


def log_unauthorised(ctx: ProcessContext, database: str, command: str) -> None:
    """Write the ACCESS line of one refused command."""
    attr: dict[str, Any] = {"error": {"code": 13, "codeName": "Unauthorized", "errmsg": command}}
    _line(ctx, "I", "ACCESS", 20436, _thread(ctx), "Checking authorization failed", attr)


def _mechanism(call: Call) -> str:
    return "SCRAM-SHA-256" if call.attribute("shell") else "SCRAM-SHA-1"


def _thread(ctx: ProcessContext) -> str:
    """The thread of a connection made now: numbers grow as drivers and health checks come and go."""
    return f"conn{(ctx.now() - ctx.process.started_at) // (15 * SECOND) + 1}"


def _text(
    time: str, level: str, component: str, id: int, thread: str, text: str, attr: Mapping[str, Any]
) -> str:
    """One line of MongoDB 4.4's structured log, columns padded as the server pads them."""
    head = (
        f'{{"t":{{"$date":"{time}"}},"s":"{level}",  "c":"{component}",{" " * (9 - len(component))}"id":{id},'
        f'{" " * (8 - len(str(id)))}"ctx":"{thread}","msg":{orjson.dumps(text).decode()}'
    )
    return head + (f',"attr":{orjson.dumps(dict(attr)).decode()}}}' if attr else "}")


def timestamp(time: int) -> str:
    """An instant as mongod prints it: ``2026-08-06T10:00:05.123+00:00``."""
    whole = rfc3339(time // SECOND * SECOND).removesuffix("Z")
    return f"{whole}.{time % SECOND // MILLISECOND:03d}+00:00"


def _line(
    ctx: ProcessContext,
    level: str,
    component: str,
    id: int,
    thread: str,
    text: str,
    attr: Mapping[str, Any],
    delay: float = 0.0,
) -> None:
    time = timestamp(ctx.now() + seconds(delay))
    ctx.log(_text(time, level, component, id, thread, text, attr), delay=delay)
