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


class MachineFigures(Protocol):
    """What a machine's kernel has counted since it booted: hardly anybody asks for all of it."""

    @property
    def cores(self) -> int:
        """How many it has."""
        ...

    @property
    def memory(self) -> int:
        """Bytes."""
        ...

    @property
    def available(self) -> int:
        """Bytes of memory that nobody uses."""
        ...

    @property
    def booted(self) -> int:
        """When it booted, microseconds."""
        ...

    @property
    def cpu(self) -> float:
        """Seconds of CPU used by all that ran."""
        ...

    @property
    def busy(self) -> float:
        """Cores in use now."""
        ...

    @property
    def load(self) -> tuple[float, float, float]:
        """Mean number of runnable processes over 1, 5 and 15 minutes."""
        ...

    @property
    def disk(self) -> int:
        """Bytes of the root file system."""
        ...

    @property
    def disk_free(self) -> int:
        """Bytes of it that are free."""
        ...

    @property
    def received(self) -> float:
        """Bytes that came by its network."""
        ...

    @property
    def sent(self) -> float:
        """Bytes that went out."""
        ...

    @property
    def connections(self) -> int:
        """Entries of the connection tracking table."""
        ...

    @property
    def containers(self) -> tuple[ContainerFigures, ...]:
        """What runs there now, in order of namespace, pod and container."""
        ...

    @property
    def tcp(self) -> Mapping[str, float]:
        """What it counts of TCP, by the kernel's names (``OutSegs``, ``RetransSegs``, ``TCPTimeouts`` ...)."""
        ...


@dataclass(frozen=True, slots=True)
class IdleMachine:
    """What a machine's kernel counts where nobody does anything."""

    booted: int
    cores: int = 8
    memory: int = 16 << 30
    available: int = 11 << 30
    cpu: float = 0.0
    busy: float = 0.05
    load: tuple[float, float, float] = (0.42, 0.38, 0.35)
    disk: int = 98 << 30
    disk_free: int = 69 << 30
    received: float = 0.0
    sent: float = 0.0
    connections: int = 0
    containers: tuple[ContainerFigures, ...] = ()
    tcp: Mapping[str, float] = field(default_factory=dict)


class Figures(Protocol):
    """What kernels count, at the instant of a world. Made for one occasion and thrown away."""

    def container(self, process: Process) -> ContainerFigures:
        """Of the container of a process."""
        ...

    def machine(self, node: str) -> MachineFigures:
        """Of a machine. Raises LookupError where there is none of that name."""
        ...
