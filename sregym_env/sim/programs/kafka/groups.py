"""Topics, consumer groups and offsets.

Nothing is kept per record. How many there are in a topic is the integral of the rate at which they were produced; how many
of them a group has taken is what a queue lets through whose server takes as long per record as the member does: both are
computed where somebody looks (:func:`position`), from the history of the traffic and the few instants at which a
member's pace changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.network import addressing
from sregym_env.sim.network.connections import Leg, connect
from sregym_env.sim.network.links import path
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.kafka.settings import PORT, endpoint, number, setting
from sregym_env.sim.programs.totals import Rate, rates, served
from sregym_env.sim.world.process import SUBSCRIPTION, Process, ProcessKey

PRODUCE, CONSUME = "produce", "consume"
"""What a producer asks a broker on a topic; what a consumer is asked by it, with the topic behind it."""
DELIVERY = 0
"""The port on which a consumer is given records. There is no such port on a network: records travel over the connection
that the consumer has opened, and only the broker knows of this one."""
FASTEST = 0.0005
"""Seconds per record of a consumer that does nothing with them (assumed)."""
_SAME = 0.05
"""Share by which a pace may differ from another one that it counts as."""
SESSION_TIMEOUT = 45.0
"""Seconds after its last heartbeat at which a member counts as gone (``session.timeout.ms``)."""


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group with at most one member."""

    topic: str
    member: ProcessKey
    restart: int
    """Which run of the member's process has joined."""
    client_id: str
    member_id: str
    host: str
    """The member's address."""
    paces: tuple[tuple[int, float], ...] = field(compare=False)
    """From when (microseconds since the Unix epoch) the member took how many seconds per record; 0 for none at all. What becomes of
    requests does not depend on it, and what is known of them stays good when it changes."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a group stands in a topic, in records; fractions are records that are not there yet."""

    committed: int
    end: int

    @property
    def lag(self) -> int:
        """Records that the group has still to take."""
        return self.end - self.committed


def topics(broker: ProcessContext) -> Mapping[str, int]:
    """Partitions by topic."""
    found: Mapping[str, int] = broker.process.state.get("topics", {})
    return found


def groups(broker: ProcessContext) -> Mapping[str, Group]:
    """Consumer groups by name."""
    found: Mapping[str, Group] = broker.process.state.get("groups", {})
    return found


def member(broker: ProcessContext, group: Group) -> Process | None:
    """The process of a group's member; None once it is gone."""
    addressing.note(broker.world, "process", group.member)
    found = broker.world.processes.get(group.member)
    return found if found is not None and found.restart == group.restart else None


def consumed(operation: str) -> str:
    """The topic of which an operation takes records; empty where it is another one."""
    kind, _, topic = operation.partition(" ")
    return topic if kind == CONSUME else ""


class Subscription(NamedTuple):
    """What a consumer's process remembers of itself, under :data:`SUBSCRIPTION` in its state."""

    host: str
    port: int
    group: str
    topic: str
    client_id: str
    broker: ProcessKey = ("", "")
    """Whom it has joined."""
    run: int = 0
    """Which run of that process."""
    since: int = 0
    """When, microseconds since the Unix epoch."""


def subscription(process: Process) -> Subscription | None:
    """What a process consumes; None for one that is no consumer."""
    found: Subscription | None = process.state.get(SUBSCRIPTION)
    return found


def join(broker: ProcessContext, consumer: ProcessContext, wanted: Subscription) -> bool:
    """Have a process join a group; False where nobody there is a broker.

    Where a member is there already the newcomer is given nothing until that one has left: the demo's topic has one partition.
    """
    name, topic, client_id = wanted.group, wanted.topic, wanted.client_id
    if broker.process.program != "kafka" or not name:
        return False
    known = groups(broker).get(name)
    consumer.listen(DELIVERY)
    now = broker.now()
    joined = wanted._replace(broker=broker.process.key, run=broker.process.restart, since=now)
    consumer.update(**{SUBSCRIPTION: joined})
    if known is not None and member(broker, known) not in (None, consumer.process):
        return True
    process = consumer.process
    identity = _identity(joined, process.key)
    before = known.paces if known is not None else ()
    group = Group(
        topic, process.key, process.restart, client_id, identity, process.ip, (*before, (now, FASTEST))
    )
    made = (
        {**topics(broker)}
        if topic in topics(broker)
        else {**topics(broker), topic: number(broker, "num.partitions")}
    )
    broker.update(groups={**groups(broker), name: group}, topics=made)
    return True


