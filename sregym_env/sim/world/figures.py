"""What a machine's kernel counts, as plain numbers: what files under /proc and /sys and tools that read them are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sregym_env.sim.world.plan import ClusterPlan
from sregym_env.sim.world.process import Process


def failing(node: str) -> str:
    """The ``memory`` key of when the disk of a machine began to fail or to corrupt, microseconds."""
    return f"disk.failing:{node}"


def read_only(node: str) -> str:
    """The ``memory`` key of when the root file system of a machine was mounted read-only, microseconds."""
    return f"node.readonly:{node}"


def losing(node: str) -> str:
    """The ``memory`` key of when packets of a machine were lost: (begin, end, share) each, microseconds; the end of the
    last one is 0 while it goes on."""
    return f"link.losing:{node}"


FOR_USERS = 0.95
"""What of the free space of a disk is not kept back for root."""


def disk_used(plan: ClusterPlan, node: str) -> float:
    """The share of a machine's disk that is in use."""
    return 0.23 + 0.1 * (plan.bits("disk", node) % 1000) / 1000


@dataclass(frozen=True, slots=True)
class ContainerFigures:
    """What the control group of one running container has counted since the container started."""

    process: Process
    cpu: float
    """Seconds of CPU used."""
    cores: float
    """Cores in use now."""
    periods: float
    """CFS periods in which it was runnable, and of those the ones in which its limit held it back."""
    throttled: float
    throttled_seconds: float
    resident: int
    """Bytes of its own."""
    cache: int
    """Bytes of files that it has in memory."""
    requests: float
    """Requests that it has served."""
    received: float
    """Bytes of its network, both directions."""
    sent: float


@dataclass(frozen=True, slots=True)
class MachineFigures:
    """What a machine's kernel has counted since it booted."""

    cores: int
    memory: int
    """Bytes of memory, and of those the ones that are available."""
    available: int
    booted: int
    """When it booted, microseconds."""
    cpu: float
    """Seconds of CPU used by all that ran."""
    busy: float
    """Cores in use now."""
    load: tuple[float, float, float]
    """Mean number of runnable processes over 1, 5 and 15 minutes."""
    disk: int
    """Bytes of the root file system, and of those the ones that are free."""
    disk_free: int
    received: float
    """Bytes of its network, both directions."""
    sent: float
    connections: int
    """Entries of the connection tracking table."""
    containers: tuple[ContainerFigures, ...]
    """What runs there now, in order of namespace, pod and container."""
    tcp: Mapping[str, float] = field(default_factory=dict)
    """What it counts of TCP, by the kernel's names (``OutSegs``, ``RetransSegs``, ``TCPTimeouts`` ...)."""


class Figures(Protocol):
    """What kernels count, at the instant of a world. Made for one occasion and thrown away."""

    def container(self, process: Process) -> ContainerFigures:
        """Of the container of a process."""
        ...

    def machine(self, node: str) -> MachineFigures:
        """Of a machine. Raises LookupError where there is none of that name."""
        ...
