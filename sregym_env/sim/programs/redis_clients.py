"""What the clients of a Redis or Valkey server have to do with it: connections, commands and keys, found out where somebody looks.

A server remembers nothing of any of this. Who has a pool of connections to it follows from where clients' settings lead; how
often it was asked for what, from the history of the traffic; which keys that has left, from both: of equal users each writes
as often as chance has it, and the same whenever somebody looks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.streams import keyed_bits, keyed_unit
from sregym_env.sim.network import addressing
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import pools, totals
from sregym_env.sim.programs.redis_settings import option
from sregym_env.sim.programs.services.drivers.connecting import lives
from sregym_env.sim.programs.services.peers import KeySpace, Peer, password
from sregym_env.sim.programs.services.settings import ServiceSettings
from sregym_env.sim.world.process import Process

POOLED = frozenset(("redis-plus-plus",))
"""Client libraries whose pools open connections as they need them, and say nothing of themselves."""
FEWEST, MORE = 2, 4
"""Connections that a pool has open: at least, and so many different numbers (assumed: few requests come at once)."""
KEY_EFFORT = 1.0
"""What it costs to look at a key (units of ``runtime/effort.py``)."""

USECS: Mapping[str, float] = {
    "zadd": 4.4, "zrevrange": 6.1, "zrange": 6.1, "hget": 2.1, "hset": 2.9, "hmset": 3.3, "expire": 1.4, "get": 1.7, "set": 2.5,
    "ping": 0.6,
}  # fmt: skip
"""Assumed microseconds that a server takes for a command."""


class Connection(NamedTuple):
    """A connection that a client has open."""

    number: int
    address: str
    port: int
    name: str
    since: int
    """Microseconds since the Unix epoch."""
    idle: int
    """Whole seconds since its last command."""
    command: str
    """That command."""


# --- who is connected ---------------------------------------------------------------------------------------


def alive(server: ProcessContext, identity: str) -> bool:
    """Whether the process of an identity ``pod-uid/container/restart`` still runs."""
    uid, container, restart = identity.rsplit("/", 2)
    addressing.note(server.world, "process", (uid, container))
    process = server.world.processes.get((uid, container))
    return process is not None and str(process.restart) == restart


def connections(server: ProcessContext) -> list[Connection]:
    """Everybody who is connected, in the order of their numbers."""
    found = [*_remembered(server), *_pooled(server)]
    return sorted(found)


def _remembered(server: ProcessContext) -> Iterator[Connection]:
    """Clients that the server tells apart: one connection each, for as long as their process runs."""
    known: Mapping[str, int] = server.process.state.get("clients", {})
    living = [each for each in known if alive(server, each)]
    for number, each in enumerate(living, 3):
        uid, container, _ = each.rsplit("/", 2)
        ip, port = server.world.processes[(uid, container)].ip, 40000 + keyed_bits(each) % 20000
        yield Connection(number, ip, port, f"{container}-{uid[:5]}", known[each], 0, "hget")


def _pooled(server: ProcessContext) -> Iterator[Connection]:
    """Connections of pools: those of every process whose settings lead here, while it is served."""
    asked = pools.present(server)
    if not asked:
        return
    number, now, rate = 3, server.now(), sum(asked.values())
    for process, peer in _clients(server):
        begun = max(process.started_at, server.process.started_at)
        most = lives(ProcessContext(server.world, process), peer)
        for index in range(FEWEST + keyed_bits(*process.key, "pool") % MORE):
            at = begun + seconds(2.0 + 40.0 * index * keyed_unit(*process.key, "opened", index))
            turn = 0
            if most < math.inf and now > at:
                # A pool closes what is old when it is needed next, and opens another in its place.
                turn = int((now - at) / (most * SECOND))
                at += seconds(turn * most)
            if at > now:
                continue
            draw = keyed_unit(*process.key, "doing", index, now)
            idle = -math.log(1.0 - draw) * (1 + index) ** 2 * FEWEST / rate
            port = 32768 + keyed_bits(*process.key, "port", index, turn) % 28000
            name = _drawn(asked, keyed_unit(*process.key, "did", index, now))
            age = (now - at) / SECOND
            before = int(rate * (at - begun) / SECOND) // PER_CONNECTION if turn else 0
            before = before // 64 * 64  # so that no two have the same number
            yield Connection(number + before, process.ip, port, "", at, int(min(idle, age)), name.lower())
            number += 1


PER_CONNECTION = 50
"""Commands that a connection of a pool is good for until it is old (assumed)."""


def received(server: ProcessContext, calls: int) -> int:
    """How many connections a server has taken on that was sent so many commands."""
    if server.process.program != "redis":
        return len(server.process.state.get("clients", {})) + 1
    return FEWEST + 2 + calls // PER_CONNECTION


def _clients(server: ProcessContext) -> Iterator[tuple[Process, Peer]]:
    """The processes with pools whose settings lead to a server that lets them in."""
    wanted = option(server, "requirepass")
    for process, peer, _ in pools.clients(server, POOLED):
        given = dict(password(ProcessContext(server.world, process), peer.account)).get("password")
        if not wanted or given == wanted:
            yield process, peer


# --- what they ask ------------------------------------------------------------------------------------------


def _drawn(asked: Mapping[str, float], draw: float) -> str:
    """One of the commands, each as often as it comes."""
    left = draw * sum(asked.values())
    for name, rate in asked.items():
        if left < rate:
            return name
        left -= rate
    return next(iter(asked), "ping")


def answered(server: ProcessContext) -> dict[str, tuple[int, int]]:
    """(carried out, refused) of every command of clients since the server's counters began, by name in lower case."""
    since = int(server.process.state.get("counted_since", 0))
    found: dict[str, tuple[float, float]] = {}
    for name, (well, ill) in totals.answered(server, since).items():
        before = found.get(name.lower(), (0.0, 0.0))
        found[name.lower()] = (before[0] + well, before[1] + ill)
    return {name: (int(well), int(ill)) for name, (well, ill) in sorted(found.items()) if well + ill >= 1.0}


