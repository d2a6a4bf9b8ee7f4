"""What kernels count at an instant: the integrals of what metrics sample, so that both agree.

cAdvisor and node-exporter read their files now and then; here one looks at any moment. Counters of containers are
exact integrals and so never go back while the container runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.sim.monitoring import cadvisor, node_exporter
from sregym_env.sim.monitoring.metrics import SYSTEM_CPU
from sregym_env.sim.monitoring.past import FOREVER
from sregym_env.sim.monitoring.readings import CFS_PERIOD, Readings, Run, Values
from sregym_env.sim.monitoring.scrapes import Family, Question, Target
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.sim.world import SimWorld, disks
from sregym_env.sim.world.figures import ContainerFigures, MachineFigures
from sregym_env.sim.world.process import Process

_COUNTED = "node_netstat_"
_FAMILIES: Mapping[str, Family] = {family.name: family for family in node_exporter.FAMILIES}
LOOK = SECOND
"""Over how long what is in use now is measured."""


class KernelFigures:
    """What the kernels of a world count now (implements :class:`~sregym_env.sim.world.figures.Figures`)."""

    def __init__(self, world: SimWorld) -> None:
        """Of a world as it is now."""
        self._world = world
        self._now = np.array([max(world.clock - LOOK, 0), world.clock], dtype=np.int64)

    @cached_property
    def _question(self) -> Question:
        return Question(self._world, self._world.clock - 15 * MINUTE, self._world.clock)

    @cached_property
    def _readings(self) -> Readings:
        return self._question.readings

    def container(self, process: Process) -> ContainerFigures:
        """Of the container of a process."""
        return self._of(Run(process))

    def _of(self, run: Run) -> ContainerFigures:
        readings, times, process = self._readings, self._now, run.process
        used = readings.cpu_seconds(run, times)
        periods, throttled = readings.periods(run, times), readings.throttled(run, times)
        requests = float(readings.requests(run, times)[1])
        age = max(self._world.clock - process.started_at, 0) / SECOND
        resident = int(readings.memory(run, times)[1])
        room = cadvisor.PAGE_CACHE if process.memory_limit is None else process.memory_limit - resident
        return ContainerFigures(
            process,
            float(used[1]),
            float(used[1] - used[0]) / (LOOK / SECOND),
            float(periods[1]),
            float(throttled[1]),
            float(throttled[1]) * CFS_PERIOD / 2,
            resident,
            max(0, min(cadvisor.PAGE_CACHE, room)),
            requests,
            requests * cadvisor.REQUEST_BYTES + age * cadvisor.IDLE_BYTES,
            requests * cadvisor.ANSWER_BYTES + age * cadvisor.IDLE_BYTES,
        )

    def machine(self, node: str) -> MachineFigures:
        """Of a machine. Raises LookupError where there is none of that name."""
        if self._world.store.get("nodes", "", node) is None:
            raise LookupError(f"no machine {node!r}")
        return _Machine(self, node)

    def running(self, node: str) -> tuple[ContainerFigures, ...]:
        """Of everything that runs on a machine."""
        here = (run for run in self._readings.runs if run.process.node == node and run.ended == FOREVER)
        return tuple(self._of(run) for run in here)

    def value(self, name: str, node: str) -> float:
        """Of a family of node-exporter's, whatever is no file system's, or the root one's."""
        return sum(
            float(values[1])
            for labels, values in self.values(name, node)
            if labels.get("mountpoint", disks.ROOT.path) == disks.ROOT.path
        )

    def values(self, name: str, node: str) -> list[tuple[Mapping[str, str], Values]]:
        """The rows of a family of node-exporter's, a moment ago and now."""
        target = Target(node_exporter.JOB, node)
        rows = _FAMILIES[name].rows(self._question, target, self._now)
        return [(labels, values) for labels, values, _ in rows]

    def booted(self, node: str) -> int:
        """When a machine booted, microseconds."""
        known = self._world.memory.get(f"{kubelet_unit.BOOTED}{node}")
        return int(self.value("node_boot_time_seconds", node)) * SECOND if known is None else int(known)


class _Machine:
    """What the kernel of a machine counts, each figure worked out when it is asked for."""

    def __init__(self, figures: KernelFigures, node: str) -> None:
        self._figures, self._node = figures, node
        self._known: dict[str, float] = {}

    def _value(self, name: str) -> float:
        if name not in self._known:
            self._known[name] = self._figures.value(name, self._node)
        return self._known[name]

    @cached_property
    def _cpu(self) -> list[tuple[Mapping[str, str], Values]]:
        return self._figures.values("node_cpu_seconds_total", self._node)

    @property
    def cores(self) -> int:
        return len({labels["cpu"] for labels, _ in self._cpu})

    @property
    def memory(self) -> int:
        return int(self._value("node_memory_MemTotal_bytes"))

    @property
    def available(self) -> int:
        return int(self._value("node_memory_MemAvailable_bytes"))

    @property
    def booted(self) -> int:
        return self._figures.booted(self._node)

    @property
    def cpu(self) -> float:
        return sum(float(values[1]) for labels, values in self._cpu if labels["mode"] != "idle")

    @property
    def busy(self) -> float:
        return SYSTEM_CPU + sum(each.cores for each in self.containers)

    @property
    def load(self) -> tuple[float, float, float]:
        return (self._value("node_load1"), self._value("node_load5"), self._value("node_load15"))

    @property
    def disk(self) -> int:
        return int(self._value("node_filesystem_size_bytes"))

    @property
    def disk_free(self) -> int:
        return int(self._value("node_filesystem_free_bytes"))

    @property
    def received(self) -> float:
        return self._value("node_network_receive_bytes_total")

    @property
    def sent(self) -> float:
        return self._value("node_network_transmit_bytes_total")

    @property
    def connections(self) -> int:
        return int(self._value("node_nf_conntrack_entries"))

    @cached_property
    def containers(self) -> tuple[ContainerFigures, ...]:
        return self._figures.running(self._node)

    @cached_property
    def tcp(self) -> Mapping[str, float]:
        names = [name for name in _FAMILIES if name.startswith(_COUNTED)]
        return {name.rpartition("_")[2]: self._value(name) for name in names}
