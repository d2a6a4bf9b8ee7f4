"""The file systems of a machine that hold anything: their devices, sizes and places, the same for all who tell of them.

``df``, ``mount``, ``lsblk``, /proc/mounts, the kernel's messages and node-exporter read them here.
"""

from __future__ import annotations

from typing import NamedTuple

from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.figures import FOR_USERS, read_only

ROOT_DISK, BOOT_DISK = "nvme1n1", "nvme0n1"
"""The disk with all that a machine keeps, and the small one that it starts from."""
ROOT_DEVICE, BOOT_DEVICE = f"/dev/{ROOT_DISK}p1", f"/dev/{BOOT_DISK}p1"
BOOT_DISK_SIZE = 8 << 30
PER_INODE = 16 << 10
"""Bytes of a disk for each inode that its file system was made with."""
PER_FILE = 45 << 10
"""Bytes of what is on it for each file."""


class FileSystem(NamedTuple):
    """One that is mounted on a machine."""

    device: str
    path: str
    kind: str
    options: str
    size: int = 0
    """Bytes; 0 where that is the machine's own matter: of the root file system, and of those that hold nothing."""
    used: int = 0

    @property
    def holds(self) -> bool:
        """Whether it holds files of anybody."""
        return self.kind in ("ext4", "tmpfs")


ROOT = FileSystem(ROOT_DEVICE, "/", "ext4", "relatime,errors=remount-ro")
"""Its size is the machine's ``ephemeral-storage``."""
BOOT = FileSystem(BOOT_DEVICE, "/boot", "ext4", "relatime", 8_350_298_112, 371_159_040)
RUN = FileSystem(
    "tmpfs", "/run", "tmpfs", "nosuid,nodev,noexec,relatime,size=65536k,mode=755", 64 << 20, 2_134_016
)
_SYSTEM = (
    FileSystem("sysfs", "/sys", "sysfs", "nosuid,nodev,noexec,relatime"),
    FileSystem("proc", "/proc", "proc", "nosuid,nodev,noexec,relatime"),
)
_GROUPS = FileSystem("cgroup2", "/sys/fs/cgroup", "cgroup2", "nosuid,nodev,noexec,relatime")
MOUNTED = (*_SYSTEM, RUN, ROOT, BOOT, _GROUPS)
"""What is mounted on every machine, in the order in which it was."""
MEASURED = tuple(each for each in MOUNTED if each.holds)
"""Of which node-exporter tells."""


def options(world: SimWorld, node: str, each: FileSystem) -> str:
    """How one is mounted now: a root file system that has failed, read-only."""
    mode = "ro" if each is ROOT and read_only(node) in world.memory else "rw"
    return f"{mode},{each.options}"


def for_users(each: FileSystem, free: float) -> float:
    """What of its free space is there for others than root."""
    return free * FOR_USERS if each.kind == "ext4" else free
