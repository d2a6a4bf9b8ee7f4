"""Who is connected to a server, and which locks hold whom up.

A session of an application's process lasts as long as that process: the server keeps it under the process's identity and
forgets it where nobody of that identity runs any more, so that nothing has to happen when a pod is deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.network import addressing
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB

LOST = "lost"
"""The reason for which a client is woken whose session was ended."""

PER_SESSION = 2 * MIB
"""Assumed resident memory of a process that serves a connection."""

CHECKPOINTER, LAUNCHER = 62, 67
BACKGROUND: tuple[tuple[int, str, str, int], ...] = (
    (CHECKPOINTER, "checkpointer", "CheckpointerMain", 8),
    (63, "background writer", "BgwriterHibernate", 6),
    (65, "walwriter", "WalWriterMain", 9),
    (66, "autovacuum launcher", "AutovacuumMain", 8),
    (LAUNCHER, "logical replication launcher", "LogicalLauncherMain", 7),
)
"""The server's own children: (process id, what each is, what it waits for at rest, assumed resident megabytes)."""

WATCHING = ("psql", "pgbouncer")
"""Programs that see at once that a connection of theirs is closed."""

LockHeld = tuple[str, str, str]
"""(database, ``schema.table``, mode)."""

_CONFLICTS: Mapping[str, tuple[str, ...]] = {
    "AccessShareLock": ("AccessExclusiveLock",),
    "RowShareLock": ("ExclusiveLock", "AccessExclusiveLock"),
    "RowExclusiveLock": ("ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"),
    "ShareUpdateExclusiveLock": (
        "ShareUpdateExclusiveLock", "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock",
    ),
    "ShareLock": (
        "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock",
    ),
    "ShareRowExclusiveLock": (
        "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock",
        "AccessExclusiveLock",
    ),
    "ExclusiveLock": (
        "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock", "ShareRowExclusiveLock",
        "ExclusiveLock", "AccessExclusiveLock",
    ),
    "AccessExclusiveLock": (
        "AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock",
        "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock",
    ),
}  # fmt: skip
"""Table 13.2 of PostgreSQL's manual."""

MODES: Mapping[str, str] = {
    "select": "AccessShareLock",
    "insert": "RowExclusiveLock",
    "update": "RowExclusiveLock",
    "delete": "RowExclusiveLock",
    "upsert": "RowExclusiveLock",
}
"""Locks that kinds of statement take on their tables."""


@dataclass(frozen=True, slots=True)
class PgSession:
    """One connection, or what a pool of equal ones is counted as."""

    pid: int
    user: str
    database: str
    address: str
    """The client's; empty for one through the socket."""
    since: int
    """When it was opened, microseconds since the Unix epoch."""
    application: str = ""
    state: str = "idle"
    query: str = ""
    changed: int = 0
    """When the state became what it is."""
    wait: str = ""
    """The table whose lock it waits for, ``database/schema.table``; empty for none."""
    asks: str = ""
    """The mode of the lock that it waits for."""
    locks: tuple[LockHeld, ...] = ()
    more: tuple[int, ...] = ()
    """Process ids of the others, where it stands for the connections of a pool, which are all alike."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the server's children for it."""
        return (self.pid, *self.more)

    @property
    def count(self) -> int:
        """How many connections it stands for."""
        return 1 + len(self.more)

    @property
    def each(self) -> tuple[PgSession, ...]:
        """Its connections one by one."""
        return (self,) if not self.more else tuple(evolve(self, pid=pid, more=()) for pid in self.pids)

    def without(self, pid: int) -> PgSession | None:
        """What is left of it when one of its connections is closed; None for nothing."""
        left = tuple(each for each in self.pids if each != pid)
        return evolve(self, pid=left[0], more=left[1:]) if left else None


def sessions(ctx: ProcessContext) -> Mapping[str, PgSession]:
    """Sessions of processes that still run, by their identity ``pod-uid/container/restart``; a process that keeps several
    pools adds ``#`` and the name of each."""
    return dict(_living(ctx))


def _living(ctx: ProcessContext) -> Iterator[tuple[str, PgSession]]:
    found: Mapping[str, PgSession | None] = ctx.process.state.get("sessions", {})
    for key, session in found.items():
        if session is not None and alive(ctx, key):
            yield key, session


