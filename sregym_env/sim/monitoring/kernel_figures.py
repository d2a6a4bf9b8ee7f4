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
_READ = frozenset(
    "node_cpu_seconds_total node_load1 node_load5 node_load15 node_memory_MemTotal_bytes node_memory_MemAvailable_bytes "
    "node_filesystem_size_bytes node_filesystem_free_bytes node_network_receive_bytes_total node_network_transmit_bytes_total "
    "node_nf_conntrack_entries node_boot_time_seconds".split()
)
"""What a machine's figures are made of."""
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
        one = {
            family.name: self._values(family, node)
            for family in node_exporter.FAMILIES
            if family.name in _READ or family.name.startswith(_COUNTED)
        }
        cpu = one["node_cpu_seconds_total"]
        used = sum(float(values[1]) for labels, values in cpu if labels["mode"] != "idle")
        here = (run for run in self._readings.runs if run.process.node == node and run.ended == FOREVER)
        containers = tuple(self._of(run) for run in here)

        def value(name: str) -> float:
            return sum(
                float(values[1])
                for labels, values in one[name]
                if labels.get("mountpoint", disks.ROOT.path) == disks.ROOT.path
            )

        return MachineFigures(
            len({labels["cpu"] for labels, _ in cpu}),
            int(value("node_memory_MemTotal_bytes")),
            int(value("node_memory_MemAvailable_bytes")),
            int(
                self._world.memory.get(
                    f"{kubelet_unit.BOOTED}{node}", int(value("node_boot_time_seconds")) * SECOND
                )
            ),
            used,
            SYSTEM_CPU + sum(each.cores for each in containers),
            (value("node_load1"), value("node_load5"), value("node_load15")),
            int(value("node_filesystem_size_bytes")),
            int(value("node_filesystem_free_bytes")),
            value("node_network_receive_bytes_total"),
            value("node_network_transmit_bytes_total"),
            int(value("node_nf_conntrack_entries")),
            containers,
            {name.rpartition("_")[2]: value(name) for name in one if name.startswith(_COUNTED)},
        )

    def _values(self, family: Family, node: str) -> list[tuple[Mapping[str, str], Values]]:
        target = Target(node_exporter.JOB, node)
        return [(labels, values) for labels, values, _ in family.rows(self._question, target, self._now)]
