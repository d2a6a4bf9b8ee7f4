"""What is mounted where a process looks: on its machine, or in its container. ``mount`` and /proc/mounts print it, ``df`` measures it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.shell import Shell
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.machine.commands import machine_of
from sregym_env.sim.programs.machine.system import OnMachine
from sregym_env.sim.world import disks

_MEMORY = 64 << 20
"""Bytes of a file system in memory."""
_IN_MEMORY, _READ_ONLY = ("secret", "projected"), ("configmap", "secret", "projected")
"""Volumes that lie there, and those into which nobody can write."""


class Mounted(NamedTuple):
    """A file system as a process sees it."""

    device: str
    path: str
    kind: str
    options: str
    size: int = 0
    """Bytes, of those the ones that are free, and of these the ones that others than root may use; none of what holds nothing or lies
    on the machine's own disk."""
    free: int = 0
    available: int = 0


def seen(ctx: ProcessContext) -> list[Mounted]:
    """What a process sees, in the order in which it was mounted: who has the machine's root, the machine's."""
    ctx.unnoted()
    return _of_machine(ctx) if isinstance(ctx, OnMachine) else _of_container(ctx)


def _of_container(ctx: ProcessContext) -> list[Mounted]:
    mine = ctx.process.mounts
    found = [Mounted("overlay", "/", "overlay", "rw,relatime"), *_CONTAINED]
    for mount in mine:
        mode = "ro" if mount.read_only or mount.kind in _READ_ONLY else "rw"
        if mount.kind == "hostpath" and not mount.source.strip("/"):
            # With all that is mounted on the machine.
            root = mount.path.rstrip("/")
            found += [each._replace(path=f"{root}{each.path}".rstrip("/")) for each in _of_machine(ctx)]
        elif mount.kind in _IN_MEMORY:
            found.append(Mounted("tmpfs", mount.path, "tmpfs", f"{mode},relatime", _MEMORY, _MEMORY, _MEMORY))
        else:
            found.append(Mounted(disks.ROOT_DEVICE, mount.path, "ext4", f"{mode},relatime"))
    if not any(mount.path == "/etc/hosts" for mount in mine):
        found.append(Mounted(disks.ROOT_DEVICE, "/etc/hosts", "ext4", "rw,relatime"))
    return found


def measured(ctx: ProcessContext) -> list[Mounted]:
    """What of it holds anything, with its size: what lies on the machine's own disk has that one's."""
    each = machine_of(ctx)
    left = int(disks.for_users(disks.ROOT, each.disk_free)) // _BLOCK * _BLOCK
    return [
        one._replace(size=each.disk, free=each.disk_free, available=left) if one.device in _ON_DISK else one
        for one in seen(ctx)
        if one.size or one.device in _ON_DISK
    ]


_ON_DISK = ("overlay", disks.ROOT_DEVICE)
_BLOCK = 4096
_CONTAINED = (
    Mounted("proc", "/proc", "proc", "rw,nosuid,nodev,noexec,relatime"),
    Mounted("sysfs", "/sys", "sysfs", "ro,nosuid,nodev,noexec,relatime"),
    Mounted("cgroup", "/sys/fs/cgroup", "cgroup2", "ro,nosuid,nodev,noexec,relatime"),
    Mounted("tmpfs", "/dev", "tmpfs", "rw,nosuid,size=65536k,mode=755", _MEMORY, _MEMORY, _MEMORY),
)


def _of_machine(ctx: ProcessContext) -> list[Mounted]:
    found = []
    for each in disks.MOUNTED:
        free = each.size - each.used
        left = int(disks.for_users(each, free)) // _BLOCK * _BLOCK
        options = disks.options(ctx.world, ctx.process.node, each)
        found.append(Mounted(each.device, each.path, each.kind, options, each.size, free, left))
    return found


def table(ctx: ProcessContext) -> str:
    """/proc/mounts."""
    return "".join(f"{each.device} {each.path} {each.kind} {each.options} 0 0\n" for each in seen(ctx))


def mount(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``mount``, ``mount -t KIND``: what is mounted."""
    words = list(argv[1:])
    wanted = next((words[at + 1].split(",") for at, word in enumerate(words[:-1]) if word == "-t"), None)
    return ExecResult(
        "".join(
            f"{each.device} on {each.path} type {each.kind} ({each.options})\n"
            for each in seen(ctx)
            if wanted is None or each.kind in wanted
        )
    )
