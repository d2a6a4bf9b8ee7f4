"""Clients that open more and more connections, and the tables of the kernels that have to remember these.

What they hold grows at the rate at which they open, until they have what they want, no port is left, their server takes no more, or a
kernel on the way has no entry left. What is closed stays in the tables for the kernel's time-out. While no client grows this costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.network import conntrack
from sregym_env.sim.network.connections import connect
from sregym_env.sim.network.conntrack import TABLES, Full, Knot
from sregym_env.sim.network.local_ports import ports
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.users.accepting import OWN
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.program import Holding

HELD = "conntrack.clients"
"""``world.memory`` key of what grows (:class:`_Tables`); absent where nothing does."""
NEXT = "conntrack.next"
"""``world.memory`` key of the instant at which it has to be looked at again."""
DESCRIPTORS = 1_048_576
"""Descriptors that containerd gives a container's processes."""
REFILLED = 5.0
"""Seconds within which who waits for entries takes those that become free: that is no room for anybody else."""
TRIES = 3.0
"""Assumed number of times that the first packet of a connection is sent until its client gives up."""
MOST_HOSTS = 64
"""Names that a client is read for."""


class _Client(NamedTuple):
    """What one client holds."""

    key: ProcessKey
    restart: int
    machines: tuple[tuple[str, float], ...]
    """The share of its connections that each machine remembers."""
    servers: tuple[tuple[ProcessKey, int, float], ...]
    """(process, restart, share of the connections)."""
    number: float
    rate: float
    """By which it grows now, per second."""


class _Closing(NamedTuple):
    """Entries of closed connections."""

    until: int
    node: str
    number: float


class _Tables(NamedTuple):
    time: int
    clients: tuple[_Client, ...]
    closing: tuple[_Closing, ...]


def turn(world: SimWorld) -> None:
    """Bring the tables to this instant, leave in the world which are full, and have it looked at again when that changes."""
    wishes = _wishes(world)
    known: _Tables | None = world.memory.get(HELD)
    if known is None and not wishes:
        return
    known = known or _Tables(world.clock, (), ())
    clients, closing = _survivors(world, known, wishes)
    wanting = [_wanting(world, process, wish, clients.get(key)) for key, (process, wish) in wishes.items()]
    nodes = dict.fromkeys(name for each, _ in wanting for name, _ in each.machines)
    nodes.update(dict.fromkeys(each.node for each in (*closing, *known.closing)))
    full, held = _filled(world, nodes, wanting, closing)
    for node in dict.fromkeys((*nodes, *(name for each in known.clients for name, _ in each.machines))):
        count = _held_of(node, held) + sum(each.number for each in closing if each.node == node)
        slope = sum(each.rate * share for each in held for name, share in each.machines if name == node)
        lost = _lost(world, node, full, wanting)
        conntrack.turned(world, node, Knot(world.clock, count, slope, node in full, lost))
    for each, (_, wish) in zip(held, wanting, strict=True):
        stuck = bool(wish) and not each.rate and any(name in full for name, _ in each.machines)
        conntrack.turned(world, _name(each.key), Knot(world.clock, each.number, each.rate, stuck))
    if held or closing:
        world.memory[HELD] = _Tables(world.clock, tuple(held), tuple(closing))
        _look_again(world, nodes, held, [rest for _, rest in wanting], closing, full)
    else:
        world.memory.pop(HELD, None)
        world.memory.pop(NEXT, None)
    _leave(world, full)


def _lost(
    world: SimWorld, node: str, full: Mapping[str, Full], wanting: list[tuple[_Client, float]]
) -> float:
    """Packets per second that a machine drops: of everybody who asks for an entry, and asks again."""
    if node not in full:
        return 0.0
    asked = sum(each.rate * share for each, _ in wanting for name, share in each.machines if name == node)
    asked += (conntrack.usual(world, node) - conntrack.IDLE) / conntrack.PER_REQUEST + 1.0
    return round(asked * TRIES * full[node].share)


def wanted(world: SimWorld, due: int) -> bool:
    """Whether a look at an instant that was asked for is still wanted."""
    return bool(world.memory.get(NEXT) == due)


def _name(key: ProcessKey) -> str:
    return "/".join(key)


def _wishes(world: SimWorld) -> dict[ProcessKey, tuple[Process, Holding]]:
    """Who opens connections without closing any."""
    found = {}
    for key, process in world.processes.items():
        holds = getattr(world.programs[process.program], "holds", None)
        wish = None if holds is None else holds(ProcessContext(world, process))
        if wish is not None and wish.rate > 0.0 and wish.most > 0:
            found[key] = (process, wish)
    return found


def _survivors(
    world: SimWorld, known: _Tables, wishes: Mapping[ProcessKey, tuple[Process, Holding]]
) -> tuple[dict[ProcessKey, _Client], list[_Closing]]:
    """What is left of what was held, and what has been closed since."""
    now = world.clock
    closing = [each for each in known.closing if each.until > now]
    clients = {}
    for client in known.clients:
        count = client.number + client.rate * (now - known.time) / SECOND
        process = world.processes.get(client.key)
        lost = 1.0
        if client.key in wishes and process is not None and process.restart == client.restart:
            lost = sum(share for key, restart, share in client.servers if _restart(world, key) != restart)
            clients[client.key] = client._replace(number=count * max(1.0 - lost, 0.0))
        if lost and count:
            until = now + conntrack.CLOSED * SECOND
            closing += [_Closing(until, node, count * lost * share) for node, share in client.machines]
    return clients, closing


