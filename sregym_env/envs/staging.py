"""Setting the stage: which problem is played, and the world at the moment the agent is called.

Every problem is staged in a few variants, which differ in names, addresses, placement and timing. They are
kept for a while and forked for each episode: the seed picks one and drives everything that happens from
then on. A world that cannot be forked is staged for one episode and, when that is done with, :func:`cleared`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from threading import Lock
from typing import Any

from numpy.random import Generator

from sregym_env import apps, noise
from sregym_env.cluster.api import World
from sregym_env.cluster.deploy import Backend
from sregym_env.cluster.forkable import demanded, forkable
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.briefing import Mode
from sregym_env.envs.staged import Solution, Staged
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.envs.tasks.splits import By, Split, demand_within, split
from sregym_env.errors import ClusterError, ProblemError, SREGymError, StagingError, UsageError
from sregym_env.faults import problems
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.problems import Problem
from sregym_env.faults.registry import declaration
from sregym_env.rewards.baseline import WINDOW_SECONDS, Baseline, capture
from sregym_env.rewards.checks import failing_journeys
from sregym_env.sim.bringup.deploy import VARIANTS, deployed_world
from sregym_env.tools.workstation import Workstation

SYMPTOM_LIMIT = 300.0
"""Simulated seconds in which a fault's symptoms are awaited."""

ALERT_LIMIT = 1200.0
"""The same for an alert to fire, before a reactive episode begins."""

EVIDENCE_SECONDS = 30.0
"""How long the symptoms last before the agent is called, so that logs and events tell of them."""

LOOK_SECONDS = 10.0
"""Simulated seconds between looks at the users while symptoms are awaited."""

KEPT = 64
"""Staged variants of problems kept per process."""

_STAGING_SEED = -1000 * VARIANTS
"""Variants are staged with seeds that no episode has, so that no episode draws the same identifiers again."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the caller of the environment asked to play; resolved to one problem per episode."""

    problem: str | Mapping[str, Any] | None = None
    fault: str | None = None
    app: str | None = None
    target: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str | Mapping[str, Any] | Problem, ...] = ()
    split: Split | None = None
    """Nothing but problems of this split may be played."""
    split_by: By = "family"
    noise: bool = False

    def demand_one(self) -> None:
        """Raise UsageError where more than one thing is asked for, or a part of a pair without its fault."""
        given = [
            name
            for name, value in (
                ("problem", self.problem),
                ("fault", self.fault),
                ("problems", self.problems or None),
            )
            if value is not None
        ]
        if len(given) > 1:
            raise UsageError(f"{given[0]}= and {given[1]}= contradict each other: pass one of them")
        if self.fault is None:
            for name in ("app", "target", "params"):
                if getattr(self, name):
                    raise UsageError(f"{name}= belongs to a (fault, target) pair: pass fault= as well")

    def changed(self, options: Mapping[str, Any]) -> Assignment:
        """With what ``reset(options=...)`` says instead."""
        changes = {
            key: options[key]
            for key in ("problem", "fault", "app", "target", "params", "noise")
            if key in options
        }
        # Who names another problem or fault wants nothing of the old one.
        nothing: dict[str, Any] = {
            "problem": None,
            "problems": (),
            "fault": None,
            "app": None,
            "target": None,
            "params": {},
        }
        if "problem" in changes:
            changed = replace(self, **{**nothing, **changes})
        elif "fault" in changes:
            changed = replace(self, **{**nothing, "app": self.app, **changes})
        else:
            changed = replace(self, **changes)
        changed.demand_one()
        return changed

    def resolve(self, chance: Generator) -> Problem:
        """The problem to play now. Raises ProblemError or UsageError."""
        problem = self._chosen(chance)
        if self.split is not None:
            demand_within(problem, self.split, self.split_by)
        return self._noisy(problem)

    def _chosen(self, chance: Generator) -> Problem:
        chosen: Any = self.problem
        if chosen is None and self.fault is not None:
            return self._pair(chance)
        if chosen is None and self.problems:
            chosen = self.problems[int(chance.integers(len(self.problems)))]
        if chosen is None:
            raise UsageError("nothing to play: pass problem=, or fault= (with target=), or problems=")
        return resolved(chosen)

    def _pair(self, chance: Generator) -> Problem:
        """The pair that was asked for; without a target one of the fault's, drawn."""
        app, fault, target = self.app or apps.DEFAULT, self.fault or "", self.target
        if not target:
            found = _targets(app, fault, self.split, self.split_by)
            if not found:
                raise UsageError(f"no target of {fault} belongs to the {self.split} split by {self.split_by}")
            target = found[int(chance.integers(len(found)))]
        return problems.pair(app, fault, target, self.params)

    def _noisy(self, problem: Problem) -> Problem:
        if self.noise and not problem.noise_on:
            return problem.model_copy(update={"noise": True})
        return problem


