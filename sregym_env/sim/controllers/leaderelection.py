"""Leader election: which of several processes holds a Lease, and who takes it when that one is gone.

Of client-go's ``tools/leaderelection`` with its defaults. The renewals of a holder that lives are no events
(:mod:`~sregym_env.sim.machines.renewals`); winning and losing are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sregym_env.kube.durations import parse_rfc3339, rfc3339_micro
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.machines import renewals
from sregym_env.sim.machines.leaders import CONTESTS, HELD, NAME, Contest, Holder, is_running
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.store import Change, Key

DURATION = 15
"""Seconds that a lost Lease still stands (``--leader-elect-lease-duration``)."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Keep one Lease with a process that runs; microseconds until it may be taken, if it may not yet."""
    wanted: Contest | None = world.memory.get(CONTESTS, {}).get(key)
    if wanted is None:
        return None
    slot = f"{HELD}{key[0]}/{key[1]}"
    held: Holder | None = world.memory.get(slot)
    lease = world.store.get(renewals.LEASES, *key)
    if held is not None:
        if is_running(world, held):
            if lease is None:
                _write(world, wanted, world.processes[held[:2]], None)
            return None
        del world.memory[slot]
        if lease is not None:
            _leave(world, lease)
            return DURATION * SECOND
    if lease is not None:
        free = parse_rfc3339(lease["spec"]["renewTime"]) + DURATION * SECOND
        if free > world.now():
            return free - world.now()
    runner = _runner(world, wanted)
    if runner is None:
        return None
    world.memory[slot] = (*runner.key, runner.restart)
    _write(world, wanted, runner, lease)
    return None


def _leave(world: SimWorld, lease: Manifest) -> None:
    """The last renewal is one that nobody repeats."""
    renewed = world.now()
    pace = world.store.pace
    if pace is not None:
        last = renewals.last(world, pace, lease, renewed)
        renewed = renewed if last is None else last.time
    spec = {**lease["spec"], "renewTime": rfc3339_micro(renewed)}
    apiserver.update(world, renewals.LEASES, {**lease, "spec": spec})


def _runner(world: SimWorld, wanted: Contest) -> Process | None:
    """The process that wins: any of them, but always the same one of the same."""
    running = [
        process
        for pod in world.store.list("pods", wanted.pods)
        if _fits(wanted, pod)
        and (process := world.processes.get((pod["metadata"]["uid"], pod["spec"]["containers"][0]["name"])))
    ]
    draw = world.plan.bits
    return min(
        running, key=lambda process: draw("wins", wanted.name, *process.key, process.restart), default=None
    )


def _write(world: SimWorld, wanted: Contest, process: Process, lease: Manifest | None) -> None:
    now = rfc3339_micro(world.now())
    known = {} if lease is None else lease["spec"]
    host = process.node if process.host_network else process.pod
    identity = world.plan.identity("holder", wanted.namespace, wanted.name, *process.key, process.restart)
    spec: dict[str, Any] = {
        "acquireTime": now,
        "holderIdentity": f"{host}_{identity}",
        "leaseDurationSeconds": DURATION,
        "leaseTransitions": 0 if lease is None else known.get("leaseTransitions", 0) + 1,
        "renewTime": now,
    }
    if lease is not None:
        apiserver.update(world, renewals.LEASES, {**lease, "spec": spec})
        return
    metadata = {"name": wanted.name, "namespace": wanted.namespace}
    made = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
    apiserver.create(world, renewals.LEASES, made)


def _fits(wanted: Contest, pod: Manifest) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in wanted.labels)


def _contested(world: SimWorld, change: Change) -> Iterable[Key]:
    contests: Mapping[Key, Contest] | None = world.memory.get(CONTESTS)
    if not contests:
        return ()
    pod = change.object
    return [key for key, wanted in contests.items() if wanted.pods == change.key[0] and _fits(wanted, pod)]


def _deleted(_: SimWorld, change: Change) -> Iterable[Key]:
    return (change.key,) if change.new is None else ()


CONTROLLER = Controller(NAME, {"pods": _contested, renewals.LEASES: _deleted}, retried(NAME, reconcile))
