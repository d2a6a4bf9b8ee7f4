"""The state oracle: the users are served again, the cause is gone, nothing else was broken, and it lasts.

It waits, recreates pods and replays what triggered the fault: on a fork of the world, so that nothing the agent sees
is touched, or where there is none on the world itself, which must then be done with. It knows no fault: what a fault
adds comes through :class:`Cause`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

from sregym_env.cluster.api import World
from sregym_env.cluster.forkable import forkable
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.errors import ClusterError
from sregym_env.faults.fault import Finding
from sregym_env.faults.traces import Reach, Wrong
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards import checks, collateral, integrity, leads, stored, weaker
from sregym_env.rewards.baseline import WINDOW_SECONDS, Baseline, protected_objects
from sregym_env.rewards.cause import gone as cause_gone
from sregym_env.rewards.doings import added, doings
from sregym_env.rewards.objects import Objects
from sregym_env.rewards.verdict import NO_HARM, Check, Verdict, conclude

NOISY_ATTEMPTS = 6
"""How often the oracle looks again for a quiet moment where transient disturbances come and go."""

UNREST_SECONDS = 300.0
"""How long restarts are watched for where nothing comes and goes: the longest back-off of a container."""

UNSTEADY_SECONDS = 120.0
"""How long before the end of a wait it is looked for what comes and goes."""

STEP_SECONDS = 10.0
"""How often the oracle looks while it waits."""


class Cause(Protocol):
    """What the oracle may ask about the fault that was injected."""

    def cured(self, world: World) -> Sequence[Finding]:
        """Fault-specific predicates, where the users' experience alone cannot tell."""
        ...

    def replay(self, world: World) -> None:
        """Do again what made the fault bite (restart something, drop a cache)."""
        ...

    @property
    def transient(self) -> bool:
        """Whether that passes (users who come in numbers, pods that are away for a while), and strikes a system that serves its users."""
        ...

    def accepts(self) -> Collection[ObjectKey]:
        """Baseline objects that a correct repair may lose or change."""
        ...

    @property
    def wrongs(self) -> Sequence[Wrong]:
        """The wrong values that it has put into objects."""
        ...

    @property
    def reach(self) -> Reach:
        """What a correct repair may change, replace and restart without doing harm to anybody."""
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
    world: World, baseline: Baseline, causes: Sequence[Cause], patience: Patience = Patience()
) -> Verdict:
    """Judge the world as the agent left it. ``world`` itself is not changed if it can be forked."""
    value = forkable(world)
    trial: World = world if value is None else value.trial()
    accepted = {key for cause in causes for key in cause.accepts()}
    done = [] if baseline.called is None else doings(trial, baseline.called)
    made = added(done)
    steady = _Steady()
    served = _await_journeys(trial, baseline, patience.settle + patience.noise, steady)
    if patience.noise > 0.0 and served.passed:
        _await_lull(trial, baseline)
    # Only now: what a repair has restarted may take a while to go.
    harm = NO_HARM
    if baseline.called is not None:
        reaches = [cause.reach for cause in causes]
        harm = collateral.harm(
            trial, baseline.called, reaches, done, noisy=patience.noise > 0.0, besides=baseline.mendable
        )
    now = dict(protected_objects(trial))
    wrong = [(each.key, each.pointer) for cause in causes for each in cause.wrongs]
    answers = {field for cause in causes for field in cause.reach.answers}
    up = [steady.of(checks.available(trial, baseline)), steady.of(checks.endpoints(trial, baseline))]
    well = served.passed and all(check.passed for check in up)
    held = stored.contents(trial) if baseline.kept else {}
    astray = leads.astray(trial, baseline.objects, baseline.backed, now)
    found = [
        served,
        checks.inventory(baseline, now, accepted),
        checks.replicas(baseline, now),
        *up,
        *weaker.checks(trial, baseline, now, accepted, made, wrong, answers),
        checks.nodes(trial, baseline, accepted, wrong),
        integrity.path(trial, baseline),
        integrity.users(trial, baseline),
        stored.data(trial, baseline.objects, now, baseline.kept, held, accepted, well, astray),
        integrity.system(trial, baseline, accepted),
        collateral.check(harm, bool(causes)),
    ]
    over = list(_causes(trial, baseline, causes, well))
    # Recreating pods is destructive and slow, and where something has failed it cannot change the verdict.
    if not all(check.passed for check in (*found, *over)):
        return conclude([*found, *over, _not_tried()], harm)
    # What the agent has left running is no part of the application: a repair must hold without somebody at it.
    _take_away(trial, made)
    lasts = _durability(trial, baseline, causes, patience, held)
    if not lasts.passed:
        # What seemed harmless was only not felt yet.
        over = list(_causes(trial, baseline, causes, False))
    return conclude([*found, *over, lasts], harm)