def _identity(wanted: Subscription, key: ProcessKey) -> str:
    """A member's identity, which its broker gives it."""
    bits = "".join(f"{keyed_bits(wanted.since, wanted.group, part, *key):016x}" for part in range(2))
    return f"{wanted.client_id}-{bits[:8]}-{bits[8:12]}-{bits[12:16]}-{bits[16:20]}-{bits[20:32]}"


class Member(NamedTuple):
    """Who takes part in a group."""

    member_id: str
    host: str
    client_id: str
    assigned: bool
    """Whether it has the partition; the others wait for it."""


def members(broker: ProcessContext, name: str) -> list[Member]:
    """Everybody in a group, who has the partition first."""
    group = groups(broker).get(name)
    found = []
    for process in broker.world.processes.values():
        wanted = subscription(process)
        if wanted is None or wanted.group != name or wanted.run != broker.process.restart:
            continue
        if wanted.broker == broker.process.key and way(broker, process) is not None:
            mine = group is not None and (process.key, process.restart) == (group.member, group.restart)
            identity = group.member_id if mine and group is not None else _identity(wanted, process.key)
            found.append(Member(identity, process.ip, wanted.client_id, mine))
    return sorted(found, key=lambda each: (not each.assigned, each.member_id))


def rejoin(broker: ProcessContext) -> bool:
    """Have the consumers of a broker that was another one before join this one; whether some cannot reach any yet."""
    world = broker.world
    lost = False
    members = {group.member for group in groups(broker).values()}
    for process in list(world.processes.values()):
        wanted = subscription(process)
        if wanted is None or process.key in members:
            continue
        consumer = ProcessContext(world, process)
        found = consumer.peer(wanted.host, wanted.port)
        if found is None:
            lost = True
        elif found.process.key == broker.process.key:
            # Every join changes the broker.
            join(ProcessContext(world, world.processes[broker.process.key]), consumer, wanted)
    return lost


def way(broker: ProcessContext, consumer: Process) -> Leg | None:
    """The connection of a consumer to a broker, from the broker's side; None where it leads nowhere. It is the consumer who opens
    it, and records come back on it."""
    place = endpoint(setting(broker, "listeners"), "PLAINTEXT")
    world, mine = broker.world, broker.process
    found = connect(world, consumer, mine.ip, place[1] if place is not None else PORT, kept=True)
    leg = next((each for each in found.legs if each.outcome == "ok" and each.process == mine.key), None)
    if leg is None:
        return None
    back = path(
        world, mine.node, (mine.namespace, mine.pod), consumer.node, (consumer.namespace, consumer.pod)
    )
    return leg._replace(
        share=1.0, address=consumer.ip, port=DELIVERY, process=consumer.key, answers=back.answers
    )


def attended(consumer: ProcessContext) -> bool:
    """Whether a consumer still has the broker that it has joined. It takes its turn where the group has lost its member."""
    wanted = subscription(consumer.process)
    found = None if wanted is None else consumer.world.processes.get(wanted.broker)
    if wanted is None or found is None or found.restart != wanted.run:
        return False
    broker = ProcessContext(consumer.world, found)
    if way(broker, consumer.process) is None:
        return False
    group = groups(broker).get(wanted.group)
    if group is None or member(broker, group) is None:
        join(broker, consumer, wanted)
    return True


def pace(broker: ProcessContext, name: str, seconds: float) -> None:
    """Note that the member of a group takes so long per record from now on, where that is another time than before."""
    group = groups(broker).get(name)
    if group is None:
        return
    last = group.paces[-1][1] if group.paces else 0.0
    if abs(seconds - last) > _SAME * max(seconds, last):
        paced = evolve(group, paces=(*group.paces, (broker.now(), seconds)))
        broker.update(groups={**groups(broker), name: paced})


