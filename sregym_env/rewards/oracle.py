"""The state oracle: the users are served again, the cause is gone, nothing else was broken, and it lasts.

It judges a fork of the world, so that it may wait, recreate pods and replay what triggered the fault
without touching what the agent sees. It knows no fault: what a fault adds comes through :class:`Cause`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from sregym_env.cluster.api import ForkableWorld, World
from sregym_env.kube.status import StatusError
from sregym_env.rewards import checks, integrity
from sregym_env.rewards.baseline import WINDOW_SECONDS, Baseline, ObjectKey
from sregym_env.rewards.verdict import Check, Verdict, conclude

NOISY_ATTEMPTS = 3
"""How often the oracle looks again for a quiet moment where transient disturbances come and go."""

UNREST_SECONDS = 300.0
"""How long restarts are watched for where nothing comes and goes: the longest back-off of a container."""

STEP_SECONDS = 10.0
"""How often the oracle looks while it waits."""


class Cause(Protocol):
    """What the oracle may ask about the fault that was injected."""

    def cured(self, world: World) -> Sequence[Check]:
        """Fault-specific predicates, where the users' experience alone cannot tell."""
        ...

    def replay(self, world: World) -> None:
        """Do again what made the fault bite (restart something, drop a cache)."""
        ...

    def accepts(self) -> Collection[ObjectKey]:
        """Baseline objects that a correct repair may lose or change."""
        ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the oracle waits, in simulated seconds."""

    settle: float = 360.0
    """For the users to be served again after the submission: a container that crashed while the system was
    broken waits up to five minutes (the kubelet's longest back-off) before it is started again."""
    durability: float = 360.0
    """For the same after every pod was recreated."""
    noise: float = 0.0
    """Added to both where transient disturbances are part of the problem."""


def judge_state(
    world: ForkableWorld, baseline: Baseline, causes: Sequence[Cause], patience: Patience = Patience()
) -> Verdict:
    """Judge the world as the agent left it. ``world`` itself is not changed."""
    trial = world.fork()
    accepted = {key for cause in causes for key in cause.accepts()}
    served = _await_journeys(trial, baseline, patience.settle + patience.noise)
    found = [
        served,
        checks.inventory(trial, baseline, accepted),
        checks.replicas(trial, baseline),
        checks.available(trial, baseline),
        checks.endpoints(trial, baseline),
        checks.policy(trial, baseline),
        checks.nodes(trial, baseline, accepted),
        integrity.path(trial, baseline),
        integrity.users(trial, baseline),
        integrity.data(trial, baseline, accepted),
        integrity.system(trial, baseline, accepted),
    ]
    for cause in causes:
        found.extend(cause.cured(trial))
    lasts = all(check.passed for check in found)
    found.append(_durability(trial, baseline, causes, patience) if lasts else _not_tried())
    return conclude(found)


def _await_journeys(world: ForkableWorld, baseline: Baseline, limit: float) -> Check:
    """Wait until every journey met the SLO for a whole window; the last look if that never came."""
    waited = 0.0
    good = 0.0
    slo = world.app.slo
    while waited < limit + WINDOW_SECONDS:
        world.advance(STEP_SECONDS)
        waited += STEP_SECONDS
        health = world.traffic.health(STEP_SECONDS)
        bad = checks.failing_journeys(health, slo, baseline, STEP_SECONDS)
        good = 0.0 if bad else good + STEP_SECONDS
        if good >= WINDOW_SECONDS:
            break
        if waited - good >= limit:
            break
    return checks.journeys(world, baseline, WINDOW_SECONDS)


def _durability(
    world: ForkableWorld, baseline: Baseline, causes: Sequence[Cause], patience: Patience
) -> Check:
    """Recreate every pod of the application, replay the trigger, and see whether the users notice for long."""
    _recreate_pods(world)
    for cause in causes:
        cause.replay(world)
    noisy = patience.noise > 0.0
    trouble = _instability(world, baseline, patience.durability + patience.noise, noisy)
    for _ in range(NOISY_ATTEMPTS if noisy else 0):
        if not trouble:
            break
        trouble = _instability(world, baseline, patience.noise, noisy)
    return Check(
        "durability",
        not trouble,
        "; ".join(trouble) or "the users were served again after every pod was recreated",
        "the users are served after every pod was recreated",
        weight=2.0,
    )


def _instability(world: ForkableWorld, baseline: Baseline, limit: float, noisy: bool) -> list[str]:
    """What is not well after waiting for the users to be served: failing journeys, crashes, missing replicas."""
    served = _await_journeys(world, baseline, limit)
    trouble = [] if served.passed else [served.observed]
    grace = checks.grace_of_liveness_probes(world, baseline.namespace)
    trouble.extend(_crash_looping(world, baseline, grace + (WINDOW_SECONDS if noisy else UNREST_SECONDS)))
    short = checks.available(world, baseline)
    return trouble if short.passed else [*trouble, short.observed]


def _not_tried() -> Check:
    return Check("durability", False, "not tried: the system is not repaired", "the repair lasts", weight=2.0)


def _recreate_pods(world: World) -> None:
    """Delete every pod that a controller will replace, except the users' (the load generator's)."""
    load = {component.name for component in world.app.components if component.kind == "load"}
    for pod in world.cluster.list("pods", world.app.namespace):
        owners = pod["metadata"].get("ownerReferences") or ()
        if not owners or any(owner["kind"] == "Job" or owner["name"] in load for owner in owners):
            continue
        try:
            world.cluster.delete("pods", pod["metadata"]["name"], world.app.namespace)
        except StatusError:
            continue


def _crash_looping(world: ForkableWorld, baseline: Baseline, window: float) -> list[str]:
    """Containers that restarted or failed their liveness probe in one more window, or wait in an error."""
    namespace = baseline.namespace
    before, ailing = checks.restarts(world, namespace), checks.liveness_failures(world, namespace)
    world.advance(window)
    after, still = checks.restarts(world, namespace), checks.liveness_failures(world, namespace)
    again = [f"{pod}: restarted" for pod, count in after.items() if count > before.get(pod, count)]
    again += [f"{pod}: liveness probe fails" for pod, n in still.items() if n > ailing.get(pod, 0)]
    return again + checks.waiting_reasons(world, namespace)