def _restart(world: SimWorld, key: ProcessKey) -> int:
    process = world.processes.get(key)
    return -1 if process is None else process.restart


def _wanting(
    world: SimWorld, process: Process, wish: Holding, before: _Client | None
) -> tuple[_Client, float]:
    """(a client as it goes on, with the rate at which it opens; how many connections it still wants)."""
    hosts = [host for host in wish.host.split(",")[:MOST_HOSTS] if host]
    found: dict[ProcessKey, float] = {}
    destinations = set()
    for host in hosts:
        connection = connect(world, process, host, wish.port, kept=True)
        for leg in connection.legs:
            server = None if leg.process is None else world.processes.get(leg.process)
            if leg.outcome == "ok" and server is not None:
                found[server.key] = found.get(server.key, 0.0) + leg.share
                destinations.add(connection.resolution.addresses[0])
    total = sum(found.values())
    servers = tuple((key, world.processes[key].restart, share / total) for key, share in found.items())
    number = 0.0
    if before is not None:
        number = before.number
        there = [each for each in before.servers if _restart(world, each[0]) == each[1]]
        # What stands is as it was, whether or not anybody finds the way now.
        if number and any(key not in found for key, _, _ in there):
            left = sum(share for _, _, share in there)
            servers = tuple((key, restart, share / left) for key, restart, share in there)
    machines: dict[str, float] = {process.node: 1.0}
    for key, _, share in servers:
        node = world.processes[key].node
        if node != process.node:
            machines[node] = machines.get(node, 0.0) + share
    first, last = ports(world, process)
    most = sum(_taken_on(world, world.processes[key]) for key in found)
    own = (process.open_files or DESCRIPTORS) - OWN
    most = min(most, wish.most, (last - first + 1) * len(destinations), own)
    rest = max(most - number, 0.0)
    opens = wish.rate if rest >= 1.0 else 0.0
    client = _Client(process.key, process.restart, tuple(machines.items()), servers, number, opens)
    return client, rest if opens else 0.0


def _taken_on(world: SimWorld, server: Process) -> float:
    """How many connections a server takes."""
    accepts = getattr(world.programs[server.program], "accepts", None)
    most = math.inf if accepts is None else float(accepts(ProcessContext(world, server)))
    return min(most, float(max((server.open_files or DESCRIPTORS) - OWN, 0)))


def _held_of(node: str, clients: list[_Client]) -> float:
    return sum(each.number * share for each in clients for name, share in each.machines if name == node)


def _filled(
    world: SimWorld,
    nodes: Mapping[str, None],
    wanting: list[tuple[_Client, float]],
    closing: list[_Closing],
) -> tuple[dict[str, Full], list[_Client]]:
    """The machines whose tables are full, and the clients as they go on there."""
    held = [each for each, _ in wanting]
    before = conntrack.full_tables(world)
    full: dict[str, Full] = {}
    for node in nodes:
        closed = sum(each.number for each in closing if each.node == node)
        others = conntrack.usual(world, node)
        room = conntrack.most(world, node) - _held_of(node, held) - closed - others
        growth = sum(each.rate * share for each in held for name, share in each.machines if name == node)
        if growth and room < growth * REFILLED:
            share = 1.0
            if room > 0.0:
                held = [_refilled(each, node, room, growth) for each in held]
        elif room < 0.0:
            share = min(-room / others, 1.0)
        else:
            continue
        since = before[node].since if node in before else world.clock
        full[node] = Full(since, round(share, 3))
    return full, [_stopped(each, full) for each in held]


def _refilled(client: _Client, node: str, room: float, growth: float) -> _Client:
    """A client that has taken its part of what was free."""
    part = client.rate * dict(client.machines).get(node, 0.0) / growth
    return client._replace(number=client.number + room * part) if part else client


def _stopped(client: _Client, full: Mapping[str, Full]) -> _Client:
    """A client of whose connections those are not made for which a kernel has no entry."""
    passed = 1.0
    for node, share in client.machines:
        if node in full:
            passed *= 1.0 - share * full[node].share
    return client._replace(rate=client.rate * passed)


def _look_again(
    world: SimWorld,
    nodes: Mapping[str, None],
    held: list[_Client],
    rests: list[float],
    closing: list[_Closing],
    full: Mapping[str, Full],
) -> None:
    """Ask for the next look: when a table is full, a client has what it wants, or closed connections are forgotten."""
    waits = [each.until - world.clock for each in closing]
    waits += [
        seconds(rest / each.rate) for each, rest in zip(held, rests, strict=True) if each.rate > 0.0 and rest
    ]
    for node in nodes:
        growth = sum(each.rate * share for each in held for name, share in each.machines if name == node)
        if growth > 0.0 and node not in full:
            closed = sum(each.number for each in closing if each.node == node)
            room = conntrack.most(world, node) - _held_of(node, held) - closed - conntrack.usual(world, node)
            waits.append(seconds(max(room, 0.0) / growth))
    world.memory.pop(NEXT, None)
    if waits:
        due = world.clock + max(min(waits), SECOND)
        world.memory[NEXT] = due
        world.queue.push(due, "traffic.tables", due)


def _leave(world: SimWorld, full: Mapping[str, Full]) -> None:
    if conntrack.full_tables(world) == full:
        return
    if full:
        world.memory[TABLES] = full
    else:
        world.memory.pop(TABLES, None)
    world.stirred()
