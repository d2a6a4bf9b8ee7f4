"""Leaders: which pods elect one by which Lease, and which process holds it.

The control loop that has them elect is :mod:`sregym_env.sim.controllers.leaderelection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.machines import kubelet
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.plan import Pairs
from sregym_env.sim.world.store import Key

NAME = "leaderelection"
"""Of the control loop."""
HELD = "lease.held:"
"""Before ``namespace/name`` of a Lease, in a world's memory: the process that holds it, as (UID, container, restart)."""
CONTESTS = "lease.contests"
"""In a world's memory: every :class:`Contest` by the (namespace, name) of its Lease."""
Holder = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Contest:
    """Pods of which one leads: the one that holds a Lease."""

    namespace: str
    name: str
    """Of the Lease."""
    pods: str
    """The namespace of the pods."""
    labels: Pairs
    """Which they have."""


def contest(world: SimWorld, namespace: str, name: str, labels: Mapping[str, str], pods: str = "") -> None:
    """From now on, pods of these labels (in the Lease's namespace, or in ``pods``) elect a leader by a Lease.

    The Lease comes into being when the first of them runs.
    """
    made = Contest(namespace, name, pods or namespace, tuple(sorted(labels.items())))
    known: Mapping[Key, Contest] = world.memory.get(CONTESTS, {})
    world.memory[CONTESTS] = {**known, (namespace, name): made}
    world.wake(NAME, (namespace, name), 0)


def lose(world: SimWorld, namespace: str, name: str) -> None:
    """Let the leader miss its deadline: it exits at once, restarts, and runs for the Lease again."""
    held: Holder | None = world.memory.get(f"{HELD}{namespace}/{name}")
    if held is not None and is_running(world, held):
        kubelet.exited(world, held[:2], 1, restart=held[2])


def look(world: SimWorld) -> None:
    """Have every contest looked at: machines have gone, and their processes with them."""
    for key in world.memory.get(CONTESTS, {}):
        world.wake(NAME, key, 0)


def is_running(world: SimWorld, held: Holder) -> bool:
    """Whether a holder's process still runs."""
    process = world.processes.get(held[:2])
    return process is not None and process.restart == held[2]
