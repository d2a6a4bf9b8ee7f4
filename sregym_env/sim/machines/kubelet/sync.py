"""One look of a kubelet at one pod: the working context that the steps share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from sregym_env.kube.types import Manifest
from sregym_env.runtime.frozen import evolve
from sregym_env.sim.apiserver import events
from sregym_env.sim.machines.kubelet.state import Container, Ended, PodRecord
from sregym_env.sim.world import SimWorld


class Sync:
    """A pod under a kubelet's eyes at one instant.

    The record is always read from and written to the world, because starting a program may call back into
    the kubelet. ``due`` collects when to look again.
    """

    __slots__ = ("due", "pod", "uid", "world")

    def __init__(self, world: SimWorld, pod: Manifest) -> None:
        self.world = world
        self.pod = pod
        self.uid: str = pod["metadata"]["uid"]
        self.due: int | None = None

    @property
    def record(self) -> PodRecord:
        """The kubelet's knowledge of the pod."""
        found: PodRecord = self.world.runtime[self.uid]
        return found

    @record.setter
    def record(self, record: PodRecord) -> None:
        self.world.runtime[self.uid] = record

    @property
    def now(self) -> int:
        """The present, microseconds."""
        return self.world.clock

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec."""
        found: Mapping[str, Any] = self.pod["spec"]
        return found

    def container(self, name: str) -> Container:
        """What is known of one container."""
        return self.record.containers[name]

    def put(self, container: Container) -> Container:
        """Remember a container's new state."""
        self.record = self.record.with_container(container)
        return container

    def look_again(self, at: int) -> None:
        """Have the pod looked at again at an instant, at the latest."""
        if self.due is None or at < self.due:
            self.due = at

    def event(
        self,
        type: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        container: Container | None = None,
    ) -> None:
        """Say something about the pod, or about one of its containers."""
        path = "" if container is None else _FIELD_PATHS[container.role].format(container.name)
        events.record(
            self.world,
            self.pod,
            type,
            reason,
            message,
            component="kubelet",
            host=self.record.node,
            field_path=path,
        )

    def chance(self, low: float, high: float) -> float:
        """The next number in [low, high) of this node's own stream."""
        return self.world.streams.uniform(f"kubelet:{self.record.node}", low, high)


_FIELD_PATHS = {
    "init": "spec.initContainers{{{}}}",
    "main": "spec.containers{{{}}}",
    "ephemeral": "spec.ephemeralContainers{{{}}}",
}


def ended(
    world: SimWorld, record: PodRecord, container: Container, code: int, reason: str, message: str = ""
) -> Container:
    """Note that a container's main process is gone: no process, no open log lines, a terminated state."""
    world.drop_process((record.uid, container.name))
    log = (record.uid, container.name, container.restarts)
    if log in world.logs and not world.unread:
        world.log(log).close(world.clock)
    gone = evolve(
        container,
        state="ended",
        reason="",
        message="",
        ready=False,
        started=False,
        stop=None,
        probes={},
        ended=Ended(
            exit_code=code,
            reason=reason or ("Completed" if code == 0 else "Error"),
            finished_at=world.clock,
            started_at=container.started_at,
            message=message,
            container_id=container.id,
        ),
    )
    world.runtime[record.uid] = record.with_container(gone)
    return gone
