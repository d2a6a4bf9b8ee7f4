"""One connection to a Redis or Valkey server, and the commands that it answers.

What somebody sets by hand is kept key by key. What clients of the application keep there is known by key spaces
(:func:`~sregym_env.sim.programs.servers.filled`); Valkey shows each of them as the keys that are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import pools, redis_memory
from sregym_env.sim.programs.redis_clients import (
    USECS,
    SortedSet,
    Spaces,
    answered,
    connections,
    received,
)
from sregym_env.sim.programs.redis_memory import FULL
from sregym_env.sim.programs.redis_settings import DEFAULTS, KNOWN, option, unfit, version
from sregym_env.sim.programs.services.peers import KeySpace
from sregym_env.sim.programs.totals import rates

NOAUTH = "NOAUTH Authentication required."
WRONGPASS = "WRONGPASS invalid username-password pair or user is disabled."
WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
SHOWN = 1000
"""Keys of clients that are told apart at most."""
LIFE = 3600
"""Seconds after which a cart expires that nobody touches (the demo's ``EXPIRE``)."""
CARTS_PER_WRITE = 0.5
"""Different carts per write to one (assumed: a shopper adds two or three products)."""

Keys = Mapping[str, str]


class Status(str):
    """A simple string: ``OK``; also what a client prints without quotes."""


class Error(str):
    """An error."""


Reply = Status | Error | str | int | None | tuple[Any, ...]


def shown(reply: Reply, *, raw: bool) -> str:
    """A reply as the client prints it: for a terminal, or ``raw``."""
    if isinstance(reply, Error):
        return f"{reply}\n" if raw else f"(error) {reply}"
    if isinstance(reply, Status):
        return str(reply)
    if raw:
        return "" if reply is None else "\n".join(shown(each, raw=True) for each in reply) if isinstance(reply, tuple) else str(reply)  # fmt: skip
    if reply is None:
        return "(nil)"
    if isinstance(reply, int):
        return f"(integer) {reply}"
    if isinstance(reply, tuple):
        if not reply:
            return "(empty array)"
        width = len(str(len(reply)))
        return "\n".join(f"{number:{width}d}) {_inner(each, width)}" for number, each in enumerate(reply, 1))
    return f'"{reply}"'


def _inner(reply: Reply, width: int) -> str:
    return shown(reply, raw=False).replace("\n", "\n" + " " * (width + 2))


@dataclass(slots=True)
class Session:
    """One connection of the client."""

    server: ProcessContext
    authenticated: bool

    @property
    def keys(self) -> Keys:
        """What somebody has set by hand."""
        found: Keys = self.server.process.state.get("keys", {})
        return found

    @property
    def valkey(self) -> bool:
        """Whether the server is Valkey, which words some things anew."""
        return self.server.process.program == "valkey"

    def answer(self, words: list[str]) -> Reply:
        """What the server says to one command."""
        name, rest = words[0].lower(), words[1:]
        if name == "auth":
            wanted = option(self.server, "requirepass")
            if not wanted:
                return Error("ERR AUTH <password> called without any password configured for the default user. Are you sure "
                             "your configuration is correct?")  # fmt: skip
            self.authenticated = bool(rest) and rest[-1] == wanted
            return Status("OK") if self.authenticated else Error(WRONGPASS)
        if not self.authenticated:
            return Error(NOAUTH)
        known = _COMMANDS.get(name)
        if known is None:
            if self.valkey:
                arguments = "".join(f"'{word}' " for word in rest)
                return Error(f"ERR unknown command '{words[0]}', with args beginning with: {arguments}")
            arguments = " ".join(f"`{word}`," for word in rest)
            return Error(f"ERR unknown command `{words[0]}`, with args beginning with: {arguments}")
        least, run = known
        if len(rest) < least:
            return Error(f"ERR wrong number of arguments for '{name}' command")
        if name in _GROWING and redis_memory.full(self.server):
            return Error(FULL)
        return run(self, rest)

    def write(self, keys: Keys) -> None:
        """Change what is set by hand."""
        self.server.update(keys=dict(keys))
        self.server.set_memory(redis_memory.RESIDENT + redis_memory.used(self.server) - redis_memory.BASE)

    @property
    def spaces(self) -> tuple[str, ...]:
        """Key spaces that the application has filled."""
        found: tuple[str, ...] = self.server.process.state.get("filled", ())
        return found

    def kept(self) -> tuple[str, ...]:
        """Keys that clients keep: carts of a Valkey server, else sorted sets, else the names of spaces of which nothing is known."""
        if self.valkey:
            return carts(self.server)
        known = Spaces(self.server)
        return (
            *(space for space in self.spaces if space not in known.known),
            *(each.name for each in known.sets()),
        )

    @property
    def count(self) -> int:
        """All keys."""
        kept = len(cart_numbers(self.server)) if self.valkey else len(self.kept())
        return len(self.keys) + kept + int(self.server.process.state.get("bulk_keys", 0))

    def names(self) -> tuple[str, ...]:
        """All keys, as far as they are told apart."""
        bulk = range(min(int(self.server.process.state.get("bulk_keys", 0)), SHOWN))
        return (*self.kept(), *self.keys, *(f"key:{index:012d}" for index in bulk))


def carts(server: ProcessContext) -> tuple[str, ...]:
    """Users who have a cart in a Valkey server."""
    return tuple(_user(server, index) for index in cart_numbers(server))


def cart_numbers(server: ProcessContext) -> range:
    """The carts in a Valkey server: of those who wrote one in the last hour, since it was emptied last."""
    now = server.now() / SECOND
    since = max(now - LIFE, server.process.state.get("flushed", 0) / SECOND)
    writes = gone = 0.0
    for operation in ("hset", "hmset", "set", "HSET", "HMSET", "SET"):
        for begin, end, rate in rates(server, operation):
            writes += rate * max(end - max(begin, since), 0.0)
            gone += rate * max(min(end, since) - begin, 0.0)
    first, count = int(gone * CARTS_PER_WRITE), min(int(writes * CARTS_PER_WRITE), SHOWN)
    return range(first, first + count)


def _user(server: ProcessContext, index: int) -> str:
    text = f"{keyed_bits(server.process.key[0], 'cart', index):016x}{keyed_bits(server.process.key[0], 'user', index):016x}"
    return f"{text[:8]}-{text[8:12]}-11f1-{text[16:20]}-{text[20:32]}"


def _kind(session: Session, key: str) -> str:
    if key in session.keys or key.startswith("key:"):
        return "string"
    if not session.valkey and Spaces(session.server).find(key) is not None:
        return "zset"
    return "hash" if key in session.kept() else "none"


def _get(session: Session, rest: list[str]) -> Reply:
    kind = "string" if rest[0] in session.keys else _kind(session, rest[0])
    if kind == "zset" or (kind == "hash" and session.valkey):
        return Error(WRONGTYPE)
    return session.keys.get(rest[0])


def _set(session: Session, rest: list[str]) -> Reply:
    session.write({**session.keys, rest[0]: rest[1]})
    return Status("OK")


def _del(session: Session, rest: list[str]) -> Reply:
    left = {key: text for key, text in session.keys.items() if key not in rest}
    removed = len(session.keys) - len(left)
    if not session.valkey:
        known = Spaces(session.server)
        dropped = {
            key: session.server.now()
            for key in dict.fromkeys(rest)
            if key not in session.keys and known.find(key)
        }
        if dropped:
            session.server.update(dropped={**session.server.process.state.get("dropped", {}), **dropped})
        removed += len(dropped)
    session.write(left)
    return removed


def _flush(session: Session, rest: list[str]) -> Reply:
    session.server.update(filled=(), bulk=0, bulk_keys=0, flushed=session.server.now(), dropped={})
    session.write({})
    return Status("OK")


def _names(session: Session, rest: list[str]) -> Reply:
    return tuple(name for name in session.names() if fnmatchcase(name, rest[0]))


def _scan(session: Session, rest: list[str]) -> Reply:
    start = whole(rest[0], 0, 11)
    given = {rest[i].lower(): rest[i + 1] for i in range(1, len(rest) - 1, 2)}
    count = whole(given.get("count", ""), 10)
    names = session.names()
    part = [name for name in names[start : start + count] if fnmatchcase(name, given.get("match", "*"))]
    end = start + count
    return (str(end if end < len(names) else 0), tuple(part))


def _hash(session: Session, rest: list[str]) -> Reply:
    kind = _kind(session, rest[0])
    if kind in ("string", "zset"):
        return Error(WRONGTYPE)
    if kind == "none":
        return ()
    # A cart is a Protocol Buffer, of which a terminal shows the texts.
    return ("cart", f"\n${rest[0]}\x12\x0e\n\nOLJCESPC7Z\x10\x01")


def _field(session: Session, rest: list[str]) -> Reply:
    found = _hash(session, rest)
    if not isinstance(found, tuple):
        return found
    return str(found[1]) if found and rest[1] == found[0] else None


def _ttl(session: Session, rest: list[str]) -> Reply:
    match _kind(session, rest[0]):
        case "none":
            return -2
        case "string" | "zset":
            return -1
    return LIFE - keyed_bits(rest[0], "age") % 1800


def _config(session: Session, rest: list[str]) -> Reply:
    server = session.server
    action = rest[0].lower()
    if action == "get" and len(rest) > 1:
        known: Mapping[str, str] = {**DEFAULTS, **server.process.state.get("options", {})}
        patterns = [each.lower() for each in rest[1:]]
        found = [
            (name, known[name]) for name in sorted(known) if any(fnmatchcase(name, each) for each in patterns)
        ]
        if "maxmemory" in dict(found):
            found = [
                (name, str(redis_memory.limit(server)) if name == "maxmemory" else text)
                for name, text in found
            ]
        return tuple(text for pair in found for text in pair)
    if action == "set" and len(rest) > 2:
        changed: dict[str, str] = {}
        for name, text in zip(rest[1::2], rest[2::2], strict=False):
            if name.lower() not in KNOWN:
                if session.valkey:
                    return Error(f"ERR Unknown option or number of arguments for CONFIG SET - '{name}'")
                return Error(f"ERR Unsupported CONFIG parameter: {name}")
            wrong = unfit(name.lower(), text)
            if wrong:
                return Error(f"ERR CONFIG SET failed (possibly related to argument '{name}') - {wrong}")
            changed[name.lower()] = text
        server.update(options={**server.process.state.get("options", {}), **changed})
        if "maxmemory" in changed and redis_memory.limit(server):
            _evict(server)
        return Status("OK")
    if action == "resetstat":
        server.update(counted_since=server.now())
        return Status("OK")
    if action == "rewrite":
        return Error("ERR The server is running without a config file")
    return Error(f"ERR Unknown subcommand or wrong number of arguments for '{rest[0]}'. Try CONFIG HELP.")


def _evict(server: ProcessContext) -> None:
    """Make room as the policy says."""
    most = redis_memory.limit(server)
    if redis_memory.used(server) <= most or option(server, "maxmemory-policy") == "noeviction":
        return
    server.update(filled=(), keys={}, bulk=0, bulk_keys=0)


class _Found(NamedTuple):
    """A sorted set of clients."""

    known: Spaces
    space: KeySpace
    one: SortedSet


def _sorted_set(session: Session, key: str) -> _Found | Error | None:
    """A sorted set of clients; None where there is no such key."""
    known = Spaces(session.server)
    found = None if session.valkey or key in session.keys else known.find(key)
    if found is None:
        return None if _kind(session, key) == "none" else Error(WRONGTYPE)
    return _Found(known, *found)


def _zcard(session: Session, rest: list[str]) -> Reply:
    found = _sorted_set(session, rest[0])
    return found.one.card if isinstance(found, _Found) else found or 0


def _zrange(session: Session, rest: list[str], *, falling: bool = False) -> Reply:
    found = _sorted_set(session, rest[0])
    if not isinstance(found, _Found):
        return found or ()
    known, space, one = found
    try:
        first, last = int(rest[1][:12]), int(rest[2][:12])
    except ValueError:
        return Error("ERR value is not an integer or out of range")
    first, last = (each + one.card if each < 0 else each for each in (first, last))
    first, last = max(first, 0), min(last, one.card - 1)
    if first > last:
        return ()
    places = (one.card - 1 - last, one.card - 1 - first) if falling else (first, last)
    # Nobody looks at more of them, and each takes its time to be made.
    places = (max(places[0], places[1] - SHOWN), places[1])
    members = known.members(space, one, *places)
    scored = any(word.lower() == "withscores" for word in rest[3:])
    out: list[str] = []
    for member, score in reversed(members) if falling else members:
        out += [member, str(score)] if scored else [member]
    return tuple(out)


def _client(session: Session, rest: list[str]) -> Reply:
    server = session.server
    action, mine = rest[0].lower(), option(server, "port")
    if action == "list":
        lines = []
        now, own = server.now(), server.process.ip
        open_ = connections(server)
        for each in open_:
            age = (now - each.since) // SECOND
            lines.append(
                _line(
                    session,
                    each.number,
                    mine,
                    f"{each.address}:{each.port}",
                    age,
                    each.command,
                    each.name,
                    own,
                    each.idle,
                )
            )
        number = max((each.number + 6 for each in open_), default=9)
        lines.append(_line(session, number, mine, "127.0.0.1:55420", 0, "client|list", ""))
        return Status("\n".join(lines) + "\n")
    if action in ("id", "getname", "info"):
        number = 9
        told = _line(session, number, mine, "127.0.0.1:55420", 0, f"client|{action}", "")
        return number if action == "id" else None if action == "getname" else Status(told)
    if action == "kill":
        server.update(clients={})
        return Status("OK")
    return Error(f"ERR unknown subcommand '{rest[0]}'. Try CLIENT HELP.")


def _line(
    session: Session,
    number: int,
    port: str,
    address: str,
    age: int,
    command: str,
    name: str,
    own: str = "127.0.0.1",
    idle: int = 0,
) -> str:
    head = f"id={number} addr={address} laddr={own}:{port} fd={number % 1000 + 5} name={name} age={age} idle={idle} flags=N db=0 sub=0 "
    if session.valkey:
        return (
            f"{head}psub=0 ssub=0 multi=-1 watch=0 qbuf=0 qbuf-free=20474 argv-mem=10 multi-mem=0 rbs=1024 rbp=0 obl=0 oll=0 omem=0 "
            f"tot-mem=22306 events=r cmd={command} user=default redir=-1 resp=2"
        )
    # Redis 6.2 tells of commands without their subcommands; its console has one under way.
    own_line = own == "127.0.0.1"
    buffers = "qbuf=26 qbuf-free=40928 argv-mem=10" if own_line else "qbuf=0 qbuf-free=0 argv-mem=0"
    return (
        f"{head}psub=0 multi=-1 {buffers} obl=0 oll=0 omem=0 tot-mem={61466 if own_line else 20504} events=r "
        f"cmd={command.partition('|')[0]} user=default redir=-1"
    )


def _info(session: Session, rest: list[str]) -> Reply:
    server = session.server
    up = (server.now() - server.process.started_at) // SECOND
    limit, used = redis_memory.limit(server), redis_memory.used(server)
    open_ = connections(server)
    clients = len(open_) + 1
    if not session.valkey:
        used = server.process.memory
    counted = answered(server)
    calls = sum(well + ill for well, ill in counted.values())
    reads = sum(counted.get(name, (0, 0))[0] for name in ("get", "hget", "hgetall", "zrange", "zrevrange"))
    rate = sum(pools.present(server).values())
    sections: dict[str, dict[str, Any]] = {
        "Server": {"redis_version": "7.2.4" if session.valkey else version(server),
                   **({"server_name": "valkey", "valkey_version": version(server)} if session.valkey else {}),
                   "redis_mode": "standalone", "tcp_port": option(server, "port"),
                   "uptime_in_seconds": up, "uptime_in_days": up // 86400},
        "Clients": {"connected_clients": clients, "maxclients": option(server, "maxclients")},
        "Memory": {"used_memory": used, "used_memory_human": redis_memory.human(used),
                   "used_memory_rss": server.process.memory, "used_memory_rss_human": redis_memory.human(server.process.memory),
                   "maxmemory": limit, "maxmemory_human": redis_memory.human(limit),
                   "maxmemory_policy": option(server, "maxmemory-policy"),
                   "mem_fragmentation_ratio": f"{server.process.memory / max(used, 1):.2f}"},
        "Persistence": {"loading": 0, "rdb_last_bgsave_status": "ok", "aof_enabled": 0},
        "Stats": {"total_connections_received": received(server, calls), "total_commands_processed": calls,
                  "instantaneous_ops_per_sec": round(rate), "total_net_input_bytes": calls * 52, "total_net_output_bytes": calls * 38,
                  "instantaneous_input_kbps": f"{rate * 52 / 1024:.2f}", "instantaneous_output_kbps": f"{rate * 38 / 1024:.2f}",
                  "rejected_connections": 0, "expired_keys": 0, "evicted_keys": 0, "keyspace_hits": reads, "keyspace_misses": 0,
                  "total_error_replies": sum(ill for _, ill in counted.values())},
        "Replication": {"role": "master", "connected_slaves": 0},
        "Commandstats": {f"cmdstat_{name}": _counts(name, *numbers) for name, numbers in counted.items()},
        "Keyspace": {},
    }  # fmt: skip
    count = session.count
    if count:
        expires = len(cart_numbers(server)) if session.valkey else 0
        sections["Keyspace"] = {
            "db0": f"keys={count},expires={expires},avg_ttl={2_700_000 if expires else 0}"
        }
    wanted = rest[0].lower() if rest else ""
    usual = ("", "all", "default", "everything")
    found = {
        name: fields
        for name, fields in sections.items()
        if wanted == name.lower()
        or (wanted in usual and (name != "Commandstats" or wanted in ("all", "everything")))
    }
    return Status(
        "\n".join(
            "\n".join([f"# {name}", *(f"{key}:{text}" for key, text in fields.items()), ""])
            for name, fields in found.items()
        )
    )


def _counts(name: str, well: int, ill: int) -> str:
    """How often a command was carried out, and how long that took."""
    each = USECS.get(name, 3.0)
    return f"calls={well + ill},usec={round((well + ill) * each)},usec_per_call={each:.2f},rejected_calls={ill},failed_calls=0"


def _latency(session: Session, rest: list[str]) -> Reply:
    action = rest[0].lower()
    if action in ("latest", "history"):
        if action == "history" and len(rest) < 2:
            return Error(
                "ERR Unknown subcommand or wrong number of arguments for 'HISTORY'. Try LATENCY HELP."
            )
        return ()
    if action == "reset":
        return 0
    if action == "graph":
        name = rest[1] if len(rest) > 1 else ""
        return Error(f"ERR No samples available for event '{name}'")
    if action == "doctor":
        title = "Valkey" if session.valkey else "Redis"
        if option(session.server, "latency-monitor-threshold") in ("", "0"):
            where = (
                "https://valkey.io/topics/latency-monitor"
                if session.valkey
                else "https://redis.io/topics/latency-monitor"
            )
            return (
                f"I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this {title} instance. You may use \"CONFIG SET "
                "latency-monitor-threshold <milliseconds>.\" in order to enable it. If we weren't in a deep space mission I'd suggest to "
                f"take a look at {where}.\n"
            )
        return (
            f"Dave, no latency spike was observed during the lifetime of this {title} instance, not in the slightest bit. I honestly "
            "think you ought to sit down calmly, take a stress pill, and think things over.\n"
        )
    return Error(f"ERR Unknown subcommand or wrong number of arguments for '{rest[0]}'. Try LATENCY HELP.")


def _memory(session: Session, rest: list[str]) -> Reply:
    asked = rest[0].lower()
    if asked == "stats":
        return _memory_stats(session)
    if asked not in ("usage", "doctor"):
        return Error(f"ERR unknown subcommand '{rest[0]}'. Try MEMORY HELP.")
    if asked == "usage" and len(rest) > 1:
        key = rest[1]
        kind = _kind(session, key)
        if kind == "none":
            return None
        found = _sorted_set(session, key) if kind == "zset" else None
        if isinstance(found, _Found):
            # Few members lie in one piece, more of them in a skip list.
            return 64 + found.one.card * (30 if found.one.card <= 128 else 118)
        return redis_memory.PER_KEY + len(key) + len(session.keys.get(key, "x" * 48))
    return Status(
        "Hi Sam, this instance is empty or is using very little memory, my issue detector can't be used."
    )


def _memory_stats(session: Session) -> Reply:
    server = session.server
    used, held, keys = redis_memory.used(server), server.process.memory, session.count
    if not session.valkey:
        used = held
    data = max(used - redis_memory.BASE, 0)
    return (
        "total.allocated", used, "startup.allocated", redis_memory.BASE, "keys.count", keys, "keys.bytes-per-key", data // keys if keys else 0,
        "dataset.bytes", data, "dataset.percentage", f"{data * 100 / max(used, 1):.14g}", "allocator.resident", held,
        "fragmentation", f"{held / max(used, 1):.14g}",
    )  # fmt: skip


def _populate(session: Session, rest: list[str]) -> Reply:
    """``DEBUG POPULATE count [prefix] [size]``."""
    if rest[0].lower() != "populate" or len(rest) < 2 or not rest[1].isdecimal() or len(rest[1]) > 9:
        return Error("ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it "
                     "from a local connection, otherwise you need to set this option in the configuration file, and then "
                     "restart the server.")  # fmt: skip
    size = int(rest[3]) if len(rest) > 3 and rest[3].isdecimal() and len(rest[3]) < 10 else 16
    refused = redis_memory.store(session.server, int(rest[1]) * (size + redis_memory.PER_KEY), int(rest[1]))
    return Error(refused) if refused else Status("OK")


_SIZED = (
    ("string", "strings", "bytes"), ("list", "lists", "items"), ("set", "sets", "members"), ("zset", "zsets", "members"),
    ("hash", "hashs", "fields"), ("stream", "streams", "entries"),
)  # fmt: skip
"""Types of keys, with what redis-cli calls several of them and what each of them consists of."""
_BATCH = 10
"""Keys that it asks for at once."""


def bigkeys(session: Session) -> str:
    """What ``--bigkeys`` of the command line client finds: it goes through all keys, and says so whenever one is larger than those
    before it."""
    sizes = _sizes(session)
    total = session.count
    out = [
        "\n# Scanning the entire keyspace to find biggest keys as well as\n# average sizes per key type.  You can use -i 0.1 to sleep "
        "0.1 sec\n# per 100 SCAN commands (not usually needed).\n\n"
    ]
    most: dict[str, tuple[str, int]] = {}
    counts: dict[str, tuple[int, int]] = {}
    units = {kind: unit for kind, _, unit in _SIZED}
    for index, (name, kind, size) in enumerate(sizes):
        count, whole_size = counts.get(kind, (0, 0))
        counts[kind] = (count + 1, whole_size + size)
        if size > most.get(kind, ("", 0))[1]:
            most[kind] = (name, size)
            done = 100.0 * (index // _BATCH * _BATCH) / max(total, 1)
            out.append(
                f"[{done:05.2f}%] Biggest {kind:<6} found so far '\"{name}\"' with {size} {units[kind]}\n"
            )
    length = sum(len(name) for name, _, _ in sizes)
    out.append(
        f"\n-------- summary -------\n\nSampled {len(sizes)} keys in the keyspace!\n"
        f"Total key length in bytes is {length} (avg len {length / max(len(sizes), 1):.2f})\n\n"
    )
    for kind, (name, size) in most.items():
        out.append(f"Biggest {kind:>6} found '\"{name}\"' has {size} {units[kind]}\n")
    out.append("\n")
    for kind, several, unit in _SIZED:
        count, size = counts.get(kind, (0, 0))
        share = 100.0 * count / max(len(sizes), 1)
        out.append(
            f"{count} {several} with {size} {unit} ({share:05.2f}% of keys, avg size {size / max(count, 1):.2f})\n"
        )
    return "".join(out).removesuffix("\n")


def _sizes(session: Session) -> list[tuple[str, str, int]]:
    """(name, type, size) of all keys."""
    known = Spaces(session.server)
    sets = {} if session.valkey else {each.name: each.card for each in known.sets()}
    found = []
    for name in session.names():
        if name in sets:
            found.append((name, "zset", sets[name]))
        elif name in session.keys:
            found.append((name, "string", len(session.keys[name])))
        else:
            found.append((name, "string", 16) if name.startswith("key:") else (name, "hash", 1))
    return found


_GROWING = frozenset(("set", "hset", "hmset", "lpush", "sadd", "append", "incr", "debug"))
"""Commands that are refused where memory is full."""

_COMMANDS: Mapping[str, tuple[int, Callable[[Session, list[str]], Reply]]] = {
    "ping": (0, lambda session, rest: rest[0] if rest else Status("PONG")),
    "echo": (1, lambda session, rest: rest[0]),
    "get": (1, _get),
    "set": (2, _set),
    "del": (1, _del),
    "unlink": (1, _del),
    "exists": (1, lambda session, rest: sum(_kind(session, key) != "none" for key in rest)),
    "type": (1, lambda session, rest: Status(_kind(session, rest[0]))),
    "ttl": (1, _ttl),
    "hgetall": (1, _hash),
    "hget": (2, _field),
    "zcard": (1, _zcard),
    "zrange": (3, _zrange),
    "zrevrange": (3, partial(_zrange, falling=True)),
    "latency": (1, _latency),
    "monitor": (0, lambda session, rest: Status("OK")),
    "hkeys": (1, lambda session, rest: ("cart",) if _kind(session, rest[0]) == "hash" else ()),
    "dbsize": (0, lambda session, rest: session.count),
    "keys": (1, _names),
    "scan": (1, _scan),
    "randomkey": (0, lambda session, rest: next(iter(session.names()), None)),
    "flushall": (0, _flush),
    "flushdb": (0, _flush),
    "config": (1, _config),
    "client": (1, _client),
    "memory": (1, _memory),
    "debug": (1, _populate),
    "info": (0, _info),
    "select": (1, lambda session, rest: Status("OK")),
    "save": (0, lambda session, rest: Status("OK")),
    "bgsave": (0, lambda session, rest: Status("Background saving started")),
    "lastsave": (0, lambda session, rest: session.server.process.started_at // SECOND),
    "role": (0, lambda session, rest: ("master", 0, ())),
    "acl": (
        1,
        lambda session, rest: "default" if rest[0].lower() == "whoami" else Error("ERR unknown subcommand"),
    ),
    "slowlog": (1, lambda session, rest: 0 if rest[0].lower() == "len" else ()),
}
"""Commands by name: the least number of arguments, and what answers."""
