"""Setting the stage: which problem is played, and the world at the moment the agent is called.

Every problem is staged in a few variants, which differ in names, addresses, placement and timing. They are
kept for a while and forked for each episode: the seed picks one and drives everything that happens from
then on.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from numpy.random import Generator

from sregym_env import apps, noise
from sregym_env.cluster.api import ForkableWorld, User, World
from sregym_env.cluster.inventory import Inventory, ObjectKey
from sregym_env.envs.briefing import Mode
from sregym_env.envs.episode import Solution, Staged
from sregym_env.errors import StagingError, UsageError
from sregym_env.faults import problems
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.problems import Problem
from sregym_env.faults.registry import declaration
from sregym_env.rewards.baseline import WINDOW_SECONDS, Baseline, capture
from sregym_env.rewards.checks import failing_journeys
from sregym_env.rewards.verdict import Check
from sregym_env.sim.bootstrap_rbac import ONCALL_USER
from sregym_env.sim.deploy import VARIANTS, deployed_world
from sregym_env.tools.workstation import Workstation

ONCALL = User(ONCALL_USER)
"""The identity of the agent."""

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
    problems: tuple[str | Mapping[str, Any], ...] = ()
    noise: bool = False

    def changed(self, options: Mapping[str, Any]) -> Assignment:
        """With what ``reset(options=...)`` says instead."""
        changes = {
            key: options[key]
            for key in ("problem", "fault", "app", "target", "params", "noise")
            if key in options
        }
        if "problem" in changes:
            return replace(self, **{"fault": None, "target": None, "params": {}, **changes})
        if "fault" in changes:
            return replace(self, **{"problem": None, "target": None, "params": {}, **changes})
        return replace(self, **changes)

    def resolve(self, chance: Generator) -> Problem:
        """The problem to play now. Raises ProblemError or UsageError."""
        chosen: Any = self.problem
        if chosen is None and self.fault is not None:
            return self._noisy(_pair(self.app or apps.DEFAULT, self.fault, self.target or "", self.params))
        if chosen is None and self.problems:
            chosen = self.problems[int(chance.integers(len(self.problems)))]
        if chosen is None:
            raise UsageError("nothing to play: pass problem=, or fault= (with target=), or problems=")
        if isinstance(chosen, Problem):
            return self._noisy(chosen)
        if isinstance(chosen, Mapping):
            return self._noisy(problems.parsed(chosen))
        return self._noisy(problems.problem(chosen))

    def _noisy(self, problem: Problem) -> Problem:
        if self.noise and not problem.noise_on:
            return problem.model_copy(update={"noise": True})
        return problem


class CauseOf:
    """What the oracle may ask about an injected fault."""

    __slots__ = ("_instance",)

    def __init__(self, instance: FaultInstance) -> None:
        self._instance = instance

    def cured(self, world: World) -> Sequence[Check]:
        """The fault's own predicates as checks."""
        found = self._instance.cured(world)
        return [Check(f"cause: {f.name}", f.passed, f.observed, f.expected, 2.0) for f in found]

    def replay(self, world: World) -> None:
        """Replay what made the fault bite."""
        self._instance.replay(world)

    def accepts(self) -> frozenset[ObjectKey]:
        """Objects that a correct repair may change."""
        return self._instance.accepts()


def solution(instance: FaultInstance) -> Solution:
    """How an engineer who knows the answer plays a fault."""
    return Solution(instance.investigation, instance.spec.root_cause, instance.remedies)


@dataclass(frozen=True, slots=True)
class Injected:
    """A world with the faults in, and what is needed to judge and to take them back."""

    world: ForkableWorld
    baseline: Baseline
    instances: tuple[FaultInstance, ...]
    changes: tuple[Any, ...]
    """What :meth:`FaultInstance.heal` needs, per instance."""


def inject(problem: Problem, seed: int) -> Injected:
    """A fresh world in which the problem's faults have just been injected.

    Raises StagingError where the users were not served before.
    """
    app = apps.app(problem.app)
    world = deployed_world(app, seed)
    inventory = Inventory.of(world)
    instances = tuple(
        declaration(each.fault).bind(inventory, each.target, each.parameters) for each in problem.faults
    )
    baseline = capture(world)
    _demand_service(problem, world, baseline)
    changes = tuple(instance.inject(world) for instance in instances)
    if problem.noise_on:
        noise.schedule(world, seed, problem.noise)
    return Injected(world, baseline, instances, changes)


def await_symptoms(world: ForkableWorld, baseline: Baseline, mode: Mode) -> bool:
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


_staged: OrderedDict[tuple[str, int, Mode], Staged] = OrderedDict()


def stage(problem: Problem, seed: int, *, mode: Mode = "proactive") -> Staged:
    """The problem set up for one episode: an independent world with the symptoms showing."""
    quiet = problem.model_copy(update={"noise": False})
    variant = seed % VARIANTS
    key = (quiet.model_dump_json(), variant, mode)
    known = _staged.get(key)
    if known is None:
        known = _staged[key] = _stage(quiet, _STAGING_SEED + variant, mode)
        while len(_staged) > KEPT:
            _staged.popitem(last=False)
    else:
        _staged.move_to_end(key)
    world = known.world.fork()
    world.reseed(seed)
    if problem.noise_on:
        noise.schedule(world, seed, problem.noise)
    text = problem.model_dump_json()
    return replace(
        known,
        task_id=_opaque(text),
        episode_id=_opaque(text, str(seed), mode),
        world=world,
        problem_json=problem.model_dump(mode="json"),
        workstation=known.workstation.fork(world),
    )


def forget() -> None:
    """Drop the staged problems that are kept for further members of their groups."""
    _staged.clear()


def _stage(problem: Problem, seed: int, mode: Mode) -> Staged:
    """One variant of a problem, to be forked and named for each episode."""
    injected = inject(problem, seed)
    await_symptoms(injected.world, injected.baseline, mode)
    demand_suffering(problem, injected.world, injected.baseline)
    return Staged(
        task_id="",
        episode_id="",
        app=injected.world.app,
        world=injected.world,
        baseline=injected.baseline,
        specs=tuple(instance.spec for instance in injected.instances),
        causes=tuple(CauseOf(instance) for instance in injected.instances),
        solutions=tuple(solution(instance) for instance in injected.instances),
        problem_json=problem.model_dump(mode="json"),
        workstation=Workstation(injected.world, ONCALL),
    )


def _opaque(*parts: str) -> str:
    """A name that is the same for the same parts and says nothing about them."""
    return blake2b("\x1f".join(parts).encode(), digest_size=6).hexdigest()


def _pair(app: str, fault: str, target: str, params: Mapping[str, Any]) -> Problem:
    """The problem of one fault on one target."""
    return problems.pair(app, fault, target, params)
