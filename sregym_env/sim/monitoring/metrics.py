"""What metrics-server reports: CPU and memory of containers and machines, a scrape old.

metrics-server scrapes every 15 s and answers with the last complete window, so values lag behind by 15 to 30
seconds and a new pod shows only after about 30 seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sregym_env.kube import status
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_unit
from sregym_env.sim.apiserver import custom
from sregym_env.sim.network import addressing
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.history import Segment, segment_at
from sregym_env.sim.world.process import Process

SCRAPE = 15 * SECOND
"""metrics-server's ``--metric-resolution``."""
USAGE_EFFORT = 25.0
"""What it costs to tell what a pod uses (units of ``runtime/effort.py``)."""
CPU_JITTER = 0.08
"""Assumed half-width of the variation of CPU use between windows."""
MEMORY_JITTER = 0.01
"""The same for memory."""
SYSTEM_CPU = 0.055
SYSTEM_MEMORY = 420 << 20
"""Assumed use of a machine's own daemons (kubelet, containerd, journald)."""
FRESH = 10 * SECOND
"""Age from which one scrape of a container is enough (``freshContainerMinMetricsResolution`` of metrics-server)."""


@dataclass(frozen=True, slots=True)
class ContainerUsage:
    """What one container used over a window: cores and bytes (working set)."""

    name: str
    cpu: float
    memory: int


@dataclass(frozen=True, slots=True)
class PodUsage:
    """What a pod's containers used over a window."""

    timestamp: int
    containers: tuple[ContainerUsage, ...]

    @property
    def cpu(self) -> float:
        """Cores, all containers together."""
        return sum(container.cpu for container in self.containers)

    @property
    def memory(self) -> int:
        """Bytes, all containers together."""
        return sum(container.memory for container in self.containers)


def scraped_at(now: int) -> int:
    """The end of the last window that metrics-server has complete: 15 to 30 seconds ago."""
    return (now // SCRAPE - 1) * SCRAPE


def served(world: SimWorld) -> bool:
    """Whether the metrics API is registered at all."""
    return custom.aggregated(world)


def available(world: SimWorld) -> bool:
    """Whether metrics-server answers: the metrics API is only as available as the Service behind it."""
    return served(world) and bool(
        addressing.usable(addressing.endpoints(world, "kube-system", "metrics-server"))
    )


def _require(world: SimWorld, resource: str) -> None:
    if not served(world):
        raise status.unknown_path()
    if not available(world):
        raise status.service_unavailable(
            f"the server is currently unable to handle the request (get {resource}.metrics.k8s.io)"
        )


def pod_usage(world: SimWorld, pod: Manifest) -> PodUsage | None:
    """What a pod used in the last complete window, or None while there are no samples of it."""
    return _pod_usage(world, pod) if available(world) else None


def _pod_usage(world: SimWorld, pod: Manifest) -> PodUsage | None:
    effort.note(USAGE_EFFORT)
    time = scraped_at(world.clock)
    segment = segment_at(world, time)
    found = [
        container_usage(world, process, segment, time)
        for process in addressing.pod_processes(world, pod["metadata"].get("uid", ""))
        # CPU use is the difference of two scrapes; of a fresh container, that to its start.
        if process.started_at + FRESH <= time
    ]
    return PodUsage(time, tuple(found)) if found else None


def container_usage(world: SimWorld, process: Process, segment: Segment | None, time: int) -> ContainerUsage:
    """What one process used in the window that ended at ``time``."""
    rates: dict[str, float] = {}
    resident, busy = process.memory, -1.0
    if segment is not None:
        for load in segment.loads:
            if load.process == process.key and load.restart == process.restart:
                rates = dict(load.rates)
                resident, busy = max(resident, load.memory), load.cpu
                break
    program, context = world.programs[process.program], ProcessContext(world, process)
    used = program.usage(context, rates)
    if busy >= 0.0:
        used = used._replace(cpu=program.usage(context, {}).cpu + busy)
    # Keyed by the window, not drawn: whoever asks twice within it sees the same, and moves no chance.
    key = (world.streams.seed, process.key[0], process.container, time)
    cpu = used.cpu * (1.0 + CPU_JITTER * (2.0 * keyed_unit("cpu", *key) - 1.0))
    memory = max(used.memory, resident)
    memory = int(memory * (1.0 + MEMORY_JITTER * (2.0 * keyed_unit("memory", *key) - 1.0)))
    if process.cpu_limit is not None:
        cpu = min(cpu, process.cpu_limit)
    if process.memory_limit is not None:
        memory = min(memory, process.memory_limit)
    return ContainerUsage(process.container, cpu, memory)


def pod_metrics(world: SimWorld) -> list[Manifest]:
    """``PodMetrics`` of every pod that has samples, in (namespace, name) order.

    Raises ServiceUnavailable where metrics-server does not answer.
    """
    _require(world, "pods")
    found = []
    for pod in world.store.list("pods"):
        if pod.get("status", {}).get("phase") != "Running":
            continue
        if f"node.down:{pod['spec'].get('nodeName')}" in world.memory:
            continue
        usage = _pod_usage(world, pod)
        if usage is not None:
            found.append(_pod_metrics(world, pod, usage))
    return found


def _pod_metrics(world: SimWorld, pod: Manifest, usage: PodUsage) -> Manifest:
    metadata = pod["metadata"]
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "PodMetrics",
        "metadata": _metadata(world, metadata),
        "timestamp": rfc3339(usage.timestamp),
        "window": "15s",
        "containers": [
            {"name": container.name, "usage": reported(container)} for container in usage.containers
        ],
    }


def node_metrics(world: SimWorld) -> list[Manifest]:
    """``NodeMetrics`` of every machine whose kubelet answers, by name.

    Raises ServiceUnavailable where metrics-server does not answer.
    """
    _require(world, "nodes")
    time = scraped_at(world.clock)
    segment = segment_at(world, time)
    sums: dict[str, list[float]] = {}
    for process in world.processes.values():
        if process.started_at + FRESH <= time:
            used = container_usage(world, process, segment, time)
            total = sums.setdefault(process.node, [0.0, 0.0])
            total[0] += used.cpu
            total[1] += used.memory
    return [
        _node_metrics(world, node, time, *sums.get(node["metadata"]["name"], (0.0, 0.0)))
        for node in world.store.list("nodes")
        if not world.memory.get(f"node.down:{node['metadata']['name']}")
    ]


def _node_metrics(world: SimWorld, node: Manifest, time: int, cpu: float, memory: float) -> Manifest:
    name = node["metadata"]["name"]
    system = SYSTEM_CPU * (
        1.0 + CPU_JITTER * (2.0 * keyed_unit("node", world.streams.seed, name, time) - 1.0)
    )
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "NodeMetrics",
        "metadata": _metadata(world, node["metadata"]),
        "timestamp": rfc3339(time),
        "window": "15s",
        "usage": _usage(cpu + system, int(memory) + SYSTEM_MEMORY),
    }


def _metadata(world: SimWorld, of: Manifest) -> dict[str, Any]:
    made: dict[str, Any] = {"name": of["name"], "creationTimestamp": rfc3339(world.clock)}
    if of.get("namespace"):
        made["namespace"] = of["namespace"]
    if of.get("labels"):
        made["labels"] = of["labels"]
    return made


def reported(container: ContainerUsage) -> dict[str, str]:
    """What a container used, as metrics-server says it: quantities by resource."""
    return _usage(container.cpu, container.memory)


def _usage(cpu: float, memory: int) -> dict[str, str]:
    return {"cpu": f"{round(cpu * 1e9)}n", "memory": f"{memory >> 10}Ki"}
