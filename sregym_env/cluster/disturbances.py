"""Changes of physics: what can go wrong with disks, links and kernels, below the Kubernetes API.

A disturbance is a frozen value; two equal disturbances are one. Where a real tool would inject it with a
kernel probe or a traffic shaper, the embedded cluster's machines simply behave so.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DiskReadErrors:
    """A share of the reads from a node's data disk fail with an input/output error."""

    node: str
    fraction: float = 0.3


@dataclass(frozen=True, slots=True)
class DiskCorruption:
    """A share of the reads from a node's data disk bring other bytes than were written, and the disk says nothing of it."""

    node: str
    fraction: float = 0.3


@dataclass(frozen=True, slots=True)
class LinkDelay:
    """Packets of one pod are delayed."""

    namespace: str
    pod: str
    seconds: float = 0.5
    jitter_seconds: float = 0.2


@dataclass(frozen=True, slots=True)
class LinkLoss:
    """A share of one pod's packets is lost."""

    namespace: str
    pod: str
    fraction: float = 0.5


@dataclass(frozen=True, slots=True)
class PodFreeze:
    """The processes of one pod stop answering, as if paused."""

    namespace: str
    pod: str


@dataclass(frozen=True, slots=True)
class LoadSurge:
    """An application's users want more (or less) than usual."""

    namespace: str
    """Where its load is made."""
    factor: float = 3.0
    """Times the usual rate of requests."""
    crowd: bool = False
    """Whether it is made by as many times the users, each with connections of their own, and not by those who are always there."""


@dataclass(frozen=True, slots=True)
class NodeDown:
    """A machine has no power: nothing runs on it, and its kubelet says nothing, until it is healed."""

    node: str


@dataclass(frozen=True, slots=True)
class KubeletSetting:
    """Somebody has given a machine's kubelet another setting, and started it anew."""

    node: str
    key: str
    """Where in its configuration, parts after slashes, or a flag (``--container-runtime``)."""
    value: str | int | bool


@dataclass(frozen=True, slots=True)
class KubeletStopped:
    """Somebody has stopped a machine's kubelet; what runs there goes on."""

    node: str


@dataclass(frozen=True, slots=True)
class MachineLinkLoss:
    """A share of the packets that enter or leave a machine is lost on the way; what stays on it is not."""

    node: str
    fraction: float = 0.3


@dataclass(frozen=True, slots=True)
class MachinePathLimit:
    """Between a machine and the others packets larger than so many bytes are lost, and nobody is told: the messages by which
    a sender would learn of it are dropped as well."""

    node: str
    bytes: int = 1460


@dataclass(frozen=True, slots=True)
class ServiceRulesStuck:
    """A machine's kube-proxy follows the API server no more: its rules stay as they are until it starts anew."""

    node: str


@dataclass(frozen=True, slots=True)
class RegistryLogin:
    """A registry outside the cluster knows a login from now on, or does no more."""

    host: str
    login: str
    """``user:password``."""
    known: bool = True


OfOnePod = LinkDelay | LinkLoss | PodFreeze
"""Disturbances that strike a pod."""

Disturbance = (
    DiskCorruption
    | DiskReadErrors
    | KubeletSetting
    | KubeletStopped
    | LinkDelay
    | LinkLoss
    | LoadSurge
    | MachineLinkLoss
    | MachinePathLimit
    | NodeDown
    | PodFreeze
    | RegistryLogin
    | ServiceRulesStuck
)

OF_MACHINES = (DiskCorruption, DiskReadErrors, KubeletSetting, KubeletStopped, NodeDown, ServiceRulesStuck)
"""Those that strike a machine and no pod, and in which chance has no part for who does not read its disk."""
