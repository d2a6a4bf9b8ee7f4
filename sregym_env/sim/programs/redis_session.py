"""One connection to a Redis or Valkey server, and the commands that it answers.

What somebody sets by hand is kept key by key. What clients of the application keep there is known by key spaces
(:func:`~sregym_env.sim.programs.servers.filled`); Valkey shows each of them as the keys that are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.network import addressing
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import redis_memory
from sregym_env.sim.programs.redis_memory import FULL
from sregym_env.sim.programs.redis_settings import DEFAULTS, KNOWN, option, unfit, version
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
        """Keys that clients keep: a Redis server's by their spaces, a Valkey server's one by one."""
        return carts(self.server) if self.valkey else self.spaces

    @property
    def count(self) -> int:
        """All keys."""
        kept = len(cart_numbers(self.server)) if self.valkey else len(self.spaces)
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
    for operation in ("hset", "hmset", "set"):
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
    return "hash" if key in session.kept() else "none"


def _get(session: Session, rest: list[str]) -> Reply:
    if rest[0] not in session.keys and _kind(session, rest[0]) == "hash" and session.valkey:
        return Error(WRONGTYPE)
    return session.keys.get(rest[0])


def _set(session: Session, rest: list[str]) -> Reply:
    session.write({**session.keys, rest[0]: rest[1]})
    return Status("OK")


def _del(session: Session, rest: list[str]) -> Reply:
    left = {key: text for key, text in session.keys.items() if key not in rest}
    removed = len(session.keys) - len(left)
    session.write(left)
    return removed


def _flush(session: Session, rest: list[str]) -> Reply:
    session.server.update(filled=(), bulk=0, bulk_keys=0, flushed=session.server.now())
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
    if kind == "string":
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
        case "string":
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


def _clients(session: Session) -> list[str]:
    """Identities of clients that are connected and still run."""
    found: Mapping[str, int] = session.server.process.state.get("clients", {})
    return [each for each in found if alive(session.server, each)]


def alive(server: ProcessContext, identity: str) -> bool:
    """Whether the process of an identity ``pod-uid/container/restart`` still runs."""
    uid, container, restart = identity.rsplit("/", 2)
    addressing.note(server.world, "process", (uid, container))
    process = server.world.processes.get((uid, container))
    return process is not None and str(process.restart) == restart


def _client(session: Session, rest: list[str]) -> Reply:
    server = session.server
    action, mine = rest[0].lower(), option(server, "port")
    if action == "list":
        lines = []
        known: Mapping[str, int] = server.process.state.get("clients", {})
        for number, each in enumerate(_clients(session), 3):
            uid, container, _ = each.rsplit("/", 2)
            ip = server.world.processes[(uid, container)].ip
            port = 40000 + keyed_bits(each) % 20000
            age = (server.now() - known[each]) // SECOND
            name = f"{container}-{uid[:5]}"
            lines.append(_line(number, mine, f"{ip}:{port}", age, "hget", name, server.process.ip))
        lines.append(_line(len(lines) + 9, mine, "127.0.0.1:55420", 0, "client|list", ""))
        return Status("\n".join(lines) + "\n")
    if action in ("id", "getname", "info"):
        return 9 if action == "id" else Status(_line(9, mine, "127.0.0.1:55420", 0, f"client|{action}", ""))
    if action == "kill":
        server.update(clients={})
        return Status("OK")
    return Error(f"ERR unknown subcommand '{rest[0]}'. Try CLIENT HELP.")


def _line(
    number: int, port: str, address: str, age: int, command: str, name: str, own: str = "127.0.0.1"
) -> str:
    return (
        f"id={number} addr={address} laddr={own}:{port} fd={number + 5} name={name} age={age} idle=0 flags=N db=0 sub=0 "
        f"psub=0 ssub=0 multi=-1 watch=0 qbuf=0 qbuf-free=20474 argv-mem=10 multi-mem=0 rbs=1024 rbp=0 obl=0 oll=0 omem=0 "
        f"tot-mem=22306 events=r cmd={command} user=default redir=-1 resp=2"
    )


def _info(session: Session, rest: list[str]) -> Reply:
    server = session.server
    up = (server.now() - server.process.started_at) // SECOND
    limit, used = redis_memory.limit(server), redis_memory.used(server)
    clients = len(_clients(session)) + 1
    if not session.valkey:
        used = server.process.memory
        clients = 1
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
        "Replication": {"role": "master", "connected_slaves": 0},
        "Keyspace": {},
    }  # fmt: skip
    count = session.count
    if count:
        expires = len(cart_numbers(server)) if session.valkey else 0
        sections["Keyspace"] = {
            "db0": f"keys={count},expires={expires},avg_ttl={2_700_000 if expires else 0}"
        }
    wanted = rest[0].lower() if rest else ""
    found = {
        name: fields for name, fields in sections.items() if wanted in ("", "all", "default", name.lower())
    }
    return Status(
        "\n".join(
            "\n".join([f"# {name}", *(f"{key}:{text}" for key, text in fields.items()), ""])
            for name, fields in found.items()
        )
    )


def _memory(session: Session, rest: list[str]) -> Reply:
    asked = rest[0].lower()
    if asked == "stats":
        return _memory_stats(session)
    if asked not in ("usage", "doctor"):
        return Error(f"ERR unknown subcommand '{rest[0]}'. Try MEMORY HELP.")
    if asked == "usage" and len(rest) > 1:
        key = rest[1]
        if _kind(session, key) == "none":
            return None
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
