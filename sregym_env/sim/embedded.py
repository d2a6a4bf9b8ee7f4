"""The embedded world behind the seam: :class:`~sregym_env.cluster.forkable.Forkable` in process."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Self, get_args

import orjson

from sregym_env.cluster.disturbances import (
    DiskCorruption,
    DiskReadErrors,
    Disturbance,
    KubeletSetting,
    KubeletStopped,
    MachineLinkLoss,
    NodeDown,
    OfOnePod,
    ServiceRulesStuck,
)
from sregym_env.cluster.forkable import ScheduledAction
from sregym_env.cluster.health import Alert
from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.identity import ADMIN
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.streams import LONGEST_COMMAND, ExecResult
from sregym_env.cluster.victims import victim
from sregym_env.kube.status import StatusError
from sregym_env.runtime.clock import seconds
from sregym_env.sim import apiserver
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.machines import power
from sregym_env.sim.monitoring import alerts
from sregym_env.sim.network import addressing, service_rules
from sregym_env.sim.network.addressing import NodeSource
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.processes.exchange import as_curl
from sregym_env.sim.programs.machine import kubelet_unit, logins
from sregym_env.sim.users.traffic import SimTraffic
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.figures import failing, losing
from sregym_env.sim.world.logs import ContainerLog
from sregym_env.sim.world.shared import SharedLog
from sregym_env.sim.world.simworld import GRAIN

_EVERY_KIND = frozenset(get_args(Disturbance))


class SimNodes:
    """The machines of an embedded world."""

    __slots__ = ("_world",)

    def __init__(self, world: SimWorld) -> None:
        self._world = world

    @property
    def kinds(self) -> frozenset[type[Disturbance]]:
        """Every kind of disturbance."""
        return _EVERY_KIND

    def apply(self, disturbance: Disturbance) -> None:
        """Let a disturbance begin; one that is there already stays as it is."""
        if disturbance not in self._world.disturbances:
            self._world.disturbances = (*self._world.disturbances, disturbance)
            self._world.touch()
            lifecycle.disturbed(self._world, disturbance)
            if isinstance(disturbance, DiskReadErrors | DiskCorruption):
                self._world.memory.setdefault(failing(disturbance.node), self._world.clock)
            if isinstance(disturbance, NodeDown):
                power.cut(self._world, disturbance.node)
            if isinstance(disturbance, KubeletSetting):
                kubelet_unit.give(self._world, disturbance)
                kubelet_unit.restart(self._world, disturbance.node)
            if isinstance(disturbance, KubeletStopped):
                kubelet_unit.stop(self._world, disturbance.node)
            if isinstance(disturbance, MachineLinkLoss):
                key = losing(disturbance.node)
                spells = self._world.memory.get(key, ())
                self._world.memory[key] = (*spells, (self._world.clock, 0, disturbance.fraction))
            if isinstance(disturbance, ServiceRulesStuck):
                service_rules.leave(self._world, disturbance.node)

    def heal(self, disturbance: Disturbance) -> None:
        """Let it end. Healing what is not there does nothing."""
        left = tuple(other for other in self._world.disturbances if other != disturbance)
        if left != self._world.disturbances:
            self._world.disturbances = left
            self._world.touch()
            if isinstance(disturbance, DiskReadErrors | DiskCorruption):
                self._world.memory.pop(failing(disturbance.node), None)
            if isinstance(disturbance, NodeDown):
                power.boot(self._world, disturbance.node)
            if isinstance(disturbance, KubeletSetting):
                kubelet_unit.take_back(self._world, disturbance)
                kubelet_unit.restart(self._world, disturbance.node)
            if isinstance(disturbance, KubeletStopped):
                kubelet_unit.mark(self._world, disturbance.node, enabled=True, masked=False)
                kubelet_unit.start(self._world, disturbance.node)
            if isinstance(disturbance, MachineLinkLoss):
                key = losing(disturbance.node)
                self._world.memory[key] = tuple(
                    (begin, end or self._world.clock, share)
                    for begin, end, share in self._world.memory.get(key, ())
                )
            if isinstance(disturbance, ServiceRulesStuck):
                service_rules.resume(self._world, disturbance.node)

    def run(self, node: str, command: str, stdin: str = "", limit: float = LONGEST_COMMAND) -> ExecResult:
        """A command line in a login shell of a machine, as root; the world's time passes while it waits."""
        return logins.run(self._world, node, command, stdin, advance=self._world.advance, limit=limit)

    def addressed(self, host: str) -> str:
        """The machine that has a name or an address; empty where there is none."""
        if self._world.plan.machine(host) is not None:
            return host
        return addressing.node_at(self._world, host) or ""


