"""Who has too few file descriptors for the connections that others have opened to him.

Only processes with a limit of their own are looked at (``ulimit -n`` before them): containerd's is enough for whatever happens here.
What a server has opened itself, and what its callers keep open, it has had since it began; users come after them.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.sim.network.connections import connect
from sregym_env.sim.processes.flow import Evaluation, Visit
from sregym_env.sim.users.dialling import standing_at
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.logs import RequestLine
from sregym_env.sim.world.process import Process, ProcessKey

OWN = 8
"""Descriptors of a process beside its sockets: three streams, and what its runtime waits for events with."""


def full(evaluation: Evaluation) -> Mapping[ProcessKey, float]:
    """The share of users' connections that is not accepted, by process; an evaluation in which everybody accepts says who opens which."""
    limited = {
        each.process.key: each.process for each in evaluation.visits.values() if each.process.open_files
    }
    if not limited:
        return {}
    users: dict[ProcessKey, float] = {}
    for process in evaluation.world.processes.values():
        connections = getattr(evaluation.world.programs[process.program], "connections", None)
        if connections is None:
            continue
        host, port, number = connections(evaluation.context(process))
        for leg in connect(evaluation.world, process, host, port, kept=True).legs if number else ():
            if leg.process in limited:
                users[leg.process] = users.get(leg.process, 0.0) + leg.share * number
    found = {}
    for key, process in limited.items():
        room = process.open_files - _used(evaluation, process)
        if key in users and room < users[key]:
            found[key] = 1.0 - max(room, 0) / users[key]
    return found


def _used(evaluation: Evaluation, process: Process) -> int:
    """Descriptors that a process uses without those of its users."""
    own: set[tuple[str, int]] = set()
    callers: set[ProcessKey] = set()
    for visit in evaluation.visits.values():
        if visit.rate <= 0.0:
            continue
        if visit.process.key == process.key:
            own.update((made.host, made.port) for made in visit.made)
        elif any(way.to is not None and way.to[0] == process.key for made in visit.made for way in made.ways):
            callers.add(visit.process.key)
    watched = standing_at(evaluation, process)
    return OWN + len(process.listening) + len(own) + len(callers) + len(watched)


def complain(evaluation: Evaluation, full: Mapping[ProcessKey, float]) -> None:
    """Have those who accept nobody say so, about once a second, where their runtime does."""
    busiest: dict[ProcessKey, Visit] = {}
    for visit in evaluation.visits.values():
        if visit.process.key in full and visit.rate > busiest.get(visit.process.key, visit).rate * 0.999:
            busiest[visit.process.key] = visit
    for visit in busiest.values():
        line = _line(evaluation.world, visit)
        if line and visit.rate > 0.0:
            visit.logs[line] = RequestLine(line, 0.0, min(1.0 / visit.rate, 1.0), 0.0)


def _line(world: SimWorld, visit: Visit) -> str:
    settings = world.images[visit.process.image].binaries[visit.process.binary].settings
    words = getattr(getattr(settings, "runtime", None), "unaccepted", None)
    return "" if words is None else str(words(visit.port))
