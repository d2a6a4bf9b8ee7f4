"""What a kubelet knows about the pods of its node, as frozen values in ``world.runtime``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sregym_env.kube.types import Manifest
from sregym_env.runtime.frozen import evolve
from sregym_env.sim.world.inquiry import Read

ProbeKind = Literal["startup", "liveness", "readiness"]
Role = Literal["init", "main", "ephemeral"]

BACKING_OFF = "CrashLoopBackOff"
"""Why a container waits that is to be restarted; of one that has ended, that this is what comes next."""
NOT_STARTED = "RunContainerError"
"""Why a container waits whose command could not be executed."""
START_ERROR = "StartError"
"""How its attempt ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How one run of a container ended."""

    exit_code: int
    reason: str
    finished_at: int
    started_at: int = 0
    message: str = ""
    container_id: str = ""


@dataclass(frozen=True, slots=True)
class Pull:
    """A container's image on its way: being pulled until ``due``, or backing off until ``due``."""

    state: Literal["pulling", "failed", "backoff"]
    due: int
    started_at: int
    failures: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a kubelet remembers of one probe of a running container."""

    next_at: int
    passed: bool
    """The probe's verdict, after thresholds."""
    streak: int = 0
    """Equal results in a row: positive for successes, negative for failures."""
    epoch: int = -1
    """The world's epoch when it last ran."""
    reads: tuple[Read, ...] = field(default=(), compare=False, repr=False)
    """What its last result follows from; empty where that is not known."""
    chanced: bool = False
    """Whether chance had a part in its last result."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A container that was told to end: when it will, and why."""

    exit_at: int
    exit_code: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Container:
    """One container of a pod as its kubelet sees it."""

    name: str
    role: Role
    image: str
    """The reference in the spec when it was last started."""
    sidecar: bool = False
    state: Literal["waiting", "running", "ended"] = "waiting"
    reason: str = ""
    """Why it waits."""
    message: str = ""
    id: str = ""
    image_id: str = ""
    started_at: int = 0
    restarts: int = 0
    ended: Ended | None = None
    """How the newest run ended; None while one runs or before the first."""
    last: Ended | None = None
    """How the run before the newest ended."""
    backoff: int = 0
    """The present restart back-off, microseconds; 0 before the first restart."""
    backoff_at: int = 0
    """When it was last raised."""
    retry_at: int = 0
    """Not to be looked at again before."""
    pull: Pull | None = None
    pull_failures: int = 0
    stop: Stop | None = None
    started: bool = False
    """Whether the startup probe (if any) has passed."""
    ready: bool = False
    probes: Mapping[ProbeKind, Probe] = field(default_factory=dict)
    frozen_volumes: Mapping[str, Manifest | None] = field(default_factory=dict)
    """Volume sources as they were when the container started: what subPath mounts show."""

    @property
    def alive(self) -> bool:
        """Whether its main process runs."""
        return self.state == "running"


@dataclass(frozen=True, slots=True)
class PodRecord:
    """One pod as its kubelet sees it."""

    uid: str
    namespace: str
    name: str
    node: str
    seen_at: int
    containers: Mapping[str, Container]
    sources: Mapping[str, Manifest | None] = field(default_factory=dict)
    """The ConfigMap or Secret behind each such volume, as last synced into it."""
    refresh_at: int = 0
    """When changed ConfigMaps and Secrets reach the volumes; 0 if none has changed."""
    mounted: bool = False
    mount_failures: int = 0
    mount_retry_at: int = 0
    sandbox_at: int = 0
    ip: str = ""
    failed: tuple[str, str] | None = None
    """(reason, message) once the kubelet itself has failed the pod."""
    terminate_by: int = 0
    """When the grace period of its deletion ends; 0 while it is not being deleted."""
    initialized: bool = False
    static: Manifest | None = None
    """What a static pod's file on the node says: the kubelet puts its mirror back when somebody deletes it."""

    def with_container(self, container: Container) -> PodRecord:
        """The record with one container replaced."""
        return evolve(self, containers={**self.containers, container.name: container})
