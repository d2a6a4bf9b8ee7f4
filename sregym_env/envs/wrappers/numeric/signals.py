"""From objects and traffic to numbers: what each component looks like from outside, all within 0 and 1.

The numbers are measurements: nothing here knows which fault was made, or what a healthy value of a field is beyond
what the application's own manifests declare and its users are promised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from sregym_env.cluster.api import World
from sregym_env.cluster.app import SLO, App
from sregym_env.cluster.health import ComponentHealth, JourneyHealth
from sregym_env.envs.wrappers.numeric.scene import Parts, Scene, components_of
from sregym_env.kube.types import Manifest

WINDOW_SECONDS = 15.0
"""Simulated seconds of traffic that rates, ratios and latencies are means over."""

FEATURES = (
    "workload",
    "desired",
    "ready",
    "pending",
    "image_waiting",
    "config_waiting",
    "crashing",
    "initialising",
    "restarts",
    "oom_killed",
    "service",
    "endpoints",
    "listening",
    "policies",
    "served",
    "rate",
    "success",
    "latency",
)
"""What is told of every component.

Whether its workload exists; replicas asked for and replicas ready, as shares of what the application declares (2 counts
as 1 of ``desired``); shares of its pods that wait for a node, for an image, for a configuration object, to be started
again after a crash, or for an init container; restarts; pods whose last end was for lack of memory; whether its Service
exists, has ready endpoints, and leads to ports that its containers declare; whether network policies select its pods;
whether it was asked anything lately, and if so how often, with what share of good answers and how slowly.
"""

_IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})
_CONFIG = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
_CRASH = frozenset({"CrashLoopBackOff", "Error"})

_MANY_RESTARTS = 30.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each number of an observation stands: the same for every problem of an application."""

    components: tuple[str, ...]
    features: tuple[str, ...]
    """Of every component."""
    rest: tuple[str, ...]
    """What belongs to no component."""

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.components) * len(self.features) + len(self.rest)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each number, such as ``frontend.ready``, in the observation's order."""
        inner = (f"{component}.{feature}" for component in self.components for feature in self.features)
        return (*inner, *self.rest)

    def split(self, observation: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """An observation as a table (components by features) and the rest."""
        inner = len(self.components) * len(self.features)
        return observation[:inner].reshape(len(self.components), len(self.features)), observation[inner:]


EPISODE_FEATURES = ("time", "commands", "diagnosed")
"""Shares of the simulated time and of the commands that are used up; whether a diagnosis has been handed in."""


def layout_of(app: App) -> Layout:
    """The layout of an application's observations."""
    journeys = (f"users.{each.name}.{what}" for each in app.journeys for what in ("success", "latency"))
    return Layout(tuple(each.name for each in components_of(app)), FEATURES, (*journeys, *EPISODE_FEATURES))


def measure(
    world: World, scene: Scene, sizes: Mapping[str, int], episode: Sequence[float]
) -> NDArray[np.float32]:
    """The numbers of a moment, in their layout's order.

    ``sizes``: how many replicas the application declares, by component; ``episode``: how far the episode is.
    """
    app = world.app
    traffic = {health.component: health for health in world.traffic.components(WINDOW_SECONDS)}
    numbers: list[float] = []
    for name, parts in scene.parts.items():
        numbers += _workload(parts, max(sizes.get(name, 1), 1))
        numbers += _pods(parts)
        numbers += _reachable(parts)
        numbers += _traffic(app, traffic.get(name))
    journeys = {health.journey: health for health in world.traffic.health(WINDOW_SECONDS)}
    for journey in app.journeys:
        numbers += _journey(app, journeys.get(journey.name))
    numbers += episode
    return np.clip(np.asarray(numbers, dtype=np.float32), 0.0, 1.0)


def _journey(app: App, health: JourneyHealth | None) -> list[float]:
    # Users who are not there are not served.
    if health is None or health.requests <= 0.0:
        return [0.0, 1.0]
    return [health.success_ratio, _slowness(app.slo.of(health.journey), health.latency_seconds)]


def _workload(parts: Parts, replicas: int) -> list[float]:
    if parts.workload is None:
        return [0.0, 0.0, 0.0]
    spec, status = parts.workload["spec"], parts.workload.get("status") or {}
    # A DaemonSet has no replicas of its own: as many as there are nodes for it.
    asked = spec.get("replicas", status.get("desiredNumberScheduled", 1))
    ready = status.get("readyReplicas", status.get("numberReady", 0))
    return [1.0, asked / (2.0 * replicas), ready / replicas]


def _pods(parts: Parts) -> list[float]:
    pods = parts.pods
    if not pods:
        return [0.0] * 7
    reasons = [_waiting(pod) for pod in pods]
    count = float(len(pods))
    return [
        sum(_unscheduled(pod) for pod in pods) / count,
        sum(bool(_IMAGE & each) for each in reasons) / count,
        sum(bool(_CONFIG & each) for each in reasons) / count,
        sum(bool(_CRASH & each) for each in reasons) / count,
        sum(_initialising(pod) for pod in pods) / count,
        log1p(sum(_restarts(pod) for pod in pods)) / log1p(_MANY_RESTARTS),
        sum(_out_of_memory(pod) for pod in pods) / count,
    ]


def _reachable(parts: Parts) -> list[float]:
    service = parts.service
    if service is None:
        return [0.0, 0.0, 0.0, float(bool(parts.policies))]
    subsets = (parts.endpoints or {}).get("subsets") or ()
    ready = any(subset.get("addresses") for subset in subsets)
    ports = service["spec"].get("ports") or ()
    open_ports = [port for port in ports if port.get("targetPort", port["port"]) in parts.listening]
    return [1.0, float(ready), len(open_ports) / max(len(ports), 1), float(bool(parts.policies))]


def _traffic(app: App, health: ComponentHealth | None) -> list[float]:
    if health is None or health.rate <= 0.0:
        return [0.0, 0.0, 0.0, 0.0]
    rate = log1p(health.rate) / log1p(10.0 * max(app.rate, 1.0))
    return [1.0, rate, health.success_ratio, _slowness(app.slo, health.latency_seconds)]


def _slowness(slo: SLO, seconds: float) -> float:
    """0 for at once, one half for what users are promised, towards 1 for ever."""
    return seconds / (seconds + slo.latency_seconds)


def _statuses(pod: Manifest, kind: str = "containerStatuses") -> list[Manifest]:
    return (pod.get("status") or {}).get(kind) or []


def _waiting(pod: Manifest) -> frozenset[str]:
    """Why containers of a pod wait or have just ended."""
    states = [each.get("state") or {} for each in _statuses(pod)]
    return frozenset(
        state[kind].get("reason", "")
        for state in states
        for kind in ("waiting", "terminated")
        if kind in state
    )


def _unscheduled(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") == "Pending" and not pod["spec"].get("nodeName")


def _initialising(pod: Manifest) -> bool:
    return any(
        "terminated" not in (each.get("state") or {}) for each in _statuses(pod, "initContainerStatuses")
    )


def _restarts(pod: Manifest) -> int:
    return sum(int(each.get("restartCount", 0)) for each in _statuses(pod))


def _out_of_memory(pod: Manifest) -> bool:
    return any(
        (each.get(kind) or {}).get("terminated", {}).get("reason") == "OOMKilled"
        for each in _statuses(pod)
        for kind in ("state", "lastState")
    )
