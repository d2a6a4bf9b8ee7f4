"""The rules by which a machine forwards what is sent to Services: what its kube-proxy has written there.

As long as kube-proxy does its work they are what the API server says. One that is stuck
(:class:`~sregym_env.cluster.disturbances.ServiceRulesStuck`) leaves those of an earlier moment, until another kube-proxy
starts on the machine and writes all of them anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.store import Key

PROGRAM = "kube_proxy"
"""Name of the program that writes the rules."""
SYNC_PERIOD = 30 * SECOND
"""How often kube-proxy writes everything anew, whether anything has changed or not."""

_SERVICE_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class Left:
    """Rules that nobody keeps up."""

    since: int
    """When they were written last, microseconds."""
    writer: tuple[ProcessKey, int]
    """The process that has written them, and which run of its container that is."""
    services: tuple[Key, ...]
    """Services of which they know, in their order."""
    slices: Mapping[Key, tuple[Manifest, ...]]
    """What was behind these."""


def leave(world: SimWorld, node: str) -> None:
    """Have the kube-proxy of a machine write nothing any more. Nothing happens where none runs."""
    writer = next((_run(each) for each in _writers(world, node)), None)
    if writer is None:
        return
    slices: dict[Key, tuple[Manifest, ...]] = {}
    for piece in world.store.list("endpointslices.discovery.k8s.io"):
        metadata = piece["metadata"]
        key = (metadata["namespace"], (metadata.get("labels") or {}).get(_SERVICE_LABEL, ""))
        slices[key] = (*slices.get(key, ()), piece)
    services = tuple(
        (service["metadata"]["namespace"], service["metadata"]["name"])
        for service in world.store.list("services")
    )
    world.memory[_place(node)] = Left(world.clock, writer, services, slices)


def resume(world: SimWorld, node: str) -> None:
    """Have it write again."""
    world.memory.pop(_place(node), None)


def left(world: SimWorld, node: str) -> Left | None:
    """The rules of a machine if nobody keeps them up, else None: they say what the API server says."""
    found: Left | None = world.memory.get(_place(node))
    if found is None or any(_run(each) != found.writer for each in _writers(world, node)):
        return None
    return found


def written(world: SimWorld, process: Process) -> int:
    """When a kube-proxy wrote its rules last, microseconds."""
    found = left(world, process.node)
    if found is not None and found.writer == _run(process):
        return found.since
    return world.clock - (world.clock - process.started_at) % SYNC_PERIOD


def _writers(world: SimWorld, node: str) -> list[Process]:
    return [each for each in world.processes.values() if each.program == PROGRAM and each.node == node]


def _run(process: Process) -> tuple[ProcessKey, int]:
    return process.key, process.restart


def _place(node: str) -> str:
    return f"rules.left:{node}"
