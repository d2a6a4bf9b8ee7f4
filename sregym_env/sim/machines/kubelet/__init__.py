"""The kubelets: one control loop for the pods of all nodes.

What other parts of the simulation need is here: :func:`exited` when a process ends by itself,
:func:`mounted` for what a process reads from ConfigMap and Secret volumes, the controller and the handlers.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.runtime.clock import seconds
from sregym_env.sim.containers import pids, spooling
from sregym_env.sim.containers.volumes import mounted
from sregym_env.sim.machines.kubelet import eviction, probes, reboots
from sregym_env.sim.machines.kubelet.pods import CONTROLLER, forget, wake_node
from sregym_env.sim.machines.kubelet.state import Container, PodRecord
from sregym_env.sim.machines.kubelet.sync import ended
from sregym_env.sim.world import Handler, SimWorld, wallclock
from sregym_env.sim.world.process import ProcessKey

RELIST = seconds(0.5)
"""How long until the kubelet notices an exit: half its PLEG relist period of 1 s."""
LOG_TAIL, LOG_TAIL_LINES = 2048, 80
"""Bytes and lines of the log that may become a termination message (``MaxContainerTerminationMessageLogLength``)."""


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
    ended(world, record, container, code, reason, message or _last_words(world, record, container, code))
    world.wake("kubelet", (record.namespace, record.name), RELIST)


def _last_words(world: SimWorld, record: PodRecord, container: Container, code: int) -> str:
    """The end of the log, where the container asks for it as its termination message."""
    pod = world.store.get("pods", record.namespace, record.name)
    if code == 0 or pod is None:
        return ""
    wanted = any(
        spec["name"] == container.name and spec.get("terminationMessagePolicy") == "FallbackToLogsOnError"
        for spec in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ()))
    )
    log = world.logs.get((record.uid, container.name, container.restarts))
    if not wanted or log is None:
        return ""
    shown = wallclock.reader(world, record.node)
    lines = log.read(world.clock, limit=LOG_TAIL_LINES, shown=shown)
    return "".join(f"{line.text}\n" for line in lines)[-LOG_TAIL:]


def _look(world: SimWorld) -> None:
    """Something has changed: probe again what was settled, and look at what the nodes have left."""
    pids.look(world)
    probes.wake_settled(world)
    eviction.look(world)


def _exit(world: SimWorld, key: ProcessKey, restart: int, code: int, reason: str) -> None:
    process = world.processes.get(key)
    if process is not None and process.restart == restart:
        exited(world, key, code, reason, restart=restart)


PROBER = probes.CONTROLLER
"""The control loop that repeats probes of which nothing but the same is expected."""

HANDLERS: Mapping[str, Handler] = {
    "kubelet.look": _look,
    spooling.TURN: spooling.turn,
    pids.TURN: pids.turn,
    "program.exit": _exit,
    "runtime.sandbox": reboots.sandbox_stopped,
}
"""``kubelet.look`` is queued by the world within a second of any change (``SimWorld.touch``)."""

__all__ = ["CONTROLLER", "HANDLERS", "PodRecord", "exited", "forget", "mounted", "wake_node"]