THREADS = 10
"""Statements that a client without a pool makes at a time: the threads of a Python server (``ThreadPoolExecutor(max_workers=10)``)."""
COMES = 3 * SECOND
"""Assumed time until a further one of them waits, too."""


def queued(ctx: ProcessContext) -> Mapping[str, PgSession]:
    """Sessions of clients that open one for every statement, and whose statement waits for a lock, by client and table."""
    found: Mapping[str, PgSession | None] = ctx.process.state.get("queued", {})
    known = {}
    for key, each in found.items():
        if each is None or addressing.pod_at(ctx.world, each.address) is None:
            continue
        begun = range(each.changed, ctx.now() + 1, COMES)[: THREADS + len(each.more)]
        for number, since in enumerate(begun):
            # One after the other, with some of other clients between them; others come for those that were ended.
            pid = each.pid + 3 * number
            if pid not in each.more:
                known[f"{key}#{number}"] = evolve(each, pid=pid, since=since, changed=since, more=())
    return known


def queue(ctx: ProcessContext, key: str, session: PgSession | None) -> None:
    """While serving: the statement of a client without a pool waits from now on (or, with None, no longer)."""
    known = ctx.process.state.get("queued", {}).get(key)
    if (known is None) != (session is None):
        ctx.settle_entry("queued", key, session)


def alive(ctx: ProcessContext, identity: str) -> bool:
    """Whether the process of an identity still runs."""
    uid, container, restart = identity.rsplit("/", 2)
    key = (uid, container)
    addressing.note(ctx.world, "process", key)
    process = ctx.world.processes.get(key)
    return process is not None and str(process.restart) == restart.partition("#")[0]


def connections(ctx: ProcessContext, *, user: str = "", database: str = "") -> int:
    """How many connections are open: of everybody, or of a role, or to a database."""
    return sum(
        each.count for _, each in _living(ctx) if user in ("", each.user) and database in ("", each.database)
    )


def backend_pid(ctx: ProcessContext, identity: str, since: int) -> int:
    """The process id that the server's child for a session has."""
    return 80 + keyed_bits(ctx.process.key[0], identity, since) % 9000


def holder(ctx: ProcessContext, identity: str, database: str, relation: str, mode: str) -> PgSession | None:
    """A session that holds a lock on a table with which ``mode`` conflicts, that of ``identity`` aside."""
    against = _CONFLICTS[mode]
    for key, session in _living(ctx):
        if key != identity and any(
            held[0] == database and held[1] == relation and held[2] in against for held in session.locks
        ):
            return session
    return None


def put(ctx: ProcessContext, identity: str, session: PgSession | None) -> None:
    """Change one session, or end it, outside of traffic. A server that has to serve more of them than its container's memory
    is good for is killed."""
    known = {
        key: each for key, each in ctx.process.state.get("sessions", {}).items() if key != identity and each
    }
    ctx.update(sessions=known if session is None else {**known, identity: session})
    limit = ctx.process.memory_limit
    if limit is not None and ctx.process.memory + PER_SESSION * connections(ctx) > limit:
        ctx.killed()


def ended(ctx: ProcessContext, pid: int) -> str:
    """End the session of a process id: the identity that it belonged to, or an empty text where there is none."""
    for key, session in sessions(ctx).items():
        if pid in session.pids:
            put(ctx, key, session.without(pid))
            uid, container, _ = key.rsplit("/", 2)
            client = ctx.world.processes[(uid, container)]
            if client.program in WATCHING:
                # It sits on its connection, and sees it close; others find out with their next statement.
                ProcessContext(ctx.world, client).wake_in(0.01, LOST)
            return key
    return _sent_away(ctx, pid)


def _sent_away(ctx: ProcessContext, pid: int) -> str:
    """End the statement of a client without a pool that waits in the session of a process id; another will take its place."""
    for place, session in queued(ctx).items():
        if session.pid == pid:
            known, key = ctx.process.state["queued"], place.partition("#")[0]
            ctx.update(queued={**known, key: evolve(known[key], more=(*known[key].more, pid))})
            return place
    return ""


def cancelled(ctx: ProcessContext, pid: int) -> bool:
    """Cancel what a session does; whether there was one."""
    for key, session in sessions(ctx).items():
        if pid in session.pids:
            put(ctx, key, evolve(session, state="idle", wait="", asks="", changed=ctx.now()))
            return True
    return bool(_sent_away(ctx, pid))
