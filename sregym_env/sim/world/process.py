"""Processes: what runs in containers, as frozen values that worlds share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ProcessKey = tuple[str, str]
"""(pod UID, container name)."""
SUBSCRIPTION = "subscription"
"""What a process has under this name in its state whom somebody gives work to over a connection that it has opened itself, and
misses while that is gone: its program's ``attend`` is asked whenever users are looked at."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory or file that a volume puts into a container."""

    path: str
    volume: str
    """Name of the volume in the pod spec."""
    kind: Literal["configmap", "secret", "projected", "downward", "emptydir", "pvc", "hostpath"]
    source: str = ""
    """ConfigMap or Secret name, PersistentVolume name, or host path."""
    sub_path: str = ""
    read_only: bool = False
    items: tuple[tuple[str, str], ...] = ()
    """For ConfigMaps and Secrets: (key, relative path); empty for every key under its own name."""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Process:
    """The main process of a running container."""

    key: ProcessKey
    namespace: str
    pod: str
    container: str
    node: str
    ip: str
    host_network: bool
    hostname: str
    image: str
    binary: str
    """Name of the executable in the image."""
    program: str
    """Which simulated program it is (a key of the program registry)."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    mounts: tuple[Mount, ...]
    cpu_limit: float | None
    """Cores, or None for no limit."""
    memory_limit: int | None
    """Bytes, or None for no limit."""
    restart: int
    """The container's restart count when it started."""
    started_at: int
    listening: tuple[int, ...] = ()
    """TCP ports on which it accepts connections."""
    memory: int = 0
    """Resident memory, bytes."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """The program's own state: immutable values only."""
    stdin: bool = False
    """Whether its standard input is held open for people who attach."""
    tty: bool = False
    """Whether it has a terminal."""
    open_files: int = 0
    """Files that it may have open at most; 0 where it has as many as containerd gives it."""
