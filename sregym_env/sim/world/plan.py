"""What a cluster is made of and when: machines, versions, addresses, and how fast its revision counter runs.

A plan is a small frozen value in the world's memory; a world without one is the published cluster.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, ip_network
from typing import Literal

from sregym_env.runtime.clock import DAY, EPOCH, HOUR
from sregym_env.runtime.streams import keyed_bits

Pairs = tuple[tuple[str, str], ...]
"""A mapping of strings as a frozen value, in the order in which it is shown."""

Taint = tuple[str, str, str]
"""(key, value, effect)."""

SLOT = "cluster.plan"
"""Where a world's memory keeps its plan."""

VERSION = "v1.32.5"
RUNTIME = "containerd://1.7.27"
KERNEL = "6.1.0-32-amd64"
OS_IMAGE = "Debian GNU/Linux 12 (bookworm)"
CAPACITY: Pairs = (
    ("cpu", "8"),
    ("ephemeral-storage", "101430960Ki"),
    ("hugepages-1Gi", "0"),
    ("hugepages-2Mi", "0"),
    ("memory", "16384256Ki"),
    ("pods", "110"),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine of the cluster."""

    name: str
    address: str
    pod_cidr: str
    control_plane: bool = False
    external: str = ""
    """Its public address, if it has one."""
    labels: Pairs = ()
    """Besides those that every node has."""
    annotations: Pairs = ()
    taints: tuple[Taint, ...] = ()
    """Besides that of the control plane."""
    capacity: Pairs = CAPACITY
    allocatable: Pairs = ()
    """What is left for pods; as the capacity if empty."""
    kubelet: str = VERSION
    runtime: str = RUNTIME
    kernel: str = KERNEL
    os_image: str = OS_IMAGE
    architecture: str = "amd64"
    provider_id: str = ""
    joins: int = 0
    """When it joins the cluster, microseconds after the cluster's birth."""


UpkeepKind = Literal["join", "leave", "reboot", "cordon", "uncordon", "failover", "retire"]


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Something that happens to a machine in the course of the cluster's life."""

    at: int
    """Microseconds after the cluster's birth."""
    kind: UpkeepKind
    """``failover``: the leader that ``subject`` names loses its lease, restarts and wins it again. ``retire``: the
    machine's disk goes bad, so that its root file system is read-only, and it is closed and emptied."""
    subject: str
    """A machine's name, or of a failover the name of a component of the control plane."""
    seconds: float = 0.0
    """How long a reboot takes."""
    taint: Taint | None = None
    """By what a retired machine may be closed instead of a cordon."""
    tainted: bool = False
    """Whether it is, in any case; else only where daemons would come back to a machine that is cordoned."""
    notes: Pairs = ()
    """Annotations that whoever retired it has left there."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How the revision counter of an idle cluster runs: straight between knots, and on at ``per_hour``.

    Every read of a clock gives the same number, nothing is written for it: these are the leases, heartbeats and
    events of which a healthy cluster makes thousands an hour.
    """

    knots: tuple[tuple[int, int], ...]
    """(microseconds since the Unix epoch, revision), both rising."""
    per_hour: int
    """Revisions an hour after the last knot."""

    def at(self, time: int) -> int:
        """The counter at an instant."""
        start, base = self.knots[-1]
        if time >= start:
            return base + (time - start) * self.per_hour // HOUR
        index = bisect_right(self.knots, (time, 1 << 62))
        if not index:
            return self.knots[0][1]
        (before, low), (after, high) = self.knots[index - 1], self.knots[index]
        return low + (time - before) * (high - low) // (after - before)

    def when(self, revision: int) -> int:
        """The first instant after the last knot at which the counter stands at ``revision``."""
        start, base = self.knots[-1]
        return start - (base - revision) * HOUR // self.per_hour


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """A whole cluster before anything runs on it."""

    machines: tuple[Machine, ...]
    born: int
    """When it is made, microseconds since the Unix epoch."""
    present: int
    """When the story that is told of it begins."""
    key: str = ""
    """What tells its identities from those of every other cluster."""
    seed: int = -1
    """Of the world's streams while it comes up and lives. Negative: seeds of episodes never meet it."""
    provider: str = "kind"
    cluster_name: str = "sre"
    """What kubeadm calls it."""
    version: str = VERSION
    """Of Kubernetes, as the control plane has it."""
    pod_cidr: str = "10.244.0.0/16"
    service_cidr: str = "10.96.0.0/16"
    upstream: str = "172.18.0.1"
    """The name server that machines ask."""
    addons: int = 0
    """How many leader-elected add-ons the pace is made for, besides the control plane's own."""
    pace: Pace | None = None
    """None: the counter moves with writes only."""
    installed: int = 0
    """When the network and the other add-ons are installed, microseconds after the cluster's birth."""
    upkeep: tuple[Upkeep, ...] = ()
    """In order of time; joins, which follow from the machines, are not among them."""

    @property
    def control_planes(self) -> tuple[Machine, ...]:
        """The machines on which the control plane runs."""
        return tuple(machine for machine in self.machines if machine.control_plane)

    @property
    def first(self) -> Machine:
        """The machine that was made first, next to which the workstation stands."""
        return self.control_planes[0]

    @property
    def endpoint(self) -> str:
        """The name under which the API server is known to machines."""
        return self.first.name if len(self.control_planes) == 1 else f"api.{self.cluster_name}.internal"

    @property
    def api_address(self) -> str:
        """The cluster IP of ``default/kubernetes``: the first of the service range."""
        return nth_address(self.service_cidr, 1)

    @property
    def dns_address(self) -> str:
        """The cluster IP of the cluster's DNS: kubeadm takes the tenth."""
        return nth_address(self.service_cidr, 10)

    def machine(self, name: str) -> Machine | None:
        """The machine of a name, or None."""
        return next((machine for machine in self.machines if machine.name == name), None)

    def bits(self, *names: object) -> int:
        """64 bits that belong to this cluster and to names."""
        return keyed_bits(*((self.key, *names) if self.key else names))

    def identity(self, *names: object) -> str:
        """A UUID that belongs to this cluster and to names."""
        text = f"{self.bits(*names, 0):016x}{self.bits(*names, 1):016x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


@lru_cache(maxsize=1024)
def nth_address(cidr: str, index: int) -> str:
    """An address of a range, counted from its first."""
    return str(IPv4Address(int(ip_network(cidr).network_address) + index))


PUBLISHED = ClusterPlan(
    machines=(
        Machine("sre-control-plane", "172.18.0.5", "10.244.0.0/24", True),
        Machine("sre-worker", "172.18.0.2", "10.244.1.0/24"),
        Machine("sre-worker2", "172.18.0.3", "10.244.2.0/24"),
        Machine("sre-worker3", "172.18.0.4", "10.244.3.0/24"),
    ),
    born=EPOCH - 41 * DAY,
    present=EPOCH,
)
"""The cluster in which SREGym's problems were published: four machines as kind makes them, 41 days old."""
