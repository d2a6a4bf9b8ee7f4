"""A MongoDB server's data, accounts and log: what the server, its shell and its drivers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import MILLISECOND, SECOND, seconds
from sregym_env.sim.containers import view
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.mongo_data import CATALOG, DATA_KEY, Document, MongoData
from sregym_env.sim.world.logs import ORDINAL
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.program import Call

DATA = "/data/db"


def server_version(ctx: ProcessContext) -> str:
    """The version of the binary, e.g. ``4.4.6``."""
    image = ctx.image
    binary = image.binaries.get(ctx.process.binary) or image.binaries["mongod"]
    return str(binary.settings)


class DataFilesError(Exception):
    """Data files that a server cannot open; the text is the name of the one at which it fails."""


def stored(ctx: ProcessContext) -> MongoData | None:
    """The data files, read from the disk; None if there are none. Raises OSError(EIO), DataFilesError."""
    content = ctx.volume(DATA)
    # As the image's entrypoint tells an empty directory.
    if content is None or not content.keys() & {"WiredTiger", "storage.bson"}:
        return None
    found = content.get(DATA_KEY)
    if CATALOG not in content or content[CATALOG] or not isinstance(found, MongoData):
        raise DataFilesError(CATALOG)
    lacking = found.lacking(content.keys())
    if lacking is not None:
        raise DataFilesError(lacking)
    return found


def stored_or_empty(ctx: ProcessContext) -> MongoData:
    """The data as the running server knows it, without touching the disk."""
    content = ctx.stored(storage(ctx.process))
    found = None if content is None else content.get(DATA_KEY)
    return found if isinstance(found, MongoData) else MongoData(server_version(ctx).rpartition(".")[0])


def storage(process: Process) -> str:
    """Where the data files of a server lie in the world's volumes."""
    mount = view.mount_of(process, DATA)
    return f"{view.overlay_key(process)}{DATA}" if mount is None else view.storage_key(process, mount)


def store(ctx: ProcessContext, data: MongoData) -> None:
    """Write the data files, beside what else lies there."""
    place = storage(ctx.process)
    known = ctx.stored(place) or {}
    before = known.get(DATA_KEY)
    own = before.files() if isinstance(before, MongoData) else {}
    others = {name: text for name, text in known.items() if name not in own and name != DATA_KEY}
    data = data.written(ctx.now(), place)
    ctx.write_volume(DATA, {**others, **data.files(), DATA_KEY: data})


def insert_if_absent(
    ctx: ProcessContext, database: str, collection: str, documents: tuple[Document, ...], key: str
) -> int:
    """Insert the documents whose ``key`` is not there yet; how many were inserted."""
    data = stored_or_empty(ctx)
    known = data.documents(database, collection)
    # An empty collection was filled with this very tuple: there is nothing to compare.
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


def refusal(call: Call, database: str) -> str:
    """The refusal of a driver's command, which the server quotes as it came."""
    collection, body = call.attribute("collection"), call.attribute("body")
    command = f'{{ {call.operation}: "{collection}", {body}$db: "{database}" }}'
    return f"not authorized on {database} to execute command {command}"


def log_denied(ctx: ProcessContext, call: Call, unknown: bool) -> None:
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
        rendered("{time_ms}", "I", "ACCESS", 20249, f"conn{ORDINAL}", "Authentication failed", attr),
        share=1.0,
    )


def log_login(ctx: ProcessContext, call: Call) -> None:
    """Write the lines of one client that connects and, where it has credentials, logs in."""
    remote, number = call.attribute("remote", "127.0.0.1:48810"), connection(ctx)
    accepted: dict[str, Any] = {"remote": remote, "connectionId": number, "connectionCount": 1}
    line(ctx, "I", "NETWORK", 22943, "listener", "Connection accepted", accepted)
    if call.attribute("user") and authorisation(ctx):
        attr: dict[str, Any] = {
            "mechanism": _mechanism(call),
            "speculative": False,
            "principalName": call.attribute("user"),
            "authenticationDatabase": call.attribute("source", "admin"),
            "remote": remote,
            "extraInfo": {},
        }
        line(ctx, "I", "ACCESS", 20250, f"conn{number}", "Authentication succeeded", attr)


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
    line(ctx, "I", "ACCESS", 20249, f"conn{connection(ctx)}", "Authentication failed", attr)


def log_unauthorised(ctx: ProcessContext, command: str, *, connected: bool = False) -> None:
    """Write the ACCESS line of one refused command, of a client that has ``connected`` before or does now."""
    attr: dict[str, Any] = {"error": {"code": 13, "codeName": "Unauthorized", "errmsg": command}}
    thread = f"conn{connection(ctx, again=connected)}"
    line(ctx, "I", "ACCESS", 20436, thread, "Checking authorization failed", attr)


def _mechanism(call: Call) -> str:
    return "SCRAM-SHA-256" if call.attribute("shell") else "SCRAM-SHA-1"


def connection(ctx: ProcessContext, *, again: bool = False) -> int:
    """The number of a connection made now, or of the last one: they grow as drivers and health checks come and go."""
    return ctx.number((ctx.now() - ctx.process.started_at) // (15 * SECOND) + 1, again=again)


def rendered(
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


def line(
    ctx: ProcessContext,
    level: str,
    component: str,
    id: int,
    thread: str,
    text: str,
    attr: Mapping[str, Any],
    delay: float = 0.0,
) -> None:
    """Write one line to the server's log, ``delay`` seconds from now."""
    if ctx.world.unread:
        return
    time = timestamp(ctx.wall() + seconds(delay))
    ctx.log(rendered(time, level, component, id, thread, text, attr), delay=delay)