class EmbeddedWorld(SimWorld):
    """A :class:`SimWorld` with the faces that tools, faults and oracles know."""

    __slots__ = ()

    @property
    def cluster(self) -> SimCluster:
        """The API as the environment's own (admin) identity."""
        return SimCluster(self, ADMIN)

    @property
    def nodes(self) -> SimNodes:
        """The machines."""
        return SimNodes(self)

    @property
    def traffic(self) -> SimTraffic:
        """The users."""
        return SimTraffic(self)

    def alerts(self) -> list[Alert]:
        """Alerts that are pending or firing now."""
        return alerts.alerts(self)

    def request(self, call: HttpCall) -> HttpExchange:
        """One HTTP request from the workstation, which stands next to the first machine and asks the cluster's DNS."""
        return as_curl(self, NodeSource(self.plan.first.name, cluster_dns=True), call)

    def watched_every(self, seconds_: float) -> None:
        """From now on users and probes are looked at so often, at most, after changes."""
        self.memory.pop(GRAIN, None)
        if seconds_ != 1.0:
            self.memory[GRAIN] = seconds(seconds_)
        if self.memory.pop("traffic.due", None):
            # The look that is due may be far away by the grain that there was.
            self.touch()

    def schedule(self, delay_seconds: float, action: ScheduledAction) -> None:
        """Let something outside the cluster happen later."""
        self.after(seconds(delay_seconds), "outside", action)

    def trial(self) -> Self:
        """A fork of which nobody reads what is written only to be read (``unread``)."""
        copy = self.fork()
        copy.unread = True
        return copy

    def account(self) -> None:
        """From now on, account is kept of the objects that requests write."""
        self.audit = ()

    def written(self) -> tuple[ObjectKey, ...] | None:
        """Objects that requests have written since account is kept of it, by (resource, namespace or "", name)."""
        return self.audit

    def digest(self) -> str:
        """A hash of everything that can influence the future or be observed."""
        hashed = blake2b(digest_size=16)
        for resource in self.store.resources():
            hashed.update(orjson.dumps([resource, self.store.list(resource)], option=orjson.OPT_SORT_KEYS))
        parts = (
            self.clock,
            [tuple(event) for event in self.queue],
            self.streams.state(),
            sorted(self.processes.items()),
            sorted(self.runtime.items()),
            sorted(self.volumes.items()),
            self.disturbances,
            sorted((key, list(log._entries)) for key, log in self.logs.items()),
            sorted((key, plain(value)) for key, value in self.memory.items() if not key.startswith("cache.")),
        )
        hashed.update(repr(parts).encode())
        return hashed.hexdigest()


def plain(value: Any) -> Any:
    """A value whose ``repr`` depends on nothing but its content."""
    if isinstance(value, SharedLog):
        return list(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    return value


def outside(world: EmbeddedWorld, action: ScheduledAction) -> None:
    """Carry out a scheduled action."""
    if action.kind == "delete_pod":
        namespace, name = action.arguments
        name = name or _pod(world, namespace, action.draw, action.spared)
        if name:
            # A webhook may refuse it; then nothing happens.
            with suppress(StatusError):
                apiserver.delete(world, "pods", namespace, name, grace=0)
        return
    disturbance = action.disturbance
    if disturbance is None:
        return
    if action.kind == "heal":
        world.nodes.heal(disturbance)
        return
    if isinstance(disturbance, OfOnePod) and not disturbance.pod:
        name = _pod(world, disturbance.namespace, action.draw, action.spared)
        if not name:
            return
        disturbance = replace(disturbance, pod=name)
    world.nodes.apply(disturbance)
    if action.seconds:
        world.schedule(action.seconds, ScheduledAction("heal", disturbance))


def _pod(world: EmbeddedWorld, namespace: str, draw: float, spared: tuple[str, ...]) -> str:
    """A pod of the namespace, or nothing if none can be struck."""
    return victim(world.app, world.store.list("pods", namespace), world.now(), draw, spared)


HANDLERS = {"outside": outside}

__all__ = ["HANDLERS", "ContainerLog", "EmbeddedWorld", "SimNodes"]
