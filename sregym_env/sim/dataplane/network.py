"""The network of an instant: who serves what with which resources, who calls whom how, and who offers load.

Frozen values that follow from a state of the world alone. Units are SI: seconds, bytes, cores, requests per second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from sregym_env.sim.dataplane.profiles import Constant, Profile

NEVER = math.inf
"""A time-out or limit that does not exist."""

Dead = Literal["refused", "blackhole", "error"]
"""What becomes of attempts that never reach an operation: refused or answered at once (with an error), or never answered."""


@dataclass(frozen=True, slots=True)
class Collector:
    """A garbage collector that shares the cores with the requests.

    A cycle marks what lives; it runs whenever the free part of the heap has been allocated. So the share of the CPU is
    ``mark * live * allocation / (heap - live) / cores``, and it grows without bound while requests pile up.
    """

    allocation: float
    """Bytes allocated per request."""
    mark: float
    """CPU seconds per byte that lives, per cycle."""
    heap: float = NEVER
    """Size at which a fixed heap ends (Java's ``-Xmx``), bytes."""
    growth: float = NEVER
    """The heap may grow to this much of what lives, on top of it (Go's ``GOGC / 100``)."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A look-aside cache: whoever does not find something here fetches it elsewhere and puts it here."""

    keys: float
    """Entries that are ever asked for."""
    ceiling: float = 1.0
    """Hit ratio with every key in the cache."""
    ttl: float = NEVER
    """Mean time until an entry is dropped, seconds."""


@dataclass(frozen=True, slots=True)
class Station:
    """A process that serves requests.

    A restarted process has another ``run``; nothing of its predecessor's queue or heap survives.
    """

    name: str
    run: int = 0
    since: float = -math.inf
    """When it began to serve, seconds: age counts for the warm-up and for what has leaked."""
    cores: float = 1.0
    """How many requests it works on at once, at the full speed of a core each."""
    quota: float = NEVER
    """CPU limit, cores per second in CFS periods of 100 ms; below ``cores`` it throttles."""
    threads: float = NEVER
    """Requests that are served at once, those that wait for callees included."""
    queue: float = NEVER
    """Requests that wait before further ones are rejected."""
    variability: float = 1.0
    """Squared coefficient of variation of the CPU demand of a request: 0 constant, 1 exponential."""
    memory: float = 0.0
    """Resident bytes at rest."""
    per_request: float = 0.0
    """Bytes held by every request in the process, waiting or served."""
    leak: float = 0.0
    """Bytes that every served request leaves behind."""
    memory_limit: float = NEVER
    """Bytes beyond which the kernel kills it."""
    collector: Collector | None = None
    cache: Cache | None = None
    cold: float = 1.0
    """Share of its speed at the very start (class loading, JIT, connection set-up)."""
    warm_up: float = 0.0
    """Time constant with which it reaches its full speed, seconds."""
    node: str = ""
    """The machine it shares; empty for one that is never short."""
    weight: float = 1.0
    """CPU shares on that machine: cores requested."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of call at one station."""

    name: str
    station: str
    demand: float = 0.0
    """Mean CPU seconds of its own per request."""
    pause: float = 0.0
    """Mean seconds it waits without CPU: disk, locks."""
    pause_variability: float = 1.0
    """Squared coefficient of variation of that."""
    failing: float = 0.0
    """Share of the requests that it answers with an error whatever its callees say."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One of the places where an edge's attempts end up."""

    to: str
    """The operation; empty where nobody answers."""
    share: float = 1.0
    delay: float = 0.0
    """Round trip, seconds; where nobody answers, the time until that is known."""
    jitter: float = 0.0
    """Standard deviation of the round trip, seconds."""
    loss: float = 0.0
    """Probability that an exchange loses a packet and waits for a retransmission."""
    dead: Dead = "refused"
    """What becomes of attempts where ``to`` is empty. ``blackhole`` is never answered: the time-out ends it."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """A circuit breaker: refuses to call while too many calls fail."""

    threshold: float
    """Share of failed attempts at which it opens."""
    volume: float = 1.0
    """Attempts per second below which it does not judge."""
    pause: float = 30.0
    """Seconds it stays open before it tries again."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Calls that an operation (or a source) makes for every request it serves."""

    name: str
    caller: str
    """An operation's name; for the calls of a source, the source's."""
    legs: tuple[Leg, ...]
    calls: float = 1.0
    """Calls per request, one after the other; below 1, the share of requests that call."""
    stage: int = 0
    """Edges of one stage are called at the same time, stages one after the other."""
    timeout: float = NEVER
    """Seconds after which an attempt is given up."""
    retries: float = 0.0
    """Further attempts after the first at most."""
    backoff: float = 0.0
    """Mean seconds before a further attempt."""
    budget: float = NEVER
    """Retries per first attempt at most (a retry budget or token bucket)."""
    breaker: Breaker | None = None
    pool: float = NEVER
    """Connections, each of which carries one request at a time; calls wait for a free one."""
    cancels: bool = False
    """Whether the callee drops an attempt that was given up; otherwise it is worked off all the same."""
    required: bool = True
    """Whether the caller's request fails where this call fails."""
    waits: bool = True
    """Whether the caller awaits the answer."""
    lookup: str = ""
    """Only for what the look-aside lookup on this edge did not find (its callee's station has a :class:`Cache`)."""


@dataclass(frozen=True, slots=True)
class Source:
    """Who offers load: open loop at a rate, or a number of users who think between requests."""

    name: str
    rate: float = 0.0
    """Requests per second of an open loop."""
    users: float = 0.0
    """Users of a closed loop; 0 for an open one."""
    think: float = 1.0
    """Mean thinking time of a user, seconds."""
    profile: Profile = field(default_factory=Constant)


@dataclass(frozen=True, slots=True)
class Node:
    """A machine whose cores its stations share by their weights."""

    name: str
    cores: float
    other: float = 0.0
    """Cores that everything else on it asks for."""
    other_weight: float = 0.0
    """CPU shares of everything else."""


@dataclass(frozen=True)
class Network:
    """Everything at one instant. Names are unique per kind; calls form no cycle."""

    stations: tuple[Station, ...]
    operations: tuple[Operation, ...]
    edges: tuple[Edge, ...]
    sources: tuple[Source, ...]
    nodes: tuple[Node, ...] = ()

    def __getstate__(self) -> dict[str, object]:
        # The compiled plan beside the fields is made again where it is needed.
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}
