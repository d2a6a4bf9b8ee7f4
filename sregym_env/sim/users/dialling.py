"""Who has too few local ports for the connections that his calls need, as the load of the moment has it.

Only pods with a narrow range of their own are looked at: the usual one is enough for whatever happens here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sregym_env.sim.network.connections import connect
from sregym_env.sim.network.local_ports import TIME_WAIT, at_once, few, refused
from sregym_env.sim.processes.flow import Evaluation, Made
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.strain import Destination, Lack

LONG = 3600.0
"""Seconds in which a pool that closes nothing has grown to what it ever needs (assumed)."""


@dataclass(slots=True)
class _Demand:
    """What a pod needs ports for at one destination."""

    ports: int
    standing: int = 0
    """Connections that are held all the time."""
    fresh: float = 0.0
    """Mean number of ports in use or waiting, of connections that are made for one call each."""
    rate: float = 0.0
    """Per second, of calls over connections that are kept for a while."""
    load: float = 0.0
    """Mean number of these at the same time."""
    lives: float = math.inf
    clients: int = 1

    def add(self, made: Made, rate: float) -> None:
        """One kind of call more."""
        keeping = made.keeping
        if keeping.lives <= 0.0:
            self.fresh += rate * (made.latency + TIME_WAIT)
            return
        self.clients = max(self.clients, keeping.clients)
        if not keeping.shared:
            self.rate += rate
            self.load += rate * made.latency
        self.lives = min(self.lives, keeping.lives)

    def lack(self) -> Lack:
        """How often there is none."""
        ports = max(self.ports - self.standing, 0)
        if self.clients > 1:
            calls = max(1.0 - ports / self.clients, 0.0)
            return Lack(calls, 1.0 if ports <= self.clients else 0.0)
        calls = dials = 1.0 if not ports and self.standing else 0.0
        closed = 0.0
        if self.rate and self.lives < math.inf:
            # A port is of use for as long as its connection lives, and then of none.
            needed = at_once(self.rate, self.load / self.rate, self.lives)
            there = ports * self.lives / (self.lives + TIME_WAIT) / needed
            closed = TIME_WAIT / (self.lives + TIME_WAIT)
            calls = refused(there, self.load)
            dials = calls if there > 1.0 else 1.0
        elif self.rate:
            calls = refused(ports, self.load)
            dials = 1.0 if ports <= at_once(self.rate, self.load / self.rate, LONG) else calls
        if self.fresh:
            calls = dials = max(refused(ports, self.fresh), dials)
            closed = 1.0
        return Lack(calls, dials, closed) if max(calls, dials) > NOTICED else NONE


NONE = Lack(0.0, 0.0)
NOTICED = 1e-4
"""Share of calls below which a lack is none."""


def lacking(evaluation: Evaluation) -> Mapping[Destination, Lack]:
    """Who lacks ports for what, when rates have been sent down an evaluation in which nobody does."""
    world = evaluation.world
    numbers: dict[ProcessKey, int] = {}
    demands: dict[Destination, _Demand] = {}

    def demand(process: Process, host: str, port: int) -> _Demand | None:
        addresses = connect(world, process, host, port, kept=True).resolution.addresses
        if not addresses:
            return None
        return demands.setdefault((process.key[0], addresses[0], port), _Demand(numbers[process.key]))

    for visit in evaluation.visits.values():
        process = visit.process
        if visit.rate <= 0.0:
            continue
        if process.key not in numbers:
            numbers[process.key] = few(world, process)
            for host, port in standing_at(evaluation, process) if numbers[process.key] else ():
                held = demand(process, host, port)
                if held is not None:
                    held.standing += 1
        if not numbers[process.key]:
            continue
        for made in visit.made:
            found = demand(process, made.host, made.port)
            if found is not None:
                found.add(made, visit.rate * made.share)
    lacks = {where: each.lack() for where, each in demands.items()}
    return {where: each for where, each in lacks.items() if each != NONE}


def standing_at(evaluation: Evaluation, process: Process) -> Sequence[tuple[str, int]]:
    """(host, port) of every connection that a process holds all the time, whatever is asked of it."""
    held = getattr(evaluation.world.programs[process.program], "standing", None)
    found: Sequence[tuple[str, int]] = () if held is None else held(evaluation.context(process))
    return found
