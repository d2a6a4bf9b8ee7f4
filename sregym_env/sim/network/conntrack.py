"""The kernel's table of connections of every machine: how many entries it takes, how many there are, and what becomes of who finds no room.

Whatever a machine's pods send passes its kernel, which keeps an entry for each connection: while it is established, and for a while after
it was closed. A packet of a new connection for which there is no entry left is dropped, at both ends' machines; what is in the table goes
on. Who opens connections without end is followed by :mod:`sregym_env.sim.users.tracking`; this says what has become of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.history import history
from sregym_env.sim.world.process import Process

SETTING = "net.netfilter.nf_conntrack_max"
COUNT = "net.netfilter.nf_conntrack_count"
TIME_OUTS: Mapping[str, int] = {
    "tcp_timeout_close": 10, "tcp_timeout_close_wait": 60, "tcp_timeout_established": 432000, "tcp_timeout_fin_wait": 120,
    "tcp_timeout_last_ack": 30, "tcp_timeout_syn_recv": 60, "tcp_timeout_syn_sent": 120, "tcp_timeout_time_wait": 120, "udp_timeout": 30,
    "udp_timeout_stream": 120, "generic_timeout": 600, "icmp_timeout": 30,
}  # fmt: skip
"""Seconds after which Linux forgets an entry of which nothing is heard (``nf_conntrack_*``)."""
CLOSED = TIME_OUTS["tcp_timeout_time_wait"]
IDLE = 180.0
"""Assumed entries of a machine's own connections: its kubelet's, its agents', look-ups of names."""
PER_REQUEST = 2.0
"""Assumed entries that each request a second keeps, of connections that are closed and of look-ups."""
USUAL = 262_144
"""Entries for which Linux makes room on a machine with more than four gigabytes (``nf_conntrack_init_start``)."""
SMALLER = (65_536, 131_072)
"""What others have: the kernel of up to four gigabytes, and kube-proxy's least (``conntrack.min``)."""
FEWER = 5
"""One machine in so many has each of those."""
MOST = 2**31 - 1
KNOTS = 240
"""Turns of a table that are remembered."""

TABLES = "conntrack.full"
"""``world.memory`` key of the machines whose tables are full: a :class:`Full` by name; absent while there is none."""


class Full(NamedTuple):
    """A table without room."""

    since: int
    """Microseconds."""
    share: float
    """Of new connections that find no entry."""


class Knot(NamedTuple):
    """How many entries a machine, or a client, holds from an instant on."""

    time: int
    """Microseconds."""
    number: float
    slope: float
    """Per second."""
    full: bool = False
    """Whether a machine's table has no room; whether a client finds none."""
    lost: float = 0.0
    """Packets per second that a machine drops for that."""

    def at(self, time: int) -> float:
        """The number at a later instant."""
        return max(self.number + self.slope * (time - self.time) / SECOND, 0.0)


NO_TABLES: Mapping[str, Full] = {}
"""Every machine has room."""


def full_tables(world: SimWorld) -> Mapping[str, Full]:
    """The machines whose tables are full now."""
    found: Mapping[str, Full] = world.memory.get(TABLES, NO_TABLES)
    return found


def held(world: SimWorld, name: str) -> tuple[Knot, ...]:
    """What clients without end have held of a machine's table (by its name), or one of them (``uid/container``); oldest first."""
    found: tuple[Knot, ...] = world.memory.get(f"conntrack.held:{name}", ())
    return found


def turned(world: SimWorld, name: str, knot: Knot) -> None:
    """Note how it goes on from now."""
    known = held(world, name)
    last = known[-1] if known else Knot(0, 0.0, 0.0)
    same = (last.full, last.slope, last.lost) == (knot.full, knot.slope, knot.lost)
    if same and abs(last.at(knot.time) - knot.number) < 1.0:
        return
    world.memory[f"conntrack.held:{name}"] = (*known[-KNOTS:], knot)


def most(world: SimWorld, node: str) -> int:
    """Entries that a machine's table takes."""
    return limits(world, node)[-1][1]


def limits(world: SimWorld, node: str) -> tuple[tuple[int, int], ...]:
    """(since when, entries) of what a machine's table took, oldest first."""
    found: tuple[tuple[int, int], ...] = world.memory.get(f"conntrack.most:{node}", ())
    return found or ((0, _made(world, node)),)


def _made(world: SimWorld, node: str) -> int:
    """What a machine came with."""
    if not world.plan.key:
        return USUAL
    which = world.plan.bits("conntrack", node) % FEWER
    return SMALLER[which] if which < len(SMALLER) else USUAL


def resize(world: SimWorld, node: str, number: int) -> None:
    """Let a machine's table take another number of entries from now on."""
    known = limits(world, node)
    if known[-1][1] != number:
        world.memory[f"conntrack.most:{node}"] = (*known[-KNOTS:], (world.clock, number))
        world.touch()


def usual(world: SimWorld, node: str) -> float:
    """Entries of everybody else on a machine: its own, and those of the requests that its pods serve now."""
    last = history(world).last()
    rate = 0.0
    for load in () if last is None else last.loads:
        process = world.processes.get(load.process)
        if process is not None and process.node == node:
            rate += sum(each for _, each in load.rates)
    return IDLE + PER_REQUEST * rate


def dropped(
    world: SimWorld, node: str, far: str, client: Process | None = None, server: Process | None = None
) -> float:
    """The share of the connections between pods on two machines for which there is no entry.

    With both ends it is of the connections that these keep: what stood before a table was full is in it.
    """
    tables = full_tables(world)
    if not tables:
        return 0.0
    passed = 1.0
    for name in dict.fromkeys((node, far)):
        table = tables.get(name)
        if table is None:
            continue
        if (
            client is not None
            and server is not None
            and max(client.started_at, server.started_at) < table.since
        ):
            continue
        passed *= 1.0 - table.share
    return 1.0 - passed
