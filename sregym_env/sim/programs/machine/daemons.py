"""The processes of a machine that are no container's: systemd, containerd, the kubelet, the time service."""

from __future__ import annotations

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.machine import kubelet_unit, records, time_service, time_tools
from sregym_env.sim.programs.machine.commands import machine_of
from sregym_env.sim.programs.process_list import Row

_COMMANDS = {
    "systemd": "/sbin/init",
    "containerd": "/usr/bin/containerd",
    "chronyd": "/usr/sbin/chronyd -F 1",
    "sshd": "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups",
    "kubelet": "/usr/bin/kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf "
    "--kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml",
}

_THREADS = {"containerd": 19, "kubelet": 21}
"""Assumed threads of those that have more than one."""
_SIZES = {"systemd": (13, 0.0004), "sshd": (9, 0.00002), "containerd": (61, 0.012), "kubelet": (96, 0.021)}
"""Mebibytes that a daemon holds, and the share of a core that it takes on the average."""


def running(ctx: ProcessContext) -> list[tuple[int, str]]:
    """Those that run, with their numbers."""
    world, node = ctx.world, ctx.process.node
    found = [(records.PIDS[name], name) for name in ("systemd", "containerd", "sshd")]
    if kubelet_unit.runs(world, node):
        found.append((records.pid_of(world, node), "kubelet"))
    if time_service.runs(world, node):
        found.append((time_tools.main_pid(world, node), time_service.DAEMON))
    return found


def rows(ctx: ProcessContext) -> list[Row]:
    """The same as ``ps`` knows them."""
    booted, now = machine_of(ctx).booted, ctx.now()
    found = []
    for pid, name in running(ctx):
        size, share = _SIZES.get(name, (3, 0.0001))
        since = booted
        if name == "kubelet":
            since = records.running_since(ctx.world, ctx.process.node)
        seconds, state = share * (now - since) / SECOND, "Ss" if pid == 1 else "Ssl"
        found.append(
            Row(
                pid,
                int(pid != 1),
                since,
                _COMMANDS[name],
                name,
                size << 20,
                seconds,
                state,
                _THREADS.get(name, 1),
                cores=share,
            )
        )
    return found
