"""What pods ask of a machine: effective requests and limits, host ports, quality of service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.quantity import bytes_, cpu_cores, milli, whole
from sregym_env.kube.types import Manifest
from sregym_env.sim.world.derived import DerivedFromEach

_MEMO_LIMIT = 8192
DEFAULT_MILLI_CPU = 100
"""What the scheduler's scores assume for a container without a CPU request (schedutil.DefaultMilliCPURequest)."""
DEFAULT_MEMORY = 200 * 1024 * 1024
"""The same for memory, bytes (schedutil.DefaultMemoryRequest)."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Effective requests of a pod: CPU in thousandths of a core, everything else in units (bytes)."""

    milli_cpu: int = 0
    memory: int = 0
    ephemeral: int = 0
    extended: tuple[tuple[str, int], ...] = ()
    scored_cpu: int = 0
    """CPU with the scheduler's default for containers that request none."""
    scored_memory: int = 0

    def named(self) -> Iterable[tuple[str, int]]:
        """(resource name, amount) pairs as the scheduler checks them."""
        yield "cpu", self.milli_cpu
        yield "memory", self.memory
        yield "ephemeral-storage", self.ephemeral
        yield from self.extended


_requests_memo: dict[str, tuple[Any, Requests]] = {}


def pod_requests(pod: Manifest) -> Requests:
    """The effective requests of a pod: containers and sidecars added up, init containers at their peak."""
    # The memo is checked by identity of the (immutable) spec, so that it can never be stale.
    uid = pod["metadata"].get("uid", "")
    known = _requests_memo.get(uid)
    spec = pod["spec"]
    if known is not None and known[0] is spec:
        return known[1]
    found = _compute(spec)
    if len(_requests_memo) > _MEMO_LIMIT:
        _requests_memo.clear()
    if uid:
        _requests_memo[uid] = (spec, found)
    return found


def _compute(spec: Mapping[str, Any]) -> Requests:
    total: dict[str, int] = {}
    scored_cpu = scored_memory = 0
    for container in spec["containers"]:
        asked = _amounts(container)
        _add(total, asked)
        scored_cpu += asked.get("cpu", DEFAULT_MILLI_CPU)
        scored_memory += asked.get("memory", DEFAULT_MEMORY)
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.get("initContainers", ()):
        asked = _amounts(container)
        if container.get("restartPolicy") == "Always":
            _add(total, asked)
            _add(sidecars, asked)
            asked = sidecars
        else:
            asked = {name: amount + sidecars.get(name, 0) for name, amount in asked.items()}
        for name, amount in asked.items():
            peak[name] = max(peak.get(name, 0), amount)
    for name, amount in peak.items():
        total[name] = max(total.get(name, 0), amount)
    for name, quantity in (spec.get("overhead") or {}).items():
        total[name] = total.get(name, 0) + _amount(name, quantity)
    cpu, memory = total.pop("cpu", 0), total.pop("memory", 0)
    ephemeral = total.pop("ephemeral-storage", 0)
    return Requests(
        cpu, memory, ephemeral, tuple(sorted(total.items())), max(scored_cpu, cpu), max(scored_memory, memory)
    )


def _amounts(container: Mapping[str, Any]) -> dict[str, int]:
    resources = container.get("resources") or {}
    return {name: _amount(name, quantity) for name, quantity in (resources.get("requests") or {}).items()}


def _amount(name: str, quantity: Any) -> int:
    return milli(quantity) if name == "cpu" else whole(quantity)


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _allocatable(node: Manifest) -> Mapping[str, int]:
    given = (node.get("status") or {}).get("allocatable") or {}
    return {name: _amount(name, quantity) for name, quantity in given.items()}


allocatable = DerivedFromEach(_allocatable)
"""What a node can give to pods, in the units of :class:`Requests`."""


def cpu_limit(container: Mapping[str, Any]) -> float | None:
    """A container's CPU limit in cores, or None; zero sets no limit."""
    limit = ((container.get("resources") or {}).get("limits") or {}).get("cpu")
    return None if limit is None else cpu_cores(limit) or None


def memory_limit(container: Mapping[str, Any]) -> int | None:
    """A container's memory limit in bytes, or None; zero sets no limit."""
    limit = ((container.get("resources") or {}).get("limits") or {}).get("memory")
    return None if limit is None else bytes_(limit) or None


def host_ports(pod: Manifest) -> tuple[tuple[str, str, int], ...]:
    """(protocol, host IP, port) of every host port that a pod takes."""
    found = []
    for container in pod["spec"]["containers"]:
        for port in container.get("ports", ()):
            if port.get("hostPort"):
                address = port.get("hostIP") or "0.0.0.0"
                found.append((port.get("protocol", "TCP"), address, port["hostPort"]))
    return tuple(found)


def quality_of_service(pod: Manifest) -> str:
    """``Guaranteed``, ``Burstable`` or ``BestEffort``."""
    spec = pod["spec"]
    anything = False
    guaranteed = True
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        resources = container.get("resources") or {}
        requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
        for name in ("cpu", "memory"):
            request, limit = requests.get(name), limits.get(name)
            anything = anything or request is not None or limit is not None
            if limit is None or (request is not None and nano_differs(name, request, limit)):
                guaranteed = False
    if not anything:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def nano_differs(name: str, left: Any, right: Any) -> bool:
    """Whether two quantities of one resource are different amounts."""
    return _amount(name, left) != _amount(name, right)