@lru_cache(maxsize=1024)
def _targets(app: str, fault: str, part: Split | None, by: By) -> tuple[str, ...]:
    """Names of a fault's targets in an application, those of a split if there is one."""
    found = pairs(app, fault)
    if part is not None:
        found = split(part, by=by, problems=found)
    return tuple(problem.faults[0].target for problem in found)


def resolved(chosen: str | Mapping[str, Any] | Problem) -> Problem:
    """A problem by its id, its JSON form, or itself. Raises ProblemError, UsageError for anything else."""
    if isinstance(chosen, Problem):
        return chosen
    if isinstance(chosen, Mapping):
        return problems.parsed(chosen)
    if not isinstance(chosen, str):
        raise UsageError(f"a problem is an id or a mapping, not {chosen!r}")
    return problems.problem(chosen)


def solution(instance: FaultInstance) -> Solution:
    """How an engineer who knows the answer plays a fault."""
    return Solution(instance.investigation, instance.spec.root_cause, instance.remedies)


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault that has happened."""

    instance: FaultInstance
    changes: Any
    """What :meth:`FaultInstance.heal` needs."""

    def heal(self, world: World) -> None:
        """Take it back."""
        self.instance.heal(world, self.changes)


@dataclass(frozen=True, slots=True)
class Injected:
    """A world with the faults in, and what is needed to judge and to take them back."""

    world: World
    baseline: Baseline
    instances: tuple[FaultInstance, ...]
    changes: tuple[Any, ...]
    """What :meth:`FaultInstance.heal` needs, per instance."""


def inject(problem: Problem, seed: int, backend: Backend | None = None) -> Injected:
    """A fresh world, of the embedded cluster unless a backend is given, in which the faults have just been injected.

    Raises ProblemError where the backend cannot make a disturbance that a fault or the noise consists of, and
    StagingError where the users were not served before.
    """
    app = apps.app(problem.app)
    world: World = deployed_world(app, seed) if backend is None else backend.deploy(app, seed)
    inventory = Inventory.of(world)
    instances = tuple(
        declaration(each.fault).bind(inventory, each.target, each.parameters) for each in problem.faults
    )
    _demand_disturbances(world, problem, instances)
    baseline = capture(world)
    _demand_service(problem, world, baseline)
    changes: list[Any] = []
    try:
        for instance in instances:
            changes.append(instance.inject(world))
        if problem.noise_on:
            world = noise.begin(world, seed, problem.noise)
    except SREGymError:
        # The last one first, as ever; the one that failed has taken itself back.
        for instance, change in reversed(list(zip(instances, changes, strict=False))):
            instance.heal(world, change)
        raise
    return Injected(world, baseline, instances, tuple(changes))


def _demand_disturbances(world: World, problem: Problem, instances: Sequence[FaultInstance]) -> None:
    """Before anything is changed: whether the backend can make what the faults and the noise consist of."""
    noise.demand(world, problem.noise)
    for instance in instances:
        for disturbance in instance.fault.disturbances:
            if type(disturbance) not in world.nodes.kinds:
                raise ProblemError(
                    f"{instance.declaration.name} needs {type(disturbance).__name__}, which this backend cannot make; "
                    "play it on the embedded cluster"
                )


def await_symptoms(world: World, baseline: Baseline, mode: Mode) -> bool:
    """Let time pass until users suffer (and, in reactive mode, an alert fires); whether they do."""
    waited = 0.0
    suffering = False
    while waited < SYMPTOM_LIMIT and not suffering:
        world.advance(LOOK_SECONDS)
        waited += LOOK_SECONDS
        health = world.traffic.health(LOOK_SECONDS)
        suffering = bool(failing_journeys(health, world.app.slo, baseline, LOOK_SECONDS))
    world.advance(EVIDENCE_SECONDS)
    while mode == "reactive" and waited < ALERT_LIMIT:
        if any(alert.state == "firing" for alert in world.alerts()):
            break
        world.advance(EVIDENCE_SECONDS)
        waited += EVIDENCE_SECONDS
    return suffering


def _demand_service(problem: Problem, world: World, baseline: Baseline) -> None:
    failing = failing_journeys(world.traffic.health(WINDOW_SECONDS), world.app.slo, baseline, WINDOW_SECONDS)
    if failing:
        raise StagingError(
            f"problem {problem.id}: the users of {problem.app} are not served before any fault: "
            f"{'; '.join(failing)}; correct the application's manifests, images or journeys until "
            f"`sregym validate --app {problem.app}` passes"
        )


def demand_suffering(problem: Problem, world: World, baseline: Baseline) -> None:
    """Raise StagingError where a problem has faults and no user notices."""
    health = world.traffic.health(EVIDENCE_SECONDS)
    if problem.faults and not failing_journeys(health, world.app.slo, baseline, EVIDENCE_SECONDS):
        slo = world.app.slo
        shown = "; ".join(f"{j.journey}: {j.success_ratio:.1%} in {j.latency_seconds:.2f} s" for j in health)
        faults = ", ".join(f"{each.fault}:{each.target}" for each in problem.faults)
        raise StagingError(
            f"problem {problem.id}: the users do not suffer from {faults}, {SYMPTOM_LIMIT:.0f} s after it came: {shown} "
            f"(promised: {slo.success_ratio:.0%} in {slo.latency_seconds} s); choose another target or parameters, or "
            "have the fault's `targets` leave such targets out"
        )


_Key = tuple[str, int, Mode]
_staged: OrderedDict[_Key, Staged] = OrderedDict()
_keeping = Lock()


def stage(problem: Problem, seed: int, *, mode: Mode = "proactive", backend: Backend | None = None) -> Staged:
    """The problem set up for one episode: a world of its own with the symptoms showing.

    Without a backend it is a world of the embedded cluster.
    """
    own: dict[str, Any] = {}
    text = problem.model_dump_json()
    if backend is None:
        staged, world = _forked(problem, text, seed, mode)
        own = {"world": world, "workstation": staged.workstation.fork(world)}
    else:
        staged = _stage(problem, seed, mode, backend)
    return replace(
        staged,
        **own,
        task_id=_opaque(text),
        episode_id=_opaque(text, str(seed), mode),
        problem_json=problem.model_dump(mode="json"),
    )


def cleared(staged: Staged) -> None:
    """Take the faults and the noise out of a world that others will use; one that can be forked is simply dropped."""
    world = staged.world
    if forkable(world) is not None:
        return
    if isinstance(world, noise.DrivenWorld):
        world.quiet()
    for injection in reversed(staged.injections):
        # What an agent did to the application may stand in the way; that is deployed anew anyway.
        with suppress(ClusterError):
            injection.heal(world)


def _forked(problem: Problem, text: str, seed: int, mode: Mode) -> tuple[Staged, World]:
    """The variant that the seed picks, staged now if it is not kept, and a fork of its world.

    ``text`` is the problem as JSON.
    """
    quiet = problem
    if problem.noise is not False:
        # Noise belongs to the episode's seed, so one staged variant serves episodes with and without it.
        quiet = problem.model_copy(update={"noise": False})
        text = quiet.model_dump_json()
    variant = seed % VARIANTS
    key = (text, variant, mode)
    # Staged outside the lock: two threads may do it twice, with equal results, but none waits for the other.
    known = _recall(key) or _keep(key, _stage(quiet, _STAGING_SEED + variant, mode))
    world = demanded(known.world).fork()
    world.reseed(seed)
    if problem.noise_on:
        noise.schedule(world, seed, problem.noise)
    return known, world


def forget() -> None:
    """Drop the staged problems that are kept for further members of their groups."""
    with _keeping:
        _staged.clear()


def _recall(key: _Key) -> Staged | None:
    with _keeping:
        known = _staged.get(key)
        if known is not None:
            _staged.move_to_end(key)
        return known


def _keep(key: _Key, made: Staged) -> Staged:
    """Keep what was staged, as forks that nobody ever plays in: other threads fork them at the same time."""
    world = demanded(made.world).fork()
    made = replace(made, world=world, workstation=made.workstation.fork(world))
    with _keeping:
        _staged[key] = made
        while len(_staged) > KEPT:
            _staged.popitem(last=False)
    return made


def _stage(problem: Problem, seed: int, mode: Mode, backend: Backend | None = None) -> Staged:
    """A problem in a world of its own, not named for an episode yet."""
    injected = inject(problem, seed, backend)
    world = injected.world
    staged = Staged(
        task_id="",
        episode_id="",
        app=world.app,
        world=world,
        baseline=injected.baseline,
        specs=tuple(instance.spec for instance in injected.instances),
        causes=injected.instances,
        solutions=tuple(solution(instance) for instance in injected.instances),
        problem_json=problem.model_dump(mode="json"),
        workstation=Workstation(world, ONCALL),
        injections=() if forkable(world) else tuple(map(Injection, injected.instances, injected.changes)),
    )
    try:
        await_symptoms(world, injected.baseline, mode)
        demand_suffering(problem, world, injected.baseline)
    # A cluster that goes on must not keep the faults of an episode that never began.
    except Exception:
        cleared(staged)
        raise
    return staged


def _opaque(*parts: str) -> str:
    """A name that is the same for the same parts and says nothing about them."""
    return blake2b("\x1f".join(parts).encode(), digest_size=6).hexdigest()