def _causes(world: World, baseline: Baseline, causes: Sequence[Cause], well: bool) -> Iterator[Check]:
    """Whether the faults are over: by what they have left in objects, and by their own questions."""
    for number, cause in enumerate(causes, 1):
        name = f"cause/{number}" if len(causes) > 1 else "cause"
        yield cause_gone(world, baseline.objects, cause.wrongs, well, name)
        for each in cause.cured(world):
            yield Check(f"cause: {each.name}", each.passed, each.observed, each.expected, 2.0)


def _take_away(world: World, made: Objects) -> None:
    for resource, namespace, name in made:
        if resource in collateral.PROGRAMS:
            with suppress(StatusError):
                world.cluster.delete(resource, name, namespace)


class _Steady:
    """The worst that was seen of checks while the users were not served: what comes and goes is not there."""

    def __init__(self) -> None:
        self._worst: dict[str, Check] = {}

    def look(self, *seen: Check) -> None:
        """Remember what is not well."""
        for check in seen:
            worst = self._worst.get(check.name)
            if not check.passed and (worst is None or check.held < worst.held):
                self._worst[check.name] = check

    def clear(self) -> None:
        """Forget: the users are served."""
        self._worst.clear()

    def of(self, check: Check) -> Check:
        """A check, or the worst that was seen of it."""
        worst = self._worst.get(check.name)
        return worst if worst is not None and worst.held < check.held else check


def _await_journeys(world: World, baseline: Baseline, limit: float, steady: _Steady | None = None) -> Check:
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
        # Late in a wait that may be in vain: what rolls out at first is on its way, what crashes comes and goes.
        if steady is not None and bad and waited >= limit - UNSTEADY_SECONDS:
            steady.look(checks.available(world, baseline), checks.endpoints(world, baseline))
        # One replica of several serves the users: the others may still be on their way.
        if good >= WINDOW_SECONDS and _is_complete(world, baseline):
            break
        # A good stretch that began before the limit may still grow to a whole window.
        if waited >= limit and (waited - good >= limit or good >= WINDOW_SECONDS):
            break
    # Single looks are too short to judge by: they only tell when to stop waiting.
    served = checks.journeys(world, baseline, WINDOW_SECONDS)
    if steady is not None and served.passed:
        steady.clear()
    return served


def _await_lull(world: World, baseline: Baseline) -> None:
    """Let pass what has struck a pod just now, where transient disturbances come and go by the clock."""
    for _ in range(round(WINDOW_SECONDS / STEP_SECONDS)):
        if _is_complete(world, baseline):
            break
        world.advance(STEP_SECONDS)


def _is_complete(world: World, baseline: Baseline) -> bool:
    return checks.available(world, baseline).passed and checks.endpoints(world, baseline).passed