def position(broker: ProcessContext, group: Group) -> Position:
    """Where a group stands now."""
    return course(broker, group).position(broker.now())


def course(broker: ProcessContext, group: Group) -> Course:
    """How a group has fared until now."""
    now, paces = broker.now(), group.paces
    if member(broker, group) is None and paces and paces[-1][1]:
        # Nobody has looked since it went away: what it has not taken by then, it never took.
        paces = (*paces, (now, 0.0))
    return Course(rates(broker, f"{PRODUCE} {group.topic}"), paces, now)


class _Piece(NamedTuple):
    """A time, in seconds, in which nothing changes."""

    begin: float
    end: float
    arriving: float
    """Records per second."""
    pace: float
    """Seconds per record; 0 where none are taken."""
    produced: float
    """Records until its beginning."""
    backlog: float
    """Records that are not taken yet then."""

    def at(self, time: float) -> tuple[float, float]:
        """(produced, backlog) at an instant in it."""
        passed = time - self.begin
        served = passed / self.pace if self.pace else 0.0
        return (
            self.produced + self.arriving * passed,
            max(self.backlog + self.arriving * passed - served, 0.0),
        )


class Course:
    """A queue with piecewise constant arrivals and service, through time."""

    def __init__(self, made: Sequence[Rate], paces: Sequence[tuple[int, float]], now: int) -> None:
        """``made``: what was produced, oldest first. ``paces``: from when the server took how long per record, in order."""
        changes = sorted(
            {time for begin, end, _ in made for time in (begin, end)}
            | {time / SECOND for time, _ in paces}
            | {now / SECOND}
        )
        self._pieces: list[_Piece] = []
        produced = backlog = pace = 0.0
        source = server = 0
        for begin, end in pairwise(changes):
            middle = (begin + end) / 2
            while source < len(made) and made[source][1] <= middle:
                source += 1
            while server < len(paces) and paces[server][0] / SECOND <= middle:
                pace = paces[server][1]
                server += 1
            there = source < len(made) and made[source][0] <= middle
            piece = _Piece(begin, end, made[source][2] if there else 0.0, pace, produced, backlog)
            self._pieces.append(piece)
            produced, backlog = piece.at(end)
        self._begins = [piece.begin for piece in self._pieces]

    def at(self, time: int) -> tuple[float, float]:
        """(records produced, records not yet taken) at a time."""
        index = bisect_right(self._begins, time / SECOND) - 1
        if index < 0:
            return 0.0, 0.0
        piece = self._pieces[index]
        return piece.at(min(time / SECOND, piece.end))

    def position(self, time: int) -> Position:
        """The same in whole records."""
        produced, backlog = self.at(time)
        end = int(produced + _NEARLY)
        return Position(min(int(produced - backlog + _NEARLY), end), end)

    def taken(self, time: int) -> int | None:
        """When that was taken which was produced at a time; None where it has not been yet."""
        index = bisect_right(self._begins, time / SECOND) - 1
        if index < 0:
            return None
        at, left = time / SECOND, self.at(time)[1]
        for piece in self._pieces[index:]:
            last = piece is self._pieces[-1]
            if piece.pace and (last or at + left * piece.pace <= piece.end):
                return int((at + left * piece.pace) * SECOND)
            left = max(left - (piece.end - at) / piece.pace, 0.0) if piece.pace else left
            at = piece.end
        return None


def end_offset(broker: ProcessContext, topic: str) -> int:
    """How many records there are in a topic."""
    return int(served(broker, f"{PRODUCE} {topic}") + _NEARLY)


_NEARLY = 1e-6
"""Part of a record that counts as none: sums of many pieces are not exact."""


def queue(made: Sequence[Rate], paces: Sequence[tuple[int, float]], now: int) -> tuple[float, float]:
    """(records produced, records not yet taken) of a queue with piecewise constant arrivals and service."""
    return Course(made, paces, now).at(now)
