"""Local ports: every connection that a pod opens takes one of its network namespace, and so does one that it has closed, for a while.

A port serves for as many destinations as there are: only connections to the same address and port need different ones. Which ports there
are is a setting of the namespace (``net.ipv4.ip_local_port_range``) that a pod gets from its own ``securityContext.sysctls``.
"""

from __future__ import annotations

import math
import re

from sregym_env.kube.types import Manifest
from sregym_env.sim.network import addressing
from sregym_env.sim.network.addressing import Source
from sregym_env.sim.network.connections import Connection
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.strain import lacking_of

RANGE = "net.ipv4.ip_local_port_range"
SAFE_SYSCTLS = frozenset(
    {
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
    }
)  # fmt: skip
"""Settings of the kernel that every pod may bring: they count for it alone."""
USUAL = (32768, 60999)
"""First and last port from which Linux dials."""
TIME_WAIT = 60.0
"""Seconds for which who closes a connection first leaves its port alone (``TCP_TIMEWAIT_LEN``)."""
FEW = 4096
"""Ports of which so many are enough for whatever a pod does here."""


def sysctls(pod: Manifest | None) -> dict[str, str]:
    """The settings of its network namespace that a pod brings."""
    context = {} if pod is None else pod["spec"].get("securityContext") or {}
    return {each["name"].replace("/", "."): str(each["value"]) for each in context.get("sysctls") or ()}


def taken_as(value: str) -> tuple[int, int] | None:
    """(first, last) port of a range as the kernel reads it; None where it refuses it."""
    found = re.fullmatch(r"\s*(\d{1,9})(?:\s+(\d{1,9}))?\s*", value)
    if found is None:
        return None
    # One number changes the first alone.
    first, last = int(found[1]), int(found[2] or USUAL[1])
    return (first, last) if 1 <= first <= last <= 65535 else None


def ports(world: SimWorld, process: Process) -> tuple[int, int]:
    """(first, last) port from which a process dials."""
    if process.host_network:
        return USUAL
    value = sysctls(addressing.pod_of(world, process)).get(RANGE)
    return USUAL if value is None else taken_as(value) or USUAL


def few(world: SimWorld, process: Process) -> int:
    """How many those are, where they may be too few; 0 where they never are."""
    first, last = ports(world, process)
    number = last - first + 1
    return number if number < FEW else 0


def taken(world: SimWorld, source: Source, connection: Connection) -> float:
    """The share of the connections that somebody opens now beside a pod's own clients for which there is no port."""
    lacking = lacking_of(world)
    if not lacking or not isinstance(source, Process) or not connection.resolution.addresses:
        return 0.0
    found = lacking.get((source.key[0], connection.resolution.addresses[0], connection.port))
    return 0.0 if found is None else found.dials


def refused(number: float, load: float) -> float:
    """The share of calls that find all of ``number`` ports in use, where ``load`` are in use on average if there are plenty (Erlang's loss
    formula). Between whole numbers it is linear: a port that is there for a part of the time."""
    whole = int(number)
    blocked = 1.0
    for each in range(1, whole + 1):
        blocked = load * blocked / (each + load * blocked)
    further = load * blocked / (whole + 1 + load * blocked)
    return blocked + (number - whole) * (further - blocked)


def at_once(rate: float, held: float, lives: float) -> int:
    """Connections that calls need at the same time at some moment of a connection's life."""
    load = rate * held
    term = tail = math.exp(-load)
    for number in range(1, 64):
        if rate * lives * (1.0 - tail) < 1.0:
            return number
        term *= load / number
        tail += term
    return 64
