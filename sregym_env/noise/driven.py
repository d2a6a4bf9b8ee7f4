"""Noise on a world that cannot be told what comes later: the environment makes it whenever time passes.

A :class:`DrivenWorld` is the world it stands for, except that its time stops at every disturbance that is due, to let
it begin or end. Time that passes by itself, as on a real cluster while an agent thinks, is made up for at the next
call.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any, cast

from sregym_env.cluster.api import Cluster, Nodes, Traffic, World
from sregym_env.cluster.app import App
from sregym_env.cluster.disturbances import Disturbance, OfOnePod
from sregym_env.cluster.forkable import ScheduledAction
from sregym_env.cluster.health import Alert
from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.identity import User
from sregym_env.cluster.telemetry import Telemetry
from sregym_env.cluster.victims import victim
from sregym_env.kube.status import StatusError
from sregym_env.runtime.clock import SECOND


class DrivenWorld:
    """A world with disturbances to come."""

    def __init__(self, world: World, plan: Iterable[tuple[float, ScheduledAction]]) -> None:
        """``plan`` says in how many seconds from now what happens."""
        self._world = world
        self._due: list[tuple[int, int, ScheduledAction]] = []
        self._count = 0
        for delay, action in plan:
            self._push(delay, action)

    @property
    def app(self) -> App:
        """The deployed application."""
        return self._world.app

    @property
    def cluster(self) -> Cluster:
        """The API as the environment's own (admin) identity."""
        return cast(Cluster, _DrivenCluster(self._world.cluster, self))

    @property
    def nodes(self) -> Nodes:
        """The machines."""
        return self._world.nodes

    @property
    def traffic(self) -> Traffic:
        """The users."""
        return self._world.traffic

    @property
    def telemetry(self) -> Telemetry:
        """Metrics, logs and traces."""
        return self._world.telemetry

    def alerts(self) -> list[Alert]:
        """Alerts that are pending or firing now."""
        return self._world.alerts()

    def request(self, call: HttpCall) -> HttpExchange:
        """One HTTP request from the workstation."""
        return self._world.request(call)

    def now(self) -> int:
        """The world's time."""
        return self._world.now()

    def advance(self, seconds: float) -> None:
        """Let time pass, with what is due meanwhile."""
        until = self.now() + round(seconds * SECOND)
        while self._due and self._due[0][0] <= until:
            time, _, action = heappop(self._due)
            self._wait(time)
            self._carry_out(action)
        self._wait(until)

    def quiet(self) -> None:
        """End every disturbance that has begun, and let no further one come."""
        for _, _, action in self._due:
            if action.kind == "heal" and action.disturbance is not None:
                self._world.nodes.heal(action.disturbance)
        self._due.clear()

    def _wait(self, until: int) -> None:
        left = until - self.now()
        if left > 0:
            self._world.advance(left / SECOND)

    def _push(self, delay: float, action: ScheduledAction) -> None:
        # Actions cannot be compared; the number keeps those that are due at once in their order.
        self._count += 1
        heappush(self._due, (self.now() + round(delay * SECOND), self._count, action))

    def _carry_out(self, action: ScheduledAction) -> None:
        if action.kind == "delete_pod":
            namespace, name = action.arguments
            self._delete_pod(namespace, name, action.draw, action.spared)
        elif action.disturbance is None:
            return
        elif action.kind == "heal":
            self._world.nodes.heal(action.disturbance)
        elif (chosen := self._on_a_pod(action.disturbance, action.draw, action.spared)) is not None:
            self._world.nodes.apply(chosen)
            if action.seconds:
                self._push(action.seconds, ScheduledAction("heal", chosen))

    def _delete_pod(self, namespace: str, name: str, draw: float, spared: tuple[str, ...]) -> None:
        name = name or self._pod(namespace, draw, spared)
        if name:
            # It may be gone by now, or a webhook may refuse it; then nothing happens.
            with suppress(StatusError):
                self._world.cluster.delete("pods", name, namespace, grace_period_seconds=0)

    def _on_a_pod(self, disturbance: Disturbance, draw: float, spared: tuple[str, ...]) -> Disturbance | None:
        """The disturbance with the pod filled in where it names none; None if there is no pod."""
        if not isinstance(disturbance, OfOnePod) or disturbance.pod:
            return disturbance
        name = self._pod(disturbance.namespace, draw, spared)
        return replace(disturbance, pod=name) if name else None

    def _pod(self, namespace: str, draw: float, spared: tuple[str, ...]) -> str:
        """A pod of the namespace, or nothing if none can be struck."""
        pods = self._world.cluster.list("pods", namespace)
        return victim(self._world.app, pods, self.now(), draw, spared)


class _DrivenCluster:
    """A cluster whose waiting goes through the driven world; everything else is the cluster's own."""

    def __init__(self, cluster: Cluster, world: DrivenWorld) -> None:
        self._cluster = cluster
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    def as_user(self, user: User) -> Cluster:
        """The same cluster through another identity's eyes."""
        return cast(Cluster, _DrivenCluster(self._cluster.as_user(user), self._world))

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._world.advance(seconds)
