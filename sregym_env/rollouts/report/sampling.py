"""What a record does not hold: how users, components and alerts fared, seen while the episode is played again.

The embedded cluster plays bit-exactly, so an episode's record and labels are enough to look at its world after every
step. Looking changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import Any, Final

from sregym_env.cluster.api import World
from sregym_env.cluster.app import Component
from sregym_env.cluster.health import Alert
from sregym_env.envs.env import SREGymEnv
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.report.graph import drawn
from sregym_env.runtime.clock import SECOND

PAST: Final = 180.0
"""Seconds before the agent came that are shown."""
SLICE: Final = 10.0
"""Resolution of the users' health, seconds."""
SLICES: Final = 40
"""At most so many slices per step: long sleeps are shown more coarsely."""
WINDOW: Final = 5.0
"""Over how many seconds a component's health is told."""
LONG: Final = 3600.0
"""Over how many seconds it is known what a component usually serves."""
SILENT: Final = 0.05
"""Below this share of its usual rate a component is silent."""


@dataclass(slots=True)
class Samples:
    """Collects while an episode is replayed: pass :meth:`look` as the replay's ``watch``."""

    times: list[float] = field(default_factory=list)
    success: dict[str, list[float | None]] = field(default_factory=dict)
    """Of each journey's requests in the slice that ends at the time; None where there were none."""
    components: list[dict[str, list[Any]]] = field(default_factory=list)
    """Per look (before the first step, then after each): what changed, by component."""
    alerts: list[list[dict[str, Any]]] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    """Simulated seconds of each look."""
    graph: dict[str, Any] = field(default_factory=dict)
    app: str = ""
    slo: float = 1.0
    _began: int = 0
    _last: int = 0
    _usual: dict[str, float] = field(default_factory=dict)
    _seen: dict[str, list[Any]] = field(default_factory=dict)

    def look(self, env: SREGymEnv, step: int) -> None:
        """After a step, or after the reset (-1)."""
        world = env.episode.world
        if step < 0:
            self._began = world.now()
            self._last = self._began - int(PAST * SECOND)
            self.app = world.app.name
            self.slo = world.app.slo.success_ratio
            self.graph = drawn(world.app)
            self.success = {journey.name: [] for journey in world.app.journeys}
            self._usual = {each.component: each.rate for each in world.traffic.components(LONG)}
        self.ends.append(env.episode.seconds)
        self._users(world)
        self._parts(world)
        self.alerts.append([_told(alert, self._began) for alert in world.alerts()])

    def looks_at(self, record: EpisodeRecord) -> bool:
        """Whether the looks were taken at the times of the record's steps."""
        times = [0.0, *(step.sim_time_s for step in record.steps)]
        return len(times) == len(self.ends) and all(
            abs(time - end) < 1e-3 for time, end in zip(times, self.ends, strict=True)
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, without the graph, which episodes of one application share."""
        keep = _bends(list(self.success.values()), len(self.times))
        return {
            "app": self.app,
            "slo": self.slo,
            "times": [self.times[index] for index in keep],
            "journeys": [
                {"name": name, "success": [values[index] for index in keep]}
                for name, values in self.success.items()
            ],
            "components": self.components,
            "alerts": self.alerts,
        }

    def _users(self, world: World) -> None:
        now = world.now()
        passed = (now - self._last) / SECOND
        if passed <= 0:
            return
        self._last = now
        slices = min(SLICES, ceil(passed / SLICE))
        totals = [_totals(world, passed * part / slices) for part in range(slices, -1, -1)]
        for index, (older, newer) in enumerate(pairwise(totals)):
            end = (now - self._began) / SECOND - passed * (slices - 1 - index) / slices
            self.times.append(round(end, 2))
            for name, values in self.success.items():
                asked = older[name][0] - newer[name][0]
                served = older[name][1] - newer[name][1]
                values.append(round(min(1.0, max(0.0, served / asked)), 4) if asked > 1e-6 else None)

    def _parts(self, world: World) -> None:
        app = world.app
        serving = {each.component: each for each in world.traffic.components(WINDOW)}
        offered = sum(each.requests for each in world.traffic.health(WINDOW)) / WINDOW
        changed: dict[str, list[Any]] = {}
        for component in app.components:
            ready, wanted = replicas(world, component)
            now = serving.get(component.name)
            rate = now.rate if now else offered if component.kind == "load" else 0.0
            success = now.success_ratio if now and rate else None
            state = _state(ready, wanted, rate, success, self._usual.get(component.name, 0.0), self.slo)
            told = [
                state,
                round(rate, 1),
                None if success is None else round(success, 3),
                ready,
                wanted,
            ]
            if self._seen.get(component.name) != told:
                self._seen[component.name] = changed[component.name] = told
        self.components.append(changed)


def _state(ready: int, wanted: int, rate: float, success: float | None, usual: float, promised: float) -> str:
    """One word for a component's health: ``down``, ``degraded``, ``silent``, ``idle`` or ``ok``."""
    if not ready:
        return "down"
    if ready < wanted or (success is not None and success < promised):
        return "degraded"
    if usual > 0 and rate < SILENT * usual:
        return "silent"
    return "ok" if rate else "idle"


def replicas(world: World, component: Component) -> tuple[int, int]:
    """Ready and wanted pods of a component's workload; 0 of 0 where it is gone."""
    resource, namespace, name = world.app.workload_of(component.name)
    try:
        workload = world.cluster.get(resource, name, namespace)
    except StatusError:
        return 0, 0
    return _counts(workload)


def _counts(workload: Manifest) -> tuple[int, int]:
    spec, status = workload.get("spec", {}), workload.get("status", {})
    if workload["kind"] == "DaemonSet":
        return status.get("numberReady", 0), status.get("desiredNumberScheduled", 0)
    if workload["kind"] == "Job":
        return status.get("ready", 0), spec.get("parallelism", 1)
    return status.get("readyReplicas", 0), spec.get("replicas", 1)


def _totals(world: World, window: float) -> dict[str, tuple[float, float]]:
    """Requests and served requests of every journey over a window."""
    if window <= 0:
        return {journey.name: (0.0, 0.0) for journey in world.app.journeys}
    return {
        each.journey: (each.requests, each.requests * each.success_ratio)
        for each in world.traffic.health(window)
    }


def _told(alert: Alert, began: int) -> dict[str, Any]:
    return {
        "name": alert.name,
        "state": alert.state,
        "severity": alert.severity,
        "summary": alert.summary,
        "since": round((alert.active_at - began) / SECOND, 1),
    }


def _bends(series: list[list[float | None]], length: int) -> list[int]:
    """Indexes at which a line through all series would differ from one without them: flat stretches keep their ends."""

    def same(one: int, other: int) -> bool:
        return all(values[one] == values[other] for values in series)

    return [
        index
        for index in range(length)
        if index in (0, length - 1) or not (same(index - 1, index) and same(index, index + 1))
    ]