def written(server: ProcessContext, command: str, since: int, until: int | None = None) -> float:
    """How often a command was sent in a time, microseconds since the Unix epoch."""
    begin, end = since / SECOND, math.inf if until is None else until / SECOND
    return sum(
        rate * max(min(last, end) - max(first, begin), 0.0)
        for name in dict.fromkeys((command.lower(), command.upper(), command))
        for first, last, rate in totals.rates(server, name)
    )


# --- what that has left -------------------------------------------------------------------------------------


class SortedSet(NamedTuple):
    """The key of a user in a key space of sorted sets, as it is now."""

    name: str
    first: float
    """Which write to the key space was the user's first."""
    apart: float
    """Writes from one of the user's to the next."""
    skipped: int
    """His first ones that are gone, since somebody has deleted the key."""
    card: int
    """How many are there."""


class Spaces:
    """The key spaces that clients of a server write."""

    def __init__(self, server: ProcessContext) -> None:
        """Of a server as it is now."""
        self._server = server
        found: dict[str, KeySpace] = {}
        for image in server.world.images.values():
            for binary in image.binaries.values():
                if isinstance(binary.settings, ServiceSettings):
                    for peer in binary.settings.peers:
                        if server.process.pod.startswith(f"{peer.name}-"):
                            found |= {space.name: space for space in peer.keys}
        self.known = found
        """By their names."""

    @property
    def _since(self) -> int:
        return int(self._server.process.state.get("flushed", 0))

    def _set(self, space: KeySpace, index: int, writes: float) -> SortedSet | None:
        """What the user of an index has there; None where there is nothing."""
        server = self._server
        key = server.process.key[0]
        draw = keyed_unit(key, space.name, "first", index)
        # Of equal users each is the one who writes with the same chance: the first time comes after a geometric number.
        first = math.log(1.0 - draw) / math.log(1.0 - 1.0 / max(space.users, 2))
        if first >= writes:
            return None
        apart = space.users / (0.85 + 0.3 * keyed_unit(key, space.name, "often", index))
        name = space.form.replace("{}", str(index))
        dropped: Mapping[str, int] = server.process.state.get("dropped", {})
        skipped = 0
        if name in dropped:
            gone = written(server, space.command, self._since, dropped[name])
            skipped = max(math.ceil((gone - first) / apart), 0)
        count = int((writes - first) / apart) + 1 - skipped
        return SortedSet(name, first, apart, skipped, count) if count > 0 else None

    def sets(self) -> list[SortedSet]:
        """Every key, in the order in which a server goes through them."""
        found: list[SortedSet] = []
        for space in self.known.values():
            writes = written(self._server, space.command, self._since) if space.command else 0.0
            if writes < 1.0:
                continue
            effort.spend(KEY_EFFORT * space.users)
            each = (self._set(space, index, writes) for index in range(space.users))
            found += [one for one in each if one is not None]
        return sorted(found, key=lambda one: keyed_bits("slot", one.name))

    def find(self, name: str) -> tuple[KeySpace, SortedSet] | None:
        """A key by its name; None where there is none."""
        for space in self.known.values():
            before, _, after = space.form.partition("{}")
            inner = name[len(before) : len(name) - len(after)]
            if not (name.startswith(before) and name.endswith(after) and inner.isdecimal()):
                continue
            if not space.command or len(inner) > 9 or int(inner) >= space.users or inner != str(int(inner)):
                continue
            one = self._set(space, int(inner), written(self._server, space.command, self._since))
            if one is not None:
                return space, one
        return None

    def members(self, space: KeySpace, one: SortedSet, start: int, stop: int) -> list[tuple[str, int]]:
        """(member, score) of the places from ``start`` to ``stop``, the oldest first: posts, by the time at which they came."""
        times = list(
            self._times(
                space, [one.first + one.apart * (one.skipped + place) for place in range(start, stop + 1)]
            )
        )
        key = self._server.process.key[0]
        return [
            (str(keyed_bits(key, one.name, one.skipped + start + place) >> 1), time // 1000)
            for place, time in enumerate(times)
        ]

    def _times(self, space: KeySpace, writes: list[float]) -> Iterator[int]:
        """When so many writes had come, for rising numbers; microseconds since the Unix epoch."""
        since, done = self._since / SECOND, 0.0
        wanted = iter(writes)
        target = next(wanted, None)
        names = dict.fromkeys((space.command.lower(), space.command.upper()))
        for begin, end, rate in sorted(piece for name in names for piece in totals.rates(self._server, name)):
            begin = max(begin, since)
            if end <= begin:
                continue
            while target is not None and done + rate * (end - begin) >= target:
                yield int((begin + (target - done) / rate) * SECOND)
                target = next(wanted, None)
            done += rate * (end - begin)
        while target is not None:
            yield self._server.now()
            target = next(wanted, None)


# --- what is seen of commands as they come ------------------------------------------------------------------


def seen(server: ProcessContext, since: int, until: int, carts: tuple[str, ...]) -> list[str]:
    """Commands of clients in a time, as ``MONITOR`` tells of them. ``carts``: keys of a server that has no key spaces."""
    asked, open_ = pools.present(server), connections(server)
    if not open_:
        return []
    spaces = list(Spaces(server).known.values())
    found: list[tuple[int, str]] = []
    for name, rate in asked.items():
        for index in range(math.ceil(since / SECOND * rate), math.ceil(until / SECOND * rate)):
            bits = keyed_bits(server.process.key[0], "seen", name, index)
            at = int(index / rate * SECOND) + bits % 997
            who = open_[bits // 997 % len(open_)]
            words = _words(name, bits >> 20, at, spaces, carts)
            shown = " ".join(f'"{word}"' for word in words)
            found.append((at, f"{at // SECOND}.{at % SECOND:06d} [0 {who.address}:{who.port}] {shown}"))
    return [line for _, line in sorted(found)]


def _words(
    name: str, bits: int, time: int, spaces: list[KeySpace], carts: tuple[str, ...]
) -> tuple[str, ...]:
    """A command with its arguments."""
    command = name.upper()
    if spaces:
        space = spaces[0]
        key = space.form.replace("{}", str(bits % max(space.users, 1)))
    else:
        key = carts[bits % len(carts)] if carts else f"{bits & 0xFFFFFFFF:08x}"
    match command:
        case "ZADD":
            return (command, key, "NX", str(time // 1000), str(keyed_bits(key, bits) >> 1))
        case "ZREVRANGE" | "ZRANGE":
            return (command, key, "0", "9" if command == "ZREVRANGE" else "-1")
        case "HGET":
            return (command, key, "cart")
        case "HMSET" | "HSET":
            return (command, key, "cart", f"\\n${key}\\x12\\x0e\\n\\nOLJCESPC7Z\\x10\\x01")
        case "EXPIRE":
            return (command, key, "3600")
    return (command,) if command == "PING" else (command, key)