def _durability(
    world: World,
    baseline: Baseline,
    causes: Sequence[Cause],
    patience: Patience,
    held: Mapping[str, stored.Contents],
) -> Check:
    """Recreate every pod of the application, replay the trigger, and see whether the users notice for long."""
    stuck = _recreate_pods(world, baseline)
    if any(cause.transient for cause in causes):
        _await_journeys(world, baseline, patience.settle + patience.noise)
    stuck += _replayed(world, causes)
    noisy = patience.noise > 0.0
    trouble = stuck or _instability(world, baseline, patience.durability + patience.noise, noisy)
    for _ in range(NOISY_ATTEMPTS if noisy else 0):
        if stuck or not trouble:
            break
        trouble = _instability(world, baseline, patience.noise, noisy)
    accepted = {key for cause in causes for key in cause.accepts()}
    # What lay in memory, or beside a volume, is gone now.
    lost = []
    if not trouble and baseline.kept:
        left = stored.contents(world)
        lost = stored.missing(world, baseline.kept, left, accepted, True, held)
        trouble = lost
    return Check(
        "durability",
        not trouble,
        "; ".join(trouble) or "the users were served again after every pod was recreated",
        "the users are served after every pod was recreated",
        weight=2.0,
        complaints=tuple(lost),
    )


def _instability(world: World, baseline: Baseline, limit: float, noisy: bool) -> list[str]:
    """What is not well after waiting for the users to be served: failing journeys, crashes, missing replicas."""
    served = _await_journeys(world, baseline, limit)
    trouble = [] if served.passed else [served.observed]
    grace = checks.grace_of_liveness_probes(world)
    trouble.extend(_crash_looping(world, grace + (WINDOW_SECONDS if noisy else UNREST_SECONDS)))
    if noisy and not trouble:
        _await_lull(world, baseline)
    unmet = (checks.available(world, baseline), checks.endpoints(world, baseline))
    return [*trouble, *(check.observed for check in unmet if not check.passed)]


def _not_tried() -> Check:
    return Check("durability", False, "not tried: the system is not repaired", "the repair lasts", weight=2.0)


def _recreate_pods(world: World, baseline: Baseline) -> list[str]:
    """Delete every pod except the users' (the load generator's) and those of jobs that were there before.

    What cannot be deleted, as where a policy forbids it, is told. Only the controlling owner counts: anybody can
    name further owners.
    """
    app = world.app
    load = {app.workload_of(component.name)[1:] for component in app.components if component.kind == "load"}
    refused = []
    for pod in [pod for space in world.app.namespaces for pod in world.cluster.list("pods", space)]:
        name = pod["metadata"]["name"]
        if _is_kept(pod, load, baseline):
            continue
        try:
            world.cluster.delete("pods", name, pod["metadata"]["namespace"])
        except StatusError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                refused.append(f"pod/{name} cannot be recreated: {error}")
    return refused


def _is_kept(pod: Manifest, load: Collection[tuple[str, str]], baseline: Baseline) -> bool:
    """Whether a pod belongs to the users or to a job of the healthy system."""
    for owner in pod["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            place = pod["metadata"]["namespace"], owner["name"]
            job = ("jobs.batch", *place)
            # A Job that the agent made keeps nothing alive: the pods it adopts are recreated like all others.
            return place in load or (owner["kind"] == "Job" and job in baseline.objects)
    return False


def _replayed(world: World, causes: Sequence[Cause]) -> list[str]:
    """Replay what made the faults bite; why that could not be done."""
    for cause in causes:
        try:
            cause.replay(world)
        except (StatusError, ClusterError) as error:
            return [f"the system cannot be operated: {error}"]
    return []


def _crash_looping(world: World, window: float) -> list[str]:
    """Containers that restarted or failed their liveness probe in one more window, or wait in an error."""
    # A probe with a huge failureThreshold never restarts anything, so its failures count by themselves.
    before, ailing = checks.restarts(world), checks.liveness_failures(world)
    world.advance(window)
    after, still = checks.restarts(world), checks.liveness_failures(world)
    again = [f"{pod}: restarted" for pod, count in after.items() if count > before.get(pod, count)]
    again += [f"{pod}: liveness probe fails" for pod, n in still.items() if n > ailing.get(pod, 0)]
    return again + checks.waiting_reasons(world)
