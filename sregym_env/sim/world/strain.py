"""What load does to the processes that carry it: what the data plane leaves in the world for everybody who makes a request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from sregym_env.sim.dataplane.queueing import share_in_time
from sregym_env.sim.world.process import ProcessKey
from sregym_env.sim.world.program import Call
from sregym_env.sim.world.simworld import SimWorld

STRAINS = "traffic.strains"
"""``world.memory`` key of the strains of the moment; absent while nothing is near its limits."""


OFFERED = "traffic.offered"
"""``world.memory`` key of how the offered load fares, a :class:`Ended` each in the order in which it is offered."""


LACKING = "traffic.lacking"
"""``world.memory`` key of the :class:`Lack` of the moment by :data:`Destination`; absent while nobody lacks ports."""

Destination = tuple[str, str, int]
"""(UID of the pod that dials, address, port)."""


class Lack(NamedTuple):
    """How often a pod finds no local port for a destination."""

    calls: float
    """Share of the calls of its clients that need a connection and get none."""
    dials: float
    """Share of the connections that anybody opens beside them."""
    closed: float = 0.0
    """Share of the ports that belong to connections which have ended."""


FULL = "traffic.full"
"""``world.memory`` key of the processes that have no file descriptor for a further connection: the share of the connections of those who
offer load that they have not accepted; absent while there is none."""

NO_FULL: Mapping[ProcessKey, float] = {}
"""Everybody accepts whoever comes."""

NO_LACK: Mapping[Destination, Lack] = {}
"""Everybody has ports enough."""


class Ended(NamedTuple):
    """How calls of one kind that generators make end now."""

    ok: float
    """Share that succeeds."""
    late: float
    """Share whose users lose their patience, or that no server takes on."""
    latency: float
    """Mean seconds until they end."""
    deviation: float
    """Standard deviation of that."""


class Served(NamedTuple):
    """How one kind of call fares at a process, its callees included."""

    mean: float
    """Seconds from its arrival to the answer."""
    variance: float
    """Squared seconds."""
    rate: float
    """Per second."""


class Strain(NamedTuple):
    """How a process serves under its load."""

    waits: float
    """Probability that a request waits for the process."""
    wait: float
    """Mean of that wait, seconds."""
    wait_variation: float
    """Its squared coefficient of variation."""
    turned: float
    """Share of the requests that find the queue full."""
    stretch: float
    """Elapsed over CPU time of a request that does not wait."""
    throttled: float
    """Share of its CFS periods that run out of quota."""
    memory: int
    """Resident bytes."""
    cpu: float
    """Cores used for requests, a garbage collector's work included."""
    operations: Mapping[tuple[Call, int], Served]
    """By call and port."""
    paced: bool = False
    """Whether the wait is a limiter's: the handlers behind it share it, health checks and metrics pass it by."""


NO_STRAINS: Mapping[ProcessKey, Strain] = {}
"""Nothing is near its limits."""


SOON = 0.001
"""Seconds of a wait that nobody notices."""
NEGLIGIBLE = 1e-6
"""Share of the answers that may be late without anybody asking: one probe every ten seconds meets one in four months."""
STEPS = (0.0, 0.0625, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 30.0)
"""Seconds to which it is rounded up how long an answer takes at most: what is rounded does not change with every load."""


def negligible(strain: Strain) -> bool:
    """Whether who arrives need not wait: a limiter's wait is not his, either."""
    return strain.paced or strain.waits * strain.wait + strain.turned < SOON


def late_share(strain: Strain, left: float) -> float:
    """The share of a server's requests that wait longer than ``left`` seconds."""
    prompt, _ = share_in_time(left, strain.wait, strain.wait_variation * strain.wait**2)
    return strain.turned + (1.0 - strain.turned) * strain.waits * (1.0 - prompt)


def longest_wait(world: SimWorld, key: ProcessKey) -> float:
    """Seconds, rounded up to one of :data:`STEPS`, that all but a negligible share of a process's requests wait at most."""
    strain = strain_of(world, key)
    if strain is None or negligible(strain):
        return 0.0
    return next((step for step in STEPS[1:] if late_share(strain, step) <= NEGLIGIBLE), math.inf)


def load_of(world: SimWorld) -> tuple[Mapping[ProcessKey, Strain], tuple[Ended, ...]]:
    """The strains of the moment by process, and how what is offered fares; both empty while nothing is near its limits."""
    return world.memory.get(STRAINS, NO_STRAINS), world.memory.get(OFFERED, ())


def lacking_of(world: SimWorld) -> Mapping[Destination, Lack]:
    """Who lacks ports now, and for what."""
    found: Mapping[Destination, Lack] = world.memory.get(LACKING, NO_LACK)
    return found


def full_of(world: SimWorld) -> Mapping[ProcessKey, float]:
    """Who accepts no further connections now."""
    found: Mapping[ProcessKey, float] = world.memory.get(FULL, NO_FULL)
    return found


def strain_of(world: SimWorld, key: ProcessKey) -> Strain | None:
    """What load does to a process now; None where it does nothing worth computing."""
    found: Strain | None = world.memory.get(STRAINS, NO_STRAINS).get(key)
    return found
