"""The kubelets: one control loop for the pods of all nodes.

What other parts of the simulation need is here: :func:`exited` when a process ends by itself,
:func:`mounted` for what a process reads from ConfigMap and Secret volumes, the controller and the handlers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sregym_env.runtime.clock import seconds
from sregym_env.sim.kubelet import eviction, probes
from sregym_env.sim.kubelet.pods import CONTROLLER, forget, wake_node
from sregym_env.sim.kubelet.state import PodRecord
from sregym_env.sim.kubelet.sync import ended
from sregym_env.sim.kubelet.volumes import mounted
from sregym_env.sim.process import ProcessKey

if TYPE_CHECKING:
    from sregym_env.sim.world import Handler, SimWorld

RELIST = seconds(0.5)
"""How long until the kubelet notices an exit: half its PLEG relist period of 1 s."""


def exited(
    world: SimWorld,
    key: ProcessKey,
    code: int,
    reason: str = "",
    restart: int | None = None,
    message: str = "",
) -> None:
    """A container's main process has ended by itself (or the kernel has killed it).

    With ``restart`` given, an exit of an earlier run is ignored. ``reason`` is ``Completed`` or ``Error`` by
    exit code unless given (``OOMKilled``).
    """
    uid, name = key
    record = world.runtime.get(uid)
    container = None if record is None else record.containers.get(name)
    if record is None or container is None or not container.alive:
        world.drop_process(key)
        return
    if restart is not None and restart != container.restarts:
        return
    ended(world, record, container, code, reason, message)
    world.wake("kubelet", (record.namespace, record.name), RELIST)


def _look(world: SimWorld) -> None:
    """Something has changed: probe again what was settled, and look at the nodes' memory."""
    probes.wake_settled(world)
    eviction.look(world)


HANDLERS: Mapping[str, Handler] = {"kubelet.look": _look}
"""``kubelet.look`` is queued by the world within a second of any change (``SimWorld.touch``)."""

__all__ = ["CONTROLLER", "HANDLERS", "PodRecord", "exited", "forget", "mounted", "wake_node"]
