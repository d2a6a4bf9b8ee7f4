"""What a MongoDB server does just now and has done since it began: ``db.currentOp()``, ``db.serverStatus()``, ``mongostat``.

The server keeps no books: who is connected follows from where clients' settings lead, how many operations are under way from how
many come and how long each takes, and what has been counted from the history of the traffic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits, keyed_unit
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import mongo_server, pools, totals
from sregym_env.sim.programs.mongo_shell.session import Session
from sregym_env.sim.programs.mongo_shell.values import Raw

DRIVERS: Mapping[str, Mapping[str, Any]] = {
    "mgo": {
        "driver": {"name": "mgo", "version": "globalsign"},
        "os": {"type": "linux", "architecture": "amd64"},
    },
    "mongo-c-driver": {
        "driver": {"name": "mongoc", "version": "1.15.0"},
        "os": {"type": "Linux", "name": "Ubuntu", "version": "16.04", "architecture": "x86_64"},
    },
}
"""What client libraries tell of themselves."""
FEWEST, MORE = 1, 3
"""Connections that a pool has open at rest: at least, and so many different numbers (assumed)."""
MOST = 838_860
"""Connections that a server takes (``available`` and ``current`` together, as the image's limits have it)."""
SHOWN = 200
"""Operations that are told of at most."""
LOOKS = 15
"""Seconds between two connections of those who only look whether the server is there."""
TICKETS = 128
"""Operations of a kind that the storage engine works on at once."""

KINDS: Mapping[str, str] = {
    "find": "query", "aggregate": "command", "count": "command", "insert": "insert", "update": "update", "delete": "remove",
}  # fmt: skip
"""What the server calls an operation."""
_COUNTED: Mapping[str, str] = {"find": "query", "insert": "insert", "update": "update", "delete": "delete"}
"""How it counts it; everything else is a command."""
_READING = frozenset(("find", "count", "aggregate"))
_IN, _OUT = 190, 230
"""Assumed bytes of a request and of its answer."""


class Busy(NamedTuple):
    """An operation of a client that is under way, or a connection of one that is at rest."""

    number: int
    """Of the connection."""
    client: str
    driver: str
    operation: str
    """Empty for a connection at rest."""
    space: str
    """``database.collection``."""
    seconds: float
    """For how long it has been under way."""
    waits: bool
    """Whether it waits for its turn."""


def clients(server: ProcessContext) -> list[Busy]:
    """Every connection of clients, those with an operation under way first."""
    load = pools.load(server)
    found = list(pools.clients(server, DRIVERS))
    if not found:
        return []
    # Operations come so often and take so long: so many are under way (Little's law).
    rates = () if load is None else load.rates
    latency = 0.0 if load is None else load.latency
    under_way = sum(rate for _, rate in rates) * latency
    key, now = server.process.key[0], server.now()
    count = min(int(under_way + keyed_unit(key, "under way", now)), SHOWN)
    names = {name for name, rate in rates if rate > 0.0}
    busy: list[Busy] = []
    for index in range(count):
        client = found[keyed_bits(key, "whose", index, now) % len(found)]
        kinds = [ask for ask in pools.asked(client) if ask.operation in names] or pools.asked(client)
        if not kinds:
            continue
        ask = kinds[keyed_bits(key, "what", index, now) % len(kinds)]
        age = latency * (index + keyed_unit(key, "since", index, now)) / max(count, 1)
        busy.append(
            Busy(
                2 + index, _address(client, index), client.peer.driver, ask.operation, f"{client.peer.database}.{ask.of}", age,
                index >= TICKETS,
            )
        )  # fmt: skip
    rest: list[Busy] = []
    for client in found:
        have = sum(each.client.startswith(f"{client.process.ip}:") for each in busy)
        for index in range(have, have + FEWEST + keyed_bits(*client.process.key, "pool") % MORE):
            number = 2 + len(busy) + len(rest)
            rest.append(Busy(number, _address(client, index), client.peer.driver, "", "", 0.0, False))
    return [*busy, *rest]


def _address(client: pools.Client, index: int) -> str:
    return f"{client.process.ip}:{32768 + keyed_bits(*client.process.key, 'port', index) % 28000}"


# --- what is under way --------------------------------------------------------------------------------------


def operations(session: Session, *, everything: bool) -> list[dict[str, Any]]:
    """What the server tells of operations under way, the asking one first; ``everything``: of connections at rest, too."""
    server = session.server
    shown = [_own(session)]
    for each in clients(server):
        if each.operation or everything:
            shown.append(_told(session, each))
    return shown


def _own(session: Session) -> dict[str, Any]:
    server = session.server
    # Numbers grow as those who look whether it is there come and go.
    number = max(
        mongo_server.connection(server, again=True),
        (server.now() - server.process.started_at) // (LOOKS * SECOND) + 1,
    )
    about = {
        "application": {"name": "MongoDB Shell"},
        "driver": {"name": "MongoDB Internal Client", "version": mongo_server.server_version(session.server)},
        "os": {"type": "Linux", "name": "Ubuntu", "architecture": "x86_64", "version": "18.04"},
    }
    command = {"currentOp": 1, "lsid": {"id": Raw(session.uuid("lsid"))}, "$db": "admin"}
    return {
        **_head(session, number, "127.0.0.1:48810"),
        "appName": "MongoDB Shell",
        "clientMetadata": about,
        "active": True,
        "currentOpTime": mongo_server.timestamp(session.server.now()),
        "opid": _opid(session.server, 0),
        "secs_running": 0,
        "microsecs_running": 87 + keyed_bits(session.server.now(), "own") % 90,
        "op": "command",
        "ns": "admin.$cmd.aggregate",
        "command": command,
        **_tail(waits=False, locks={}),
    }


def _told(session: Session, each: Busy) -> dict[str, Any]:
    server = session.server
    head = {**_head(session, each.number, each.client), "clientMetadata": dict(DRIVERS[each.driver])}
    if not each.operation:
        return {**head, "active": False, "currentOpTime": mongo_server.timestamp(server.now())}
    collection = each.space.partition(".")[2]
    reads = each.operation in _READING
    command: dict[str, Any] = {each.operation: collection}
    if reads:
        command["filter"] = {}
    return {
        **head,
        "active": True,
        "currentOpTime": mongo_server.timestamp(server.now()),
        "opid": _opid(server, each.number),
        "secs_running": int(each.seconds),
        "microsecs_running": int(each.seconds * SECOND),
        "op": KINDS.get(each.operation, "command"),
        "ns": each.space,
        "command": {**command, "$db": each.space.partition(".")[0]},
        **_tail(
            waits=each.waits, locks=dict.fromkeys(("Global", "Database", "Collection"), "r" if reads else "w")
        ),
    }


def _head(session: Session, number: int, client: str) -> dict[str, Any]:
    host = f"{session.server.process.hostname}:27017"
    return {"type": "op", "host": host, "desc": f"conn{number}", "connectionId": number, "client": client}


def _tail(*, waits: bool, locks: Mapping[str, str]) -> dict[str, Any]:
    return {
        "numYields": 0,
        "locks": dict(locks),
        "waitingForLock": waits,
        "lockStats": {},
        "waitingForFlowControl": False,
        "flowControlStats": {},
    }


def _opid(server: ProcessContext, index: int) -> int:
    """Operations are numbered, those of the server itself among them: some ten a second."""
    counted = sum(well + ill for well, ill in totals.answered(server).values())
    up = (server.now() - server.process.started_at) / SECOND
    return max(int(counted + 10 * up) - index, 1)


# --- what has been counted ----------------------------------------------------------------------------------


def status(server: ProcessContext) -> dict[str, Any]:
    """The parts of ``serverStatus`` that follow from who is connected and what was asked."""
    open_ = clients(server)
    busy = [each for each in open_ if each.operation]
    up = (server.now() - server.process.started_at) / SECOND
    counted = totals.answered(server)
    counts = dict.fromkeys(("insert", "query", "update", "delete", "getmore", "command"), 0)
    reads = writes = 0.0
    for name, (well, ill) in counted.items():
        counts[_COUNTED.get(name, "command")] += int(well + ill)
        reads += well if name in _READING else 0.0
        writes += 0.0 if name in _READING else well
    # Health checks and monitors say isMaster.
    counts["command"] += int(up / 5)
    load = pools.load(server)
    micros = 300.0 if load is None else max(load.latency * SECOND, 1.0)
    reading = sum(each.operation in _READING for each in busy)
    waiting = [each for each in busy if each.waits]
    waiting_reads = sum(each.operation in _READING for each in waiting)
    looks = int(up // LOOKS)
    total = sum(counts.values())
    return {
        "connections": {
            "current": len(open_) + 1, "available": MOST - len(open_) - 1, "totalCreated": looks + len(open_) + 1,
            "active": len(busy) + 1,
        },
        "globalLock": {
            "totalTime": int(up * SECOND),
            "currentQueue": {"total": len(waiting), "readers": waiting_reads, "writers": len(waiting) - waiting_reads},
            "activeClients": {"total": len(busy), "readers": reading, "writers": len(busy) - reading},
        },
        "network": {"bytesIn": total * _IN, "bytesOut": total * _OUT, "numRequests": total},
        "opLatencies": {
            "reads": {"latency": int(reads * micros), "ops": int(reads)},
            "writes": {"latency": int(writes * micros), "ops": int(writes)},
            "commands": {"latency": int(up / 5 * 90), "ops": int(up / 5)},
        },
        "opcounters": counts,
        "metrics": {
            "document": {
                "deleted": counts["delete"], "inserted": counts["insert"], "returned": int(reads), "updated": counts["update"],
            },
        },
        "wiredTiger": {
            "concurrentTransactions": {
                "write": _tickets(len(busy) - reading),
                "read": _tickets(reading),
            },
        },
    }  # fmt: skip


def _tickets(used: int) -> dict[str, int]:
    out = min(used, TICKETS)
    return {"out": out, "available": TICKETS - out, "totalTickets": TICKETS}


def statistics(server: ProcessContext) -> str:
    """The line of ``mongostat`` for a second of the present."""
    rates = pools.present(server)
    counts = dict.fromkeys(("insert", "query", "update", "delete"), 0.0)
    others = 0.4
    for name, rate in rates.items():
        if name in _COUNTED:
            counts[_COUNTED[name]] += rate
        else:
            others += rate
    told = status(server)
    queues, active = told["globalLock"]["currentQueue"], told["globalLock"]["activeClients"]
    cells = [f"{round(rate)}" if rate >= 0.5 else "*0" for rate in counts.values()]
    total = sum(rates.values())
    return (
        f"{cells[0]:>6} {cells[1]:>5} {cells[2]:>6} {cells[3]:>6} {'0':>7} {f'{round(others)}|0':>7}  0.0% 0.0%       0 1.46G "
        f"{server.process.memory >> 20}.0M {queues['readers']}|{queues['writers']} {active['readers'] + 1}|{active['writers']} "
        f"{_bytes(112 + total * _IN):>6} {_bytes(39_400 + total * _OUT):>7} {told['connections']['current']:>4}\n"
    )


def _bytes(amount: float) -> str:
    return (
        f"{round(amount)}b"
        if amount < 1000
        else f"{amount / 1000:.1f}k"
        if amount < 1e6
        else f"{amount / 1e6:.1f}m"
    )
